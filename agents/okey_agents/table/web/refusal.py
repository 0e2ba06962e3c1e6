"""What a player is told when something cannot be done. Nothing has changed then."""

from typing import Any


class Refused(Exception):  # noqa: N818 - it is an answer to a player, as a rule no fault of anybody's
    """A message that is not carried out.

    Args:
        code: what the page looks up in its own language, like `not_your_turn`.
        text: the same as an English sentence.
        details: numbers and tiles for the page's sentence.
    """

    def __init__(self, code: str, text: str, **details: Any) -> None:
        super().__init__(text)
        self.code = code
        self.text = text
        self.details = details

    def message(self) -> dict[str, Any]:
        """As it goes over the wire."""
        return {"type": "error", "code": self.code, "text": self.text, **self.details}

"""What a player is told when the server does not do what was asked for. Nothing has changed then."""

from typing import Any


class Refused(Exception):  # noqa: N818 - it is an answer to a player, and seldom an error
    """Raised for a message that is not carried out.

    Args:
        code: the key of the page's sentence in each language, like `not_your_turn`.
        text: the sentence in English.
        details: numbers and tiles for the page's sentence.
    """

    def __init__(self, code: str, text: str, **details: Any) -> None:
        super().__init__(text)
        self.code = code
        self.text = text
        self.details = details

    def message(self) -> dict[str, Any]:
        """The message to the page."""
        return {"type": "error", "code": self.code, "text": self.text, **self.details}

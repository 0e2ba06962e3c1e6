"""A short run of the fuzzer of the wire (`scripts/fuzz_wire.py` has the long one), and faults that it must find."""

import asyncio
import json
from typing import Any

import pytest

from okey_agents.table.web import views
from okey_agents.table.web.connection import Connection
from okey_agents.table.web.refusal import Refused
from okey_agents.table.web.settings import Settings
from okey_agents.table.web.table import Table
from okey_agents.table.web.table_server import TableServer
from tests.okey_agents.table.wire_fuzzer import Block, FaultError


@pytest.mark.heavy
def test_four_players_and_strangers_break_nothing() -> None:
    block = Block(1)
    asyncio.run(block.run(1_500))
    assert block.told["change"] > 500
    assert block.counts["worlds"] > 300
    for answer in ("malformed", "stale", "not_your_turn", "table_full"):
        assert block.told[answer] > 0, answer


def test_a_record_is_that_of_the_match_for_which_it_was_asked() -> None:
    """The next match may begin before the record is made, and a record tells the deals to come."""
    table = Table(Settings(), seed=5)
    asked = TableServer().record(table)
    table._begin_match(6)
    message = asyncio.run(asked)
    assert json.loads(message["text"].splitlines()[0])["seed"] == 5


def _tells_of_the_stock(table: Table, number: int | None) -> dict[str, Any]:
    return {**ROUND_VIEW(table, number), "next": int(table.match.round.fields["stock"][0, 47])}


def _breaks(self: Connection, session: Any, message: Any) -> None:
    raise KeyError("hint")


def _changes_and_refuses(self: Table, number: int | None) -> None:
    self.seats[0].name += "!"
    raise Refused("round_running", "the round is not over")


def _tells_of_hidden_racks(self: Table, number: int, *rest: Any) -> None:
    raise Refused("not_held", f"seat {self.match.round.racks[(number + 1) % 4].argmax()} holds it")


def _gives_the_record(self: Connection, session: Any, message: Any) -> None:
    self.send({"type": "record", "text": json.dumps({"seed": session.table.seed})})


def _forgets_a_change(self: Any) -> None:
    for number in self._sent:
        self._sent[number] = {**views.view(self.table, number), "version": self._sent[number]["version"] + 1}


ROUND_VIEW = views.round_view


@pytest.mark.heavy
@pytest.mark.parametrize(
    ("where", "name", "instead", "found"),
    [
        (views, "round_view", _tells_of_the_stock, "sees hidden tiles"),
        (Connection, "_hint", _breaks, "logged: a message could not be handled|a mistake of the server"),
        (Table, "ready", _changes_and_refuses, "was refused and has changed the table"),
        (Table, "act", _tells_of_hidden_racks, "a refusal tells of hidden tiles"),
        (Connection, "_record", _gives_the_record, "the record of a match that goes on"),
        ("okey_agents.table.web.table_server.Session", "broadcast", _forgets_a_change, "has been told|is missing"),
    ],
)
def test_what_would_be_wrong_is_found(
    where: Any, name: str, instead: Any, found: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    if isinstance(where, str):
        monkeypatch.setattr(f"{where}.{name}", instead)
    else:
        monkeypatch.setattr(where, name, instead)
    with pytest.raises(FaultError, match=found):
        asyncio.run(Block(2).run(3_000))

"""Deals that can be checked: a record, the secret of its match, and the hash that was shown before."""

import pytest

from okey_agents.table.web.fair import check_deals, hash_of, new_secret
from okey_agents.table.web.settings import Settings
from okey_agents.table.web.table import Table
from okey_agents.table.web.views import view
from okey_env import Deal
from okey_env.bots import make_bot
from okey_env.match import Match
from okey_env.record import Record


def played(table: Table) -> Record:
    """The record of a table's match, played to its end."""
    bot = make_bot("greedy", 5)
    while not table.match.over:
        if table.round_ended:
            table.ready(None)
        else:
            assert view(table, None)["fair"] == {"hash": hash_of(table.secret), "secret": None}
            table.play(bot.act(table.match.round.observe(table.match.round.turn)))
    return Record.of(table.match)


def table_of(**options: object) -> Table:
    table = Table(Settings(seats=("greedy",) * 4), 12, **options)  # type: ignore[arg-type]
    table.start_watching()
    return table


def test_the_secret_is_shown_after_the_match_and_proves_its_deals() -> None:
    table = table_of(make_match=lambda rules, seed: Match(rules, seed, points=(5, 5, 5, 5)))
    before = view(table, None)["fair"]["hash"]
    record = played(table)
    fair = view(table, None)["fair"]
    assert fair["hash"] == before
    assert check_deals(record, fair["secret"], before) == before
    table.ready(None)  # another match has another secret, and only its hash is shown
    assert view(table, None)["fair"]["secret"] is None
    assert view(table, None)["fair"]["hash"] != before


def test_what_does_not_follow_from_the_secret_is_named() -> None:
    table = table_of(make_match=lambda rules, seed: Match(rules, seed, points=(2, 2, 2, 2)))
    record = played(table)
    with pytest.raises(ValueError, match="hash of the secret is"):
        check_deals(record, table.secret, hash_of(new_secret(12)))
    with pytest.raises(ValueError, match="dealt with the seed 12, but the secret holds 13"):
        check_deals(record, new_secret(13))
    with pytest.raises(ValueError, match="expected a seed"):
        check_deals(record, "12")
    deal = Deal(indicator="Y4")
    chosen = played(table_of(make_match=lambda rules, seed: Match(rules, seed, deal, points=(2, 2, 2, 2))))
    with pytest.raises(ValueError, match="line 2: this round was not dealt by the seed"):
        check_deals(chosen, new_secret(12))


def test_a_kept_table_keeps_its_secret() -> None:
    table = table_of()
    again = Table(table.settings, table.seed)
    again.restore(table.to_json())
    assert again.secret == table.secret

"""One seat against three of any bot: its decisions labelled, and what is won.

A bot that is numbers plays inside kernels (`branch`, `measure`). Any other one is asked for its moves, in many games
at once. Only where candidates are tried, in copies of the game, a stand-in has its three seats: the rule. So a label
says what a move is worth against the rule, at decisions to which the bot has led; what is won is measured against the
bot itself.
"""

from collections.abc import Callable, Iterator

import numpy as np
import numpy.typing as npt

from okey_env.bots import Bot, choose_for
from okey_env.engine.batch import apply_at, deal_all, legal_at, observe_at
from okey_env.engine.state import NOT_ENDED, OBSERVATION, new_games
from okey_env.round import derive_seed
from okey_env.rules import Rules
from okey_env.tiles import NUM_SEATS

from ..scorer.choose import Policy, choose_at
from ..value import value_for
from .branch import note_at
from .decisions import Decisions, Notebook
from .rollout import for_rollouts

Integers = npt.NDArray[np.int64]
Choose = Callable[[npt.NDArray[np.record], Integers], Integers]
"""The moves of the one seat in the games at `(M,)` indices."""

TABLES = 64
"""Games at once."""


def label_against(
    rules: Rules,
    plays: Policy,
    bot: Bot,
    stand_in: Policy,
    seed: int,
    num_decisions: int,
    *,
    own_turns: int,
    tables: int = TABLES,
    report: Callable[[int], None] = lambda done: None,
) -> Decisions:
    """Decisions of a policy, each candidate labelled, in rounds of one seat against three of a bot.

    Args:
        rules: of the game.
        plays: the policy, in another seat in each round.
        bot: has the other seats.
        stand_in: has them in the copies.
        seed: settles all of it, the bot's moves too.
        num_decisions: how many.
        own_turns: see `branch.label_candidates`.
        tables: games at once, which settles when a deal is played, and so how far the last ones are.
        report: is told how many decisions are noted.

    Raises:
        ValueError: the bot wants to do what is not legal.
    """
    book = Notebook(rules, num_decisions, 2)
    done = np.zeros(2, np.int64)
    plays_on, others_on = for_rollouts(plays), for_rollouts(stand_in)

    def choose(games: npt.NDArray[np.record], indices: Integers) -> Integers:
        actions = np.empty(len(indices), np.int64)
        note_at(
            games,
            indices,
            book.games,
            plays,
            plays_on,
            others_on,
            np.uint64(seed),
            own_turns,
            value_for(rules),
            book.tables,
            book.features,
            book.counts[:num_decisions],
            book.labels,
            done,
            actions,
        )
        report(int(done[0]))
        return actions

    bot.reset(seed)
    rounds = play_rounds(rules, bot, choose, seed, tables)
    while done[0] < num_decisions:
        next(rounds)
    return book.decisions(num_decisions)


def duel_against(
    challenger: Policy,
    bot: Bot,
    rules: Rules,
    seed: int,
    deals: int,
    report: Callable[[int], None] = lambda done: None,
) -> Integers:
    """Points `(D, 4)` of a policy by deal and seat, against three of a bot: the rounds of `measure.duel`.

    Raises:
        ValueError: the bot wants to do what is not legal.
    """

    def choose(games: npt.NDArray[np.record], indices: Integers) -> Integers:
        actions = np.empty(len(indices), np.int64)
        choose_at(games, indices, challenger, np.uint64(seed), actions)
        return actions

    bot.reset(seed)
    points = np.zeros((deals, NUM_SEATS), np.int64)
    at_once = max(1, TABLES // NUM_SEATS)
    for first in range(0, deals, at_once):
        numbers = np.repeat(np.arange(first, min(first + at_once, deals)), NUM_SEATS)
        seats = np.arange(len(numbers)) % NUM_SEATS
        games = new_games(rules, len(numbers), draw_queues=True)
        deal_all(games, _seeds(seed, numbers))
        while (games["ending"] == NOT_ENDED).any():
            _step(games, seats, bot, choose)
        points[numbers, seats] = games["won"][np.arange(len(numbers)), seats].astype(np.int64)
        points[numbers, seats] -= games["lost"][np.arange(len(numbers)), seats]
        report(int(numbers[-1]) + 1)
    return points


def play_rounds(rules: Rules, bot: Bot, choose: Choose, seed: int, tables: int) -> Iterator[None]:
    """Play rounds 0, 1, … of a seed without end, in round r the one seat at r % 4; a pause after each move."""
    games = new_games(rules, tables, draw_queues=True)
    numbers = np.arange(tables)
    following = tables
    deal_all(games, _seeds(seed, numbers))
    while True:
        _step(games, numbers % NUM_SEATS, bot, choose)
        over = np.flatnonzero(games["ending"] != NOT_ENDED)
        if len(over):
            numbers[over] = np.arange(following, following + len(over))
            following += len(over)
            fresh = new_games(rules, len(over), draw_queues=True)
            deal_all(fresh, _seeds(seed, numbers[over]))
            games[over] = fresh
        yield


def _step(games: npt.NDArray[np.record], seats: Integers, bot: Bot, choose: Choose) -> None:
    """One action in each game that is not over: of the one seat, or of the bot."""
    running = games["ending"] == NOT_ENDED
    own = games["turn"] == seats
    indices = np.flatnonzero(running & own)
    if len(indices):
        apply_at(games, indices, choose(games, indices))
    indices = np.flatnonzero(running & ~own)
    if len(indices):
        records = np.zeros(len(indices), OBSERVATION)
        observe_at(games, indices, records)
        actions = choose_for(bot, games, indices, records)
        legal = np.zeros(len(indices), np.bool_)
        legal_at(games, indices, actions, legal)
        if not legal.all():
            raise ValueError(f"{bot.name} chose action {actions[~legal][0]}, which is not legal there")
        apply_at(games, indices, actions)


def _seeds(seed: int, numbers: Integers) -> npt.NDArray[np.uint64]:
    return np.array([derive_seed(seed, int(number)) for number in numbers], np.uint64)

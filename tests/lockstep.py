"""The engine stepped beside the reference twin: the same deal, the same actions, everything compared each time."""

import random
from collections.abc import Mapping
from typing import Any

import numpy as np
import numpy.typing as npt

from okey_env.actions import DRAW, FINISH, SHOW, TAKE, THROW, is_finish, is_throw
from okey_env.engine.batch import act_in, legal_at, mask_in
from okey_env.engine.deal import begin_round
from okey_env.engine.hand import melds_distance
from okey_env.engine.state import NO_SEAT, NO_TILE, new_games
from okey_env.rules import SWITCHES, Rules
from okey_env.tiles import NUM_KINDS, WILD, okey_of
from tests.reference import GAMELAKE, KLASIK, ReferenceRound, random_round

Game = dict[str, npt.NDArray[Any]]
"""An engine's game: the array of one record as `games`, and each of its fields by name."""

_NUMBERS = {"indicator_points": (0, 1, 3), "max_throws": (200, 60, 30, 250, 4), "void_points": (0, 2)}
_OF_MATCHES = ("winners", "start_points", "rotation")
PLAYED: dict[str, tuple[Any, ...]] = {
    switch.name: switch.choices or _NUMBERS.get(switch.name, switch.between)
    for switch in SWITCHES
    if switch.name not in _OF_MATCHES
}
"""The switches of a round, each with values to play."""


def random_rules(rng: random.Random) -> dict[str, Any]:
    """A third each: the presets, and every switch at random."""
    preset: Mapping[str, Any] = rng.choice((GAMELAKE, KLASIK))
    rules = dict(preset)
    if rng.random() < 0.6:
        for switch, values in PLAYED.items():
            if rng.random() < 0.5:
                rules[switch] = rng.choice(values)
    return {name: value for name, value in rules.items() if name in Rules.__dataclass_fields__}


def near_finish_round(rules: Mapping[str, Any], rng: random.Random, queues: bool) -> ReferenceRound:
    """A deal in which the racks consist mostly of melds or of pairs, so that finishes of all kinds happen."""
    indicator = rng.randrange(52)
    left = [2] * NUM_KINDS
    left[indicator] -= 1
    starter = rng.randrange(4)
    racks: list[list[int]] = []
    for seat in range(4):
        size = 15 if seat == starter else 14
        rack: list[int] = []
        pairs = rng.random() < 0.3
        for _ in range(40):
            if len(rack) >= size - rng.randrange(4):
                break
            colour, number = rng.randrange(4), rng.randrange(13)
            if pairs:
                meld = [colour * 13 + number] * 2
            elif rng.random() < 0.5:
                meld = [colour * 13 + (number + i) % 13 for i in range(3)]
            else:
                meld = [other * 13 + number for other in range(4) if other != colour]
            if rng.random() < 0.2:
                meld[rng.randrange(len(meld))] = WILD
            if len(rack) + len(meld) <= size and all(left[kind] >= meld.count(kind) for kind in meld):
                rack += meld
                for kind in meld:
                    left[kind] -= 1
        racks.append(rack)
    rest = [kind for kind in range(NUM_KINDS) for _ in range(left[kind])]
    rng.shuffle(rest)
    for seat in range(4):
        while len(racks[seat]) < (15 if seat == starter else 14):
            racks[seat].append(rest.pop())
    return ReferenceRound(rules, indicator, racks, rest, starter, queues)


def engine_beside(twin: ReferenceRound, rules: Mapping[str, Any], queues: bool) -> Game:
    """An engine's game with the deal of a twin that has not begun."""
    games = new_games(Rules(**rules), 1, draw_queues=queues)
    tiles: list[int] = []
    for step in range(4):
        rack = twin.racks[(twin.starter + step) % 4]
        tiles += [kind for kind in range(NUM_KINDS) for _ in range(rack[kind])]
    stock = [kind for part in twin.stock for kind in part]
    begin_round(
        games[0],
        twin.indicator,
        okey_of(twin.indicator),
        twin.starter,
        np.array(tiles, np.uint8),
        np.array(stock, np.uint8),
    )
    return {"games": games, **{name: games[name] for name in games.dtype.names or ()}}


def compare(game: Game, twin: ReferenceRound) -> list[int]:
    """Everything that both of them know is the same; returns the legal actions."""
    mask = np.zeros(109, np.int8)
    mask_in(game["games"], 0, mask)
    engine: dict[str, Any] = {
        "phase": ("draw", "throw", "over")[game["phase"].item()],
        "turn": game["turn"].item(),
        "legal": np.flatnonzero(mask).tolist(),
        "racks": game["rack"][0, :, :NUM_KINDS].tolist(),
        "known": game["known"][0, :, :NUM_KINDS].tolist(),
        "heaps": game["heap"][0, :, :NUM_KINDS].tolist(),
        "stock_left": game["stock_left"].item(),
        "offer": None if game["offer"].item() == NO_TILE else game["offer"].item(),
        "lost": game["lost"][0].tolist(),
        "won": game["won"][0].tolist(),
        "ending": (None, "finish", "void", "truncated")[game["ending"].item()],
        "winner": None if game["winner"].item() == NO_SEAT else game["winner"].item(),
        "finish_kind": None if game["finish_kind"].item() == NO_TILE else game["finish_kind"].item(),
        "by_pairs": bool(game["by_pairs"].item()),
        "by_okey": bool(game["by_okey"].item()),
        "shown_by": None if game["shown_by"].item() == NO_SEAT else game["shown_by"].item(),
        "throws": game["throws"].item(),
    }
    reference: dict[str, Any] = {
        "phase": twin.phase,
        "turn": twin.turn,
        "legal": twin.legal_actions(),
        "racks": [list(rack) for rack in twin.racks],
        "known": [list(known) for known in twin.known],
        "heaps": [_counts(heap) for heap in twin.heaps],
        "stock_left": twin.stock_left,
        "offer": twin.offer,
        "lost": list(twin.lost),
        "won": list(twin.won),
        "ending": twin.ending,
        "winner": twin.winner,
        "finish_kind": twin.finish_kind,
        "by_pairs": bool(twin.by_pairs),
        "by_okey": bool(twin.by_okey),
        "shown_by": twin.shown_by,
        "throws": twin.throws,
    }
    for name, value in engine.items():
        assert value == reference[name], f"{name}: engine {value}, reference {reference[name]}"
    actions = np.arange(-1, 111)
    legal = np.empty(len(actions), np.bool_)
    legal_at(game["games"], np.zeros(len(actions), np.int64), actions, legal)
    assert actions[legal].tolist() == engine["legal"], "is_legal disagrees with the mask"
    return list(engine["legal"])


def _counts(kinds: list[int]) -> list[int]:
    counts = [0] * NUM_KINDS
    for kind in kinds:
        counts[kind] += 1
    return counts


def choose(game: Game, legal: list[int], skill: float, rng: random.Random) -> int:
    """A move: sensible with the chance `skill`, else any legal one."""
    finishes = [action for action in legal if is_finish(action)]
    if finishes and rng.random() < 0.5:
        return rng.choice(finishes)
    if SHOW in legal and rng.random() < 0.5:
        return SHOW
    if rng.random() >= skill:
        return rng.choice(legal)
    throws = [action for action in legal if is_throw(action)]
    if not throws:
        return TAKE if TAKE in legal and (DRAW not in legal or rng.random() < 0.3) else DRAW
    distances = throw_distances(game)
    best = min(distances[action - THROW] for action in throws)
    return rng.choice([action for action in throws if distances[action - THROW] == best])


def throw_distances(game: Game) -> dict[int, int]:
    """The melds distance of the seat to move after each throw, by kind."""
    seat = game["turn"].item()
    once, twice, wilds = int(game["once"][0, seat]), int(game["twice"][0, seat]), int(game["rack"][0, seat, WILD])
    distances = {}
    for kind in np.flatnonzero(game["rack"][0, seat, :NUM_KINDS]).tolist():
        bit = 1 << (4 * (kind % 13) + kind // 13) if kind != WILD else 0
        less_once, less_twice = (once, twice ^ bit) if twice & bit else (once ^ bit, twice)
        distances[kind] = melds_distance(
            np.uint64(less_once), np.uint64(less_twice), wilds - (kind == WILD), bool(game["rules"]["run_13_1"].item())
        )
    return distances


def play(seed: int) -> tuple[str, int]:
    """One round of both, compared at every step; how it ended and after how many steps."""
    rng = random.Random(seed)
    rules = random_rules(rng)
    queues = rng.random() < 0.3
    make = near_finish_round if rng.random() < 0.4 else random_round
    twin = make(rules, rng, queues)
    game = engine_beside(twin, rules, queues)
    skill = rng.choice((0.0, 0.7, 0.95))
    steps = 0
    try:
        legal = compare(game, twin)
        while twin.phase != "over":
            action = choose(game, legal, skill, rng)
            twin.step(action)
            assert act_in(game["games"], 0, action), "the engine refuses what the reference allows"
            steps += 1
            legal = compare(game, twin)
    except AssertionError as error:
        raise AssertionError(f"seed {seed}, rules {rules}, step {steps}: {error}") from error
    how = str(twin.ending)
    if how == "finish":
        how += " pairs" if twin.by_pairs else " melds"
        how += " okey" if twin.by_okey else ""
    return how, steps


assert FINISH == THROW + NUM_KINDS

"""The coach: every legal move of a position, the best first, with reasons in words and numbers.

`advise` reads an observation and nothing else. The distance after a move and the unseen tiles that then help are exact;
the danger of a throw comes from a regression (`thinking.tile_odds`). Points are estimated for the best rated moves, by
rollouts in sampled worlds (`thinking.worlds`) that agree with all that was seen. The move is made, all four seats play
on as `expert` until the mover's second turn from now, and a value network (`thinking.value`) estimates what the round
is then worth. All moves are tried in the same worlds, so that their differences are known better than their points.
The intervals are those of the trials; they do not contain the errors of `expert` and of the network.

The estimated points are noisy, so the order does not follow them alone. It starts from the ratings of `expert` and
moves towards the estimates as far as they are certain, with a normal prior.
`scripts/studies/coach_calibration.py` fits its constants.

A reason is a code with numbers. `Reason.sentence` makes English of it; a page in another language uses its own words.
"""

import dataclasses
import math
from collections.abc import Callable, Mapping, Sequence
from typing import Any, TypeAlias

import numpy as np
import numpy.typing as npt

from okey_agents.bots.rated import rate_batch
from okey_agents.evaluate.statistics import Interval, t_quantile
from okey_agents.thinking.position import position_of
from okey_agents.thinking.rollout import RolloutSettings, roll_out
from okey_agents.thinking.rule_weights import EXPERT
from okey_agents.thinking.scorer.choose import Policy
from okey_agents.thinking.tile_odds import needed_chance
from okey_agents.thinking.value import value_for
from okey_agents.thinking.worlds import sample_worlds
from okey_env import hands
from okey_env.actions import DRAW, NUM_ACTIONS, SHOW, TAKE, is_finish, tile_of, to_text
from okey_env.checks import MAX_DEALS, index_of, seed_number, shown, whole_number
from okey_env.engine._jit import kernel
from okey_env.engine.hand import BIT_OF_KIND
from okey_env.engine.hand.bits import as_int
from okey_env.engine.scoring import best_finish_points
from okey_env.engine.state import GAME, rules_of
from okey_env.engine.turn import apply
from okey_env.observation import Observation
from okey_env.tiles import NUM_KINDS, WILD, kind_text

WORLDS = 300
"""The worlds in which moves are tried, by default."""
CANDIDATES = 5
"""The most moves that are tried."""
MARGIN = 30.0
"""A move is tried if its rating is at most this many score units below the best."""
OWN_TURNS = 2
"""A trial ends as the mover begins this turn, counted from its next one."""

SLOPE = 0.025
"""Points for each score unit of difference between the ratings of `expert`: the mean of the prior."""
DOUBT = 0.3
"""The standard deviation of the prior, in points."""

Number: TypeAlias = int | float | tuple[int, ...]


@dataclasses.dataclass(frozen=True)
class Reason:
    """One reason for or against a move, or one thing that the move leads to.

    These are the codes and their numbers; tiles are kinds (`okey_env.tiles`):

    | code | numbers |
    |---|---|
    | `finish` | `points` that each other player loses |
    | `dearer` | `points`: the most that each other player would lose by another finish |
    | `wait` | `points` that each other player would lose by a finish that is given up |
    | `show` | `points` that each other player loses |
    | `complete` | the 14 tiles are all melds or pairs: whatever comes next finishes |
    | `melds` | `distance`, `before`: tiles from a finish by melds after the move and before it |
    | `pairs` | `distance`: tiles from seven pairs, where that is no further than melds |
    | `useful` | `tiles` unseen that then help, `of` all unseen, `kinds` of them |
    | `draw` | the same of the tile that is drawn |
    | `can_finish` | the tile taken finishes the hand |
    | `then_throw` | `kind`: the best throw after the take |
    | `danger` | `chance` that the tile brings the right-hand neighbour nearer |
    | `wild` | a wild tile is given away |
    | `only` | there is no other move |
    | `expected` | `points`, `low`, `high`: of the round for the mover, with a 95 % interval; `worlds` tried |
    | `behind` | `points`, `low`, `high`: the same for how much less than the first move |
    """

    code: str
    numbers: Mapping[str, Number] = dataclasses.field(default_factory=dict)

    def sentence(self, okey: int) -> str:
        """The reason in English, for a round with this okey."""
        return _SENTENCES[self.code](self.numbers, okey)

    def to_dict(self) -> dict[str, Any]:
        """The reason as plain data."""
        numbers = {name: list(value) if isinstance(value, tuple) else value for name, value in self.numbers.items()}
        return {"code": self.code, **numbers}


@dataclasses.dataclass(frozen=True)
class Advice:
    """One legal move."""

    action: int
    reasons: tuple[Reason, ...]
    points: Interval | None
    """Points to expect of the round, won less lost, from now on; None: the move was not tried."""

    def text(self, okey: int) -> str:
        """The move and its reasons in English, for a round with this okey."""
        said = "; ".join(reason.sentence(okey) for reason in self.reasons)
        return f"{to_text(self.action, okey)}: {said}" if said else to_text(self.action, okey)

    def to_dict(self) -> dict[str, Any]:
        """The advice as plain data."""
        return {"action": self.action, "reasons": [reason.to_dict() for reason in self.reasons]}


def advise(observation: Observation, worlds: int = WORLDS, seed: int = 0, also: Sequence[int] = ()) -> list[Advice]:
    """All legal moves of the seat to move, the best first, with reasons.

    Args:
        observation: what the seat knows; it is to move.
        worlds: in how many worlds the best rated moves are tried; 0: no move is tried, and the order is that of
            `expert`.
        seed: settles the worlds; the same seed and observation give the same advice.
        also: legal moves to try whatever their rating.

    Raises:
        ValueError: it is not the observer's turn, or `worlds` or the seed is not what it should be.

    >>> from okey_env import Deal
    >>> from okey_env.round import Round
    >>> rack = "R1 R2 R3 R4 | B4 B5 B6 | K7 K8 K9 | Y10 Y11 Y12 Y13 | *"
    >>> round = Round("gamelake", seed=1, deal=Deal(indicator="Y4", racks=(rack, None, None, None)))
    >>> best = advise(round.observe(0), worlds=0)[0]
    >>> print(best.text(round.okey))
    finish *: wins the round: each other player loses 4
    """
    if not isinstance(observation, Observation):
        raise ValueError(f"observation={shown(observation)}: expected an okey_env.Observation")
    if not observation.my_turn:
        raise ValueError(f"seat {observation.seat} is not to move: advice is for the seat whose turn it is")
    if index_of(worlds) != 0:
        worlds = whole_number("worlds", worlds, 2, MAX_DEALS, ", or 0")
    seed = seed_number(seed)
    legal = observation.legal_actions
    ratings = np.empty((1, NUM_ACTIONS), np.float32)
    rate_batch(observation.records, EXPERT, ratings)
    by_rating = sorted(legal, key=lambda action: (-ratings[0, action], action))
    best = float(ratings[0, by_rating[0]])
    tried = [action for action in by_rating if ratings[0, action] >= best - MARGIN][:CANDIDATES]
    tried += [action for action in also if action not in tried]
    order = by_rating
    found: dict[int, tuple[tuple[Reason, ...], Interval]] = {}
    if worlds and len(tried) > 1 and tried[0] != SHOW:
        trials = try_moves(observation, tried, worlds, seed)
        standing = _standing(trials, ratings[0, tried].astype(np.float64))
        order = [tried[rank] for rank in np.argsort(-standing, kind="stable")]
        found = _estimates(dict(zip(tried, trials, strict=True)), order[0])
        order += [action for action in by_rating if action not in found]
    facts = _Facts(observation)
    advice = []
    for action in order:
        reasons = facts.of(action) if len(legal) > 1 else [Reason("only")]
        tried_reasons, points = found.get(action, ((), None))
        advice.append(Advice(action, (*reasons, *tried_reasons), points))
    return advice


# --- trying moves --------------------------------------------------------------------------------------------------


def try_moves(observation: Observation, moves: Sequence[int], worlds: int, seed: int) -> npt.NDArray[np.float64]:
    """Try moves in sampled worlds, each move in the same worlds.

    Args:
        observation: what the seat to move knows.
        moves: legal actions.
        worlds: how many worlds.
        seed: settles the worlds and the ties of the rollouts.

    Returns:
        The mover's points of the whole round, `(moves, worlds)`.

    Raises:
        ValueError: no world that agrees with the observation was found.
    """
    games: npt.NDArray[Any] = np.zeros(worlds, GAME)
    word = np.uint64(seed % 2**64)
    if not sample_worlds(observation.records, 0, 1, word, games):
        raise ValueError("no world that agrees with the observation was found, so no move can be tried: pass worlds=0")
    points = np.empty((len(moves), worlds), np.float64)
    scratch: npt.NDArray[Any] = np.zeros(1, GAME)
    expert = Policy(EXPERT)
    settings = RolloutSettings(expert, expert, OWN_TURNS, value_for(rules_of(games[0])), zero_sum=False)
    for index, move in enumerate(moves):
        try_in_worlds(games, scratch, move, settings, word, points[index])
    return points


@kernel
def try_in_worlds(
    games: npt.NDArray[np.record],
    scratch: npt.NDArray[np.record],
    action: int,
    settings: RolloutSettings,
    seed: np.uint64,
    points: npt.NDArray[np.float64],
) -> None:
    """Try one action of the seat to move in several worlds of one decision.

    Args:
        games: `(N,)` GAMEs, the worlds; they stay as they are.
        scratch: `(1,)`, a GAME that is overwritten.
        action: what the seat to move does.
        settings: how the round is played on and valued; the last value counts.
        seed: settles ties.
        points: `(N,)` to fill with the mover's points won less points lost in the whole round.
    """
    values = np.empty(settings.own_turns, np.float64)
    for i in range(len(games)):
        scratch[0] = games[i]
        mover = as_int(games[i].turn)
        apply(scratch[0], action)
        roll_out(scratch[0], mover, settings, seed, values)
        points[i] = values[-1]


def _standing(trials: npt.NDArray[np.float64], ratings: npt.NDArray[np.float64]) -> npt.NDArray[np.float64]:
    """By how many points each move is ahead of the first: the posterior means of ratings and trials.

    Args:
        trials: `(moves, worlds)` points.
        ratings: `(moves,)` of `expert`, in score units.

    Returns:
        `(moves,)` points; 0 for the first move.
    """
    ahead = trials - trials[0]
    noise = ahead.var(axis=1, ddof=1) / trials.shape[1]
    expected = SLOPE * (ratings - ratings[0])
    trust = np.divide(DOUBT**2, DOUBT**2 + noise)
    standing: npt.NDArray[np.float64] = expected + trust * (ahead.mean(axis=1) - expected)
    standing[0] = 0.0
    return standing


def _estimates(
    trials: Mapping[int, npt.NDArray[np.float64]], best: int
) -> dict[int, tuple[tuple[Reason, ...], Interval]]:
    """The reasons that come from trials, and the points with their interval, by move; `best` is the first move."""
    found = {}
    for move, points in trials.items():
        interval = _interval(points)
        reasons = [Reason("expected", _numbers(interval) | {"worlds": len(points)})]
        if move != best:
            reasons.append(Reason("behind", _numbers(_interval(trials[best] - points))))
        found[move] = (tuple(reasons), interval)
    return found


def _interval(values: npt.NDArray[np.float64]) -> Interval:
    mean = float(values.mean())
    margin = t_quantile(len(values) - 1) * float(values.std(ddof=1)) / math.sqrt(len(values))
    return Interval(mean, mean - margin, mean + margin)


def _numbers(interval: Interval) -> dict[str, Number]:
    return {"points": interval.mean, "low": interval.low, "high": interval.high}


# --- facts ---------------------------------------------------------------------------------------------------------


class _Facts:
    """The reasons for the moves of one position that need no trials."""

    def __init__(self, observation: Observation) -> None:
        self._seen = observation
        record = observation.records
        self._run_13_1 = bool(record["rules"]["run_13_1"][0])
        self._indicator_points = int(record["rules"]["indicator_points"][0])
        self._dangers = np.zeros(NUM_KINDS)
        self._finishes = np.zeros(NUM_KINDS, np.int64)
        look_closer(record, 0, self._dangers, self._finishes)
        self._distance = self._analyse(observation.rack.copy()).distance

    def of(self, action: int) -> list[Reason]:
        """The reasons for or against one legal move."""
        if action == SHOW:
            return [Reason("show", {"points": self._indicator_points})]
        if action == DRAW:
            return self._of_draw()
        if action == TAKE:
            return self._of_take()
        kind = int(tile_of(action) or 0)
        return self._of_finish(kind) if is_finish(action) else self._of_throw(kind)

    def _of_finish(self, kind: int) -> list[Reason]:
        points, most = int(self._finishes[kind]), int(self._finishes.max())
        dearer = [Reason("dearer", {"points": most})] if most > points else []
        return [Reason("finish", {"points": points}), *dearer]

    def _of_throw(self, kind: int) -> list[Reason]:
        rack = self._seen.rack.copy()
        rack[kind] -= 1
        reasons = self._of_rack(rack, "useful")
        if self._finishes.any():
            reasons.append(Reason("wait", {"points": int(self._finishes.max())}))
        if kind == WILD:
            reasons.append(Reason("wild"))
        return [*reasons, Reason("danger", {"chance": float(self._dangers[kind])})]

    def _of_draw(self) -> list[Reason]:
        return self._of_rack(self._seen.rack.copy(), "draw")

    def _of_take(self) -> list[Reason]:
        rack = self._seen.rack.copy()
        rack[self._seen.offer] += 1
        if hands.finishing_kinds(rack, run_13_1=self._run_13_1).any():
            return [Reason("can_finish")]
        throw = self._best_throw(rack)
        rack[throw] -= 1
        return [*self._of_rack(rack, "useful"), Reason("then_throw", {"kind": throw})]

    def _of_rack(self, rack: hands.Counts, code: str) -> list[Reason]:
        """What 14 tiles are worth."""
        found = self._analyse(rack)
        if found.distance == 0 or found.pairs_distance == 0:
            return [Reason("complete")]
        reasons = [Reason("melds", {"distance": int(found.distance), "before": int(self._distance)})]
        useful = found.useful
        if found.pairs_distance <= found.distance:
            reasons.append(Reason("pairs", {"distance": int(found.pairs_distance)}))
            helps_pairs = np.append(rack[:WILD] == 1, True)
            useful = useful | helps_pairs if found.pairs_distance == found.distance else helps_pairs
        unseen = self._seen.unseen
        kinds = np.flatnonzero(useful & (unseen > 0))
        numbers: dict[str, Number] = {"tiles": int(unseen[kinds].sum()), "of": int(unseen.sum())}
        return [*reasons, Reason(code, numbers | {"kinds": tuple(kinds.tolist())})]

    def _best_throw(self, rack: hands.Counts) -> int:
        """The throw from 15 tiles that keeps the distance and most unseen useful tiles."""
        found = self._analyse(rack)
        if found.pairs_distance < found.distance:
            return int(np.argmax(np.where(rack[:WILD] == 1, 3 - self._seen.unseen[:WILD], 0)))
        tiles = found.useful_after.astype(np.int64) @ self._seen.unseen.astype(np.int64)
        return int(np.argmax(np.where(found.keeps, tiles, -1)))

    def _analyse(self, rack: hands.Counts) -> hands.Analysis:
        return hands.analyse(rack, run_13_1=self._run_13_1)


@kernel
def look_closer(
    records: npt.NDArray[np.record], i: int, dangers: npt.NDArray[np.float64], finishes: npt.NDArray[np.int64]
) -> None:
    """What a record does not say by itself, by kind.

    Args:
        records: of OBSERVATION.
        i: which of them.
        dangers: `(53,)` filled with the chance that the kind, thrown, brings the right-hand neighbour nearer.
        finishes: `(53,)` filled with the points that each other player loses by a finish with the kind; 0: it is none.
    """
    seen = records[i]
    position = position_of(seen)
    for kind in range(NUM_KINDS):
        bit = as_int(BIT_OF_KIND[kind])
        dangers[kind] = needed_chance(position, bit) if kind != WILD else 1.0
        finishes[kind] = best_finish_points(seen, kind, seen.finish_melds, seen.finish_pairs)


# --- words ---------------------------------------------------------------------------------------------------------


def _melds_sentence(numbers: Mapping[str, Any], okey: int) -> str:
    distance, nearer = numbers["distance"], numbers["before"] - numbers["distance"]
    change = f", {abs(nearer)} {'nearer' if nearer > 0 else 'further'}" if nearer else ""
    return f"{_tiles(distance)} from a finish{change}"


def _useful_sentence(numbers: Mapping[str, Any], okey: int) -> str:
    kinds = " ".join(kind_text(kind, okey) for kind in numbers["kinds"])
    return f"{numbers['tiles']} of {numbers['of']} unseen tiles help then" + (f" ({kinds})" if kinds else "")


def _expected_sentence(numbers: Mapping[str, Any], okey: int) -> str:
    return f"about {numbers['points']:+.2f} points ({_bounds(numbers)}, {numbers['worlds']} trials)"


def _behind_sentence(numbers: Mapping[str, Any], okey: int) -> str:
    return f"{numbers['points']:+.2f} behind the first ({_bounds(numbers)})"


def _bounds(numbers: Mapping[str, Any]) -> str:
    return f"{numbers['low']:+.2f} to {numbers['high']:+.2f}"


def _tiles(number: int) -> str:
    return f"{number} tile{'' if number == 1 else 's'}"


_SENTENCES: dict[str, Callable[[Mapping[str, Any], int], str]] = {
    "finish": lambda numbers, okey: f"wins the round: each other player loses {numbers['points']}",
    "dearer": lambda numbers, okey: f"another finish costs them {numbers['points']}",
    "can_finish": lambda numbers, okey: "you can finish with it",
    "wait": lambda numbers, okey: f"gives up a finish that costs each other player {numbers['points']}",
    "show": lambda numbers, okey: f"for nothing, each other player loses {numbers['points']}",
    "complete": lambda numbers, okey: "14 complete tiles: whatever comes next finishes",
    "melds": _melds_sentence,
    "pairs": lambda numbers, okey: f"{_tiles(numbers['distance'])} from seven pairs",
    "useful": _useful_sentence,
    "draw": lambda numbers, okey: _useful_sentence(numbers, okey).replace(" help then", " help"),
    "then_throw": lambda numbers, okey: f"then throw {kind_text(numbers['kind'], okey)}",
    "danger": lambda numbers, okey: f"{numbers['chance']:.0%} that it helps the right-hand neighbour",
    "wild": lambda numbers, okey: "a wild tile is given away",
    "only": lambda numbers, okey: "there is no other move",
    "expected": _expected_sentence,
    "behind": _behind_sentence,
}

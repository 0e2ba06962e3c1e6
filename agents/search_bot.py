"""`search`: what `expert` would do, put to the test in many worlds.

1. Showing the twin, a finish, and a throw that `expert` rates far above all others are played at once, and so is what
   it prefers of drawing and taking: there worlds tell nothing that its rating does not know (docs/search.md).
2. Otherwise the throws that are rated near the best are candidates, `MOST` of them at most.
3. Each is tried in worlds that agree with what was seen (`belief`), all of them in the same worlds with the same tiles
   to come: the move is made, and everybody plays on by the rule of `efficient`, until the searcher begins its second
   turn from now. What the positions at the beginning of its two turns are worth to it, the value network says, which
   sees all racks of the world.
4. What a candidate gained over the rule's own choice, on average, is drawn towards what its rating lets one expect,
   the more the fewer worlds there were. One that will hardly turn out best is dropped, so that most rollouts go to
   what is close; when none is left beside the rule's choice, that is played, else the best.

The budget is a number of rollouts, or milliseconds. With rollouts a move is a function of the seed and what was seen.
"""

import time

import numpy as np
import numpy.typing as npt

from okey_env.actions import FINISH, NUM_ACTIONS, SHOW
from okey_env.engine._jit import kernel
from okey_env.engine.random import derive_seed
from okey_env.engine.state import GAME, NOT_ENDED, PHASE_DRAW
from okey_env.engine.turn import apply
from okey_env.observation import Observation
from okey_env.tiles import NUM_SEATS

from .belief import believe
from .bot import move_seed
from .efficient_bot import choose_in_game
from .expert_bot import rate
from .value import load_value, value_of

MARGIN = 12.0
"""Candidates are rated within so many score units of the best."""
MOST = 6
"""Candidates, at most."""
OWN_TURNS = 2
"""A rollout ends when the searcher begins the turn of this number after the present one."""
ROLLOUTS = 400
"""Rollouts for a move that is not clear, at most, unless chosen otherwise."""
WORLDS_A_STAGE = 8
"""Worlds that are tried before candidates are dropped."""
DROPPED = 2.0
"""A candidate is dropped that is so many standard deviations behind."""
# What candidates gain over the rule's choice by d score units less (docs/search.md), in points:
EXPECTED = -0.05
"""Its mean, times d."""
SPREAD = 0.03
"""Its standard deviation at d = 0 …"""
SPREAD_MORE = 0.03
"""… and what d adds to it."""
NOISE = 0.75
"""The standard deviation of the gain from world to world, and so many worlds count as if they had shown it."""
NOISE_WORLDS = 20.0

Floats = npt.NDArray[np.float32]


@kernel
def find_candidates(seen: np.record, ratings: Floats, candidates: npt.NDArray[np.int64]) -> int:
    """Fill the candidates, the best-rated first; returns how many there are: one where there is nothing to search.

    Args:
        seen: the OBSERVATION of the seat to move.
        ratings: `(109,)` to fill, as by `expert_bot.rate`.
        candidates: `(MOST,)` actions to fill.
    """
    rate(seen, ratings)
    count = 0
    least = ratings.max() - MARGIN
    while count < len(candidates):
        best = -1
        for action in range(NUM_ACTIONS):
            if ratings[action] < least or (best >= 0 and ratings[action] <= ratings[best]):
                continue
            taken = False
            for place in range(count):
                taken = taken or candidates[place] == action
            if not taken:
                best = action
        if best < 0:
            break
        candidates[count] = best
        count += 1
        if seen.phase == PHASE_DRAW or best == SHOW or best >= FINISH:
            break
    return count


@kernel
def roll_out(games: npt.NDArray[np.record], i: int, seat: int, seed: np.uint64, weights: Floats) -> float:
    """Play game i on by rule; returns the zero-sum points that it brings `seat`, by the value network.

    It is asked as each of the next `OWN_TURNS` turns of the seat begins, and the mean of what it says is returned: a
    later look knows more of what a move leads to, an earlier one less of the luck in between.
    """
    game = games[i]
    values = np.empty(NUM_SEATS, np.float32)
    total, turns = 0.0, 0
    while game.ending == NOT_ENDED:
        if game.turn == seat and game.phase == PHASE_DRAW:
            value_of(game, weights, values)
            total += float(game.won[seat]) - float(game.lost[seat]) + float(values[seat])
            turns += 1
            if turns == OWN_TURNS:
                return total / OWN_TURNS
        apply(game, choose_in_game(games, i, seed))
    return (total + (OWN_TURNS - turns) * (float(game.won[seat]) - float(game.lost[seat]))) / OWN_TURNS


@kernel
def try_worlds(
    seen: np.record,
    candidates: npt.NDArray[np.int64],
    seed: np.uint64,
    first: int,
    number: int,
    weights: Floats,
    games: npt.NDArray[np.record],
    tried: npt.NDArray[np.float64],
) -> None:
    """Try candidates in worlds `first`, `first + 1`, … of a seed.

    Args:
        seen: the OBSERVATION of the seat to move.
        candidates: `(C,)` actions, the rule's choice first; those below 0 are left out.
        seed: settles the worlds.
        first: number of the first world.
        number: how many worlds.
        weights: of the value network.
        games: `(2,)` to work in.
        tried: `(3, C)`; what each candidate gained over the first, its square, and the worlds are added.
    """
    seat = int(seen.seat)
    for world in range(first, first + number):
        world_seed = derive_seed(seed, np.uint64(world))
        if not believe(seen, 1, world_seed, games[0]):
            return
        base = 0.0
        for place in range(len(candidates)):
            if candidates[place] < 0:
                continue
            games[1] = games[0]
            apply(games[1], candidates[place])
            points = roll_out(games, 1, seat, world_seed, weights)
            if place == 0:
                base = points
            tried[0, place] += points - base
            tried[1, place] += (points - base) ** 2
            tried[2, place] += 1


@kernel
def gain_of(worse: float, total: float, squares: float, worlds: float) -> tuple[float, float]:
    """What a candidate should gain over the rule's choice: mean and standard deviation, after it was tried.

    Args:
        worse: by how many score units it is rated less.
        total, squares, worlds: its column of `tried`.
    """
    expected, spread = EXPECTED * worse, SPREAD + SPREAD_MORE * worse
    mean = total / worlds
    noise = (NOISE_WORLDS * NOISE**2 + squares - worlds * mean**2) / (NOISE_WORLDS + worlds)
    trust = spread**2 / (spread**2 + noise / worlds)
    return expected + trust * (mean - expected), spread * np.sqrt(1.0 - trust)


@kernel
def judge_gains(
    ratings: Floats, found: npt.NDArray[np.int64], candidates: npt.NDArray[np.int64], tried: npt.NDArray[np.float64]
) -> int:
    """The place of the candidate that should gain most; those that will hardly turn out best are set to -1.

    The rule's own choice, to which all are compared, is the last to go.

    Args:
        ratings: `(109,)`.
        found: `(C,)` all candidates, the rule's choice first.
        candidates: `(C,)` the same, less those that were dropped before.
        tried: `(3, C)` of `try_worlds`.
    """
    gains, spreads = np.zeros(len(found)), np.zeros(len(found))
    best = 0
    for place in range(1, len(found)):
        worse = ratings[found[0]] - ratings[found[place]]
        gains[place], spreads[place] = gain_of(worse, tried[0, place], tried[1, place], tried[2, place])
        if gains[place] > gains[best]:
            best = place
    others = 0
    for place in range(1, len(found)):
        if place != best and gains[place] + DROPPED * spreads[place] < gains[best]:
            candidates[place] = -1
        if place != best and candidates[place] >= 0:
            others += 1
    if others == 0 and gains[best] > DROPPED * spreads[best]:
        candidates[0] = -1
    return best


@kernel
def think(
    records: npt.NDArray[np.record],
    i: int,
    seed: np.uint64,
    rollouts: int,
    weights: Floats,
    games: npt.NDArray[np.record],
    ratings: Floats,
    found: npt.NDArray[np.int64],
    candidates: npt.NDArray[np.int64],
    tried: npt.NDArray[np.float64],
    counts: npt.NDArray[np.int64],
) -> int:
    """Begin the search of a move, or go on with it, and tell the best move so far.

    Args:
        records: OBSERVATIONs; the observer of record i is to move.
        i: which of them.
        seed: of the bot.
        rollouts: how many to add, to within a stage.
        weights: `(2, W)` of the value network, by whether the points of a finish are multiplied (R6.5).
        games: `(2,)` to work in.
        ratings: `(109,)` as in `find_candidates`.
        found: `(MOST,)` as there.
        candidates: `(MOST,)` the same, -1 for those that were dropped.
        tried: `(3, MOST)` as in `try_worlds`.
        counts: `(3,)` the number of candidates, 0 to begin a search; of those not dropped; of worlds tried.
    """
    seen = records[i]
    if counts[0] == 0:
        counts[0] = find_candidates(seen, ratings, found)
        counts[1] = counts[0]
        counts[2] = 0
        candidates[:] = found
        tried[:] = 0.0
    size = int(counts[0])
    best = 0
    while rollouts > 0 and counts[1] > 1:
        try_worlds(
            seen,
            candidates[:size],
            move_seed(seen, seed),
            int(counts[2]),
            WORLDS_A_STAGE,
            weights[int(seen.combine_product)],
            games,
            tried,
        )
        counts[2] += WORLDS_A_STAGE
        rollouts -= WORLDS_A_STAGE * int(counts[1])
        best = judge_gains(ratings, found[:size], candidates[:size], tried)
        counts[1] = (candidates[:size] >= 0).sum()
    return int(found[best])


class SearchBot:
    """The best in worlds that agree with what was seen, of the moves that `expert` rates well.

    Args:
        seed: settles the moves; `reset` gives another.
        rollouts: how many are played for a move that is not clear.
        milliseconds: think so long instead; then the same position may get another move another time.

    Raises:
        ValueError: a budget is not above 0.
    """

    name = "search"

    def __init__(self, seed: int = 0, *, rollouts: int = ROLLOUTS, milliseconds: float | None = None) -> None:
        if rollouts < 1:
            raise ValueError(f"rollouts={rollouts} is out of range: expected 1 or more")
        if milliseconds is not None and not milliseconds > 0:
            raise ValueError(f"milliseconds={milliseconds} is out of range: expected more than 0")
        self._rollouts = rollouts
        self._seconds = None if milliseconds is None else milliseconds / 1_000
        self._weights = np.stack([load_value("klasik"), load_value("gamelake")])
        self._games = np.zeros(2, GAME)
        self._ratings = np.zeros(NUM_ACTIONS, np.float32)
        self._found = np.zeros(MOST, np.int64)
        self._candidates = np.zeros(MOST, np.int64)
        self._tried = np.zeros((3, MOST))
        self._counts = np.zeros(3, np.int64)
        self.reset(seed)

    def reset(self, seed: int) -> None:
        """Settle all randomness of the moves to come."""
        self._seed = np.uint64(seed % 2**64)

    @property
    def worlds(self) -> int:
        """In how many worlds the last move was tried; 0 for one that was clear."""
        return int(self._counts[2])

    def act(self, observation: Observation) -> int:
        """Choose one of `observation.legal_actions`."""
        return self._search(observation.records, 0)

    def act_batch(self, records: npt.NDArray[np.record]) -> npt.NDArray[np.int64]:
        """Choose for each of `(N,)` OBSERVATION records: `(N,)` actions."""
        return np.array([self._search(records, i) for i in range(len(records))], np.int64)

    def _search(self, records: npt.NDArray[np.record], i: int) -> int:
        self._counts[:] = 0
        if self._seconds is None:
            return self._think(records, i, self._rollouts)
        end = time.perf_counter() + self._seconds
        action = self._think(records, i, 1)  # a stage
        while self._counts[1] > 1 and time.perf_counter() < end:
            action = self._think(records, i, 1)
        return action

    def _think(self, records: npt.NDArray[np.record], i: int, rollouts: int) -> int:
        return int(
            think(
                records,
                i,
                self._seed,
                rollouts,
                self._weights,
                self._games,
                self._ratings,
                self._found,
                self._candidates,
                self._tried,
                self._counts,
            )
        )

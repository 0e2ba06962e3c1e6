"""`search`: the moves that a trained scorer prefers, tried by rollouts in many sampled worlds (determinizations).

1. Showing the twin, a finish, and what the scorer prefers of drawing and taking are played at once. There the worlds
   tell nothing that the scores do not hold (docs/search.md).
2. At a throw the search tries the scorer's candidates, at most `MAX_CANDIDATES`.
3. All candidates are tried in the same worlds, which agree with what was seen (`thinking.worlds`), with the same tiles
   to come. The move is made, and all seats play on by the rule of `efficient` until the searcher's second turn from
   now. As each of its two turns begins, a value network that sees all racks of the world says what the position is
   worth to the searcher; the mean of both values counts.
4. The mean gain of a candidate over the scorer's own choice is shrunk towards the difference of their scores, more so
   the fewer worlds there were. A candidate that will hardly turn out best is dropped, so that most rollouts go to
   close candidates. The search ends when one candidate is left or the budget is spent; then the best is played.

The budget is a number of rollouts, or milliseconds. With rollouts a move is a function of the seed and what was seen.
"""

import time
from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from okey_agents.bots.base import move_seed
from okey_agents.bots.scorer import ScorerBot
from okey_agents.bots.shipped import shipped_scorer
from okey_agents.thinking.position import position_of
from okey_agents.thinking.rollout import RolloutSettings, roll_out
from okey_agents.thinking.rule_weights import EFFICIENT
from okey_agents.thinking.scorer.choose import Policy, score_candidates
from okey_agents.thinking.scorer.context import MAX_CANDIDATES
from okey_agents.thinking.value import load_value, preset_of
from okey_agents.thinking.worlds import sample_world
from okey_env.actions import FINISH, SHOW
from okey_env.checks import positive_number, seed_number, whole_number
from okey_env.engine._jit import kernel
from okey_env.engine.random import derive_seed
from okey_env.engine.state import GAME, PHASE_DRAW
from okey_env.engine.turn import apply
from okey_env.observation import Observation
from okey_env.rules import PRESETS

OWN_TURNS = 2
"""A rollout ends when the searcher begins this turn, counted from its next one."""
ROLLOUTS = 400
"""The most rollouts for a move, by default."""
WORLDS_A_STAGE = 8
"""Worlds that are tried before candidates are dropped."""
DROPPED = 2.0
"""A candidate is dropped if its gain is this many standard deviations below the best."""
SPREAD = 0.03
"""How far the true gain of a candidate is from the difference of the scores, in points: the standard deviation at a
difference of 0 …"""
SPREAD_MORE = 0.6
"""… and what each point of difference adds to it."""
NOISE = 0.75
"""The prior standard deviation of a gain from world to world, in points."""
NOISE_WORLDS = 20.0
"""The worlds that this prior counts for."""

FOUND, LEFT, WORLDS, NUM_COUNTS = range(4)
"""The counts of a search: its candidates, 0 before it begins; those not dropped; the worlds tried."""
GAIN, SQUARE, TRIALS, NUM_SUMS = range(4)
"""The sums of a candidate: its gains over the scorer's choice, their squares, and the worlds it was tried in."""

Floats = npt.NDArray[np.float32]


class SearchState(NamedTuple):
    """The search of one move. Letters: `C` = `MAX_CANDIDATES`."""

    games: npt.NDArray[np.record]
    """`(2,)` of GAME: a world, and the copy of it that is played in."""
    scores: Floats
    """`(C,)` of the candidates in points, the highest first, with the bonus in."""
    found: npt.NDArray[np.int64]
    """`(C,)` their actions."""
    candidates: npt.NDArray[np.int64]
    """`(C,)` the same, -1 for candidates that were dropped."""
    tried: npt.NDArray[np.float64]
    """`(NUM_SUMS, C)` the sums of each candidate."""
    counts: npt.NDArray[np.int64]
    """`(NUM_COUNTS,)` the counts of the search."""


@kernel
def find_candidates(seen: np.record, scorer: Policy, state: SearchState) -> int:
    """Fill scores and actions of the candidates, the highest score first.

    Args:
        seen: the OBSERVATION of the seat to move.
        scorer: the policy whose moves are searched.
        state: `scores` and `found` are filled.

    Returns:
        How many candidates there are; 1 if there is nothing to search.
    """
    scores, found = state.scores, state.found
    count = score_candidates(position_of(seen), scorer, found, scores)
    for index in range(1, count):
        rank, score, action = index, scores[index], found[index]
        while rank > 0 and scores[rank - 1] < score:
            scores[rank], found[rank] = scores[rank - 1], found[rank - 1]
            rank -= 1
        scores[rank], found[rank] = score, action
    if seen.phase == PHASE_DRAW or found[0] == SHOW or found[0] >= FINISH:
        return 1
    return count


@kernel
def try_worlds(seen: np.record, state: SearchState, rollouts: RolloutSettings, seed: np.uint64) -> None:
    """Try the candidates that are left in the next `WORLDS_A_STAGE` worlds of a seed.

    Args:
        seen: the OBSERVATION of the seat to move.
        state: the search; `tried` is added to.
        rollouts: how the worlds are played on and valued.
        seed: settles the worlds.
    """
    seat = int(seen.seat)
    points = np.empty(rollouts.own_turns, np.float64)
    first = int(state.counts[WORLDS])
    for world in range(first, first + WORLDS_A_STAGE):
        world_seed = derive_seed(seed, np.uint64(world))
        if not sample_world(seen, 1, world_seed, state.games[0]):
            return
        base = 0.0
        for index in range(int(state.counts[FOUND])):
            if state.candidates[index] < 0:
                continue
            state.games[1] = state.games[0]
            apply(state.games[1], state.candidates[index])
            roll_out(state.games[1], seat, rollouts, world_seed, points)
            worth = points.sum() / rollouts.own_turns
            if index == 0:
                base = worth
            state.tried[GAIN, index] += worth - base
            state.tried[SQUARE, index] += (worth - base) ** 2
            state.tried[TRIALS, index] += 1


@kernel
def gain_of(worse: float, total: float, squares: float, worlds: float) -> tuple[float, float]:
    """The expected gain of a candidate over the scorer's choice after it was tried, in points.

    Args:
        worse: by how many points its score is lower.
        total: the sum of its gains.
        squares: the sum of their squares.
        worlds: how many worlds it was tried in, at least 1.

    Returns:
        The mean and the standard deviation.
    """
    expected, spread = -worse, SPREAD + SPREAD_MORE * worse
    mean = total / worlds
    noise = (NOISE_WORLDS * NOISE**2 + squares - worlds * mean**2) / (NOISE_WORLDS + worlds)
    trust = spread**2 / (spread**2 + noise / worlds)
    return expected + trust * (mean - expected), spread * np.sqrt(1.0 - trust)


@kernel
def rate_gains(scores: Floats, candidates: npt.NDArray[np.int64], tried: npt.NDArray[np.float64]) -> int:
    """Find the candidate with the highest expected gain, and drop those that will hardly turn out best.

    The scorer's own choice, to which all candidates are compared, is dropped last.

    Args:
        scores: `(n,)` of all candidates, the highest first.
        candidates: `(n,)` their actions; those of dropped candidates become -1.
        tried: `(NUM_SUMS, C)` the sums of each candidate.

    Returns:
        The index of the best candidate.
    """
    gains, spreads = np.zeros(len(scores)), np.zeros(len(scores))
    best = 0
    for index in range(1, len(scores)):
        worse = float(scores[0] - scores[index])
        gains[index], spreads[index] = gain_of(worse, tried[GAIN, index], tried[SQUARE, index], tried[TRIALS, index])
        if gains[index] > gains[best]:
            best = index
    rivals = 0
    for index in range(1, len(scores)):
        if index != best and gains[index] + DROPPED * spreads[index] < gains[best]:
            candidates[index] = -1
        if index != best and candidates[index] >= 0:
            rivals += 1
    if rivals == 0 and gains[best] > DROPPED * spreads[best]:
        candidates[0] = -1
    return best


@kernel
def search_step(
    seen: npt.NDArray[np.record],
    i: int,
    seed: np.uint64,
    budget: int,
    scorer: Policy,
    rollouts: RolloutSettings,
    state: SearchState,
) -> int:
    """Begin the search of a move, or go on with it.

    Args:
        seen: OBSERVATIONs; the observer of record i is to move.
        i: which of them.
        seed: of the bot.
        budget: rollouts to add, rounded up to whole stages.
        scorer: the policy whose moves are searched.
        rollouts: how the worlds are played on and valued.
        state: the search; `counts[FOUND]` is 0 to begin one.

    Returns:
        The best move so far.
    """
    counts, candidates = state.counts, state.candidates
    if counts[FOUND] == 0:
        counts[FOUND] = find_candidates(seen[i], scorer, state)
        counts[LEFT] = counts[FOUND]
        counts[WORLDS] = 0
        candidates[:] = state.found
        state.tried[:] = 0.0
    size = int(counts[FOUND])
    best = 0
    while budget > 0 and counts[LEFT] > 1:
        try_worlds(seen[i], state, rollouts, move_seed(seen[i], seed))
        counts[WORLDS] += WORLDS_A_STAGE
        budget -= WORLDS_A_STAGE * int(counts[LEFT])
        best = rate_gains(state.scores[:size], candidates[:size], state.tried)
        counts[LEFT] = (candidates[:size] >= 0).sum()
    return int(state.found[best])


class SearchBot:
    """Rollouts in sampled worlds choose among the moves of a trained scorer; as strong as the scorer; any rules.

    Args:
        seed: settles the moves; `reset` gives another.
        rollouts: the most rollouts for a move.
        milliseconds: the time for a move, in place of `rollouts`; the same position may then get different moves.
        scorer: the scorer whose moves are tried; None: the one that ships for the rules at hand.

    Raises:
        ValueError: `rollouts` or `milliseconds` is not above 0.
    """

    name = "search"

    def __init__(
        self,
        seed: int = 0,
        *,
        rollouts: int = ROLLOUTS,
        milliseconds: float | None = None,
        scorer: ScorerBot | None = None,
    ) -> None:
        rollouts = whole_number("rollouts", rollouts, 1, 10**9)
        if milliseconds is not None:
            milliseconds = positive_number("milliseconds", milliseconds, ", or None")
        self._budget = rollouts
        self._seconds = None if milliseconds is None else milliseconds / 1_000
        self._scorers = {preset: scorer or shipped_scorer(preset) for preset in PRESETS}
        self._state = SearchState(
            games=np.zeros(2, GAME),
            scores=np.zeros(MAX_CANDIDATES, np.float32),
            found=np.zeros(MAX_CANDIDATES, np.int64),
            candidates=np.zeros(MAX_CANDIDATES, np.int64),
            tried=np.zeros((NUM_SUMS, MAX_CANDIDATES)),
            counts=np.zeros(NUM_COUNTS, np.int64),
        )
        everybody = Policy(EFFICIENT)
        self._rollouts = {
            preset: RolloutSettings(everybody, everybody, OWN_TURNS, load_value(preset), zero_sum=False)
            for preset in PRESETS
        }
        self.reset(seed)

    def reset(self, seed: int) -> None:
        """Settle all randomness of the moves to come."""
        self._seed = np.uint64(seed_number(seed))

    @property
    def worlds(self) -> int:
        """In how many worlds the last move was tried; 0 for one that was clear."""
        return int(self._state.counts[WORLDS])

    def act(self, observation: Observation) -> int:
        """Choose one of `observation.legal_actions`."""
        return self._search(observation.records, 0)

    def act_batch(self, records: npt.NDArray[np.record]) -> npt.NDArray[np.int64]:
        """Choose for each of `(N,)` OBSERVATION records: `(N,)` actions."""
        return np.array([self._search(records, i) for i in range(len(records))], np.int64)

    def _search(self, records: npt.NDArray[np.record], i: int) -> int:
        self._state.counts[:] = 0
        preset = preset_of(records[i])
        if self._seconds is None:
            return self._step(records, i, preset, self._budget)
        end = time.perf_counter() + self._seconds
        action = self._step(records, i, preset, 1)  # one stage
        while self._state.counts[LEFT] > 1 and time.perf_counter() < end:
            action = self._step(records, i, preset, 1)
        return action

    def _step(self, records: npt.NDArray[np.record], i: int, preset: str, budget: int) -> int:
        scorer, rollouts = self._scorers[preset].policy, self._rollouts[preset]
        return int(search_step(records, i, self._seed, budget, scorer, rollouts, self._state))

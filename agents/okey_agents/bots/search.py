"""`search`: what the learned scorer would do, put to the test in many worlds.

1. Showing the twin, a finish, and what the scorer prefers of drawing and taking are played at once: there worlds tell
   nothing that its scores do not know (docs/search.md).
2. At a throw the scorer's candidates are those of the search, `MAX_CANDIDATES` of them at most.
3. Each is tried in worlds that agree with what was seen (`belief`), all of them in the same worlds with the same tiles
   to come: the move is made, and everybody plays on by the rule of `efficient`, until the searcher begins its second
   turn from now. What the positions at the beginning of its two turns are worth to it, the value network says, which
   sees all racks of the world.
4. What a candidate gained over the scorer's own choice, on average, is drawn towards the difference of their scores,
   the more the fewer worlds there were. One that will hardly turn out best is dropped, so that most rollouts go to
   what is close; when none is left beside the scorer's choice, that is played, else the best.

The budget is a number of rollouts, or milliseconds. With rollouts a move is a function of the seed and what was seen.
"""

import time

import numpy as np
import numpy.typing as npt

from okey_agents.bots.base import move_seed
from okey_agents.bots.efficient import choose_in_game
from okey_agents.bots.scorer import ScorerBot
from okey_agents.bots.shipped import shipped_scorer
from okey_agents.thinking.position import position_of
from okey_agents.thinking.rule_weights import RuleWeights
from okey_agents.thinking.scorer.choose import score_candidates
from okey_agents.thinking.scorer.features import MAX_CANDIDATES
from okey_agents.thinking.value import load_value, preset_of, value_of
from okey_agents.thinking.worlds import sample_world
from okey_env.actions import FINISH, SHOW
from okey_env.engine._jit import kernel
from okey_env.engine.random import derive_seed
from okey_env.engine.state import GAME, NOT_ENDED, PHASE_DRAW
from okey_env.engine.turn import apply
from okey_env.observation import Observation
from okey_env.rules import PRESETS
from okey_env.tiles import NUM_SEATS

OWN_TURNS = 2
"""A rollout ends when the searcher begins the turn of this number after the present one."""
ROLLOUTS = 400
"""Rollouts for a move that is not clear, at most, unless chosen otherwise."""
WORLDS_A_STAGE = 8
"""Worlds that are tried before candidates are dropped."""
DROPPED = 2.0
"""A candidate is dropped that is so many standard deviations behind."""
# How far the true gain of a candidate over the scorer's choice is off from the difference of their scores, in points:
SPREAD = 0.03
"""Its standard deviation where there is no difference …"""
SPREAD_MORE = 0.6
"""… and what each point of difference adds to it."""
NOISE = 0.75
"""The standard deviation of the gain from world to world, and so many worlds count as if they had shown it."""
NOISE_WORLDS = 20.0

Floats = npt.NDArray[np.float32]


@kernel
def find_candidates(
    seen: np.record,
    rule: RuleWeights,
    weights: Floats,
    margin: np.float32,
    bonus: np.float32,
    scores: Floats,
    candidates: npt.NDArray[np.int64],
) -> int:
    """Fill the candidates, that with the highest score first; returns how many: one where there is nothing to search.

    Args:
        seen: the OBSERVATION of the seat to move.
        rule: of the scorer, as the next three.
        weights: see there.
        margin: see there.
        bonus: see there.
        scores: `(MAX_CANDIDATES,)` to fill, in points, with the bonus in.
        candidates: `(MAX_CANDIDATES,)` actions to fill.
    """
    count = score_candidates(position_of(seen), rule, weights, margin, bonus, candidates, scores)
    for place in range(1, count):
        score, action = scores[place], candidates[place]
        while place > 0 and scores[place - 1] < score:
            scores[place], candidates[place] = scores[place - 1], candidates[place - 1]
            place -= 1
        scores[place], candidates[place] = score, action
    if seen.phase == PHASE_DRAW or candidates[0] == SHOW or candidates[0] >= FINISH:
        return 1
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
        candidates: `(C,)` actions, the scorer's choice first; those below 0 are left out.
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
        if not sample_world(seen, 1, world_seed, games[0]):
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
    """What a candidate should gain over the scorer's choice: mean and standard deviation, after it was tried.

    Args:
        worse: by how many points its score is lower.
        total, squares, worlds: its column of `tried`.
    """
    expected, spread = -worse, SPREAD + SPREAD_MORE * worse
    mean = total / worlds
    noise = (NOISE_WORLDS * NOISE**2 + squares - worlds * mean**2) / (NOISE_WORLDS + worlds)
    trust = spread**2 / (spread**2 + noise / worlds)
    return expected + trust * (mean - expected), spread * np.sqrt(1.0 - trust)


@kernel
def rate_gains(scores: Floats, candidates: npt.NDArray[np.int64], tried: npt.NDArray[np.float64]) -> int:
    """The place of the candidate that should gain most; those that will hardly turn out best are set to -1.

    The scorer's own choice, to which all are compared, is the last to go.

    Args:
        scores: `(C,)` of all candidates, the highest first.
        candidates: `(C,)` their actions, -1 for those that were dropped before.
        tried: `(3, C)` of `try_worlds`.
    """
    gains, spreads = np.zeros(len(scores)), np.zeros(len(scores))
    best = 0
    for place in range(1, len(scores)):
        worse = float(scores[0] - scores[place])
        gains[place], spreads[place] = gain_of(worse, tried[0, place], tried[1, place], tried[2, place])
        if gains[place] > gains[best]:
            best = place
    others = 0
    for place in range(1, len(scores)):
        if place != best and gains[place] + DROPPED * spreads[place] < gains[best]:
            candidates[place] = -1
        if place != best and candidates[place] >= 0:
            others += 1
    if others == 0 and gains[best] > DROPPED * spreads[best]:
        candidates[0] = -1
    return best


@kernel
def search_step(
    records: npt.NDArray[np.record],
    i: int,
    seed: np.uint64,
    rollouts: int,
    rule: RuleWeights,
    scorer: Floats,
    margin: np.float32,
    bonus: np.float32,
    weights: Floats,
    games: npt.NDArray[np.record],
    scores: Floats,
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
        rule: of the scorer, as the next three.
        scorer: its weights.
        margin: see there.
        bonus: see there.
        weights: of the value network.
        games: `(2,)` to work in.
        scores: `(C,)` as in `find_candidates`.
        found: `(C,)` as there.
        candidates: `(C,)` the same, -1 for those that were dropped.
        tried: `(3, C)` as in `try_worlds`.
        counts: `(3,)` the number of candidates, 0 to begin a search; of those not dropped; of worlds tried.
    """
    seen = records[i]
    if counts[0] == 0:
        counts[0] = find_candidates(seen, rule, scorer, margin, bonus, scores, found)
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
            weights,
            games,
            tried,
        )
        counts[2] += WORLDS_A_STAGE
        rollouts -= WORLDS_A_STAGE * int(counts[1])
        best = rate_gains(scores[:size], candidates[:size], tried)
        counts[1] = (candidates[:size] >= 0).sum()
    return int(found[best])


class SearchBot:
    """The best in worlds that agree with what was seen, of the moves that a candidate scorer holds for good.

    Args:
        seed: settles the moves; `reset` gives another.
        rollouts: how many are played for a move that is not clear.
        milliseconds: think so long instead; then the same position may get another move another time.
        scorer: whose moves are tried; else the one that ships for the rules at hand.

    Raises:
        ValueError: a budget is not above 0.
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
        if rollouts < 1:
            raise ValueError(f"rollouts={rollouts} is out of range: expected 1 or more")
        if milliseconds is not None and not milliseconds > 0:
            raise ValueError(f"milliseconds={milliseconds} is out of range: expected more than 0")
        self._rollouts = rollouts
        self._seconds = None if milliseconds is None else milliseconds / 1_000
        self._scorers = {preset: scorer or shipped_scorer(preset) for preset in PRESETS}
        self._games = np.zeros(2, GAME)
        self._scores = np.zeros(MAX_CANDIDATES, np.float32)
        self._found = np.zeros(MAX_CANDIDATES, np.int64)
        self._candidates = np.zeros(MAX_CANDIDATES, np.int64)
        self._tried = np.zeros((3, MAX_CANDIDATES))
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
        preset = preset_of(records[i])
        if self._seconds is None:
            return self._think(records, i, preset, self._rollouts)
        end = time.perf_counter() + self._seconds
        action = self._think(records, i, preset, 1)  # a stage
        while self._counts[1] > 1 and time.perf_counter() < end:
            action = self._think(records, i, preset, 1)
        return action

    def _think(self, records: npt.NDArray[np.record], i: int, preset: str, rollouts: int) -> int:
        scorer = self._scorers[preset]
        return int(
            search_step(
                records,
                i,
                self._seed,
                rollouts,
                scorer.rule,
                scorer.weights,
                np.float32(scorer.margin),
                np.float32(scorer.bonus),
                load_value(preset),
                self._games,
                self._scores,
                self._found,
                self._candidates,
                self._tried,
                self._counts,
            )
        )

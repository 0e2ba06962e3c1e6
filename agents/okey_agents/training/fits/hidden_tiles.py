"""Fitting the network of `thinking.hidden_tiles`: positions of rule self-play, and where the tiles were.

Letters: as there; `B` positions of a minibatch.
"""

import time
from collections.abc import Callable, Sequence
from concurrent.futures import ThreadPoolExecutor
from typing import NamedTuple

import numpy as np
import numpy.typing as npt
import torch
from torch import nn

from okey_agents.thinking.hidden_tiles import (
    CHANNELS,
    COMES,
    FINISHES,
    IN_STOCK,
    NEEDED,
    NUM_CHANCES,
    NUM_FACES,
    NUM_SCALARS,
    NUM_SETS,
    SHAPES,
    fill_inputs,
)
from okey_agents.thinking.position import position_in, set_of_counts, twice_of_counts
from okey_agents.thinking.rating import best_of, rate_position
from okey_agents.thinking.rule_weights import RuleWeights
from okey_agents.thinking.tile_odds import NUM_PLACES, places_of
from okey_agents.thinking.value import STOCK_SIZE, count_stock
from okey_agents.training.vector_net import PartsNet
from okey_env.actions import FINISH, NUM_ACTIONS, THROW
from okey_env.engine._jit import kernel
from okey_env.engine.deal import deal_round
from okey_env.engine.hand import distance_and_useful, kind_set
from okey_env.engine.hand.bits import as_int
from okey_env.engine.random import below, derive_seed
from okey_env.engine.state import NOT_ENDED, PHASE_THROW, new_games
from okey_env.engine.turn import apply
from okey_env.rules import Rules, as_rules
from okey_env.tiles import NUM_SEATS, WILD

Floats = npt.NDArray[np.float32]
Ints = npt.NDArray[np.int64]

USEFUL, STOCK, STOCK_TWICE, THROWN, OWN, NUM_ANSWERS = range(6)
"""Sets of kinds: what helps the right-hand neighbour, what the stock holds, what it holds twice and what the left
neighbour throws next, all to be foretold; and the mover's own rack, for what it may throw matters most."""
LEAST_WEIGHT = 0.2
"""How much a face counts that the mover cannot throw, beside one that it can."""
_AT_ONCE = 4096


class Positions(NamedTuple):
    """Noted positions."""

    sets: Ints
    """`(N, S)` of `fill_inputs`, as are the next."""
    scalars: Floats
    """`(N, 6)`."""
    answers: Ints
    """`(N, 5)` sets of kinds."""
    one_away: npt.NDArray[np.bool_]
    """`(N,)` whether the right-hand neighbour is one tile from melds."""


@kernel
def note_positions(
    games: npt.NDArray[np.record],
    rule: RuleWeights,
    seed: np.uint64,
    share: int,
    sets: Ints,
    scalars: Floats,
    answers: Ints,
    one_away: npt.NDArray[np.bool_],
) -> None:
    """Play rounds 0, 1, … of a seed by the rule and note decisions until the arrays are full.

    Args:
        games: `(1,)`, played in.
        rule: its weights.
        seed: settles all of it.
        share: of 256 decisions, how many are noted.
        sets: `(N, S)` to fill, like all that follow; see `Positions`.
        scalars: `(N, 6)`.
        answers: `(N, 5)`.
        one_away: `(N,)`.
    """
    game = games[0]
    ratings = np.empty(NUM_ACTIONS, np.float32)
    found = np.empty(1, np.uint64)
    open_ones = np.full((NUM_SEATS, 2), -1, np.int64)  # noted by a seat, whose left neighbour has not thrown since
    noted, number = 0, 0
    while noted < len(sets):
        deal_round(game, seed, number)
        number += 1
        open_ones[:] = -1
        step = 0
        while game.ending == NOT_ENDED:
            step += 1
            position = position_in(game)
            rate_position(position, rule, ratings)
            action = best_of(ratings, position, seed)
            seat, right = int(game.turn), (int(game.turn) + 1) % NUM_SEATS
            if THROW <= action < FINISH:
                for phase in range(2):
                    if open_ones[right, phase] >= 0:
                        answers[open_ones[right, phase], THROWN] = as_int(kind_set(action - THROW))
                        open_ones[right, phase] = -1
            if noted < len(sets) and below(derive_seed(game.seed, np.uint64(step)), 256) < share:
                fill_inputs(position, sets[noted], scalars[noted])
                wilds = int(game.rack[right, WILD])
                distance, useful = distance_and_useful(
                    game.once[right], game.twice[right], wilds, game.rules.run_13_1 != 0, found
                )
                stock = np.zeros(STOCK_SIZE, np.uint8)
                count_stock(game, stock)
                answers[noted, USEFUL] = as_int(useful)
                answers[noted, STOCK] = set_of_counts(stock)
                answers[noted, STOCK_TWICE] = twice_of_counts(stock)
                answers[noted, THROWN] = 0
                answers[noted, OWN] = as_int(position.once)
                one_away[noted] = distance == 1
                open_ones[seat, 1 if game.phase == PHASE_THROW else 0] = noted
                noted += 1
            apply(game, action)


def positions_of(
    rules: Sequence[Rules], rule: RuleWeights, seed: int, chunks: range, size: int, *, workers: int = 1
) -> Positions:
    """Some chunks of `size` noted positions each, the rules in turn; the same for any number of workers."""

    def chunk(number: int) -> Positions:
        noted = Positions(
            np.zeros((size, NUM_SETS), np.int64),
            np.zeros((size, NUM_SCALARS), np.float32),
            np.zeros((size, NUM_ANSWERS), np.int64),
            np.zeros(size, np.bool_),
        )
        games = new_games(rules[number % len(rules)], 1)
        note_positions(games, rule, np.uint64(derive_seed(np.uint64(seed), np.uint64(number))), 90, *noted)
        return noted

    with ThreadPoolExecutor(workers) as executor:
        parts = list(executor.map(chunk, chunks))
    return Positions._make(np.concatenate(arrays) for arrays in zip(*parts, strict=True))


class HiddenTilesNet(PartsNet):
    """The network of `thinking.hidden_tiles`, for rules in which a 1 may follow a 13."""

    around: torch.Tensor

    def __init__(self) -> None:
        super().__init__(SHAPES)
        for name in ("first", "second", "out"):
            bound = SHAPES[name][0] ** -0.5
            nn.init.uniform_(self.parts[name], -bound, bound)
        around = torch.zeros(NUM_PLACES, NUM_FACES, NUM_FACES)  # from a face to those at each place
        for bit in range(NUM_FACES):
            for place, faces in enumerate(places_of(bit, True)):
                around[place, bit] = torch.tensor([float(faces >> other & 1) for other in range(NUM_FACES)])
        self.register_buffer("around", around)

    def forward(self, planes: torch.Tensor, scalars: torch.Tensor) -> torch.Tensor:
        """Log odds `(B, 52, K)` from planes `(B, S, 52)` and scalars `(B, 6)`."""
        hidden = planes
        for weights, bias in (("first", "bias_1"), ("second", "bias_2")):
            size, channels = hidden.shape[0], hidden.shape[1]
            flat = hidden.reshape(size * channels, NUM_FACES)
            gathered = torch.cat([(flat @ place.T).view(size, channels, NUM_FACES) for place in self.around], dim=1)
            of_faces, of_all = self.parts[weights].split([channels * NUM_PLACES, NUM_SCALARS])
            shared = torch.addmm(self.parts[bias], scalars, of_all)
            rows = gathered.transpose(1, 2).reshape(size * NUM_FACES, -1) @ of_faces
            layer = torch.relu(rows.view(size, NUM_FACES, CHANNELS) + shared[:, None])
            hidden = layer.transpose(1, 2)
        odds: torch.Tensor = layer @ self.parts["out"] + self.parts["bias_3"]
        return odds


def planes_of(words: Ints) -> torch.Tensor:
    """`(B, S, 52)` zeros and ones from `(B, S)` sets of kinds."""
    little = np.ascontiguousarray(words.astype("<i8")).view(np.uint8).reshape(*words.shape, 8)
    return torch.from_numpy(np.unpackbits(little, axis=2, count=NUM_FACES, bitorder="little").astype(np.float32))


def losses(net: HiddenTilesNet, noted: Positions, least: float) -> tuple[torch.Tensor, torch.Tensor]:
    """What was foretold wrongly: logarithmic losses `(B, 52, K)`, and how much each counts.

    Args:
        net: the network.
        noted: `B` positions.
        least: weight of a face that the mover cannot throw, in the first two chances; the others go by unseen copies.
    """
    odds = net(planes_of(noted.sets), torch.from_numpy(noted.scalars))
    unseen = planes_of(noted.sets[:, :2]).sum(dim=1)
    useful, stock, stock_twice, thrown, own = planes_of(noted.answers).unbind(dim=1)
    true = torch.empty_like(odds)
    true[..., NEEDED] = useful
    true[..., FINISHES] = useful * torch.from_numpy(noted.one_away.astype(np.float32))[:, None]
    true[..., COMES] = thrown
    true[..., IN_STOCK] = (stock + stock_twice) / unseen.clamp(min=1)
    counts = torch.empty_like(odds)
    counts[..., NEEDED] = counts[..., FINISHES] = own + least
    counts[..., COMES] = counts[..., IN_STOCK] = unseen
    return nn.functional.binary_cross_entropy_with_logits(odds, true, reduction="none"), counts


def mean_losses(net: HiddenTilesNet, noted: Positions) -> npt.NDArray[np.float64]:
    """`(K,)` the logarithmic loss of each chance: of faces in the mover's rack, or of unseen copies."""
    wrong, count = np.zeros((2, NUM_CHANCES))
    with torch.no_grad():
        for at in range(0, len(noted.sets), _AT_ONCE):
            loss, counts = losses(net, Positions._make(part[at : at + _AT_ONCE] for part in noted), 0.0)
            wrong += (loss * counts).sum(dim=(0, 1), dtype=torch.float64).numpy()
            count += counts.sum(dim=(0, 1), dtype=torch.float64).numpy()
    means: npt.NDArray[np.float64] = wrong / count
    return means


def fit_hidden_tiles(
    presets: Sequence[str],
    rule: RuleWeights,
    seed: int,
    num_positions: int,
    *,
    minibatch: int = 512,
    learning_rate: float = 4e-3,
    chunk: int = 50_000,
    workers: int = 1,
    say: Callable[[str], None] = print,
) -> tuple[Floats, npt.NDArray[np.float64]]:
    """Play, fit in one pass, and measure on two chunks that were held out.

    Returns:
        The weights `(W,)`, and the losses `(K,)` held out.
    """
    torch.set_num_threads(1)
    torch.manual_seed(seed)
    began = time.perf_counter()
    rules = [as_rules(preset) for preset in presets]
    test = positions_of(rules, rule, seed, range(len(rules)), chunk, workers=workers)
    chunks = range(len(rules), len(rules) + -(-num_positions // chunk))
    noted = positions_of(rules, rule, seed, chunks, chunk, workers=workers)
    say(f"{len(noted.sets):,} positions in {time.perf_counter() - began:.0f} s")
    net = HiddenTilesNet()
    optimizer = torch.optim.AdamW(net.parameters(), lr=learning_rate, weight_decay=1e-4, fused=True)
    order = np.random.default_rng(seed).permutation(len(noted.sets))
    steps = len(order) // minibatch
    for step in range(steps):
        for group in optimizer.param_groups:
            group["lr"] = learning_rate * (1 - step / steps)
        chosen = order[step * minibatch : (step + 1) * minibatch]
        loss, counts = losses(net, Positions._make(part[chosen] for part in noted), LEAST_WEIGHT)
        optimizer.zero_grad()
        torch.autograd.backward((loss * counts).mean())
        optimizer.step()
        if step == steps - 1 or step % (steps // 4 + 1) == steps // 4:
            seconds = time.perf_counter() - began
            say(f"{(step + 1) * minibatch:,}: losses {mean_losses(net, test).round(5)} held out, {seconds:.0f} s")
    return net.weights(), mean_losses(net, test)

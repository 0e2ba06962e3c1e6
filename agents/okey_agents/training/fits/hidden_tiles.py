"""Fitting the network of `thinking.hidden_tiles` to positions of rule self-play and to where the tiles were.

Letters: `N` positions, `B` positions of a minibatch, `S` sets of kinds in the inputs, `K` chances predicted for a face.
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
    NUM_SCALARS,
    NUM_SETS,
    SHAPES,
    UNSEEN,
    UNSEEN_TWICE,
    fill_inputs,
)
from okey_agents.thinking.neighbours import NUM_RELATIONS, related_faces
from okey_agents.thinking.position import position_in, set_of_counts, twice_of_counts
from okey_agents.thinking.rating import best_of, rate_position
from okey_agents.thinking.rule_weights import RuleWeights
from okey_agents.thinking.value import STOCK_SIZE, count_stock
from okey_agents.training.chance import STEPS, happens
from okey_agents.training.parts_net import PartsNet
from okey_env.actions import FINISH, NUM_ACTIONS, THROW
from okey_env.engine._jit import kernel
from okey_env.engine.deal import deal_round
from okey_env.engine.hand import distance_and_useful, kind_set
from okey_env.engine.hand.bits import as_int
from okey_env.engine.random import derive_seed
from okey_env.engine.state import NOT_ENDED, PHASE_THROW, new_games
from okey_env.engine.turn import apply, hand_of
from okey_env.rules import Rules, as_rules
from okey_env.tiles import NUM_FACES, NUM_SEATS

Floats = npt.NDArray[np.float32]
Ints = npt.NDArray[np.int64]

USEFUL, STOCK, STOCK_TWICE, THROWN, OWN, NUM_ANSWERS = range(6)
"""Sets of kinds. The four targets are what helps the right-hand neighbour, what the stock holds, what it holds twice,
and what the left neighbour throws next. `OWN` is the mover's rack; it weights the loss."""
LEAST_WEIGHT = 0.2
"""Weight in the loss of a face that the mover cannot throw; one that it can throw has 1 more."""
SHARE = 90 / 256
"""Share of the decisions that is collected."""
LEARNING_RATE = 4e-3
"""Step size at the beginning; it falls to 0."""
_JUDGED_AT_ONCE = 4096


class Positions(NamedTuple):
    """Positions and what was hidden in them."""

    sets: Ints
    """`(N, S)` sets of kinds, from `fill_inputs`."""
    scalars: Floats
    """`(N, 6)` numbers, from `fill_inputs`."""
    answers: Ints
    """`(N, 5)` sets of kinds, from `USEFUL` on."""
    one_away: npt.NDArray[np.bool_]
    """`(N,)` whether the right-hand neighbour is one tile from melds."""


@kernel
def collect_positions(
    games: npt.NDArray[np.record], rule: RuleWeights, seed: np.uint64, share: float, positions: Positions
) -> None:
    """Play rounds 0, 1, … of a seed by the rule, and collect decisions until the arrays are full.

    Args:
        games: `(1,)`, played in.
        rule: its weights.
        seed: deals and decides everything.
        share: probability that a decision is collected.
        positions: to fill.
    """
    sets, scalars, answers, one_away = positions
    game = games[0]
    ratings = np.empty(NUM_ACTIONS, np.float32)
    found = np.empty(1, np.uint64)
    open_ones = np.full((NUM_SEATS, 2), -1, np.int64)  # by seat and phase: a position without its next throw
    count, number = 0, 0
    while count < len(sets):
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
            if count < len(sets) and happens(derive_seed(game.seed, np.uint64(step)), share, STEPS):
                fill_inputs(position, sets[count], scalars[count])
                hand = hand_of(game, right)
                distance, useful = distance_and_useful(
                    hand.once, hand.twice, hand.wilds, game.rules.run_13_1 != 0, found
                )
                stock = np.zeros(STOCK_SIZE, np.uint8)
                count_stock(game, stock)
                answers[count, USEFUL] = as_int(useful)
                answers[count, STOCK] = set_of_counts(stock)
                answers[count, STOCK_TWICE] = twice_of_counts(stock)
                answers[count, THROWN] = 0
                answers[count, OWN] = as_int(position.once)
                one_away[count] = distance == 1
                open_ones[seat, 1 if game.phase == PHASE_THROW else 0] = count
                count += 1
            apply(game, action)


def positions_of(
    rules: Sequence[Rules], rule: RuleWeights, seed: int, chunks: range, size: int, *, workers: int = 1
) -> Positions:
    """Positions in chunks.

    Args:
        rules: one for each chunk, in turn.
        rule: the weights of the rule that plays.
        seed: deals and decides everything.
        chunks: the numbers of the chunks.
        size: positions of a chunk.
        workers: threads; the result is the same for any number.
    """

    def chunk(number: int) -> Positions:
        positions = Positions(
            np.zeros((size, NUM_SETS), np.int64),
            np.zeros((size, NUM_SCALARS), np.float32),
            np.zeros((size, NUM_ANSWERS), np.int64),
            np.zeros(size, np.bool_),
        )
        games = new_games(rules[number % len(rules)], 1)
        collect_positions(games, rule, np.uint64(derive_seed(np.uint64(seed), np.uint64(number))), SHARE, positions)
        return positions

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
        around = torch.zeros(NUM_RELATIONS, NUM_FACES, NUM_FACES)  # by relation and face: 1 for each face so related
        for bit in range(NUM_FACES):
            for relation, faces in enumerate(related_faces(bit, True)):
                around[relation, bit] = torch.tensor([float(faces >> other & 1) for other in range(NUM_FACES)])
        self.register_buffer("around", around)

    def forward(self, planes: torch.Tensor, scalars: torch.Tensor) -> torch.Tensor:
        """Log odds `(B, 52, K)` from planes `(B, S, 52)` and scalars `(B, 6)`."""
        hidden = planes
        for weights, bias in (("first", "bias_1"), ("second", "bias_2")):
            size, channels = hidden.shape[0], hidden.shape[1]
            flat = hidden.reshape(size * channels, NUM_FACES)
            gathered = torch.cat([(flat @ related.T).view(size, channels, NUM_FACES) for related in self.around], dim=1)
            of_faces, of_all = self.parts[weights].split([channels * NUM_RELATIONS, NUM_SCALARS])
            shared = torch.addmm(self.parts[bias], scalars, of_all)
            rows = gathered.transpose(1, 2).reshape(size * NUM_FACES, -1) @ of_faces
            layer = torch.relu(rows.view(size, NUM_FACES, CHANNELS) + shared[:, None])
            hidden = layer.transpose(1, 2)
        odds: torch.Tensor = layer @ self.parts["out"] + self.parts["bias_3"]
        return odds


def planes_of(words: Ints) -> torch.Tensor:
    """Zeros and ones `(B, S, 52)` from sets of kinds `(B, S)`."""
    little = np.ascontiguousarray(words.astype("<i8")).view(np.uint8).reshape(*words.shape, 8)
    return torch.from_numpy(np.unpackbits(little, axis=2, count=NUM_FACES, bitorder="little").astype(np.float32))


def losses(net: HiddenTilesNet, positions: Positions, least: float) -> tuple[torch.Tensor, torch.Tensor]:
    """The logarithmic losses of all predictions, and their weights.

    Args:
        net: the network.
        positions: `B` positions.
        least: weight, in the first two chances, of a face that the mover cannot throw; the other chances are weighted
            by unseen copies.

    Returns:
        Losses `(B, 52, K)` and weights `(B, 52, K)`.
    """
    odds = net(planes_of(positions.sets), torch.from_numpy(positions.scalars))
    unseen = planes_of(positions.sets[:, [UNSEEN, UNSEEN_TWICE]]).sum(dim=1)
    useful, stock, stock_twice, thrown, own = planes_of(positions.answers).unbind(dim=1)
    true = torch.empty_like(odds)
    true[..., NEEDED] = useful
    true[..., FINISHES] = useful * torch.from_numpy(positions.one_away.astype(np.float32))[:, None]
    true[..., COMES] = thrown
    true[..., IN_STOCK] = (stock + stock_twice) / unseen.clamp(min=1)
    counts = torch.empty_like(odds)
    counts[..., NEEDED] = counts[..., FINISHES] = own + least
    counts[..., COMES] = counts[..., IN_STOCK] = unseen
    return nn.functional.binary_cross_entropy_with_logits(odds, true, reduction="none"), counts


def mean_losses(net: HiddenTilesNet, positions: Positions) -> npt.NDArray[np.float64]:
    """The mean logarithmic loss `(K,)` of each chance, over faces in the mover's rack or over unseen copies."""
    wrong, count = np.zeros((2, NUM_CHANCES))
    with torch.no_grad():
        for at in range(0, len(positions.sets), _JUDGED_AT_ONCE):
            loss, counts = losses(net, Positions._make(part[at : at + _JUDGED_AT_ONCE] for part in positions), 0.0)
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
    chunk: int = 50_000,
    workers: int = 1,
    say: Callable[[str], None] = print,
) -> tuple[Floats, npt.NDArray[np.float64]]:
    """Play, fit in one pass, and measure on one chunk for each preset that was held out.

    Args:
        presets: the rules.
        rule: the weights of the rule that plays.
        seed: settles rounds, fresh weights and the order of positions.
        num_positions: how many, rounded up to whole chunks.
        minibatch: positions in one step of the optimiser.
        chunk: positions that are played together.
        workers: threads that play; the result is the same for any number.
        say: is called with lines of progress.

    Returns:
        The weights `(W,)`, and the losses `(K,)` held out.
    """
    torch.set_num_threads(1)
    torch.manual_seed(seed)
    began = time.perf_counter()
    rules = [as_rules(preset) for preset in presets]
    test = positions_of(rules, rule, seed, range(len(rules)), chunk, workers=workers)
    chunks = range(len(rules), len(rules) + -(-num_positions // chunk))
    positions = positions_of(rules, rule, seed, chunks, chunk, workers=workers)
    say(f"{len(positions.sets):,} positions in {time.perf_counter() - began:.0f} s")
    net = HiddenTilesNet()
    optimizer = torch.optim.AdamW(net.parameters(), lr=LEARNING_RATE, weight_decay=1e-4, fused=True)
    order = np.random.default_rng(seed).permutation(len(positions.sets))
    steps = len(order) // minibatch
    for step in range(steps):
        for group in optimizer.param_groups:
            group["lr"] = LEARNING_RATE * (1 - step / steps)
        chosen = order[step * minibatch : (step + 1) * minibatch]
        loss, counts = losses(net, Positions._make(part[chosen] for part in positions), LEAST_WEIGHT)
        optimizer.zero_grad()
        torch.autograd.backward((loss * counts).mean())
        optimizer.step()
        if step == steps - 1 or step % (steps // 4 + 1) == steps // 4:
            seconds = time.perf_counter() - began
            say(f"{(step + 1) * minibatch:,}: losses {mean_losses(net, test).round(5)} held out, {seconds:.0f} s")
    return net.weights(), mean_losses(net, test)

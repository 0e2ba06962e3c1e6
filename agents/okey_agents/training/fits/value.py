"""Fitting the value network (`thinking.value`): states of rule self-play, and what the round then paid each seat."""

import time
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor

import numpy as np
import numpy.typing as npt
import torch
from torch import nn

from okey_agents.thinking.position import position_in
from okey_agents.thinking.rating import choose_in_position
from okey_agents.thinking.rule_weights import RuleWeights
from okey_agents.thinking.value import HIDDEN, NUM_VALUE_INPUTS, fill_value_inputs
from okey_env.engine._jit import kernel
from okey_env.engine.deal import deal_round
from okey_env.engine.random import below, derive_seed
from okey_env.engine.state import NO_SEAT, NOT_ENDED, new_games
from okey_env.engine.turn import apply
from okey_env.rules import Rules, as_rules
from okey_env.tiles import NUM_SEATS

Floats = npt.NDArray[np.float32]
Halves = npt.NDArray[np.float16]

_ROUNDS_AT_ONCE = 500
_AT_ONCE = 8192
"""States that are valued together."""
_MOST_STATES = 64
"""States noted of one round."""


@kernel
def play_states(
    games: npt.NDArray[np.record],
    rule: RuleWeights,
    seed: np.uint64,
    first: int,
    num_rounds: int,
    share: int,
    inputs: Floats,
    targets: Floats,
) -> int:
    """Play whole rounds by the rule and note some states with the points that were still to come.

    Args:
        games: one GAME with the rules.
        rule: its weights.
        seed: what the rounds are dealt from; round r is that of `derive_seed(seed, r)`.
        first: the first round.
        num_rounds: how many.
        share: of 256 decisions, how many are noted.
        inputs: `(N, D)` to fill.
        targets: `(N, 4)` to fill, from the seat to move on.

    Returns:
        How many states were noted.
    """
    game = games[0]
    count = 0
    turns = np.empty(_MOST_STATES, np.int64)
    paid = np.empty((_MOST_STATES, NUM_SEATS), np.float32)
    for number in range(first, first + num_rounds):
        deal_round(game, seed, number)
        noted = 0
        step = 0
        while game.ending == NOT_ENDED:
            step += 1
            if noted < _MOST_STATES and below(derive_seed(game.seed, np.uint64(step)), 256) < share:
                fill_value_inputs(game, inputs[count + noted])
                turns[noted] = game.turn
                for seat in range(NUM_SEATS):
                    paid[noted, seat] = np.float32(game.won[seat]) - np.float32(game.lost[seat])
                noted += 1
            apply(game, choose_in_position(position_in(game), rule, seed))
        for state in range(noted):
            for place in range(NUM_SEATS):
                seat = (turns[state] + place) % NUM_SEATS
                total = np.float32(game.won[seat]) - np.float32(game.lost[seat]) + np.float32(game.rules.void_points)
                if game.winner != NO_SEAT:
                    total -= np.float32(game.rules.void_points)
                targets[count + state, place] = total - paid[state, seat]
        count += noted
    return count


def states_of(
    rules: Rules, rule: RuleWeights, seed: int, first: int, num_rounds: int, share: float, *, workers: int = 1
) -> tuple[Halves, Halves]:
    """The noted states of rounds `first` …: inputs `(N, D)` and points to come `(N, 4)`, from the mover on.

    In half precision, which is more than they need; the same for any number of workers.
    """

    def part(start: int) -> tuple[Halves, Halves]:
        size = min(_ROUNDS_AT_ONCE, first + num_rounds - start)
        inputs = np.empty((size * _MOST_STATES, NUM_VALUE_INPUTS), np.float32)
        targets = np.empty((size * _MOST_STATES, NUM_SEATS), np.float32)
        games = new_games(rules, 1)
        count = play_states(games, rule, np.uint64(seed), start, size, round(256 * share), inputs, targets)
        return inputs[:count].astype(np.float16), targets[:count].astype(np.float16)

    with ThreadPoolExecutor(workers) as executor:
        parts = list(executor.map(part, range(first, first + num_rounds, _ROUNDS_AT_ONCE)))
    return np.concatenate([inputs for inputs, _ in parts]), np.concatenate([targets for _, targets in parts])


def make_value_module() -> nn.Sequential:
    """The network in torch, with fresh weights."""
    return nn.Sequential(
        nn.Linear(NUM_VALUE_INPUTS, HIDDEN),
        nn.ReLU(),
        nn.Linear(HIDDEN, HIDDEN),
        nn.ReLU(),
        nn.Linear(HIDDEN, NUM_SEATS),
    )


def value_weights(module: nn.Sequential) -> Floats:
    """The weights `(W,)` of `thinking.value` from the network in torch."""
    parts = []
    for layer in module:
        if isinstance(layer, nn.Linear):
            parts += [layer.weight.detach().numpy().T.reshape(-1), layer.bias.detach().numpy()]
    return np.concatenate(parts).astype(np.float32)


def set_value_weights(module: nn.Sequential, weights: Floats) -> None:
    """Put the weights `(W,)` of `thinking.value` into the network in torch."""
    start = 0
    with torch.no_grad():
        for layer in module:
            if isinstance(layer, nn.Linear):
                size, width = layer.weight.numel(), layer.out_features
                part = np.array(weights[start : start + size]).reshape(layer.in_features, width)
                layer.weight.copy_(torch.from_numpy(part.T))
                layer.bias.copy_(torch.from_numpy(np.array(weights[start + size : start + size + width])))
                start += size + width


def explained_variance(module: nn.Sequential, inputs: Halves, targets: Halves) -> float:
    """1 - mean squared error / variance, over all four seats; 0 is a constant."""
    errors = 0.0
    with torch.no_grad():
        for at in range(0, len(inputs), _AT_ONCE):
            values = module(_batch(inputs[at : at + _AT_ONCE]))
            values -= values.mean(dim=1, keepdim=True)
            errors += float((values - _batch(targets[at : at + _AT_ONCE])).square().sum(dtype=torch.float64))
    return 1 - errors / float(targets.size * targets.var(axis=0, dtype=np.float64).mean())


def fit_value(
    rules: str | Rules,
    rule: RuleWeights,
    seed: int,
    num_rounds: int,
    *,
    share: float = 0.35,
    epochs: int = 4,
    batch: int = 2048,
    learning_rate: float = 2e-3,
    workers: int = 1,
    say: Callable[[str], None] = print,
) -> tuple[Floats, float]:
    """Play, fit, and measure on a twentieth of the rounds that was held out.

    Returns:
        The weights `(W,)`, and the explained variance on the rounds held out.
    """
    torch.set_num_threads(1)
    torch.manual_seed(seed)
    rules = as_rules(rules)
    began = time.perf_counter()
    held = max(1, num_rounds // 20)
    test_inputs, test_targets = states_of(rules, rule, seed, 0, held, share, workers=workers)
    inputs, targets = states_of(rules, rule, seed, held, num_rounds - held, share, workers=workers)
    say(f"{len(inputs):,} states of {num_rounds - held:,} rounds in {time.perf_counter() - began:.0f} s")
    module = make_value_module()
    optimizer = torch.optim.AdamW(module.parameters(), lr=learning_rate, weight_decay=1e-3, fused=True)
    steps = epochs * (len(inputs) // batch)
    schedule = torch.optim.lr_scheduler.OneCycleLR(optimizer, learning_rate, total_steps=steps + 1, pct_start=0.1)
    generator = np.random.default_rng(seed)
    for epoch in range(epochs):
        order = generator.permutation(len(inputs))
        for at in range(0, len(order) - batch + 1, batch):
            chosen = np.sort(order[at : at + batch])
            values = module(_batch(inputs[chosen]))
            values = values - values.mean(dim=1, keepdim=True)
            loss = (values - _batch(targets[chosen])).square().mean()
            optimizer.zero_grad()
            loss.backward()
            optimizer.step()
            schedule.step()
        explained = explained_variance(module, test_inputs, test_targets)
        say(f"epoch {epoch + 1}: explained variance {explained:.4f} held out, {time.perf_counter() - began:.0f} s")
    return value_weights(module), explained


def _batch(rows: Halves) -> torch.Tensor:
    return torch.from_numpy(rows.astype(np.float32))

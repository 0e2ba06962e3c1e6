"""Fitting the value network (`thinking.value`) to states of rule self-play and what the round then paid each seat."""

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
from okey_agents.training.chance import STEPS, happens
from okey_agents.training.optimizers import FitSettings
from okey_env.engine._jit import kernel
from okey_env.engine.deal import deal_round
from okey_env.engine.random import derive_seed
from okey_env.engine.state import NO_SEAT, NOT_ENDED, new_games
from okey_env.engine.turn import apply
from okey_env.rules import Rules, as_rules
from okey_env.tiles import NUM_SEATS

Floats = npt.NDArray[np.float32]
Halves = npt.NDArray[np.float16]

_ROUNDS_AT_ONCE = 500
_VALUED_AT_ONCE = 8192
_MAX_STATES_OF_ROUND = 64
"""States collected of one round at most."""
SHARE = 0.35
"""Share of the states that is collected."""
SETTINGS = FitSettings(epochs=4, minibatch=2048, learning_rate=2e-3)


@kernel
def collect_states(
    games: npt.NDArray[np.record],
    rule: RuleWeights,
    seed: np.uint64,
    first: int,
    num_rounds: int,
    share: float,
    inputs: Floats,
    targets: Floats,
) -> int:
    """Play whole rounds by the rule, and collect some states with the points that were still to come.

    Args:
        games: one GAME with the rules.
        rule: its weights.
        seed: deals the rounds; round r has the seed `derive_seed(seed, r)`.
        first: number of the first round.
        num_rounds: how many rounds.
        share: probability that a state is collected.
        inputs: `(N, D)` to fill.
        targets: `(N, 4)` to fill, from the seat to move on.

    Returns:
        The number of states collected.
    """
    game = games[0]
    count = 0
    turns = np.empty(_MAX_STATES_OF_ROUND, np.int64)
    paid = np.empty((_MAX_STATES_OF_ROUND, NUM_SEATS), np.float32)
    for number in range(first, first + num_rounds):
        deal_round(game, seed, number)
        size = 0
        step = 0
        while game.ending == NOT_ENDED:
            step += 1
            if size < _MAX_STATES_OF_ROUND and happens(derive_seed(game.seed, np.uint64(step)), share, STEPS):
                fill_value_inputs(game, inputs[count + size])
                turns[size] = game.turn
                for seat in range(NUM_SEATS):
                    paid[size, seat] = np.float32(game.won[seat]) - np.float32(game.lost[seat])
                size += 1
            apply(game, choose_in_position(position_in(game), rule, seed))
        for state in range(size):
            for step in range(NUM_SEATS):
                seat = (turns[state] + step) % NUM_SEATS
                total = np.float32(game.won[seat]) - np.float32(game.lost[seat]) + np.float32(game.rules.void_points)
                if game.winner != NO_SEAT:
                    total -= np.float32(game.rules.void_points)
                targets[count + state, step] = total - paid[state, seat]
        count += size
    return count


def states_of(
    rules: Rules, rule: RuleWeights, seed: int, first: int, num_rounds: int, share: float, *, workers: int = 1
) -> tuple[Halves, Halves]:
    """States of the rounds `first` … `first + num_rounds - 1` of a seed.

    Args:
        rules: of the game.
        rule: the weights of the rule that plays.
        seed: deals the rounds.
        first: number of the first round.
        num_rounds: how many rounds.
        share: probability that a state is collected.
        workers: threads; the result is the same for any number.

    Returns:
        Inputs `(N, D)` and points to come `(N, 4)`, from the mover on, in half precision, which is enough for them.
    """

    def part(start: int) -> tuple[Halves, Halves]:
        size = min(_ROUNDS_AT_ONCE, first + num_rounds - start)
        inputs = np.empty((size * _MAX_STATES_OF_ROUND, NUM_VALUE_INPUTS), np.float32)
        targets = np.empty((size * _MAX_STATES_OF_ROUND, NUM_SEATS), np.float32)
        games = new_games(rules, 1)
        count = collect_states(games, rule, np.uint64(seed), start, size, share, inputs, targets)
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
    """1 - mean squared error / variance, over all four seats; the best constant has 0."""
    errors = 0.0
    with torch.no_grad():
        for at in range(0, len(inputs), _VALUED_AT_ONCE):
            values = module(_batch(inputs[at : at + _VALUED_AT_ONCE]))
            values -= values.mean(dim=1, keepdim=True)
            errors += float((values - _batch(targets[at : at + _VALUED_AT_ONCE])).square().sum(dtype=torch.float64))
    return 1 - errors / float(targets.size * targets.var(axis=0, dtype=np.float64).mean())


def fit_value(
    rules: str | Rules,
    rule: RuleWeights,
    seed: int,
    num_rounds: int,
    *,
    settings: FitSettings = SETTINGS,
    workers: int = 1,
    say: Callable[[str], None] = print,
) -> tuple[Floats, float]:
    """Play, fit, and measure on a twentieth of the rounds that was held out.

    Args:
        rules: of the game.
        rule: the weights of the rule that plays.
        seed: settles rounds, fresh weights and the order of samples.
        num_rounds: how many rounds.
        settings: passes and step sizes.
        workers: threads that play; the result is the same for any number.
        say: is called with lines of progress.

    Returns:
        The weights `(W,)`, and the explained variance on the rounds held out.
    """
    torch.set_num_threads(1)
    torch.manual_seed(seed)
    rules = as_rules(rules)
    epochs, batch, learning_rate, weight_decay = settings
    began = time.perf_counter()
    held = max(1, num_rounds // 20)
    test_inputs, test_targets = states_of(rules, rule, seed, 0, held, SHARE, workers=workers)
    inputs, targets = states_of(rules, rule, seed, held, num_rounds - held, SHARE, workers=workers)
    say(f"{len(inputs):,} states of {num_rounds - held:,} rounds in {time.perf_counter() - began:.0f} s")
    module = make_value_module()
    optimizer = torch.optim.AdamW(module.parameters(), lr=learning_rate, weight_decay=weight_decay, fused=True)
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

"""The mathematics of single algorithms."""

import numpy as np
import pytest
import torch

from okey_agents.training.algorithms.behaviour_cloning import imitation_loss
from okey_agents.training.algorithms.dqn import QLearner
from okey_agents.training.algorithms.mmd import follow, pull
from okey_agents.training.algorithms.qr_dqn import quantile_loss
from okey_agents.training.algorithms.seats import Seats, action_values, best_of, flat, lambda_returns, play
from okey_agents.training.networks import make_network
from okey_agents.training.networks.network import legal_log_probs
from okey_env import as_encoder
from tests.okey_agents.training.algorithms.problems import RecallTask


def test_the_quantile_loss_is_that_of_the_paper() -> None:
    rng = np.random.default_rng(1)
    expected, targets = rng.normal(size=(3, 4)) * 2, rng.normal(size=(3, 5)) * 2
    total = 0.0
    for row in range(3):
        for i in range(4):
            for target in targets[row]:
                error = target - expected[row, i]
                huber = error**2 / 2 if abs(error) <= 1 else abs(error) - 0.5
                total += abs((i + 0.5) / 4 - (error < 0)) * huber / 5
    assert quantile_loss(torch.tensor(expected), torch.tensor(targets)).item() == pytest.approx(total / 3, rel=1e-5)


def test_the_quantile_loss_is_least_at_the_quantiles() -> None:
    targets = torch.linspace(0, 100, 1001)[None]
    quantiles = torch.full((1, 4), 50.0, requires_grad=True)
    optimizer = torch.optim.Adam([quantiles], lr=0.5)
    for _ in range(400):
        optimizer.zero_grad()
        quantile_loss(quantiles, targets).backward()  # type: ignore[no-untyped-call]
        optimizer.step()
    np.testing.assert_allclose(quantiles.detach().numpy()[0], [12.5, 37.5, 62.5, 87.5], atol=1)


def test_targets_never_take_the_value_of_an_illegal_action() -> None:
    learner = QLearner(table := Seats(RecallTask(), 4, seed=1), "mlp", 1, torch.nn.functional.smooth_l1_loss)  # type: ignore[arg-type]
    with torch.no_grad():
        learner.network.scores.bias[50] = learner.target.scores.bias[50] = 1_000.0  # type: ignore[union-attr, operator]
    chosen = play(table, 6, lambda seen, masks: learner.explore(seen, masks, 0.5))
    assert (chosen.actions < 4).all()
    returns = learner.returns(chosen)
    assert np.nanmax(np.abs(returns)) < 10


def test_targets_are_double_and_cut_where_asked() -> None:
    """Best actions by the network, their values by the target network; a cut return takes no part of other actions."""
    table = Seats(RecallTask(), 8, seed=1)  # type: ignore[arg-type]
    learner = QLearner(table, "mlp", 1, torch.nn.functional.smooth_l1_loss, trace=0.8, cut=1)
    rng = np.random.default_rng(2)
    with torch.no_grad():
        for network in (learner.network, learner.target):
            network.scores.weight.normal_(generator=torch.Generator().manual_seed(int(rng.integers(100))))  # type: ignore[union-attr, operator]
    rollout = play(table, 6, lambda seen, masks: learner.explore(seen, masks, 0.5))
    with torch.no_grad():
        seen = torch.from_numpy(rollout.observations)
        own, target = (
            action_values(network, seen.view(-1, 5)).view(6, 8, -1).numpy()
            for network in (learner.network, learner.target)
        )
    best = own[..., :4].argmax(2)
    values = np.take_along_axis(target, best[..., None], 2)[..., 0]
    trace = np.where(best == rollout.actions, 0.8, 0.0)
    assert 0 < (trace > 0).mean() < 1
    expected = flat(rollout, lambda_returns(rollout, values, trace))
    np.testing.assert_allclose(learner.returns(rollout), expected, atol=1e-5)


def test_the_memory_gives_rollouts_back_and_forgets_the_oldest() -> None:
    table = Seats(RecallTask(), 4, seed=1)  # type: ignore[arg-type]
    learner = QLearner(table, "mlp", 1, torch.nn.functional.smooth_l1_loss, memory=2)
    rollouts = [play(table, 6, lambda seen, masks: learner.explore(seen, masks, 1)) for _ in range(3)]
    for rollout in rollouts:
        learner.learn(rollout, 0)
    for place, rollout in ((0, rollouts[2]), (1, rollouts[1])):
        for again, once in zip(learner._again(place), rollout, strict=True):
            np.testing.assert_array_equal(again, once)
    assert len(learner._kept) == 2


def test_the_pull_of_mmd() -> None:
    masks = torch.tensor([[True, True, True, False]])
    magnet = legal_log_probs(torch.tensor([[2.0, 0.0, 1.0, 5.0]]), masks)
    old = legal_log_probs(torch.tensor([[0.0, 3.0, 0.0, 5.0]]), masks)
    scores = torch.tensor([[0.0, 3.0, 0.0, 5.0]], requires_grad=True)
    at_old = pull(legal_log_probs(scores, masks), old, magnet, 1.0, 0.0, 0.0)
    (slope,) = torch.autograd.grad(at_old, scores)
    assert at_old.item() == pytest.approx(0, abs=1e-6)
    np.testing.assert_allclose(slope.numpy(), 0, atol=1e-6)  # the proximal term holds nothing back at the beginning
    for _ in range(500):  # without advantages the policy goes to the magnet
        (slope,) = torch.autograd.grad(pull(legal_log_probs(scores, masks), old, magnet, 0.0, 1.0, 0.0), scores)
        scores = (scores - slope).detach().requires_grad_()
    np.testing.assert_allclose(legal_log_probs(scores, masks).exp().detach(), magnet.exp(), atol=1e-3)
    for _ in range(2000):  # and with entropy alone to the uniform policy
        (slope,) = torch.autograd.grad(pull(legal_log_probs(scores, masks), old, magnet, 0.0, 0.0, 1.0), scores)
        scores = (scores - slope).detach().requires_grad_()
    np.testing.assert_allclose(legal_log_probs(scores, masks).exp().detach()[0], [1 / 3, 1 / 3, 1 / 3, 0], atol=1e-3)


def test_the_magnet_follows() -> None:
    slow, fast = (make_network("mlp", as_encoder("flat"), widths=(4,)) for _ in range(2))
    middle = [(one + 3 * other) / 4 for one, other in zip(slow.parameters(), fast.parameters(), strict=True)]
    follow(slow, fast, 0.75)
    for found, expected in zip(slow.parameters(), middle, strict=True):
        np.testing.assert_allclose(found.detach(), expected.detach(), atol=1e-6)


def test_the_imitation_loss_looks_at_legal_actions_only() -> None:
    scores = torch.tensor([[1.0, 50.0, 1.0], [0.0, 0.0, np.log(3.0)]])
    masks = torch.tensor([[True, False, True], [True, False, True]])
    expected = (np.log(2) + np.log(4 / 3)) / 2
    assert imitation_loss(scores, masks, torch.tensor([0, 2])).item() == pytest.approx(expected, rel=1e-5)
    assert (best_of(scores.numpy(), masks.numpy()) != 1).all()

"""Drawing and taking, learned by regression from what the policy plays when it tries both.

To take a tile that does not bring the rack nearer is seldom right, and a network that learns by gradient soon stops
doing it. Then it hardly ever sees such a take again, and what it sees counts by a probability near 0. So it never
learns the takes that are worth much: those after which many more tiles are useful.

Therefore, when PPO has ended, the policy plays on, and in a share of the decisions between drawing and taking it plays
either by chance. The part of the network that scores the two (`Kinds.source`) is then fitted anew to their advantages,
which the critic estimates as before. That is one step of policy iteration for this decision alone. The rest of the
network stays as it is, and of the two the one with the higher expected value is played.
"""

from collections.abc import Callable

import torch
from torch import nn

from okey_agents.training.games import Floats
from okey_agents.training.networks import Kinds
from okey_agents.training.ppo.rollout import Rollout
from okey_env.actions import DRAW, TAKE

SHARPNESS = 20.0
"""The scores of drawing and taking are their expected values, in units of the reward, times this number."""
STEPS = 3_000
"""Steps of the optimiser."""
BATCH = 16_384
RATE = 3e-3
"""Step size at the beginning; it falls to 0."""


class Tried:
    """What drawing and taking were worth, with what the network sees of the two; in half precision, to take less room.

    Args:
        network: scores both; one with an encoder that tells what they leave.

    Raises:
        ValueError: the network has no part of its own for the two.
    """

    def __init__(self, network: nn.Module) -> None:
        if not isinstance(network, Kinds) or not network.has_source:
            raise ValueError(
                "ppo.sources needs the network 'kinds' and an encoder that tells what a take leaves: 'tiles'"
            )
        self.network = network
        self._inputs: list[torch.Tensor] = []
        self._takes: list[torch.Tensor] = []
        self._worth: list[torch.Tensor] = []

    def add(self, rollout: Rollout, advantages: Floats) -> None:
        """Note the decisions of a rollout in which both were legal, and one of them was played."""
        masks, actions = rollout.masks, rollout.actions
        both = (masks[..., DRAW] != 0) & (masks[..., TAKE] != 0) & ((actions == DRAW) | (actions == TAKE))
        seen = torch.from_numpy(rollout.observations[both])
        with torch.no_grad():
            self._inputs.append(self.network.source_inputs(seen).half())
        self._takes.append(torch.from_numpy(actions[both] == TAKE).long())
        self._worth.append(torch.from_numpy(advantages[both].copy()))

    def __len__(self) -> int:
        return sum(map(len, self._takes))

    def fit(
        self, seed: int, tell: Callable[[int, float], object] = lambda step, error: None, steps: int = STEPS
    ) -> None:
        """Fit the network's part for drawing and taking to what they were worth, from fresh weights.

        Args:
            seed: of the fresh weights and of the order of the decisions.
            tell: is given the number of the step and the mean squared error now and then.
            steps: of the optimiser.
        """
        inputs, takes, worth = map(torch.cat, (self._inputs, self._takes, self._worth))
        self._inputs, self._takes, self._worth = [inputs], [takes], [worth]
        mean, deviation = _moments(inputs)
        source = self.network.source
        with torch.random.fork_rng(devices=[]):
            torch.manual_seed(seed)
            for layer in source:
                if isinstance(layer, nn.Linear):
                    layer.reset_parameters()
        generator = torch.Generator().manual_seed(seed)
        optimizer = torch.optim.Adam(source.parameters(), lr=RATE)
        for step in range(steps):
            optimizer.param_groups[0]["lr"] = RATE * (1 - step / steps)
            rows = torch.randint(len(takes), (BATCH,), generator=generator)
            values = source((inputs[rows].float() - mean) / deviation)
            error = (values.gather(1, takes[rows, None])[:, 0] - worth[rows]).square().mean()
            optimizer.zero_grad()
            error.backward()
            optimizer.step()
            if step % 100 == 99:
                tell(step + 1, error.item())
        first, last = source[0], source[-1]
        assert isinstance(first, nn.Linear)
        assert isinstance(last, nn.Linear)
        with torch.no_grad():
            first.weight.div_(deviation)
            first.bias.sub_(first.weight @ mean)
            last.weight.mul_(SHARPNESS)
            last.bias.mul_(SHARPNESS)


def _moments(inputs: torch.Tensor, rows: int = 100_000) -> tuple[torch.Tensor, torch.Tensor]:
    """Mean and deviation of each column, by the first rows; 1 for columns that do not change."""
    some = inputs[:rows].float()
    mean, deviation = some.mean(0), some.std(0)
    return mean, torch.where(deviation > 1e-4, deviation, torch.ones_like(deviation))

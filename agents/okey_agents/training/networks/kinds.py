"""The network `kinds`: every kind of tile is looked at with the same weights.

A dense network has to learn each of the 53 kinds by itself, and sees each of them seldom. Here what is learned from one
kind is known of all. For each kind: its planes and the facts of the table → `width`. The mean over the kinds and the
facts → `pooled`, the features. A kind that may be thrown gets its scores from three things: its own hidden numbers,
the last `MESSAGE` hidden numbers of its neighbours in runs (one and two steps away) and in groups, and the features. So
colours may be exchanged without any change, which the 48 symmetries ask for.

Drawing and taking are scored by a small network of their own, if the encoder tells of both what they would leave
(`tiles`); else from the features, like showing. Scores of throws and finishes that are not possible are 0: a mask hides
them. The order of the scores is that of the action table (`okey_env.actions`).
"""

from typing import Any

import torch
from torch import nn

from okey_agents.bots.kinds_network import MESSAGE, SOURCE_WIDTH, places_of
from okey_agents.training.networks.network import PlanesNetwork, aligned, begin_small, in_memory
from okey_agents.training.networks.sparse_kinds import LookAtKinds
from okey_env.encoders import Encoder
from okey_env.tiles import NUM_FACES, NUM_KINDS, NUM_NUMBERS


class Kinds(PlanesNetwork):
    """One small network shared by the 53 kinds.

    Args:
        encoder: one with planes, like `tiles`.
        atoms: numbers for each action; 1: a score.
        width: hidden numbers of a kind.
        pooled: features of the whole observation.
    """

    def __init__(self, encoder: Encoder, atoms: int = 1, width: int = 48, pooled: int = 64) -> None:
        super().__init__(encoder, atoms)
        if width < MESSAGE:
            raise ValueError(f"width={width} is too small: expected {MESSAGE} or more")
        self.num_features = pooled
        self.sizes = {"width": width, "pooled": pooled}
        self.dense = False
        """Compute on dense arrays, in a graph of fixed shape: for export. A GPU and `vmap` get it by themselves."""
        self._places = places_of(encoder)
        self.kind = nn.Linear(self.num_planes, width, bias=False)
        self.facts = nn.Linear(self.num_facts, width)
        self.pool = nn.Linear(width + self.num_facts, pooled)
        self.second = nn.Linear(width + 3 * MESSAGE + pooled, width)
        self.lay = nn.Linear(width, 2 * atoms)  # to throw the kind, to finish with it
        self.value = nn.Linear(pooled, 1)
        if self._places.after_size:
            inputs = 2 * self._places.after_size + pooled
            hidden, moves = nn.Linear(inputs, SOURCE_WIDTH), nn.Linear(SOURCE_WIDTH, 2 * atoms)  # draw, take
            self.source = nn.Sequential(hidden, nn.ReLU(), moves)
            self.rest = nn.Linear(pooled, atoms)  # show
            begin_small(moves)
        else:
            self.rest = nn.Linear(pooled, 3 * atoms)  # draw, take, show
        begin_small(self.lay, self.rest, self.value)

    def features(self, observations: torch.Tensor) -> torch.Tensor:
        """`(N, pooled)`."""
        observations = aligned(observations)
        facts = self._facts(observations)
        if self.dense or not in_memory(observations, self.kind.weight):
            mean = self._kinds(observations, facts).mean(1)
        else:
            mean = self._look(observations, facts)[0]
        return self._pooled(mean, facts)

    def forward(self, observations: torch.Tensor) -> tuple[torch.Tensor, torch.Tensor]:
        """Scores `(N, 109)`, or `(N, 109, atoms)`, and values `(N,)` of `(N, E)` observations."""
        observations = aligned(observations)
        count, atoms, facts = len(observations), self.atoms, self._facts(observations)
        if self.dense or not in_memory(observations, self.kind.weight):
            kinds = self._kinds(observations, facts)
            pooled = self._pooled(kinds.mean(1), facts)
            every = torch.cat((kinds, self._beside(kinds), pooled[:, None].expand(-1, NUM_KINDS, -1)), 2)
            lays = self.lay(torch.relu(self.second(every))).view(count, NUM_KINDS, 2 * atoms)
        else:
            mean, own, beside, where = self._look(observations, facts)
            pooled = self._pooled(mean, facts)
            chosen = torch.cat((own, beside, pooled[where // NUM_KINDS]), 1)
            found = self.lay(torch.relu(self.second(chosen)))
            lays = found.new_zeros(count * NUM_KINDS, 2 * atoms).index_copy(0, where, found)
        lays = lays.view(count, NUM_KINDS, 2, atoms).transpose(1, 2).reshape(count, 2 * NUM_KINDS * atoms)
        scores = torch.cat((self._sources(observations, pooled), lays), 1)
        return self._shaped(scores), self.value(pooled)[:, 0]

    def _facts(self, observations: torch.Tensor) -> torch.Tensor:
        """`(N, num_facts)`."""
        return observations[:, NUM_KINDS * self.num_planes :]

    def _look(self, observations: torch.Tensor, facts: torch.Tensor) -> Any:
        """What `LookAtKinds` gives."""
        table = self.facts(facts)
        at = self._places
        look: Any = LookAtKinds.apply  # torch leaves it untyped
        return look(observations, table, self.kind.weight, at.rack, at.throwing)

    def _kinds(self, observations: torch.Tensor, facts: torch.Tensor) -> torch.Tensor:
        """The hidden numbers of each kind: `(N, 53, width)`."""
        planes, _ = self.planes_and_facts(observations)
        return torch.relu(self.kind(planes) + self.facts(facts)[:, None])

    def _pooled(self, mean: torch.Tensor, facts: torch.Tensor) -> torch.Tensor:
        """The features `(N, pooled)`."""
        return torch.relu(self.pool(torch.cat((mean, facts), 1)))

    @property
    def has_source(self) -> bool:
        """Whether drawing and taking are scored by a small network of their own, `source`."""
        return self._places.after_size > 0

    def source_inputs(self, observations: torch.Tensor) -> torch.Tensor:
        """What `source` reads: what drawing and taking would leave, and the features."""
        return self._beside_features(observations, self.features(observations))

    def _beside_features(self, observations: torch.Tensor, pooled: torch.Tensor) -> torch.Tensor:
        start, size = self._places.after, self._places.after_size
        return torch.cat((observations[:, start : start + 2 * size], pooled), 1)

    def _sources(self, observations: torch.Tensor, pooled: torch.Tensor) -> torch.Tensor:
        """The scores of drawing, taking and showing: `(N, 3 * atoms)`."""
        rest: torch.Tensor = self.rest(pooled)
        if not self.has_source:
            return rest
        moves = self.source(self._beside_features(observations, pooled))
        return torch.cat((moves, rest), 1)

    @staticmethod
    def _beside(kinds: torch.Tensor) -> torch.Tensor:
        """What the neighbours of each kind tell: `(N, 53, 3 * MESSAGE)`; a wild tile has none."""
        told = kinds[:, :NUM_FACES, -MESSAGE:].reshape(-1, 4, NUM_NUMBERS, MESSAGE)
        near = told.roll(1, 2) + told.roll(-1, 2)  # after 13 comes 1
        far = told.roll(2, 2) + told.roll(-2, 2)
        group = told.sum(1, keepdim=True) - told
        beside = torch.cat((near, far, group), 3).view(-1, NUM_FACES, 3 * MESSAGE)
        return nn.functional.pad(beside, (0, 0, 0, 1))

"""The network `transformer`: the 53 kinds and the table as tokens that attend to one another.

A kind begins as its planes, the table as the facts. How two kinds lie to each other (same colour and so many numbers
apart; same number; neither) adds a learned number to their attention, for each head. There are no other places. So
colours may be exchanged without any change, which the 48 symmetries ask for, and the distance along a run goes round:
after 13 comes 1.
"""

import torch
from torch import nn

from okey_agents.bots.transformer_network import NUM_RELATIONS, TABLE, relations
from okey_agents.training.networks.network import PlanesNetwork, aligned, begin_small
from okey_env.encoders import Encoder
from okey_env.tiles import NUM_KINDS


class Transformer(PlanesNetwork):
    """Layers of attention over the kinds and the table.

    Args:
        encoder: one with planes, like `tiles`.
        atoms: numbers for each action; 1: a score.
        width: numbers of a token.
        heads: of attention; they divide `width`.
        layers: blocks of attention and a ReLU layer.
    """

    def __init__(self, encoder: Encoder, atoms: int = 1, width: int = 32, heads: int = 2, layers: int = 2) -> None:
        super().__init__(encoder, atoms)
        if heads < 1 or width % heads:
            raise ValueError(f"width={width} is not a multiple of heads={heads}")
        self.num_features = width
        self.sizes = {"width": width, "heads": heads, "layers": layers}
        self.kind = nn.Linear(self.num_planes, width)
        self.facts = nn.Linear(self.num_facts, width)
        self.blocks = nn.ModuleList(_Block(width, heads) for _ in range(layers))
        self.norm = nn.LayerNorm(width)
        self.lay = nn.Linear(width, 2 * atoms)  # to throw the kind, to finish with it
        self.rest = nn.Linear(width, 3 * atoms)  # draw, take, show
        self.value = nn.Linear(width, 1)
        begin_small(self.lay, self.rest, self.value)

    def features(self, observations: torch.Tensor) -> torch.Tensor:
        """`(N, width)`: the table's token at the end."""
        return self._tokens(observations)[:, TABLE]

    def forward(self, observations: torch.Tensor) -> tuple[torch.Tensor, torch.Tensor]:
        """Scores `(N, 109)`, or `(N, 109, atoms)`, and values `(N,)` of `(N, E)` observations."""
        tokens = self._tokens(observations)
        table = tokens[:, TABLE]
        count = len(observations)
        lays = self.lay(tokens[:, :TABLE]).view(count, NUM_KINDS, 2, self.atoms).transpose(1, 2)
        scores = torch.cat((self.rest(table), lays.reshape(count, 2 * NUM_KINDS * self.atoms)), 1)
        return self._shaped(scores), self.value(table)[:, 0]

    def _tokens(self, observations: torch.Tensor) -> torch.Tensor:
        """`(N, 54, width)` after the last block."""
        planes, facts = self.planes_and_facts(aligned(observations))
        tokens = torch.cat((self.kind(planes), self.facts(facts)[:, None]), 1)
        for block in self.blocks:
            tokens = block(tokens)
        normed: torch.Tensor = self.norm(tokens)
        return normed


class _Block(nn.Module):
    """Attention, then a ReLU layer for each token; both are added to what comes in."""

    def __init__(self, width: int, heads: int) -> None:
        super().__init__()
        self._heads = heads
        self.relations: torch.Tensor
        self.register_buffer("relations", torch.from_numpy(relations()), persistent=False)
        self.bias = nn.Parameter(torch.zeros(heads, NUM_RELATIONS))
        self.norm = nn.LayerNorm(width)
        self.ask = nn.Linear(width, 3 * width)  # queries, keys, values
        self.answer = nn.Linear(width, width)
        self.norm_after = nn.LayerNorm(width)
        self.wide = nn.Linear(width, 2 * width)
        self.narrow = nn.Linear(2 * width, width)

    def forward(self, tokens: torch.Tensor) -> torch.Tensor:
        """`(N, 54, width)` to the same shape."""
        count, length, width = tokens.shape
        asked = self.ask(self.norm(tokens)).view(count, length, 3, self._heads, width // self._heads)
        query, key, value = asked.permute(2, 0, 3, 1, 4)
        bias = self.bias[:, self.relations]
        heard = nn.functional.scaled_dot_product_attention(query, key, value, attn_mask=bias)
        tokens = tokens + self.answer(heard.transpose(1, 2).reshape(count, length, width))
        widened: torch.Tensor = self.narrow(torch.relu(self.wide(self.norm_after(tokens))))
        return tokens + widened

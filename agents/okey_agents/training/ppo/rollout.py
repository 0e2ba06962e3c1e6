"""A rollout: decisions of many games in turn, and what each was worth.

Advantages are estimated along the game, not along the decisions of one player: after every decision, whoever made it,
the critic says anew what the game is worth to each player. So a throw that gives the next seat its last tile costs the
thrower at once, and not only when the round has ended.

Letters: S steps, N games, K players, E entries of the encoder, C entries of the critic's input.
"""

import dataclasses
from collections.abc import Callable

import numpy as np
import numpy.typing as npt
import torch

from okey_agents.training.games import Floats, Games, Ints
from okey_env.actions import DRAW, FINISH, NUM_ACTIONS, TAKE
from okey_env.engine._jit import kernel
from okey_env.tiles import NUM_KINDS


class Sight:
    """What the critic sees: the facts that each player saw last, the player to move first, then the others in turn.

    So it knows how near each rack is to a finish, which no player may know. Facts are all pieces of the encoder but
    those by kind. A player that has not been seen yet in an episode counts as zeros.

    Args:
        games: the games.
    """

    def __init__(self, games: Games) -> None:
        pieces = games.encoder.slices()
        self._columns = np.concatenate([np.r_[at] for piece, at in pieces if piece.size != NUM_KINDS])
        self._every = np.arange(games.num_games)
        self._turn = np.arange(games.num_players)
        self.size = games.num_players * len(self._columns)
        """`C`."""
        self._seen = np.zeros((games.num_games, games.num_players, len(self._columns)), np.float32)

    def look(self, games: Games) -> Floats:
        """`(N, C)` for the player to move; to be called once at each decision."""
        self._seen[self._every, games.players] = games.observations[:, self._columns]
        order = (games.players[:, None] + self._turn) % len(self._turn)
        found: Floats = self._seen[self._every[:, None], order].reshape(len(order), -1)
        return found

    def forget(self, ended: npt.NDArray[np.bool_]) -> None:
        """Forget the games whose episode has ended."""
        self._seen[ended] = 0


@dataclasses.dataclass
class Rollout:
    """`S` decisions in each of `N` games."""

    observations: Floats
    """`(S, N, E)`."""
    masks: npt.NDArray[np.int8]
    """`(S, N, 109)`."""
    actions: Ints
    """`(S, N)`."""
    log_probs: Floats
    """`(S, N)` of the actions when they were drawn."""
    players: Ints
    """`(S, N)` who decided."""
    sights: Floats
    """`(S + 1, N, C)` what the critic sees before each decision, and after the last."""
    rewards: Floats
    """`(S, N, K)`."""
    ended: npt.NDArray[np.bool_]
    """`(S, N)` whether the episode ended with the decision."""
    last_players: Ints
    """`(N,)` who is to move after the last decision."""

    @classmethod
    def empty(cls, steps: int, games: Games, sight: Sight) -> "Rollout":
        """Buffers for a rollout."""
        shape = (steps, games.num_games)

        def floats(*sizes: int) -> Floats:
            # memory of torch, not of numpy: products of matrices round by how their memory is aligned
            array: Floats = torch.empty(sizes).numpy()
            return array

        return cls(
            observations=floats(*shape, games.encoder.size),
            masks=np.empty((*shape, NUM_ACTIONS), np.int8),
            actions=np.empty(shape, np.int64),
            log_probs=floats(*shape),
            players=np.empty(shape, np.int64),
            sights=floats(steps + 1, games.num_games, sight.size),
            rewards=floats(*shape, games.num_players),
            ended=np.empty(shape, np.bool_),
            last_players=np.empty(games.num_games, np.int64),
        )

    def play(
        self,
        games: Games,
        sight: Sight,
        scores_of: Callable[[Floats], Floats],
        generator: np.random.Generator,
        explore: float = 0.0,
    ) -> tuple[int, int]:
        """Play on, and fill the buffers; returns how many episodes ended, and how many of them were finished.

        Args:
            games: played on from where they are.
            sight: of these games.
            scores_of: from `(N, E)` observations to the scores `(N, 109)` of all actions.
            generator: draws the actions.
            explore: the share of decisions between drawing and taking in which either is as likely.
        """
        for step in range(len(self.actions)):
            self.observations[step], self.masks[step] = games.observations, games.masks
            self.players[step] = games.players
            self.sights[step] = sight.look(games)
            scores, chances = scores_of(self.observations[step]), generator.random(games.num_games)
            draw_legal(scores, self.masks[step], chances, self.actions[step], self.log_probs[step])
            if explore > 0:
                try_both(self.masks[step], generator.random((games.num_games, 2)), explore, self.actions[step])
            self.rewards[step], self.ended[step] = games.step(self.actions[step])
            sight.forget(self.ended[step])
        self.sights[-1], self.last_players[:] = sight.look(games), games.players
        return int(self.ended.sum()), int((self.actions[self.ended] >= FINISH).sum())

    def estimate(self, values: Floats, gamma: float, decay: float) -> tuple[Floats, Floats]:
        """Advantages `(S, N)` of the decisions, and returns `(S, N, K)` for the critic, the player to move first.

        Args:
            values: `(S + 1, N, K)`, the critic's, the player to move first.
            gamma: discount from one decision of the game to the next.
            decay: lambda of generalised advantage estimation, from one decision of the game to the next.
        """
        players = np.concatenate((self.players, self.last_players[None]))
        advantages, returns = np.empty(self.actions.shape, np.float32), np.empty(self.rewards.shape, np.float32)
        unroll(self.rewards, self.ended, players, values, np.float32(gamma), np.float32(decay), advantages, returns)
        return advantages, returns


@kernel
def draw_legal(
    scores: Floats, masks: npt.NDArray[np.int8], chances: npt.NDArray[np.float64], actions: Ints, log_probs: Floats
) -> None:
    """Draw a legal action of each row by the softmax of its scores.

    Args:
        scores: `(N, 109)`.
        masks: `(N, 109)`, 1 for legal actions, of which there is one at least.
        chances: `(N,)` uniform numbers from 0 to 1.
        actions: `(N,)` to fill.
        log_probs: `(N,)` to fill.
    """
    for i in range(len(scores)):
        highest = np.float32(-np.inf)
        for action in range(NUM_ACTIONS):
            if masks[i, action] != 0:
                highest = max(highest, scores[i, action])
        total = 0.0
        for action in range(NUM_ACTIONS):
            if masks[i, action] != 0:
                total += np.exp(np.float64(scores[i, action] - highest))
        left = chances[i] * total
        for action in range(NUM_ACTIONS):
            if masks[i, action] != 0:
                actions[i] = action
                left -= np.exp(np.float64(scores[i, action] - highest))
                if left < 0:
                    break
        log_probs[i] = scores[i, actions[i]] - highest - np.log(total)


@kernel
def try_both(masks: npt.NDArray[np.int8], chances: npt.NDArray[np.float64], explore: float, actions: Ints) -> None:
    """Draw or take by chance in a share of the rows in which both are legal, in place of what was chosen.

    Args:
        masks: `(N, 109)`.
        chances: `(N, 2)` uniform numbers from 0 to 1.
        explore: the share.
        actions: `(N,)`, changed in these rows.
    """
    for i in range(len(actions)):
        if masks[i, DRAW] != 0 and masks[i, TAKE] != 0 and chances[i, 0] < explore:
            actions[i] = DRAW if chances[i, 1] < 0.5 else TAKE


@kernel
def unroll(
    rewards: Floats,
    ended: npt.NDArray[np.bool_],
    players: Ints,
    values: Floats,
    gamma: np.float32,
    decay: np.float32,
    advantages: Floats,
    returns: Floats,
) -> None:
    """Fill `advantages` and `returns` from the end; see `Rollout.estimate`. Rewards are by player, values by turn."""
    steps, num_games, num_players = rewards.shape
    for game in range(num_games):
        follows = np.zeros(num_players, np.float32)  # the value of the next decision, by player
        advantage = np.zeros(num_players, np.float32)
        for turn in range(num_players):
            follows[(players[steps, game] + turn) % num_players] = values[steps, game, turn]
        for step in range(steps - 1, -1, -1):
            if ended[step, game]:
                follows[:] = 0
                advantage[:] = 0
            for turn in range(num_players):
                player = (players[step, game] + turn) % num_players
                value = values[step, game, turn]
                error = rewards[step, game, player] + gamma * follows[player] - value
                advantage[player] = error + gamma * decay * advantage[player]
                follows[player] = value
                returns[step, game, turn] = advantage[player] + value
            advantages[step, game] = advantage[players[step, game]]

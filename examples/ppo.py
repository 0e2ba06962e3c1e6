"""PPO in one file: four seats of one network play each other, from random weights to above `greedy` in minutes.

    python examples/ppo.py                    # five minutes on two cores
    python examples/ppo.py --seconds 60       # a first look

The network looks at all 53 kinds of tiles with the same weights. Random players never finish a round, so points alone
teach nothing at first: a seat is also paid for each tile by which its rack comes nearer to melds.
"""

import argparse
import time
from collections.abc import Callable

import numpy as np
import torch
from torch import nn

from okey_agents.evaluate.arena import evaluate
from okey_env import Observation, SelfPlay, as_encoder, hands
from okey_env.encoders.encoder import size_of
from okey_env.encoders.tiles import AFTER

GAMES, STEPS, EPOCHS, MINIBATCH = 128, 128, 2, 2048
GAMMA, LAMBDA, CLIP, ENTROPY, NEARER = 0.95, 0.95, 0.2, 0.005, 0.3
ENCODER = as_encoder("tiles")


class Kinds(nn.Module):
    """One small network shared by the 53 kinds: scores `(N, 109)` of all actions, and values `(N,)`."""

    def __init__(self, width: int = 48) -> None:
        super().__init__()
        facts = ENCODER.size - 53 * ENCODER.num_planes
        self.kind, self.facts = nn.Linear(ENCODER.num_planes, width), nn.Linear(facts, width, bias=False)
        self.second = nn.Linear(width, width)
        self.scores = nn.Linear(width, 2)  # to throw the kind, to finish with it
        self.pooled = nn.Linear(width + facts, 64)
        self.move = nn.Sequential(nn.Linear(64 + size_of(AFTER), 32), nn.ReLU(), nn.Linear(32, 1))  # draw, take
        self.show, self.value = nn.Linear(64, 1), nn.Linear(64, 1)
        for layer in (self.scores, self.move[2], self.show, self.value):
            nn.init.orthogonal_(layer.weight, 0.01)

    def forward(self, observations: torch.Tensor) -> tuple[torch.Tensor, torch.Tensor]:
        """From `(N, E)` arrays of the encoder."""
        end = 53 * ENCODER.num_planes
        planes = observations[:, :end].view(-1, ENCODER.num_planes, 53).transpose(1, 2)
        facts = observations[:, end:]
        kinds = torch.relu(self.kind(planes) + self.facts(facts)[:, None])
        kinds = torch.relu(self.second(kinds))
        pooled = torch.relu(self.pooled(torch.cat((kinds.mean(1), facts), 1)))
        after = facts[:, -2 * size_of(AFTER) :].view(-1, 2, size_of(AFTER))  # of a draw, of a take
        moves = self.move(torch.cat((after, pooled[:, None].expand(-1, 2, -1)), 2))[:, :, 0]
        throws, finishes = self.scores(kinds).unbind(2)
        return torch.cat((moves, self.show(pooled), throws, finishes), 1), self.value(pooled)[:, 0]


def learn(seconds: float, seed: int = 1) -> Kinds:
    """Self-play PPO for so many CPU seconds."""
    torch.manual_seed(seed)
    torch.set_num_threads(1)
    games = SelfPlay(GAMES, encoder=ENCODER, seed=seed)
    games.reset()
    network = Kinds()
    optimizer = torch.optim.Adam(network.parameters(), lr=2e-3, eps=1e-5)
    began, decisions, shown = time.process_time(), 0, 0.0
    while (used := time.process_time() - began) < seconds:
        optimizer.param_groups[0]["lr"] = 2e-3 * (1 - used / seconds)
        batch, finished = play(games, network)
        for _ in range(EPOCHS):
            for part in torch.randperm(len(batch[0])).split(MINIBATCH):
                improve(network, optimizer, [array[part] for array in batch])
        decisions += GAMES * STEPS
        if used - shown > seconds / 10:
            shown = used
            print(f"{used:5.0f} s, {decisions:9,} decisions, {finished:.0%} of the rounds finished", flush=True)
    return network


def play(games: SelfPlay, network: Kinds) -> tuple[list[torch.Tensor], float]:
    """Decisions of all seats: observations, masks, actions, log probabilities, advantages and returns."""
    observations = np.empty((STEPS, GAMES, ENCODER.size), np.float32)
    masks = np.empty((STEPS, GAMES, 109), bool)
    actions, seats = np.empty((STEPS, GAMES), np.int64), np.empty((STEPS, GAMES), np.int64)
    logs, values = np.empty((STEPS, GAMES), np.float32), np.empty((STEPS, GAMES), np.float32)
    rewards, over = np.empty((STEPS, GAMES, 4), np.float32), np.empty((STEPS, GAMES), bool)
    distances = np.empty((STEPS, GAMES), np.float32)
    ends = finishes = 0
    for step in range(STEPS):
        observations[step], masks[step], seats[step] = games.observations, games.masks, games.seats
        distances[step] = hands.melds_distance(games.records["rack"][:, :53])
        with torch.no_grad():
            scores, value = network(torch.from_numpy(observations[step]))
            chances = torch.distributions.Categorical(logits=scores.masked_fill(~torch.from_numpy(masks[step]), -1e9))
            action = chances.sample()
        actions[step], values[step], logs[step] = action, value, chances.log_prob(action)
        games.step(actions[step])
        rewards[step], over[step] = games.rewards / 6, games.terminated | games.truncated
        ends, finishes = ends + over[step].sum(), finishes + (games.rewards[over[step]] > 0).any(1).sum()
    # Back through time, for each seat: what it was paid until its next decision, and what that one was worth.
    every = np.arange(GAMES)
    advantages, known = np.zeros((STEPS, GAMES), np.float32), np.zeros((STEPS, GAMES), bool)
    paid, following, later = (np.zeros((GAMES, 4), np.float32) for _ in range(3))
    has_next, distance = np.zeros((GAMES, 4), bool), np.zeros((GAMES, 4), np.float32)
    for step in reversed(range(STEPS)):
        ended = over[step]
        paid[ended] = following[ended] = later[ended] = 0
        has_next[ended], distance[ended] = True, np.nan
        paid += rewards[step]
        seat = seats[step]
        nearer = np.nan_to_num(distances[step] - distance[every, seat]) * NEARER
        error = paid[every, seat] + nearer + GAMMA * following[every, seat] - values[step]
        advantages[step] = error + GAMMA * LAMBDA * later[every, seat]
        known[step] = has_next[every, seat]
        paid[every, seat], following[every, seat], later[every, seat] = 0, values[step], advantages[step]
        has_next[every, seat], distance[every, seat] = True, distances[step]
    returns = advantages + values
    arrays = (observations, masks, actions, logs, advantages, returns)
    return [torch.from_numpy(array[known]) for array in arrays], finishes / max(ends, 1)


def improve(network: Kinds, optimizer: torch.optim.Optimizer, part: list[torch.Tensor]) -> None:
    """One step of the optimiser on a part of what `play` gives."""
    observations, masks, actions, logs, advantages, returns = part
    scores, values = network(observations)
    chances = torch.distributions.Categorical(logits=scores.masked_fill(~masks, -1e9))
    ratio = (chances.log_prob(actions) - logs).exp()
    advantages = (advantages - advantages.mean()) / (advantages.std() + 1e-8)
    policy = -torch.min(ratio * advantages, ratio.clamp(1 - CLIP, 1 + CLIP) * advantages).mean()
    loss = policy + 0.5 * (values - returns).pow(2).mean() - ENTROPY * chances.entropy().mean()
    optimizer.zero_grad()
    loss.backward()
    nn.utils.clip_grad_norm_(network.parameters(), 0.5)
    optimizer.step()


def player(network: Kinds) -> Callable[[Observation], int]:
    """The network as a bot: the legal action with the highest score."""

    def ppo(observation: Observation) -> int:
        with torch.no_grad():
            scores = network(torch.from_numpy(ENCODER.encode(observation)[None]))[0][0].numpy()
        return int(np.where(observation.action_mask, scores, -np.inf).argmax())

    return ppo


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--seconds", type=float, default=250, help="CPU seconds of learning")
    parser.add_argument("--seed", type=int, default=1)
    arguments = parser.parse_args()
    network = learn(arguments.seconds, arguments.seed)
    for opponent in ("random", "greedy", "efficient"):
        points = evaluate(player(network), opponent, deals=500, seed=7, workers=1).points
        print(f"against three {opponent}: {points.mean:+.2f} ± {points.margin:.2f} points a round")

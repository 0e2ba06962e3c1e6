"""PPO in one file: four seats of one network play each other, from random weights to above `greedy` in two minutes.

    python examples/ppo.py                    # four minutes on one core
    python examples/ppo.py --seconds 60       # a first look

The policy looks at all 53 kinds of tiles with the same weights, and sees what a player may see. The critic, which only
training needs, sees the facts of all four seats. Random players never finish a round, so points alone teach nothing at
first: a seat is also paid for each tile by which its rack comes nearer to a finish. That pay falls to 0.
"""

import argparse
import time
from collections.abc import Callable

import numpy as np
import torch
from torch import nn

from okey_agents.evaluate.arena import evaluate
from okey_agents.training.networks import PolicyNetwork, make_network
from okey_env import Observation, SelfPlay, as_encoder

GAMES, STEPS, EPOCHS, MINIBATCH = 128, 64, 2, 8  # a minibatch is so many steps of all games
LAMBDA, CLIP, ENTROPY, RATE, UNIT = 0.95, 0.2, 0.005, 5e-3, 6.0
ENCODER = as_encoder("tiles")
FACTS = 53 * ENCODER.num_planes  # where the facts begin in the encoder's array
NUM_FACTS = ENCODER.size - FACTS
SEATS, EVERY = np.arange(4), np.arange(GAMES)


class Critic(nn.Module):
    """From the facts of all seats, the mover's first, `(…, 4 * NUM_FACTS)` to their values in that order `(…, 4)`."""

    def __init__(self) -> None:
        super().__init__()
        self.layers = nn.Sequential(
            nn.Linear(4 * NUM_FACTS, 128), nn.ReLU(), nn.Linear(128, 64), nn.ReLU(), nn.Linear(64, 4)
        )
        nn.init.zeros_(self.layers[4].weight)

    def forward(self, facts: torch.Tensor) -> torch.Tensor:  # noqa: D102
        return self.layers(facts)


def learn(seconds: float, seed: int = 1) -> PolicyNetwork:
    """Self-play PPO for so many CPU seconds."""
    torch.manual_seed(seed)
    torch.set_num_threads(1)
    games = SelfPlay(GAMES, encoder=ENCODER, reward="zero_sum+distance", seed=seed)
    games.reset()
    policy, critic = make_network("kinds", ENCODER), Critic()
    parameters = [*policy.parameters(), *critic.parameters()]
    optimizer = torch.optim.Adam(parameters, eps=1e-5)
    seen = np.zeros((GAMES, 4, NUM_FACTS), np.float32)  # what each seat saw last
    weight = games.distance_weight
    began, decisions, shown = time.process_time(), 0, 0.0
    while (used := time.process_time() - began) < seconds:
        dense = max(0, 1 - 3 * used / seconds)  # the pay for distance ends after a third of the time
        games.distance_weight = weight * dense
        optimizer.param_groups[0]["lr"] = RATE * (1 - used / seconds)
        batch, finished = play(games, policy, critic, seen, gamma=1 - 0.013 * dense)
        for steps in torch.cat([torch.randperm(STEPS) for _ in range(EPOCHS)]).split(MINIBATCH):
            loss = loss_of(policy, critic, [array[steps].flatten(0, 1) for array in batch])
            optimizer.zero_grad()
            loss.backward()
            nn.utils.clip_grad_norm_(parameters, 0.5)
            optimizer.step()
        decisions += GAMES * STEPS
        if used - shown > seconds / 10:
            shown = used
            print(f"{used:5.0f} s, {decisions:9,} decisions, {finished:.0%} of the rounds finished", flush=True)
    return policy


def play(
    games: SelfPlay, policy: PolicyNetwork, critic: Critic, seen: np.ndarray, gamma: float
) -> tuple[list[torch.Tensor], float]:
    """A rollout `(STEPS, GAMES, …)`: observations, masks, actions, log probabilities, facts, advantages, returns."""
    observations = torch.empty(STEPS, GAMES, ENCODER.size)
    masks, facts = torch.empty(STEPS, GAMES, 109, dtype=torch.bool), torch.empty(STEPS + 1, GAMES, 4 * NUM_FACTS)
    actions, logs = torch.empty(STEPS, GAMES, dtype=torch.int64), torch.empty(STEPS, GAMES)
    turns = np.empty((STEPS + 1, GAMES, 4), np.int64)  # the seats from the mover on
    rewards, over = np.empty((STEPS, GAMES, 4), np.float32), np.empty((STEPS, GAMES), bool)
    finishes = 0
    for step in range(STEPS + 1):
        seen[EVERY, games.seats] = games.observations[:, FACTS:]
        turns[step] = (games.seats[:, None] + SEATS) % 4
        facts[step] = torch.from_numpy(seen[EVERY[:, None], turns[step]].reshape(GAMES, -1))
        if step == STEPS:
            break
        observations[step] = torch.from_numpy(games.observations)
        masks[step] = torch.from_numpy(games.masks) != 0
        with torch.no_grad():
            chances = torch.distributions.Categorical(
                logits=policy(observations[step])[0].masked_fill(~masks[step], -1e9)
            )
        actions[step] = chances.sample()
        logs[step] = chances.log_prob(actions[step])
        games.step(actions[step].numpy())
        rewards[step], over[step] = games.rewards / UNIT, games.terminated | games.truncated
        finishes += ((actions[step].numpy() >= 56) & over[step]).sum()
        seen[over[step]] = 0
    with torch.no_grad():
        by_turn = critic(facts).numpy()
    values = np.empty_like(by_turn)  # by seat
    np.put_along_axis(values, turns, by_turn, 2)
    # Advantages along the game: after each decision the critic says anew what the game is worth to every seat.
    following, later = values[STEPS], np.zeros((GAMES, 4), np.float32)
    advantages, returns = np.empty((STEPS, GAMES), np.float32), np.empty((STEPS, GAMES, 4), np.float32)
    for step in reversed(range(STEPS)):
        go_on = ~over[step][:, None]
        error = rewards[step] + gamma * following * go_on - values[step]
        later = error + gamma * LAMBDA * later * go_on
        following = values[step]
        advantages[step] = later[EVERY, turns[step][:, 0]]
        returns[step] = np.take_along_axis(later + values[step], turns[step], 1)
    advantages = (advantages - advantages.mean()) / (advantages.std() + 1e-8)
    batch = [observations, masks, actions, logs, facts[:STEPS], torch.from_numpy(advantages), torch.from_numpy(returns)]
    return batch, finishes / max(over.sum(), 1)


def loss_of(policy: PolicyNetwork, critic: Critic, part: list[torch.Tensor]) -> torch.Tensor:
    """PPO's loss on some decisions of what `play` gives."""
    observations, masks, actions, logs, facts, advantages, returns = part
    chances = torch.distributions.Categorical(logits=policy(observations)[0].masked_fill(~masks, -1e9))
    ratio = (chances.log_prob(actions) - logs).exp()
    gain = torch.min(ratio * advantages, ratio.clamp(1 - CLIP, 1 + CLIP) * advantages).mean()
    return 0.5 * (critic(facts) - returns).square().mean() - gain - ENTROPY * chances.entropy().mean()


def player(policy: PolicyNetwork) -> Callable[[Observation], int]:
    """The network as a bot: the legal action with the highest score."""

    def ppo(observation: Observation) -> int:
        with torch.no_grad():
            scores = policy(torch.from_numpy(ENCODER.encode(observation)[None]))[0][0].numpy()
        return int(np.where(observation.action_mask, scores, -np.inf).argmax())

    return ppo


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--seconds", type=float, default=200, help="CPU seconds of learning")
    parser.add_argument("--seed", type=int, default=1)
    arguments = parser.parse_args()
    network = learn(arguments.seconds, arguments.seed)
    for opponent in ("random", "greedy", "efficient"):
        points = evaluate(player(network), opponent, deals=500, seed=7, workers=1).points
        print(f"against three {opponent}: {points.mean:+.2f} ± {points.margin:.2f} points a round")

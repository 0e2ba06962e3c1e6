"""PPO in one file over a vector of Gymnasium environments: one seat learns against three `greedy`, from nothing.

    python examples/ppo_vector.py                    # a minute on one core
    python examples/ppo_vector.py --seconds 15

It is the usual loop over `gymnasium.make_vec`; what is particular to the game is the mask, and a network with the same
weights for all kinds of tiles. In `examples/ppo.py` all four seats learn, which is several times as fast.
"""

import argparse
import time

import gymnasium
import torch
from torch import nn

import okey_env  # registers the environments
from okey_agents.evaluate.arena import evaluate
from okey_agents.training.networks import PolicyNetwork, bot_of, make_network

ENVS, STEPS, EPOCHS, MINIBATCH = 256, 32, 2, 1024
LAMBDA, CLIP, ENTROPY, RATE, UNIT = 0.95, 0.2, 0.005, 3e-3, 6.0


def learn(seconds: float, seed: int = 1) -> tuple[PolicyNetwork, int]:
    """Train for so many CPU seconds: the network and its decisions."""
    torch.manual_seed(seed)
    torch.set_num_threads(1)
    envs = gymnasium.make_vec("okey/Round-v0", num_envs=ENVS, reward="zero_sum+distance", seed=seed)
    network = make_network("kinds", okey_env.as_encoder("tiles"))
    optimizer = torch.optim.Adam(network.parameters(), lr=RATE, eps=1e-5)

    observations = torch.zeros(STEPS, ENVS, network.encoder.size)
    masks = torch.zeros(STEPS, ENVS, okey_env.actions.NUM_ACTIONS, dtype=torch.bool)
    actions = torch.zeros(STEPS, ENVS, dtype=torch.int64)
    logs, rewards, values = (torch.zeros(STEPS, ENVS) for _ in range(3))
    ended = torch.zeros(STEPS, ENVS, dtype=torch.bool)

    seen, _ = envs.reset(seed=seed)
    began, decisions = time.process_time(), 0
    while (used := time.process_time() - began) < seconds:
        optimizer.param_groups[0]["lr"] = RATE * (1 - used / seconds)
        for step in range(STEPS):
            observations[step] = torch.from_numpy(seen["observation"])
            masks[step] = torch.from_numpy(seen["action_mask"]) != 0
            with torch.no_grad():
                scores, values[step] = network(observations[step])
            chances = torch.distributions.Categorical(logits=scores.masked_fill(~masks[step], -1e9))
            actions[step] = chances.sample()
            logs[step] = chances.log_prob(actions[step])
            seen, reward, terminated, truncated, _ = envs.step(actions[step].numpy())
            rewards[step] = torch.from_numpy(reward) / UNIT
            ended[step] = torch.from_numpy(terminated | truncated)
        decisions += STEPS * ENVS
        with torch.no_grad():
            following = network(torch.from_numpy(seen["observation"]))[1]
        # A new round begins in the same step, so nothing follows an end. A round that is cut off counts as an end.
        later, advantages = torch.zeros(ENVS), torch.zeros(STEPS, ENVS)
        for step in reversed(range(STEPS)):
            goes_on = ~ended[step]
            error = rewards[step] + following * goes_on - values[step]
            advantages[step] = later = error + LAMBDA * later * goes_on
            following = values[step]
        returns = advantages + values
        advantages = (advantages - advantages.mean()) / (advantages.std() + 1e-8)

        flat = [array.flatten(0, 1) for array in (observations, masks, actions, logs, advantages, returns)]
        for part in torch.cat([torch.randperm(STEPS * ENVS) for _ in range(EPOCHS)]).split(MINIBATCH):
            o, m, a, old, gains, targets = (array[part] for array in flat)
            scores, value = network(o)
            chances = torch.distributions.Categorical(logits=scores.masked_fill(~m, -1e9))
            ratio = (chances.log_prob(a) - old).exp()
            gain = torch.min(ratio * gains, ratio.clamp(1 - CLIP, 1 + CLIP) * gains).mean()
            loss = 0.5 * (value - targets).square().mean() - gain - ENTROPY * chances.entropy().mean()
            optimizer.zero_grad()
            loss.backward()
            nn.utils.clip_grad_norm_(network.parameters(), 0.5)
            optimizer.step()
    return network, decisions


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--seconds", type=float, default=60, help="CPU seconds of learning")
    parser.add_argument("--seed", type=int, default=1)
    arguments = parser.parse_args()
    network, decisions = learn(arguments.seconds, arguments.seed)
    print(f"{decisions:,} decisions in {arguments.seconds:.0f} CPU seconds")
    for opponent in ("random", "greedy"):
        points = evaluate(bot_of(network), opponent, deals=250, seed=7, workers=1).points
        print(f"against three {opponent}: {points.mean:+.2f} ± {points.margin:.2f} points a round")

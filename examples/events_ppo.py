"""PPO with a recurrent network over events: one seat learns from what happened, and when, against three `greedy`.

    python examples/events_ppo.py                    # a minute on one core
    python examples/events_ppo.py --seconds 20

`events` of a vector of environments gives the newest events of each round, so the network reads the whole history at
each decision and no hidden state is kept from step to step. `Reader` is a network of its own, with torch alone.
"""

import argparse
import time

import torch
from torch import nn

import okey_env
from okey_agents.evaluate.arena import evaluate
from okey_env import Observation, events

ENVS, STEPS, EPOCHS, MINIBATCH, LAST = 256, 32, 2, 1024, 24
LAMBDA, CLIP, ENTROPY, RATE, UNIT = 0.95, 0.2, 0.005, 3e-3, 6.0
ENCODER, KINDS = okey_env.as_encoder("tiles"), okey_env.tiles.NUM_KINDS
PLANES = KINDS * ENCODER.num_planes


class Reader(nn.Module):
    """Scores and values from the encoder's array `(N, E)` and tokens of events `(N, LAST)`."""

    def __init__(self, width: int = 48, memory: int = 32) -> None:
        super().__init__()
        facts = ENCODER.size - PLANES + memory
        self.words = nn.Embedding(events.NUM_TOKENS, 16, padding_idx=0)
        self.read = nn.GRU(16, memory, batch_first=True)
        self.kind, self.table = nn.Linear(ENCODER.num_planes, width), nn.Linear(facts, width)
        self.pool, self.second = nn.Linear(width + facts, width), nn.Linear(2 * width, width)
        self.lay, self.rest, self.value = nn.Linear(width, 2), nn.Linear(width, 3), nn.Linear(width, 1)
        for last in (self.lay, self.rest, self.value):
            nn.init.orthogonal_(last.weight, 0.01)

    def forward(self, observations: torch.Tensor, tokens: torch.Tensor) -> tuple[torch.Tensor, torch.Tensor]:
        """`(N, 109)` and `(N,)`; the same weights look at all kinds of tiles."""
        count = len(observations)
        read, _ = self.read(self.words(tokens))
        lengths = (tokens > 0).sum(1)
        remembered = read[torch.arange(count), (lengths - 1).clamp(min=0)] * (lengths > 0)[:, None]
        facts = torch.cat((observations[:, PLANES:], remembered), 1)
        planes = observations[:, :PLANES].view(count, ENCODER.num_planes, KINDS).transpose(1, 2)
        kinds = torch.relu(self.kind(planes) + self.table(facts)[:, None])
        pooled = torch.relu(self.pool(torch.cat((kinds.mean(1), facts), 1)))
        both = torch.cat((kinds, pooled[:, None].expand(-1, KINDS, -1)), 2)
        lays = self.lay(torch.relu(self.second(both))).transpose(1, 2).reshape(count, 2 * KINDS)
        return torch.cat((self.rest(pooled), lays), 1), self.value(pooled)[:, 0]


def learn(seconds: float, seed: int = 1) -> tuple[Reader, int]:
    """Train for so many CPU seconds: the network and its decisions."""
    torch.manual_seed(seed)
    torch.set_num_threads(1)
    envs = okey_env.OkeyVectorEnv(ENVS, encoder=ENCODER, reward="zero_sum+distance", seed=seed)
    network = Reader()
    optimizer = torch.optim.Adam(network.parameters(), lr=RATE, eps=1e-5)
    observations = torch.zeros(STEPS, ENVS, ENCODER.size)
    history, actions = (torch.zeros(STEPS, ENVS, *more, dtype=torch.int64) for more in ((LAST,), ()))
    masks = torch.zeros(STEPS, ENVS, okey_env.actions.NUM_ACTIONS, dtype=torch.bool)
    logs, rewards, values = (torch.zeros(STEPS, ENVS) for _ in range(3))
    ended = torch.zeros(STEPS, ENVS, dtype=torch.bool)

    def read() -> torch.Tensor:
        return torch.from_numpy(events.tokens(envs.events(LAST)[0]))

    seen, _ = envs.reset(seed=seed)
    began, decisions = time.process_time(), 0
    while (used := time.process_time() - began) < seconds:
        optimizer.param_groups[0]["lr"] = RATE * (1 - used / seconds)
        for step in range(STEPS):
            observations[step], history[step] = torch.from_numpy(seen["observation"]), read()
            masks[step] = torch.from_numpy(seen["action_mask"]) != 0
            with torch.no_grad():
                scores, values[step] = network(observations[step], history[step])
            chances = torch.distributions.Categorical(logits=scores.masked_fill(~masks[step], -1e9))
            actions[step] = chances.sample()
            logs[step] = chances.log_prob(actions[step])
            seen, reward, terminated, truncated, _ = envs.step(actions[step].numpy())
            rewards[step] = torch.from_numpy(reward) / UNIT
            ended[step] = torch.from_numpy(terminated | truncated)
        decisions += STEPS * ENVS
        with torch.no_grad():
            following = network(torch.from_numpy(seen["observation"]), read())[1]
        later, advantages = torch.zeros(ENVS), torch.zeros(STEPS, ENVS)
        for step in reversed(range(STEPS)):
            error = rewards[step] + following * ~ended[step] - values[step]
            advantages[step] = later = error + LAMBDA * later * ~ended[step]
            following = values[step]
        returns = advantages + values
        advantages = (advantages - advantages.mean()) / (advantages.std() + 1e-8)
        flat = [array.flatten(0, 1) for array in (observations, history, masks, actions, logs, advantages, returns)]
        for part in torch.cat([torch.randperm(STEPS * ENVS) for _ in range(EPOCHS)]).split(MINIBATCH):
            o, h, m, a, old, gains, targets = (array[part] for array in flat)
            scores, value = network(o, h)
            chances = torch.distributions.Categorical(logits=scores.masked_fill(~m, -1e9))
            ratio = (chances.log_prob(a) - old).exp()
            gain = torch.min(ratio * gains, ratio.clamp(1 - CLIP, 1 + CLIP) * gains).mean()
            loss = 0.5 * (value - targets).square().mean() - gain - ENTROPY * chances.entropy().mean()
            optimizer.zero_grad()
            loss.backward()
            nn.utils.clip_grad_norm_(network.parameters(), 0.5)
            optimizer.step()
    return network, decisions


class EventsBot:
    """The network as a bot: it plays one game at a time, since only an `Observation` has the events."""

    name = "events"

    def __init__(self, network: Reader) -> None:
        self.network = network

    def act(self, observation: Observation) -> int:
        """The legal action with the highest score."""
        array = torch.from_numpy(ENCODER.encode(observation))[None]
        tokens = torch.from_numpy(events.tokens(observation.event_array(LAST)))[None]
        with torch.no_grad():
            scores = self.network(array, tokens)[0][0]
        return int(scores.masked_fill(torch.from_numpy(observation.action_mask) == 0, -torch.inf).argmax())


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--seconds", type=float, default=60, help="CPU seconds of learning")
    parser.add_argument("--seed", type=int, default=1)
    arguments = parser.parse_args()
    network, decisions = learn(arguments.seconds, arguments.seed)
    print(f"{decisions:,} decisions in {arguments.seconds:.0f} CPU seconds")
    for opponent in ("random", "greedy"):
        points = evaluate(EventsBot(network), opponent, deals=250, seed=7, workers=1).points
        print(f"against three {opponent}: {points.mean:+.2f} ± {points.margin:.2f} points a round")

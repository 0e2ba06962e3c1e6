"""Learning by imitation: the network does what a bot does, and foresees what the bot earns.

The bot plays all four seats of whole rounds. Each of its decisions is a lesson: what it saw, what it was
allowed, what it did or how it rated what it might have done, and what the rest of the round then paid that seat. They
are learned from batch by batch and forgotten, so memory does not grow with their number.

Imitation is a recipe of its own, `clone`, and what `maskable_ppo` may begin with.
"""

from pathlib import Path

import numpy as np
import numpy.typing as npt
import torch
from rich.console import Console
from sb3_contrib.common.maskable.policies import MaskableActorCriticPolicy

from okey_agents.bots import efficient as efficient_bot
from okey_agents.bots import expert as expert_bot
from okey_agents.training.config import RATING_BOTS, TrainConfig
from okey_agents.training.flat.batches import Played, play_on
from okey_agents.training.flat.policy import legal_log_probs, scores_and_values
from okey_agents.training.flat.run import FlatRun
from okey_agents.training.progress import Stage
from okey_env.actions import NUM_ACTIONS
from okey_env.bots import choose_for, make_bot
from okey_env.round import derive_seed
from okey_env.vector import SelfPlay

Floats = npt.NDArray[np.float32]

NUM_GAMES = 128
"""Rounds that the teacher plays side by side."""
NUM_STEPS = 256
"""Decisions in each of them that are learned from together: the memory of some 30,000 observations."""
_CLONE_STREAM = 2**63
"""The index under the run's seed from which the teacher's rounds derive theirs; PPO counts up from 0."""
_RATING = dict(zip(RATING_BOTS, (efficient_bot.rate_batch, expert_bot.rate_batch), strict=True))
"""What fills the ratings of all actions, by teacher."""


def train_clone(config: TrainConfig, folder: Path, *, resume: bool = False, console: Console | None = None) -> Path:
    """Train a flat policy by imitation alone, or go on with a run; see `train_config`."""
    with FlatRun(config, folder, resume, console) as run:
        policy = run.make_policy()
        optimizer = make_optimizer(policy, config)
        done, total = run.begin(policy, optimizer), config.clone.decisions
        with Stage(f"imitating {config.clone.teacher}", total, done, run.console) as stage:
            while done < total:
                done = imitate(policy, optimizer, done, run.interval_end(done, total), run, stage)
                run.keep(done, policy, optimizer)
        run.finish(done, policy, optimizer)
    return folder


def make_optimizer(policy: MaskableActorCriticPolicy, config: TrainConfig) -> torch.optim.Optimizer:
    """What imitation learns with."""
    return torch.optim.Adam(policy.parameters(), lr=config.clone.learning_rate, eps=1e-5, fused=True)


def imitate(
    policy: MaskableActorCriticPolicy,
    optimizer: torch.optim.Optimizer,
    done: int,
    until: int,
    run: FlatRun,
    stage: Stage,
) -> int:
    """Learn from the teacher's decisions number `done` to `until`, rounded up to whole batches.

    What this does is a function of the configuration, `done`, the weights and the optimiser's memory.

    Args:
        policy: learns in place.
        optimizer: of its weights, from `make_optimizer`.
        done: decisions that were learned from before.
        until: where to stop.
        run: has the configuration, and logs how well each batch was known.
        stage: shows it.

    Returns:
        The decisions that were learned from so far.
    """
    config = run.config
    settings = config.clone
    seed = derive_seed(config.run.seed, _CLONE_STREAM + done)
    generator = torch.Generator().manual_seed(seed % 2**63)
    table = SelfPlay(NUM_GAMES, config.env.rules, config.env.encoder, seed, config.env.reward)
    table.reset()
    teacher = Teacher(settings.teacher, seed, settings.softness)
    policy.set_training_mode(True)
    while done < until:
        for group in optimizer.param_groups:
            group["lr"] = settings.learning_rate * max(0.0, 1 - done / settings.decisions)
        played = play_on(teacher.choose, table, NUM_STEPS)
        values = _learn(policy, optimizer, played, teacher.wanted(), config, generator)
        done += len(played.actions)
        run.log("imitated", done, values)
        stage.update(done, values)
    return done


def sharpen(policy: MaskableActorCriticPolicy, config: TrainConfig) -> None:
    """Multiply the scores that a policy gives."""
    with torch.no_grad():
        for parameter in policy.action_net.parameters():
            parameter.mul_(config.clone.sharpen)


class Teacher:
    """A bot that plays, and keeps for each decision what its pupil should do: a share for each action.

    Args:
        name: of the bot.
        seed: settles its moves.
        softness: 0: its move alone; otherwise the softmax of this times its ratings, which it must have.
    """

    def __init__(self, name: str, seed: int, softness: float) -> None:
        self._rate = _RATING[name] if softness else None
        self._softness = np.float32(softness)
        self._bot = make_bot(name, seed)
        self._wanted: list[Floats] = []

    def choose(self, table: SelfPlay) -> npt.NDArray[np.int64]:
        """Its moves; of equal ratings, the first."""
        wanted = np.zeros((table.num_games, NUM_ACTIONS), np.float32)
        if self._rate is None:
            every = np.arange(table.num_games)
            actions = choose_for(self._bot, table.games, every, table.records)
            wanted[every, actions] = 1
        else:
            self._rate(table.records, wanted)  # -inf for what is illegal
            actions = wanted.argmax(axis=1)
            wanted -= wanted.max(axis=1, keepdims=True)
            np.exp(wanted * self._softness, out=wanted)
            wanted /= wanted.sum(axis=1, keepdims=True)
        self._wanted.append(wanted)
        return actions

    def wanted(self) -> Floats:
        """`(N, 109)` for the decisions since this was asked last, in their order."""
        wanted, self._wanted = np.concatenate(self._wanted), []
        return wanted


def _learn(
    policy: MaskableActorCriticPolicy,
    optimizer: torch.optim.Optimizer,
    played: Played,
    wanted: Floats,
    config: TrainConfig,
    generator: torch.Generator,
) -> dict[str, float]:
    """Some passes over a batch of decisions; how well they were known, averaged over all passes."""
    settings = config.clone
    device = policy.device
    observations = torch.from_numpy(played.observations).to(device)
    masks = torch.from_numpy(played.masks).to(device)
    shares = torch.from_numpy(wanted).to(device)
    returns = torch.from_numpy(played.returns).to(device) / config.env.reward_unit
    known = ~torch.isnan(returns)
    losses = []
    for _ in range(settings.epochs):
        for chosen in torch.split(torch.randperm(len(wanted), generator=generator).to(device), settings.minibatch):
            scores, values = scores_and_values(policy, observations[chosen])
            imitation = -(shares[chosen] * legal_log_probs(scores, masks[chosen])).sum(dim=1).mean()
            foresight = torch.where(known[chosen], values - returns[chosen], 0).square().mean()
            optimizer.zero_grad()
            torch.autograd.backward(imitation + settings.value_weight * foresight)
            torch.nn.utils.clip_grad_norm_(policy.parameters(), 1.0)
            optimizer.step()
            losses.append((imitation.item(), foresight.item()))
    imitation_mean, foresight_mean = np.mean(losses, axis=0).tolist()
    return {"imitation": imitation_mean, "foresight": foresight_mean}

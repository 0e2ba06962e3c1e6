"""OpenSpiel's DQN in one seat of `python_okey`, against three random players, from racks one tile from a finish.

    python examples/openspiel_dqn.py

A finish pays, and in training each tile by which the agent's own rack comes nearer to one.
"""

import random
import time

import numpy as np
import pyspiel
import torch
from open_spiel.python import rl_environment
from open_spiel.python.pytorch.dqn import DQN

import okey_env.adapters.openspiel  # noqa: F401 (it registers the game)
from okey_env import rewards

GAME = "python_okey(max_throws=40,start=distance-1,seed={})"


def environment(seed: int) -> rl_environment.Environment:
    """The game with the encoder's array as the observation, which is all that DQN reads."""
    kind = rl_environment.ObservationType.OBSERVATION
    return rl_environment.Environment(pyspiel.load_game(GAME.format(seed)), observation_type=kind)


def play(env: rl_environment.Environment, agent: DQN | None, learns: bool, rng: random.Random) -> bool:
    """One round with the agent (None: a random player) in seat 0: whether it finishes the round."""
    step, near = env.reset(), None
    while not step.last():
        seat = step.current_player()
        legal = step.observations["legal_actions"][seat]
        if seat == 0 and agent is not None:
            if learns:
                step, near = paid(env, step, near)
            action = agent.step(step, is_evaluation=not learns).action
        else:
            action = rng.choice(legal)
        step = env.step([action])
    if learns and agent is not None:
        agent.step(paid(env, step, near)[0])
    return env.get_state.round.winner == 0


def paid(
    env: rl_environment.Environment, step: rl_environment.TimeStep, near: int | None
) -> tuple[rl_environment.TimeStep, int]:
    """The step with a point more for each tile by which the rack of seat 0 has come nearer since its last decision."""
    now = int(rewards.distances(env.get_state.round)[0])
    if near is None:
        return step, now
    return step._replace(rewards=[step.rewards[0] + near - now, *step.rewards[1:]]), now


def learn(seconds: float, seed: int = 1) -> tuple[DQN, int]:
    """Train for so many CPU seconds: the agent and its decisions."""
    torch.set_num_threads(1)
    env, rng = environment(seed), random.Random(seed)
    agent = DQN(
        player_id=0,
        state_representation_size=env.observation_spec()["info_state"][0],
        num_actions=env.action_spec()["num_actions"],
        hidden_layers_sizes=[128],
        batch_size=64,
        learning_rate=1e-3,
        discount_factor=0.95,
        learn_every=4,
        update_target_network_every=200,
        min_buffer_size_to_learn=500,
        epsilon_end=0.02,
        epsilon_decay_duration=4_000,
        epsilon_decay_schedule_str="linear",
        optimizer_str="adam",
        loss_str="huber",
        seed=seed,
    )
    began = time.process_time()
    while time.process_time() - began < seconds:
        play(env, agent, True, rng)
    return agent, agent.step_counter


def score(agent: DQN | None, rounds: int, seed: int = 9) -> float:
    """The share of rounds that it wins."""
    env, rng = environment(seed), random.Random(seed)
    return float(np.mean([play(env, agent, False, rng) for _ in range(rounds)]))


if __name__ == "__main__":
    print(f"a random player: {score(None, 200):.1%} won", flush=True)
    learned, decisions = learn(60)
    print(f"DQN, 60 CPU seconds, {decisions} decisions: {score(learned, 200):.1%} won")

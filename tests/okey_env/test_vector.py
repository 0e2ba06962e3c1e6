"""The batches: each game is the round it would be alone, on any number of threads."""

import gymnasium
import numpy as np
import pytest
from gymnasium.vector import AutoresetMode

import okey_env
from okey_env import OkeyVectorEnv, Round, Rules, SelfPlay, derive_seed
from okey_env.rewards import REWARDS


def choose(masks: np.ndarray, step: int) -> np.ndarray:
    """A legal action of each game that depends on nothing but its mask and the step."""
    actions = np.empty(len(masks), np.int64)
    for i, mask in enumerate(masks):
        legal = np.flatnonzero(mask)
        actions[i] = legal[(step * 7 + int(legal.sum())) % len(legal)]
    return actions


@pytest.mark.parametrize("reward", REWARDS)
@pytest.mark.parametrize("rules", ["gamelake", {"preset": "klasik", "max_throws": 30, "void_points": 2}])
def test_each_game_is_the_round_it_would_be_alone(rules: str | dict[str, object], reward: str) -> None:
    games = SelfPlay(6, rules, seed=11, reward=reward)
    games.reset()
    alone = [Round(rules, seed=derive_seed(11, i)) for i in range(6)]
    paid = [list(REWARDS[reward](round)) for round in alone]
    for step in range(300):
        for i, round in enumerate(alone):
            assert games.seats[i] == round.turn
            assert games.masks[i].tolist() == round.action_mask().tolist()
            seen = round.observe(round.turn)
            assert games.records[i].tobytes() == seen.records.tobytes()
            assert games.encoder is not None
            assert games.observations[i].tobytes() == games.encoder.encode(seen).tobytes()
        actions = choose(games.masks, step)
        games.step(actions)
        for i, round in enumerate(alone):
            round.apply(int(actions[i]))
            totals = list(REWARDS[reward](round))
            assert games.rewards[i].tolist() == pytest.approx(
                [new - old for new, old in zip(totals, paid[i], strict=True)]
            )
            paid[i] = totals
            assert bool(games.terminated[i] or games.truncated[i]) == round.over
            assert bool(games.truncated[i]) == (round.ending == "truncated")
            if round.over:
                number = int(round.fields["round_number"][0]) + 1
                alone[i] = Round(rules, seed=derive_seed(11, i), number=number)
                paid[i] = [0.0] * 4


def test_threads_and_batch_size_change_nothing() -> None:
    def run(num_games: int, num_threads: int) -> list[bytes]:
        games = SelfPlay(num_games, seed=3, num_threads=num_threads)
        games.reset()
        seen = []
        for step in range(250):
            games.step(choose(games.masks, step))
            seen += [games.observations[:5].tobytes(), games.rewards[:5].tobytes(), games.masks[:5].tobytes()]
        return seen

    one = run(5, 1)
    assert run(5, 2) == one
    assert run(16, 2) == one
    assert run(16, 1) == one


def test_illegal_action_is_named_and_changes_nothing() -> None:
    games = SelfPlay(3, seed=1)
    games.reset()
    before = games.games.tobytes()
    actions = games.masks.argmax(axis=1)
    actions[2] = 0
    with pytest.raises(ValueError, match=r"game 2: seat \d may not draw"):
        games.step(actions)
    actions[2] = 500
    with pytest.raises(ValueError, match="game 2: action 500 is not in the action table"):
        games.step(actions)
    assert games.games.tobytes() == before
    with pytest.raises(ValueError, match=r"actions have the shape \(2,\): expected \(3,\)"):
        games.step(actions[:2])


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ({"num_games": 0}, "num_games=0 is out of range: expected 1 to"),
        ({"num_games": 1, "num_threads": 0}, "num_threads=0"),
        ({"num_games": 1, "reward": "points_"}, "not a reward of a batch"),
    ],
)
def test_arguments_are_checked(arguments: dict[str, object], message: str) -> None:
    with pytest.raises(ValueError, match=message):
        SelfPlay(**arguments)  # type: ignore[arg-type]  # wrong on purpose


def test_vector_env_is_registered_and_declares_its_autoreset() -> None:
    env = gymnasium.make_vec("okey/Round-v0", num_envs=4, opponents="random", rules="klasik")
    assert isinstance(env, OkeyVectorEnv)
    assert env.metadata["autoreset_mode"] is AutoresetMode.SAME_STEP
    observation, _ = env.reset(seed=1)
    assert env.observation_space.contains(observation)
    assert env.rules == Rules.preset("klasik")


def test_learner_is_always_to_move_and_episodes_are_whole_rounds() -> None:
    env = OkeyVectorEnv(16, opponents=["greedy", "random", "greedy"], seed=2)
    observation, _ = env.reset()
    returns = np.zeros(16)
    finished = []
    for step in range(400):
        assert observation["action_mask"].any(axis=1).all()
        actions = choose(observation["action_mask"], step)
        observation, rewards, terminated, truncated, infos = env.step(actions)
        returns += rewards
        done = terminated | truncated
        assert done.any() == bool(infos)
        if infos:
            assert (infos["_final_obs"] == done).all()
            assert all((infos["final_obs"][i] is not None) == done[i] for i in range(16))
            finished += returns[done].tolist()
            returns[done] = 0
    assert len(finished) > 100
    losses = {-2.0, -4.0, -8.0, 0.0, 6.0, 12.0, 24.0}
    shown = {loss + extra for loss in losses for extra in (0.0, -1.0, 3.0)}
    assert set(finished) <= shown
    assert min(finished) < 0


def test_one_game_of_the_vector_env_is_the_single_env() -> None:
    """The same deal, the same seat and the same bots give the same episode."""
    many = OkeyVectorEnv(3, opponents="greedy", learning_seat=1)
    seen, _ = many.reset(seed=4)
    single = okey_env.OkeyEnv(opponents="greedy", learning_seat=1)
    alone, _ = single.reset(seed=derive_seed(4, 2))
    for bot in single._panel.bots:
        bot.reset(4)  # in the batch the bots are reset with the seed of the batch
    single.round.deal(derive_seed(4, 2))
    single._bots_play()
    alone = single._observation()
    for step in range(200):
        assert seen["observation"][2].tobytes() == alone["observation"].tobytes()
        actions = choose(seen["action_mask"], step)
        seen, rewards, terminated, truncated, _ = many.step(actions)
        alone, reward, over, cut, _ = single.step(int(actions[2]))
        assert (rewards[2], terminated[2], truncated[2]) == (reward, over, cut)
        if over or cut:
            return
    pytest.fail("the round did not end")


def test_copies_or_the_same_buffers() -> None:
    for copies in (True, False):
        env = OkeyVectorEnv(2, opponents="random", copy=copies)
        first, _ = env.reset(seed=1)
        kept = first["observation"].copy()
        env.step(choose(first["action_mask"], 0))
        assert (first["observation"] == kept).all() == copies


def test_resets_without_a_seed_go_on_from_the_last_one() -> None:
    def first_racks(env: OkeyVectorEnv, seed: int | None) -> list[bytes]:
        env.reset(seed=seed)
        racks = [env.games["rack"].tobytes()]
        for _ in range(3):
            env.reset()
            racks.append(env.games["rack"].tobytes())
        return racks

    given_at_the_start = first_racks(OkeyVectorEnv(4, opponents="random", seed=8), None)
    given_to_reset = first_racks(OkeyVectorEnv(4, opponents="random"), 8)
    assert given_at_the_start == given_to_reset
    assert len(set(given_to_reset)) == 4

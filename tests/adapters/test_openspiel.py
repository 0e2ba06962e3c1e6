"""The OpenSpiel game under OpenSpiel's own tests and algorithms: `make adapters` runs this file."""

import random
import runpy
from pathlib import Path

import numpy as np
import pyspiel
import pytest
from open_spiel.integration_tests import api_test
from open_spiel.python.algorithms import generate_playthrough, ismcts, mcts
from shimmy.openspiel_compatibility import OpenSpielCompatibilityV0

import okey_env.adapters.openspiel as adapter
from okey_env import actions

HERE = Path(__file__).parent
GAME = "python_okey(max_throws=40,start=distance-1,seed=1)"


def dealt(game: str = GAME) -> pyspiel.State:
    state = pyspiel.load_game(game).new_initial_state()
    state.apply_action(0)
    return state


def after(state: pyspiel.State, moves: int, seed: int = 0) -> pyspiel.State:
    rng = random.Random(seed)
    for _ in range(moves):
        state.apply_action(rng.choice(state.legal_actions()))
    return state


@pytest.mark.parametrize("game", ["python_okey", "python_okey(rules=klasik)", GAME])
def test_passes_the_random_simulations_of_openspiel(game: str) -> None:
    pyspiel.random_sim_test(pyspiel.load_game(game), num_sims=3, serialize=False, verbose=False)


class TestOfItsApi(api_test.EnforceAPIOnPartialTreeBase):
    """OpenSpiel's own test of the functions of every registered game."""

    game_name = GAME
    game = pyspiel.load_game(GAME)


def test_shimmy_makes_it_an_environment_of_pettingzoo() -> None:
    rng = np.random.default_rng(1)
    game = pyspiel.load_game(GAME)
    env = OpenSpielCompatibilityV0(env=game)
    paid = []
    for _ in range(100):
        env.reset()
        for _ in env.agent_iter():
            observation, _, terminated, truncated, info = env.last()
            assert observation.shape == (game.observation_tensor_size(),)
            legal = np.flatnonzero(info["action_mask"])
            env.step(None if terminated or truncated else int(rng.choice(legal)))
        paid.append(env.game_state.returns())  # its rewards count the end once for each seat before
    assert np.any(paid)
    assert not np.sum(paid, axis=1).any()


def test_the_seed_determines_the_deals_of_a_game_object() -> None:
    first, second = pyspiel.load_game(GAME), pyspiel.load_game(GAME)
    texts = []
    for game in (first, second, first):
        state = game.new_initial_state()
        state.apply_action(0)
        texts.append(str(state))
    assert texts[0] == texts[1] != texts[2]


def test_a_clone_and_a_saved_state_are_the_same_and_go_on_alone() -> None:
    state = after(dealt(), 9)
    saved = state.get_game().deserialize_state(state.serialize())
    before = str(state)
    for other in (state.clone(), saved):
        assert str(other) == before
        assert [other.information_state_string(seat) for seat in range(4)] == [
            state.information_state_string(seat) for seat in range(4)
        ]
        after(other, 3)
        assert str(state) == before != str(other)


def test_a_resampled_state_is_the_same_to_its_observer_and_another_to_the_rest() -> None:
    state = after(dealt("python_okey(seed=3)"), 21)
    others = set()
    for seed in range(8):
        again = state.resample_from_infostate(2, random.Random(seed).random)
        assert again.information_state_string(2) == state.information_state_string(2)
        assert again.information_state_tensor(2) == state.information_state_tensor(2)
        assert again.current_player() == state.current_player()
        others.add(again.observation_string(1))
    assert len(others) == 8


def test_the_information_state_tensor_has_the_events_that_the_string_has() -> None:
    state = after(dealt(), 12)
    for seat in range(4):
        size = state.get_game().encoder.size
        events = np.array(state.information_state_tensor(seat)[size:]).reshape(-1, 5)
        lines = state.information_state_string(seat).splitlines()[-int(events[:, 0].sum()) :]
        words = [f"{round(row[1] * 3)} {adapter.EVENTS[round(row[2] * 4)]}" for row in events[: len(lines)]]
        assert [" ".join(line.split()[:2]) for line in lines] == words
        assert [line.endswith("?") for line in lines] == [row[3] == 0 for row in events[: len(lines)]]


def test_the_returns_are_points_that_sum_to_0() -> None:
    state = dealt()
    while not state.is_terminal():
        legal = state.legal_actions()
        finishes = [action for action in legal if actions.is_finish(action)]
        state.apply_action(finishes[0] if finishes else random.Random(len(legal)).choice(legal))
    assert sum(state.returns()) == 0
    assert state.current_player() == pyspiel.PlayerId.TERMINAL


def test_is_mcts_finishes_where_it_can() -> None:
    """Of its legal actions a random player would choose the finish about once in 15 times."""
    game, rng, found, asked = pyspiel.load_game(GAME), random.Random(4), 0, 0
    bot = ismcts.ISMCTSBot(
        game=game,
        uct_c=5.0,
        max_simulations=150,
        evaluator=mcts.RandomRolloutEvaluator(1, np.random.RandomState(1)),
        final_policy_type=ismcts.ISMCTSFinalPolicyType.MAX_VISIT_COUNT,
        child_selection_policy=ismcts.ChildSelectionPolicy.UCT,
        random_state=np.random.RandomState(1),
    )
    while asked < 3:
        state = game.new_initial_state()
        state.apply_action(0)
        while not state.is_terminal() and asked < 3:
            legal = state.legal_actions()
            if any(map(actions.is_finish, legal)):
                asked, found = asked + 1, found + actions.is_finish(bot.step(state))
                break
            state.apply_action(rng.choice(legal))
    assert found == 3


def test_the_playthrough_is_what_the_file_says() -> None:
    """`python tests/adapters/test_openspiel.py` writes the file anew."""
    assert playthrough() == (HERE / "python_okey.txt").read_text(encoding="utf-8")


def playthrough() -> str:
    """A short round as OpenSpiel writes it down, without tensors and saved states, which fill most of its lines."""
    text: str = generate_playthrough.playthrough("python_okey(max_throws=3,seed=1)", action_sequence=None, seed=1)
    lines = [line for line in text.splitlines() if not line.startswith(("SerializeState", " "))]
    return "\n".join(line for line in lines if "Tensor(" not in line) + "\n"


def test_dqn_learns_in_60_cpu_seconds_to_win_one_round_in_five() -> None:
    dqn = runpy.run_path(str(HERE.parent.parent / "examples" / "openspiel_dqn.py"))
    agent, decisions = dqn["learn"](seconds=60.0)
    won = dqn["score"](agent, 200)
    print(f"DQN: {decisions} decisions, {won:.1%} won")
    assert won > 0.2  # a random player wins less than 1 %


if __name__ == "__main__":
    (HERE / "python_okey.txt").write_text(playthrough(), encoding="utf-8")

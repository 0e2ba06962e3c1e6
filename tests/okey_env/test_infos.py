"""Infos are the same numbers in every step, in all environments; both kinds of autoreset keep Gymnasium's contract."""

import subprocess
import sys
from typing import Any

import gymnasium
import numpy as np
import numpy.typing as npt
import pytest
from gymnasium.vector import AutoresetMode

import okey_env
from okey_env import Deal, OkeyEnv, OkeyVectorEnv, Round, SelfPlay
from okey_env.interfaces import INFO_KEYS
from tests.places import ROOT

SHORT: dict[str, Any] = {"max_throws": 8, "start_points": 5, "void_points": 2}


def legal(mask: npt.NDArray[np.int8], rng: np.random.Generator) -> int:
    return int(rng.choice(np.flatnonzero(mask)))


def check(info: dict[str, Any]) -> None:
    assert list(info) == list(INFO_KEYS)
    assert all(type(value) is int for value in info.values()), info


# --- constant keys, numbers only --------------------------------------------------------------------------------------


@pytest.mark.parametrize("episode", ["round", "match"])
@pytest.mark.parametrize("teams", [False, True])
def test_every_info_of_every_agent_has_the_same_numbers(episode: str, teams: bool) -> None:
    env: Any = okey_env.env(rules={**SHORT, "teams": teams}, episode=episode)
    rng = np.random.default_rng(1)
    for seed in range(3):
        env.reset(seed=seed)
        decisions = dict.fromkeys(env.agents, 0)
        kept = []
        for agent in env.agent_iter():
            observation, _, terminated, truncated, info = env.last()
            for seat, other in enumerate(env.agents):
                check(env.infos[other])
                assert env.infos[other]["seat"] == int(other[-1]) or seat != int(other[-1])
            over = terminated or truncated
            assert info["length"] == decisions[agent]
            assert (info["placement"] > 0) == over
            kept.append((info, dict(info)))
            decisions[agent] += not over
            env.step(None if over else legal(observation["action_mask"], rng))
        assert all(now == then for now, then in kept)  # an info that was given is not changed later
        if episode == "round":
            round = env.unwrapped.round
            assert info["points"] == round.won[info["seat"]] - round.lost[info["seat"]]
            assert info["rounds"] == 1
        else:
            assert info["rounds"] == env.unwrapped.match.rounds_played


def test_points_follow_a_shown_twin_at_once() -> None:
    env = okey_env.raw_env()
    rack = "Y4 R2 R4 R6 R8 R10 R12 B1 B3 B5 B7 K9 K11 K13 Y1"
    env.reset(seed=1, options={"deal": Deal(indicator="Y4", racks=(rack, None, None, None))})
    env.step(okey_env.actions.SHOW)
    assert [env.infos[agent]["points"] for agent in env.agents] == [3, -1, -1, -1]


@pytest.mark.parametrize("episode", ["round", "match"])
def test_the_single_environment_tells_what_the_round_says(episode: str) -> None:
    env = OkeyEnv(SHORT, opponents="greedy", episode=episode, start={"deal": 1, "distance-1": 2})
    rng = np.random.default_rng(2)
    endings, winners = set(), set()
    for seed in range(30):
        observation, info = env.reset(seed=seed)
        check(info)
        assert (info["length"], info["seat"]) == (0, env.seat)
        length, over = 0, False
        while not over:
            observation, _, terminated, truncated, info = env.step(legal(observation["action_mask"], rng))
            check(info)
            length, over = length + 1, terminated or truncated
            assert info["length"] == length
        endings.add(info["ending"])
        winners.add(info["winner"])
        assert {"finish": 1, "void": 2, "truncated": 3}[env.round.ending] == info["ending"]
        assert (env.round.winner if env.round.winner is not None else -1) == info["winner"]
    assert {1, 3} <= endings
    assert len(winners) > 2


def test_the_batch_tells_what_the_single_environment_tells() -> None:
    """The same deal, the same seat and bots that draw nothing give the same last info."""
    seeds = list(range(5, 13))
    for episode in ("round", "match"):
        settings: dict[str, Any] = {"rules": SHORT, "opponents": "greedy", "learning_seat": 2, "episode": episode}
        many = OkeyVectorEnv(len(seeds), **settings)
        seen, infos = many.reset(seed=seeds)
        assert infos == {}
        last: dict[int, dict[str, int]] = {}
        while len(last) < len(seeds):
            actions = seen["action_mask"].argmax(axis=1)
            seen, _, terminated, truncated, infos = many.step(actions)
            for i in np.flatnonzero(terminated | truncated).tolist():
                assert infos["_final_info"][i]
                told = infos["final_info"]
                assert all(told[f"_{key}"].tolist() == (terminated | truncated).tolist() for key in INFO_KEYS)
                last.setdefault(i, {key: int(told[key][i]) for key in INFO_KEYS})
        for i, seed in enumerate(seeds):
            one = OkeyEnv(**settings)
            observation, info = one.reset(seed=seed)
            over = one._number > 0  # the bots ended the first episode; a batch goes on otherwise
            while not over:
                observation, _, ended, cut, info = one.step(int(observation["action_mask"].argmax()))
                over = ended or cut
            if one._number == 0:
                assert last[i] == info, (episode, seed)


def test_partners_win_and_lose_together() -> None:
    rack = "R1 R2 R3 R4 | B4 B5 B6 | K7 K8 K9 | Y10 Y11 Y12 Y13 | R5"
    env: Any = okey_env.raw_env(rules={"teams": True})
    env.reset(seed=1, options={"deal": Deal(indicator="Y4", racks=(rack, None, None, None))})
    env.step(okey_env.actions.from_text("finish R5", "Y5"))
    assert [env.infos[agent]["won"] for agent in env.agents] == [1, 0, 1, 0]
    assert [env.infos[agent]["placement"] for agent in env.agents] == [1, 2, 1, 2]
    assert {env.infos[agent]["winner"] for agent in env.agents} == {0}


# --- illegal actions --------------------------------------------------------------------------------------------------


def test_an_illegal_action_is_told_to_all_and_only_its_agent_is_last() -> None:
    env: Any = okey_env.env()
    env.reset(seed=1)
    agent = env.agent_selection
    env.step(0)
    for other in env.possible_agents:
        check(env.infos[other])
        assert env.infos[other]["ending"] == 4
        assert (env.infos[other]["placement"] == 4) == (other == agent)
    assert env.infos[agent]["length"] == 1
    assert set(env.terminations.values()) == {True}
    for _ in env.possible_agents:
        env.step(None)
    assert env.agents == []


@pytest.mark.parametrize("action", [-1, 109, 2**63, 2**70, np.int64(-5)])
def test_whole_numbers_beyond_the_table_are_illegal_actions(action: Any) -> None:
    env: Any = okey_env.env()
    env.reset(seed=1)
    env.step(action)
    assert all(env.terminations.values())
    one = OkeyEnv(opponents="random")
    one.reset(seed=1)
    assert one.step(action)[1:3] == (-9.0, True)
    assert "is not in the action table: expected 0 to 108" in one.illegal
    many = OkeyVectorEnv(2, opponents="random")
    seen, _ = many.reset(seed=1)
    _, rewards, terminated, _, infos = many.step([action, int(seen["action_mask"][1].argmax())])  # type: ignore[arg-type]
    assert (rewards[0], terminated.tolist()) == (-9.0, [True, False])
    assert infos["final_info"]["ending"].tolist() == [4, 0]


@pytest.mark.parametrize("action", [2.9, float("nan"), "draw", np.float64(3.0), True, None, [1]])
def test_what_is_no_number_changes_nothing(action: Any) -> None:
    env: Any = okey_env.env()
    env.reset(seed=1)
    one = OkeyEnv(opponents="random")
    one.reset(seed=1)
    before = env.unwrapped.save(), one.save()
    for step in (env.step, one.step):
        with pytest.raises(ValueError, match=r"expected (an action )?0 to 108$"):
            step(action)
    assert (env.unwrapped.save(), one.save()) == before
    assert not any(env.terminations.values())


def test_gymnasium_complains_and_the_episode_stays_ended() -> None:
    env = gymnasium.make("okey/Round-v0", opponents="random")
    observation, _ = env.reset(seed=1)
    illegal = int((observation["action_mask"] == 0).argmax())
    _, reward, terminated, _, _ = env.step(illegal)
    assert (reward, terminated) == (-9.0, True)
    for _ in range(2):
        with pytest.warns(UserWarning, match=r"call reset\(\) before the next step"):
            _, reward, terminated, truncated, info = env.step(int(observation["action_mask"].argmax()))
        assert (reward, terminated, truncated, info["ending"]) == (0.0, True, False, 4)


# --- an illegal action never pays better than the worst legal end -----------------------------------------------------


@pytest.mark.parametrize(
    "rules",
    [
        {"combine": "max", "void_points": 10, "indicator_points": 0},
        {"void_points": 10, "max_throws": 4, "indicator_points": 0},
        {"teams": True, "colour_double": True, "indicator_points": 0},
    ],
)
@pytest.mark.parametrize("episode", ["round", "match"])
@pytest.mark.parametrize(
    "reward", ["points", "zero_sum", "win", "points+distance", "win+5*potential", "tenfold", "slow"]
)
def test_no_legal_end_pays_less_than_an_illegal_action(rules: dict[str, Any], episode: str, reward: str) -> None:
    """A seat that acts illegally after some moves has no more in all than any seat that plays to the end."""

    def tenfold(round: Round) -> list[float]:
        return [10.0 * (won - lost) for won, lost in zip(round.won, round.lost, strict=True)]

    def slow(round: Round) -> list[float]:
        return [-float(round.fields["throws"][0])] * 4

    pays: Any = {"tenfold": tenfold, "slow": slow}.get(reward, reward)
    for seed in range(3):
        totals: dict[bool, list[float]] = {False: [], True: []}
        for act_illegally in (False, True):
            env: Any = okey_env.env(rules=rules, reward=pays, episode=episode)
            env.reset(seed=seed)
            rng = np.random.default_rng(seed)
            paid = dict.fromkeys(env.agents, 0.0)
            offender = ""
            for move, agent in enumerate(env.agent_iter(max_iter=3000)):
                observation, amount, terminated, truncated, _ = env.last()
                paid[agent] += amount
                over = terminated or truncated
                if act_illegally and move == 5:
                    offender = agent
                    env.step(-1)
                else:
                    env.step(None if over else legal(observation["action_mask"], rng))
            totals[act_illegally] += [paid[offender]] if act_illegally else list(paid.values())
        assert max(totals[True]) <= min(totals[False]), (seed, totals)


def test_a_match_of_wins_can_cost_more_than_one_round() -> None:
    """In a match `win` is paid for every round, so an illegal action costs as many rounds as can be lost."""
    env: Any = okey_env.raw_env(reward="win", episode="match", rules={"start_points": 21})
    price = okey_env.rewards.illegal_reward("win", env.rules, matches=True)
    rack = "R1 R2 R3 R4 | B4 B5 B6 | K7 K8 K9 | Y10 Y11 Y12 Y13 | R5"
    env.reset(seed=1)
    lost = 0.0
    while not env.match.over:
        env.match.round.deal(1, Deal(indicator="Y4", racks=(rack, None, None, None)), points=env.match.round.scores)
        env._begin()
        env.step(okey_env.actions.from_text("finish R5", "Y5"))
        lost += env.rewards["player_1"]
    assert lost < -3
    assert price <= lost


# --- autoreset --------------------------------------------------------------------------------------------------------


def test_next_step_autoreset_plays_the_same_episodes() -> None:
    same = OkeyVectorEnv(6, SHORT, opponents="greedy", seed=4)
    late = OkeyVectorEnv(6, SHORT, opponents="greedy", seed=4, autoreset_mode="NextStep")
    assert late.metadata["autoreset_mode"] is AutoresetMode.NEXT_STEP
    assert OkeyVectorEnv.metadata["autoreset_mode"] is AutoresetMode.SAME_STEP
    ends: list[list[Any]] = [[], []]
    for number, env in enumerate((same, late)):
        seen, _ = env.reset()
        waits = np.zeros(6, bool)
        earned = np.zeros(6)
        while len(ends[number]) < 60:
            actions = seen["action_mask"].argmax(axis=1)
            seen, rewards, terminated, truncated, infos = env.step(actions)
            earned += rewards
            done = terminated | truncated
            if number == 1:
                assert not (done & waits).any()
                assert (rewards[waits] == 0).all()
                assert "final_obs" not in infos
                assert not seen["action_mask"][done].any()  # the last observation: the round is over
                assert seen["action_mask"][~done].any(axis=1).all()
                told, waits = infos, done
            else:
                told = infos.get("final_info", {})
            assert bool(told) == done.any()
            for i in np.flatnonzero(done).tolist():
                assert told["_won"][i]
                ends[number].append((i, earned[i], *(int(told[key][i]) for key in INFO_KEYS)))
            earned[done] = 0
    for i in range(6):
        mine = [[end for end in some if end[0] == i] for some in ends]
        shared = min(map(len, mine))
        assert shared > 3
        assert mine[0][:shared] == mine[1][:shared]


def test_an_illegal_action_ends_an_episode_under_next_step_autoreset() -> None:
    env = OkeyVectorEnv(2, opponents="random", seed=1, autoreset_mode=AutoresetMode.NEXT_STEP)
    seen, _ = env.reset()
    actions = seen["action_mask"].argmax(axis=1)
    seen, rewards, terminated, _, infos = env.step(np.array([-1, actions[1]]))
    assert (rewards[0], terminated.tolist(), infos["ending"].tolist()) == (-9.0, [True, False], [4, 0])
    seen, rewards, terminated, _, infos = env.step(np.array([-1, seen["action_mask"][1].argmax()]))
    assert (rewards[0], terminated[0]) == (0.0, False)
    assert env.games["round_number"][0] >= 1


@pytest.mark.parametrize("mode", ["same", "Disabled", 3, None])
def test_other_kinds_of_autoreset_are_refused(mode: Any) -> None:
    with pytest.raises(ValueError, match="is not a choice: expected 'SameStep' or 'NextStep'"):
        OkeyVectorEnv(1, autoreset_mode=mode)


# --- seeds, wrappers, processes ---------------------------------------------------------------------------------------


def test_a_list_of_seeds_gives_each_game_its_own() -> None:
    env = OkeyVectorEnv(3, opponents="random", learning_seat=0)
    env.reset(seed=[7, 2**64 - 1, np.int64(9)])  # type: ignore[list-item]
    assert env.games["seed"].tolist() == [7, 2**64 - 1, 9]
    assert env.games["stock"][0].tolist() == Round(seed=7).fields["stock"][0].tolist()
    first = env.games.tobytes()
    env.reset(seed=np.array([7, 2**64 - 1, 9], np.uint64))  # type: ignore[arg-type]
    assert env.games.tobytes() == first
    env.reset(seed=[7, None, 9])
    assert env.games["seed"][[0, 2]].tolist() == [7, 9]
    for wrong in ([7, 8], [7, 8, 9, 10], [7, 8, -1], [7, 8, 1.5], [[7], [8], [9]], "789"):
        with pytest.raises(ValueError, match=r"^seed(\[\d\])?="):
            env.reset(seed=wrong)  # type: ignore[arg-type]


def test_one_seed_is_still_the_batch_of_self_play() -> None:
    env, games = OkeyVectorEnv(3, opponents="random"), SelfPlay(3, encoder=None)
    env.reset(seed=5)
    games.reset(seed=5)
    assert env.games["seed"].tolist() == games.games["seed"].tolist()


def test_observations_can_be_flattened() -> None:
    one = gymnasium.wrappers.FlattenObservation(gymnasium.make("okey/Round-v0", opponents="random"))
    observation, _ = one.reset(seed=1)
    assert one.observation_space.contains(observation)
    many = gymnasium.make_vec("okey/Round-v0", num_envs=2, opponents="random", autoreset_mode="NextStep")
    flat = gymnasium.wrappers.vector.FlattenObservation(many)
    seen, _ = flat.reset(seed=[1, 2])  # type: ignore[arg-type]  # Gymnasium's wrapper passes any seed on
    assert seen.shape == (2, *observation.shape)
    assert flat.observation_space.contains(seen)
    actions = seen[:, :109].argmax(axis=1)  # a Dict is flattened by the order of its keys: the mask is first
    seen, rewards, terminated, truncated, _ = flat.step(actions)
    assert rewards.tolist() == [0.0, 0.0]
    assert not (terminated | truncated).any()


@pytest.mark.heavy
def test_spawned_workers_find_the_id(tmp_path: Any) -> None:
    program = tmp_path / "workers.py"
    program.write_text(
        "import gymnasium\n"
        "def make():\n"
        "    return gymnasium.make('okey_env:okey/Round-v0', opponents='random')\n"
        "if __name__ == '__main__':\n"
        "    env = gymnasium.vector.AsyncVectorEnv([make] * 2, context='spawn')\n"
        "    seen, infos = env.reset(seed=[1, 2])\n"
        "    *_, infos = env.step(seen['action_mask'].argmax(axis=1))\n"
        "    print(infos['length'].tolist(), infos['ending'].dtype.kind)\n"
        "    env.close()\n"
        "    env = gymnasium.make_vec('okey_env:okey/Round-v0', 2, 'async', vector_kwargs={'context': 'spawn'})\n"
        "    print(env.reset(seed=1)[0]['action_mask'].shape)\n"
        "    env.close()\n",
        encoding="utf-8",
    )
    ran = subprocess.run([sys.executable, program], cwd=ROOT, capture_output=True, text=True, timeout=300, check=False)
    assert ran.returncode == 0, ran.stderr
    assert ran.stdout.split("\n")[:2] == ["[1, 1] i", "(2, 109)"]


def test_the_page_has_the_table() -> None:
    page = (ROOT / "docs" / "environments.md").read_text(encoding="utf-8")
    for key, meaning in INFO_KEYS.items():
        assert f"| `{key}` | {meaning} |" in page

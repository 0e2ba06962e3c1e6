"""The candidate scorer: its features, its compiled network, how it plays, and how it is trained and exported."""

import json
import shutil
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt
import pytest
import torch

from okey_agents.bots.folder import load_bot
from okey_agents.bots.rated import ExpertBot
from okey_agents.bots.scorer import ScorerBot
from okey_agents.thinking.rule_weights import EXPERT, rule_data, rule_of
from okey_agents.thinking.scorer.choose import Policy
from okey_agents.thinking.scorer.context import MAX_CANDIDATES, NUM_CONTEXT
from okey_agents.thinking.scorer.features import NUM_FEATURES, pick_candidates
from okey_agents.thinking.scorer.network import NUM_WEIGHTS, run_scorer
from okey_agents.training.checkpoint import checkpoints, load_checkpoint
from okey_agents.training.export import export
from okey_agents.training.optimizers import FitSettings
from okey_agents.training.recipes import config_from_dict
from okey_agents.training.scorer import branching
from okey_agents.training.scorer.branching import label
from okey_agents.training.scorer.decisions import Decisions
from okey_agents.training.scorer.measure import measure_scorer
from okey_agents.training.scorer.net import (
    Batches,
    ScorerNet,
    Scores,
    agreement,
    difference_loss,
    fit_scorer,
    soft_label_loss,
)
from okey_agents.training.scorer.self_play import estimate_advantages
from okey_agents.training.scorer.soft_clone import SoftCloneConfig, rated_decisions
from okey_agents.training.train import train_config
from okey_env import Rules
from okey_env.bots import BatchBot, make_bot
from okey_env.round import Round
from tests.okey_agents.conftest import TINY_BRANCHING, TINY_SCORER_PPO

Floats = npt.NDArray[np.float32]

RULE = Policy(EXPERT, margin=np.float32(12))


@pytest.fixture(scope="session")
def lessons() -> Decisions:
    return rated_decisions(Rules(), RULE, 1, 4_000)


def _random_weights(seed: int) -> Floats:
    return (np.random.default_rng(seed).standard_normal(NUM_WEIGHTS) * 0.1).astype(np.float32)


def _policy(weights: Floats, margin: float = 12.0, bonus: float = 0.0) -> Policy:
    return Policy(EXPERT, weights, np.float32(margin), np.float32(bonus))


def test_candidates_are_the_best_rated_within_the_margin() -> None:
    ratings = np.full(109, -np.inf, np.float32)
    for action, rating in ((5, 10), (9, 12), (20, 1), (30, -1), (31, 12), (40, 11), (41, 5), (42, 4), (43, 3)):
        ratings[action] = rating
    actions = np.zeros(MAX_CANDIDATES, np.int64)
    assert pick_candidates(ratings, np.float32(12), actions) == 6
    assert actions.tolist() == [9, 31, 40, 5, 41, 42]
    assert pick_candidates(ratings, np.float32(1.5), actions) == 3
    assert actions[:3].tolist() == [9, 31, 40]


def test_the_compiled_network_is_the_one_in_torch() -> None:
    weights = _random_weights(0)
    generator = np.random.default_rng(1)
    context = generator.random(NUM_CONTEXT, np.float32)
    features = generator.random((MAX_CANDIDATES, NUM_FEATURES), np.float32)
    scores = np.zeros(MAX_CANDIDATES, np.float32)
    run_scorer(context, features, MAX_CANDIDATES, weights, scores)
    net = ScorerNet()
    net.set_weights(weights)
    np.testing.assert_array_equal(net.weights(), weights)
    with torch.no_grad():
        owners = torch.zeros(MAX_CANDIDATES, dtype=torch.int64)
        expected = net(torch.from_numpy(context)[None], torch.from_numpy(features), owners).numpy()
    np.testing.assert_allclose(scores, expected, rtol=1e-4, atol=1e-5)


def test_features_are_numbers_of_about_one(lessons: Decisions) -> None:
    for array in (lessons.contexts, lessons.features):
        assert np.isfinite(array).all()
        assert np.quantile(np.abs(array), 0.999) <= 8
        assert np.abs(array).max() <= 64
    assert (lessons.features.astype(np.float32).std(axis=0) > 0).sum() > 45  # nearly all say something
    assert set(lessons.counts.tolist()) <= set(range(2, MAX_CANDIDATES + 1))


def test_losses_know_only_differences_between_the_candidates_of_a_decision() -> None:
    there = torch.tensor([[True, True, False], [True, True, True]])
    scores = Scores(torch.tensor([[1.0, 2.0, -torch.inf], [0.0, 0.0, 3.0]]), there)
    labels = torch.tensor([[5.0, 6.0, 0.0], [-1.0, -1.0, 2.0]])
    assert difference_loss(scores, labels, there).item() == pytest.approx(0)
    other = labels + torch.tensor([[0.0, 2.0, 0.0], [0.0, 0.0, 0.0]])
    assert difference_loss(scores, other, there).item() == pytest.approx(0.5)  # ±1 around the mean in one of two
    loss = soft_label_loss(1.0)
    assert loss(scores, labels + 3, there).item() == pytest.approx(loss(scores, labels, there).item())
    worse = Scores(scores.padded + torch.tensor([[0.0, 2.0, 0.0], [0.0, 0.0, 0.0]]), there)
    assert loss(scores, labels, there) < loss(worse, labels, there)


def test_a_fresh_network_leaves_every_choice_to_the_rule() -> None:
    points, _ = measure_scorer(_policy(ScorerNet().weights(), 12.0, 0.03), Rules(), 1, 40)
    rule, _ = measure_scorer(_policy(ScorerNet().weights(), 0.0), Rules(), 1, 40)
    assert points == rule  # the rule breaks its ties by chance, so this is the rule up to ties


def test_the_number_of_threads_changes_no_measurement(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("okey_agents.training.scorer.measure._CHUNK", 15)
    one = measure_scorer(_policy(_random_weights(1)), Rules(), 4, 70)
    assert one == measure_scorer(_policy(_random_weights(1)), Rules(), 4, 70, workers=3)


def _excess(net: ScorerNet, decisions: Decisions) -> float:
    """The mean loss of a soft clone beyond the least that there is: how far its probabilities are from the rule's."""
    loss = soft_label_loss(SoftCloneConfig.softness)
    sums = []
    with torch.no_grad():
        for batch in Batches(decisions).in_order():
            scores = batch.scores(net)
            best = Scores(torch.where(scores.there, SoftCloneConfig.softness * batch.labels, -torch.inf), scores.there)
            difference = loss(scores, batch.labels, scores.there) - loss(best, batch.labels, scores.there)
            sums.append(difference.item() * len(batch.labels))
    return sum(sums) / len(decisions)


@pytest.mark.heavy
def test_the_soft_clone_learns_the_rule_and_stands_above_three_marks(lessons: Decisions) -> None:
    """Marks: a random network, an untrained one, and what the rule itself is sure of.

    An untrained network leaves every choice to the rule, so it agrees with it, but it holds all candidates for equal:
    its loss is 0.36 above the least, and so is that of a clone of shuffled labels. The clone's is 0.0003 above it.
    """
    torch.manual_seed(1)
    net, untrained, by_chance = ScorerNet(), ScorerNet(), ScorerNet()
    by_chance.set_weights(_random_weights(2))
    fit_scorer(net, lessons, soft_label_loss(SoftCloneConfig.softness), FitSettings(6, 64, 3e-3), seed=1)
    fresh = rated_decisions(Rules(), RULE, 2, 3_000)
    assert _excess(net, fresh) < 0.01 * min(_excess(untrained, fresh), _excess(by_chance, fresh))
    assert agreement(by_chance, fresh) < 0.75
    assert agreement(net, fresh) > max(0.95, agreement(by_chance, fresh))
    random_points, _ = measure_scorer(_policy(by_chance.weights()), Rules(), 8, 150)
    points, _ = measure_scorer(_policy(net.weights()), Rules(), 8, 150)
    # the clone is the rule but for a few moves; moves at random inside the margin lose about a point a round
    assert points.mean > random_points.mean + 0.3
    assert points.mean > -0.2


@pytest.mark.heavy
def test_labels_say_that_a_worse_rated_move_is_worth_less_on_average() -> None:
    decisions = label(Rules(), RULE, 5, 1_500)
    assert np.isfinite(decisions.labels).all()
    starts = np.cumsum(decisions.counts) - decisions.counts
    best, last = decisions.labels[starts], decisions.labels[starts + decisions.counts - 1]
    difference = last - best
    # several tenths of a point, with 1,500 samples of standard deviation about 1.2: ten standard errors
    assert difference.mean() < -0.05
    again = label(Rules(), RULE, 5, 1_500)
    np.testing.assert_array_equal(decisions.labels, again.labels)


@pytest.mark.heavy
def test_a_move_that_ends_the_round_is_labelled_with_its_points() -> None:
    decisions = label(Rules(), RULE._replace(margin=np.float32(1000)), 6, 3_000)
    finishing = decisions.features[:, 3] == 1
    assert finishing.any()
    points = decisions.features[finishing, 23].astype(np.float32) * 8  # the features say what a finish pays
    assert (decisions.labels[finishing] >= 3 * points - 3).all()  # less a shown twin of somebody else
    assert (decisions.labels[finishing] <= 3 * points + 3).all()


def test_advantages_of_one_seat_are_those_of_the_textbook() -> None:
    values, final = np.array([1.0, 2.0, 0.5], np.float32), 6.0
    advantages = np.zeros(3, np.float32)
    gamma, decay = 0.9, 0.8
    estimate_advantages(values, np.float32(final), np.float32(gamma), np.float32(decay), advantages)
    errors = [gamma * 2 - 1, gamma * 0.5 - 2, gamma * final - 0.5]
    expected = [sum((gamma * decay) ** (j - i) * errors[j] for j in range(i, 3)) for i in range(3)]
    np.testing.assert_allclose(advantages, expected, rtol=1e-5)
    estimate_advantages(values, np.float32(final), np.float32(1), np.float32(1), advantages)
    np.testing.assert_allclose(advantages, final - values)


def test_batches_take_each_decision_whole(lessons: Decisions) -> None:
    batch = Batches(lessons).take(np.array([7, 3]))
    start = int(lessons.counts[:7].sum())
    count = int(lessons.counts[7])
    np.testing.assert_array_equal(batch.labels[0, :count], lessons.labels[start : start + count])
    assert (batch.labels[0, count:] == 0).all()
    assert batch.owners.tolist() == [0] * count + [1] * int(lessons.counts[3])


# --- runs ---------------------------------------------------------------------------------------------------------


def _weights(run: Path) -> Floats:
    array: Floats = load_checkpoint(checkpoints(run / "checkpoints")[0]).arrays["scorer"]
    return array


def _events(run: Path) -> list[str]:
    return [json.loads(line)["event"] for line in (run / "log.jsonl").read_text().splitlines()]


@pytest.mark.heavy
@pytest.mark.parametrize(("data", "name"), [(TINY_BRANCHING, "tiny_scorer_run"), (TINY_SCORER_PPO, "tiny_ppo_run")])
def test_a_run_leaves_what_a_run_leaves_and_gives_the_same_weights_again(
    data: dict[str, Any], name: str, request: pytest.FixtureRequest, tmp_path: Path
) -> None:
    run: Path = request.getfixturevalue(name)
    assert {"started", "saved", "evaluated", "finished"} <= set(_events(run))
    measured = json.loads((run / "evaluation.json").read_text())
    assert measured["decisions"] == load_checkpoint(run / "best.ckpt").decisions
    threads = {**data, "run": {**data["run"], "workers": 1}}
    np.testing.assert_array_equal(_weights(train_config(config_from_dict(threads), tmp_path / "again")), _weights(run))


def test_branching_goes_on_from_the_chunks_on_disk(
    tiny_scorer_run: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    folder = tmp_path / "run"
    shutil.copytree(tiny_scorer_run, folder)
    kept = {path.name: path.stat().st_mtime_ns for path in (folder / "labels").iterdir()}
    for path in checkpoints(folder / "checkpoints")[:1]:
        path.unlink()  # as if it had died in the second generation
    (folder / "labels" / "02-00001.labels").unlink()
    damaged = folder / "labels" / "02-00000.labels"
    damaged.write_bytes(damaged.read_bytes()[:-1])
    train_config(config_from_dict(TINY_BRANCHING), folder, resume=True)
    np.testing.assert_array_equal(_weights(folder), _weights(tiny_scorer_run))
    assert "labelled again" in capsys.readouterr().err
    assert (folder / "labels" / "01-00001.labels").stat().st_mtime_ns == kept["01-00001.labels"]
    assert branching.LABELS == "labels"


def test_a_learning_curve_is_measured_on_the_way_and_changes_nothing(tiny_scorer_run: Path, tmp_path: Path) -> None:
    data = {**TINY_BRANCHING, "branching": {**TINY_BRANCHING["branching"], "curve": [200, 400, 5_000]}}
    folder = tmp_path / "run"
    train_config(config_from_dict(data), folder)
    lines = [json.loads(line) for line in (folder / "log.jsonl").read_text().splitlines()]
    measured = [line["decisions"] for line in lines if line["event"] == "evaluated" and not line["fresh"]]
    best = load_checkpoint(tiny_scorer_run / "best.ckpt").decisions
    assert measured[:2] == [200, 400]
    assert len(measured) == 4
    assert load_checkpoint(folder / "best.ckpt").decisions == best
    np.testing.assert_array_equal(_weights(folder), _weights(tiny_scorer_run))


def test_ppo_goes_on_from_its_checkpoint(tiny_ppo_run: Path, tmp_path: Path) -> None:
    folder = tmp_path / "run"
    shutil.copytree(tiny_ppo_run, folder)
    checkpoints(folder / "checkpoints")[0].unlink()  # as if it had died in the last interval
    train_config(config_from_dict(TINY_SCORER_PPO), folder, resume=True)
    one, other = (load_checkpoint(checkpoints(run / "checkpoints")[0]) for run in (folder, tiny_ppo_run))
    assert one.arrays.keys() == other.arrays.keys()
    for name, array in one.arrays.items():
        np.testing.assert_array_equal(array, other.arrays[name], err_msg=name)


def test_a_damaged_best_is_named_and_the_newest_checkpoint_stands_in(
    tiny_scorer_run: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    folder = tmp_path / "run"
    shutil.copytree(tiny_scorer_run, folder)
    best = folder / "best.ckpt"
    best.write_bytes(best.read_bytes()[:-1])
    train_config(config_from_dict(TINY_BRANCHING), folder, resume=True)
    newest = load_checkpoint(checkpoints(folder / "checkpoints")[0])
    said = " ".join(capsys.readouterr().err.split())
    assert "best.ckpt is damaged" in said
    assert f"decision {newest.decisions:,} stands in for it" in said
    np.testing.assert_array_equal(_weights(folder), newest.arrays["scorer"])
    assert load_checkpoint(best).decisions == newest.decisions


def test_a_run_of_another_recipe_is_not_taken_up(tiny_ppo_run: Path) -> None:
    with pytest.raises(ValueError, match=r"run.recipe = 'branching', but the run in .* began with 'scorer_ppo'"):
        train_config(config_from_dict(TINY_BRANCHING), tiny_ppo_run, resume=True)


# --- bots ---------------------------------------------------------------------------------------------------------


@pytest.fixture(scope="session")
def scorer_folder(tiny_scorer_run: Path) -> Path:
    return export(tiny_scorer_run, tiny_scorer_run.parent / "tiny-scorer")


def test_the_exported_scorer_plays_legal_moves_alone_as_in_a_batch(scorer_folder: Path, tiny_scorer_run: Path) -> None:
    bot = make_bot(scorer_folder)
    assert isinstance(bot, ScorerBot)
    assert isinstance(bot, BatchBot)
    np.testing.assert_array_equal(bot.policy.scorer, load_checkpoint(tiny_scorer_run / "best.ckpt").arrays["scorer"])
    assert (scorer_folder / "weights.npz").stat().st_size < 2_000_000
    for preset in ("gamelake", "klasik"):
        round = Round(preset, seed=11)
        while not round.over:
            observation = round.observe(round.turn)
            action = bot.act(observation)
            assert action in observation.legal_actions
            assert bot.act_batch(observation.records).tolist() == [action]
            round.apply(action)


def test_a_scorer_without_margin_plays_what_the_rule_rates_best() -> None:
    bot = ScorerBot("rule", EXPERT, _random_weights(3), 0.0, 0.0)
    expert = ExpertBot(1)
    round = Round(seed=4)
    same = total = 0
    while not round.over:
        observation = round.observe(round.turn)
        action = expert.act(observation)
        same += bot.act(observation) == action
        total += 1
        round.apply(action)
    assert same >= 0.8 * total  # the rest are ties


REFUSED: dict[str, tuple[Any, str]] = {
    "features": (lambda m: m["encoder"].update(version=77), "needs version 77 of the features 'candidates'"),
    "encoder": (lambda m: m["encoder"].update(name="sphere"), "of the features 'sphere'"),
    "no rule": (lambda m: m.pop("rule"), "has no 'rule'"),
    "other rule": (lambda m: m["rule"].pop("step"), "rule has other weights than this version"),
    "rule of text": (lambda m: m["rule"].update(step="far"), "rule.step = 'far' is not a weight"),
    "margin": (lambda m: m["choice"].update(margin=-1), "its margin is -1: expected a number from 0 to 1000"),
    "actions": (lambda m: m.update(actions_version=77), "needs version 77 of the action table"),
}


@pytest.mark.parametrize("case", REFUSED)
def test_a_foreign_scorer_is_refused_in_one_sentence(scorer_folder: Path, tmp_path: Path, case: str) -> None:
    change, message = REFUSED[case]
    folder = tmp_path / "bot"
    shutil.copytree(scorer_folder, folder)
    manifest = json.loads((folder / "bot.json").read_text())
    change(manifest)
    (folder / "bot.json").write_text(json.dumps(manifest))
    with pytest.raises(ValueError, match=message):
        load_bot(folder)


def test_the_rule_travels_as_data() -> None:
    data = json.loads(json.dumps(rule_data(EXPERT)))
    assert rule_of(data) == EXPERT
    with pytest.raises(ValueError, match="is not a weight"):
        rule_of({**data, "step": float("nan")})


def test_the_scorer_refuses_weights_of_another_shape() -> None:
    with pytest.raises(ValueError, match=r"weights of shape \(3,\)"):
        ScorerBot("broken", EXPERT, np.zeros(3, np.float32), 12.0, 0.0)

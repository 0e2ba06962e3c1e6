"""PolicyBot: scores and actions of a function, of numpy or torch, and what it refuses."""

import pickle
from typing import Any

import numpy as np
import numpy.typing as npt
import pytest
import torch

from okey_agents.evaluate.arena import evaluate
from okey_env import PolicyBot, Round, SelfPlay, as_encoder, make_bot, masks_of

WEIGHTS = np.random.default_rng(3).standard_normal((as_encoder("flat").size, 109)).astype(np.float32)


def scores(observations: npt.NDArray[np.float32], masks: npt.NDArray[np.bool_]) -> npt.NDArray[np.float32]:
    found: npt.NDArray[np.float32] = (observations[:, :, None] * WEIGHTS).sum(axis=1, dtype=np.float32)
    return found


def records() -> npt.NDArray[np.record]:
    games = SelfPlay(30, encoder=None, seed=3)
    games.reset()
    rng = np.random.default_rng(5)
    for _ in range(25):
        games.step(np.where(games.masks == 1, rng.random(games.masks.shape), -1).argmax(axis=1))
    return games.records


def test_the_best_legal_score_is_played_one_at_a_time_as_in_a_batch() -> None:
    bot, seen = PolicyBot("flat", scores), records()
    actions = bot.act_batch(seen)
    inputs = np.zeros((30, bot.encoder.size), np.float32)
    bot.encoder.fill_batch(seen, inputs)
    masks = masks_of(seen) != 0
    np.testing.assert_array_equal(actions, np.where(masks, scores(inputs, masks), -np.inf).argmax(axis=1))
    assert [int(bot.act_batch(seen[i : i + 1])[0]) for i in range(30)] == actions.tolist()


def test_a_function_may_give_actions_or_a_tensor_with_a_gradient() -> None:
    layer, seen = torch.nn.Linear(as_encoder("flat").size, 109), records()

    def by_torch(observations: npt.NDArray[np.float32], masks: npt.NDArray[np.bool_]) -> torch.Tensor:
        found: torch.Tensor = layer(torch.from_numpy(observations))
        return found

    def chosen(observations: npt.NDArray[np.float32], masks: npt.NDArray[np.bool_]) -> npt.NDArray[np.int64]:
        values = by_torch(observations, masks).detach().numpy()
        best: npt.NDArray[np.int64] = np.where(masks, values, -np.inf).argmax(axis=1)
        return best

    by_scores, by_actions = PolicyBot("flat", by_torch), PolicyBot("flat", chosen)
    np.testing.assert_array_equal(by_scores.act_batch(seen), by_actions.act_batch(seen))
    assert (by_scores.name, by_actions.name) == ("by_torch", "chosen")


def test_a_legal_action_is_played_even_if_all_have_minus_infinity() -> None:
    bot, seen = PolicyBot("flat", lambda observations, masks: np.full(masks.shape, -np.inf)), records()
    assert np.take_along_axis(masks_of(seen), bot.act_batch(seen)[:, None], axis=1).all()


def test_it_is_a_bot_wherever_one_is_named_and_may_be_sent() -> None:
    bot = PolicyBot("flat", scores, name="mine")
    assert make_bot(bot) is bot
    again = pickle.loads(pickle.dumps(bot))
    round = Round(seed=4)
    seen = round.observe(round.turn)
    assert again.act(seen) == bot.act(seen)
    report = evaluate(bot, "random", deals=4, seed=1, workers=1)
    assert report.challenger.name == "mine"
    assert report.rounds == 16


@pytest.mark.parametrize(
    ("given", "said"),
    [
        (lambda seen, masks: np.zeros((len(seen), 56)), r"float64 of the shape \(30, 56\) for 30 positions"),
        (lambda seen, masks: np.zeros(len(seen)), r"float64 of the shape \(30,\)"),
        (lambda seen, masks: None, "expected scores"),
        (lambda seen, masks: np.where(masks, np.nan, 0), "gave action 0 the score NaN in position 0"),
        (lambda seen, masks: np.full(len(seen), 109), "gave action 109 in position 0: expected one of"),
        (lambda seen, masks: masks.argmin(axis=1), "expected one of"),
    ],
)
def test_what_is_no_answer_is_refused_by_what_it_is(given: Any, said: str) -> None:
    with pytest.raises(ValueError, match=said):
        PolicyBot("flat", given).act_batch(records())


def test_its_parts_are_checked_when_it_is_made() -> None:
    with pytest.raises(ValueError, match="policy='greedy': expected a function"):
        PolicyBot("flat", "greedy")  # type: ignore[arg-type] # the fault
    with pytest.raises(ValueError, match="encoder='flatt'"):
        PolicyBot("flatt", scores)

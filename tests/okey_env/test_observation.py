"""A seat sees what is open and its own rack: deal the hidden tiles again, and not one bit changes."""

import pickle
import random

import numpy as np
import pytest

from okey_env import Deal, Observation, Round, as_encoder, hands
from okey_env.encoders import ENCODERS
from okey_env.engine.events import EVENT_DRAW
from okey_env.tiles import NUM_KINDS, WILD, rack_text, total_counts


def played(seed: int, moves: int, rules: str | dict[str, object] = "gamelake", skill: float = 0.5) -> Round:
    """A round after some moves; half of them throw what the neighbour left takes least, so that tiles get taken."""
    round = Round(rules, seed=seed)
    rng = random.Random(seed)
    for _ in range(moves):
        legal = round.legal_actions()
        going_on = [action for action in legal if action < 56] or legal
        takes = [action for action in going_on if action in (1, 2)]
        round.apply(takes[0] if takes and rng.random() < skill else rng.choice(going_on))
        if round.over:
            break
    return round


def deal_hidden_again(round: Round, seat: int, rng: random.Random) -> Round:
    """The same round with all tiles that `seat` cannot know about dealt again among racks and stock."""
    other = Round(seed=0)
    other.restore(round.save())
    fields = other.fields
    racks, known = fields["rack"][0], fields["known"][0]
    hidden: list[int] = []
    for opponent in range(4):
        if opponent != seat:
            for kind in range(NUM_KINDS):
                hidden += [kind] * int(racks[opponent, kind] - known[opponent, kind])
    left = int(fields["stock_left"][0])
    stock = fields["stock"][0]
    hidden += stock[48 - left :].tolist()
    rng.shuffle(hidden)
    for opponent in range(4):
        if opponent == seat:
            continue
        for kind in range(NUM_KINDS):
            for _ in range(int(racks[opponent, kind] - known[opponent, kind])):
                _remove(other, opponent, kind)
        while int(racks[opponent].sum()) < int(round.fields["rack"][0, opponent].sum()):
            _add(other, opponent, hidden.pop())
    stock[48 - left :] = hidden
    # what the others drew is hidden too: the log notes it, and must not tell
    log = fields["log"][0]
    for place in range(int(fields["num_events"][0])):
        entry = int(log[place])
        if entry // 256 == EVENT_DRAW and entry // 64 % 4 != seat:
            log[place] = (entry & ~63) | rng.randrange(NUM_KINDS)
    if round.phase == "throw" and round.turn != seat:
        fields["finish_melds"][0] = np.uint64(rng.getrandbits(52))
        fields["finish_pairs"][0] = np.uint64(rng.getrandbits(52))
    return other


def _bit(kind: int) -> np.uint64:
    return np.uint64(1) << np.uint64(4 * (kind % 13) + kind // 13)


def _remove(round: Round, seat: int, kind: int) -> None:
    fields = round.fields
    fields["rack"][0, seat, kind] -= 1
    if kind != WILD:
        held = "twice" if fields["twice"][0, seat] & _bit(kind) else "once"
        fields[held][0, seat] ^= _bit(kind)


def _add(round: Round, seat: int, kind: int) -> None:
    fields = round.fields
    fields["rack"][0, seat, kind] += 1
    if kind != WILD:
        fields["twice"][0, seat] |= fields["once"][0, seat] & _bit(kind)
        fields["once"][0, seat] |= _bit(kind)


@pytest.mark.parametrize("rules", ["gamelake", {"preset": "klasik", "throw_visibility": "top_only"}])
@pytest.mark.parametrize("seed", range(30))
def test_hidden_tiles_do_not_show_in_a_single_bit(seed: int, rules: str | dict[str, object]) -> None:
    rng = random.Random(seed)
    round = played(seed, rng.randrange(120), rules)
    for seat in range(4):
        mine = round.observe(seat)
        for _ in range(3):
            theirs = deal_hidden_again(round, seat, rng).observe(seat)
            assert theirs.to_bytes() == mine.to_bytes()
            assert theirs.events == mine.events
            assert str(theirs) == str(mine)
            assert (theirs.action_mask == mine.action_mask).all()
            for encoder in ENCODERS.values():
                assert encoder.encode(theirs).tobytes() == encoder.encode(mine).tobytes()


def test_dealing_again_does_change_what_is_hidden() -> None:
    """The test above could not fail if the tiles were not really dealt again."""
    round = played(1, 30)
    other = deal_hidden_again(round, 0, random.Random(1))
    assert (other.racks[1:] != round.racks[1:]).any()
    assert (other.racks[0] == round.racks[0]).all()
    assert other.observe(1).to_bytes() != round.observe(1).to_bytes()


@pytest.mark.parametrize("seed", range(20))
def test_all_tiles_are_accounted_for(seed: int) -> None:
    """Own rack, heaps, known tiles of the others and unseen tiles are together all tiles of the round."""
    round = played(seed, 20 + seed * 5)
    for seat in range(4):
        seen = round.observe(seat)
        known = seen.known[1:].sum(axis=0)
        total = seen.rack + seen.heaps.sum(axis=0) + known + seen.unseen
        assert (total == total_counts(seen.indicator)).all()
        hidden_places = 14 * 3 + (round.phase == "throw" and round.turn != seat) + seen.stock_left - int(known.sum())
        if not round.over:
            assert int(seen.unseen.sum()) == hidden_places


@pytest.mark.parametrize("seed", range(10))
def test_seats_are_counted_from_the_observer(seed: int) -> None:
    round = played(seed, 40)
    for seat in range(4):
        seen = round.observe(seat)
        assert (seen.turn + seat) % 4 == round.turn
        assert (seen.rack == round.racks[seat]).all()
        for step in range(4):
            assert (seen.heaps[step] == round.heaps[(seat + step) % 4]).all()


@pytest.mark.parametrize("seed", range(10))
def test_events_replay_the_open_part_of_the_round(seed: int) -> None:
    """Heaps, takes and tops follow from the events alone: perfect recall."""
    round = played(seed, 60)
    seen = round.observe(2)
    heaps: list[list[int]] = [[], [], [], []]
    taken = np.zeros((4, NUM_KINDS), bool)
    for event in seen.events:
        if event.event == "throw" and event.kind is not None:
            heaps[event.seat].append(event.kind)
        elif event.event == "take" and event.kind is not None:
            assert heaps[(event.seat - 1) % 4].pop() == event.kind
            taken[event.seat, event.kind] = True
        elif event.event == "draw":
            assert (event.kind is not None) == (event.seat == 0)
    for step in range(4):
        assert np.bincount(heaps[step], minlength=NUM_KINDS).tolist() == seen.heaps[step].tolist()
        assert seen.last_throws[step] == (heaps[step][-1] if heaps[step] else None)
    assert (taken == seen.taken).all()


def test_top_only_shows_tops_and_nothing_else() -> None:
    full = played(3, 60)
    tops = played(3, 60, {"preset": "gamelake", "throw_visibility": "top_only"})
    assert (full.racks == tops.racks).all()
    seen = tops.observe(1)
    assert seen.events == []
    assert seen.last_throws == full.observe(1).last_throws
    assert seen.heaps.sum() == sum(top is not None for top in seen.last_throws)
    assert not seen.taken.any()
    assert seen.known.sum() <= 1  # at most a shown twin


def test_observation_is_read_only_and_survives_pickling() -> None:
    seen = played(5, 30).observe(0)
    with pytest.raises(ValueError, match="read-only"):
        seen.rack[0] = 1
    copied: Observation = pickle.loads(pickle.dumps(seen))
    assert copied == seen
    assert hash(copied) == hash(seen)
    assert rack_text(copied.rack, copied.okey) in str(seen)


def test_encoder_pieces_cover_the_array_and_say_what_they_say() -> None:
    flat = as_encoder("flat")
    round = played(8, 41)
    seen = round.observe(round.turn)
    pieces = flat.split(flat.encode(seen))
    assert sum(len(piece) for piece in pieces.values()) == flat.size
    assert (pieces["rack"] * 2 == seen.rack).all()
    assert (pieces["unseen"] * 2 == seen.unseen).all()
    assert (pieces["heap_left"] * 2 == seen.heaps[3]).all()
    assert (pieces["known_right"] * 2 == seen.known[1]).all()
    assert np.flatnonzero(pieces["indicator"]).tolist() == [seen.indicator]
    assert pieces["stock"][0] == np.float32(seen.stock_left / 48)
    assert np.flatnonzero(pieces["turn"]).tolist() == [0]
    assert np.abs(flat.encode(seen)).max() <= flat.high


@pytest.mark.parametrize("seed", range(12))
def test_exact_pieces_are_what_hand_analysis_says(seed: int) -> None:
    """The encoder asks the kernels; `hands` is the checked way to the same answers."""
    flat = as_encoder("flat")
    round = played(seed, 3 + 7 * seed)
    for seat in range(4):
        seen = round.observe(seat)
        pieces = flat.split(flat.encode(seen))
        found = hands.analyse(seen.rack)
        assert np.flatnonzero(pieces["melds_distance"]).tolist() == [min(7, int(found.distance))]
        assert np.flatnonzero(pieces["pairs_distance"]).tolist() == [min(7, int(found.pairs_distance))]
        if seen.rack.sum() == 14:
            assert (pieces["useful"][:WILD] == found.useful[:WILD]).all()
            assert pieces["useful"][WILD] == (found.distance > 0)  # whether or not one can still come
            assert pieces["most_useful"][0] == np.float32(min(1.0, float((seen.unseen * found.useful).sum()) / 40))
            if seen.my_turn and seen.offer is not None:
                assert pieces["offer_helps"][0] == found.useful[seen.offer]
        else:
            assert (pieces["keeps"] == found.keeps).all()
            helping = np.where(found.keeps, found.useful_after.astype(int) @ seen.unseen.astype(int), -1)
            expected = np.where(found.keeps, np.maximum(0, 1 - (helping.max() - helping) / 8), 0)
            assert pieces["useful_after"] == pytest.approx(expected)


def test_an_observation_says_rules_points_and_itself() -> None:
    full = "R1 R2 R3 R4 | B4 B5 B6 | K7 K8 K9 | Y10 Y11 Y12 Y13 | *"
    round = Round("klasik", seed=1, deal=Deal(indicator="Y4", racks=(full, None, None, None)))
    seen = round.observe(0)
    assert seen.rules == round.rules
    assert seen.finish_points[WILD] == 4  # R6.2
    assert seen.finish_points[0] == 2
    assert seen.finish_points[25] == 0  # B13 is not in the rack
    assert set(np.flatnonzero(seen.finish_points)) == set(np.flatnonzero(seen.finishes_by_melds))
    said = str(seen)
    assert "You are seat 0 under the rules klasik. You are to throw." in said
    assert "finish * (4 points)" in said
    other = str(round.observe(1))
    assert "The left neighbour is to throw." in other
    assert "You may" not in other
    assert not round.observe(1).finish_points.any()

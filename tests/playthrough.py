"""A whole round as readable text: what `tests/golden/*.txt` hold, so that a change of the rules shows as a diff.

`python -m tests.playthrough` writes the files again.
"""

import random
from pathlib import Path

from okey_env import Deal, Round, hands
from okey_env.actions import DRAW, FINISH, SHOW, TAKE, THROW, to_text
from okey_env.render import event_text
from okey_env.tiles import face_text, rack_text

GOLDEN = Path(__file__).parent / "golden"
ROUNDS = {"gamelake": 17, "klasik": 114}
"""For each preset the seed of its round: one in which tiles are taken and somebody finishes."""


def choose(round: Round, rng: random.Random) -> int:
    """A plain player that leans on no bot: finish, show, take what shortens the distance, keep the distance."""
    legal = round.legal_actions()
    finishes = [action for action in legal if action >= FINISH]
    if finishes:
        return finishes[-1]
    if SHOW in legal:
        return SHOW
    rack = round.racks[round.turn]
    if round.phase == "draw":
        if TAKE in legal and round.offer is not None and hands.useful_kinds(rack)[round.offer]:
            return TAKE
        return DRAW if DRAW in legal else TAKE
    distances = hands.throw_distances(rack)
    least = distances[distances >= 0].min()
    return THROW + int(rng.choice((distances == least).nonzero()[0].tolist()))


def playthrough(preset: str, seed: int, deal: Deal | None = None) -> str:
    """The round of a preset and a seed: the deal, then every decision with all legal actions, then the points."""
    round = Round(preset, seed=seed, deal=deal)
    rng = random.Random(seed)
    okey = round.okey
    lines = [f"rules {preset}, seed {seed}", f"indicator {face_text(round.indicator)}, okey {face_text(okey)}"]
    lines += [f"seat {seat}: {rack_text(rack, okey)}" for seat, rack in enumerate(round.racks)]
    while not round.over:
        seat = round.turn
        lines += ["", f"seat {seat} {round.phase}, stock {round.stock_left}: {rack_text(round.racks[seat], okey)}"]
        legal = round.legal_actions()
        lines.append("  legal: " + ", ".join(to_text(action, okey) for action in legal))
        round.apply(choose(round, rng))
        num_events = int(round.fields["num_events"][0])
        lines.append("  " + event_text(int(round.fields["log"][0, num_events - 1]), okey))
    lines += ["", f"{round.ending}: lost {list(round.lost)}, won {list(round.won)}"]
    return "\n".join(lines) + "\n"


if __name__ == "__main__":
    GOLDEN.mkdir(exist_ok=True)
    for preset, seed in ROUNDS.items():
        (GOLDEN / f"{preset}.txt").write_text(playthrough(preset, seed), encoding="utf-8")

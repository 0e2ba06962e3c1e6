"""`okey new-bot`: writes a file with a bot that plays, to start from."""

import argparse
from pathlib import Path

HELP = "write a commented file with a bot that plays, to start from"

TEMPLATE = '''\
"""A bot for okey. `okey evaluate {file} random --deals 100` measures it.

The page docs/write_a_bot.md explains everything that is used here.
"""

from okey_env import Observation, hands
from okey_env.actions import DRAW, FINISH, TAKE, THROW, is_finish, is_throw, tile_of


class {name}:
    """Throws the tile after which the rack is nearest to a finish."""

    def __init__(self, seed: int = 0) -> None:
        """Bots are made without arguments, so every argument needs a default value."""
        self.seed = seed

    def reset(self, seed: int) -> None:
        """Called before games begin. Draw everything that looks like chance from this seed. May be left out."""
        self.seed = seed

    def act(self, observation: Observation) -> int:
        """Choose one of `observation.legal_actions`. `print(observation)` says in words what the bot sees."""
        legal = observation.legal_actions
        run_13_1 = observation.rules.run_13_1

        # Finish with the tile that costs the others most, whenever it is possible.
        finishes = [action for action in legal if is_finish(action)]
        if finishes:
            return max(finishes, key=lambda action: observation.finish_points[action - FINISH])

        # A rack is a list of 53 counts, one for each kind of tile. The distance is the number of tiles that
        # still have to be exchanged: 0 means that 14 tiles are complete.
        throws = [action for action in legal if is_throw(action)]
        if throws:

            def distance_after(action: int) -> int:
                rack = observation.rack.copy()
                rack[tile_of(action)] -= 1
                return int(hands.melds_distance(rack, run_13_1=run_13_1))

            return min(throws, key=distance_after)  # the first of equals: here is room for better ideas

        # Take the left neighbour's throw if it brings the rack nearer to a finish; otherwise draw.
        if TAKE in legal and observation.offer is not None:
            rack = observation.rack.copy()
            before = hands.melds_distance(rack, run_13_1=run_13_1)
            rack[observation.offer] += 1
            if hands.melds_distance(rack, run_13_1=run_13_1) < before:
                return TAKE
        return DRAW if DRAW in legal else legal[0]
'''


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Declare the arguments of the verb."""
    parser.add_argument("file", type=Path, metavar="FILE.py", help="the file to write; it must not exist yet")


def run(arguments: argparse.Namespace) -> int:
    """Write the file, and say what can be done with it."""
    file: Path = arguments.file
    if file.suffix != ".py":
        raise ValueError(f"{str(file)!r} is not the name of a Python file: expected one that ends in .py")
    words = [word for word in "".join(c if c.isalnum() else " " for c in file.stem).split() if word]
    name = "".join(word[0].upper() + word[1:] for word in words)
    if not name.isidentifier():
        name = "MyBot"
    try:
        with file.open("x", encoding="utf-8") as out:
            out.write(TEMPLATE.replace("{file}", file.name).replace("{name}", name))
    except FileExistsError:
        raise ValueError(f"{str(file)!r} exists already: choose another name, or remove it first") from None
    print(f"{file} is a bot that plays. Measure it:  okey evaluate {file} random --deals 100")
    return 0

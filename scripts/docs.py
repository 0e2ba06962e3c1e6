"""Write the pages of docs/ that are made from the code: `.venv/bin/python scripts/docs.py`. A test compares them."""

import json
import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parent.parent))

from okey_agents.thinking import hidden_tiles, value
from okey_agents.thinking.scorer import context, features
from okey_env.encoders import ENCODERS
from okey_env.encoders.encoder import size_of, table_of
from okey_env.rule_sheet import markdown
from okey_env.tasks import REFERENCES, SCORES_FILE, TASKS

ROOT = Path(__file__).resolve().parent.parent


def encoders_page() -> str:
    """The layout of every encoder."""
    lines = [
        "# Encoders",
        "",
        "An encoder turns an observation into one float32 array of named pieces. Seats are counted from the observer:",
        "itself, right, opposite, left. Kinds are in the order of `okey_env.tiles`: red 1 to 13, blue, black, yellow,",
        "then the wild kind. [learning.md](learning.md) shows how to write one.",
        "",
        "`encoder.slices()` gives each piece with its slice of the array, `encoder.split(array)` the pieces by name:",
        "",
        "```python",
        "from okey_env import Round, as_encoder",
        "",
        'tiles = as_encoder("tiles")',
        'array = tiles.encode(Round("gamelake", seed=7).observe(0))',
        'print({piece.name: entries for piece, entries in tiles.slices()}["rack"], tiles.split(array)["rack"].sum())',
        "```",
        "",
        "The scorer and the value network read no encoder but features of their own: [features.md](features.md).",
        "",
        "This page is made by `scripts/docs.py`.",
    ]
    for encoder in ENCODERS.values():
        lines += ["", f"## `{encoder.name}`, version {encoder.version}: ({encoder.size},)", "", encoder.table()]
    return "\n".join(lines) + "\n"


FEATURES_HEAD = """# What the networks see

These networks read numbers that the kernels of `okey_agents.thinking` compute. (The `flat` networks read an encoder:
[encoders.md](encoders.md).) Each table is the layout of one array, in order. A tile *helps*, or is *useful*, if it
lowers the distance to a finish by melds. *Unseen* tiles are those that the mover cannot see: in the other racks and in
the stock.

This page is made by `scripts/docs.py`.
"""
CANDIDATE_TEXT = """`okey_agents.thinking.scorer.features`: one row for each candidate move. *The tile* is the tile
thrown or taken. The hand after the move has 14 tiles; after a take, the best throw follows first."""
CONTEXT_TEXT = "`okey_agents.thinking.scorer.context`: the same for all candidates of a decision."
VALUE_TEXT = """`okey_agents.thinking.value`: the network is privileged (an asymmetric critic), that is, it sees all
four racks. The tables of the parts follow."""
SEAT_TEXT = (
    "Once for each seat, from the one to move. With 15 tiles in the rack, what helps is counted after the best throw."
)
SPARE_JOKER_TEXT = """Once for each seat, from the one to move. All 0 for a seat without a false joker, and under rules
in which a finish on a false joker does not count as one on the okey (R6.3)."""
SETS_TEXT = """`okey_agents.thinking.hidden_tiles`: for each face, the network counts how many faces of each set are the
face itself, one number away, two numbers away, and of the same number in the other colours."""


def features_page() -> str:
    """What each network sees and tells, from the tables beside its kernels."""
    scorer, value_network, hidden = "The candidate scorer", "The value network", "The network of hidden tiles"
    sections = (
        (f"{scorer}, version {features.FEATURES_VERSION}: a candidate", CANDIDATE_TEXT, features.CANDIDATE),
        (f"{scorer}: the context", CONTEXT_TEXT, context.CONTEXT),
        (f"{value_network}: all parts", VALUE_TEXT, value.PARTS),
        (f"{value_network}: a seat, `SEAT`", SEAT_TEXT, value.SEAT),
        (f"{value_network}: the round and the seat to move, `ROUND`", "Once.", value.ROUND),
        (f"{value_network}: a false joker, `SPARE_JOKER`", SPARE_JOKER_TEXT, value.SPARE_JOKER),
        (f"{hidden}: sets of kinds", SETS_TEXT, hidden_tiles.SETS),
        (f"{hidden}: scalars", "The same for all faces.", hidden_tiles.SCALARS),
        (f"{hidden}: outputs", "For each face, the chances that:", hidden_tiles.CHANCES),
    )
    parts = [FEATURES_HEAD]
    for title, text, pieces in sections:
        parts.append(f"## {title}: ({size_of(pieces)},)\n\n{text}\n\n{table_of(pieces)}\n")
    return "\n".join(parts)


RULES_HEAD = """# The rules, numbered

Code, tests and messages cite these numbers. Two published rule pages are the sources: **G**, the French page of the
online game GameLake, and **K**, a Turkish site's *Okey Oyunu Kuralları*. The preset `gamelake` plays G, the preset
`klasik` plays K. *Said* means that the source states it; *chosen* means that the source is silent and common practice
decides. A switch names its values, and the value that each preset has; the other texts of a paragraph follow it.
`okey rules gamelake` prints the sheet of a preset, and `okey rules klasik --set stock_end=next_may_take` that of any
other setting.

Tiles in text: a colour letter (`R` red, `B` blue, `K` black, `Y` yellow or green) and a number 1 to 13, `F` a false
joker, `*` the okey of the round.

This page is made by `scripts/docs.py`.
"""

RULES_FOOT = """
Environments play single rounds, or matches with `episode="match"`: [matches.md](matches.md).

Not here: Okey 101, in which melds go on the table as soon as they total 101. That is another game.
"""


def rules_page() -> str:
    """Every paragraph of the rules, with all values of all switches."""
    return RULES_HEAD + markdown() + RULES_FOOT


TASKS_HEAD = """# Tasks

A task is an environment with an id and a score: the mean reward in an episode of the bot in the learning seat.
`okey benchmark` trains on tasks ([benchmark.md](benchmark.md)), and `okey_env.task(id)` gives one.

```python
import gymnasium
import okey_env

env = gymnasium.make("okey/Race-v0")
many = gymnasium.make_vec("okey/Round-v0", num_envs=64)
four_seats = okey_env.task("okey/SelfPlay-v0").self_play(num_games=64, seed=1)
print(okey_env.task("okey/Round-v0").normalised(1.0))  # 0 is `random`, 1 is `expert`
```

`okey/SelfPlay-v0` is an environment of PettingZoo, for four learning seats; the others are Gymnasium's, with one.
Under `soon` the winner is paid the share of the throws that are left, under `win` 1, under `zero_sum` points, under
`placement` 1 for a won match (`okey_env.rewards`).

This page is made by `scripts/docs.py`.
"""


def tasks_page() -> str:
    """The tasks, their keywords, and the scores of known bots."""
    names = list(REFERENCES)
    lines = [
        TASKS_HEAD,
        "## What is asked",
        "",
        "| id | task | reward | opponents | encoder |",
        "|---|---|---|---|---|",
    ]
    lines += [
        f"| `{task.id}` | {task.about} | `{task.reward}` | `{task.opponents}`{' for the score' * task.only_self_play} "
        f"| `{task.encoder}` |"
        for task in TASKS.values()
    ]
    lines += ["", "## Scores", "", "The mean reward in an episode, with 95 % intervals clustered by deal. `learned` is"]
    lines += [f"`{REFERENCES['learned']}`.", "", f"| id | {' | '.join(f'`{name}`' for name in names)} |"]
    lines.append("|---" * (len(names) + 1) + "|")
    for task in TASKS.values():
        scores = [f"{task.scores[name].mean:+.3f} ± {task.scores[name].margin:.3f}" for name in names]
        lines.append(f"| `{task.id}` | {' | '.join(scores)} |".replace("-0", "−0").replace("| -", "| −"))
    made = json.loads(SCORES_FILE.read_text(encoding="utf-8"))["made"]
    facts = {f"{one['date'][:10]}, commit {one['commit'][:8]}, `{one['command']}`." for one in made.values()}
    return "\n".join([*lines, "", *sorted(facts)]) + "\n"


PAGES = {"encoders.md": encoders_page, "features.md": features_page, "rules.md": rules_page, "tasks.md": tasks_page}
"""The pages by file name."""


def main() -> None:
    """Write them all."""
    for name, page in PAGES.items():
        (ROOT / "docs" / name).write_text(page(), encoding="utf-8")


if __name__ == "__main__":
    main()

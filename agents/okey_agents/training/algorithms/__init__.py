"""The algorithms of the benchmark: each learns a task from nothing but its seed, within a budget.

An algorithm is a function `train(task, budget, seed, **options) -> bot`. All of them have the same networks, encoders,
budget and evaluation. They share two modules: `seats` (what the learning seats see, do and get) and `memory`.
`docs/algorithms.md` describes each of them.

Arguments of all of them:

| | |
|---|---|
| `task` | gives the games (`okey_env.tasks`) |
| `budget` | says how long (`okey_agents.training.budget`) |
| `seed` | determines everything |
| `network` | a name of `okey_agents.training.networks.NETWORKS` |
| `encoder`, `reward` | others than the task's, to learn from; None: the task's |
| `games`, `steps` | games side by side, and decisions of each of them in one iteration |
| `learning_rate` | the step size at the beginning; it falls to 0 |
| `minibatch`, `epochs` | decisions in one step of the optimiser, and passes over what was played |
| `gamma` | discount from one decision of a seat to its next |

`budget.goes_on(decisions, make_bot)` is asked before each iteration, which takes two seconds at most. `decisions`
counts the decisions of the learning seats that were collected so far. `make_bot` gives the bot of the present network.
"""

import importlib
from collections.abc import Callable
from typing import Any

_HERE = "okey_agents.training.algorithms"

ALGORITHMS: dict[str, str] = {
    name: f"{_HERE}.{name}:train"
    for name in ("behaviour_cloning", "dagger", "dqn", "maskable_ppo", "mmd", "monte_carlo", "nfsp", "ppo", "qr_dqn")
}
"""The algorithms by name: `module:function`. The module, and torch with it, is imported by `algorithm`."""


def algorithm(name: str) -> Callable[..., Any]:
    """The function `train(task, budget, seed, **options) -> bot` of an algorithm.

    Raises:
        ValueError: there is no algorithm of that name.
    """
    if name not in ALGORITHMS:
        raise ValueError(f"algorithm={name!r} is not an algorithm: expected {', '.join(map(repr, ALGORITHMS))}")
    module, _, function = ALGORITHMS[name].partition(":")
    train: Callable[..., Any] = getattr(importlib.import_module(module), function)
    return train

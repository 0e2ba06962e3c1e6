"""Okey, the tile game of Turkish cafés, as a learning environment: four seats, hidden racks, a wild tile a round.

>>> import okey_env
>>> env = okey_env.env(rules="gamelake")
>>> env.reset(seed=42)
>>> observation, reward, termination, truncation, info = env.last()
>>> observation["action_mask"].shape
(109,)

Importing this package registers the tasks of `okey_env.tasks`, such as `okey/Round-v0`, with Gymnasium, and
`okey/round-v0`, `okey/match-v0` and `okey/SelfPlay-v0` with PettingZoo.
"""

import importlib
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from okey_env import actions, events, hands, rewards, tiles
    from okey_env.aec import env, raw_env
    from okey_env.bots import Bot, bot_names, make_bot
    from okey_env.deal import Deal
    from okey_env.encoders import Encoder, as_encoder
    from okey_env.match import Match
    from okey_env.observation import Observation, masks_of
    from okey_env.policy_bot import PolicyBot
    from okey_env.record import Record, RecordWriter
    from okey_env.resample import worlds
    from okey_env.round import Round, derive_seed
    from okey_env.rules import Rules
    from okey_env.single import OkeyEnv
    from okey_env.tasks import TASKS, Task, task
    from okey_env.vector import OkeyVectorEnv, SelfPlay

__version__ = "0.1.0"

# Each public name with its module. A module is imported when a name of it is first used, so that code without kernels
# does not wait for numba.
_MODULE_OF = {
    "Bot": "bots",
    "Deal": "deal",
    "Encoder": "encoders",
    "Match": "match",
    "Observation": "observation",
    "masks_of": "observation",
    "OkeyEnv": "single",
    "OkeyVectorEnv": "vector",
    "PolicyBot": "policy_bot",
    "Record": "record",
    "RecordWriter": "record",
    "Round": "round",
    "Rules": "rules",
    "SelfPlay": "vector",
    "TASKS": "tasks",
    "Task": "tasks",
    "task": "tasks",
    "as_encoder": "encoders",
    "bot_names": "bots",
    "derive_seed": "round",
    "env": "aec",
    "make_bot": "bots",
    "raw_env": "aec",
    "worlds": "resample",
}
_MODULES = ("actions", "events", "hands", "rewards", "tiles")

__all__ = [
    "TASKS",
    "Bot",
    "Deal",
    "Encoder",
    "Match",
    "Observation",
    "OkeyEnv",
    "OkeyVectorEnv",
    "PolicyBot",
    "Record",
    "RecordWriter",
    "Round",
    "Rules",
    "SelfPlay",
    "Task",
    "actions",
    "as_encoder",
    "bot_names",
    "derive_seed",
    "env",
    "events",
    "hands",
    "make_bot",
    "masks_of",
    "raw_env",
    "rewards",
    "task",
    "tiles",
    "worlds",
]


def __getattr__(name: str) -> Any:
    """Import a public name when it is first used."""
    if name in _MODULES:
        return importlib.import_module(f"okey_env.{name}")
    if name not in _MODULE_OF:
        raise AttributeError(f"module 'okey_env' has no attribute {name!r}")
    value = getattr(importlib.import_module(f"okey_env.{_MODULE_OF[name]}"), name)
    globals()[name] = value
    return value


def __dir__() -> list[str]:
    return sorted(__all__)


def _register() -> None:
    import gymnasium
    import pettingzoo

    from okey_env.tasks import TASKS

    for episode in ("round", "match"):
        pettingzoo.register("aec", f"okey/{episode}-v0", entry_point="okey_env.aec:env", kwargs={"episode": episode})
    for task in TASKS.values():
        if task.only_self_play:
            pettingzoo.register("aec", task.id, entry_point="okey_env.aec:env", kwargs=task.game)
        else:
            gymnasium.register(
                task.id,
                entry_point="okey_env.single:OkeyEnv",
                vector_entry_point="okey_env.vector:OkeyVectorEnv",
                kwargs=task.environment,
            )


_register()

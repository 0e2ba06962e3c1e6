"""Agents that ship: bot folders made by `okey export`, each with a card that says how it was made and what it is worth.

They are known by name like the rule-based bots, and play on numpy and numba alone. `make reproduce` trains them again.
"""

from pathlib import Path

from okey_agents.bots.folder import load_bot
from okey_agents.bots.scorer import ScorerBot
from okey_env.bots import Bot

_HERE = Path(__file__).parent


def learned_gamelake() -> Bot:
    """The candidate scorer trained for the preset `gamelake`."""
    return shipped_scorer("gamelake")


def learned_klasik() -> Bot:
    """The candidate scorer trained for the preset `klasik`."""
    return shipped_scorer("klasik")


def flat_gamelake() -> Bot:
    """The flat policy over all actions, trained for the preset `gamelake` by imitation."""
    return load_bot(_HERE / "flat-gamelake")


def flat_klasik() -> Bot:
    """The flat policy over all actions, trained for the preset `klasik` by imitation."""
    return load_bot(_HERE / "flat-klasik")


def shipped_scorer(preset: str) -> ScorerBot:
    """The candidate scorer trained for a preset."""
    bot = load_bot(_HERE / f"learned-{preset}")
    assert isinstance(bot, ScorerBot)
    return bot

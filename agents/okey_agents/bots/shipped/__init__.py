"""The trained bots that ship: bot folders made by `okey export`.

The README.md in each folder says how the bot was trained and how strong it is. The bots have names like the rule-based
bots, and play with numpy and numba alone. `make reproduce` trains them again.
"""

from pathlib import Path

from okey_agents.bots.folder import load_bot
from okey_agents.bots.scorer import ScorerBot
from okey_env.bots import Bot

_HERE = Path(__file__).parent


def learned_gamelake() -> Bot:
    """A neural network that chooses among the best moves of `expert`; trained under `gamelake`; above `expert`."""
    return shipped_scorer("gamelake")


def learned_klasik() -> Bot:
    """A neural network that chooses among the best moves of `expert`; trained under `klasik`; above `expert`."""
    return shipped_scorer("klasik")


def flat_gamelake() -> Bot:
    """A neural network that imitates `expert`; trained under `gamelake`; between `efficient` and `expert`."""
    return load_bot(_HERE / "flat-gamelake")


def flat_klasik() -> Bot:
    """A neural network that imitates `expert`; trained under `klasik`; between `efficient` and `expert`."""
    return load_bot(_HERE / "flat-klasik")


def zero_gamelake() -> Bot:
    """A neural network that learned from its own games alone; trained under `gamelake`; near `expert`."""
    return load_bot(_HERE / "zero-gamelake")


def zero_klasik() -> Bot:
    """A neural network that learned from its own games alone; trained under `klasik`; near `expert`."""
    return load_bot(_HERE / "zero-klasik")


def shipped_scorer(preset: str) -> ScorerBot:
    """The candidate scorer that was trained under a preset."""
    bot = load_bot(_HERE / f"learned-{preset}")
    assert isinstance(bot, ScorerBot)
    return bot

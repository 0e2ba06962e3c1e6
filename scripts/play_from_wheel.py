"""What `scripts/build.sh` runs inside the wheel's own environment: both packages come from there, and play."""

import sys
from importlib import metadata
from pathlib import Path
from typing import Any

import agents
import okey_env


def main() -> None:
    """Check where the packages come from, load the bots by their entry points, play one round."""
    home = Path(sys.argv[1]).resolve()
    for package in (okey_env, agents):
        if not Path(str(package.__file__)).resolve().is_relative_to(home):
            sys.exit(f"{package.__name__} comes from {package.__file__}, not from the wheel")
        if not (Path(str(package.__file__)).parent / "py.typed").is_file():
            sys.exit(f"{package.__name__} has no py.typed in the wheel")
    for name in ("okey_env", "agents"):
        owners = metadata.packages_distributions()[name]
        if set(owners) != {"okey-env"}:
            sys.exit(f"the name {name} belongs to {owners}, not to okey-env alone")
    bots = [bot.load().__name__ for bot in metadata.entry_points(group="okey_env.bots")]

    env: Any = okey_env.env(rules="klasik")
    env.reset(seed=1)
    decisions = 0
    for seat in env.agent_iter():
        observation, _, terminated, truncated, _ = env.last()
        if terminated or truncated:
            env.step(None)
        else:
            env.step(env.action_space(seat).sample(observation["action_mask"]))
            decisions += 1
    print(f"okey-env {metadata.version('okey-env')} from the wheel: a round of {decisions} decisions; bots {bots}")


if __name__ == "__main__":
    main()

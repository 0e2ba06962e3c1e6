"""What `scripts/build.sh` runs in the environment of the wheel: packages come from there, play, and serve the page."""

import re
import subprocess
import sys
import tempfile
import urllib.request
from importlib import metadata
from pathlib import Path
from typing import Any

import okey_agents
import okey_env


def main() -> None:
    """Check where the packages come from, load the bots by their entry points, play one round."""
    home = Path(sys.argv[1]).resolve()
    for package in (okey_env, okey_agents):
        if not Path(str(package.__file__)).resolve().is_relative_to(home):
            sys.exit(f"{package.__name__} comes from {package.__file__}, not from the wheel")
        if not (Path(str(package.__file__)).parent / "py.typed").is_file():
            sys.exit(f"{package.__name__} has no py.typed in the wheel")
    for name in ("okey_env", "okey_agents"):
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


def open_the_table(okey: Path) -> None:
    """Start `okey play`, and fetch its page and all that the page names."""
    with tempfile.TemporaryDirectory() as data:
        command = [str(okey), "play", "--no-browser", "--port", "0", "--data", data]
        with subprocess.Popen(command, stdout=subprocess.PIPE, text=True) as table:
            try:
                said = table.stdout.readline() if table.stdout else ""
                found = re.search(r"http://127.0.0.1:\d+/", said)
                if found is None:
                    sys.exit(f"okey play does not say where its page is: {said!r}")
                page = fetch(found[0])
                named = set(re.findall(r'(?:src|href)="/?([\w./-]+)"', page.decode()))
                size = len(page) + sum(len(fetch(found[0] + name)) for name in named)
            finally:
                table.terminate()
    print(f"the table's page from the wheel, with {len(named)} files that it names: {size:,} bytes")


def fetch(address: str) -> bytes:
    """What lies at an address of this machine; an error status ends the program."""
    with urllib.request.urlopen(address, timeout=60) as answer:
        body: bytes = answer.read()
    return body


if __name__ == "__main__":
    main()
    open_the_table(Path(sys.executable).with_name("okey"))

"""Train an agent: the same as `okey train`."""

import sys

from okey_agents.cli import main

if __name__ == "__main__":
    main(["train", *sys.argv[1:]])

"""Export a trained agent as a bot: the same as `okey export`."""

import sys

from okey_agents.cli import main

if __name__ == "__main__":
    main(["export", *sys.argv[1:]])

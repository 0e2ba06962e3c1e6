"""Measure a bot against others: the same as `okey evaluate`."""

import sys

from okey_agents.cli import main

if __name__ == "__main__":
    main(["evaluate", *sys.argv[1:]])

"""Measure the speed of everything: the same as `okey bench`."""

import sys

from okey_agents.cli import main

if __name__ == "__main__":
    main(["bench", *sys.argv[1:]])

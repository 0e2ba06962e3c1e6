"""Train an agent: the same as `okey train`."""

import sys

from agents.cli import main

if __name__ == "__main__":
    main(["train", *sys.argv[1:]])

"""Bots that learn: configuration, training, checkpoints, export, and playing from an exported folder.

Only `sb3_env`, `policy`, `clone`, `train` and `export` know torch. `load_bot` of `learned_bot` plays without it.
"""

"""The engine: plain functions on game records, compiled by numba. No objects, no input or output, no checks.

`state` says what a game is; `deal`, `turn` and `scoring` are the rules; `hand` is the exact solver; `observe` cuts
out what a seat may know; `batch` and `parallel` are the doors through which everything else comes in.
"""

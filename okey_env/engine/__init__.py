"""The engine: plain functions on game records, compiled by numba. No objects, no input or output, no checks.

`state` has the records of a game and of an observation; `deal`, `turn`, `scoring` and `match` are the rules; `hand` is
the exact solver; `observe` extracts what a seat may know. All other code calls the engine through `batch` and
`parallel`.
"""

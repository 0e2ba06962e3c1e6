"""Measure bots against each other: the same deals in every seat, and an interval on every number."""

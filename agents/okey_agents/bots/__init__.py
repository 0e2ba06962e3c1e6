"""Whoever takes a seat: the rule-based bots, search, and the bots that were trained."""

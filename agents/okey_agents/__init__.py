"""Agents for Okey: how they think, the bots that play, and what measures, teaches and seats them."""

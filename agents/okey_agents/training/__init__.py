"""How bots learn: recipes and their configurations, runs with checkpoints, and the export to a bot folder.

This is the only room that may import torch; the exported bot plays without it (`okey_agents.bots`).
"""

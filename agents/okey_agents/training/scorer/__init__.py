"""Training of the candidate scorer: branching and self-play PPO."""

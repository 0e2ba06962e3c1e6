"""Self-play PPO from random weights, with a critic that sees all seats."""

"""Policies that score all 109 actions from an encoder's array: imitation, PPO, Deep Monte Carlo."""

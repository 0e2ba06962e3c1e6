"""Policies over all 109 actions that read an encoder's array: imitation, MaskablePPO, Deep Monte Carlo."""

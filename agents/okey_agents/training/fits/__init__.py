"""Fits of what the thinking stands on: the value network, the hidden-tile network, the rules' weights."""

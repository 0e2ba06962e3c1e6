"""Fits of what the room `thinking` reads: the value network, the hidden-tile network, the weights of the rules."""

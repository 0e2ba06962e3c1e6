"""What a player works out from what it sees: kernels, without bots and without torch."""

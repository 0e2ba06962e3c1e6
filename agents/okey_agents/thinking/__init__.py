"""What a player computes from what it sees: ratings, odds, worlds, values. Kernels, without bots and without torch."""

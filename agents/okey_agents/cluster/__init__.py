"""Evaluations on more machines, with Ray: chunks of deals go to workers that may die at any time."""

"""The coach: advice on a move, and the review of a record."""

"""Advice at the table, and the review of a played game."""

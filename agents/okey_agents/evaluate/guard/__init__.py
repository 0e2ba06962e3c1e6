"""Protects an evaluation from bots that raise, reply illegally, stall, or end their process."""

"""Bots in other languages: programs that speak JSON lines on stdin and stdout. `docs/protocol.md` has every message."""

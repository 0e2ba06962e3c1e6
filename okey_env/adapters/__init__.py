"""Okey in the terms of other frameworks. Nothing here is imported by the rest of the package; see `docs/interop.md`."""

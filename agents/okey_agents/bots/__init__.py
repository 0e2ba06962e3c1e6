"""The bots that can take a seat: rules, search, and trained networks."""

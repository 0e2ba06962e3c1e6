"""What stands between the arena and a bot that misbehaves."""

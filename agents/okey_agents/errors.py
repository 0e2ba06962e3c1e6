"""What is raised or warned of when a bot fails while it is measured."""


class BotFailureError(RuntimeError):
    """A bot failed at every one of its moves, so there is nothing to measure."""


class BotWarning(UserWarning):
    """A bot failed at some of its moves, so the numbers say less about it than they seem to."""

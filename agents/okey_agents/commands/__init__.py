"""The verbs of `okey`, one file each; `cli` finds them here by their file's name.

A verb is a module with `HELP` (a line for the list of verbs), `add_arguments(parser)` and `run(arguments) -> int`: the
exit status. It imports what it works with inside `run`, so that asking for help, or for another verb, waits for none of
it. A `ValueError` or an `OSError` becomes one sentence on stderr and exit status 1.
"""

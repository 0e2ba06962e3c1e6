"""The verbs of `okey`, one file each; `cli` finds a verb by the name of its file.

A verb is a module with `HELP` (its line in the list of verbs), `add_arguments(parser)` and `run(arguments)`, which
returns the exit status. A verb imports what it needs inside `run`, so that help and other verbs start quickly. A
`ValueError` or an `OSError` becomes one sentence on stderr and exit status 1.
"""

"""Agents for Okey: bots that play, the evaluation that measures them, and the learner.

`okey_env` finds the bots here by their entry points. As `agents` is a name that other distributions install too,
`okey_env.bots` looks for the marker below and says so when it has found another package of that name.
"""

__okey_env__ = True

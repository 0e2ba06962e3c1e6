"""The candidate scorer: one small network that gives every candidate of a decision a score by the same weights.

`features` says what it sees, `network` runs it, `bot` plays it. All compiled, without torch.
"""

"""The candidate scorer: one small network that scores each candidate of a decision, all with the same weights.

`context` and `features` are its inputs, `network` runs it, and `choose` plays by it. All is compiled, without torch.
"""

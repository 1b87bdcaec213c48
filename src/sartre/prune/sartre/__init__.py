"""SARTRE-pruning, the default: how one edge is decided, from top to bottom.

`estimator` is the door. `paper` has the published method; `select` the automatic one: `screen` for a short list,
`backward` elimination by tests, `pairs` that act together, `robust` tests where a residual calls for them, and `large`
tables from sums over their rows.
"""

from sartre.prune.sartre.estimator import SARTRE

__all__ = ["SARTRE"]

"""When the residual of a target calls for robust tests: heavy tails, shown or hidden, and unequal variances."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from sartre.additive.lasso import gradient_norms
from sartre.additive.significance import leverages
from sartre.prune.sartre.constants import HEAVY_TAILS, UNEQUAL_VARIANCE

if TYPE_CHECKING:
    from sartre.additive.design import Design
    from sartre.additive.smoothing import Solved
    from sartre.prune.sartre.rows import RowModel


def is_unsettled(model: RowModel, solved: Solved | None, candidates: NDArray[np.intp]) -> bool:
    """Return whether what a fit (None: of no term) leaves of the target calls for robust tests."""
    residual = model.residual(solved)
    if has_heavy_tails(residual) or hides_heavy_tails(model, solved):
        return True
    level = UNEQUAL_VARIANCE / len(model.shared.smooths.rank)
    return bool((followed_by(residual, model.shared.smooths, candidates) > model.null_norms(level)[candidates]).any())


def has_heavy_tails(values: NDArray[np.float64]) -> bool:
    """Return whether the excess kurtosis is more than 1.5."""
    squares = (values - values.mean()) ** 2
    return bool(np.mean(squares * squares) > (3 + HEAVY_TAILS) * squares.mean() ** 2)


def followed_by(residual: NDArray[np.float64], smooths: Design, candidates: NDArray[np.intp]) -> NDArray[np.float64]:
    """Return how closely the size of a residual (n,) follows each candidate: gradient norms, in standard units."""
    size = np.abs(residual - residual.mean())
    spread = max(float(size.std()), np.finfo(float).tiny)
    return gradient_norms(smooths, size, candidates) * np.sqrt(len(size)) / spread


def hides_heavy_tails(model: RowModel, solved: Solved | None) -> bool:
    """Return whether the target's tails are heavy and the model follows its outliers instead of leaving them.

    Each residual is what the model without that sample would leave: over one minus the leverage.
    """
    if solved is None or not has_heavy_tails(model.y):
        return False
    functions = model.functions(solved)
    free = np.maximum(1 - leverages(functions @ solved.inverse, functions), np.finfo(float).eps)
    return has_heavy_tails(model.residual(solved) / free)

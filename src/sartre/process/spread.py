"""Noise whose variance follows the candidates of a target."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray
from scipy.special import chdtrc
from scipy.stats import rankdata

from sartre.process.constants import FOLLOWS, LEAST_SPREAD


def row_variances(residual: NDArray[np.float64], columns: NDArray[np.float64]) -> NDArray[np.float64] | None:
    """Return the variance of the noise at every row (n,), or None if it follows no column.

    The size of the residual is regressed on two polynomials of each column's ranks; of the columns, those stay that it
    follows (p < 1e-4).

    Parameters
    ----------
    residual : array of shape (n,)
    columns : array of shape (n, p)

    Returns
    -------
    array of shape (n,) or None
        With a geometric mean of one.

    Examples
    --------
    >>> rng = np.random.default_rng(0)
    >>> x = rng.normal(size=(500, 2))
    >>> noise = rng.normal(size=500)
    >>> row_variances(noise, x) is None, row_variances(noise * np.exp(x[:, 0]), x) is None
    (True, False)
    """
    size = np.abs(residual)
    functions = [np.ones(len(size))]
    for column in columns.T:
        rank = 2 * (rankdata(column) - 0.5) / len(column) - 1
        functions += [rank, 1.5 * rank**2 - 0.5]
    table = np.column_stack(functions)
    inverse = np.linalg.pinv(table.T @ table)
    beta = inverse @ (table.T @ size)
    variance = max(float(np.mean((size - table @ beta) ** 2)), np.finfo(float).tiny)
    kept = [0]
    for first in range(1, table.shape[1], 2):
        own = slice(first, first + 2)
        statistic = float(beta[own] @ np.linalg.pinv(inverse[own, own]) @ beta[own]) / variance
        if chdtrc(2, statistic) < FOLLOWS:
            kept += [first, first + 1]
    if len(kept) == 1:
        return None
    fitted = table[:, kept] @ np.linalg.lstsq(table[:, kept], size, rcond=None)[0]
    squares = np.maximum(fitted, LEAST_SPREAD * float(size.mean())) ** 2
    return squares / np.exp(np.mean(np.log(squares)))

"""Rows that depend on their neighbours: time series, and groups of rows that stand together."""

from __future__ import annotations

import warnings
from functools import lru_cache
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray
from scipy.special import ndtr

from sartre.data.table import SAMPLE_ROWS, normal_scores
from sartre.settings import listed

if TYPE_CHECKING:
    from sartre.data.table import Table

LEAST_CORRELATION = 0.1  # of neighbouring rows that is reported
CORRELATION_LEVEL = 0.001  # of the tests of all columns together
TREND_ROWS, MOST_TRENDS = 10, 20  # rows per cosine of the trend that is taken off, and the number of cosines at most
FEWEST_ROWS = 20  # that the correlation of neighbours needs


def neighbour_correlation(column: NDArray[np.float64]) -> float:
    """Return the correlation of the normal scores of neighbouring values, once a smooth trend over the rows is removed.

    In rows that were sorted by some column, the others follow such a trend and no more: sorting a table does no harm.

    Parameters
    ----------
    column : array of shape (n,)
        NaN where missing. The result is NaN for fewer than 20 values, a constant, or a column the rows are sorted by.

    Examples
    --------
    >>> noise = np.random.default_rng(0).normal(size=500)
    >>> walk = np.cumsum(noise)
    >>> [abs(round(neighbour_correlation(each), 1)) for each in (noise, walk, walk**2)]
    [0.1, 0.8, 0.7]
    """
    observed = ~np.isnan(column)
    scores = normal_scores(column[observed][:, None])[:, 0]
    n = len(scores)
    steps = np.diff(scores)
    if n < FEWEST_ROWS or (steps >= 0).all() or (steps <= 0).all():
        return float("nan")
    trend = _cosines(n)
    residual = scores - trend @ (trend.T @ scores)
    return float((residual[1:] * residual[:-1]).sum() / (residual**2).sum())


@lru_cache(maxsize=1)
def _cosines(n: int) -> NDArray[np.float64]:
    """Return slow cosines over n rows, orthonormal, shape (n, k)."""
    place = (np.arange(n) + 0.5) / n
    cosines = np.cos(np.pi * np.outer(place, np.arange(min(MOST_TRENDS, n // TREND_ROWS))))
    return cosines / np.sqrt((cosines**2).sum(axis=0))


def dependent_columns(correlation: NDArray[np.float64], n: NDArray[np.intp] | int) -> NDArray[np.bool_]:
    """Return which correlations of neighbouring rows are too large to be chance, of columns with n values each."""
    size = np.abs(np.nan_to_num(correlation))
    p_value = 2 * ndtr(-size * np.sqrt(n))
    return (size > LEAST_CORRELATION) & (p_value < CORRELATION_LEVEL / max(1, len(size)))


def dependence_between_rows(table: Table) -> str | None:
    """Return a warning if the rows of a table depend on their neighbours, or None.

    It takes two columns: where only one depends on its neighbours, the tests hold. Of many rows the first are examined.
    """
    table = table.take(np.arange(SAMPLE_ROWS)) if table.shape[0] > SAMPLE_ROWS else table
    numbers = [j for j in range(table.shape[1]) if j not in table.nominal]
    correlation = np.array([neighbour_correlation(table.values[:, j]) for j in numbers])
    dependent = dependent_columns(correlation, (~table.missing[:, numbers]).sum(axis=0))
    if dependent.sum() < 2:
        return None
    names = listed(table.names[numbers[k]] for k in np.flatnonzero(dependent))
    return (
        f"Neighbouring rows are correlated in {names} (up to {np.abs(correlation[dependent]).max():.2f}), as in a time "
        "series or in groups of rows. The tests treat rows as independent, so the p-values are far too small and false "
        "edges are not bounded. Take differences, keep one row per group, or keep rows that are far apart."
    )


def warn_about_dependent_rows(table: Table, stacklevel: int) -> None:
    """Warn if the rows of a table depend on their neighbours."""
    message = dependence_between_rows(table)
    if message is not None:
        warnings.warn(message, UserWarning, stacklevel=stacklevel + 1)

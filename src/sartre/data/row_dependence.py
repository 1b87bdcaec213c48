"""Rows that depend on their neighbours: time series, trends, and groups of rows that stand together.

The normal scores of neighbouring rows are correlated then. They are too where rows were sorted by a column, which does
no harm: so the columns that rows are sorted by are recognised first, and what depends on them is taken off. So is what
differs between the environments of the rows, if these are known; where rows are known to belong together, the tests
allow for it, and nothing is reported.
"""

from __future__ import annotations

import warnings
from functools import lru_cache
from typing import TYPE_CHECKING, NamedTuple

import numpy as np
from numpy.typing import NDArray
from scipy.special import ndtr

from sartre.data.table import SAMPLE_ROWS, normal_scores
from sartre.settings import listed

REMEDY = (
    "Say what you know about the rows: groups= for those that belong together, environment= for experiments, sites or "
    "periods (--groups and --environment on the command line). Take differences, keep one row per group, or keep rows "
    "that are far apart if you do not know it"
)

if TYPE_CHECKING:
    from sartre.data.table import Table

LEAST_CORRELATION = 0.1  # of neighbouring rows that is reported
CORRELATION_LEVEL = 0.001  # of the tests of all columns together
TREND_ROWS, MOST_TRENDS = 10, 20  # rows per cosine of the trend that is taken off, and the number of cosines at most
ROWS_PER_GROUP = 5  # with so many rows per group on average, group means are taken off instead
FEWEST_ROWS = 20  # that the correlation of neighbours needs


class RowSorting(NamedTuple):
    """By which columns rows are sorted, the first key first, and which neighbours agree in all of them.

    keys: positions of columns, none if the rows are not sorted. groups (n,): 0, 1, ... from the first row on; a new one
    begins where the environment changes, too.
    """

    keys: tuple[int, ...]
    groups: NDArray[np.intp]

    def take(self, rows: NDArray[np.intp]) -> RowSorting:
        """Return the sorting of some rows, in their order."""
        groups = self.groups[rows]
        return RowSorting(self.keys, np.cumsum(np.diff(groups, prepend=groups[:1]) != 0))


def row_sorting(table: Table) -> RowSorting:
    """Return by which columns the rows of a table are sorted, or, for a category, put together.

    Examples
    --------
    >>> from sartre.data.table import Table
    >>> sex, age = np.repeat([0.0, 1.0], 3), np.array([20.0, 30.0, 50.0, 25.0, 25.0, 60.0])
    >>> row_sorting(Table(np.column_stack([age, sex]), ("age", "sex"))).keys
    (1, 0)
    """
    groups = _runs(table)
    keys: list[int] = []
    while True:
        same = groups[1:] == groups[:-1]
        found = next((j for j in range(table.shape[1]) if j not in keys and _is_sorted(table, j, same)), None)
        if found is None:
            return RowSorting(tuple(keys), groups)
        keys.append(found)
        groups = np.append(0, np.cumsum(~same | (np.diff(table.values[:, found]) != 0)))


def _runs(table: Table) -> NDArray[np.intp]:
    """Return the number of each row's run of rows from the same environment, shape (n,)."""
    if table.design is None:
        return np.zeros(table.shape[0], dtype=np.intp)
    changes = (np.diff(table.design.indicators, axis=0) != 0).any(axis=1)
    return np.append(0, np.cumsum(changes))[: table.shape[0]]


def _is_sorted(table: Table, j: int, same: NDArray[np.bool_]) -> bool:
    """Return whether a column is sorted among neighbours of the same group, and not constant there."""
    steps = np.diff(table.values[:, j])[same]
    if np.isnan(steps).any() or not steps.any():
        return False
    if j in table.nominal and same.all():
        return bool((steps != 0).sum() + 1 == len(np.unique(table.values[:, j])))
    return bool((steps >= 0).all() or (steps <= 0).all())


def neighbour_correlation(column: NDArray[np.float64], sorting: RowSorting) -> float:
    """Return the correlation of the normal scores of neighbouring values.

    What depends on the columns that the rows are sorted by, and on their environment, is taken off first: the means of
    groups, or a smooth trend.

    Parameters
    ----------
    column : array of shape (n,)
        Without missing values. The result is NaN for fewer than 20 values, or for a constant.
    sorting : RowSorting
        Of these rows.

    Examples
    --------
    >>> noise = np.random.default_rng(0).normal(size=500)
    >>> unsorted = RowSorting((), np.zeros(500, dtype=int))
    >>> [abs(round(neighbour_correlation(each, unsorted), 1)) for each in (noise, np.cumsum(noise))]
    [0.0, 1.0]
    """
    n = len(column)
    if n < FEWEST_ROWS or not np.ptp(column) > 0:
        return float("nan")
    scores = normal_scores(column[:, None])[:, 0]
    n_groups = int(sorting.groups[-1]) + 1
    if n_groups > 1 and ROWS_PER_GROUP * n_groups <= n:
        scores = scores - (np.bincount(sorting.groups, scores) / np.bincount(sorting.groups))[sorting.groups]
    elif n_groups > 1:
        scores = scores - _cosines(n) @ (_cosines(n).T @ scores)
    squares = float((scores**2).sum())
    return float((scores[1:] * scores[:-1]).sum()) / squares if squares > 0 else float("nan")


@lru_cache(maxsize=1)
def _cosines(n: int) -> NDArray[np.float64]:
    """Return slow cosines over n rows, orthonormal, shape (n, k)."""
    place = (np.arange(n) + 0.5) / n
    cosines = np.cos(np.pi * np.outer(place, np.arange(min(MOST_TRENDS, n // TREND_ROWS))))
    return cosines / np.sqrt((cosines**2).sum(axis=0))


def dependent_columns(correlation: NDArray[np.float64], n: NDArray[np.intp] | int) -> NDArray[np.bool_]:
    """Return which correlations of neighbouring rows are too large to be chance, of columns with n values each."""
    size = np.nan_to_num(correlation)
    p_value = ndtr(-size * np.sqrt(n))
    return (size > LEAST_CORRELATION) & (p_value < CORRELATION_LEVEL / max(1, len(size)))


def dependence_between_rows(table: Table) -> str | None:
    """Return a warning if the rows of a table depend on their neighbours, or None.

    It takes two columns: where only one depends on its neighbours, the tests hold. Of many rows the first are examined.
    Within groups rows may depend on each other, and what differs between environments is taken off.
    """
    if table.design is not None and table.design.groups is not None:
        return None
    table = table.take(np.arange(SAMPLE_ROWS)) if table.shape[0] > SAMPLE_ROWS else table
    if table.design is not None and table.design.environments:
        table = table.take(np.argsort(table.design.labels, kind="stable"))
    sorting = row_sorting(table)
    numbers = [j for j in range(table.shape[1]) if j not in table.nominal and j not in sorting.keys]
    observed = [np.flatnonzero(~table.missing[:, j]) for j in numbers]
    columns = zip(numbers, observed, strict=True)
    correlation = np.array([neighbour_correlation(table.values[rows, j], sorting.take(rows)) for j, rows in columns])
    dependent = dependent_columns(correlation, np.array([len(rows) for rows in observed], dtype=np.intp))
    if dependent.sum() < 2:
        return None
    names = listed(table.names[numbers[k]] for k in np.flatnonzero(dependent))
    return (
        f"Neighbouring rows are correlated in {names} (up to {correlation[dependent].max():.2f}), as in a time series "
        "or in groups of rows. The tests treat rows as independent, so the p-values are far too small and false edges "
        f"are not bounded. {REMEDY}; if the rows were sorted by something that is not in the table, add it."
    )


def warn_about_dependent_rows(table: Table, stacklevel: int) -> None:
    """Warn if the rows of a table depend on their neighbours."""
    message = dependence_between_rows(table)
    if message is not None:
        warnings.warn(message, UserWarning, stacklevel=stacklevel + 1)

"""Numbers that no method can use: infinite, too large or too small to square, or so far out that others vanish."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from sartre.data.refusals import Problem

if TYPE_CHECKING:
    from sartre.data.table import Table

ALONE = 20.0  # a value this many times nearer than sqrt(n) standard deviations is not alone
TOLD_APART = 0.9  # share of the distinct values of a column that must still be distinct once it is standardised
LARGEST = 1e150  # the square of anything larger may overflow a double


def value_problems(table: Table) -> Iterator[Problem]:
    """Yield the columns whose numbers cannot be used; missing values are allowed, but not in all rows.

    Examples
    --------
    >>> from sartre.data.table import Table
    >>> X = np.array([[1.0, np.nan], [np.inf, np.nan]])
    >>> [(problem.kind, problem.column) for problem in value_problems(Table(X, ("a", "b")))]
    [('value', 'a'), ('empty', 'b')]
    """
    if table.values.size == 0:
        return
    for name, column in zip(table.names, table.values.T, strict=True):
        absent = np.isnan(column)
        if absent.all():
            yield Problem("empty", name, f"Column '{name}' has no values.", "Leave it out.")
            continue
        found = _unusable(np.where(absent, np.nanmedian(column), column) if absent.any() else column)
        if found is not None:
            yield Problem("value", name, f"Column '{name}' {found[0]}", found[1])


def _unusable(values: NDArray[np.float64]) -> tuple[str, str] | None:
    """Return what is wrong with the numbers of a column, and what to do; None if nothing is."""
    largest = np.abs(values).max()
    if largest > LARGEST:
        row = int(np.abs(values).argmax())
        what = "infinity" if np.isinf(largest) else f"{values[row]:g} (its square overflows)"
        return f"holds {what} in row {row} (the first row is 0).", "Correct the value or rescale the column."
    spread = values.max() - values.min()
    if 0 < spread < 1 / LARGEST:
        return f"varies by only {spread:g}, the square of which is zero in floating point.", "Rescale the column."
    row = _row_that_hides_the_others(values)
    if row is None:
        return None
    found = (
        f"holds {values[row]:.15g} in row {row} (the first row is 0), so far from the other values that floating point "
        "cannot tell those apart. It looks like a code for missing values."
    )
    return found, "Correct the value or set it to missing; if it was measured, take logarithms of the column."


def _row_that_hides_the_others(column: NDArray[np.float64]) -> int | None:
    """Return the row of a value so extreme that others become equal when the column is standardised, or None.

    Examples
    --------
    >>> _row_that_hides_the_others(np.array([1.0, 2.0, 1e18, 3.0]))
    2
    >>> _row_that_hides_the_others(np.array([1.0, 2.0, 1e9, 3.0])) is None
    True
    """
    distance = np.abs(column - column.mean())
    row, spread = int(distance.argmax()), float(column.std())
    if distance[row] * ALONE < spread * np.sqrt(len(column)):  # many values share the spread
        return None
    standardised = (column - column.mean()) / (spread or 1.0)
    return row if len(np.unique(standardised)) < TOLD_APART * len(np.unique(column)) else None

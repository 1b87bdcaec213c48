"""Checked data, as every step of the library sees it."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

import numpy as np

if TYPE_CHECKING:
    from collections.abc import Mapping

    from numpy.typing import NDArray

COMMON = 10  # samples from which on a level is regressed on its own


@dataclass(frozen=True)
class Table:
    """Checked data: float64 columns (contiguous each), their names, and the levels of those that are categories.

    Every ``fit`` of this library takes one as it takes an array, so data is checked once.
    ``np.asarray(table)`` gives the values, for estimators that know nothing of this class.

    A category's values are the positions (0, 1, ...) of its levels in ``levels``, which has its column's number and
    the levels' names, sorted. A missing value is NaN; only `as_table(..., missing=True)` lets one in.
    """

    values: NDArray[np.float64]
    names: tuple[str, ...]
    levels: Mapping[int, tuple[str, ...]] = field(default_factory=dict)

    @property
    def shape(self) -> tuple[int, int]:
        """Numbers of rows and columns."""
        return self.values.shape[0], self.values.shape[1]

    @property
    def nominal(self) -> frozenset[int]:
        """The columns with three levels or more: their codes are no numbers. Two levels are 0 and 1."""
        return frozenset(j for j, levels in self.levels.items() if len(levels) > 2)

    @property
    def missing(self) -> NDArray[np.bool_]:
        """Which values are missing, shape (n, d)."""
        return np.isnan(self.values)

    def standardized(self) -> Table:
        """Return the table with every column of numbers at mean zero and variance one (constant columns at zero)."""
        missing = self.missing
        observed = np.where(missing, 0.0, self.values)
        n = np.maximum((~missing).sum(axis=0), 1)
        centred = np.where(missing, 0.0, self.values - observed.sum(axis=0) / n)
        scale = np.where(self.constant, 1.0, np.sqrt((centred**2).sum(axis=0) / n))
        values = np.where(self.constant, 0.0, centred / scale)
        values[missing] = np.nan
        for j in self.levels:
            values[:, j] = self.values[:, j]
        return Table(np.asfortranarray(values), self.names, self.levels)

    def take(self, rows: NDArray[np.intp]) -> Table:
        """Return the table of some rows."""
        return Table(np.asfortranarray(self.values[rows]), self.names, self.levels)

    def select(self, columns: NDArray[np.intp]) -> Table:
        """Return the table of some columns."""
        levels = {k: self.levels[j] for k, j in enumerate(columns.tolist()) if j in self.levels}
        return Table(np.asfortranarray(self.values[:, columns]), tuple(self.names[j] for j in columns), levels)

    def responses(self, j: int) -> list[NDArray[np.float64]]:
        """Return what is regressed for a column without missing values: itself or, if it is nominal, its indicators.

        One indicator a level with at least ten samples, and always those of the two most common levels.

        Examples
        --------
        >>> table = Table(np.array([[0.0], [1.0], [2.0], [2.0], [0.0]]), ("a",), {0: ("x", "y", "z")})
        >>> [y.tolist() for y in table.responses(0)]
        [[1.0, 0.0, 0.0, 0.0, 1.0], [0.0, 0.0, 1.0, 1.0, 0.0]]
        """
        column = self.values[:, j]
        if j not in self.nominal:
            return [column]
        counts = np.bincount(column.astype(np.intp), minlength=len(self.levels[j]))
        enough = max(1, min(COMMON, int(np.sort(counts)[-2])))
        return [(column == level).astype(np.float64) for level in np.flatnonzero(counts >= enough)]

    @property
    def constant(self) -> NDArray[np.bool_]:
        """Which columns hold one value only, up to the last digits."""
        missing = self.missing
        holes = missing.any()
        low = (np.where(missing, np.inf, self.values) if holes else self.values).min(axis=0)
        high = (np.where(missing, -np.inf, self.values) if holes else self.values).max(axis=0)
        return high - low <= 4 * np.finfo(float).eps * np.maximum(np.abs(low), np.abs(high))

    @property
    def silent(self) -> NDArray[np.bool_]:
        """Which columns say nothing as a cause: one value only, and it is never missing, or always."""
        missing = self.missing
        return self.constant & (~missing.any(axis=0) | missing.all(axis=0))

    def __array__(self, dtype: Any = None, copy: bool | None = None) -> NDArray[Any]:  # noqa: ANN401 - NumPy's own
        if dtype is None and not copy:
            return self.values
        return np.array(self.values, dtype=dtype)

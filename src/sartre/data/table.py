"""Checked data, as every step of the library sees it."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray
from scipy.special import ndtri
from scipy.stats import rankdata

from sartre.settings import listed

if TYPE_CHECKING:
    from sartre.data.row_design import RowDesign

COMMON = 10  # samples of a level that is regressed on its own, and of one that is not merged with others
WIDEST = 300  # columns that are added up in pairs: the tables of all pairs grow with the square of this number
# Every computation on single rows (orders, bins, pairs, robust variances) uses a sample of this many rows; a table that
# has no more is used as a whole. With this many rows a correlation of .02 has a p-value under 1e-5, and an order of 50
# columns takes a minute.
SAMPLE_ROWS = 50_000


@dataclass(frozen=True)
class Table:
    """Checked data: float64 columns (each contiguous), their names, and the levels of those that are categories.

    Every ``fit`` of this library accepts a table in place of an array, so data are checked only once.
    ``np.asarray(table)`` gives the values, for estimators that do not know this class.

    The values of a category are the positions (0, 1, ...) of its levels in ``levels``, which maps the number of a
    column to the sorted names of its levels. A missing value is NaN; only `as_table(..., missing=True)` allows one.

    ``design`` says how the rows differ (`sartre.data.row_design`); None if they are one sample of independent rows.
    ``imputed`` has the columns whose missing values were filled in.
    """

    values: NDArray[np.float64]
    names: tuple[str, ...]
    levels: Mapping[int, tuple[str, ...]] = field(default_factory=dict)
    design: RowDesign | None = None
    imputed: frozenset[int] = frozenset()

    @property
    def shape(self) -> tuple[int, int]:
        """The numbers of rows and columns."""
        return self.values.shape[0], self.values.shape[1]

    @property
    def nominal(self) -> frozenset[int]:
        """The columns with three or more levels, whose codes are not numbers. Two levels are coded as 0 and 1."""
        return frozenset(j for j, levels in self.levels.items() if len(levels) > 2)

    @property
    def sample(self) -> Table:
        """The rows that computations on single rows use: all of them. A `Survey` has fewer."""
        return self

    @property
    def is_long(self) -> bool:
        """Whether there are so many rows of numbers that they are added up, and single rows come from a sample."""
        plain = self.design is None and not self.nominal
        return plain and is_long(*self.shape) and not np.isnan(self.values).any()

    @property
    def missing(self) -> NDArray[np.bool_]:
        """Which values are missing, shape (n, d)."""
        return np.isnan(self.values)

    @property
    def incomplete(self) -> NDArray[np.bool_]:
        """Which columns have missing values, or had some that were filled in, shape (d,)."""
        return self.missing.any(axis=0) | np.isin(np.arange(self.shape[1]), list(self.imputed))

    def standardized(self) -> Table:
        """Return the table with every numeric column at mean zero and variance one (constant columns at zero)."""
        centre, scale = self.centre_and_scale()
        values = (self.values - centre) / scale
        for j in np.flatnonzero(self.constant).tolist():
            values[~np.isnan(values[:, j]), j] = 0.0
        for j in self.levels:
            values[:, j] = self.values[:, j]
        return replace(self, values=np.asfortranarray(values))

    def centre_and_scale(self) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
        """Return the centre and the scale that standardise every column, each of shape (d,).

        Categories stay as they are, and so does the scale of a constant column.
        """
        missing = self.missing
        n = np.maximum((~missing).sum(axis=0), 1)
        centre = np.where(missing, 0.0, self.values).sum(axis=0) / n
        centred = np.where(missing, 0.0, self.values - centre)
        scale = np.where(self.constant, 1.0, np.sqrt((centred**2).sum(axis=0) / n))
        levels = list(self.levels)
        centre[levels], scale[levels] = 0.0, 1.0
        return centre, scale

    def take(self, rows: NDArray[np.intp]) -> Table:
        """Return the table of these rows."""
        design = None if self.design is None else self.design.take(rows)
        return Table(np.asfortranarray(self.values[rows]), self.names, self.levels, design, self.imputed)

    def select(self, columns: NDArray[np.intp]) -> Table:
        """Return the table of these columns."""
        levels = {k: self.levels[j] for k, j in enumerate(columns.tolist()) if j in self.levels}
        names = tuple(self.names[j] for j in columns)
        design = None if self.design is None else self.design.select(columns)
        filled = frozenset(k for k, j in enumerate(columns.tolist()) if j in self.imputed)
        return Table(np.asfortranarray(self.values[:, columns]), names, levels, design, filled)

    def reordered(self, names: Sequence[str]) -> Table:
        """Return the table with its columns in the order of these names, which must be its own."""
        if list(names) == list(self.names):
            return self
        if sorted(names) != sorted(self.names):
            raise ValueError(f"The table must have the columns {listed(names)}. Got {listed(self.names)} instead.")
        return self.select(np.array([self.names.index(name) for name in names], dtype=np.intp))

    def with_common_levels(self) -> Table:
        """Return the table with the rare levels of each nominal column merged into one.

        A level is rare if it has fewer than 10 or sqrt(n) samples: two such levels are expected to meet in at most
        one of n samples, and no test holds for that. Where all levels are rare, they stay as they are.

        Examples
        --------
        >>> codes = np.repeat([0.0, 1.0, 2.0, 3.0], [20, 3, 15, 2])
        >>> table = Table(codes[:, None], ("a",), {0: ("v", "w", "x", "y")}).with_common_levels()
        >>> table.levels, np.unique(table.values, return_counts=True)[1].tolist()
        ({0: ('v', 'x', 'w, y')}, [20, 15, 5])
        """
        if not self.nominal:
            return self
        values, levels = self.values.copy(order="F"), dict(self.levels)
        for j in self.nominal:
            observed = ~np.isnan(values[:, j])
            codes = values[observed, j].astype(np.intp)
            counts = np.bincount(codes, minlength=len(levels[j]))
            enough = max(COMMON, np.sqrt(len(codes)))
            common, rare = np.flatnonzero(counts >= enough), np.flatnonzero(counts < enough)
            if len(rare) > 1 and len(common):
                new = np.full(len(counts), len(common))
                new[common] = np.arange(len(common))
                values[observed, j] = new[codes]
                levels[j] = (*(levels[j][k] for k in common), ", ".join(levels[j][k] for k in rare))
        return replace(self, values=values, levels=levels)

    def rows_of(self, target: int) -> NDArray[np.bool_]:
        """Return in which rows a variable's own mechanism shows: it is observed, and was not set from outside."""
        observed = ~np.isnan(self.values[:, target])
        return observed if self.design is None else observed & ~self.design.acted[:, target]

    @property
    def n_units(self) -> int:
        """The number of independent units: groups of rows where some belong together, otherwise rows."""
        groups = None if self.design is None else self.design.groups
        return len(self.values) if groups is None else len(np.unique(groups))

    def rows_in(self, units: NDArray[np.intp]) -> NDArray[np.intp]:
        """Return the rows of some units, by their numbers, in their order in the table."""
        groups = None if self.design is None else self.design.groups
        if groups is None:
            return np.sort(units)
        return np.flatnonzero(np.isin(np.unique(groups, return_inverse=True)[1], units))

    def leaving_out(self, pairs: Iterable[tuple[str, str]]) -> Table:
        """Return the table in which environments are taken to set what they act on: (environment, column) names."""
        if self.design is None:
            return self
        places = [(environment, self.names.index(name)) for environment, name in pairs]
        return replace(self, design=self.design.leaving_out(places))

    def with_side_effects(self, environments: Collection[str]) -> Table:
        """Return the table in which some environments may act on more than is known."""
        return self if self.design is None else replace(self, design=self.design.with_side_effects(environments))

    def responses(self, j: int) -> list[NDArray[np.float64]]:
        """Return the responses of a column without missing values: itself or, if it is nominal, its indicators.

        There is one indicator per level with at least ten samples, and always one for each of the two most common
        levels.

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
        """Which columns hold a single value, up to rounding."""
        missing = self.missing
        holes = missing.any()
        low = (np.where(missing, np.inf, self.values) if holes else self.values).min(axis=0)
        high = (np.where(missing, -np.inf, self.values) if holes else self.values).max(axis=0)
        return high - low <= 4 * np.finfo(float).eps * np.maximum(np.abs(low), np.abs(high))

    @property
    def silent(self) -> NDArray[np.bool_]:
        """Which columns carry no information as a cause: a single value that is never missing, or no value at all."""
        missing = self.missing
        return self.constant & (~missing.any(axis=0) | missing.all(axis=0))

    def __array__(self, dtype: Any = None, copy: bool | None = None) -> NDArray[Any]:
        if dtype is None and not copy:
            return self.values
        return np.array(self.values, dtype=dtype)


def is_long(n_rows: int, n_columns: int) -> bool:
    """Return whether a table of numbers has so many rows and so few columns that its rows are added up."""
    return n_rows > SAMPLE_ROWS and n_columns <= WIDEST


def mean_and_spread(column: NDArray[np.float64]) -> tuple[float, float]:
    """Return the mean and the standard deviation of a column, without overflow of the squares.

    Examples
    --------
    >>> mean_and_spread(np.array([1e200, 3e200]))
    (2e+200, 1e+200)
    """
    mean, width = float(column.mean()), float(np.ptp(column)) or 1.0
    return mean, width * float(np.std((column - mean) / width))


def standardise(column: NDArray[np.float64]) -> NDArray[np.float64]:
    """Return a column at mean zero and variance one; missing values and constant columns become zero.

    Examples
    --------
    >>> standardise(np.array([1.0, np.nan, 3.0])).tolist(), standardise(np.array([7.0, 7.0])).tolist()
    ([-1.0, 0.0, 1.0], [0.0, 0.0])
    """
    observed = column[~np.isnan(column)]
    spread = float(observed.std()) if len(observed) else 0.0
    return np.nan_to_num((column - observed.mean()) / spread) if spread > 0 else np.zeros(len(column))


def standardise_columns(X: NDArray[np.float64]) -> NDArray[np.float64]:
    """Return all columns (n, d) standardised, each contiguous."""
    result = np.empty(X.shape, order="F")
    for j, column in enumerate(X.T):
        result[:, j] = standardise(column)
    return result


def normal_scores(X: NDArray[np.float64]) -> NDArray[np.float64]:
    """Replace the values of every column by the normal quantiles of their ranks; ties stay ties, and NaN stays NaN.

    Examples
    --------
    >>> normal_scores(np.array([[1.0], [1000.0], [2.0]])).round(2).ravel().tolist()
    [-0.97, 0.97, 0.0]
    """
    n = (~np.isnan(X)).sum(axis=0)
    return np.asfortranarray(ndtri((rankdata(X, axis=0, nan_policy="omit") - 0.5) / n))

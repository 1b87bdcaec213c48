"""What any part of the rows can contribute to a model of intervals: counts and sums of whole numbers.

A group lasso on the bins of all columns needs how often the bins of two columns meet, and the sums of every column's
values by the bins of every other. Both are added up over rows as whole numbers (values in fixed point), so the totals
are the same to the last bit however the rows are cut into parts, and in whatever order the parts are added.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from sartre.additive import _count_kernels
from sartre.additive.bins import code_type

if TYPE_CHECKING:
    from collections.abc import Sequence

    from numpy.typing import NDArray

    from sartre.additive.design import Basis

UNIT = 2.0**30  # a standard deviation of the sample in fixed point
LARGEST = 2.0**37  # 128 of them; what is further away is counted as that: squares of 2^18 rows fit, whatever they are
MOST = 2**62  # of a sum of squares: one more part of the rows might not fit into 64 bits
HALF = 15  # bits of the lower part of a value; squares are added up part by part
ROWS = 8192  # whose codes stay in the first-level cache while pairs are counted


@dataclass(frozen=True)
class IntervalTotals:
    """Totals over n rows; those of two parts add up (``a + b``), exactly.

    Attributes
    ----------
    n : int
    pairs : int64 array
        How often the bins of two columns meet: a (B_j, B_k) table for each pair (0, 1), (0, 2), ..., (1, 2), ...
    sums : int64 array of shape (bins of all columns, d)
        Sums of every column's values, in fixed point, by every column's bins.
    squares : int64 array of shape (3, d)
        Of the upper parts h of every column's values, of their products with the lower parts l, and of the lower parts:
        a value is 2^15 h + l.
    sizes : int64 array of shape (bins of all columns,)
        Rows in each bin.
    """

    n: int
    pairs: NDArray[np.int64]
    sums: NDArray[np.int64]
    squares: NDArray[np.int64]
    sizes: NDArray[np.int64]

    def __add__(self, other: IntervalTotals) -> IntervalTotals:
        squares = self.squares + other.squares
        if squares[0].max(initial=0) > MOST:
            raise ValueError("Too many rows, or far larger values than in the sample, for sums of 64 bits.")
        return IntervalTotals(
            self.n + other.n,
            self.pairs + other.pairs,
            self.sums + other.sums,
            squares,
            self.sizes + other.sizes,
        )


@dataclass(frozen=True)
class IntervalCounter:
    """Counts rows by the bins of their columns.

    Attributes
    ----------
    edges : d arrays
        Inner borders of every column's bins.
    centre, scale : arrays of shape (d,)
        Values are centred and scaled before they are rounded: mean and standard deviation of a sample.

    Examples
    --------
    >>> X = np.array([[0.0, 5.0], [1.0, 5.0], [1.0, 6.0]])
    >>> counter = IntervalCounter((np.array([0.5]), np.array([5.5])), centre=np.zeros(2), scale=np.ones(2))
    >>> totals = counter.count(X[:1]) + counter.count(X[1:])
    >>> totals.pairs.reshape(2, 2)
    array([[1, 0],
           [1, 1]])
    >>> counter.deviations(totals)[:2]
    array([[ 0.,  5.],
           [ 2., 11.]])
    """

    edges: tuple[NDArray[np.float64], ...]
    centre: NDArray[np.float64]
    scale: NDArray[np.float64]

    @staticmethod
    def of(bases: Sequence[Basis], sample: NDArray[np.float64]) -> IntervalCounter:
        """Return the counter of some bases, the scale of values from a sample of rows."""
        spread = sample.std(axis=0)
        return IntervalCounter(
            tuple(basis.edges for basis in bases), sample.mean(axis=0), np.where(spread > 0, spread, 1.0)
        )

    @property
    def n_bins(self) -> NDArray[np.intp]:
        """Bins of every column."""
        return np.array([len(edges) + 1 for edges in self.edges], dtype=np.intp)

    @property
    def pair_start(self) -> NDArray[np.intp]:
        """Where the table of each pair starts, shape (d, d); upper triangle."""
        first, second = np.triu_indices(len(self.edges), k=1)
        sizes = self.n_bins[first] * self.n_bins[second]
        start = np.zeros((len(self.edges), len(self.edges)), dtype=np.intp)
        start[first, second] = np.cumsum(sizes) - sizes
        return start

    def count(self, values: NDArray[np.float64]) -> IntervalTotals:
        """Return the totals of some rows, shape (m, d), without missing values."""
        n_bins, d = self.n_bins, len(self.edges)
        n_pairs = (int(n_bins.sum()) ** 2 - int((n_bins**2).sum())) // 2
        pairs, sums = np.zeros(n_pairs, np.int64), np.zeros((int(n_bins.sum()), d), np.int64)
        squares, sizes = np.zeros((3, d), np.int64), np.zeros(int(n_bins.sum()), np.int64)
        bin_start = np.cumsum(n_bins) - n_bins
        edges, edge_start = np.concatenate([np.empty(0), *self.edges]), np.append(0, np.cumsum(n_bins - 1))
        kind = code_type(int(n_bins.max(initial=1)))
        for first in range(0, len(values), ROWS):
            part = np.ascontiguousarray(values[first : first + ROWS], dtype=np.float64)
            codes, whole = np.empty((d, len(part)), kind), np.empty(part.shape, np.int64)
            _count_kernels.encode_columns(part, edges, edge_start, codes)
            _count_kernels.fixed_point(part, self.centre, self.scale, UNIT, LARGEST, whole)
            _count_kernels.count_pairs(codes, n_bins, pairs)
            _count_kernels.add_by_bin(codes, bin_start, whole, sums)
            upper, lower = whole >> HALF, whole & ((1 << HALF) - 1)
            squares += np.stack([(upper**2).sum(axis=0), (upper * lower).sum(axis=0), (lower**2).sum(axis=0)])
            for j in range(d):
                sizes[bin_start[j] : bin_start[j] + n_bins[j]] += np.bincount(codes[j], minlength=n_bins[j])
        return IntervalTotals(len(values), pairs, sums, squares, sizes)

    def deviations(self, totals: IntervalTotals) -> NDArray[np.float64]:
        """Return the sums of every column's values, less its centre, by all bins, shape (bins, d)."""
        return totals.sums * (self.scale / UNIT)

    def variances(self, totals: IntervalTotals) -> NDArray[np.float64]:
        """Return the variance of every column's values, in its own unit squared."""
        mean = totals.sums[: self.n_bins[0]].sum(axis=0) / (totals.n * UNIT)
        weights = np.array([4.0**HALF, 2 * 2.0**HALF, 1.0])
        return np.maximum(weights @ totals.squares / (totals.n * UNIT**2) - mean**2, 0.0) * self.scale**2

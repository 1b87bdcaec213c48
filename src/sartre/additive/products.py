"""What any part of the rows can contribute to a model of smooths: inner products of all functions, in whole numbers.

An additive model of penalised smooths needs the inner products of all functions with each other, the straight lines
(which are the columns themselves, and so the targets) among them. Functions are rounded to multiples of 2^-16 standard
deviations, so that a product is a whole number and a sum of products is exact: the totals are the same to the last bit
however the rows are cut into parts, and in whatever order the parts are added.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from sartre.additive import _count_kernels
from sartre.additive.smoothing import Gram
from sartre.additive.splines import rotated, spline

if TYPE_CHECKING:
    from collections.abc import Sequence

    from numpy.typing import NDArray

    from sartre.additive.splines import RotatedSpline

UNIT = 2.0**16  # a standard deviation in fixed point
LARGEST = 2.0**21  # 32 of them; what is further away is counted as that
ROWS = 2048  # 2^11 products of 2^42 at most: their sums are exact in double precision
MOST = 2**62  # of a sum of squares: one more part of the rows might not fit into 64 bits
SMALL = 1e-10  # share of its mean square that a function must keep when those before it are taken off


@dataclass(frozen=True)
class SmoothTotals:
    """Totals over n rows; those of two parts add up (``a + b``), exactly.

    Attributes
    ----------
    n : int
    products : int64 array of shape (1 + q, 1 + q)
        Sums of products, in fixed point, of the constant and all q functions of all columns.
    """

    n: int
    products: NDArray[np.int64]

    def __add__(self, other: SmoothTotals) -> SmoothTotals:
        products = self.products + other.products
        _check_room(products)
        return SmoothTotals(self.n + other.n, products)


@dataclass(frozen=True)
class SmoothCounter:
    """Adds up the inner products of the smooth functions of all columns.

    Every column has a straight line first, then functions that bend, piecewise cubic and straight beyond the outermost
    knots; they are orthonormal over the sample they were learnt from. A column that is constant there has none.

    Attributes
    ----------
    curves : tuple of arrays
        As `_count_kernels.smooth_functions` has them.
    roughness : array of shape (q,)
        Of every function; zero for the lines.

    Examples
    --------
    >>> X = np.random.default_rng(0).normal(size=(1000, 3))
    >>> counter = SmoothCounter.of(X, n_splines=5)
    >>> totals = counter.count(X[:300]) + counter.count(X[300:])
    >>> np.array_equal(totals.products, counter.count(X).products)
    True
    >>> counter.gram(totals).matrix.shape
    (12, 12)
    """

    curves: tuple[NDArray[np.float64] | NDArray[np.intp], ...]
    roughness: NDArray[np.float64]

    @staticmethod
    def of(sample: NDArray[np.float64], n_splines: int) -> SmoothCounter:
        """Learn the functions of all columns from a sample of rows, shape (m, d)."""
        smooths = [rotated(spline(column, n_splines), column) for column in sample.T]
        pieces = [_pieces(smooth) for smooth in smooths]
        rank = np.array([len(smooth.rotation.roughness) for smooth in smooths], dtype=np.intp)
        knots, origin, cubic = ([piece[part] for piece in pieces] for part in range(3))
        curves = (
            np.array([smooth.spline.shift for smooth in smooths]),
            np.array([smooth.spline.scale for smooth in smooths]),
            rank,
            1 + _starts(rank)[:-1],
            _joined(knots),
            _starts([len(part) for part in knots]),
            _joined(origin),
            _joined(cubic),
            _starts([len(part) for part in cubic])[:-1],
        )
        return SmoothCounter(curves, _joined([smooth.rotation.roughness for smooth in smooths]))

    @property
    def rank(self) -> NDArray[np.intp]:
        """Functions of every column."""
        return np.asarray(self.curves[2], dtype=np.intp)

    def count(self, values: NDArray[np.float64]) -> SmoothTotals:
        """Return the totals of some rows, shape (m, d), without missing values."""
        width = 1 + len(self.roughness)
        products = np.zeros((width, width), np.int64)
        functions = np.full((ROWS, width), UNIT)
        for first in range(0, len(values), ROWS):
            part = np.ascontiguousarray(values[first : first + ROWS], dtype=np.float64)
            _count_kernels.smooth_functions(part, self.curves, UNIT, LARGEST, functions)
            mine = functions[: len(part)]
            products += (mine.T @ mine).astype(np.int64)
        _check_room(products)
        return SmoothTotals(len(values), products)

    def gram(self, totals: SmoothTotals) -> Gram:
        """Return the inner products of functions that are orthonormal over all rows, and of the standardised targets.

        A column that does not vary has no function left and no target: its part of ``cross`` is zero.
        """
        rank = self.rank
        start = _starts(rank)[:-1]
        mean = totals.products[0, 1:] / (totals.n * UNIT**2)
        covariance = totals.products[1:, 1:] / (totals.n * UNIT**2) - np.outer(mean, mean)
        turn = np.zeros_like(covariance)
        roughness = self.roughness.copy()
        for j in np.flatnonzero(rank > 0):
            mine = slice(start[j], start[j] + rank[j])
            turn[mine, mine], roughness[mine] = orthonormal(covariance[mine, mine], self.roughness[mine])
        kept = np.flatnonzero(turn.any(axis=0))
        turn, roughness = turn[:, kept], roughness[kept]
        matrix = turn.T @ covariance @ turn
        owner = np.repeat(np.arange(len(rank)), rank)[kept]
        rank = np.bincount(owner, minlength=len(rank)).astype(np.intp)
        start = _starts(rank)[:-1]
        cross = np.zeros((len(kept), len(rank)))
        varied = np.flatnonzero(rank > 0)
        cross[:, varied] = matrix[:, start[varied]]
        return Gram(totals.n, (matrix + matrix.T) / 2, cross, start, rank, roughness)


def orthonormal(
    covariance: NDArray[np.float64], roughness: NDArray[np.float64]
) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    """Turn the functions of a column so that both their covariance and their penalty are diagonal.

    Parameters
    ----------
    covariance : array of shape (k, k)
        Of a straight line and k - 1 functions that bend.
    roughness : array of shape (k,)
        The diagonal of their penalty; zero for the line.

    Returns
    -------
    vectors : array of shape (k, k)
        New functions in terms of the old; zero where a function is a combination of those before it.
    roughness : array of shape (k,)
        Of the new functions: zero for the line, then 1 and increasing.

    Examples
    --------
    >>> vectors, roughness = orthonormal(np.array([[4.0, 1.0], [1.0, 2.0]]), np.array([0.0, 3.0]))
    >>> (vectors.T @ np.array([[4.0, 1.0], [1.0, 2.0]]) @ vectors).round(9).tolist(), roughness.tolist()
    ([[1.0, 0.0], [0.0, 1.0]], [0.0, 1.0])
    """
    vectors, new = np.zeros_like(covariance), np.zeros(len(covariance))
    if not covariance[0, 0] > 0:
        return vectors, new
    vectors[0, 0] = 1 / np.sqrt(covariance[0, 0])
    off = covariance[0, 1:] / covariance[0, 0]  # of the line in the others
    inner = covariance[1:, 1:] - np.outer(off, covariance[0, 1:])
    values, turned = np.linalg.eigh(inner)
    usable = values > SMALL * max(values.max(initial=0.0), SMALL)
    white = turned[:, usable] / np.sqrt(values[usable])
    rough, last = np.linalg.eigh(white.T @ (roughness[1:, None] * white))
    bent = white @ last
    vectors[1:, 1 : 1 + bent.shape[1]] = bent
    vectors[0, 1 : 1 + bent.shape[1]] = -off @ bent
    new[1 : 1 + len(rough)] = rough / rough.min(initial=np.inf)
    return vectors, new


def _pieces(smooth: RotatedSpline) -> tuple[NDArray[np.float64], ...]:
    """Return the knots, the origin of each piece, and the cubics of all bending functions, powers rising."""
    knots, rotation = smooth.spline.knots, smooth.rotation
    if len(knots) < 2:
        return np.empty(0), np.zeros(1), np.empty(0)
    origin = np.concatenate([knots[:1], knots])
    curve = smooth.spline.cubic
    at = np.stack([curve(knots, order) / factorial for order, factorial in ((0, 1), (1, 1), (2, 2), (3, 6))])
    cubic = at[:, np.concatenate([[0], np.arange(len(knots))])] @ rotation.vectors  # (4, pieces, rank)
    cubic[2:, [0, -1]] = 0.0  # straight beyond the outermost knots
    cubic[0] -= rotation.mean @ rotation.vectors
    return knots, origin, cubic[:, :, 1:].transpose(1, 0, 2).ravel()


def _check_room(products: NDArray[np.int64]) -> None:
    if np.diag(products).max(initial=0) > MOST:
        raise ValueError("Too many rows, or far larger values than in the sample, for sums of 64 bits. Use fewer rows.")


def _starts(sizes: Sequence[int] | NDArray[np.intp]) -> NDArray[np.intp]:
    return np.concatenate([[0], np.cumsum(sizes)]).astype(np.intp)


def _joined(parts: Sequence[NDArray[np.float64]]) -> NDArray[np.float64]:
    return np.concatenate([np.empty(0), *parts])

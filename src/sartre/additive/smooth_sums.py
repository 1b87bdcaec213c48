"""The contribution of any batch of rows to a model of smooths: integer inner products of hat functions.

Every column has nodes with one hat function each: 1 at its node, 0 at the others, linear in between. All functions that
are linear between the nodes are sums of hats. The inner products of the hats of any two columns therefore give those of
smooths with any number of knots, without another pass over the rows. The straight lines and the targets are the columns
themselves: their products with each other and with every column's hats are added up too.

Weights between two nodes are integer multiples of 1 / 4096, values of 2^-16 standard deviations. All sums are therefore
exact: they are identical to the last bit however the rows are split and in whatever order the parts are added.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, fields

import numpy as np
from numpy.typing import NDArray

from sartre.additive.bases.splines import Spline
from sartre.additive.design import diagonalise, starts
from sartre.additive.gram import Gram
from sartre.additive.kernels import sums as kernels

MOST_NODES = 64  # per column, so that the table of a pair (32 KB) stays in the cache
TABLE_BYTES = 1 << 29  # limit for the tables of all pairs; beyond 181 columns there are fewer nodes
FULL = 1 << 12  # the weight of a value that lies on a node
STEP = 2.0**16  # one standard deviation in fixed point
OUTERMOST = 2.0**21  # 32 standard deviations; values further out are clipped here
EXACT_ROWS = 2048  # sums of 2^11 products of at most 2^42 are exact in double precision
LARGEST_SUM = 2**62  # a larger sum of squares might overflow 64 bits with the next batch of rows
DEPENDENT_SHARE = 1e-10  # directions with a smaller share of the largest variance are dropped


@dataclass(frozen=True)
class SmoothTotals:
    """The totals of n rows; the totals of two batches add up exactly (``a + b``).

    Attributes
    ----------
    n : int
    pairs : int64 array
        Products of two columns' hats: one nodes-by-nodes table per pair (0, 1), (0, 2), ..., (1, 2), ...
    own : int64 array of shape (nodes of all columns, 2)
        Sums of squares of each hat, and of its products with the next hat.
    sums : int64 array of shape (nodes of all columns, d)
        Sums of every column's values, weighted by each hat.
    line_products : int64 array of shape (1 + d, 1 + d)
        Products of the constant and all columns' values.
    """

    n: int
    pairs: NDArray[np.int64]
    own: NDArray[np.int64]
    sums: NDArray[np.int64]
    line_products: NDArray[np.int64]

    def __add__(self, other: SmoothTotals) -> SmoothTotals:
        total = SmoothTotals(*(getattr(self, each.name) + getattr(other, each.name) for each in fields(self)))
        if np.diag(total.line_products).max(initial=0) > LARGEST_SUM:
            raise ValueError(
                "The sums of squares must fit into 64 bits. There are too many rows, or values far larger than in the "
                "sample. Use fewer rows, or check the columns for outliers."
            )
        return total


@dataclass(frozen=True)
class SmoothCounter:
    """Adds up the inner products of the hat functions of all columns.

    Attributes
    ----------
    nodes : d increasing arrays of two or more values
    centre, scale : arrays of shape (d,)
        Mean and standard deviation of a sample, by which values are centred and scaled before rounding.
    varied : boolean array of shape (d,)
        Which columns vary in the sample; the others have no functions.

    Examples
    --------
    >>> X = np.random.default_rng(0).normal(size=(1000, 3))
    >>> counter = SmoothCounter.of(X)
    >>> totals = counter.count(X[:300]) + counter.count(X[300:])
    >>> np.array_equal(totals.pairs, counter.count(X).pairs)
    True
    >>> counter.gram(totals, n_splines=5).matrix.shape
    (12, 12)
    """

    nodes: tuple[NDArray[np.float64], ...]
    centre: NDArray[np.float64]
    scale: NDArray[np.float64]
    varied: NDArray[np.bool_]

    @staticmethod
    def of(sample: NDArray[np.float64]) -> SmoothCounter:
        """Choose the nodes of all columns from a sample of rows, shape (m, d)."""
        spread = np.where(np.ptp(sample, axis=0) > 0, sample.std(axis=0), 0.0)
        most = min(MOST_NODES, int(np.sqrt(2 * TABLE_BYTES / 8) / sample.shape[1]))
        nodes = tuple(_nodes(column, most) for column in sample.T)
        return SmoothCounter(nodes, sample.mean(axis=0), np.where(spread > 0, spread, 1.0), spread > 0)

    @property
    def n_nodes(self) -> NDArray[np.intp]:
        """Number of nodes of every column."""
        return np.array([len(nodes) for nodes in self.nodes], dtype=np.intp)

    def count(self, values: NDArray[np.float64]) -> SmoothTotals:
        """Return the totals of some rows, shape (m, d), without missing values."""
        n_nodes, d = self.n_nodes, len(self.nodes)
        start = np.append(starts(n_nodes), n_nodes.sum())
        pairs = np.zeros((int(n_nodes.sum()) ** 2 - int((n_nodes**2).sum())) // 2, np.int64)
        own, sums = np.zeros((start[-1], 2), np.int64), np.zeros((start[-1], d), np.int64)
        line_products = np.zeros((1 + d, 1 + d), np.int64)
        nodes, whole = np.concatenate([np.empty(0), *self.nodes]), np.full((4 * EXACT_ROWS, 1 + d), STEP)
        for first in range(0, len(values), len(whole)):
            rows = np.ascontiguousarray(values[first : first + len(whole)], dtype=np.float64)
            codes, weights = np.empty((d, len(rows)), np.uint8), np.empty((d, len(rows)), np.int16)
            lines = whole[: len(rows)]
            kernels.between_nodes(rows, nodes, start, FULL, codes, weights)
            kernels.multiply_hats(codes, weights, FULL, n_nodes, pairs)
            kernels.fixed_point(rows, self.centre, self.scale, STEP, OUTERMOST, lines[:, 1:])
            kernels.add_by_hat(codes, weights, FULL, start, lines[:, 1:].astype(np.int64), sums, own)
            for near in range(0, len(rows), EXACT_ROWS):
                block = lines[near : near + EXACT_ROWS]
                line_products += (block.T @ block).astype(np.int64)
        return SmoothTotals(len(values), pairs, own, sums, line_products)

    def gram(self, totals: SmoothTotals, n_splines: int, columns: NDArray[np.intp] | None = None) -> Gram:
        """Return the inner products of smooths that are orthonormal over all rows, and of the standardised targets.

        Parameters
        ----------
        totals : SmoothTotals
        n_splines : int
            Number of knots per column, at most the number of nodes.
        columns : array of ints, optional
            The columns to use as variables and as targets; all by default. A column that does not vary has no
            functions, and its part of ``cross`` is zero.
        """
        chosen = np.arange(len(self.nodes)) if columns is None else np.asarray(columns, dtype=np.intp)
        tables, rough = zip(*(self._bent(totals, int(j), n_splines) for j in chosen), strict=True)
        rank = np.array([1 + table.shape[1] if self.varied[j] else 0 for j, table in zip(chosen, tables, strict=True)])
        start, lines = starts(rank), np.flatnonzero(rank > 0)
        covariance = np.zeros((int(rank.sum()), int(rank.sum())))
        moments = totals.line_products[1:, 1:] / (totals.n * STEP**2)
        mean = totals.line_products[0, 1:] / (totals.n * STEP**2)
        moments -= np.outer(mean, mean)
        at = start[lines]
        covariance[np.ix_(at, at)] = moments[np.ix_(chosen[lines], chosen[lines])]
        for a in lines.tolist():
            bent = slice(start[a] + 1, start[a] + rank[a])
            covariance[bent, at] = tables[a].T @ self._sums(totals, int(chosen[a]))[:, chosen[lines]]
            covariance[at, bent] = covariance[bent, at].T
            for b in lines[lines >= a].tolist():
                block = tables[a].T @ self._hats(totals, int(chosen[a]), int(chosen[b])) @ tables[b]
                other = slice(start[b] + 1, start[b] + rank[b])
                covariance[bent, other], covariance[other, bent] = block, block.T
        return _orthonormal_gram(totals.n, covariance, rank, rough)

    def _bent(self, totals: SmoothTotals, j: int, n_splines: int) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
        """Return the nonlinear functions of a column at its nodes, centred over all rows, and their roughness."""
        nodes = self.nodes[j]
        standard = (nodes - self.centre[j]) / self.scale[j]
        knots = np.quantile(standard, np.linspace(0, 1, min(n_splines, len(nodes))))
        basis = Spline(nodes[:-1], nodes, float(self.centre[j]), float(self.scale[j]), knots).basis()
        inner = self._hats(totals, j, j)
        mean = inner.sum(axis=0) @ basis.table
        covariance = basis.table.T @ inner @ basis.table - np.outer(mean, mean)
        rotation = diagonalise(mean, covariance, basis.penalty, knots)
        return (basis.table - mean) @ rotation.vectors[:, 1:], rotation.roughness[1:]

    def _hats(self, totals: SmoothTotals, j: int, k: int) -> NDArray[np.float64]:
        """Return the inner products (over n) of the hats of two columns, in any order, or of one with itself."""
        n_nodes, unit = self.n_nodes, totals.n * float(FULL) ** 2
        if j == k:
            first = starts(n_nodes)[j]
            square, following = totals.own[first : first + n_nodes[j]].T / unit
            return np.diag(square) + np.diag(following[:-1], 1) + np.diag(following[:-1], -1)
        if j > k:
            return self._hats(totals, k, j).T
        skipped = sum(int(n_nodes[a]) * int(n_nodes[a + 1 :].sum()) for a in range(j))
        first = skipped + int(n_nodes[j]) * int(n_nodes[j + 1 : k].sum())
        table = totals.pairs[first : first + n_nodes[j] * n_nodes[k]]
        return table.reshape(n_nodes[j], n_nodes[k]) / unit

    def _sums(self, totals: SmoothTotals, j: int) -> NDArray[np.float64]:
        """Return the inner products (over n) of a column's hats with the standardised values of all columns."""
        first = starts(self.n_nodes)[j]
        return totals.sums[first : first + self.n_nodes[j]] / (totals.n * FULL * STEP)


def _orthonormal_gram(
    n: int, covariance: NDArray[np.float64], rank: NDArray[np.intp], rough: Sequence[NDArray[np.float64]]
) -> Gram:
    """Make every column's functions, straight line first, orthonormal; functions that vanish are left out."""
    start = starts(rank)
    turn, roughness = np.zeros_like(covariance), np.zeros(len(covariance))
    for j in np.flatnonzero(rank > 0).tolist():
        own = slice(start[j], start[j] + rank[j])
        turn[own, own], roughness[own] = orthonormal(covariance[own, own], np.append(0.0, rough[j]))
    kept = np.flatnonzero(turn.any(axis=0))
    turn = turn[:, kept]
    matrix = turn.T @ covariance @ turn
    rank = np.bincount(np.repeat(np.arange(len(rank)), rank)[kept], minlength=len(rank)).astype(np.intp)
    start, varied = starts(rank), np.flatnonzero(rank > 0)
    cross = np.zeros((len(kept), len(rank)))
    cross[:, varied] = matrix[:, start[varied]]
    return Gram(n, (matrix + matrix.T) / 2, cross, np.ones(len(rank)), start, rank, roughness[kept])


def orthonormal(
    covariance: NDArray[np.float64], roughness: NDArray[np.float64]
) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    """Rotate the functions of a column so that both their covariance and their penalty are diagonal.

    Parameters
    ----------
    covariance : array of shape (k, k)
        Covariance of a straight line and k - 1 nonlinear functions.
    roughness : array of shape (k,)
        The diagonal of their penalty; zero for the line.

    Returns
    -------
    vectors : array of shape (k, k)
        New functions in terms of the old; zero where a function is a combination of those before it.
    roughness : array of shape (k,)
        Roughness of the new functions: zero for the line, then increasing from 1.

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
    off = covariance[0, 1:] / covariance[0, 0]  # coefficients of the line in the other functions
    inner = covariance[1:, 1:] - np.outer(off, covariance[0, 1:])
    values, turned = np.linalg.eigh(inner)
    usable = values > DEPENDENT_SHARE * max(values.max(initial=0.0), DEPENDENT_SHARE)
    white = turned[:, usable] / np.sqrt(values[usable])
    rough, last = np.linalg.eigh(white.T @ (roughness[1:, None] * white))
    bent = white @ last
    vectors[1:, 1 : 1 + bent.shape[1]] = bent
    vectors[0, 1 : 1 + bent.shape[1]] = -off @ bent
    new[1 : 1 + len(rough)] = rough / rough.min(initial=np.inf)
    return vectors, new


def _nodes(column: NDArray[np.float64], most: int) -> NDArray[np.float64]:
    """Choose the nodes of a column: all values if there are few, otherwise half by rank and half by distance.

    With F the share of values up to x and U the share of the range, nodes lie at equal steps of F + U, so that the
    tails have nodes too.
    """
    values, counts = np.unique(column, return_counts=True)
    if len(values) == 1:
        return np.array([values[0], values[0] + (abs(values[0]) or 1.0)])
    if len(values) <= most:
        return values
    rank = (np.cumsum(counts) - counts) / (len(column) - counts[-1])
    place = rank + (values - values[0]) / (values[-1] - values[0])
    return np.unique(np.interp(np.linspace(0, 2, most), place, values))

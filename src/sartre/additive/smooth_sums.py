"""What any part of the rows can contribute to a model of smooths: inner products of hat functions, in whole numbers.

Every column has nodes, and a hat function for each: 1 there, 0 at the other nodes, straight between. All functions that
are straight between the nodes are sums of hats, so from the inner products of the hats of any two columns come those of
smooths with few knots or with many, without another look at the rows. The straight lines are the columns themselves,
as targets are: their sums by every column's hats, and their products, are added up too.

Weights between two nodes are whole numbers of 1 / 4096, values of 2^-16 standard deviations: all sums are exact, and
the same to the last bit however the rows are cut into parts, and in whatever order the parts are added.
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

MOST_NODES = 64  # of a column: the table of a pair, 32 KB, stays in a cache
TABLE_BYTES = 1 << 29  # of the tables of all pairs: with more than 181 columns, fewer nodes
FULL = 1 << 12  # the weight of one node
STEP = 2.0**16  # a standard deviation in fixed point
OUTERMOST = 2.0**21  # 32 standard deviations; values beyond are counted there
EXACT_ROWS = 2048  # 2^11 products of 2^42 at most: their sums are exact in double precision
LARGEST_SUM = 2**62  # of squares: one more batch of rows might not fit into 64 bits
DEPENDENT_SHARE = 1e-10  # of its mean square that a function must keep when those before it are taken off


@dataclass(frozen=True)
class SmoothTotals:
    """What n rows contribute; the totals of two parts of the rows add up (``a + b``), exactly.

    Attributes
    ----------
    n : int
    pairs : int64 array
        Products of two columns' hats: a table of nodes by nodes for each pair (0, 1), (0, 2), ..., (1, 2), ...
    own : int64 array of shape (nodes of all columns, 2)
        Squares of each hat, and its products with the next one.
    sums : int64 array of shape (nodes of all columns, d)
        Every column's values by all hats.
    line_products : int64 array of shape (1 + d, 1 + d)
        Of the constant and all columns' values.
    """

    n: int
    pairs: NDArray[np.int64]
    own: NDArray[np.int64]
    sums: NDArray[np.int64]
    line_products: NDArray[np.int64]

    def __add__(self, other: SmoothTotals) -> SmoothTotals:
        total = SmoothTotals(*(getattr(self, each.name) + getattr(other, each.name) for each in fields(self)))
        if np.diag(total.line_products).max(initial=0) > LARGEST_SUM:
            raise ValueError("Too many rows, or far larger values than in the sample, for sums of 64 bits.")
        return total


@dataclass(frozen=True)
class SmoothCounter:
    """Adds up the inner products of the hat functions of all columns.

    Attributes
    ----------
    nodes : d arrays, increasing, two values or more each
    centre, scale : arrays of shape (d,)
        Values are centred and scaled before they are rounded: mean and standard deviation of a sample.
    varied : boolean array of shape (d,)
        Which columns vary in the sample; others have no functions.

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
        """Nodes of every column."""
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
            Knots of every column, at most as many as nodes.
        columns : array of ints, optional
            Which columns, as variables and as targets; all by default. One that does not vary has no function, and its
            part of ``cross`` is zero.
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
        """Return the functions of a column that bend, at its nodes, centred over all rows, and their roughness."""
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
        """Return the inner products (over n) of the hats of a column with the standardised values of all."""
        first = starts(self.n_nodes)[j]
        return totals.sums[first : first + self.n_nodes[j]] / (totals.n * FULL * STEP)


def _orthonormal_gram(
    n: int, covariance: NDArray[np.float64], rank: NDArray[np.intp], rough: Sequence[NDArray[np.float64]]
) -> Gram:
    """Turn every column's functions, a straight line first, into orthonormal ones; those that vanish are left out."""
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
    usable = values > DEPENDENT_SHARE * max(values.max(initial=0.0), DEPENDENT_SHARE)
    white = turned[:, usable] / np.sqrt(values[usable])
    rough, last = np.linalg.eigh(white.T @ (roughness[1:, None] * white))
    bent = white @ last
    vectors[1:, 1 : 1 + bent.shape[1]] = bent
    vectors[0, 1 : 1 + bent.shape[1]] = -off @ bent
    new[1 : 1 + len(rough)] = rough / rough.min(initial=np.inf)
    return vectors, new


def _nodes(column: NDArray[np.float64], most: int) -> NDArray[np.float64]:
    """Choose the nodes of a column: its values if they are few; else half of them by rank and half by distance.

    With F the share of values up to x and U the share of the range, they are at equal steps of F + U: tails have nodes
    too.
    """
    values, counts = np.unique(column, return_counts=True)
    if len(values) == 1:
        return np.array([values[0], values[0] + (abs(values[0]) or 1.0)])
    if len(values) <= most:
        return values
    rank = (np.cumsum(counts) - counts) / (len(column) - counts[-1])
    place = rank + (values - values[0]) / (values[-1] - values[0])
    return np.unique(np.interp(np.linspace(0, 2, most), place, values))

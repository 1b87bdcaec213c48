"""Smooth functions of a variable: natural cubic splines on fine quantile bins, with their curvature as a penalty."""

from __future__ import annotations

from collections.abc import Collection, Iterator
from dataclasses import dataclass
from functools import cached_property

import numpy as np
from numpy.typing import NDArray

from sartre.additive.design import NOTHING, Basis, Rotation, encode, level_basis, rotate, with_missing
from sartre.data.table import mean_and_spread

MAX_BINS = 1024
CLOSEST = 1e-12  # share of the range: knots that are nearer to each other differ by rounding only


@dataclass(frozen=True)
class Spline:
    """The cardinal natural cubic splines of a variable: one function per knot, 1 at its knot and 0 at the others.

    Attributes
    ----------
    edges, centres : arrays of shape (B - 1,) and (B,)
        Inner borders of the bins, and the mean of the values in each.
    shift, scale : float
        Mean and standard deviation of the variable; the knots are on the standardised scale.
    knots : array of shape (K,)
    """

    edges: NDArray[np.float64]
    centres: NDArray[np.float64]
    shift: float
    scale: float
    knots: NDArray[np.float64]

    def __call__(self, x: NDArray[np.float64]) -> NDArray[np.float64]:
        """Evaluate all functions at all values, shape (len(x), K); they are linear beyond the outermost knots.

        In [k_j, k_j+1] of width h, with a = k_j+1 - z and b = z - k_j, the spline with values f and second derivatives
        s at the knots is (a f_j + b f_j+1) / h + (a^3 / h - h a) s_j / 6 + (b^3 / h - h b) s_j+1 / 6.
        """
        knots, second = self.knots, self._second
        if len(knots) < 2:
            return np.empty((len(x), 0))
        z = (x - self.shift) / self.scale
        inside = np.clip(z, knots[0], knots[-1])
        lower = np.clip(np.searchsorted(knots, inside, side="right") - 1, 0, len(knots) - 2)
        h, rows = np.diff(knots)[lower], np.arange(len(x))
        table, bent = np.zeros((2, len(x), len(knots)))
        for knot, away in ((lower, knots[lower + 1] - inside), (lower + 1, inside - knots[lower])):
            table[rows, knot] = away / h
            bent[rows, knot] = (away**3 / h - h * away) / 6
        table += bent @ second
        outside = z - inside
        if outside.any():
            h = np.diff(knots)
            slopes = np.diff(np.eye(len(knots)), axis=0) / h[:, None]
            first, last = slopes[0] - h[0] / 6 * second[1], slopes[-1] + h[-1] / 6 * second[-2]
            table += np.outer(np.minimum(outside, 0), first) + np.outer(np.maximum(outside, 0), last)
        return table

    def basis(self) -> Basis:
        """Return the functions on the bins, with the integrals of f_k'' f_l'' as their penalty."""
        table = self(self.centres)
        if len(self.knots) < 2:
            return Basis(self.edges, table, np.empty((0, 0)), np.empty(0))
        second, width = self._second, np.diff(self.knots)[:, None]
        before, after = second[:-1], second[1:]  # they are linear between knots, so the integrals are exact
        mixed = before.T @ (width * after) / 6
        penalty = before.T @ (width * before) / 3 + after.T @ (width * after) / 3 + mixed + mixed.T
        return Basis(self.edges, table, penalty, line=self.knots)

    @cached_property
    def _second(self) -> NDArray[np.float64]:
        """Second derivatives of all functions at all knots, (K, K): zero at both ends."""
        K, h = len(self.knots), np.diff(self.knots)
        second = np.zeros((K, K))
        if K > 2:
            slopes = np.diff(np.eye(K), axis=0) / h[:, None]
            within = np.diag((h[:-1] + h[1:]) / 3) + np.diag(h[1:-1] / 6, 1) + np.diag(h[1:-1] / 6, -1)
            second[1:-1] = np.linalg.solve(within, np.diff(slopes, axis=0))
        return second


def binned_rotation(smooth: Spline, column: NDArray[np.float64]) -> Rotation:
    """Return the rotation of `prepare`: it makes a column's splines orthonormal over the centres of its bins."""
    basis = smooth.basis()
    counts = np.bincount(encode(column, basis.edges), minlength=len(basis.table))
    return rotate(basis, counts / len(column))


def spline(column: NDArray[np.float64], n_splines: int) -> Spline:
    """Choose the bins and the knots of a column.

    Up to 1024 distinct values are kept; if there are more, they are replaced by the means of 1024 quantile bins (much
    as mgcv's ``bam(discrete=TRUE)`` does). The knots are quantiles of the remaining distinct values.

    Parameters
    ----------
    column : array of shape (n,)
    n_splines : int
        Number of knots; fewer if the column has fewer distinct values, one if it is constant.

    Examples
    --------
    >>> smooth = spline(np.linspace(0, 1, 5000), n_splines=10)
    >>> smooth.basis().table.shape
    (1024, 10)
    """
    edges, centres = _quantile_bins(column)
    shift, spread = mean_and_spread(column)
    scale = spread or 1.0
    places = np.linspace(0, len(centres) - 1, min(n_splines, len(centres)))
    knots = np.interp(places, np.arange(len(centres)), (centres - shift) / scale)
    apart = np.diff(knots, prepend=-np.inf) > CLOSEST * (knots[-1] - knots[0])
    return Spline(edges, centres, shift, scale, knots[apart])


def _quantile_bins(column: NDArray[np.float64]) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    """Return the inner borders of the bins and the mean of the values in each."""
    values, counts = np.unique(column, return_counts=True)
    if len(values) <= MAX_BINS:
        return values[:-1], values
    last = np.searchsorted(np.cumsum(counts), len(column) * np.arange(1, MAX_BINS) / MAX_BINS)
    ends = np.append(last, len(values) - 1)  # the last distinct value of each bin
    ends = ends[np.diff(ends, prepend=-1) > 0]
    starts = np.concatenate(([0], ends[:-1] + 1))
    offset = values[0]  # subtracted first, so that a large offset does not cost the bin means any digits
    means = offset + np.add.reduceat(counts * (values - offset), starts) / np.add.reduceat(counts, starts)
    return values[ends[:-1]], means


def smooth_bases(X: NDArray[np.float64], n_splines: int, nominal: Collection[int] = ()) -> Iterator[Basis]:
    """Yield the basis of every column for a model of penalised smooths.

    Parameters
    ----------
    X : array of shape (n, d)
        NaN where missing.
    n_splines : int
        Number of splines of a numeric column.
    nominal : collection of ints
        Columns whose values are levels.
    """
    for j, column in enumerate(X.T):
        observed = ~np.isnan(column)
        if not observed.any():
            yield NOTHING
            continue
        basis = level_basis(column) if j in nominal else spline(column[observed], n_splines).basis()
        yield basis if observed.all() else with_missing(basis)

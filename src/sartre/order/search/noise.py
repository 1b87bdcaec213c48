"""What residuals say of their own distribution: how much likelihood a spread and a density of theirs gain.

The likelihood of an order has the noise of every variable in it. If that is normal, the log of its variance is all
there is; if not, the density of the residual tells more, and which direction leaves the more regular one. It is fitted
as a smooth modification of the normal density, exp(sum of a_k P_k(F(r))), with Legendre polynomials P_k, k = 1, ..., 4,
and F the normal distribution function with the residual's mean and variance (the alternatives of Neyman's smooth test).

The size of the residual may follow the variables that the target depends on, too. Where most variables of a first order
show it, the residual is divided by a spread before its density is fitted: its absolute value regressed on two
polynomials of these variables' ranks, where that gains likelihood beyond a price. Not everywhere, because a spread also
makes up for a wrong direction: the residual of a cause given its effect has one.

The gain of a density is bounded: residuals that are extremely far from normal, as those of a cube or an exponential, do
not come from additive noise, and their densities would mislead.

References
----------
Neyman, "'Smooth' test for goodness of fit", Skandinavisk Aktuarietidskrift 20, 1937. Hyvärinen and Smith, "Pairwise
likelihood ratios for estimation of non-Gaussian structural equation models", JMLR 14, 2013.
"""

from __future__ import annotations

from collections.abc import Sequence
from copy import copy
from math import log, sqrt
from typing import TYPE_CHECKING

import numpy as np
from numpy.polynomial.legendre import leggauss, legvander
from numpy.typing import NDArray

from sartre.additive.design import spans
from sartre.additive.kernels.density import legendre_means, log_density_gain, residual_of
from sartre.data.row_sample import drawn_rows
from sartre.order.search.blocks import PAIR
from sartre.order.search.constants import (
    DENSITY_NUMBERS,
    DENSITY_ORDERS,
    DENSITY_PRICE,
    DENSITY_ROWS,
    LEAST_VARIANCE,
    LOWEST_SPREAD,
    MOST_COMMON,
    MOST_GAIN,
    MOST_SPREAD,
    ORDERS,
    SPREAD_ORDERS,
    SPREAD_PRICE,
)

if TYPE_CHECKING:
    from sartre.order.search.blocks import Blocks, Functions

_NODES = 64  # of the quadrature


class NoiseDensities:
    """What the densities of residuals add to local scores.

    Parameters
    ----------
    X : array of shape (n, d)
        Standardised columns, none constant. At most 5000 rows are used.
    functions, blocks : Functions, Blocks
        Of the same columns.
    """

    def __init__(self, X: NDArray[np.float64], functions: Functions, blocks: Blocks) -> None:
        n, d = X.shape
        size = min(n, DENSITY_ROWS, max(DENSITY_ORDERS, DENSITY_NUMBERS // max(1, d)))
        rows = np.arange(n) if size == n else drawn_rows(X, 0, size)
        self._own = {j: np.flatnonzero(np.isin(rows, own)) for j, (_, own) in blocks.own.items()}
        self._targets = np.ascontiguousarray(X[rows].T)
        used = [*(each[rows].T for each in functions.smooths), *functions.polynomials[:, :, rows]]
        self._table = np.vstack([np.empty((0, size)), *used])
        self._blocks, self._first, self._second = blocks, *_table_rows(functions, blocks)
        self._variables = np.column_stack([blocks.first, blocks.second])
        self._ranks = functions.polynomials[:, :SPREAD_ORDERS, rows]
        places, weights = leggauss(_NODES)
        scale = np.sqrt(2 * np.arange(1, DENSITY_ORDERS + 1) + 1)
        self._nodes, self._weights = legvander(places, DENSITY_ORDERS)[:, 1:] * scale, weights / 2
        columns = [X[:, j] if (own := blocks.rows_of(j)) is None else X[own, j] for j in range(d)]
        counts = [(np.unique(column, return_counts=True)[1].max(), len(column)) for column in columns]
        self._has_density = [bool(most <= MOST_COMMON * many) for most, many in counts]
        self._known: dict[tuple[int, tuple[int, ...]], float] = {}
        self.has_spread = False

    def look_for_spread(self, used: Sequence[tuple[int, tuple[int, ...]]]) -> bool:
        """Divide by a spread from now on if the sizes of most residuals follow variables; return whether they do.

        Parameters
        ----------
        used : sequence of pairs
            Targets, and the blocks that each depends on in some order.
        """
        if self.shows_spread(used):
            self.has_spread, self._known = True, {}
        return self.has_spread

    def shows_spread(self, used: Sequence[tuple[int, tuple[int, ...]]]) -> bool:
        """Return whether the sizes of most residuals follow variables.

        Parameters
        ----------
        used : sequence of pairs
            Targets, and the blocks that each depends on in some order.
        """
        dependent = [(target, blocks) for target, blocks in used if blocks and self._has_density[target]]
        gains = [self._divided_by_spread(self._residual(*each), *each) for each in dependent]
        return bool(dependent and np.mean(np.array(gains) > 0) > MOST_SPREAD)

    def with_spread(self) -> NoiseDensities:
        """Return the same for residuals that are divided by a spread."""
        other = copy(self)
        other.__dict__.update(has_spread=True, _known={})
        return other

    def __call__(self, target: int, blocks: tuple[int, ...]) -> float:
        """Return what the density of a target's residual, given some blocks, adds to its local score: zero or less."""
        if not self._has_density[target]:
            return 0.0
        found = self._known.get((target, blocks))
        if found is None:
            size = len(self._own[target]) if target in self._own else len(self._targets[target])
            price = DENSITY_PRICE * DENSITY_ORDERS * log(size) / size
            found = min(0.0, price - 2 * self._gain(target, blocks)) * self._blocks.offer(target).share
            self._known[target, blocks] = found
        return found

    def _gain(self, target: int, blocks: tuple[int, ...]) -> float:
        """Return the log likelihood that the density of a residual gains over the normal one, per row."""
        residual, mean = self._residual(target, blocks), np.empty(DENSITY_ORDERS)
        if not residual.std() > sqrt(LEAST_VARIANCE):
            return 0.0
        gain = self._divided_by_spread(residual, target, blocks) if self.has_spread and blocks else 0.0
        legendre_means(residual, mean)
        return gain + min(MOST_GAIN, float(log_density_gain(mean, self._nodes, self._weights)))

    def _residual(self, target: int, blocks: tuple[int, ...]) -> NDArray[np.float64]:
        """Return what some blocks leave of a target, at the rows that show its own mechanism."""
        gram, offer, y = self._blocks.gram, self._blocks.offer(target), self._targets[target]
        chosen = np.array(blocks, dtype=np.intp)
        columns, own = spans(gram.start[chosen], gram.rank[chosen]), offer.columns(chosen)
        beta = np.linalg.solve(offer.matrix[np.ix_(own, own)], offer.cross[own])
        residual = np.empty(len(y))
        residual_of(self._table, y, self._first[columns], self._second[columns], beta, residual)
        return residual[self._own[target]] if target in self._own else residual

    def _divided_by_spread(self, residual: NDArray[np.float64], target: int, blocks: tuple[int, ...]) -> float:
        """Divide a residual by a spread that follows the variables of some blocks, if that gains more than its price.

        Return the gain per row, less the price.
        """
        n, variables = len(residual), np.unique(self._variables[list(blocks)])
        if not residual.std() > sqrt(LEAST_VARIANCE):
            return 0.0
        residual -= residual.mean()
        size = np.abs(residual)
        ranks = self._ranks[variables]
        ranks = (ranks[:, :, self._own[target]] if target in self._own else ranks).reshape(-1, n)
        square = ranks @ ranks.T / n
        square.flat[:: len(square) + 1] += np.finfo(float).eps * n  # of a discrete column some polynomials are zero
        mean = float(size.mean())
        spread = np.maximum(mean + np.linalg.solve(square, ranks @ size / n) @ ranks, LOWEST_SPREAD * mean)
        divided = residual / spread
        gain = 0.5 * log(np.mean(residual**2) / np.mean(divided**2)) - float(np.mean(np.log(spread)))
        gain -= SPREAD_PRICE * len(ranks) * log(n) / (2 * n)
        if gain <= 0:
            return 0.0
        residual[:] = divided
        return gain


def _table_rows(functions: Functions, blocks: Blocks) -> tuple[NDArray[np.intp], NDArray[np.intp]]:
    """Return which two rows of the table make each column of the Gram matrix by their product; -1 for no second one."""
    n_smooths = sum(smooth.shape[1] for smooth in functions.smooths)
    first, second = np.arange(len(blocks.gram.matrix)), np.full(len(blocks.gram.matrix), -1)
    orders = functions.polynomials.any(axis=2).sum(axis=1)
    for block in np.flatnonzero(blocks.kind == PAIR).tolist():
        a, b, start = blocks.first[block], blocks.second[block], blocks.gram.start[block]
        columns = slice(start, start + blocks.gram.rank[block])
        first[columns] = n_smooths + ORDERS * a + np.repeat(np.arange(orders[a]), orders[b])
        second[columns] = n_smooths + ORDERS * b + np.tile(np.arange(orders[b]), orders[a])
    return first, second

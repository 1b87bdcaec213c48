"""Pairs of variables that act together: products of polynomials of their ranks, searched in the residual of a model.

Every variable has orthonormal polynomials P_1 to P_4 of its ranks. For a residual r of variance s^2 and a pair (a, b),

    z_pq = sum_i P_p(a_i) P_q(b_i) r_i / (s sqrt(n)),        T = sum_pq z_pq^2 / (p q),

low orders weighted more because functions are smooth. The levels of a category have no order: its functions are
orthonormal contrasts, all of one order (that whose weight is the mean of a polynomial's), up to five levels; a
category with more is in no pair. A missing value has no part in any function.

All pairs cost one matrix product. Under the null, T is a weighted sum of chi-squares whose weights come from the Gram
matrix of the 16 products, projected off the model and off both variables' own polynomials: dependent columns make the
products dependent, and taking them as independent would make the tail much too light.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property, lru_cache
from typing import TYPE_CHECKING, NamedTuple

import numpy as np
from scipy.stats import rankdata

from sartre.additive._search_kernels import block_squares, row_products, split_by_sign
from sartre.additive.chi_square import weighted_chi_square_tail
from sartre.additive.design import Basis, diagonalise, rotate

if TYPE_CHECKING:
    from collections.abc import Callable, Collection

    from numpy.typing import NDArray

DEGREE = 4
ALL_PAIRS = 100  # up to so many candidates every pair is looked at; above, pairs with a variable that is promising
BLOCK = 128  # candidates whose functions are held in single precision at a time; no fewer than ALL_PAIRS
WORTH = 10  # bounds: a pair whose tail under independence is heavier is not looked at
LOOKED_AT = 10  # pairs whose exact null is computed, those with the largest T
GRID = 25  # points of a surface along each variable
_ORDERS = np.arange(1.0, DEGREE + 1)
_WEIGHTS = 1 / np.outer(_ORDERS, _ORDERS).ravel()


class Pair(NamedTuple):
    """The best pair of a search: its two variables, and a p-value corrected for the number of pairs."""

    first: int
    second: int
    p_value: float


@dataclass(frozen=True)
class PairBasis:
    """What pairs are made of.

    values (d, n, 4): functions of every variable, orthonormal over the samples, or zero; orders (d, 4): of each;
    grids: for every variable, samples whose values are the grid of a surface, increasing; useful (d,): whether it has
    functions that are not zero.
    """

    values: NDArray[np.float64]
    orders: NDArray[np.float64]
    grids: list[NDArray[np.intp]]
    useful: NDArray[np.bool_]

    @cached_property
    def weighted(self) -> NDArray[np.float32]:
        """All functions over the roots of their orders, (n, d, 4): T needs no weights, and no double precision."""
        weighted = np.empty((self.values.shape[1], len(self.values), DEGREE), dtype=np.float32)
        for j, functions in enumerate(self.values):  # one by one: another table in double precision may not fit
            weighted[:, j] = functions / np.sqrt(self.orders[j])
        return weighted


def pair_basis(X: NDArray[np.float64], nominal: Collection[int] = ()) -> PairBasis:
    """Return polynomials of the ranks of every column, contrasts of the levels where a column is nominal.

    Examples
    --------
    >>> basis = pair_basis(np.array([[1.0, 0.0], [5.0, 1.0], [2.0, 2.0], [np.nan, 1.0]]), nominal={1})
    >>> basis.orders.round(2).tolist()
    [[1.0, 2.0, 3.0, 4.0], [1.33, 1.33, 1.33, 1.33]]
    >>> basis.grids[0].tolist(), basis.grids[1].tolist()
    ([0, 2, 1], [0, 1, 2])
    """
    n, d = X.shape
    values, orders, grids = np.zeros((d, n, DEGREE)), np.tile(_ORDERS, (d, 1)), []
    for j, column in enumerate(X.T):
        there = np.flatnonzero(~np.isnan(column))
        if len(there) == 0:
            grids.append(there)
        elif j in nominal:
            contrasts = _contrasts(column[there])
            m = contrasts.shape[1]
            values[j][there, :m] = contrasts * np.sqrt(n / len(there))
            orders[j] = max(m, 1) / (1 / _ORDERS[: max(m, 1)]).sum()
            grids.append(there[np.unique(column[there], return_index=True)[1]])
        else:
            values[j][there] = rank_polynomials(column[there][:, None])[0] * np.sqrt(n / len(there))
            grids.append(there[_spread_out(column[there])])
    return PairBasis(values, orders, grids, np.array([functions[:, 0].any() for functions in values], dtype=bool))


def _contrasts(levels: NDArray[np.float64]) -> NDArray[np.float64]:
    """Return orthonormal functions of up to five levels, shape (n, levels - 1); none where there are more."""
    present = np.unique(levels)
    if len(present) > DEGREE + 1:
        return np.empty((len(levels), 0))
    table = (levels[:, None] == present).astype(np.float64)
    rotation = rotate(Basis(np.empty(0), table, np.zeros((len(present), len(present)))), _even(len(table)))
    return (table - rotation.mean) @ rotation.vectors


def _even(n: int) -> NDArray[np.float64]:
    return np.full(n, 1.0 / n)


def _spread_out(column: NDArray[np.float64]) -> NDArray[np.intp]:
    """Return samples at up to 25 quantiles of a variable, each value once, increasing."""
    order = np.argsort(column, kind="stable")
    rows = order[np.linspace(0, len(order) - 1, GRID).round().astype(np.intp)]
    return rows[np.diff(column[rows], prepend=-np.inf) > 0]


def rank_polynomials(X: NDArray[np.float64]) -> NDArray[np.float64]:
    """Return polynomials of degree 1 to 4 of each column's ranks, shape (d, n, 4), orthonormal over the samples.

    Ties share their average rank. A column with k distinct values has k - 1 polynomials; the others are zero.

    Examples
    --------
    >>> P = rank_polynomials(np.array([[1.0, 0.0], [5.0, 0.0], [2.0, 1.0], [9.0, 1.0], [3.0, 1.0]]))
    >>> (P[0].T @ P[0] / 5).round(6).diagonal().tolist(), (P[1].T @ P[1] / 5).round(6).diagonal().tolist()
    ([1.0, 1.0, 1.0, 1.0], [1.0, 0.0, 0.0, 0.0])
    """
    n, d = X.shape
    result = np.zeros((d, n, DEGREE))
    for j, column in enumerate(X.T):
        order = np.argsort(column)
        if (np.diff(column[order]) > 0).all():
            result[j][order] = _polynomials_of_all_ranks(n)
        else:
            result[j] = _polynomials((2 * rankdata(column) - n - 1) / n)
    return result


@lru_cache(maxsize=8)
def _polynomials_of_all_ranks(n: int) -> NDArray[np.float64]:
    return _polynomials((2 * np.arange(1.0, n + 1) - n - 1) / n)


def _polynomials(u: NDArray[np.float64]) -> NDArray[np.float64]:
    """Return polynomials of degree 1 to 4, orthonormal over the values u, shape (n, 4)."""
    n = len(u)
    result = np.zeros((n, DEGREE))
    Q, R = np.linalg.qr(np.polynomial.legendre.legvander(u, DEGREE))
    real = np.zeros(DEGREE + 1, dtype=bool)
    real[: R.shape[0]] = np.abs(np.diag(R)) > 1e-8 * np.sqrt(n)
    kept = np.flatnonzero(real[1:])
    result[:, kept] = np.sqrt(n) * Q[:, kept + 1]
    return result


def products(first: NDArray[np.float64], second: NDArray[np.float64]) -> NDArray[np.float64]:
    """Return the products of two variables' polynomials, shape (n, 16)."""
    table = np.empty((len(first), first.shape[1] * second.shape[1]))
    row_products(first, second, table)
    return table


class PairFunctions(NamedTuple):
    """Orthonormal functions of a pair over the samples, smoothest first.

    values (n, k); roughness (k,), 1 and above; mean (16,), vectors (16, k): values = (products - mean) @ vectors;
    back (k, 16): products - mean = values @ back.
    """

    values: NDArray[np.float64]
    roughness: NDArray[np.float64]
    mean: NDArray[np.float64]
    vectors: NDArray[np.float64]
    back: NDArray[np.float64]


def pair_functions(basis: PairBasis, first: int, second: int) -> PairFunctions:
    """Return the functions of a pair of variables."""
    table = products(basis.values[first], basis.values[second])
    table -= (mean := _even(len(table)) @ table)
    square = table.T @ table / len(table)
    penalty = np.diag((basis.orders[first][:, None] ** 2 + basis.orders[second] ** 2).ravel() ** 2 / 4)
    rotation = diagonalise(mean, square, penalty)
    return PairFunctions(
        table @ rotation.vectors, rotation.roughness, mean, rotation.vectors, rotation.vectors.T @ square
    )


class PairSearch:
    """The search for pairs among some candidates, whatever the residual.

    Parameters
    ----------
    basis : PairBasis
    candidates : array of ints
        Variables that may form pairs.
    """

    def __init__(self, basis: PairBasis, candidates: NDArray[np.intp]) -> None:
        candidates = candidates[basis.useful[candidates]]
        self._basis, self._candidates = basis, candidates
        self._all = self._functions(np.arange(len(candidates))) if len(candidates) <= ALL_PAIRS else None

    def best(
        self,
        promising: NDArray[np.intp],
        model: Collection[int | tuple[int, int]],
        residual: NDArray[np.float64],
        tail: Callable[[tuple[int, int]], float],
        bound: float,
    ) -> list[Pair]:
        """Return the pair that explains most of a residual, if its p-value is below a bound, and some more.

        More are pairs of variables that are both in the model. They bring no variable with them, and of those that
        explain the same the tests to come remove all but one: so they need not wait for a search of their own.

        Parameters
        ----------
        promising : array of ints
            With more than 100 candidates only pairs with one of these are looked at.
        model : collection of variables and pairs
            What is fitted already.
        residual : array of shape (n,)
        tail : callable
            Gives the p-value of T for one pair, `pair_tail` for a model.
        bound : float
            Of a p-value that is corrected for the number of pairs.
        """
        rows, a, b = self._pairs(promising)
        values = self._statistics(rows, residual)[a, b] / float(residual @ residual) if len(a) else np.empty(0)
        largest = np.argpartition(-values, LOOKED_AT)[:LOOKED_AT] if len(values) > LOOKED_AT else np.arange(len(values))
        found: list[Pair] = []
        for place in largest[np.argsort(-values[largest], kind="stable")]:
            least = min([min(1.0, WORTH * bound), *(each.p_value for each in found)])
            independent = weighted_chi_square_tail(float(values[place]), _WEIGHTS) * len(values)
            if independent > max(least, bound):
                break  # to save time: one exact tail in four is a third of this or less, and a weak pair is missed
            one, other = int(self._candidates[rows[a[place]]]), int(self._candidates[b[place]])
            pair, inside = (min(one, other), max(one, other)), one in model and other in model
            if pair in model or not (inside or independent <= least):
                continue
            p_value = min(1.0, tail(pair) * len(values))
            if p_value < least or inside:
                found.append(Pair(*pair, p_value))
        found = sorted((pair for pair in found if pair.p_value < bound), key=lambda pair: pair.p_value)
        return [pair for k, pair in enumerate(found) if k == 0 or (pair.first in model and pair.second in model)]

    def _pairs(self, promising: NDArray[np.intp]) -> tuple[NDArray[np.intp], NDArray[np.intp], NDArray[np.intp]]:
        """Return the candidates that are one of a pair, and each pair once: a place among them, one among all."""
        m = len(self._candidates)
        if m <= ALL_PAIRS:
            rows, (a, b) = np.arange(m), np.triu_indices(m, 1)
        else:
            rows, places = np.flatnonzero(np.isin(self._candidates, promising)), np.arange(m)
            a, b = np.nonzero(~np.isin(places, rows) | (rows[:, None] < places))
        return rows, a, b

    def _statistics(self, rows: NDArray[np.intp], residual: NDArray[np.float64]) -> NDArray[np.float32]:
        """Return sum_pq (sum_i P_p P_q r)^2 / (p q) for some candidates with all.

        For all with all the sums are the squares of the samples with r > 0 less those of the others: half the work.
        """
        values = np.empty((len(rows), len(self._candidates)), dtype=np.float32)
        if self._all is not None and len(rows) == len(self._candidates):
            scaled = np.empty_like(self._all)
            n_above = split_by_sign(self._all, residual, scaled)
            above, below = scaled[:n_above], scaled[n_above:]
            block_squares(above.T @ above - below.T @ below, DEGREE, values)
            return values
        left = self._functions(rows) * residual[:, None].astype(np.float32)
        for first in range(0, len(self._candidates), BLOCK):
            some = np.arange(first, min(first + BLOCK, len(self._candidates)))
            part = np.empty((len(rows), len(some)), dtype=np.float32)
            block_squares(left.T @ self._functions(some), DEGREE, part)
            values[:, some] = part
        return values

    def _functions(self, places: NDArray[np.intp]) -> NDArray[np.float32]:
        """Return the functions of some candidates, (n, 4 k): T need not be exact, pairs looked at are done again."""
        weighted = self._basis.weighted
        return np.take(weighted, self._candidates[places], axis=1).reshape(len(weighted), -1)


class LeftOfPair(NamedTuple):
    """What a model of a target leaves of a pair: four functions of the first, four of the second, their 16 products.

    square (24, 24), cross (24,): mean products of what is left with each other and with what is left of the target;
    rows (n, 25) or None: the same, and of the target, sample by sample, where variances may differ.
    """

    square: NDArray[np.float64]
    cross: NDArray[np.float64]
    rows: NDArray[np.float64] | None


def pair_tail(left: LeftOfPair, orders: NDArray[np.float64], variance: float, n: int) -> float:
    """Return the p-value of T for one pair, with the weights of its products once its own functions are projected off.

    Where variances may differ, each sample's own squared residual stands for its variance; the larger p-value counts.

    Parameters
    ----------
    left : LeftOfPair
    orders : array of shape (16,)
        Of the products.
    variance : float
        Of the noise.
    n : int
        Number of samples.
    """
    own, both = slice(2 * DEGREE), slice(2 * DEGREE, None)
    values, vectors = np.linalg.eigh(left.square[own, own])
    real = values > 1e-12
    alone = vectors[:, real] / np.sqrt(values[real])  # the variables' own functions, orthonormal
    shared = alone.T @ left.square[own, both]
    roots = np.sqrt(orders)
    square = (left.square[both, both] - shared.T @ shared) / np.outer(roots, roots)
    z = (left.cross[both] - shared.T @ (alone.T @ left.cross[own])) / roots
    statistic = n * float(z @ z)
    tails = [_quadratic_tail(statistic, square * variance)]
    if left.rows is not None:
        mine, noise = left.rows[:, :-1], left.rows[:, -1]
        rows = (mine[:, both] - mine[:, own] @ (alone @ shared)) / roots
        rows *= (noise - mine[:, own] @ (alone @ (alone.T @ left.cross[own])))[:, None]
        tails.append(_quadratic_tail(statistic, rows.T @ rows / n))
    return max(tails)


def _quadratic_tail(statistic: float, covariance: NDArray[np.float64]) -> float:
    """Return P(|z|^2 > statistic) for z normal with a covariance."""
    weights = np.asarray(np.linalg.eigvalsh(covariance), dtype=np.float64)
    weights = weights[weights > 1e-9 * max(weights[-1], 1e-300)]
    return weighted_chi_square_tail(statistic, weights) if len(weights) else 1.0

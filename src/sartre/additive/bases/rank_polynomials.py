"""Orthonormal polynomials of a column's ranks, and the functions of pairs of variables built from them."""

from __future__ import annotations

from collections.abc import Collection
from dataclasses import dataclass
from functools import cached_property, lru_cache
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray
from scipy.stats import rankdata

from sartre.additive.design import Basis, diagonalise, rotate
from sartre.additive.kernels.pairs import row_products

DEGREE = 4


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


POLYNOMIAL_ORDERS = np.arange(1.0, DEGREE + 1)


@dataclass(frozen=True)
class PairBasis:
    """The functions of single variables from which those of pairs are built.

    values (d, n, 4): functions of every variable, orthonormal over the samples, or zero; orders (d, 4): the order of
    each function; useful (d,): whether a variable has functions that are not zero.
    """

    values: NDArray[np.float64]
    orders: NDArray[np.float64]
    useful: NDArray[np.bool_]

    @cached_property
    def weighted(self) -> NDArray[np.float32]:
        """Functions over the roots of their orders, (n, d, 4): T then needs no weights and no double precision."""
        weighted = np.empty((self.values.shape[1], len(self.values), DEGREE), dtype=np.float32)
        for j, functions in enumerate(self.values):  # a second table in double precision may not fit in memory
            weighted[:, j] = functions / np.sqrt(self.orders[j])
        return weighted


def pair_basis(X: NDArray[np.float64], nominal: Collection[int] = ()) -> PairBasis:
    """Return polynomials of the ranks of every column, or contrasts of the levels if the column is nominal.

    Examples
    --------
    >>> basis = pair_basis(np.array([[1.0, 0.0], [5.0, 1.0], [2.0, 2.0], [np.nan, 1.0]]), nominal={1})
    >>> basis.orders.round(2).tolist()
    [[1.0, 2.0, 3.0, 4.0], [1.33, 1.33, 1.33, 1.33]]
    """
    n, d = X.shape
    values, orders = np.zeros((d, n, DEGREE)), np.tile(POLYNOMIAL_ORDERS, (d, 1))
    for j, column in enumerate(X.T):
        observed = np.flatnonzero(~np.isnan(column))
        if len(observed) == 0:
            continue
        if j in nominal:
            contrasts = _contrasts(column[observed])
            m = contrasts.shape[1]
            values[j][observed, :m] = contrasts * np.sqrt(n / len(observed))
            orders[j] = max(m, 1) / (1 / POLYNOMIAL_ORDERS[: max(m, 1)]).sum()
        else:
            values[j][observed] = rank_polynomials(column[observed][:, None])[0] * np.sqrt(n / len(observed))
    return PairBasis(values, orders, np.array([functions[:, 0].any() for functions in values], dtype=bool))


def _contrasts(levels: NDArray[np.float64]) -> NDArray[np.float64]:
    """Return orthonormal functions of up to five levels, shape (n, levels - 1); none if there are more levels."""
    present = np.unique(levels)
    if len(present) > DEGREE + 1:
        return np.empty((len(levels), 0))
    table = (levels[:, None] == present).astype(np.float64)
    rotation = rotate(Basis(np.empty(0), table, np.zeros((len(present), len(present)))), _even(len(table)))
    return (table - rotation.mean) @ rotation.vectors


def _even(n: int) -> NDArray[np.float64]:
    return np.full(n, 1.0 / n)


def pair_products(first: NDArray[np.float64], second: NDArray[np.float64]) -> NDArray[np.float64]:
    """Return the products of two variables' polynomials, shape (n, 16)."""
    table = np.empty((len(first), first.shape[1] * second.shape[1]))
    row_products(first, second, table)
    return table


class PairFunctions(NamedTuple):
    """Orthonormal functions of a pair over the samples, smoothest first.

    values (n, k); roughness (k,), at least 1; mean (16,), vectors (16, k): values = (products - mean) @ vectors;
    back (k, 16): products - mean = values @ back.
    """

    values: NDArray[np.float64]
    roughness: NDArray[np.float64]
    mean: NDArray[np.float64]
    vectors: NDArray[np.float64]
    back: NDArray[np.float64]


def pair_functions(basis: PairBasis, first: int, second: int) -> PairFunctions:
    """Return the functions of a pair of variables."""
    table = pair_products(basis.values[first], basis.values[second])
    table -= (mean := _even(len(table)) @ table)
    square = table.T @ table / len(table)
    penalty = np.diag((basis.orders[first][:, None] ** 2 + basis.orders[second] ** 2).ravel() ** 2 / 4)
    rotation = diagonalise(mean, square, penalty)
    return PairFunctions(
        table @ rotation.vectors, rotation.roughness, mean, rotation.vectors, rotation.vectors.T @ square
    )

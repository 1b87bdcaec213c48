"""Pairs of variables that act together: products of polynomials of their ranks, searched in the residual of a model.

Every variable has orthonormal polynomials P_1 to P_4 of its ranks. For a residual r of variance s^2 and a pair (a, b),

    z_pq = sum_i P_p(a_i) P_q(b_i) r_i / (s sqrt(n)),        T = sum_pq z_pq^2 / (p q),

low orders weighted more because functions are smooth. All pairs cost one matrix product. Under the null, T is a
weighted sum of chi-squares whose weights come from the Gram matrix of the 16 products, projected off the model and
off both variables' own polynomials: dependent columns make the products dependent, and taking them as independent
would make the tail much too light.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

import numpy as np
from scipy.linalg import solve_triangular
from scipy.stats import rankdata

from sartre.additive.chi_square import weighted_chi_square_tail
from sartre.additive.design import Basis, rotate

if TYPE_CHECKING:
    from numpy.typing import NDArray

DEGREE = 4
ALL_PAIRS = 100  # up to so many candidates every pair is looked at; above, pairs with a variable of the model
LOOKED_AT = 10  # pairs whose exact null is computed, those with the largest T
_ORDERS = np.array([(p, q) for p in range(1, DEGREE + 1) for q in range(1, DEGREE + 1)])
_WEIGHTS = 1.0 / _ORDERS.prod(axis=1)
_ROUGHNESS = ((_ORDERS**2).sum(axis=1) / 2.0) ** 2


class Pair(NamedTuple):
    """The best pair of a search: its two variables, and a p-value corrected for the number of pairs."""

    first: int
    second: int
    p_value: float


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
    for j in range(d):
        u = (2 * rankdata(X[:, j]) - n - 1) / n
        Q, R = np.linalg.qr(np.polynomial.legendre.legvander(u, DEGREE))
        real = np.zeros(DEGREE + 1, dtype=bool)
        real[: R.shape[0]] = np.abs(np.diag(R)) > 1e-8 * np.sqrt(n)
        kept = np.flatnonzero(real[1:])
        result[j][:, kept] = np.sqrt(n) * Q[:, kept + 1]
    return result


def products(first: NDArray[np.float64], second: NDArray[np.float64]) -> NDArray[np.float64]:
    """Return the centred products of two variables' polynomials, shape (n, 16)."""
    table = (first[:, :, None] * second[:, None, :]).reshape(len(first), -1)
    return table - table.mean(axis=0)


def pair_functions(
    first: NDArray[np.float64], second: NDArray[np.float64]
) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    """Return orthonormal functions (n, k) of a pair, smoothest first, and the roughness of each (1 and above)."""
    table = products(first, second)
    share = np.full(len(table), 1.0 / len(table))
    rotation = rotate(Basis(np.empty(0), table, np.diag(_ROUGHNESS)), share)
    return table @ rotation.vectors, rotation.roughness


def best_pair(
    polynomials: NDArray[np.float64],
    candidates: NDArray[np.intp],
    inside: NDArray[np.intp],
    residual: NDArray[np.float64],
    functions: NDArray[np.float64],
    variance: float,
) -> Pair | None:
    """Return the pair that explains most of a residual, or None where there is none to look at.

    Parameters
    ----------
    polynomials : array of shape (d, n, 4)
    candidates : array of ints
        Variables that may form pairs.
    inside : array of ints
        Those that the model has already; with many candidates only pairs with one of them are looked at.
    residual : array of shape (n,)
    functions : array of shape (n, q)
        The model's functions, off which products are projected.
    variance : float
        Of the noise.
    """
    n = len(residual)
    rows = candidates if len(candidates) <= ALL_PAIRS else inside
    if len(rows) == 0 or len(candidates) < 2:
        return None
    statistic = _statistics(polynomials[rows], polynomials[candidates], residual) / (n * variance)
    fresh = (
        rows[:, None] < candidates if rows is candidates else ~np.isin(candidates, rows) | (rows[:, None] < candidates)
    )
    a, b = np.nonzero(fresh)
    values = statistic[a, b]
    found = None
    project = _projector(functions)
    for place in np.argsort(-values, kind="stable")[:LOOKED_AT]:
        if weighted_chi_square_tail(float(values[place]), _WEIGHTS) * len(values) > 1.0:
            break  # not even if the products were independent
        first, second = sorted((int(rows[a[place]]), int(candidates[b[place]])))
        p_value = _exact_tail(polynomials[first], polynomials[second], residual, variance, project) * len(values)
        if found is None or p_value < found.p_value:
            found = Pair(first, second, min(p_value, 1.0))
    return found


def _statistics(
    left: NDArray[np.float64], right: NDArray[np.float64], residual: NDArray[np.float64]
) -> NDArray[np.float64]:
    """Return sum_pq (sum_i P_p P_q r)^2 / (p q) for all pairs of variables, by one product."""
    n = len(residual)
    A = left.transpose(1, 0, 2).reshape(n, -1)
    B = right.transpose(1, 0, 2).reshape(n, -1)
    sums = ((A * residual[:, None]).T @ B).reshape(len(left), DEGREE, len(right), DEGREE)
    return np.einsum("apbq,pq->ab", sums**2, _WEIGHTS.reshape(DEGREE, DEGREE))


class _projector:  # noqa: N801 - used as a function
    """Projection off the span of some functions, by one Cholesky factor."""

    def __init__(self, functions: NDArray[np.float64]) -> None:
        self._functions = functions
        square = functions.T @ functions
        self._factor = np.linalg.cholesky(square + 1e-8 * np.eye(len(square)) * max(1.0, square.max(initial=0.0)))

    def __call__(self, columns: NDArray[np.float64]) -> NDArray[np.float64]:
        half = solve_triangular(self._factor, self._functions.T @ columns, lower=True, check_finite=False)
        return columns - self._functions @ solve_triangular(self._factor.T, half, lower=False, check_finite=False)


def _exact_tail(
    first: NDArray[np.float64],
    second: NDArray[np.float64],
    residual: NDArray[np.float64],
    variance: float,
    project: _projector,
) -> float:
    """Return the p-value of T for one pair, with the weights of its projected products."""
    n = len(residual)
    table = project(np.column_stack([first, second, products(first, second), residual]))
    own, rest = table[:, : 2 * DEGREE], table[:, 2 * DEGREE :]
    left, scales, _ = np.linalg.svd(own, full_matrices=False)
    left = left[:, scales > 1e-6 * np.sqrt(n)]
    rest = rest - left @ (left.T @ rest)
    scaled = rest[:, :-1] * np.sqrt(_WEIGHTS)
    weights = np.asarray(np.linalg.eigvalsh(scaled.T @ scaled / n), dtype=np.float64)
    weights = weights[weights > 1e-9]
    if len(weights) == 0:
        return 1.0
    z = scaled.T @ rest[:, -1]
    return weighted_chi_square_tail(float(z @ z) / (n * variance), weights)

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
    """Return the products of two variables' polynomials, shape (n, 16)."""
    return (first[:, :, None] * second[:, None, :]).reshape(len(first), -1)


class PairFunctions(NamedTuple):
    """Orthonormal functions of a pair over the samples, smoothest first.

    values (n, k); roughness (k,), 1 and above; mean (16,), vectors (16, k): values = (products - mean) @ vectors.
    """

    values: NDArray[np.float64]
    roughness: NDArray[np.float64]
    mean: NDArray[np.float64]
    vectors: NDArray[np.float64]


def pair_functions(first: NDArray[np.float64], second: NDArray[np.float64]) -> PairFunctions:
    """Return the functions of a pair from the polynomials (n, 4) of both."""
    table = products(first, second)
    share = np.full(len(table), 1.0 / len(table))
    rotation = rotate(Basis(np.empty(0), table, np.diag(_ROUGHNESS)), share)
    return PairFunctions(
        (table - rotation.mean) @ rotation.vectors, rotation.roughness, rotation.mean, rotation.vectors
    )


class PairSearch:
    """The search for pairs among some candidates, whatever the residual.

    Parameters
    ----------
    polynomials : array of shape (d, n, 4)
    candidates : array of ints
        Variables that may form pairs.
    """

    def __init__(self, polynomials: NDArray[np.float64], candidates: NDArray[np.intp]) -> None:
        self._polynomials, self._candidates = polynomials, candidates
        mine = polynomials[candidates].astype(np.float32)  # T need not be exact: the pairs looked at are done again
        self._wide = mine.transpose(1, 0, 2).reshape(polynomials.shape[1], -1)

    def best(
        self,
        inside: NDArray[np.intp],
        residual: NDArray[np.float64],
        project: Projection,
        variance: float,
        robust: bool = False,
    ) -> Pair | None:
        """Return the pair that explains most of a residual, or None where there is none to look at.

        Parameters
        ----------
        inside : array of ints
            Variables that the model has already; with many candidates only pairs with one of them are looked at.
        residual : array of shape (n,)
        project : Projection
            Off the model's functions.
        variance : float
            Of the noise.
        robust : bool
            Whether it may differ between samples.
        """
        places = np.arange(len(self._candidates))
        rows = places if len(places) <= ALL_PAIRS else np.flatnonzero(np.isin(self._candidates, inside))
        if len(rows) == 0 or len(places) < 2:
            return None
        a, b = np.nonzero(~np.isin(places, rows) | (rows[:, None] < places))
        values = self._statistics(rows, residual)[a, b] / float(residual @ residual)
        found = None
        for place in np.argsort(-values, kind="stable")[:LOOKED_AT]:
            independent = weighted_chi_square_tail(float(values[place]), _WEIGHTS) * len(values)
            if independent > (1.0 if found is None else found.p_value):
                break  # the tail is hardly ever lighter than if the products were independent
            pair = sorted((int(self._candidates[rows[a[place]]]), int(self._candidates[b[place]])))
            first, second = (self._polynomials[j] for j in pair)
            p_value = _exact_tail(first, second, residual, variance, project, robust) * len(values)
            if found is None or p_value < found.p_value:
                found = Pair(pair[0], pair[1], min(p_value, 1.0))
        return found

    def _statistics(self, rows: NDArray[np.intp], residual: NDArray[np.float64]) -> NDArray[np.float32]:
        """Return sum_pq (sum_i P_p P_q r)^2 / (p q) for some candidates with all, by one product."""
        whole = len(rows) == len(self._candidates)
        columns = (DEGREE * rows[:, None] + np.arange(DEGREE)).ravel()
        left = (self._wide if whole else self._wide[:, columns]) * residual[:, None].astype(np.float32)
        sums = (left.T @ self._wide).reshape(len(rows), DEGREE, -1, DEGREE)
        return np.einsum("apbq,pq->ab", sums**2, _WEIGHTS.reshape(DEGREE, DEGREE).astype(np.float32))


class Projection:
    """Projection off the span of some functions (n, q), whose mean products (q, q) are known."""

    def __init__(self, functions: NDArray[np.float64], square: NDArray[np.float64]) -> None:
        self._functions = functions
        self._factor = np.linalg.cholesky(square + 1e-8 * np.eye(len(square)) * max(1.0, square.max(initial=0.0)))

    def __call__(self, columns: NDArray[np.float64]) -> NDArray[np.float64]:
        """Return what is left of the columns (n, k)."""
        inner = self._functions.T @ columns / len(columns)
        half = solve_triangular(self._factor, inner, lower=True, check_finite=False)
        return columns - self._functions @ solve_triangular(self._factor.T, half, lower=False, check_finite=False)


def _exact_tail(
    first: NDArray[np.float64],
    second: NDArray[np.float64],
    residual: NDArray[np.float64],
    variance: float,
    project: Projection,
    robust: bool,
) -> float:
    """Return the p-value of T for one pair, with the weights of its projected products.

    Where variances may differ, each sample's own squared residual stands for its variance; the larger p-value counts.
    """
    n = len(residual)
    both = products(first, second)
    table = project(np.column_stack([first, second, both - both.mean(axis=0), residual]))
    own, rest = table[:, : 2 * DEGREE], table[:, 2 * DEGREE :]
    left, scales, _ = np.linalg.svd(own, full_matrices=False)
    left = left[:, scales > 1e-6 * np.sqrt(n)]
    rest = rest - left @ (left.T @ rest)
    scaled, noise = rest[:, :-1] * np.sqrt(_WEIGHTS), rest[:, -1]
    z = scaled.T @ noise
    statistic = float(z @ z) / n
    tails = [_quadratic_tail(statistic, scaled * np.sqrt(variance))]
    if robust:
        tails.append(_quadratic_tail(statistic, scaled * noise[:, None]))
    return max(tails)


def _quadratic_tail(statistic: float, rows: NDArray[np.float64]) -> float:
    """Return P(|z|^2 > statistic) for z normal with the covariance rows' rows / n."""
    weights = np.asarray(np.linalg.eigvalsh(rows.T @ rows / len(rows)), dtype=np.float64)
    weights = weights[weights > 1e-9 * max(weights[-1], 1e-300)]
    return weighted_chi_square_tail(statistic, weights) if len(weights) else 1.0

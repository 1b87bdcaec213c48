"""Tests of whether a term is zero: tails of weighted chi-square sums, Wood's test, and a robust covariance.

The tails use the saddlepoint approximation of Lugannani and Rice (Kuonen, 1999). With K(t) the logarithm of
E exp(t sum_k w_k chi^2_{h_k}), K(t) = -1/2 sum_k h_k log(1 - 2 t w_k), and K'(t) = q at the saddlepoint t, the tail
beyond q is 1 - Phi(r + log(v / r) / r), r = sign(t) sqrt(2 (t q - K(t))), v = t sqrt(K''(t)). It is accurate to a few
percent even in the far tail, where matching two moments is wrong by large factors.
"""

from __future__ import annotations

from functools import lru_cache
from typing import TYPE_CHECKING, Any, cast

import numpy as np
from numpy.typing import NDArray
from scipy.optimize import brentq
from scipy.special import fdtrc

from sartre.additive.kernels import significance as kernels

if TYPE_CHECKING:
    from sartre.additive.smoothing import Solved


def weighted_chi_square_tail(q: float, weights: NDArray[np.float64]) -> float:
    """Return P(sum_k w_k chi^2_1 > q) for positive weights.

    Examples
    --------
    >>> round(weighted_chi_square_tail(18.307, np.ones(10)), 3), round(weighted_chi_square_tail(5.0, np.ones(2)), 3)
    (0.05, 0.083)
    """
    if q <= 0:
        return 1.0
    return kernels.tail(q, weights, np.ones(len(weights)), -len(weights) / (2 * q))


def weighted_f_tail(total: float, weights: NDArray[np.float64], df: float) -> float:
    """Return P(sum_k w_k chi^2_1 > total * chi^2_df / df), the tail of a sum of squares over the estimated noise.

    Examples
    --------
    >>> from scipy.stats import f
    >>> round(float(weighted_f_tail(3 * 4.0, np.ones(3), 50.0) / f.sf(4.0, 3, 50)), 1)
    1.0
    """
    return kernels.f_tail(total, weights, df)


def weighted_chi_square_quantile(level: float, weights: NDArray[np.float64]) -> float:
    """Return the q with P(sum_k w_k chi^2_1 > q) = level.

    Examples
    --------
    >>> round(weighted_chi_square_quantile(0.05, np.ones(10)), 1)
    18.3
    """
    return _quantile(level, tuple(np.round(weights, 12).tolist()))


@lru_cache(maxsize=10_000)
def _quantile(level: float, weights: tuple[float, ...]) -> float:
    array = np.array(weights)
    high = float(array.sum()) + 1e-3
    while weighted_chi_square_tail(high, array) > level:
        high *= 2
    root: Any = brentq(lambda q: weighted_chi_square_tail(q, array) - level, 1e-9 * high, high)
    return float(root)


SMALL, NEGLIGIBLE = 0.02, 1e-15  # the exact tail is computed for p-values in between


def wood_tests(
    beta: NDArray[np.float64],
    V: NDArray[np.float64],
    owner: NDArray[np.intp],
    rank: NDArray[np.float64],
    residual_df: float,
) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    """Test whether each of p smooths is zero (Wood, "On p-values for smooth components", Biometrika 2013).

    T = beta' V^r- beta, where V^r- is the inverse of V restricted to its r largest directions. A fractional
    r = k + nu shares the weight between the k-th and (k+1)-th direction through the matrix [[1, rho], [rho, nu]],
    rho^2 = nu (1 - nu) / 2. The sign of rho is arbitrary, so the results of both signs are averaged. The test is
    defined for fitted values; in orthonormal functions, coefficients are equivalent to fitted values.

    Parameters
    ----------
    beta, V : arrays of shape (q,) and (q, q)
        Coefficients in orthonormal functions, and their covariance.
    owner : array of ints, shape (q,)
        The smooth that each coefficient belongs to.
    rank : array of shape (p,)
        Reference degrees of freedom of each smooth, at most the number of its coefficients.
    residual_df : float

    Returns
    -------
    statistic, p_value : arrays of shape (p,)
        T / r, and its tail: that of F(r, residual_df) where r is an integer or the p-value is not small; otherwise
        that of the ratio of a weighted sum of chi-squares, the distribution of T, to the estimated noise. NaN without
        residual degrees of freedom; 0 and 1 for a smooth without coefficients.

    Examples
    --------
    >>> statistic, p_value = wood_tests(np.array([2.0]), np.eye(1), np.array([0]), np.array([1.0]), residual_df=1e6)
    >>> statistic.round(3).tolist(), p_value.round(3).tolist()
    ([4.0], [0.046])
    """
    rank, totals = np.array(rank, dtype=np.float64), np.empty((len(rank), 2))
    kernels.wood_statistics(beta, V, owner, rank, totals)
    filled = np.bincount(owner, minlength=len(rank)) > 0
    rank[~filled] = 1.0
    if residual_df < 1:
        return np.where(filled, np.nan, 0.0), np.where(filled, np.nan, 1.0)
    p_value = fdtrc(rank[:, None], residual_df, totals / rank[:, None]).mean(axis=1)
    exact = (p_value > NEGLIGIBLE) & (p_value < SMALL) & (totals[:, 0] != totals[:, 1])
    if exact.any():
        p_value[exact] = np.nan
        kernels.wood_tails(rank, totals, float(residual_df), p_value)
    return totals.mean(axis=1) / rank, p_value


MOST_LEVERAGE = 0.9
SINGLE_PRECISION = 1 << 20  # numbers in a table of functions, above which sums of squares need no double precision


def group_sums(rows: NDArray[np.float64], groups: NDArray[np.intp]) -> NDArray[np.float64]:
    """Return the sums of rows (n, q) over groups (n,), scaled by sqrt(G / (G - 1)) for G groups.

    Examples
    --------
    >>> group_sums(np.array([[1.0], [2.0], [5.0]]), np.array([0, 0, 1])).round(2).tolist()
    [[4.24], [7.07]]
    """
    number, codes = np.unique(groups, return_inverse=True)
    sums = np.zeros((len(number), rows.shape[1]), dtype=rows.dtype)
    np.add.at(sums, codes, rows)
    return sums * np.sqrt(len(number) / max(len(number) - 1, 1))


def robust_covariance(
    solved: Solved,
    functions: NDArray[np.float64],
    residual: NDArray[np.float64],
    groups: NDArray[np.intp] | None = None,
) -> NDArray[np.float64]:
    """Return the covariance V (q, q) of a fit's coefficients, valid for any noise variance of each sample.

    With X the functions (n, q) in use, P = (X'X / n + L)^-1 and e the residuals (n,), each divided by one minus its
    leverage (HC3), V = P (X' diag(e^2) X / n + sigma^2 L) P / n. If all samples have variance sigma^2, this is the
    Bayesian covariance sigma^2 P / n that Wood's test uses: the penalty's part, which accounts for smoothing bias, is
    unchanged, and only the sampling part is estimated from the residuals. Where samples belong to groups (n,), within
    which the noise may be dependent, the residuals of a group are those of a fit without it (CR3), and the rows of
    diag(e) X are added up over each group.
    """
    n = len(residual)
    if functions.size > SINGLE_PRECISION:
        functions, residual = (cast("Any", each.astype(np.float32)) for each in (functions, residual))
    turned = functions @ solved.inverse.astype(functions.dtype)
    if groups is None:
        leverage = np.minimum(leverages(turned, functions), MOST_LEVERAGE)
        moved = turned * (residual / (1 - leverage))[:, None]
    else:
        moved = group_sums(turned * _without_group(turned, functions, residual, groups)[:, None], groups)
    smoothing = (solved.inverse * (solved.scale * solved.penalty)) @ solved.inverse
    return (moved.T @ moved / n + smoothing) / n


def _without_group(
    turned: NDArray[np.float64],
    functions: NDArray[np.float64],
    residual: NDArray[np.float64],
    groups: NDArray[np.intp],
) -> NDArray[np.float64]:
    """Return the residuals (n,) of each group in a fit without it: (I - H_g)^-1 e_g, H_g its part of the hat matrix."""
    left_out, n = np.empty_like(residual), len(residual)
    order = np.argsort(groups, kind="stable")
    for rows in np.split(order, np.flatnonzero(np.diff(groups[order])) + 1):
        hat = turned[rows] @ functions[rows].T / n
        share = min(1.0, MOST_LEVERAGE / max(float(np.trace(hat)), np.finfo(float).tiny))  # a group may be nearly all
        left_out[rows] = np.linalg.solve(np.eye(len(rows), dtype=hat.dtype) - share * hat, residual[rows])
    return left_out


def leverages(turned: NDArray[np.float64], functions: NDArray[np.float64]) -> NDArray[np.float64]:
    """Return the leverage of every sample, excluding the mean's contribution, shape (n,).

    turned (n, q): the functions (n, q) that the model uses, times P.
    """
    return np.einsum("ij,ij->i", turned, functions) / len(functions)

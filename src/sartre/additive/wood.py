"""Whether a penalised smooth is zero: Wood's test (Biometrika 100, 2013)."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
from scipy.special import fdtrc

from sartre.additive import _test_kernels

if TYPE_CHECKING:
    from numpy.typing import NDArray

SMALL, NEGLIGIBLE = 0.02, 1e-15  # p-values between which the exact tail is worth its time


def wood_tests(
    beta: NDArray[np.float64],
    V: NDArray[np.float64],
    owner: NDArray[np.intp],
    rank: NDArray[np.float64],
    residual_df: float,
) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    """Test whether each of p smooths is zero (Wood, "On p-values for smooth components", Biometrika 2013).

    T = beta' V^r- beta, where V^r- is the inverse of V restricted to its r largest directions; a fractional
    r = k + nu gives the k-th and (k+1)-th a share each through the matrix [[1, rho], [rho, nu]],
    rho^2 = nu (1 - nu) / 2. The sign of rho is arbitrary, so both are taken and averaged. In orthonormal functions
    coefficients are fitted values, as the test wants.

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
        T / r, and its tail: F(r, residual_df) where r is whole or the p-value is not small; else the ratio of the
        weighted sum of chi-squares that T then is to the noise's. NaN without residual degrees of freedom; 0 and 1
        for a smooth without coefficients.

    Examples
    --------
    >>> statistic, p_value = wood_tests(np.array([2.0]), np.eye(1), np.array([0]), np.array([1.0]), residual_df=1e6)
    >>> statistic.round(3).tolist(), p_value.round(3).tolist()
    ([4.0], [0.046])
    """
    rank, totals = np.array(rank, dtype=np.float64), np.empty((len(rank), 2))
    _test_kernels.wood_statistics(beta, V, owner, rank, totals)
    filled = np.bincount(owner, minlength=len(rank)) > 0
    rank[~filled] = 1.0
    if residual_df < 1:
        return np.where(filled, np.nan, 0.0), np.where(filled, np.nan, 1.0)
    p_value = fdtrc(rank[:, None], residual_df, totals / rank[:, None]).mean(axis=1)
    exact = (p_value > NEGLIGIBLE) & (p_value < SMALL) & (totals[:, 0] != totals[:, 1])
    if exact.any():
        p_value[exact] = np.nan
        _test_kernels.wood_tails(rank, totals, float(residual_df), p_value)
    return totals.mean(axis=1) / rank, p_value

"""Whether a penalised smooth is zero: Wood's test (Biometrika 100, 2013)."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
from scipy.special import fdtrc

from sartre.additive.chi_square import weighted_f_tail

if TYPE_CHECKING:
    from numpy.typing import NDArray

SMALL, NEGLIGIBLE = 0.02, 1e-15  # p-values between which the exact tail is worth its time


def wood_test(
    beta: NDArray[np.float64], V: NDArray[np.float64], rank: float, residual_df: float
) -> tuple[float, float]:
    """Test whether a smooth is zero (Wood, "On p-values for smooth components", Biometrika 2013).

    T = beta' V^r- beta, where V^r- is the inverse of V restricted to its r largest directions; a fractional
    r = k + nu gives the k-th and (k+1)-th a share each through the matrix [[1, rho], [rho, nu]],
    rho^2 = nu (1 - nu) / 2. The sign of rho is arbitrary, so both are taken and averaged. In orthonormal functions
    coefficients are fitted values, as the test wants.

    Parameters
    ----------
    beta, V : arrays of shape (k,) and (k, k)
        Coefficients in orthonormal functions, and their covariance.
    rank : float
        Reference degrees of freedom, at most k.
    residual_df : float

    Returns
    -------
    statistic, p_value : float
        T / r, and its tail: F(r, residual_df) where r is whole or the p-value is not small; else the ratio of the
        weighted sum of chi-squares that T then is to the noise's. NaN without residual degrees of freedom.

    Examples
    --------
    >>> statistic, p_value = wood_test(np.array([2.0]), np.eye(1), rank=1.0, residual_df=1e6)
    >>> round(statistic, 3), round(p_value, 3)
    (4.0, 0.046)
    """
    if len(beta) == 0:
        return 0.0, 1.0
    if residual_df < 1:
        return np.nan, np.nan
    values, vectors = np.linalg.eigh(V) if len(beta) > 1 else (V[0], np.ones((1, 1)))
    values, z = values[::-1], (vectors.T @ beta)[::-1]
    usable = int((values > values[0] * 1e-14).sum())
    rank = float(np.clip(rank, 1.0, max(usable, 1)))
    k = int(rank)
    nu = rank - k
    z = z[: k + 1] / np.sqrt(np.maximum(values[: k + 1], np.finfo(float).tiny))
    base = z[:k] @ z[:k]
    if nu < 1e-8 or k >= usable:
        totals = np.array([base])
    else:
        mixed = 2 * np.sqrt(nu * (1 - nu) / 2) * z[k - 1] * z[k]
        totals = base + nu * z[k] ** 2 + np.array([mixed, -mixed])
    statistic, p_value = totals.mean() / rank, fdtrc(rank, residual_df, totals / rank).mean()
    if len(totals) > 1 and NEGLIGIBLE < p_value < SMALL:
        larger = (1 + nu + np.sqrt((1 + nu) * (1 - nu))) / 2  # the two eigenvalues of [[1, rho], [rho, nu]]
        weights = np.concatenate([np.ones(k - 1), [larger, 1 + nu - larger]])
        p_value = np.mean([weighted_f_tail(float(total), weights, residual_df) for total in totals])
    return float(statistic), float(p_value)

"""Tests that hold whatever the variance of each sample's noise, columns without tails, and when either is called for.

With X the functions in use, P = (X'X / n + L)^-1 and e the residuals, each over one minus its leverage (HC3), the
coefficients of a penalised fit have the covariance

    V = P (X' diag(e^2) X / n + sigma^2 L) P / n.

Where all samples have the variance sigma^2 this is the Bayesian covariance sigma^2 P / n that Wood's test uses: the
penalty's part, which stands for the bias of smoothing, is kept, and only the sampling part follows the samples.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
from scipy.special import ndtri
from scipy.stats import rankdata

from sartre.additive.group_lasso import gradient_norms

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from sartre.additive.design import Design
    from sartre.additive.smoothing import Solved

MOST_LEVERAGE = 0.9
HEAVY = 1.5  # excess kurtosis of a residual, half that of Laplace noise
UNEQUAL = 1e-4  # p-value, over all candidates, at which the variance of a residual follows one of them


def normal_scores(X: NDArray[np.float64]) -> NDArray[np.float64]:
    """Replace the values of every column by the normal quantiles of their ranks; equal values stay equal, NaN NaN.

    Examples
    --------
    >>> normal_scores(np.array([[1.0], [1000.0], [2.0]])).round(2).ravel().tolist()
    [-0.97, 0.97, 0.0]
    """
    n = (~np.isnan(X)).sum(axis=0)
    return np.asfortranarray(ndtri((rankdata(X, axis=0, nan_policy="omit") - 0.5) / n))


def robust_covariance(
    solved: Solved, functions: NDArray[np.float64], residual: NDArray[np.float64]
) -> NDArray[np.float64]:
    """Return V, shape (q, q).

    Parameters
    ----------
    solved : Solved
    functions : array of shape (n, q)
        Those that the model uses.
    residual : array of shape (n,)
    """
    n = len(residual)
    turned = functions @ solved.inverse
    leverage = np.minimum(leverages(turned, functions), MOST_LEVERAGE)
    moved = turned * (residual / (1 - leverage))[:, None]
    smoothing = (solved.inverse * (solved.scale * solved.penalty)) @ solved.inverse
    return (moved.T @ moved / n + smoothing) / n


def leverages(turned: NDArray[np.float64], functions: NDArray[np.float64]) -> NDArray[np.float64]:
    """Return how much of every sample's own value is in its fitted value (but for the mean's part), shape (n,).

    Parameters
    ----------
    turned : array of shape (n, q)
        The functions times P.
    functions : array of shape (n, q)
        Those that the model uses.
    """
    return np.einsum("ij,ij->i", turned, functions) / len(functions)


def has_heavy_tails(values: NDArray[np.float64]) -> bool:
    """Return whether the excess kurtosis is more than 1.5."""
    squares = (values - values.mean()) ** 2
    return bool(np.mean(squares * squares) > (3 + HEAVY) * squares.mean() ** 2)


def calls_for_robust(
    residual: NDArray[np.float64], intervals: Design, candidates: NDArray[np.intp], norms: NDArray[np.float64]
) -> bool:
    """Return whether a residual has heavy tails, or a size that follows one of the candidates.

    Parameters
    ----------
    residual : array of shape (n,)
    intervals : Design
    candidates : array of ints
    norms : array of shape (d,)
        What the size's gradient norm exceeds by chance with probability `UNEQUAL` over all (`calibration.py`).
    """
    if has_heavy_tails(residual):
        return True
    size = np.abs(residual - residual.mean())
    gradients = gradient_norms(intervals, size, candidates)
    return bool((gradients * np.sqrt(len(size)) > norms[candidates] * size.std()).any())

"""The automatic penalty: how large a group's gradient is when the group has nothing to say.

If y is noise of variance sigma^2, independent of variable j, then n |Phi_j' y / n|^2 / sigma^2 is (nearly) distributed
as sum_k D_jk chi^2_1, where D_j is the spectrum of the group (`design.py`). So the penalty sigma sqrt(q_j / n), with
q_j the upper quantile of that sum at a level, lets a useless group in with that probability: whatever the unit of the
target, the number of samples, trees or distinct values.
"""

from __future__ import annotations

from functools import lru_cache
from threading import Lock
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray
from scipy.optimize import brentq

from sartre.additive.chi_square import weighted_chi_square_tail
from sartre.additive.group_lasso import Solution, solve

if TYPE_CHECKING:
    from sartre.additive.design import Design

ROUNDS = 3  # of penalty and noise level, each from the other


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


def null_norms(design: Design, level: float) -> NDArray[np.float64]:
    """Return sqrt(q_j) of every variable: what sqrt(n) / sigma times its gradient norm exceeds by chance."""
    quantiles = np.zeros(len(design.rank))
    for j in np.flatnonzero(design.rank > 0).tolist():
        quantiles[j] = weighted_chi_square_quantile(level, design.eigenvalues(j))
    return np.sqrt(quantiles)


class NullNorms:
    """The null norms of a design at any level, each level computed once, whichever thread asks first."""

    def __init__(self, design: Design) -> None:
        self._design, self._lock, self._known = design, Lock(), dict[float, NDArray[np.float64]]()

    def at(self, level: float) -> NDArray[np.float64]:
        """Return `null_norms` at a level."""
        with self._lock:
            if level not in self._known:
                self._known[level] = null_norms(self._design, level)
            return self._known[level]


def solve_calibrated(
    design: Design, target: NDArray[np.float64], candidates: NDArray[np.intp], norms: NDArray[np.float64], tol: float
) -> Solution:
    """Fit one target with the penalty sigma sqrt(q_j / n), sigma estimated from the residual along the way.

    Parameters
    ----------
    design : Design
    target : array of shape (n,)
    candidates : array of ints
    norms : array
        What `null_norms` gives for the design.
    tol : float
        As in `solve`.
    """
    sigma = float(np.std(target))
    weights = norms[candidates] / np.sqrt(len(target))
    solution = solve(design, target, candidates, sigma, weights=weights, tol=tol)
    for _ in range(ROUNDS - 1):
        sigma = float(np.std(solution.residual))
        solution = solve(design, target, candidates, sigma, weights=weights, start=solution, tol=tol)
    return solution

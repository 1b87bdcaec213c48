"""Tails of weighted sums of chi-squares, by the saddlepoint approximation of Lugannani and Rice (Kuonen, 1999).

With K(t) = -1/2 sum_k h_k log(1 - 2 t w_k) the logarithm of E exp(t sum_k w_k chi^2_{h_k}), and K'(t) = q at the
saddlepoint t, the tail beyond q is 1 - Phi(r + log(v / r) / r), r = sign(t) sqrt(2 (t q - K(t))), v = t sqrt(K''(t)):
within a few percent down to the far tail, where matching two moments is wrong by factors.
"""

from __future__ import annotations

from math import sqrt
from typing import TYPE_CHECKING

import numpy as np

from sartre.additive import _kernels

if TYPE_CHECKING:
    from numpy.typing import NDArray


def weighted_chi_square_tail(q: float, weights: NDArray[np.float64]) -> float:
    """Return P(sum_k w_k chi^2_1 > q) for positive weights.

    Examples
    --------
    >>> round(weighted_chi_square_tail(18.307, np.ones(10)), 3), round(weighted_chi_square_tail(5.0, np.ones(2)), 3)
    (0.05, 0.083)
    """
    if q <= 0:
        return 1.0
    return _tail(q, weights, np.ones(len(weights)), -len(weights) / (2 * q))


def weighted_f_tail(total: float, weights: NDArray[np.float64], df: float) -> float:
    """Return P(sum_k w_k chi^2_1 > total * chi^2_df / df): the tail of a sum of squares in units of estimated noise.

    Examples
    --------
    >>> from scipy.stats import f
    >>> round(float(weighted_f_tail(3 * 4.0, np.ones(3), 50.0) / f.sf(4.0, 3, 50)), 1)
    1.0
    """
    if total <= 0:
        return 1.0
    both = np.append(weights, -total / df)
    degrees = np.append(np.ones(len(weights)), df)
    return _tail(0.0, both, degrees, 0.5 / both[-1] * (1 - 1e-12))


def _tail(q: float, w: NDArray[np.float64], h: NDArray[np.float64], low: float) -> float:
    """Return P(sum_k w_k chi^2_{h_k} > q); K'(low) <= q."""
    mean, spread = float(h @ w), sqrt(2 * float(h @ w**2))
    if abs(q - mean) < 1e-3 * spread:  # the formula is 0 / 0 at the mean: step aside, it is smooth there
        below, above = (_tail(mean + side * 2e-3 * spread, w, h, low) for side in (-1, 1))
        return below + (above - below) * ((q - mean) / (4e-3 * spread) + 0.5)
    high = 0.5 / float(w.max()) * (1 - 1e-14)
    return _kernels.saddlepoint_tail(q, w, h, low, high)

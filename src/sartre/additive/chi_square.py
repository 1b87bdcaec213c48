"""Tails of weighted sums of chi-squares, by the saddlepoint approximation of Lugannani and Rice (Kuonen, 1999).

With K(t) = -1/2 sum_k h_k log(1 - 2 t w_k) the logarithm of E exp(t sum_k w_k chi^2_{h_k}), and K'(t) = q at the
saddlepoint t, the tail beyond q is 1 - Phi(r + log(v / r) / r), r = sign(t) sqrt(2 (t q - K(t))), v = t sqrt(K''(t)):
within a few percent down to the far tail, where matching two moments is wrong by factors.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from sartre.additive import _test_kernels

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
    return _test_kernels.tail(q, weights, np.ones(len(weights)), -len(weights) / (2 * q))


def weighted_f_tail(total: float, weights: NDArray[np.float64], df: float) -> float:
    """Return P(sum_k w_k chi^2_1 > total * chi^2_df / df): the tail of a sum of squares in units of estimated noise.

    Examples
    --------
    >>> from scipy.stats import f
    >>> round(float(weighted_f_tail(3 * 4.0, np.ones(3), 50.0) / f.sf(4.0, 3, 50)), 1)
    1.0
    """
    return _test_kernels.f_tail(total, weights, df)

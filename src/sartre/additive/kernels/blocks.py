"""The compiled loops for the local scores of orders; they check nothing."""

from __future__ import annotations

import numpy as np

from sartre.additive.kernels.compilation import compiled

_PIVOT = 1e-12  # smallest squared pivot of a factor; smaller values are rounding


@compiled()
def explained(square, c, L, w):
    """Return c' S^-1 c = |w|^2 with L L' = S and L w = c.

    in: square (k, k) the lower triangle of S, c (k,); out: L (>= k, >= k), w (>= k,)
    """
    total = 0.0
    for p in range(c.size):
        for q in range(p):
            value = square[p, q]
            for r in range(q):
                value -= L[p, r] * L[q, r]
            L[p, q] = value / L[q, q]
        pivot = square[p, p]
        value = c[p]
        for r in range(p):
            pivot -= L[p, r] * L[p, r]
            value -= L[p, r] * w[r]
        L[p, p] = np.sqrt(max(pivot, _PIVOT))
        w[p] = value / L[p, p]
        total += w[p] * w[p]
    return total


@compiled()
def block_gains(width, half, cross, variance, floor, squares, gain):
    """Project the columns just fitted out of every block, and compute how much each would lower the log variance next.

    Block b has the next width[b] rows of half and cross, and the next width[b]^2 entries of squares:

        S_b -= H_b H_b',        gain_b = -log(1 - c_b' S_b^-1 c_b / variance)

    in: width (m,), half H (columns, k), cross c (columns,), variance, floor (of the unexplained variance)
    in and out: squares (lower triangles); out: gain (m,)
    """
    if width.size == 0:
        return
    widest = width.max()
    L = np.empty((widest, widest))
    w = np.empty(widest)
    column = 0
    place = 0
    for b in range(width.size):
        k = width[b]
        S = squares[place : place + k * k].reshape(k, k)
        for p in range(k):
            for q in range(p + 1):
                lost = 0.0
                for t in range(half.shape[1]):
                    lost += half[column + p, t] * half[column + q, t]
                S[p, q] -= lost
        unexplained = variance - explained(S, cross[column : column + k], L, w)
        gain[b] = -np.log(max(unexplained, floor) / variance)
        column += k
        place += k * k

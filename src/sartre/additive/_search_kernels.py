"""The compiled loops of the local scores and of the search for pairs, nothing checked."""

# ruff: noqa: ANN001, ANN202 - numba infers the types; each docstring says what goes in and out

from __future__ import annotations

import numpy as np

from sartre.additive._kernels import compiled

_PIVOT = 1e-12  # smallest squared pivot of a factor: less is rounding


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
    """Take what was just fitted off every block, and compute how much each would lower the log variance next.

    Block b has the next width[b] rows of half and cross, and the next width[b]^2 numbers of squares:

        S_b -= H_b H_b',        gain_b = -log(1 - c_b' S_b^-1 c_b / variance)

    in: width (m,), half H (columns, k), cross c (columns,), variance, floor (of what is left of it)
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
        left = variance - explained(S, cross[column : column + k], L, w)
        gain[b] = -np.log(max(left, floor) / variance)
        column += k
        place += k * k


@compiled(fastmath={"reassoc", "contract", "nsz"})
def block_squares(sums, width, values):
    """Add up the squares of every block of `width` rows and columns.

    in: sums (width a, width b), width; out: values (a, b)
    """
    values[:] = 0.0
    for i in range(sums.shape[0]):
        for j in range(sums.shape[1]):
            values[i // width, j // width] += sums[i, j] * sums[i, j]


@compiled()
def row_products(first, second, out):
    """Multiply every column of one table with every column of another. in: (n, a), (n, b); out: (n, a b)."""
    n, width = second.shape
    for i in range(n):
        for p in range(first.shape[1]):
            for q in range(width):
                out[i, p * width + q] = first[i, p] * second[i, q]


@compiled()
def split_by_sign(rows, residual, out):
    """Scale every row by the root of |r_i|: those with r_i > 0 first, the others from the end. Returns how many are.

    in: rows (n, k), residual (n,); out: (n, k)
    """
    first, last = 0, len(rows) - 1
    for i in range(len(rows)):
        root = rows.dtype.type(np.sqrt(abs(residual[i])))
        place = first if residual[i] > 0 else last
        for k in range(rows.shape[1]):
            out[place, k] = root * rows[i, k]
        if residual[i] > 0:
            first += 1
        else:
            last -= 1
    return first

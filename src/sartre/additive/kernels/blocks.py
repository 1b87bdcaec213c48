"""The compiled loops for the local scores of orders; they check nothing.

Functions that were fitted are kept as rows of `fitted`: a row has the inner products of one of them, made orthonormal
to those before it, with all columns. `path` lists the rows of one model, in sequence.
"""

from __future__ import annotations

import numpy as np

from sartre.additive.kernels.compilation import _FAST, compiled

_PIVOT = 1e-12  # smallest squared pivot of a factor; smaller values are rounding


@compiled(fastmath=_FAST)
def fit_block(matrix, columns, start, at, width, path, fitted, own, first, cross):
    """Fit one more block: make its functions orthonormal, and project them off the target.

    in: matrix (inner products of all functions), columns (c,) of it, the block's start in the matrix, its place `at`
    among the columns and its width, path
    in and out: fitted (rows, c) and own (rows,), the inner products with the target, from row `first` on; cross (c,)
    out: the variance that the block explains
    """
    explained = 0.0
    n_columns = columns.size
    for t in range(width):
        row = fitted[first + t]
        for c in range(n_columns):
            row[c] = matrix[start + t, columns[c]]
        for p in range(path.size + t):
            other = fitted[path[p] if p < path.size else first + p - path.size]
            weight = other[at + t]
            for c in range(n_columns):
                row[c] -= weight * other[c]
        scale = 1.0 / np.sqrt(max(row[at + t], _PIVOT))
        product = cross[at + t] * scale
        for c in range(n_columns):
            row[c] *= scale
            cross[c] -= product * row[c]
        own[first + t] = product
        explained += product * product
    return explained


@compiled()
def _widest(width):
    """Return the largest width of a block, zero if there is none."""
    widest = 0
    for b in range(width.size):
        widest = max(widest, width[b])
    return widest


@compiled(fastmath=_FAST)
def block_gains(width, new, cross, variance, floor, squares, gain):
    """Project the functions just fitted out of every block, and compute how much each would lower the log variance.

    Block b has the next width[b] columns of new and entries of cross, and the next width[b]^2 entries of squares:

        S_b -= H_b H_b',        gain_b = -log(1 - c_b' S_b^-1 c_b / variance)

    in: width (m,), new H' (k, columns), cross c (columns,), variance, floor (of the unexplained variance)
    in and out: squares (lower triangles); out: gain (m,)
    """
    widest = _widest(width)
    L = np.empty((widest, widest))
    w = np.empty(widest)
    column = 0
    place = 0
    for b in range(width.size):
        k = width[b]
        explained = 0.0
        for p in range(k):
            value = cross[column + p]
            for q in range(p + 1):
                inner = squares[place + p * k + q]
                for t in range(new.shape[0]):
                    inner -= new[t, column + p] * new[t, column + q]
                squares[place + p * k + q] = inner
                for r in range(q):
                    inner -= L[p, r] * L[q, r]
                if q < p:
                    L[p, q] = inner / L[q, q]
                    value -= L[p, q] * w[q]
                else:
                    L[p, p] = np.sqrt(max(inner, _PIVOT))
            w[p] = value / L[p, p]
            explained += w[p] * w[p]
        gain[b] = -np.log(max(variance - explained, floor) / variance)
        column += k
        place += k * k


@compiled(fastmath=_FAST)
def _invert_factor(fitted, path, at, width, inverse):
    """Compute the inverse of the factor that the functions of a model have in `fitted`. in and out: inverse (K, K)."""
    position = 0
    for b in range(width.size):
        for t in range(width[b]):
            c = at[b] + t
            inverse[position, position] = 1.0 / fitted[path[position], c]
            for q in range(position):
                value = 0.0
                for r in range(q, position):
                    value += fitted[path[r], c] * inverse[r, q]
                inverse[position, q] = -value * inverse[position, position]
            position += 1


@compiled(fastmath=_FAST)
def shrink(fitted, own, path, at, width, price, floor):
    """Drop blocks from a model one by one, each time the one whose price exceeds its worth by most.

    in: fitted, own, path of the model, of a target of variance one; place `at` among the columns, width and price of
    each of its m blocks; floor of the variance that is left
    out: which blocks stay (m,), and the variance that they leave
    """
    m, K = width.size, path.size
    variance = 1.0
    for p in range(K):
        variance -= own[path[p]] ** 2
    inverse = np.zeros((K, K))  # of the factor L: L L' are the inner products of the functions
    _invert_factor(fitted, path, at, width, inverse)
    V, beta = np.zeros((K, K)), np.zeros(K)
    for r in range(K):
        for i in range(r + 1):
            beta[i] += inverse[r, i] * own[path[r]]
            for j in range(r + 1):
                V[i, j] += inverse[r, i] * inverse[r, j]
    stay, first = np.empty(m, np.bool_), np.zeros(m, np.intp)
    for b in range(m):
        stay[b] = True
        if b > 0:
            first[b] = first[b - 1] + width[b - 1]
    widest = _widest(width)
    L = np.empty((widest, widest))
    w = np.empty(widest)
    while True:
        best, worst, lost = 0.0, -1, 0.0
        for b in range(m):
            if not stay[b]:
                continue
            a, k = first[b], width[b]
            loss = _form(V[a : a + k, a : a + k], beta[a : a + k], L, w)
            gain = price[b] - np.log(max(variance + loss, floor) / max(variance, floor))
            if gain > best:
                best, worst, lost = gain, b, loss
        if worst < 0:
            return stay, max(variance, floor)
        stay[worst] = False
        variance += lost
        _sweep_out(V, beta, first[worst], width[worst])


@compiled()
def _form(square, c, L, w):
    """Return c' S^-1 c = |w|^2 with L L' = S and L w = c."""
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


@compiled(fastmath=_FAST)
def _sweep_out(V, beta, start, width):
    """Drop functions from a model: update the inverse V of the inner products, and the coefficients of the others."""
    K = beta.size
    for j in range(start, start + width):
        pivot = max(V[j, j], _PIVOT)
        ratio = beta[j] / pivot
        for i in range(K):
            if i != j:
                beta[i] -= V[i, j] * ratio
        beta[j] = 0.0
        for i in range(K):
            if i == j:
                continue
            share = V[i, j] / pivot
            for r in range(K):
                if r != j:
                    V[i, r] -= share * V[j, r]
        for i in range(K):
            V[i, j] = V[j, i] = 0.0
        V[j, j] = 1.0

"""The compiled loop of the local scores: forward selection of blocks on a Gram matrix, nothing checked."""

# ruff: noqa: ANN001, ANN202 - numba infers the types; each docstring says what goes in and out

from __future__ import annotations

import numpy as np

from sartre.additive._kernels import compiled

_FAST = {"reassoc", "contract", "nsz"}


@compiled()
def factor(S, k, L):
    """Write the lower Cholesky factor of the leading k x k part of S into L; pivots are at least 1e-12."""
    for p in range(k):
        for q in range(p + 1):
            total = S[p, q]
            for r in range(q):
                total -= L[p, r] * L[q, r]
            if p == q:
                L[p, p] = np.sqrt(max(total, 1e-12))
            else:
                L[p, q] = total / L[q, q]


@compiled()
def explained(S, c, k, L, w):
    """Return c' S^-1 c = |w|^2 with L L' = S and L w = c.

    in: S (>= k, >= k), c (k,); out: L, w (>= k,)
    """
    factor(S, k, L)
    total = 0.0
    for p in range(k):
        value = c[p]
        for q in range(p):
            value -= L[p, q] * w[q]
        w[p] = value / L[p, p]
        total += w[p] * w[p]
    return total


@compiled(fastmath=_FAST)
def project(row, half_row, chosen, L, w, done, k):
    """Take the chosen block off one column of another block: half = L^-1 (row - chosen half_row).

    in: row (k,) inner products of the column with the chosen block, half_row (done + k,) of which `done` are there,
        chosen (k, >= done) the same of the chosen block, L (k, k), w (k,)
    out: half_row[done : done + k]; returns half . w, what the column's product with the target loses
    """
    lost = 0.0
    for q in range(k):
        value = row[q]
        for t in range(done):
            value -= half_row[t] * chosen[q, t]
        for r in range(q):
            value -= half_row[done + r] * L[q, r]
        half_row[done + q] = value / L[q, q]
        lost += half_row[done + q] * w[q]
    return lost


@compiled()
def forward(blocks, matrix, cross, candidates, inside, floor, max_blocks, taken):
    """Select blocks forward while -log(1 - gain / rss) exceeds the block's price; see `local_scores.py`.

    in: blocks (first, second, start, width, price), matrix (C, C) with the ridge, cross (C,) of the target,
        candidates (m,) block numbers, inside (d,) which variables may be used, floor of rss, max_blocks
    out: taken (max_blocks,) block numbers in the order in which they came
    returns: log(rss) + prices of the blocks taken, and how many they are
    """
    first, second, start, width, price = blocks
    active = np.empty(candidates.size, np.intp)
    at = np.empty(candidates.size, np.intp)
    m = 0
    columns = 0
    widest = 1
    for b in candidates:
        if inside[first[b]] and inside[second[b]]:
            active[m] = b
            at[m] = columns
            columns += width[b]
            widest = max(widest, width[b])
            m += 1
    S = np.empty((m, widest, widest))
    c = np.empty(columns)
    half = np.empty((columns, widest * max_blocks))
    for a in range(m):
        b = active[a]
        for p in range(width[b]):
            c[at[a] + p] = cross[start[b] + p]
            for q in range(p + 1):
                S[a, p, q] = matrix[start[b] + p, start[b] + q]
    L = np.empty((widest, widest))
    w = np.empty(widest)
    free = np.ones(m, np.bool_)
    rss = 1.0
    total = 0.0
    done = 0
    size = 0
    while size < max_blocks:
        best = 0.0
        chosen = -1
        for a in range(m):
            if free[a]:
                b = active[a]
                share = explained(S[a], c[at[a] : at[a] + width[b]], width[b], L, w) / rss
                gain = -np.log(max(1.0 - share, floor / rss)) - price[b]
                if gain > best:
                    best = gain
                    chosen = a
        if chosen < 0:
            break
        b = active[chosen]
        k = width[b]
        won = explained(S[chosen], c[at[chosen] : at[chosen] + k], k, L, w)
        rss = max(rss - won, floor)
        total += price[b]
        taken[size] = b
        free[chosen] = False
        size += 1
        mine = half[at[chosen] : at[chosen] + k]
        for a in range(m):
            if free[a]:
                other = active[a]
                for p in range(width[other]):
                    row = at[a] + p
                    products = matrix[start[other] + p, start[b] : start[b] + k]
                    c[row] -= project(products, half[row], mine, L, w, done, k)
                    for q in range(p + 1):
                        lost = 0.0
                        for t in range(done, done + k):
                            lost += half[row, t] * half[at[a] + q, t]
                        S[a, p, q] -= lost
        done += k
    return np.log(rss) + total, size

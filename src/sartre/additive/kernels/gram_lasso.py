"""The group lasso in Gram form: the same block updates from inner products instead of rows.

With M_ab = Phi_a' Phi_b / n and b_a = Phi_a' y / n, the gradient of group a is c_a = b_a - sum_k M_ak g_k. The groups'
functions are orthogonal over the rows, so M_aa = diag(D_a). The problem is a tuple

    (matrix, cross, square, column, rank, spectrum, penalty, start)

matrix (W, W) and cross (W,): M and b of all functions; square: |y|^2 / n; column, rank (m,): first function of each
group, and their number; spectrum (W,): D; penalty (m,); start (m,): first entry of each group's block in g and c.
"""

from __future__ import annotations

import numpy as np

from sartre.additive.kernels.compilation import compiled
from sartre.additive.kernels.lasso import norm, shrink

_CHECK_EVERY = 5  # epochs between two checks of the gap of the active groups


@compiled()
def _take_off(problem, a, k, block, c):
    """Compute c_a -= M_ak block."""
    matrix, _, _, column, rank, _, _, start = problem
    for p in range(rank[a]):
        row = matrix[column[a] + p, column[k] : column[k] + rank[k]]
        total = 0.0
        for q in range(rank[k]):
            total += row[q] * block[q]
        c[start[a] + p] -= total


@compiled()
def _gradients(problem, g, c):
    """Recompute all gradients: c_a = b_a - sum_k M_ak g_k."""
    _, cross, _, column, rank, _, _, start = problem
    for a in range(rank.size):
        for p in range(rank[a]):
            c[start[a] + p] = cross[column[a] + p]
    for k in range(rank.size):
        block = g[start[k] : start[k] + rank[k]]
        if norm(block) > 0.0:
            for a in range(rank.size):
                _take_off(problem, a, k, block, c)


@compiled()
def _sweep(problem, members, size, g, c, work):
    """Update each group of `members[:size]` exactly, in turn; c stays valid for these groups only.

    Returns the largest mean square by which a group's fit has changed.
    """
    _, _, _, column, rank, spectrum, penalty, start = problem
    full, new = work
    largest = 0.0
    for position in range(size):
        a = members[position]
        k = rank[a]
        D = spectrum[column[a] : column[a] + k]
        old, gradient = g[start[a] : start[a] + k], c[start[a] : start[a] + k]
        for p in range(k):
            full[p] = gradient[p] + D[p] * old[p]
        shrink(full[:k], D, penalty[a], new[:k])
        moved = 0.0
        for p in range(k):
            delta = new[p] - old[p]
            old[p] = new[p]
            new[p] = delta
            moved += D[p] * delta * delta
        if moved > 0.0:
            for other in range(size):
                _take_off(problem, members[other], a, new[:k], c)
            largest = max(largest, moved)
    return largest


@compiled()
def _gap(problem, members, size, g, c):
    """Return the objective and the gap of the problem restricted to the groups in `members[:size]`.

    With r the residual, y'r / n = |y|^2 / n - b'g and |r|^2 / n = |y|^2 / n - b'g - c'g.
    """
    _, cross, square, column, rank, _, penalty, start = problem
    worst = 0.0
    norms = 0.0
    yr = square
    rr = square
    for position in range(size):
        a = members[position]
        for p in range(rank[a]):
            explained = cross[column[a] + p] * g[start[a] + p]
            yr -= explained
            rr -= explained + c[start[a] + p] * g[start[a] + p]
        if penalty[a] > 0.0:
            worst = max(worst, norm(c[start[a] : start[a] + rank[a]]) / penalty[a])
            norms += penalty[a] * norm(g[start[a] : start[a] + rank[a]])
    rr = max(rr, 0.0)
    primal = rr / 2 + norms
    if rr == 0.0:
        return primal, primal, rr
    s = yr / rr
    if worst > 0.0:
        s = min(max(s, -1.0 / worst), 1.0 / worst)
    return primal, max(0.0, primal - (2 * s * yr - s * s * rr) / 2), rr


@compiled()
def _fit_free(problem, free, g, c, work, max_epochs):
    """Fit the unpenalised groups to make the residual orthogonal to them. Returns epochs, and whether it succeeded."""
    square = problem[2]
    for epoch in range(1, max_epochs + 1):
        moved = _sweep(problem, free, free.size, g, c, work)
        if free.size == 1 or moved <= 1e-18 * square:
            return epoch, True
    return max_epochs, False


@compiled()
def _look(problem, everything, g, c, active):
    """Find the groups that are in the model or should be. out: active (m,); returns their number."""
    _, _, _, _, rank, _, penalty, start = problem
    size = 0
    for a in everything:
        block, gradient = g[start[a] : start[a] + rank[a]], c[start[a] : start[a] + rank[a]]
        if penalty[a] == 0.0 or norm(block) > 0.0 or norm(gradient) > penalty[a]:
            active[size] = a
            size += 1
    return size


@compiled()
def gram_lasso(problem, g, c, tol, max_epochs):
    """Solve min 1/2n |y - sum_a Phi_a b_a|^2 + sum_a penalty_a |b_a| by an active set of exact block updates.

    in: problem (see above), tol (of the gap, relative to |y|^2 / n), max_epochs
    in and out: g (all blocks; initial values on entry)
    out: c, the gradients of all groups
    returns: objective, gap, |r|^2 / n, epochs, converged
    """
    _, _, square, _, rank, _, penalty, _ = problem
    m = rank.size
    width = 1
    for a in range(m):
        width = max(width, rank[a])
    work = (np.empty(width), np.empty(width))
    everything, n_filled = np.empty(m, np.intp), 0
    free, n_free = np.empty(m, np.intp), 0
    for a in range(m):
        if rank[a] > 0:
            everything[n_filled] = a
            n_filled += 1
            if penalty[a] == 0.0:
                free[n_free] = a
                n_free += 1
    everything, free = everything[:n_filled], free[:n_free]
    active = np.empty(m, np.intp)
    epochs = 0
    feasible = True
    while True:
        _gradients(problem, g, c)
        if free.size:
            used, feasible = _fit_free(problem, free, g, c, work, max_epochs - epochs)
            epochs += used
            _gradients(problem, g, c)
        objective, gap, rr = _gap(problem, everything, everything.size, g, c)
        if not feasible:
            gap = objective  # zero, with dual value 0, is the only dual point known to be feasible
        if gap <= tol * square or epochs >= max_epochs:
            return objective, gap, rr, epochs, gap <= tol * square
        size = _look(problem, everything, g, c, active)
        while epochs < max_epochs:
            for _ in range(min(_CHECK_EVERY, max_epochs - epochs)):
                _sweep(problem, active, size, g, c, work)
                epochs += 1
            if _gap(problem, active, size, g, c)[1] <= 0.3 * tol * square:
                break

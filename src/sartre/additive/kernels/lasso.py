"""The compiled loops of the group lasso: they take plain arrays, write results in place and check nothing.

A `Design` (see `design.py`) is passed as its NamedTuple of arrays. Group j has codes c_j(i) in
0..B_j-1, a centred and rotated table U_j (B_j x K_j) with U_j' U_j / n = diag(D_j) over the samples,
and its term of the model is sum_k U_j[c_j(i), k] g_k.
"""

from __future__ import annotations

import numpy as np

from sartre.additive.kernels.compilation import _FAST, compiled

_CHECK_EVERY = 5  # epochs between two checks of the gap of the active groups


@compiled()
def bin_sums(codes, residual, sums):
    """Add up a residual by bin: sums[b] = sum of r_i over c(i) = b.

    Four partial sums run side by side, so that neighbours in the same bin need not wait for each other.

    in: codes (n,), residual (n,); out: sums (4, B), the result in its first row
    """
    for b in range(sums.shape[1]):
        sums[0, b] = sums[1, b] = sums[2, b] = sums[3, b] = 0.0
    quarter = codes.size // 4 * 4
    for i in range(0, quarter, 4):
        sums[0, codes[i]] += residual[i]
        sums[1, codes[i + 1]] += residual[i + 1]
        sums[2, codes[i + 2]] += residual[i + 2]
        sums[3, codes[i + 3]] += residual[i + 3]
    for i in range(quarter, codes.size):
        sums[0, codes[i]] += residual[i]
    for b in range(sums.shape[1]):
        sums[0, b] += sums[1, b] + sums[2, b] + sums[3, b]


@compiled(fastmath=_FAST)
def correlation(design, j, residual, sums, c):
    """Compute c = U_j' r / n, four rows of the table at a time.

    in: design, j, residual (n,); work: sums (4, >= B_j); out: c (K_j,)
    """
    n_bins, rank = design.n_bins[j], design.rank[j]
    bin_sums(design.codes[j], residual, sums[:, :n_bins])
    total = sums[0]
    table = design.tables[design.table_start[j] : design.table_start[j] + n_bins * rank]
    for k in range(rank):
        c[k] = 0.0
    quarter = n_bins // 4 * 4
    for b in range(0, quarter, 4):
        rows = table[b * rank : (b + 4) * rank]
        for k in range(rank):
            c[k] += (
                total[b] * rows[k]
                + total[b + 1] * rows[rank + k]
                + total[b + 2] * rows[2 * rank + k]
                + total[b + 3] * rows[3 * rank + k]
            )
    for b in range(quarter, n_bins):
        for k in range(rank):
            c[k] += total[b] * table[b * rank + k]
    for k in range(rank):
        c[k] /= residual.size


@compiled(fastmath=_FAST)
def subtract(design, j, g, values, residual):
    """Subtract the term of a group from a residual: r -= U_j g.

    in: design, j, g (K_j,); work: values (>= B_j,); in and out: residual (n,)
    """
    n_bins, rank = design.n_bins[j], design.rank[j]
    row = design.table_start[j]
    for b in range(n_bins):
        total = 0.0
        for k in range(rank):
            total += design.tables[row + k] * g[k]
        values[b] = total
        row += rank
    codes = design.codes[j]
    for i in range(codes.size):
        residual[i] -= values[codes[i]]


@compiled(fastmath=_FAST)
def norm(v):
    """Return the Euclidean norm of a short vector."""
    total = 0.0
    for k in range(v.size):
        total += v[k] * v[k]
    return np.sqrt(total)


@compiled(fastmath=_FAST)
def shrink(c, spectrum, penalty, g):
    """Minimise 1/2 g' D g - c' g + penalty |g| over one block.

    The minimum is 0 if |c| <= penalty; otherwise g_k = c_k h / (D_k h + penalty), where h = |g| is the root of
    phi(h) = sum_k c_k^2 / (D_k h + penalty)^2 = 1. It is found by Newton steps on phi^(-1/2), starting from the
    solution for all D_k equal to the largest. Both c and penalty are in units of |c|, so nothing overflows.

    in: c (K,), spectrum D (K,) decreasing, penalty; out: g (K,)
    """
    if penalty == 0.0:
        for k in range(c.size):
            g[k] = c[k] / spectrum[k]
        return
    unit = norm(c)
    if unit <= penalty:
        for k in range(c.size):
            g[k] = 0.0
        return
    penalty /= unit
    h = (1.0 - penalty) / spectrum[0]
    for _ in range(50):
        phi = 0.0
        slope = 0.0
        for k in range(c.size):
            inverse = 1.0 / (spectrum[k] * h + penalty)
            square = c[k] / unit * inverse
            square *= square
            phi += square
            slope += square * spectrum[k] * inverse
        step = phi * (np.sqrt(phi) - 1.0) / slope  # (1 - phi^(-1/2)) / (phi^(-1/2))'
        h += step
        if abs(step) <= 1e-14 * h:
            break
    for k in range(c.size):
        g[k] = c[k] * h / (spectrum[k] * h + penalty)


@compiled()
def _sweep(design, members, size, candidates, penalty, start, g, residual, work):
    """Update each group of `members[:size]` exactly, in turn. Returns the largest change of a group's fit (rms)."""
    sums, c, new = work
    largest = 0.0
    for position in range(size):
        a = members[position]
        j = candidates[a]
        rank = design.rank[j]
        spectrum = design.spectrum[design.spectrum_start[j] : design.spectrum_start[j] + rank]
        old = g[start[a] : start[a] + rank]
        correlation(design, j, residual, sums, c[:rank])
        for k in range(rank):
            c[k] += spectrum[k] * old[k]
        shrink(c[:rank], spectrum, penalty[a], new[:rank])
        moved = 0.0
        for k in range(rank):
            delta = new[k] - old[k]
            old[k] = new[k]
            new[k] = delta
            moved += spectrum[k] * delta * delta
        if moved > 0.0:
            subtract(design, j, new[:rank], sums[0], residual)
            largest = max(largest, moved)
    return np.sqrt(largest)


@compiled(fastmath=_FAST)
def _product(a, b):
    """Return a'b."""
    total = 0.0
    for i in range(a.size):
        total += a[i] * b[i]
    return total


@compiled(fastmath=_FAST)
def _moved(residual, last):
    """Return |residual - last|, and keep the residual. in and out: last (n,)."""
    total = 0.0
    for i in range(residual.size):
        total += (residual[i] - last[i]) ** 2
        last[i] = residual[i]
    return np.sqrt(total)


@compiled()
def _widest(design):
    """Return the largest number of bins of a column."""
    width = 1
    for j in range(design.n_bins.size):
        width = max(width, design.n_bins[j])
    return width


@compiled()
def duality_gap(y, residual, worst, norms):
    """Return the primal value and the gap to the dual value at the best multiple of the residual.

    primal = |r|^2 / 2n + norms; dual = (|y|^2 - |y - s r|^2) / 2n for any |s| <= 1 / worst.

    in: y (n,), residual (n,), worst = max_j |Phi_j' r| / (n penalty_j), norms = sum_j penalty_j |g_j|
    """
    n = y.size
    rr = _product(residual, residual)
    yr = _product(y, residual)
    primal = rr / (2 * n) + norms
    if rr == 0.0:
        return primal, primal
    s = yr / rr
    if worst > 0.0:
        s = min(max(s, -1.0 / worst), 1.0 / worst)
    return primal, max(0.0, primal - (2 * s * yr - s * s * rr) / (2 * n))


@compiled()
def _gap(design, members, size, candidates, penalty, start, g, y, residual, work):
    """Return the gap of the problem restricted to the groups in `members[:size]`."""
    sums, c, _ = work
    worst = 0.0
    norms = 0.0
    for position in range(size):
        a = members[position]
        if penalty[a] > 0.0:
            rank = design.rank[candidates[a]]
            correlation(design, candidates[a], residual, sums, c[:rank])
            worst = max(worst, norm(c[:rank]) / penalty[a])
            norms += penalty[a] * norm(g[start[a] : start[a] + rank])
    return duality_gap(y, residual, worst, norms)[1]


@compiled()
def _fit_free(design, free, candidates, penalty, start, g, y, residual, work, max_epochs):
    """Fit the unpenalised groups, so that the residual is orthogonal to them as a dual point must be.

    returns: epochs, and whether it is orthogonal
    """
    for epoch in range(1, max_epochs + 1):
        moved = _sweep(design, free, free.size, candidates, penalty, start, g, residual, work)
        if free.size == 1 or moved * moved * y.size <= 1e-18 * _product(y, y):
            return epoch, True
    return max_epochs, False


@compiled()
def _look(design, candidates, penalty, start, g, residual, drift, bound, active, work):
    """Find the groups that are in the model or should be.

    bound_a >= |Phi_a' r| / n always holds: if the residual moves by drift (rms), the norm moves by at most
    sqrt(max D_a) drift, so a group whose bound stays below its penalty can safely be skipped.

    in and out: bound (m,); out: active (m,)
    returns: number of active groups, max_a |Phi_a' r| / (n penalty_a), sum_a penalty_a |g_a|
    """
    sums, c, _ = work
    size = 0
    worst = 0.0
    norms = 0.0
    for a in range(candidates.size):
        j = candidates[a]
        rank = design.rank[j]
        if rank == 0:
            continue
        norm_g = norm(g[start[a] : start[a] + rank])
        bound[a] += np.sqrt(design.spectrum[design.spectrum_start[j]]) * drift
        if penalty[a] > 0.0 and (norm_g > 0.0 or bound[a] > penalty[a]):
            correlation(design, j, residual, sums, c[:rank])
            bound[a] = norm(c[:rank])
            worst = max(worst, bound[a] / penalty[a])
            norms += penalty[a] * norm_g
        if norm_g > 0.0 or bound[a] > penalty[a]:
            active[size] = a
            size += 1
    return size, worst, norms


@compiled()
def group_lasso(design, y, candidates, penalty, start, g, residual, bound, tol, max_epochs):
    """Solve min 1/2n |y - sum_a Phi_a b_a|^2 + sum_a penalty_a |b_a| by an active set of exact block updates.

    in: design, y (n,) centred, candidates (m,) groups, penalty (m,), start (m,) of each block in g,
        tol (of the gap, relative to |y|^2 / n), max_epochs
    in and out: g (all blocks; initial values on entry), residual (n,) = y - fit, bound (m,) >= |Phi_a' residual| / n
    returns: objective, gap, epochs, converged
    """
    n = y.size
    width = _widest(design)
    work = (np.empty((4, width)), np.empty(width), np.empty(width))
    target = tol * _product(y, y) / n
    active = np.empty(candidates.size, np.intp)
    free, n_free = np.empty(candidates.size, np.intp), 0
    for a in range(candidates.size):
        if penalty[a] == 0.0 and design.rank[candidates[a]] > 0:
            free[n_free] = a
            n_free += 1
    free = free[:n_free]
    last = np.empty(n)
    _moved(residual, last)
    epochs = 0
    feasible = True
    while True:
        if free.size:
            used, feasible = _fit_free(
                design, free, candidates, penalty, start, g, y, residual, work, max_epochs - epochs
            )
            epochs += used
        drift = _moved(residual, last) / np.sqrt(n)
        size, worst, norms = _look(design, candidates, penalty, start, g, residual, drift, bound, active, work)
        objective, gap = duality_gap(y, residual, worst, norms)
        if not feasible:
            gap = objective  # zero, with dual value 0, is the only dual point known to be feasible
        if gap <= target or epochs >= max_epochs:
            return objective, gap, epochs, gap <= target
        while epochs < max_epochs:
            for _ in range(min(_CHECK_EVERY, max_epochs - epochs)):
                _sweep(design, active, size, candidates, penalty, start, g, residual, work)
                epochs += 1
            if _gap(design, active, size, candidates, penalty, start, g, y, residual, work) <= 0.3 * target:
                break


@compiled(fastmath=_FAST)
def gradient_norms(design, residual, candidates, norms):
    """Compute |U_j' r| / n of some groups.

    in: design; residual (n,); candidates (m,)
    out: norms (m,)
    """
    width = _widest(design)
    sums, c = np.empty((4, width)), np.empty(width)
    for a in range(candidates.size):
        rank = design.rank[candidates[a]]
        correlation(design, candidates[a], residual, sums, c[:rank])
        norms[a] = norm(c[:rank])

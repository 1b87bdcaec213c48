"""The compiled loops of the tests: tails of weighted chi-square sums, and Wood's statistics; they check nothing."""

from __future__ import annotations

from math import copysign, erfc, log, log1p, sqrt

import numpy as np

from sartre.additive.kernels.compilation import compiled

_TINY = np.finfo(np.float64).tiny


@compiled()
def tail(q, w, h, low):
    """Return P(sum_k w_k chi^2_{h_k} > q) (see `significance.py`).

    in: q; w, h (k,) weights (at least one positive) and degrees of freedom; low, with K'(low) <= q
    """
    mean, square, largest = 0.0, 0.0, 0.0
    for k in range(w.size):
        mean += h[k] * w[k]
        square += 2 * h[k] * w[k] ** 2
        largest = max(largest, w[k])
    spread, high = sqrt(square), 0.5 / largest * (1 - 1e-14)
    if abs(q - mean) >= 1e-3 * spread:
        return saddlepoint_tail(q, w, h, low, high)
    side = 2e-3 * spread  # at the mean the formula is 0 / 0 but smooth: interpolate across it
    below, above = saddlepoint_tail(mean - side, w, h, low, high), saddlepoint_tail(mean + side, w, h, low, high)
    return below + (above - below) * ((q - mean) / (2 * side) + 0.5)


@compiled()
def f_tail(total, w, df):
    """Return P(sum_k w_k chi^2_1 > total * chi^2_df / df). in: total, w (k,), df."""
    if total <= 0:
        return 1.0
    both, degrees = np.empty(w.size + 1), np.ones(w.size + 1)
    for k in range(w.size):
        both[k] = w[k]
    both[w.size], degrees[w.size] = -total / df, df
    return tail(0.0, both, degrees, 0.5 / both[w.size] * (1 - 1e-12))


@compiled()
def wood_statistics(beta, V, owner, rank, totals):
    """Compute Wood's statistic of every term with both signs of rho (see `significance.py`).

    in: beta (q,), V (q, q), owner (q,): the term of each coefficient
    in and out: rank (p,): reference degrees of freedom, at least 1 and at most the usable directions
    out: totals (p, 2): both equal if the rank is an integer; zeros for a term without coefficients
    """
    columns = np.empty(owner.size, np.intp)
    for t in range(rank.size):
        m = 0
        for i in range(owner.size):
            if owner[i] == t:
                columns[m] = i
                m += 1
        totals[t, 0] = totals[t, 1] = 0.0
        if m == 0:
            continue
        block = np.empty((m, m))
        for i in range(m):
            for j in range(m):
                block[i, j] = V[columns[i], columns[j]]
        values, vectors = np.linalg.eigh(block)
        usable = 0
        for i in range(m):
            usable += values[i] > values[m - 1] * 1e-14
        rank[t] = min(max(rank[t], 1.0), max(usable, 1))
        k = int(rank[t])
        nu, before = rank[t] - k, 0.0
        for r in range(min(k + 1, m)):
            z = 0.0
            for i in range(m):
                z += vectors[i, m - 1 - r] * beta[columns[i]]
            z /= sqrt(max(values[m - 1 - r], _TINY))
            if r < k:
                totals[t, 0] += z * z
                totals[t, 1] += z * z
                before = z
            elif nu >= 1e-8 and k < usable:
                mixed = 2 * sqrt(nu * (1 - nu) / 2) * before * z
                totals[t, 0] += nu * z * z + mixed
                totals[t, 1] += nu * z * z - mixed


@compiled()
def wood_tails(rank, totals, df, p_value):
    """Compute the exact tails: with r = k + nu, T is a sum of k - 1 chi-squares and two weighted ones.

    in: rank (p,), totals (p, 2), df; in and out: p_value (p,), NaN where it is to be computed
    """
    for t in range(rank.size):
        if np.isnan(p_value[t]):
            k = int(rank[t])
            nu = rank[t] - k
            larger = (1 + nu + sqrt((1 + nu) * (1 - nu))) / 2  # the two eigenvalues of [[1, rho], [rho, nu]]
            weights = np.ones(k + 1)
            weights[k - 1], weights[k] = larger, 1 + nu - larger
            p_value[t] = (f_tail(totals[t, 0], weights, df) + f_tail(totals[t, 1], weights, df)) / 2


@compiled()
def saddlepoint_tail(q, w, h, low, high):
    """Approximate P(sum_k w_k chi^2_{h_k} > q) away from the mean by Lugannani and Rice (see `significance.py`).

    The saddlepoint t solves K'(t) = sum_k h_k w_k / (1 - 2 t w_k) = q. It is found by Newton steps, with bisection
    where a step leaves the bracket.

    in: q; w, h (k,) weights and degrees of freedom; low, high: K'(low) <= q, and 1 - 2 t w_k > 0 below high
    returns: the tail; 0 if the saddlepoint is at or beyond `high`
    """
    t = high
    for step in range(200):
        slope, curvature = -q, 0.0
        for k in range(w.size):
            ratio = w[k] / (1 - 2 * t * w[k])
            slope += h[k] * ratio
            curvature += 2 * h[k] * ratio * ratio
        if step == 0:
            if slope <= 0:
                return 0.0
            t = 0.5 * (low + high)
            continue
        if slope > 0:
            high = t
        else:
            low = t
        newton = t - slope / curvature
        following = newton if low < newton < high else 0.5 * (low + high)
        if abs(following - t) <= 1e-14 * abs(t):
            break
        t = following
    K, curvature = 0.0, 0.0
    for k in range(w.size):
        K -= 0.5 * h[k] * log1p(-2 * t * w[k])
        curvature += 2 * h[k] * (w[k] / (1 - 2 * t * w[k])) ** 2
    r = copysign(sqrt(max(2 * (t * q - K), 1e-300)), t)
    v = t * sqrt(curvature)
    return 0.5 * erfc((r + log(v / r) / r) / sqrt(2.0))

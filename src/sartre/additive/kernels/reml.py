"""The compiled loops of REML (see `smoothing.py`) on small dense matrices; they check nothing.

The criterion, minus twice the restricted log likelihood of `Wiggles`, is evaluated at some log lambda for the columns
of the nonlinear terms; a term with log lambda = infinity is a straight line. The results are written into a `Point`.
"""

from __future__ import annotations

from math import ceil, exp, inf, isinf, isnan, log, log1p, nan, sqrt
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from sartre.additive.kernels.compilation import compiled

HIGHEST = 12.0  # a term with a larger log lambda is a straight line (roughness is at least 1)
DIP = 1.0  # required gain in twice the log likelihood where the slope at the straight line does not favour bending
LEAST_UNEXPLAINED = 1e-12  # smallest unexplained share of a variance, for columns that are functions of each other
_RIDGES = (0.0, 1e-12, 1e-10, 1e-8, 1e-6)  # tried in turn on a matrix that is singular up to rounding
_LARGEST_STEP = 5.0
_MOST_STEPS, _MOST_HALVINGS, _MOST_ROUNDS = 50, 9, 20
_FAST = {"reassoc", "contract", "nsz"}  # sums may be reordered for SIMD; NaN and infinity keep their meaning


class Wiggles(NamedTuple):
    """The wiggles of all terms with the straight lines projected out: a problem in which everything is penalised.

    C (w, w): their inner products; u (w,): those with the target; s (w,): roughness; term (w,): the term of each,
    increasing. unexplained: share of the target's variance that the lines do not explain; df: degrees of freedom;
    lowest: lower bound of log lambda.
    """

    C: NDArray[np.float64]
    u: NDArray[np.float64]
    s: NDArray[np.float64]
    term: NDArray[np.intp]
    unexplained: float
    df: float
    lowest: float


class Point(NamedTuple):
    """The results at one log lambda for the k active columns and their b terms; the rest of each array is unused.

    size (2,): k and b; columns, block (k,): the active columns, and the index of their term in bent (b,); penalty, beta
    (k,); W (k, k): lower, W' W = P = (C + L)^-1; P (k, k): its lower triangle; gradient (b,), hessian (b, b): with
    respect to log lambda; A (k, k): workspace.
    """

    size: NDArray[np.intp]
    columns: NDArray[np.intp]
    block: NDArray[np.intp]
    bent: NDArray[np.intp]
    penalty: NDArray[np.float64]
    beta: NDArray[np.float64]
    W: NDArray[np.float64]
    P: NDArray[np.float64]
    gradient: NDArray[np.float64]
    hessian: NDArray[np.float64]
    A: NDArray[np.float64]


def empty_point(w: int, p: int) -> Point:
    """Return a point that can hold w columns of p terms."""
    W, P, A = np.zeros((3, w, w))
    columns, block = np.empty((2, w), np.intp)
    penalty, beta = np.empty((2, w))
    bent, gradient, hessian = np.empty(p, np.intp), np.empty(p), np.empty((p, p))
    return Point(np.zeros(2, np.intp), columns, block, bent, penalty, beta, W, P, gradient, hessian, A)


@compiled()
def submatrix(matrix, rows, columns):
    """Return matrix[rows, columns], every row with every column. in: matrix, rows (a,), columns (b,)."""
    out = np.empty((rows.size, columns.size))
    for i in range(rows.size):
        for j in range(columns.size):
            out[i, j] = matrix[rows[i], columns[j]]
    return out


@compiled(fastmath=_FAST)
def inverse_factor(A, k, W):
    """Compute the lower-triangular W with W' W = A^-1: the inverse of A's Cholesky factor.

    U' U = A is computed row by row, together with W = U'^-1, which takes the same steps from the identity; four rows at
    a time.

    in: the upper triangle of A (>= k, >= k), overwritten by U; out: the lower triangle of W
    returns: log |A|, or NaN if A is not positive definite
    """
    total = 0.0
    for i in range(k):
        for j in range(i):
            W[i, j] = 0.0
        p = 0
        while p + 4 <= i:
            f0, f1, f2, f3 = A[p, i], A[p + 1, i], A[p + 2, i], A[p + 3, i]
            for j in range(i, k):
                A[i, j] -= f0 * A[p, j] + f1 * A[p + 1, j] + f2 * A[p + 2, j] + f3 * A[p + 3, j]
            for j in range(p + 4):
                W[i, j] -= f0 * W[p, j] + f1 * W[p + 1, j] + f2 * W[p + 2, j] + f3 * W[p + 3, j]
            p += 4
        for q in range(p, i):
            f0 = A[q, i]
            for j in range(i, k):
                A[i, j] -= f0 * A[q, j]
            for j in range(q + 1):
                W[i, j] -= f0 * W[q, j]
        if not A[i, i] > 0.0:
            return nan
        total += log(A[i, i])
        scale = 1.0 / sqrt(A[i, i])
        for j in range(i, k):
            A[i, j] *= scale
        for j in range(i):
            W[i, j] *= scale
        W[i, i] = scale
    return total


@compiled(fastmath=_FAST)
def _square(W, k, P):
    """Compute the lower triangle of P = W' W for a lower-triangular W, four rows at a time."""
    for i in range(k):
        for j in range(i + 1):
            P[i, j] = W[i, i] * W[i, j]
        r = i + 1
        while r + 4 <= k:
            f0, f1, f2, f3 = W[r, i], W[r + 1, i], W[r + 2, i], W[r + 3, i]
            for j in range(i + 1):
                P[i, j] += f0 * W[r, j] + f1 * W[r + 1, j] + f2 * W[r + 2, j] + f3 * W[r + 3, j]
            r += 4
        for q in range(r, k):
            for j in range(i + 1):
                P[i, j] += W[q, i] * W[q, j]


@compiled()
def invert(C, columns, penalty, k, A, W):
    """Compute W for A = C[columns, columns] + diag(penalty), plus a ridge if needed. Returns log |A|, or NaN."""
    scale, volume = 1.0, nan
    for i in range(k):
        scale = max(scale, C[columns[i], columns[i]] + penalty[i])
    for ridge in _RIDGES:
        for i in range(k):
            for j in range(i, k):
                A[i, j] = C[columns[i], columns[j]]
            A[i, i] += penalty[i] + ridge * scale
        volume = inverse_factor(A, k, W)
        if not isnan(volume):
            break
    return volume


@compiled(fastmath=_FAST)
def _differentiate(ratio, deviance, point):
    """Compute the gradient and the Hessian with respect to log lambda_j; ratio = df / D.

    With P = (C + L)^-1 and beta = P u, they need only block sums of (L beta) beta, L diag(P), (L beta)(L beta)' P and
    L P^2 L.
    """
    k, b = point.size
    if k == 0:  # no term is a curve, and the workspace may have no row
        return
    block, penalty, beta = point.block, point.penalty, point.beta
    P, gradient, hessian, energy = point.P, point.gradient, point.hessian, point.A[0]
    for a in range(b):
        gradient[a] = energy[a] = 0.0
        for c in range(b):
            hessian[a, c] = 0.0
    for i in range(k):
        a, pull = block[i], 2 * ratio * penalty[i] * beta[i]
        for j in range(i):
            curved = P[i, j] * penalty[j] * (pull * beta[j] + penalty[i] * P[i, j])
            hessian[a, block[j]] -= curved
            hessian[block[j], a] -= curved
        trace = penalty[i] * P[i, i]
        hessian[a, a] += trace - trace * (pull * beta[i] + trace)
        energy[a] += penalty[i] * beta[i] ** 2
        gradient[a] += trace - 1.0
    for a in range(b):
        gradient[a] += ratio * energy[a]
        hessian[a, a] += ratio * energy[a]
        for c in range(b):
            hessian[a, c] -= ratio / deviance * energy[a] * energy[c]


@compiled(fastmath=_FAST)
def evaluate(wiggles, log_lambda, point):
    """Evaluate df log D + log|C + L| - log|L| for the active wiggles, where L = diag(lambda_j s_jk).

    D = unexplained - u' (C + L)^-1 u is the penalised deviance.

    in: wiggles, log_lambda (p,); in and out: point, with its active columns already set
    returns: the value and D
    """
    k, P = point.size[0], point.P
    columns, penalty, beta = point.columns, point.penalty, point.beta
    value, explained = 0.0, 0.0
    for i in range(k):
        penalty[i] = exp(log_lambda[wiggles.term[columns[i]]]) * wiggles.s[columns[i]]
        value -= log(penalty[i])
    value += invert(wiggles.C, columns, penalty, k, point.A, point.W)
    _square(point.W, k, P)
    for i in range(k):
        beta[i] = P[i, i] * wiggles.u[columns[i]]
        for j in range(i):
            beta[i] += P[i, j] * wiggles.u[columns[j]]
            beta[j] += P[i, j] * wiggles.u[columns[i]]
    for i in range(k):
        explained += wiggles.u[columns[i]] * beta[i]
    deviance = max(wiggles.unexplained - explained, LEAST_UNEXPLAINED)
    _differentiate(wiggles.df / deviance, deviance, point)
    return value + wiggles.df * log(deviance), deviance


@compiled()
def _choose(wiggles, log_lambda, point):
    """Set the active columns of a point: those of the terms with a finite log lambda."""
    k, b, last = 0, 0, -1
    for i in range(wiggles.term.size):
        t = wiggles.term[i]
        if not isinf(log_lambda[t]):
            if t != last:
                point.bent[b] = last = t
                b += 1
            point.columns[k], point.block[k] = i, b - 1
            k += 1
    point.size[0], point.size[1] = k, b


@compiled()
def _step(wiggles, log_lambda, point, tol, step):
    """Compute a Newton step that goes downhill even where the criterion is not convex; terms at their bound stay.

    in: wiggles, log_lambda (p,), point, tol; out: step (b,)
    returns: the largest absolute derivative; the step is zero if it is below tol
    """
    b = point.size[1]
    free = np.zeros(b, np.intp)
    n_free, steepest = 0, 0.0
    for a in range(b):
        step[a] = 0.0
        if log_lambda[point.bent[a]] > wiggles.lowest or point.gradient[a] < 0:
            free[n_free] = a
            n_free += 1
            steepest = max(steepest, abs(point.gradient[a]))
    if steepest < tol:
        return steepest
    hessian = np.empty((n_free, n_free))
    for a in range(n_free):
        for c in range(n_free):
            hessian[a, c] = point.hessian[free[a], free[c]]
    values, vectors = np.linalg.eigh(hessian)
    largest = _LARGEST_STEP
    for c in range(n_free):
        slope = 0.0
        for a in range(n_free):
            slope += vectors[a, c] * point.gradient[free[a]]
        for a in range(n_free):
            step[free[a]] -= vectors[a, c] * slope / max(abs(values[c]), 1e-2)
    for a in range(b):
        largest = max(largest, abs(step[a]))
    for a in range(b):
        step[a] *= _LARGEST_STEP / largest
    return steepest


@compiled()
def _newton(wiggles, log_lambda, tol, point):
    """Minimise over the finite log lambda; values that reach the upper bound become infinite.

    A step is halved until the criterion no longer increases.

    in: wiggles, tol; in and out: log_lambda (p,); out: point
    returns: the deviance, the number of steps, and whether the gradient is zero, up to tol or rounding
    """
    step, trial = np.zeros(log_lambda.size), log_lambda.copy()
    value, steepest, n_steps, halved = inf, 0.0, 0, 0
    _choose(wiggles, log_lambda, point)
    while True:
        reached, deviance = evaluate(wiggles, trial, point)
        if isnan(reached):
            return nan, n_steps, False
        if reached > value + 1e-7:
            halved += 1
            value = value if halved < _MOST_HALVINGS else inf  # go back to the start of the step
            _move(wiggles, log_lambda, step, 0.5**halved if halved < _MOST_HALVINGS else 0.0, point, trial)
            continue
        if halved == _MOST_HALVINGS:
            return deviance, n_steps, steepest < 0.1
        value, halved = reached, 0
        if _straighten(log_lambda, trial):
            value = inf
            _choose(wiggles, log_lambda, point)
            continue
        if n_steps == _MOST_STEPS:
            return deviance, n_steps, False
        steepest = _step(wiggles, log_lambda, point, tol, step)
        if steepest < tol:
            return deviance, n_steps, True
        n_steps += 1
        _move(wiggles, log_lambda, step, 1.0, point, trial)


@compiled()
def _move(wiggles, log_lambda, step, length, point, trial):
    """Take a step, clipped to the bounds. out: trial (p,)."""
    for a in range(point.size[1]):
        t = point.bent[a]
        trial[t] = min(max(log_lambda[t] + length * step[a], wiggles.lowest), HIGHEST)


@compiled()
def _straighten(log_lambda, trial):
    """Accept a trial, with infinity for values at the upper bound. Returns whether there is such a term."""
    past = False
    for t in range(trial.size):
        if HIGHEST <= trial[t] < inf:
            trial[t], past = inf, True
        log_lambda[t] = trial[t]
    return past


@compiled(fastmath=_FAST)
def _bending(wiggles, log_lambda, deviance, point):
    """Set an initial log lambda for every straight line that fits better as a curve.

    With c_k the mean square of wiggle k after projecting out the current model, and u_k its inner product with the
    residual, the derivative with respect to 1 / lambda at infinity is sum_k (c_k - df u_k^2 / D) / s_k. It depends
    little on the rougher wiggles, so the criterion is also evaluated on a grid, treating wiggles as independent; the
    best grid point is the initial value.

    in: wiggles, deviance, point; in and out: log_lambda (p,)
    returns: whether any term becomes nonlinear
    """
    k, n_straight, between = point.size[0], 0, point.A
    straight = np.empty(wiggles.term.size, np.intp)
    for i in range(wiggles.term.size):
        if isinf(log_lambda[wiggles.term[i]]):
            straight[n_straight] = i
            n_straight += 1
    c, share, half = np.empty(n_straight), np.empty(n_straight), np.empty(n_straight)
    for j in range(n_straight):
        c[j], share[j] = wiggles.C[straight[j], straight[j]], wiggles.u[straight[j]]
    for i in range(k):
        for j in range(n_straight):
            between[i, j] = wiggles.C[point.columns[i], straight[j]]
            half[j] = 0.0
        for p in range(i + 1):
            for j in range(n_straight):
                half[j] += point.W[i, p] * between[p, j]
        for j in range(n_straight):
            c[j] -= half[j] * half[j]
            share[j] -= point.beta[i] * between[i, j]
    found, first = False, 0
    for j in range(n_straight):
        share[j] *= share[j] / deviance
        t = wiggles.term[straight[j]]
        if j + 1 == n_straight or wiggles.term[straight[j + 1]] != t:
            s = wiggles.s[straight[first] : straight[j] + 1]
            log_lambda[t] = _first_bend(c[first : j + 1], share[first : j + 1], s, wiggles.df, wiggles.lowest)
            found = found or not isinf(log_lambda[t])
            first = j + 1
    return found


@compiled()
def _first_bend(c, share, s, df, lowest):
    """Return the initial log lambda of a straight line, or infinity if it stays straight; share_k = u_k^2 / D."""
    slope, best, where = 0.0, inf, inf
    for k in range(c.size):
        slope += (c[k] - df * share[k]) / s[k]
    rho = ceil(lowest)
    while rho < HIGHEST:
        volume, gain, scale = 0.0, 0.0, exp(rho)
        for k in range(c.size):
            penalty, own = scale * s[k], max(c[k], 0.0)
            volume += log1p(own / penalty)
            gain += share[k] / (own + penalty)
        value = df * log(max(1 - gain, LEAST_UNEXPLAINED)) + volume
        if value < best:
            best, where = value, float(rho)
        rho += 1
    return where if slope < -1e-6 or best < -DIP else inf


@compiled()
def smoothness(wiggles, log_lambda, tol, point):
    """Find the log lambda of every term by an active set: a term stays straight until the likelihood favours a curve.

    in: wiggles, tol; in and out: log_lambda (p,); out: point, with both triangles of P
    returns: the deviance, the number of steps, and whether an optimum was found
    """
    deviance, n_steps, settled = nan, 0, False
    for _ in range(_MOST_ROUNDS + 1):
        deviance, more, settled = _newton(wiggles, log_lambda, tol, point)
        n_steps += more
        if isnan(deviance) or not _bending(wiggles, log_lambda, deviance, point):
            break
        settled = False
    for i in range(point.size[0]):
        for j in range(i):
            point.P[j, i] = point.P[i, j]
    return deviance, n_steps, settled

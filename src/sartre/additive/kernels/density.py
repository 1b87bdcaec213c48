"""The compiled loops for the densities of residuals; they check nothing."""

from __future__ import annotations

import math

import numpy as np

from sartre.additive.kernels.compilation import _FAST, compiled
from sartre.additive.kernels.reml import inverse_factor

_ROUNDS = 30  # of Newton's method
_GAIN_TOL = 1e-9  # it ends when a step gains less
_RIDGE = 1e-9  # on its Hessian matrix
_SHORTEST = 1e-3  # step


@compiled(fastmath=_FAST)
def residual_of(table, y, first, second, beta, residual):
    """Subtract products of rows of a table, times their coefficients, from a target.

    in: table (functions, n), y (n,), first and second (k,) rows of the table, second -1 for none, beta (k,)
    out: residual (n,)
    """
    for i in range(y.size):
        residual[i] = y[i]
    for c in range(beta.size):
        b = beta[c]
        f = table[first[c]]
        if second[c] < 0:
            for i in range(y.size):
                residual[i] -= b * f[i]
        else:
            g = table[second[c]]
            for i in range(y.size):
                residual[i] -= b * f[i] * g[i]


@compiled(fastmath=_FAST)
def legendre_means(x, mean):
    """Compute the means of Legendre polynomials, orthonormal on [0, 1], of normal probabilities.

    These are the values of the normal distribution function with the mean and the variance of x.

    in: x (n,); out: mean (k,), of the orders 1 to k
    """
    n, k = x.size, mean.size
    centre = 0.0
    for i in range(n):
        centre += x[i]
    centre /= n
    square = 0.0
    for i in range(n):
        square += (x[i] - centre) ** 2
    scale = 1.0 / np.sqrt(2.0 * square / n)
    for order in range(k):
        mean[order] = 0.0
    for i in range(n):
        u = math.erf((x[i] - centre) * scale)
        before, now = 1.0, u
        for order in range(1, k + 1):
            mean[order - 1] += now
            before, now = now, ((2 * order + 1) * u * now - order * before) / (order + 1)
    for order in range(1, k + 1):
        mean[order - 1] *= np.sqrt(2 * order + 1.0) / n


@compiled(fastmath=_FAST)
def _tilt(theta, nodes, weights, density):
    """Compute the density proportional to exp(theta' P) at the nodes, of sum one. Returns psi(theta)."""
    total = 0.0
    for g in range(weights.size):
        exponent = 0.0
        for a in range(theta.size):
            exponent += nodes[g, a] * theta[a]
        density[g] = weights[g] * math.exp(exponent)
        total += density[g]
    for g in range(weights.size):
        density[g] /= total
    return math.log(total)


@compiled(fastmath=_FAST)
def _newton_step(mean, nodes, density, hessian, W, step):
    """Compute the step H^-1 (mean - E P), where H is the covariance of P with a ridge. out: hessian, W, step."""
    k = mean.size
    for a in range(k):
        step[a] = mean[a]
        for b in range(a, k):
            hessian[a, b] = 0.0
    for g in range(density.size):
        for a in range(k):
            weighted = density[g] * nodes[g, a]
            step[a] -= weighted
            for b in range(a, k):
                hessian[a, b] += weighted * nodes[g, b]
    for a in range(k):
        for b in range(a, k):
            hessian[a, b] -= (mean[a] - step[a]) * (mean[b] - step[b])
        hessian[a, a] += _RIDGE
    inverse_factor(hessian, k, W)
    for a in range(k - 1, -1, -1):  # W step, then W' of that
        value = 0.0
        for b in range(a + 1):
            value += W[a, b] * step[b]
        step[a] = value
    for a in range(k):
        value = 0.0
        for b in range(a, k):
            value += W[b, a] * step[b]
        step[a] = value


@compiled()
def log_density_gain(mean, nodes, weights):
    """Return how much the density exp(theta' P - psi(theta)) on [0, 1] exceeds the uniform one, in nats per sample.

    theta is that of the largest likelihood: E P = mean. in: mean (k,), nodes (g, k) the polynomials at the nodes of a
    quadrature, weights (g,), of sum one
    """
    k = mean.size
    theta, trial, step = np.zeros(k), np.zeros(k), np.empty(k)
    hessian, W = np.empty((k, k)), np.empty((k, k))
    density = np.empty(weights.size)
    value = -_tilt(theta, nodes, weights, density)  # zero, but for rounding
    for _ in range(_ROUNDS):
        _newton_step(mean, nodes, density, hessian, W, step)
        length = 1.0
        while True:
            new = 0.0
            for a in range(k):
                trial[a] = theta[a] + length * step[a]
                new += trial[a] * mean[a]
            new -= _tilt(trial, nodes, weights, density)
            if new >= value or length < _SHORTEST:
                break
            length /= 2
        if new < value + _GAIN_TOL:
            return max(value, new)
        for a in range(k):
            theta[a] = trial[a]
        value = new
    return value

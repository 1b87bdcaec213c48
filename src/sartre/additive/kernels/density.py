"""The compiled loops for the densities of residuals; they check nothing."""

from __future__ import annotations

import math

import numpy as np

from sartre.additive.kernels.compilation import _FAST, compiled

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


@compiled()
def log_density_gain(mean, nodes, weights):
    """Return how much the density exp(theta' P - psi(theta)) on [0, 1] exceeds the uniform one, in nats per sample.

    theta is that of the largest likelihood: E P = mean. in: mean (k,), nodes (g, k) the polynomials at the nodes of a
    quadrature, weights (g,), of sum one
    """
    k = mean.size
    theta = np.zeros(k)
    value = 0.0
    for _ in range(_ROUNDS):
        density = weights * np.exp(nodes @ theta)
        density /= density.sum()
        expected = nodes.T @ density
        hessian = (nodes.T * density) @ nodes - np.outer(expected, expected) + _RIDGE * np.eye(k)
        step = np.linalg.solve(hessian, mean - expected)
        length = 1.0
        while True:
            trial = theta + length * step
            new = trial @ mean - np.log((weights * np.exp(nodes @ trial)).sum())
            if new >= value or length < _SHORTEST:
                break
            length /= 2
        if new < value + _GAIN_TOL:
            return max(value, new)
        theta, value = trial, new
    return value

"""The Hilbert-Schmidt independence criterion (Gretton et al., 2007), in standard deviations from independence."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray


def squared_distances(X: NDArray[np.float64]) -> NDArray[np.float64]:
    """Return |x_a - x_b|^2 for all pairs of rows, shape (n, n)."""
    centred = X - X.mean(axis=0)
    squares = (centred**2).sum(axis=1)
    return np.maximum(squares[:, None] + squares - 2 * centred @ centred.T, 0.0)


def centred_kernel(distances: NDArray[np.float64]) -> NDArray[np.float64]:
    """Return H K H, where K_ab = exp(-distance^2 / median) and H removes the means.

    The median is that of all squared distances between two different rows, or of the nonzero ones if most rows coincide
    (discrete columns). If all rows coincide, the kernel is zero.

    Parameters
    ----------
    distances : array of shape (n, n)
        Squared distances.

    Examples
    --------
    >>> centred_kernel(np.array([[0.0, 1.0], [1.0, 0.0]])).round(3)
    array([[ 0.316, -0.316],
           [-0.316,  0.316]])
    """
    upper = distances[np.triu_indices_from(distances, k=1)]
    median = np.median(upper) or (np.median(upper[upper > 0]) if upper.any() else 1.0)
    kernel = np.exp(-distances / median)
    means = kernel.mean(axis=0)
    return kernel - means - means[:, None] + means.mean()


def dependence(A: NDArray[np.float64], B: NDArray[np.float64]) -> float:
    """Return how many standard deviations sum_ab A_ab B_ab lies above its mean under independence.

    Under independence the rows of one matrix can be permuted freely, and the mean and variance over all n! permutations
    have a closed form (Kazi-Aoual, Hitier, Sabatier and Lebreton, 1995). The result is therefore comparable across
    variables, kernels and dimensions, and unlike a p-value it does not underflow when the dependence is strong.

    Parameters
    ----------
    A, B : arrays of shape (n, n), n at least 4
        Kernels from `centred_kernel`.

    Returns
    -------
    float
        About 0 (standard deviation 1) under independence; 0 if one of them does not vary.

    Examples
    --------
    >>> x, e = np.random.default_rng(0).normal(size=(2, 200, 1))
    >>> a, b, c = (centred_kernel(squared_distances(values)) for values in (x, x**2 + e, e))
    >>> bool(dependence(a, b) > 5), bool(abs(dependence(a, c)) < 3)
    (True, True)
    """
    mean, variance = permutation_moments(A, B)
    return float(((A * B).sum() - mean) / np.sqrt(variance)) if variance > 0 else 0.0


def permutation_moments(A: NDArray[np.float64], B: NDArray[np.float64]) -> tuple[float, float]:
    """Return the mean and variance of sum_ab A_ab B_p(a)p(b) over all permutations p, for centred A and B.

    Examples
    --------
    >>> H = np.eye(4) - 1 / 4
    >>> tuple(round(moment, 12) for moment in permutation_moments(H, H))
    (3.0, 0.0)
    """
    n = len(A)
    (trace_a, square_a, diagonal_a), (trace_b, square_b, diagonal_b) = _sums(A), _sums(B)
    spread = [(n - 1) * square - trace**2 for square, trace in ((square_a, trace_a), (square_b, trace_b))]
    excess = [
        n * (n + 1) * diagonal - (n - 1) * (trace**2 + 2 * square)
        for diagonal, square, trace in ((diagonal_a, square_a, trace_a), (diagonal_b, square_b, trace_b))
    ]
    variance = 2 * spread[0] * spread[1] / ((n - 1) ** 2 * (n + 1) * (n - 2))
    variance += excess[0] * excess[1] / ((n + 1) * n * (n - 1) * (n - 2) * (n - 3))
    return trace_a * trace_b / (n - 1), variance


def _sums(A: NDArray[np.float64]) -> tuple[float, float, float]:
    """Return the trace of A, the trace of A^2 and the sum of the squares on the diagonal."""
    diagonal = np.diag(A)
    return float(diagonal.sum()), float((A * A).sum()), float((diagonal**2).sum())

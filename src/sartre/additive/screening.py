"""What a regression with few samples or with copies among its variables can be asked to fit."""

from __future__ import annotations

from math import ceil
from typing import TYPE_CHECKING

import numpy as np
from scipy.special import stdtr

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from sartre.additive.smoothing import Gram

SMALLEST_BASIS = 3
COPY = 1 - 1e-9  # correlation of the straight lines of a variable and its copy
SAME_SPAN = 0.99
NEAR_COPY = 0.999


def basis_size(n: int, n_terms: int, n_splines: int) -> int:
    """Return the number of splines a term: CAM's rule, ceil(n / (3 terms)) when there are fewer than 30 samples a term.

    Examples
    --------
    >>> basis_size(2000, 20, 10), basis_size(300, 19, 10), basis_size(100, 400, 10)
    (10, 6, 3)
    """
    if n >= 30 * n_terms:
        return n_splines
    return max(SMALLEST_BASIS, min(n_splines, ceil(n / (3 * n_terms))))


def first_of_copies(products: Gram, variables: NDArray[np.intp]) -> NDArray[np.bool_]:
    """Return which variables are no copy (shifted or scaled, perhaps) of one that stands before them.

    Copies have the same straight line and, so that one common outlier does not make a copy, span the same functions:
    the inner products of their orthonormal functions then have squares that add up to their number. Categories, which
    have no line, are copies if they span the same.
    """
    if len(variables) == 0:
        return np.ones(0, dtype=bool)
    rank = products.rank[variables]
    lines = products.start[variables]
    same_line = np.abs(products.matrix[np.ix_(lines, lines)]) > COPY
    owner = np.repeat(np.arange(len(products.rank)), products.rank)
    rough = np.bincount(owner, weights=products.roughness, minlength=len(products.rank))[variables]
    category = (rough == 0) & (rank > 1)
    same_line |= np.outer(category, category)
    same_line = np.triu(same_line, k=1)
    for a, b in np.argwhere(same_line):
        block = products.matrix[lines[a] : lines[a] + rank[a], lines[b] : lines[b] + rank[b]]
        same_line[a, b] = rank[a] == rank[b] and (block**2).sum() > SAME_SPAN * rank[a]
    return np.asarray(~same_line.any(axis=0))


def strongest(
    products: Gram, target: int, variables: NDArray[np.intp], required: NDArray[np.bool_] | None = None
) -> NDArray[np.bool_]:
    """Return which variables fit into n samples: all, or the required and those that explain most on their own.

    n / 4 in all, because each takes at least two coefficients and half of the samples must be left for the noise.
    """
    required = np.zeros(len(variables), dtype=bool) if required is None else required
    room = max(1, products.n // 4, int(required.sum()))
    if len(variables) <= room:
        return np.ones(len(variables), dtype=bool)
    squares = products.cross[:, target] ** 2
    owner = np.repeat(np.arange(len(products.rank)), products.rank)
    explained = np.bincount(owner, weights=squares, minlength=len(products.rank))[variables]
    explained[required] = np.inf
    kept = np.zeros(len(variables), dtype=bool)
    kept[np.argsort(-explained, kind="stable")[:room]] = True
    return kept


def linear_p_values(n: int, square: NDArray[np.float64], cross: NDArray[np.float64]) -> NDArray[np.float64]:
    """Return the p-value of every column in the linear model of a target on all of them, all standardised.

    Parameters
    ----------
    n : int
        Number of samples.
    square, cross : arrays of shape (m, m), (m,)
        Mean products of the columns with each other and with the target, whose own mean square is one.

    Examples
    --------
    >>> x = np.array([1.0, -1.0, 1.0, -1.0, 1.0, -1.0])
    >>> y = x + np.array([0.1, 0.1, -0.1, -0.1, 0.0, 0.0])
    >>> linear_p_values(6, np.ones((1, 1)), np.array([np.mean(x * y) / y.std()])).round(4).tolist()
    [0.0]
    """
    m = len(cross)
    inverse: NDArray[np.float64] = np.asarray(np.linalg.inv(square + 1e-8 * np.eye(m)), dtype=np.float64)
    beta = inverse @ cross  # the ridge: copies share their effect
    left, df = float(1.0 - beta @ (2 * cross - square @ beta)), n - m - 1
    noise = max(left, 1e-12) * n / max(df, 1)
    return 2 * stdtr(df, -np.abs(beta) / np.sqrt(noise / n * inverse.diagonal()))


def near_copies(X: NDArray[np.float64]) -> list[tuple[int, int]]:
    """Return pairs of columns with a correlation of .999 or more, up to the sign, that are not the very same.

    Examples
    --------
    >>> x = np.random.default_rng(0).normal(size=(100, 2))
    >>> near_copies(np.column_stack([x, -3 * x[:, 0], x[:, 1]]))
    [(0, 2)]
    """
    spread = X.std(axis=0)
    scores = (X - X.mean(axis=0)) / np.where(spread > 0, spread, np.inf) / np.sqrt(len(X))
    found = []
    for start in range(0, X.shape[1], 1000):  # a block at a time: nothing as large as d x d
        block = scores[:, start : start + 1000]
        for a, b in np.argwhere(np.abs(block.T @ scores[:, start:]) >= NEAR_COPY).tolist():
            if a < b and not np.array_equal(X[:, start + a], X[:, start + b]):
                found.append((start + a, start + b))
    return found

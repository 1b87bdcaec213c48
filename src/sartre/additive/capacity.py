"""What a regression with few samples or with copies among its variables can be asked to fit."""

from __future__ import annotations

from math import ceil
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

if TYPE_CHECKING:
    from sartre.additive.gram import Gram


SMALLEST_BASIS = 3
COPY = 1 - 1e-9  # correlation of the straight lines of a variable and its copy
SAME_SPAN = 0.99


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


def first_of_copies(gram: Gram, variables: NDArray[np.intp]) -> NDArray[np.bool_]:
    """Return which variables are no copy (shifted or scaled, perhaps) of one that stands before them.

    Copies have the same straight line and, so that one common outlier does not make a copy, span the same functions:
    the inner products of their orthonormal functions then have squares that add up to their number. Categories, which
    have no line, are copies if they span the same.
    """
    if len(variables) == 0:
        return np.ones(0, dtype=bool)
    rank = gram.rank[variables]
    lines = gram.start[variables]
    same_line = np.abs(gram.matrix[np.ix_(lines, lines)]) > COPY
    rough = gram.per_term(gram.roughness)[variables]
    category = (rough == 0) & (rank > 1)
    same_line |= np.outer(category, category)
    same_line = np.triu(same_line, k=1)
    for a, b in np.argwhere(same_line):
        block = gram.matrix[lines[a] : lines[a] + rank[a], lines[b] : lines[b] + rank[b]]
        same_line[a, b] = rank[a] == rank[b] and (block**2).sum() > SAME_SPAN * rank[a]
    return np.asarray(~same_line.any(axis=0))


def strongest(
    gram: Gram, target: int, variables: NDArray[np.intp], required: NDArray[np.bool_] | None = None
) -> NDArray[np.bool_]:
    """Return which variables fit into n samples: all, or the required and those that explain most on their own.

    n / 4 in all, because each takes at least two coefficients and half of the samples must be left for the noise.
    """
    required = np.zeros(len(variables), dtype=bool) if required is None else required
    capacity = max(1, gram.n // 4, int(required.sum()))
    if len(variables) <= capacity:
        return np.ones(len(variables), dtype=bool)
    explained = gram.per_term(gram.cross[:, target] ** 2)[variables]
    explained[required] = np.inf
    kept = np.zeros(len(variables), dtype=bool)
    kept[np.argsort(-explained, kind="stable")[:capacity]] = True
    return kept

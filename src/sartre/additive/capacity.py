"""Limits on the terms of a regression when samples are few or variables are copies of each other."""

from __future__ import annotations

from math import ceil
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

if TYPE_CHECKING:
    from sartre.additive.gram import Gram


SMALLEST_BASIS = 3
COPY = 1 - 1e-9  # the straight lines of a variable and its copy are correlated at least this much
SAME_SPAN = 0.99


def basis_size(n: int, n_terms: int, n_splines: int) -> int:
    """Return the number of splines per term by CAM's rule: ceil(n / (3 terms)) below 30 samples per term.

    Examples
    --------
    >>> basis_size(2000, 20, 10), basis_size(300, 19, 10), basis_size(100, 400, 10)
    (10, 6, 3)
    """
    if n >= 30 * n_terms:
        return n_splines
    return max(SMALLEST_BASIS, min(n_splines, ceil(n / (3 * n_terms))))


def first_of_copies(gram: Gram, variables: NDArray[np.intp]) -> NDArray[np.bool_]:
    """Return which variables are not copies (possibly shifted or scaled) of an earlier variable.

    Copies have the same straight line. They must also span the same functions, so that one shared outlier does not
    make two variables copies: the squared inner products of their orthonormal functions then add up to the number of
    functions. Categories have no straight line and are copies if they span the same functions.
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
    """Return which variables n samples can support: all, or the required ones and those that explain most on their own.

    At most n / 4 are kept, because each takes at least two coefficients and half of the samples are needed to estimate
    the noise.
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

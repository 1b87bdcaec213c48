"""Inner products of basis functions: all that a least-squares fit needs to know about the rows.

They come from rows (`gram_of_design`, `gram_of_functions`) or from sums over batches of rows (`smooth_sums.py`).
Code that works on a `Gram` does not depend on which.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, NamedTuple

import numpy as np
from numpy.typing import NDArray

from sartre.additive.design import starts

if TYPE_CHECKING:
    from sartre.additive.design import Design

_CHUNK = 1 << 24  # the largest number of values in a block of rows


class Gram(NamedTuple):
    """Inner products (over n) of all functions of p terms with each other and with t targets.

    A term is a variable or a pair of variables. Term j has the columns ``start[j]`` to ``start[j] + rank[j]`` of
    ``matrix`` (W, W) and the same rows of ``cross`` (W, t), and its functions are orthogonal to each other.
    ``roughness`` (W,) is the penalty of each function, 0 for a straight line; ``squares`` (t,) are the mean squares of
    the centred targets, 1 where they are standardised.
    """

    n: int
    matrix: NDArray[np.float64]
    cross: NDArray[np.float64]
    squares: NDArray[np.float64]
    start: NDArray[np.intp]
    rank: NDArray[np.intp]
    roughness: NDArray[np.float64]

    def per_term(self, numbers: NDArray[np.float64]) -> NDArray[np.float64]:
        """Sum one number per function over the functions of each term, shape (p,)."""
        owner = np.repeat(np.arange(len(self.rank)), self.rank)
        return np.bincount(owner, weights=numbers, minlength=len(self.rank)).astype(np.float64)


def gram_of_design(design: Design, targets: NDArray[np.float64]) -> Gram:
    """Add up the inner products of a design and of (n, t) standardised targets, a block of rows at a time."""
    n, width = len(targets), int(design.rank.sum())
    matrix, cross = np.zeros((width, width)), np.zeros((width, targets.shape[1]))
    tables = [design.table(j) for j in range(len(design.rank))]
    step = max(1, _CHUNK // max(1, width))
    for first in range(0, n, step):
        codes = design.codes[:, first : first + step]
        functions = np.hstack([table[code] for table, code in zip(tables, codes, strict=True)])
        matrix += functions.T @ functions
        cross += functions.T @ targets[first : first + step]
    squares = np.ones(targets.shape[1])
    return Gram(n, matrix / n, cross / n, squares, design.spectrum_start, design.rank, design.roughness)


def gram_of_functions(
    blocks: Sequence[NDArray[np.float64]], roughness: Sequence[NDArray[np.float64]], y: NDArray[np.float64]
) -> Gram:
    """Return the inner products of the functions of some terms, (n, k_j) each, and of one standardised target (n,)."""
    n = len(y)
    rank = np.array([block.shape[1] for block in blocks], dtype=np.intp)
    functions = np.hstack([np.empty((n, 0)), *blocks])
    return Gram(
        n=n,
        matrix=functions.T @ functions / n,
        cross=functions.T @ y[:, None] / n,
        squares=np.ones(1),
        start=starts(rank),
        rank=rank,
        roughness=np.concatenate([np.empty(0), *roughness]),
    )

"""Intervals of a variable from the leaves of small trees (the paper's randomized tree embedding).

A completely random tree does not use the target. Its split points are uniform between a node's smallest and largest
value. The node to split next is the one whose split explains most of a random target, the same for all trees of a
variable, as in scikit-learn's ``RandomTreesEmbedding(max_leaf_nodes=L)``. One set of intervals therefore serves every
target.
"""

from __future__ import annotations

import hashlib
from collections.abc import Collection, Iterator, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from sartre.additive.design import NOTHING, Basis, level_basis, with_missing
from sartre.additive.kernels import trees as kernels
from sartre.settings import check_number

MAX_DEPTH = 5  # the default of RandomTreesEmbedding


def stream(seed: int, *names: str) -> np.random.Generator:
    """Return the random stream of a column (or of a pair of columns): it depends only on the seed and the names."""
    words = [int.from_bytes(hashlib.blake2b(name.encode(), digest_size=16).digest(), "big") for name in names]
    return np.random.default_rng([seed, *words])


@dataclass(frozen=True)
class Embedding:
    """The number and size of the completely random trees that split variables into intervals.

    Parameters
    ----------
    n_trees, max_leaves : int
        Trees per variable, and the largest number of leaves of each (no tree has more than 32).

    Examples
    --------
    >>> Embedding(n_trees=10)
    Embedding(n_trees=10, max_leaves=8)
    """

    n_trees: int = 5
    max_leaves: int = 8

    def __post_init__(self) -> None:
        """Check the number and the size of the trees."""
        check_number("Embedding", "n_trees", self.n_trees, low=1, integer=True)
        check_number("Embedding", "max_leaves", self.max_leaves, low=2, integer=True)


def embedding_of(owner: str, embedding: object) -> Embedding:
    """Return an embedding, the default one for None; raise an error for other types."""
    if embedding is None:
        return Embedding()
    if not isinstance(embedding, Embedding):
        raise TypeError(
            f"The 'embedding' parameter of {owner} must be an Embedding or None. Got {embedding!r} instead."
        )
    return embedding


def random_intervals(column: NDArray[np.float64], n_trees: int, max_leaves: int, rng: np.random.Generator) -> Basis:
    """Grow completely random trees on a column and return their leaves as a basis of interval indicators.

    Parameters
    ----------
    column : array of shape (n,)
    n_trees, max_leaves : int
        Number of trees and the largest number of leaves of each, 32 at most (a depth of 5).
    rng : Generator

    Returns
    -------
    Basis
        At most ``n_trees * max_leaves`` indicators of intervals ``(a, b]``; none for a constant column.

    Examples
    --------
    >>> rng = np.random.default_rng(0)
    >>> basis = random_intervals(rng.normal(size=500), n_trees=5, max_leaves=8, rng=rng)
    >>> basis.table.shape
    (36, 40)
    """
    max_leaves = min(max_leaves, 2**MAX_DEPTH)
    ordered = np.sort(column)
    target = np.concatenate(([0.0], np.cumsum(rng.random(len(column)))))
    cuts = []
    for draws in rng.random((n_trees, 2 * max_leaves - 1)):
        found = np.empty(max_leaves - 1)
        count = kernels.grow_tree(ordered, target, draws, MAX_DEPTH, found)
        cuts.append(np.sort(found[:count]))
    return leaf_indicators(cuts)


def leaf_indicators(cuts: list[NDArray[np.float64]]) -> Basis:
    """Return the indicators of every tree's leaves, tabulated on the bins between all trees' cut points."""
    cuts = [tree for tree in cuts if len(tree)]
    edges = np.unique(np.concatenate([np.empty(0), *cuts]))
    upper = np.append(edges, np.inf)  # the leaf of a bin is the leaf of its upper end
    leaves = [np.eye(len(tree) + 1)[np.searchsorted(tree, upper, side="left")] for tree in cuts]
    return Basis(edges, np.concatenate([np.empty((len(upper), 0)), *leaves], axis=1))


def interval_bases(
    X: NDArray[np.float64],
    names: Sequence[str],
    embedding: Embedding,
    seed: int,
    nominal: Collection[int] = (),
) -> Iterator[Basis]:
    """Yield the basis of every column for the group lasso: the leaves of trees.

    Every level is a leaf of every tree, and so are the missing values: each tree contributes an indicator, as it does
    for intervals.

    Parameters
    ----------
    X, nominal : as in `smooth_bases`
    names : sequence of d strings
    embedding : Embedding
    seed : int
        A column's intervals depend on the seed and on the column's name.
    """
    scale = float(np.sqrt(embedding.n_trees))
    for j, column in enumerate(X.T):
        observed = ~np.isnan(column)
        if not observed.any():
            yield NOTHING
            continue
        if j in nominal:
            basis = level_basis(column, scale)._replace(penalty=None)
        else:
            size = embedding.n_trees, embedding.max_leaves
            basis = random_intervals(column[observed], *size, stream(seed, names[j]))
        yield basis if observed.all() else with_missing(basis, scale)

"""Intervals of a variable from the leaves of small trees (the paper's randomized tree embedding).

A completely random tree never looks at a target: its split points are uniform between a node's smallest and
largest value, and the node that is split next is the one that explains most of a random target, one for all trees
of a variable, as in scikit-learn's ``RandomTreesEmbedding(max_leaf_nodes=L)``. So one set of intervals serves every
target. Intervals from a forest or from boosting do look at the target; they are here for ablations.
"""

from __future__ import annotations

import hashlib
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from sartre.additive import _kernels
from sartre.additive.design import Basis
from sartre.validation import check_choice, check_number

if TYPE_CHECKING:
    from collections.abc import Sequence

    from numpy.typing import NDArray

EMBEDDINGS = ("random", "forest", "boosting")
MAX_DEPTH = 5  # RandomTreesEmbedding's default


def stream(seed: int, *names: str) -> np.random.Generator:
    """Return the random stream of a column (or of a pair of columns): it depends on the seed and the names only."""
    words = [int.from_bytes(hashlib.blake2b(name.encode(), digest_size=16).digest(), "big") for name in names]
    return np.random.default_rng([seed, *words])


@dataclass(frozen=True)
class Embedding:
    """How variables become intervals: the kind of trees, how many, and how large.

    Parameters
    ----------
    kind : "random", "forest" or "boosting"
        Completely random trees serve every target (the method). Trees of a random forest or of gradient boosting are
        fitted to one target each (ablations; slow).
    n_trees, max_leaves : int
        Trees a variable, and the largest number of leaves of each (no tree has more than 32).

    Examples
    --------
    >>> Embedding(n_trees=10)
    Embedding(kind='random', n_trees=10, max_leaves=8)
    """

    kind: str = "random"
    n_trees: int = 5
    max_leaves: int = 8

    def __post_init__(self) -> None:
        """Refuse what no tree can be."""
        check_choice("Embedding", "kind", self.kind, EMBEDDINGS)
        check_number("Embedding", "n_trees", self.n_trees, low=1, integer=True)
        check_number("Embedding", "max_leaves", self.max_leaves, low=2, integer=True)

    @property
    def supervised(self) -> bool:
        """Whether the intervals depend on the target."""
        return self.kind != "random"

    def bases(
        self,
        X: NDArray[np.float64],
        names: Sequence[str],
        seed: int,
        target: NDArray[np.float64] | None = None,
        target_name: str = "",
    ) -> list[Basis]:
        """Return a basis for every column; supervised kinds need the target."""
        if target is None or not self.supervised:
            streams = [stream(seed, name) for name in names]
            return [
                random_intervals(column, self.n_trees, self.max_leaves, rng)
                for column, rng in zip(X.T, streams, strict=True)
            ]
        streams = [stream(seed, name, target_name) for name in names]
        return [supervised_intervals(self, column, target, rng) for column, rng in zip(X.T, streams, strict=True)]


def embedding_of(owner: str, embedding: object) -> Embedding:
    """Return the embedding of a setting: the default for None; anything else is refused."""
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
        count = _kernels.grow_tree(ordered, target, draws, MAX_DEPTH, found)
        cuts.append(np.sort(found[:count]))
    return _indicators(cuts)


def supervised_intervals(
    embedding: Embedding, column: NDArray[np.float64], target: NDArray[np.float64], rng: np.random.Generator
) -> Basis:
    """Return the leaves of a forest or of boosted trees that regress the target on the column."""
    from sklearn.ensemble import GradientBoostingRegressor, RandomForestRegressor  # noqa: PLC0415 - ablations only

    model = {"forest": RandomForestRegressor, "boosting": GradientBoostingRegressor}[embedding.kind]
    centre, scale = column.mean(), column.std()
    if np.ptp(column) == 0.0:
        return _indicators([])
    ensemble = model(
        n_estimators=embedding.n_trees,
        max_leaf_nodes=embedding.max_leaves,
        max_depth=MAX_DEPTH,
        random_state=int(rng.integers(2**31)),
    )
    ensemble.fit(((column - centre) / scale)[:, None], target)  # standardised: scikit-learn's trees see float32
    trees = [tree.tree_ for tree in np.ravel(ensemble.estimators_)]
    return _indicators([np.unique(tree.threshold[tree.feature >= 0]) * scale + centre for tree in trees])


def _indicators(cuts: list[NDArray[np.float64]]) -> Basis:
    """Return the indicators of every tree's leaves, tabulated on the bins between all trees' cut points."""
    cuts = [tree for tree in cuts if len(tree)]
    edges = np.unique(np.concatenate([np.empty(0), *cuts]))
    upper = np.append(edges, np.inf)  # the leaf of a bin is the leaf of its upper end
    leaves = [np.eye(len(tree) + 1)[np.searchsorted(tree, upper, side="left")] for tree in cuts]
    return Basis(edges, np.concatenate([np.empty((len(upper), 0)), *leaves], axis=1))

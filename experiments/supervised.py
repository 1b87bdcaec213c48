"""SARTRE-pruning with intervals that use the target, for the ablations: leaves of a forest or of boosted trees."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray
from sklearn.base import BaseEstimator
from sklearn.ensemble import GradientBoostingRegressor, RandomForestRegressor

from sartre.additive.bases.trees import MAX_DEPTH, leaf_indicators, stream
from sartre.additive.design import Basis, prepare
from sartre.additive.lasso import solve, terms
from sartre.data.checks import as_table
from sartre.knowledge.masks import check_edges
from sartre.prune.edges import edge_table

ENSEMBLES: dict[str, Any] = {"forest": RandomForestRegressor, "boosting": GradientBoostingRegressor}
N_TREES, MAX_LEAVES = 5, 8


def supervised_intervals(
    kind: str, column: NDArray[np.float64], target: NDArray[np.float64], rng: np.random.Generator
) -> Basis:
    """Return the leaves of a forest or of boosted trees that regress the target on the column.

    Examples
    --------
    >>> rng = np.random.default_rng(0)
    >>> x = rng.normal(size=200)
    >>> supervised_intervals("forest", x, np.sign(x), rng).table.shape[1] <= 40
    True
    """
    seed = int(rng.integers(2**31))
    if np.ptp(column) == 0.0:
        return leaf_indicators([])
    centre, scale = column.mean(), column.std()
    size = {"n_estimators": N_TREES, "max_leaf_nodes": MAX_LEAVES, "max_depth": MAX_DEPTH}
    ensemble = ENSEMBLES[kind](**size, random_state=seed)
    ensemble.fit(((column - centre) / scale)[:, None], target)  # standardised because scikit-learn's trees use float32
    trees = [tree.tree_ for tree in np.ravel(ensemble.estimators_)]
    return leaf_indicators([np.unique(tree.threshold[tree.feature >= 0]) * scale + centre for tree in trees])


class SupervisedPruning(BaseEstimator):
    """The paper's pruning with intervals that are fitted to each target.

    Parameters
    ----------
    kind : "forest" or "boosting"
    penalty : float
    random_state : int

    Examples
    --------
    >>> x, e = np.random.default_rng(0).normal(size=(2, 500))
    >>> pruner = SupervisedPruning("forest").fit(np.column_stack([x, np.sin(2 * x) + e / 3]), [0, 1])
    >>> pruner.adjacency_matrix_.tolist()
    [[0, 1], [0, 0]]
    """

    def __init__(self, kind: str, penalty: float = 0.1, random_state: int = 0) -> None:
        self.kind = kind
        self.penalty = penalty
        self.random_state = random_state

    def fit(self, X: Any, order: Sequence[Any], candidates: Any = None, required: Any = None) -> SupervisedPruning:
        """Prune the fully connected graph of an order; arguments as in `sartre.prune.SARTRE.fit`."""
        table = as_table(X, min_rows=2)
        edges = check_edges(order, candidates, required, table.names)
        self.adjacency_matrix_ = np.zeros((table.shape[1], table.shape[1]), dtype=np.uint8)
        rows = []
        for target, parents, kept in edges.targets():
            if len(parents) == 0:
                continue
            y, name = table.values[:, target], table.names[target]
            bases = [
                supervised_intervals(self.kind, table.values[:, j], y, stream(self.random_state, table.names[j], name))
                for j in parents
            ]
            design = prepare(table.values[:, parents], bases)
            weights = np.where(np.isin(parents, kept), 0.0, 1.0)
            solution = solve(design, y, np.arange(len(parents)), self.penalty, weights=weights)
            for place, strength, margin in zip(*terms(design, y, solution), strict=True):
                rows.append((int(parents[place]), target, strength, margin, np.nan))
            self.adjacency_matrix_[parents[solution.selected], target] = 1
        self.edges_ = edge_table(rows, table.names)
        return self

"""Tables with hidden common causes, and how marks of them are counted."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, cast

import numpy as np

from sartre.simulate import random_dag, simulate

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from sartre.simulate import Dataset

EFFECTS = {"ER2-additive": "additive", "ER2-linear": "linear", "ER2-joint": "joint", "ER2-clean": ""}
EDGES_PER_NODE = 2


def draw_confounded(family: str, nodes: int, samples: int, hidden: int, seed: int) -> Dataset:
    """Return a table of Gaussian-process mechanisms with hidden causes of two or three variables each.

    Examples
    --------
    >>> len(draw_confounded("ER2-linear", 6, 50, 1, 0).confounded) in (1, 3)
    True
    """
    dag, effect = (
        random_dag(nodes, min(EDGES_PER_NODE * nodes, nodes * (nodes - 1) // 2), random_state=seed),
        EFFECTS[family],
    )
    if not effect:
        return simulate(dag, samples, random_state=seed)
    return simulate(dag, samples, random_state=seed, hidden=hidden, hidden_effect=cast("Any", effect))


def compare_marks(drawn: Dataset, adjacency: NDArray[Any]) -> dict[str, float]:
    """Return the measures of a graph in which a pair that points both ways is marked.

    ``edges`` counts the marks; ``precision`` is the share of them that have a hidden cause (1 without a mark);
    ``recall`` is the share found of the pairs that have a hidden cause and no edge (1 if there are none); ``shd`` is
    that of the arrows alone. The other measures are those of the marks, too: ``f1`` is the harmonic mean of the two.

    Examples
    --------
    >>> data = draw_confounded("ER2-clean", 3, 50, 0, 0)
    >>> compare_marks(data, data.dag.adjacency)["shd"], compare_marks(data, np.ones((3, 3)) - np.eye(3))["edges"]
    (0, 3)
    """
    names, both = drawn.dag.names, adjacency.astype(bool) & adjacency.T.astype(bool)
    marked = {_pair(names[i], names[j]) for i, j in np.argwhere(np.triu(both))}
    alone = {_pair(*pair) for pair in drawn.confounded} - {_pair(*edge) for edge in drawn.dag.edges}
    right = marked & {_pair(*pair) for pair in drawn.confounded}
    precision = len(right) / len(marked) if marked else 1.0
    recall = len(marked & alone) / len(alone) if alone else 1.0
    differs = np.where(both, 0, adjacency) != drawn.dag.adjacency  # CAMUV's arrows may have cycles
    return {
        "edges": len(marked),
        "precision": precision,
        "recall": recall,
        "f1": 2 * precision * recall / (precision + recall) if precision + recall else 0.0,
        "shd": int(np.triu(differs | differs.T).sum()),
        "shd_reversed_twice": int(differs.sum()),
        "sid": 0.0,  # not defined where arrows are left out
        "sid_swapped": 0.0,
    }


def _pair(first: str, second: str) -> tuple[str, str]:
    return (first, second) if first < second else (second, first)

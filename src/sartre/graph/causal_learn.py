"""Graphs of causal-learn: what its functions take and return.

Its matrix has an endpoint for both ends of every edge: for i -> j, -1 (tail) at [i, j] and 1 (arrow) at [j, i]; for a
line, -1 twice.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from importlib import import_module
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

if TYPE_CHECKING:
    from types import ModuleType

AT_TAIL, AT_ARROW = -1, 1


def to_graph(
    names: Sequence[str], arrows: Iterable[tuple[str, str]], lines: Iterable[tuple[str, str]] | None = None
) -> Any:
    """Return a causal-learn ``Dag`` or, where `lines` are given, a ``GeneralGraph``; its nodes have the names."""
    modules = _modules()
    nodes = [modules["GraphNode"].GraphNode(name) for name in names]
    kind = modules["Dag"].Dag if lines is None else modules["GeneralGraph"].GeneralGraph
    graph, node_of = kind(nodes), dict(zip(names, nodes, strict=True))
    for source, target in arrows:
        graph.add_directed_edge(node_of[source], node_of[target])
    tail = modules["Endpoint"].Endpoint.TAIL
    for first, second in lines or ():
        graph.add_edge(modules["Edge"].Edge(node_of[first], node_of[second], tail, tail))
    return graph


def from_graph(graph: Any, names: Sequence[Any] | None) -> tuple[Any, Sequence[str] | None]:
    """Return the endpoints and the names of a ``GeneralGraph``, a ``CausalGraph`` or a matrix.

    Names may be text or causal-learn's nodes.

    Examples
    --------
    >>> from_graph([[0, -1], [1, 0]], ["a", "b"])
    ([[0, -1], [1, 0]], ['a', 'b'])
    """
    if hasattr(getattr(graph, "G", None), "get_nodes"):  # what `pc` returns
        graph = graph.G
    if hasattr(graph, "get_nodes") and hasattr(graph, "graph"):
        names, graph = graph.get_nodes() if names is None else names, graph.graph
    return graph, None if names is None else [_name_of(name) for name in names]


def arrows_and_lines(ends: NDArray[Any], *, lines: bool) -> tuple[NDArray[np.bool_], NDArray[np.bool_]]:
    """Return which variable points to which, and which are joined by a line; other edges are refused.

    Parameters
    ----------
    ends : array of shape (d, d)
    lines : bool
        Whether lines are allowed.

    Examples
    --------
    >>> arrows, lines = arrows_and_lines(np.array([[0, -1], [1, 0]]), lines=False)
    >>> np.argwhere(arrows).tolist(), bool(lines.any())
    ([[0, 1]], False)
    """
    arrows = (ends == AT_TAIL) & (ends.T == AT_ARROW)
    undirected = (ends == AT_TAIL) & (ends.T == AT_TAIL)
    known = arrows | arrows.T | (undirected if lines else False)
    unclear = np.argwhere((ends != 0) & ~known)
    if len(unclear):
        i, j = unclear[0]
        wanted = "be an arrow (-1 at [i, j], 1 at [j, i])" + (" or a line (-1 twice)" if lines else "")
        remedy = "orient that edge, or leave it out" if lines else "orient that edge, or read a Pdag, which has lines"
        raise ValueError(
            f"Every edge must {wanted}. Got {ends[i, j]} at [{i}, {j}] and {ends[j, i]} at [{j}, {i}]; {remedy}."
        )
    return arrows, np.triu(undirected)


def _name_of(node: Any) -> str:
    return str(node.get_name() if hasattr(node, "get_name") else node)


def _modules() -> dict[str, ModuleType]:
    try:
        return {
            name: import_module(f"causallearn.graph.{name}")
            for name in ("Dag", "Edge", "Endpoint", "GeneralGraph", "GraphNode")
        }
    except ImportError:
        raise ImportError(
            "A graph of causal-learn needs causal-learn, which is not installed. Install it with: pip install "
            "causal-learn"
        ) from None

"""Where the nodes of a drawing stand: layers, causes above effects, few crossings (igraph's Sugiyama layout)."""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

import numpy as np
from scipy.sparse import coo_array
from scipy.sparse.csgraph import connected_components

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from sartre.graph import Dag

ROW = 7.0  # steps to the right, at least, before the parts of a graph that do not hang together go on below


class Layout(NamedTuple):
    """A drawing on a grid: a step to the right is a node's width, a step down a layer.

    positions (d, 2): x to the right and y downwards, from 0; routes: for each of ``dag.edges`` the points it passes
    through, shape (k, 2), from its source to its target, further down at each.
    """

    positions: NDArray[np.float64]
    routes: list[NDArray[np.float64]]


def layered(dag: Dag) -> Layout:
    """Place causes above effects; parts that do not hang together stand side by side, variables without an edge last.

    Examples
    --------
    >>> from sartre import Dag
    >>> layout = layered(Dag.from_edges([("rain", "wet"), ("wet", "slippery")], ["wet", "rain", "slippery", "lone"]))
    >>> layout.positions.tolist()
    [[0.0, 1.0], [0.0, 0.0], [0.0, 2.0], [1.0, 0.0]]
    """
    index = {name: i for i, name in enumerate(dag.names)}
    edges = np.array([(index[source], index[target]) for source, target in dag.edges], dtype=np.intp).reshape(-1, 2)
    positions = np.zeros((len(dag), 2))
    routes = [np.zeros((0, 2))] * len(edges)
    parts = []
    for nodes in _parts(len(dag), edges):
        own = np.flatnonzero(np.isin(edges[:, 0], nodes))
        places, paths = _sugiyama(len(nodes), np.searchsorted(nodes, edges[own]))
        parts.append((nodes, own, places, paths, np.vstack([places, *paths]).max(axis=0)))
    parts.sort(key=lambda part: -len(part[0]))
    widest = max([ROW, *(size[0] for *_, size in parts)])
    corner, bottom = np.zeros(2), 0.0
    for nodes, own, places, paths, size in parts:
        if corner[0] > 0 and corner[0] + size[0] > widest:
            corner = np.array([0.0, bottom])
        positions[nodes] = places + corner
        for k, path in zip(own, paths, strict=True):
            routes[k] = path + corner
        bottom = max(bottom, corner[1] + size[1] + 1)
        corner = np.array([corner[0] + size[0] + 1, corner[1]])
    return Layout(positions, routes)


def _parts(d: int, edges: NDArray[np.intp]) -> list[NDArray[np.intp]]:
    """Return the variables of each part that hangs together, increasing."""
    links = coo_array((np.ones(len(edges)), edges.T), shape=(d, d))
    count, label = connected_components(links, directed=False) if d else (0, np.empty(0))
    return [np.flatnonzero(label == k) for k in range(count)]


def _sugiyama(d: int, edges: NDArray[np.intp]) -> tuple[NDArray[np.float64], list[NDArray[np.float64]]]:
    """Place one part: igraph 1.0 mixes up the routes of graphs that do not hang together."""
    if d == 1:
        return np.zeros((1, 2)), []
    try:
        from igraph import Graph  # noqa: PLC0415 - an extra
    except ImportError:
        raise ImportError(
            "Drawing a graph needs igraph, which is not installed. Install it with: pip install 'sartre[report]'"
        ) from None
    layout = Graph(n=d, edges=edges.tolist(), directed=True).layout_sugiyama(maxiter=1000)
    positions = np.array(layout.coords, dtype=np.float64)
    bends = [np.array(points, dtype=np.float64).reshape(-1, 2) for points in layout.edge_routing]
    routes = [np.vstack([positions[i], bend, positions[j]]) for (i, j), bend in zip(edges, bends, strict=True)]
    corner = np.vstack([positions, *routes]).min(axis=0)
    return positions - corner, [route - corner for route in routes]

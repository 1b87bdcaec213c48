"""Positions of the nodes in a drawing: layers, causes above effects, few crossings (Sugiyama's layout).

Median sweeps order the nodes within each layer (`sartre.report.crossings`). The distances between them are computed
here, so that a graph of sixty variables fits on a screen: every node is placed as close as possible to its neighbours
in the adjacent layers.
"""

from __future__ import annotations

from itertools import pairwise
from math import ceil, sqrt
from typing import TYPE_CHECKING, NamedTuple

import numpy as np
from numpy.typing import NDArray
from scipy.sparse import coo_array
from scipy.sparse.csgraph import connected_components
from sklearn.isotonic import isotonic_regression

from sartre.report.crossings import few_crossings

if TYPE_CHECKING:
    from sartre.graph.dag import Dag

ROW = 7.0  # smallest width, in steps, at which further connected components are placed below
BEND = 0.3  # width of an edge that passes through a layer, in widths of a node
BENDS = (
    3.0  # all such edges of a layer together are at most so wide, or those of a dense graph would push its nodes apart
)
WIDTH = 1.5  # width of a layer, relative to the square root of the number of nodes
SWEEPS = 20


class Layout(NamedTuple):
    """A drawing on a grid: a step to the right is the width of a node, and a step down is a layer.

    positions (d, 2): x to the right and y downwards, from 0; routes: for each of ``dag.edges`` the points it passes
    through from source to target, shape (k, 2), each further down than the last.
    """

    positions: NDArray[np.float64]
    routes: list[NDArray[np.float64]]


def layered(dag: Dag) -> Layout:
    """Place causes above effects, and connected components side by side, with isolated variables last.

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
    parts.sort(key=lambda drawn: -len(drawn[0]))
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
    """Return the variables of each connected component, in increasing order."""
    ends = edges.T.astype(np.int32)  # SciPy before 1.12 accepts no other type here
    links = coo_array((np.ones(len(edges)), (ends[0], ends[1])), shape=(d, d))
    count, label = connected_components(links, directed=False) if d else (0, np.empty(0))
    return [np.flatnonzero(label == k) for k in range(count)]


def _sugiyama(d: int, edges: NDArray[np.intp]) -> tuple[NDArray[np.float64], list[NDArray[np.float64]]]:
    """Place one connected component."""
    if d == 1:
        return np.zeros((1, 2)), []
    layers, paths = _with_bends(_layers(d, edges), edges)
    links = [pair for path in paths for pair in pairwise(path)]
    points = np.zeros((len(layers), 2))
    points[:, 1] = layers
    for row in few_crossings(layers, links):
        points[row, 0] = np.arange(len(row))
    points[:, 0] = _narrowed(points, links, d)
    points -= points.min(axis=0)
    return points[:d], [points[path] for path in paths]


def _with_bends(layers: NDArray[np.intp], edges: NDArray[np.intp]) -> tuple[NDArray[np.intp], list[list[int]]]:
    """Return the layer of each node and of each bend, which follow them, and the nodes and bends along each edge."""
    all_layers, paths = layers.tolist(), []
    for source, target in edges.tolist():
        passed = range(layers[source] + 1, layers[target])
        paths.append([source, *range(len(all_layers), len(all_layers) + len(passed)), target])
        all_layers += passed
    return np.array(all_layers), paths


def _layers(d: int, edges: NDArray[np.intp]) -> NDArray[np.intp]:
    """Return the layer of each node: below all its causes, with no layer much wider than the drawing is high.

    Nodes with the longest paths below them come first, and nodes without a cause are put just above their first effect.
    """
    depth, height = np.zeros((2, d), dtype=np.intp)
    for _ in range(d):
        np.maximum.at(depth, edges[:, 1], depth[edges[:, 0]] + 1)
        np.maximum.at(height, edges[:, 0], height[edges[:, 1]] + 1)
    free = np.full(2 * d + 1, ceil(WIDTH * sqrt(d)))
    layers = np.zeros(d, dtype=np.intp)
    for node in np.lexsort((-height, depth)):
        causes = edges[edges[:, 1] == node, 0]
        lowest = layers[causes].max() + 1 if len(causes) else 0
        layers[node] = lowest + np.flatnonzero(free[lowest:])[0]
        free[layers[node]] -= 1
    for node in np.flatnonzero(depth == 0):
        first_effect = layers[edges[edges[:, 0] == node, 1]].min()
        layer = max((k for k in range(layers[node] + 1, first_effect) if free[k]), default=layers[node])
        free[layers[node]] += 1
        free[layer] -= 1
        layers[node] = layer
    return np.unique(layers, return_inverse=True)[1]


def _narrowed(points: NDArray[np.float64], pairs: list[tuple[int, int]], d: int) -> NDArray[np.float64]:
    """Return x of every node and bend, as close to its neighbours as the order and the widths in its layer allow."""
    links = np.array(pairs, dtype=np.intp)
    count = len(points)
    near = coo_array((np.ones(2 * len(links)), np.vstack([links, links[:, ::-1]]).T), shape=(count, count)).tocsr()
    degree = near.sum(axis=1)
    _, bends = np.unique(points[d:, 1], return_counts=True)
    bend = min(BEND, BENDS / bends.max(initial=1))
    width = np.where(np.arange(count) < d, 1.0, bend)
    rows = [np.flatnonzero(points[:, 1] == layer) for layer in np.unique(points[:, 1])]
    rows = [row[np.argsort(points[row, 0], kind="stable")] for row in rows]
    offsets = [np.cumsum(width[row]) - width[row] / 2 for row in rows]
    x = np.zeros(count)
    for row, offset in zip(rows, offsets, strict=True):
        x[row] = offset - offset.mean()
    for sweep in range(SWEEPS):
        for row, offset in list(zip(rows, offsets, strict=True))[:: 1 if sweep % 2 == 0 else -1]:
            wanted = (near[row] @ x) / degree[row]
            x[row] = offset + isotonic_regression(wanted - offset, sample_weight=1 / width[row])
    return x

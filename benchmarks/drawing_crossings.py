"""Compare the crossings of our layouts with those of igraph's Sugiyama layout, in the same layers.

.venv-bench/bin/python benchmarks/drawing_crossings.py
"""

from __future__ import annotations

from itertools import pairwise
from typing import Any

import igraph
import numpy as np
from _report import markdown, versions

from sartre.report.crossings import few_crossings, n_crossings
from sartre.report.layout import _layers, _parts, _with_bends
from sartre.simulate import random_dag

GRAPHS = [(10, 15), (20, 20), (20, 40), (20, 60), (31, 159), (40, 60), (50, 80), (60, 60), (60, 120), (60, 180)]
FIRST_SEED = 15000
N_SWEEPS = 1000  # the most that igraph may use; more change nothing

Links = list[tuple[int, int]]


def links_of(paths: list[list[int]]) -> Links:
    """Return the pairs of adjacent points along all paths."""
    return [pair for path in paths for pair in pairwise(path)]


def our_crossings(layers: np.ndarray, edges: np.ndarray) -> int:
    """Return the crossings of the report's layout of one connected graph."""
    points, paths = _with_bends(layers, edges)
    links = links_of(paths)
    return n_crossings(few_crossings(points, links), links)


def their_crossings(layers: np.ndarray, edges: np.ndarray) -> int:
    """Return the crossings of igraph's layout in the same layers."""
    graph = igraph.Graph(n=len(layers), edges=edges.tolist(), directed=True)
    layout: Any = graph.layout_sugiyama(layers=layers.tolist(), maxiter=N_SWEEPS)
    bends = [np.array(points, dtype=float).reshape(-1, 2) for points in layout.edge_routing]
    points = np.vstack([np.array(layout.coords), *bends])
    ends = len(layers) + np.cumsum([0, *(len(bend) for bend in bends)])
    paths = [[i, *range(ends[k], ends[k + 1]), j] for k, (i, j) in enumerate(edges.tolist())]
    rows = [np.flatnonzero(points[:, 1] == layer) for layer in np.unique(points[:, 1])]
    ranked = [row[np.argsort(points[row, 0], kind="stable")].tolist() for row in rows]
    return n_crossings(ranked, links_of(paths))


def crossings(d: int, n_edges: int, seed: int) -> tuple[int, int]:
    """Return our and igraph's crossings of a random graph, over its connected components."""
    dag = random_dag(d, n_edges, random_state=seed)
    index = {name: i for i, name in enumerate(dag.names)}
    edges = np.array([(index[source], index[target]) for source, target in dag.edges])
    counts = np.zeros(2, dtype=int)
    for nodes in _parts(d, edges):
        if len(nodes) > 1:
            own = np.searchsorted(nodes, edges[np.isin(edges[:, 0], nodes)])
            layers = _layers(len(nodes), own)
            counts += our_crossings(layers, own), their_crossings(layers, own)
    return int(counts[0]), int(counts[1])


def main() -> None:
    """Print one column per graph."""
    counts = [crossings(d, n_edges, FIRST_SEED + k) for k, (d, n_edges) in enumerate(GRAPHS)]
    ours, theirs = zip(*counts, strict=True)
    head = ["crossings", *(f"{d} x {n_edges}" for d, n_edges in GRAPHS)]
    print(versions("numpy", "igraph"), end="\n\n")
    print(markdown(head, [["median sweeps", *map(str, ours)], ["igraph", *map(str, theirs)]]))


if __name__ == "__main__":
    main()

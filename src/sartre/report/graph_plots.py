"""Plots of the graph: in layers, and along its order."""

from __future__ import annotations

from collections import defaultdict
from itertools import pairwise
from typing import TYPE_CHECKING, NamedTuple

import numpy as np
from matplotlib.patches import FancyBboxPatch
from matplotlib.path import Path
from numpy.typing import NDArray
from sklearn.utils.validation import check_is_fitted

from sartre.report._drawing import BLUE, PALE, PLAIN, RIM, draw_edge, new_axes, short, strengths, undecided
from sartre.report.layout import layered

if TYPE_CHECKING:
    import pandas as pd
    from matplotlib.axes import Axes

    from sartre.discovery import CausalDiscovery
    from sartre.graph.dag import Dag

FONT = 10.0  # points, if there is space
HEIGHT = 0.34  # height of a box; all lengths of a drawing are in inches
_LAYER = 0.9  # distance between layers
_PORT = 0.16  # distance between two edges that end at the same box


class Placed(NamedTuple):
    """A drawing in inches, y upwards: centres of the boxes, points of the edges, and the corners of the whole."""

    places: NDArray[np.float64]
    routes: list[NDArray[np.float64]]
    width: float
    low: NDArray[np.float64]
    high: NDArray[np.float64]


def placed(dag: Dag) -> Placed:
    """Place boxes as wide as the longest name, in layers, and the edges between them.

    Examples
    --------
    >>> from sartre import Dag
    >>> placed(Dag.from_edges([("rain", "wet")])).places.tolist()
    [[0.0, -0.0], [0.0, -0.9]]
    """
    layout = layered(dag)
    width = 0.095 * max([4, *(len(short(name)) for name in dag.names)]) + 0.2
    scale = np.array([width + 0.2, -_LAYER])
    places = layout.positions * scale
    routes = [route * scale for route in layout.routes]
    low, high = _corners(np.vstack([places, *routes, np.zeros((1, 2))]), (width / 2 + 0.1, HEIGHT / 2 + 0.1))
    _spread_ports(dag.edges, routes, width)
    return Placed(places, routes, width, low, high)


def plot_graph(dag: Dag, edges: pd.DataFrame | None = None, *, ax: Axes | None = None) -> Axes:
    """Draw a graph in layers, causes above effects; a stronger edge is thicker.

    Parameters
    ----------
    dag : Dag
    edges : DataFrame, optional
        ``edges_`` of a model, for the strengths, and for dashed lines where the direction is not decided.
    ax : Axes, optional

    Examples
    --------
    >>> from sartre import Dag
    >>> ax = plot_graph(Dag.from_edges([("rain", "wet"), ("sprinkler", "wet")]))
    >>> sorted(text.get_text() for text in ax.texts)
    ['rain', 'sprinkler', 'wet']
    """
    places, routes, width, low, high = placed(dag)
    size = high - low
    if ax is None:
        ax = new_axes(None, (max(2.0, size[0]), max(1.0, size[1])))
    ax.set(xlim=(low[0], high[0]), ylim=(low[1], high[1]), aspect="equal")
    ax.set_axis_off()
    known, loose = strengths(edges), undecided(edges)
    for edge, route in zip(dag.edges, routes, strict=True):
        draw_edge(ax, _bent(route), known.get(edge), arrow=edge not in loose)
    window = ax.get_window_extent()
    inch = min(window.width / size[0], window.height / size[1]) / ax.figure.dpi
    for name, (x, y) in zip(dag.names, places, strict=True):
        corner = (x - width / 2 + 0.08, y - HEIGHT / 2 + 0.08)
        style = "round,pad=0.08"
        ax.add_patch(FancyBboxPatch(corner, width - 0.16, HEIGHT - 0.16, style, fc=PALE, ec=RIM, zorder=2.5))
        ax.text(x, y, short(name), ha="center", va="center", size=FONT * min(1.0, inch), zorder=3, **PLAIN)
    return ax


def plot_order(model: CausalDiscovery, *, ax: Axes | None = None) -> Axes:
    """Draw the order as a line, causes first, and the edges as arcs over it; a stronger edge is thicker.

    Examples
    --------
    >>> from sartre import CausalDiscovery
    >>> from sartre.order import FixedOrder
    >>> x = np.linspace(-1, 1, 100)
    >>> X = np.column_stack([x, x**2 + np.random.default_rng(0).normal(size=100) / 10])
    >>> model = CausalDiscovery(order=FixedOrder([0, 1]), random_state=0).fit(X)
    >>> [label.get_text() for label in plot_order(model).get_xticklabels()]
    ['x0', 'x1']
    """
    check_is_fitted(model, "graph_")
    names = [model.graph_.names[j] for j in model.order_]
    place = {name: k for k, name in enumerate(names)}
    ax = new_axes(ax, (max(4.0, 0.6 * len(names)), 3.2))
    known, loose = strengths(model.edges_), undecided(model.edges_)
    highest = 1.0
    for source, target in model.graph_.edges:
        a, b = place[source], place[target]
        top = (b - a) / 2
        highest = max(highest, top)
        arc = [(a, 0.0), (a, 1.3 * top), (b, 1.3 * top), (b, 0.0)]
        codes = [Path.MOVETO, Path.CURVE4, Path.CURVE4, Path.CURVE4]
        draw_edge(ax, Path(arc, codes), known.get((source, target)), arrow=(source, target) not in loose)
    ax.plot(range(len(names)), np.zeros(len(names)), "o", color=BLUE, ms=7, zorder=4)
    ax.set_xticks(range(len(names)), [short(name) for name in names], rotation=45, ha="right", **PLAIN)
    ax.set_xlim(-0.6, len(names) - 0.4)
    ax.set_ylim(-0.12 * highest, 1.1 * highest)
    ax.set_yticks([])
    for side in ax.spines.values():
        side.set_visible(False)
    return ax


def _corners(
    points: NDArray[np.float64], margin: tuple[float, float]
) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    return points.min(axis=0) - margin, points.max(axis=0) + margin


def _spread_ports(edges: list[tuple[str, str]], routes: list[NDArray[np.float64]], width: float) -> None:
    """Let edges leave and enter a box side by side, sorted by direction, so that none hides another."""
    for end, toward, down in ((0, 1, -1), (-1, -2, 1)):
        groups = defaultdict(list)
        for edge, route in zip(edges, routes, strict=True):
            groups[edge[end]].append(route)
        for group in groups.values():
            step = min(_PORT, (width - 0.2) / len(group))
            group.sort(key=lambda route: route[toward, 0])
            for rank, route in enumerate(group):
                route[end] += (rank - (len(group) - 1) / 2) * step, down * HEIGHT / 2


def _bent(route: NDArray[np.float64]) -> Path:
    """Return a smooth path through the points, vertical at each of them."""
    points, codes = [tuple(route[0])], [Path.MOVETO]
    for (x0, y0), (x1, y1) in pairwise(route):
        points += [(x0, (y0 + y1) / 2), (x1, (y0 + y1) / 2), (x1, y1)]
        codes += [Path.CURVE4] * 3
    return Path(points, codes)

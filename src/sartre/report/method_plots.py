"""The paper's figures drawn from a fitted model: how the method arrived at its graph."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import matplotlib.pyplot as plt
import numpy as np
import pandas as pd
from matplotlib.path import Path
from numpy.typing import NDArray
from sklearn.utils.validation import check_is_fitted

from sartre.additive import SparseAdditiveRegressor
from sartre.additive.bases.trees import embedding_of, interval_bases
from sartre.data.checks import as_table
from sartre.prune import SARTRE
from sartre.report._drawing import BLUE, GREY, ORANGE, PLAIN, bare, draw_edge, new_axes, short
from sartre.report.graph_plots import plot_graph
from sartre.settings import check_number, position_of, seed_of

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.gridspec import SubplotSpec

    from sartre.data.table import Table
    from sartre.discovery import CausalDiscovery

MOST_CANDIDATES = 4  # functions that an overview shows
_ROWS = 40  # rows of the table that an overview shows


def plot_embedding(model: CausalDiscovery, X: Any, variable: int | str, *, ax: Axes | None = None) -> Axes:
    """Draw how the paper splits a variable into intervals: its histogram, and below it the leaves of each random tree.

    This is the paper's Figure 3. The intervals are those of the fit if its penalty is a number and its ``random_state``
    an int. With ``penalty="auto"``, which uses smooth functions, they are those that the paper's method would use.

    Parameters
    ----------
    model : CausalDiscovery
        A model fitted with `sartre.prune.SARTRE`.
    X : array of shape (n, d) or data frame
        The table it was fitted to.
    variable : int or str
    ax : Axes, optional

    Examples
    --------
    >>> from sartre import CausalDiscovery
    >>> from sartre.order import FixedOrder
    >>> x = np.linspace(-1, 1, 100)
    >>> X = np.column_stack([x, x**2 + np.random.default_rng(0).normal(size=100) / 10])
    >>> model = CausalDiscovery(order=FixedOrder([0, 1]), random_state=0).fit(X)
    >>> len(plot_embedding(model, X, "x0").get_yticklabels())  # trees
    5
    """
    table, pruner = as_table(X), _pruner(model)
    position = position_of(variable, table.names, "variable")
    embedding = embedding_of("SARTRE", pruner.embedding)
    column = table.values[:, position]
    name = table.names[position]
    (basis,) = interval_bases(column[:, None], [name], embedding, seed_of("SARTRE", pruner.random_state))
    ax = new_axes(ax, (6, 0.4 * embedding.n_trees + 1.8))
    counts, borders = np.histogram(column, bins=40)
    height = embedding.n_trees * 0.5
    ax.bar(borders[:-1], counts / counts.max() * height, np.diff(borders), align="edge", color=GREY, alpha=0.4)
    ends = np.concatenate([[column.min()], basis.edges, [column.max()]])
    tree = -1
    for k, leaf in enumerate(basis.table.T):
        bins = np.flatnonzero(leaf)
        tree += bins[0] == 0  # the leaves of a tree go from left to right
        low, high = ends[bins[0]], ends[bins[-1] + 1]
        ax.barh(-tree - 0.7, high - low, 0.7, left=low, color=(BLUE, ORANGE)[k % 2], alpha=0.75, ec="white")
    ax.set_yticks(-np.arange(tree + 1) - 0.7, [f"tree {t + 1}" for t in range(tree + 1)])
    ax.set_xlabel(f"{name} ({basis.table.shape[1]} intervals)", **PLAIN)
    bare(ax)
    return ax


def plot_overview(
    model: CausalDiscovery,
    X: Any,
    target: int | str | None = None,
    *,
    penalty: float = 0.1,
) -> NDArray[np.object_]:
    """Draw the method from data to graph: the paper's Figure 1 above, and its Figure 2 below for one target.

    Above: the table, the order with every edge it allows, and the graph that pruning leaves. Below: the target's
    sparse additive model on the variables before it, as the paper fits it; a function that is zero is a pruned parent.

    Parameters
    ----------
    model : CausalDiscovery
        A model fitted with `sartre.prune.SARTRE`.
    X : array of shape (n, d) or data frame
        The table it was fitted to.
    target : int or str, optional
        By default, the variable with the most parents.
    penalty : float
        Penalty of the functions below, in standard deviations of the target.

    Returns
    -------
    array of Axes: the three above, then one per candidate parent (the most important, at most four)

    Examples
    --------
    >>> from sartre import CausalDiscovery
    >>> from sartre.order import FixedOrder
    >>> x = np.linspace(-1, 1, 100)
    >>> X = np.column_stack([x, x**2 + np.random.default_rng(0).normal(size=100) / 10])
    >>> model = CausalDiscovery(order=FixedOrder([0, 1]), random_state=0).fit(X)
    >>> [ax.get_title() for ax in plot_overview(model, X)[2:]]
    ['pruned: the graph', 'kept']
    """
    check_number("plot_overview", "penalty", penalty, low=0.0, open_low=True)
    table, pruner = as_table(X).standardized(), _pruner(model)
    names = model.graph_.names
    most = int(model.adjacency_matrix_.sum(axis=0).argmax())
    position = most if target is None else position_of(target, names, "variable")
    order = [int(j) for j in model.order_]
    before = order[: order.index(position)]
    if not before:
        raise ValueError(
            f"'{names[position]}' is first in the order, so no variable can be its parent. Choose another target."
        )
    figure = plt.figure(figsize=(11, 6), layout="constrained")
    grid = figure.add_gridspec(2, 1, height_ratios=[1.15, 1])
    above = grid[0].subgridspec(1, 3, width_ratios=[1, 1.2, 1.2]).subplots(squeeze=False)[0]
    _draw_table(above[0], table)
    _draw_full_order(above[1], [names[j] for j in order])
    plot_graph(model.graph_, model.edges_, ax=above[2])
    for ax, title in zip(above, ("data", "order: every edge it allows", "pruned: the graph"), strict=True):
        ax.set_title(title, fontsize=10)
    below = _draw_functions(grid[1], table, before, position, pruner, penalty)
    return np.array([*above, *below], dtype=object)


def _pruner(model: CausalDiscovery) -> SARTRE:
    check_is_fitted(model, "graph_")
    if not isinstance(model.prune_step_, SARTRE):
        raise TypeError(
            f"This figure needs a model pruned by SARTRE. Got one pruned by {type(model.prune_step_).__name__}."
        )
    return model.prune_step_


def _draw_table(ax: Axes, table: Table) -> None:
    ax.imshow(np.clip(table.values[:_ROWS], -3, 3), aspect="auto", cmap="PuOr", interpolation="nearest")
    ax.set_xticks(range(table.shape[1]), [short(name) for name in table.names], rotation=60, ha="right", **PLAIN)
    ax.set_yticks([])
    ax.set_ylabel(f"{table.shape[0]} samples")


def _draw_full_order(ax: Axes, names: list[str]) -> None:
    d = len(names)
    for a in range(d):
        for b in range(a + 1, d):
            arc = [(a, 0.0), (a, 0.65 * (b - a)), (b, 0.65 * (b - a)), (b, 0.0)]
            draw_edge(ax, Path(arc, [Path.MOVETO, Path.CURVE4, Path.CURVE4, Path.CURVE4]), 0.0, arrow=True)
    ax.plot(range(d), np.zeros(d), "o", color=BLUE, ms=6, zorder=4)
    ax.set_xticks(range(d), [short(name) for name in names], rotation=60, ha="right", **PLAIN)
    ax.set(xlim=(-0.6, d - 0.4), ylim=(-0.05 * d, 0.55 * d), yticks=[])
    for side in ax.spines.values():
        side.set_visible(False)


def _draw_functions(
    place: SubplotSpec,
    table: Table,
    before: list[int],
    target: int,
    pruner: SARTRE,
    penalty: float,
) -> list[Axes]:
    """Draw the paper's functions of a target: all candidates are fitted, and the most important ones are drawn."""
    features = pd.DataFrame(table.values[:, before], columns=[table.names[j] for j in before])
    regressor = SparseAdditiveRegressor(penalty, embedding=pruner.embedding, random_state=pruner.random_state)
    regressor.fit(features, table.values[:, target])
    shown = np.argsort(-regressor.feature_importances_, kind="stable")[:MOST_CANDIDATES]
    axes = place.subgridspec(1, len(shown)).subplots(sharey=True, squeeze=False)[0]
    for ax, k in zip(axes, shown, strict=True):
        shape = regressor.shape_function(int(k))
        column = features.to_numpy()[:, k]
        kept = regressor.feature_importances_[k] > 0
        ends = np.concatenate([[column.min()], shape.knots, [column.max()]])
        ax.stairs(shape.values, ends, baseline=None, color=BLUE if kept else GREY, lw=2)
        ax.set_xlabel(features.columns[k], **PLAIN)
        ax.set_title("kept" if kept else "zero: pruned", fontsize=9, color=BLUE if kept else GREY)
        bare(ax)
    axes[0].set_ylabel(f"effect on {table.names[target]} (sd)", **PLAIN)
    return list(axes)

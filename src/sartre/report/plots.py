"""Plots of what was learnt about the edges; each takes and returns Axes."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import matplotlib.pyplot as plt
import numpy as np
from matplotlib.colors import TwoSlopeNorm
from numpy.typing import NDArray
from sklearn.utils.validation import check_is_fitted

from sartre.data.checks import as_table
from sartre.evidence.stability import THRESHOLD
from sartre.prune.mechanisms import mechanisms_of
from sartre.report._drawing import BLUE, GREY, ORANGE, PLAIN, bare, new_axes
from sartre.report.mechanisms import TAIL, Drawing
from sartre.settings import position_of
from sartre.steps import findings_of

if TYPE_CHECKING:
    import pandas as pd
    from matplotlib.axes import Axes

    from sartre.discovery import CausalDiscovery
    from sartre.evidence.stability import Stability

MOST_BARS = 40  # rows whose names can still be read
_HEAT_MAP = 60


def plot_shape_functions(
    model: CausalDiscovery,
    X: Any,
    target: int | str,
    *,
    axes: Sequence[Axes] | None = None,
) -> NDArray[np.object_]:
    """Draw the effect of each parent on a target: the fitted function, a band of two standard errors, and the samples.

    Parameters
    ----------
    model : CausalDiscovery
        A fitted model.
    X : array of shape (n, d) or data frame
        The table it was fitted to, in any units.
    target : int or str
        A variable with parents.
    axes : sequence of Axes, optional
        As many Axes as the target has parents.

    Examples
    --------
    >>> from sartre import CausalDiscovery
    >>> from sartre.order import FixedOrder
    >>> x = np.linspace(-1, 1, 100)
    >>> X = np.column_stack([x, x**2 + np.random.default_rng(0).normal(size=100) / 10])
    >>> model = CausalDiscovery(order=FixedOrder([0, 1]), random_state=0).fit(X)
    >>> plot_shape_functions(model, X, "x1")[0].get_xlabel()
    'x0'
    """
    check_is_fitted(model, "graph_")
    names = model.graph_.names
    table = as_table(X).reordered(names)
    position = position_of(target, names, "variable")
    if not model.graph_.parents(names[position]):
        raise ValueError(
            f"'{names[position]}' has no parents in this graph, so there is no function to draw. Choose another target."
        )
    found = Drawing.of(model.graph_, table, mechanisms_of(model, table)).mechanism(position)
    count = len(found.curves)
    drawn = _panels(count) if axes is None else np.asarray(axes, dtype=object).ravel()
    if len(drawn) != count:
        raise ValueError(f"'{names[position]}' has {count} parents and needs as many Axes. Got {len(drawn)}.")
    for ax, curve in zip(drawn, found.curves, strict=True):
        column = table.values[:, curve.parent]
        points = found.partial_residuals(curve, column)
        ax.scatter(column, points, s=6, color=GREY, alpha=0.35, linewidths=0)
        ax.fill_between(
            curve.x, curve.values - 2 * curve.std, curve.values + 2 * curve.std, color=BLUE, alpha=0.18, lw=0
        )
        ax.plot(curve.x, curve.values, color=BLUE, lw=2)
        ax.axhline(0, color=GREY, lw=0.8, ls=":")
        ax.set_xlim(curve.x[0], curve.x[-1])
        ends = [*np.quantile(points, [TAIL, 1 - TAIL]), curve.values.min(), curve.values.max()]
        ax.set_ylim(min(ends) - 0.05 * np.ptp(ends), max(ends) + 0.05 * np.ptp(ends))
        ax.set_xlabel(names[curve.parent], **PLAIN)
        ax.set_ylabel(f"effect on {names[position]}", **PLAIN)
        bare(ax)
    return drawn


def plot_interaction(model: CausalDiscovery, X: Any, number: int = 0, *, ax: Axes | None = None) -> Axes:
    """Draw the joint effect of two parents beyond the sum of their own: a row of ``interactions_`` as a heat map.

    Parameters
    ----------
    model : CausalDiscovery
        A model fitted with a pruner that finds interactions.
    X : array of shape (n, d) or data frame
        The table it was fitted to, in any units.
    number : int
        Row of ``model.prune_step_.interactions_``.
    ax : Axes, optional

    Examples
    --------
    >>> from sartre import CausalDiscovery
    >>> from sartre.order import FixedOrder
    >>> a, b, noise = np.random.default_rng(0).normal(size=(3, 300))
    >>> X = np.column_stack([a, b, a * b + noise / 3])
    >>> model = CausalDiscovery(order=FixedOrder([0, 1, 2]), random_state=0).fit(X)
    >>> ax = plot_interaction(model, X)
    >>> ax.get_xlabel(), ax.get_ylabel()
    ('x0', 'x1')
    """
    check_is_fitted(model, "graph_")
    pairs = findings_of(model.prune_step_).pairs()
    if not 0 <= number < len(pairs):
        raise ValueError(f"This model has {len(pairs)} interactions, numbered from 0. Got {number}.")
    table, (first, second, target) = as_table(X).reordered(model.graph_.names), pairs[number]
    drawing = Drawing.of(model.graph_, table, mechanisms_of(model, table))
    places = table.names.index(first), table.names.index(second)
    x, y, effect = drawing.surface(table.names.index(target), places, _HEAT_MAP)
    ax = new_axes(ax, (4.6, 3.6))
    most = float(np.abs(effect).max()) or 1.0
    image = ax.pcolormesh(x, y, effect.T, cmap="PuOr", norm=TwoSlopeNorm(0, -most, most))
    bar = ax.figure.colorbar(image, ax=ax)
    bar.set_label(f"joint effect on {target} (sd)", **PLAIN)
    ax.set_xlabel(first, **PLAIN)
    ax.set_ylabel(second, **PLAIN)
    return ax


def plot_path(path: pd.DataFrame, *, ax: Axes | None = None) -> Axes:
    """Draw which edges are kept as the level rises (or the penalty falls), and how many.

    Parameters
    ----------
    path : DataFrame
        The result of `sartre.prune.SARTRE.path`.
    ax : Axes, optional

    Examples
    --------
    >>> import pandas as pd
    >>> path = pd.DataFrame({"level": [0.01, 0.1, 0.1], "source": ["a", "a", "b"], "target": ["c", "c", "c"]})
    >>> [label.get_text() for label in plot_path(path).get_yticklabels()]
    ['a → c', 'b → c']
    """
    knob = "level" if "level" in path.columns else "penalty"
    values = sorted(path[knob].unique(), reverse=knob == "penalty")
    counts = path.groupby(knob).size()
    kept = path.groupby(["source", "target"], sort=False)[knob].agg(list)  # in order of appearance
    ax = new_axes(ax, (6, 1.4 + 0.24 * min(len(kept), MOST_BARS)))
    for y, at in enumerate(kept.iloc[:MOST_BARS]):
        ax.plot(at, [y] * len(at), color=BLUE, lw=2, marker="o", ms=4)
    names = [f"{source} → {target}" for source, target in kept.index[:MOST_BARS]]
    ax.set_yticks(range(len(names)), names, **PLAIN)
    ax.invert_yaxis()
    ax.set_xscale("log")
    if knob == "penalty":
        ax.invert_xaxis()
    for value in values:
        ax.annotate(
            str(counts[value]), (value, 1), xycoords=ax.get_xaxis_transform(), xytext=(0, 4),
            textcoords="offset points", ha="center", fontsize=8, color=GREY,
        )  # fmt: skip
    left_out = len(kept) - len(names)
    ax.set_xlabel(knob if left_out <= 0 else f"{knob} ({left_out} later edges are not shown)")
    ax.set_title("edges kept", fontsize=9, color=GREY, pad=16)
    bare(ax)
    return ax


def plot_confidence(stability: Stability, *, threshold: float = THRESHOLD, ax: Axes | None = None) -> Axes:
    """Draw how often each edge was found on half-samples, and how often it was found in reverse.

    Parameters
    ----------
    stability : Stability
        The result of `sartre.stability`.
    threshold : float
        Where the line is drawn: the edges to its right are candidates of ``stability.consensus(threshold)``.
    ax : Axes, optional

    Examples
    --------
    >>> from sartre import CausalDiscovery, stability
    >>> x = np.linspace(-1, 1, 100)
    >>> X = np.column_stack([x, x**2 + np.random.default_rng(0).normal(size=100) / 10])
    >>> ax = plot_confidence(stability(CausalDiscovery(), X, n_pairs=2, random_state=0))
    >>> ax.get_xlabel()
    'share of 4 half-samples'
    """
    found = stability.frequencies.head(MOST_BARS)
    ax = new_axes(ax, (6, 1.2 + 0.26 * len(found)))
    rows = np.arange(len(found))
    ax.barh(rows, found["frequency"], height=0.66, color=BLUE, label="found")
    ax.barh(rows, found["reverse"], height=0.24, color=ORANGE, label="found the other way round")
    ax.axvline(threshold, color=GREY, ls="--", lw=1)
    names = [f"{source} → {target}" for source, target in zip(found["source"], found["target"], strict=True)]
    ax.set_yticks(rows, names, **PLAIN)
    ax.invert_yaxis()
    ax.set_xlim(0, 1)
    ax.set_xlabel(f"share of {2 * stability.n_pairs} half-samples")
    ax.legend(loc="lower left", bbox_to_anchor=(0, 1), ncols=2, frameon=False, fontsize=8, borderaxespad=0.2)
    bare(ax)
    return ax


def _panels(count: int) -> NDArray[np.object_]:
    columns = min(3, count)
    rows = -(-count // columns)
    figure, axes = plt.subplots(rows, columns, figsize=(3.6 * columns, 2.9 * rows), squeeze=False, layout="constrained")
    for ax in axes.ravel()[count:]:
        figure.delaxes(ax)
    return axes.ravel()[:count]

from __future__ import annotations

import matplotlib as mpl
import numpy as np
import pandas as pd
import pytest

mpl.use("Agg")

import matplotlib.pyplot as plt
from matplotlib.patches import FancyArrowPatch, FancyBboxPatch

from sartre import CausalDiscovery, Dag, report
from sartre.order import FixedOrder
from sartre.prune import CAMPruning


@pytest.fixture(autouse=True)
def _no_figure_is_left():
    yield
    plt.close("all")


def arrows(ax) -> list[FancyArrowPatch]:
    return [patch for patch in ax.patches if isinstance(patch, FancyArrowPatch)]


def labels(ax) -> set[str]:
    return {text.get_text() for text in ax.texts}


def saved(ax, tmp_path) -> bool:
    """Return whether the whole figure can be drawn and is not blank."""
    ax.figure.savefig(tmp_path / "figure.png", dpi=40)
    picture = plt.imread(tmp_path / "figure.png")
    return bool(np.ptp(picture[..., :3]) > 0.5)


def test_a_graph_has_one_box_per_variable_and_one_arrow_per_edge(model, tmp_path):
    ax = report.plot_graph(model.graph_, model.edges_)
    assert labels(ax) == set(model.graph_.names)
    assert len(arrows(ax)) == model.graph_.n_edges
    assert sum(isinstance(patch, FancyBboxPatch) for patch in ax.patches) == len(model.graph_)
    assert saved(ax, tmp_path)


def test_causes_are_above_effects_and_stronger_edges_are_thicker(model):
    ax = report.plot_graph(model.graph_, model.edges_)
    height = {text.get_text(): text.get_position()[1] for text in ax.texts}
    assert all(height[source] > height[target] for source, target in model.graph_.edges)
    width = dict(zip(model.graph_.edges, (arrow.get_linewidth() for arrow in arrows(ax)), strict=True))
    ranked = model.edges_.sort_values("strength")
    widths = [width[edge] for edge in zip(ranked["source"], ranked["target"], strict=True)]
    assert widths == sorted(widths)


def test_every_plot_draws_where_it_is_told(model, table, found):
    path = model.prune_step_.path(table, model.order_, values=[1e-4, 0.1])
    for draw in (
        lambda ax: report.plot_graph(model.graph_, ax=ax),
        lambda ax: report.plot_order(model, ax=ax),
        lambda ax: report.plot_path(path, ax=ax),
        lambda ax: report.plot_confidence(found, ax=ax),
        lambda ax: report.plot_interaction(model, table, ax=ax),
        lambda ax: report.plot_embedding(model, table, "a", ax=ax),
    ):
        figure, ax = plt.subplots()
        assert draw(ax) is ax
        assert plt.get_fignums() == [figure.number]
        plt.close(figure)


def test_shape_functions_show_every_parent_and_the_samples(model, table, tmp_path):
    axes = report.plot_shape_functions(model, table, "d")
    assert [ax.get_xlabel() for ax in axes] == model.graph_.parents("d")
    assert {ax.get_ylabel() for ax in axes} == {"effect on d"}
    assert all(len(ax.collections[0].get_offsets()) == len(table) for ax in axes)
    assert saved(axes[0], tmp_path)
    figure, given = plt.subplots(1, len(axes))
    assert list(report.plot_shape_functions(model, table, "d", axes=given)) == list(given)
    with pytest.raises(ValueError, match="'lone' has no parents"):
        report.plot_shape_functions(model, table, "lone")
    with pytest.raises(ValueError, match=r"has 2 parents and needs as many Axes. Got 1"):
        report.plot_shape_functions(model, table, "d", axes=[figure.axes[0]])


def test_the_line_of_a_straight_effect_is_straight():
    rng = np.random.default_rng(0)
    x = rng.normal(size=400)
    X = np.column_stack([x, 3 * x + rng.normal(size=400)])
    fitted = CausalDiscovery(FixedOrder([0, 1]), random_state=0).fit(X)
    line = report.plot_shape_functions(fitted, X, 1)[0].lines[0]
    slope = np.diff(line.get_ydata()) / np.diff(line.get_xdata())
    assert slope == pytest.approx(3, abs=0.3)


def test_an_interaction_is_a_heat_map_around_zero(model, table, tmp_path):
    ax = report.plot_interaction(model, table)
    pair = model.prune_step_.interactions_.iloc[0]
    assert (ax.get_xlabel(), ax.get_ylabel()) == (pair["first"], pair["second"])
    low, high = ax.collections[0].get_clim()
    assert low == -high
    assert saved(ax, tmp_path)
    with pytest.raises(ValueError, match=r"This model has 1 interactions, .* Got 1"):
        report.plot_interaction(model, table, 1)


def test_a_path_has_one_line_per_edge_and_one_count_per_value(model, table):
    path = model.prune_step_.path(table, model.order_, values=[1e-4, 0.01, 0.1])
    ax = report.plot_path(path)
    rows = [label.get_text() for label in ax.get_yticklabels()]
    assert len(rows) == len(ax.lines) == len(path.drop_duplicates(["source", "target"]))
    assert labels(ax) == {str(count) for count in path.groupby("level").size()}
    by_penalty = path.rename(columns={"level": "penalty"})
    assert report.plot_path(by_penalty).xaxis_inverted()


def test_the_order_is_drawn_from_cause_to_effect(model):
    ax = report.plot_order(model)
    assert [label.get_text() for label in ax.get_xticklabels()] == ["a", "c", "b", "d", "lone"]
    assert len(arrows(ax)) == model.graph_.n_edges


def test_confidence_has_one_bar_per_edge_and_a_line_at_the_threshold(found):
    ax = report.plot_confidence(found, threshold=0.8)
    assert [bar.get_width() for bar in ax.containers[0]] == found.frequencies["frequency"].tolist()
    assert ax.lines[0].get_xdata()[0] == 0.8


def test_an_embedding_covers_the_variable_once_per_tree(model, table, tmp_path):
    ax = report.plot_embedding(model, table, "a")
    leaves = [bar for container in ax.containers[1:] for bar in container]
    covered = pd.Series([leaf.get_width() for leaf in leaves]).groupby([leaf.get_y() for leaf in leaves]).sum()
    assert len(covered) == 5
    assert covered.to_numpy() == pytest.approx(np.ptp(table["a"]))
    assert saved(ax, tmp_path)


def test_an_overview_goes_from_data_to_graph_and_prunes_what_is_zero(model, table, tmp_path):
    axes = report.plot_overview(model, table, "b")
    assert [ax.get_title() for ax in axes[:3]] == ["data", "order: every edge it allows", "pruned: the graph"]
    assert len(arrows(axes[1])) == 10
    assert len(arrows(axes[2])) == model.graph_.n_edges
    told = {ax.get_xlabel(): ax.get_title() for ax in axes[3:]}
    assert told == {"a": "kept", "c": "zero: pruned"}
    assert saved(axes[0], tmp_path)
    with pytest.raises(ValueError, match="'a' is first in the order"):
        report.plot_overview(model, table, "a")


def test_figures_of_the_method_need_the_method(table):
    fitted = CausalDiscovery(FixedOrder(list(table.columns)), CAMPruning()).fit(table)
    with pytest.raises(TypeError, match="Got one pruned by CAMPruning"):
        report.plot_overview(fitted, table)


def test_names_are_text_and_not_formulas(hostile, tmp_path):
    X, fitted = hostile
    X = X.rename(columns=lambda name: name.replace("変数", "v"))  # the font lacks these letters
    fitted = CausalDiscovery(FixedOrder(list(X.columns[[0, 2, 1, 3, 4]])), random_state=0).fit(X)
    assert saved(report.plot_graph(fitted.graph_), tmp_path)
    assert saved(report.plot_order(fitted), tmp_path)
    target = next(name for name in X.columns if fitted.graph_.parents(name))
    assert saved(report.plot_shape_functions(fitted, X, target)[0], tmp_path)
    bad = Dag.from_edges([("$\\frac{", "$")])
    assert saved(report.plot_graph(bad), tmp_path)


def test_a_graph_without_edges_can_be_drawn(tmp_path):
    ax = report.plot_graph(Dag(np.zeros((3, 3))))
    assert len(ax.texts) == 3
    assert saved(ax, tmp_path)

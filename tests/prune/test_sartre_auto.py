"""SARTRE with an automatic penalty: no unit, no tuning, pairs found, copies kept, nothing out of nothing."""

from __future__ import annotations

import numpy as np
import pandas as pd
import pytest

from sartre.metrics import edge_precision, edge_recall, shd
from sartre.prune import SARTRE, CAMPruning
from sartre.simulate import random_dag, simulate


def auto(**settings):
    return SARTRE(penalty="auto", random_state=0, **settings)


@pytest.fixture(scope="module")
def data():
    return simulate(random_dag(10, 14, random_state=5), 1000, random_state=5)


@pytest.fixture(scope="module")
def order(data):
    return data.dag.topological_order()


@pytest.fixture(scope="module")
def fitted(data, order):
    return auto().fit(data.X, order)


def test_a_graph_of_joint_mechanisms_is_found(data, order, fitted):
    assert edge_precision(data.dag, fitted.adjacency_matrix_) > 0.9
    additive = auto(interactions=False).fit(data.X, order)
    fixed = SARTRE(penalty=0.1, random_state=0).fit(data.X, order)
    assert shd(data.dag, fitted.adjacency_matrix_) <= shd(data.dag, additive.adjacency_matrix_)
    assert shd(data.dag, fitted.adjacency_matrix_) < shd(data.dag, fixed.adjacency_matrix_)


def test_units_offsets_and_jobs_change_nothing(data, order, fitted):
    moved = data.X * 2.0 ** np.arange(-20, 20, 4) + 5.0
    other = auto(n_jobs=2).fit(moved, order)
    np.testing.assert_array_equal(other.adjacency_matrix_, fitted.adjacency_matrix_)
    pd.testing.assert_frame_equal(other.interactions_, fitted.interactions_, rtol=1e-3)


def test_permuting_columns_and_rows_permutes_the_graph(data, order, fitted):
    rng = np.random.default_rng(0)
    shuffled = data.X[list(rng.permutation(data.X.columns))]
    pd.testing.assert_frame_equal(auto().fit(shuffled, order).edges_, fitted.edges_, rtol=1e-6)


def test_parents_that_act_only_together_are_found_and_named():
    rng = np.random.default_rng(0)
    X = pd.DataFrame(rng.normal(size=(800, 6)), columns=list("abcdef"))
    X["y"] = X["b"] * X["e"] + rng.normal(size=800) / 2
    order = list(X.columns)
    model = auto().fit(X, order)
    assert set(model.edges_.query("target == 'y'")["source"]) == {"b", "e"}
    assert model.interactions_[["first", "second", "target"]].to_numpy().tolist() == [["b", "e", "y"]]
    assert (model.edges_.query("target == 'y'")["strength"] > 0.5).all()
    blind = auto(interactions=False).fit(X, order)
    assert len(blind.edges_.query("target == 'y'")) < 2  # only through the variance, if at all
    assert blind.interactions_.empty


def test_many_weak_straight_effects_are_found_as_well_as_by_cam_pruning():
    data = simulate(random_dag(12, 40, random_state=8), 1000, mechanism="linear", random_state=8)
    order = data.dag.topological_order()
    cam = CAMPruning().fit(data.X, order).adjacency_matrix_
    assert shd(data.dag, auto().fit(data.X, order).adjacency_matrix_) <= shd(data.dag, cam) + 1


def test_one_of_two_copies_stays():
    for seed in range(10):
        rng = np.random.default_rng(seed)
        x = rng.normal(size=400)
        X = np.column_stack([x, x + 1e-3 * rng.normal(size=400), np.sin(2 * x) + rng.normal(size=400) / 2])
        assert auto().fit(X, [0, 1, 2]).adjacency_matrix_[:2, 2].sum() >= 1


@pytest.mark.parametrize("kind", ["normal", "integers"])
def test_nothing_comes_of_independent_columns(kind):
    found = []
    for seed in range(12):
        rng = np.random.default_rng([seed, 11])
        X = rng.normal(size=(300, 12)) if kind == "normal" else rng.integers(0, 4, size=(300, 12)).astype(float)
        model = auto().fit(X, range(12))
        found.append(model.adjacency_matrix_.sum())
    assert model.false_edges_bound_ == pytest.approx(0.22)
    assert auto(interactions=False).fit(X, range(12)).false_edges_bound_ == pytest.approx(0.11)
    assert np.mean(found) <= 0.22 + 3 * np.sqrt(2 * 0.22 / 12)  # false edges come in twos


def test_a_higher_level_keeps_more_edges(data, order):
    counts = [len(auto(level=level).fit(data.X, order).edges_) for level in (1e-6, 0.01, 0.5)]
    assert counts == sorted(counts)
    assert counts[0] < counts[2]


def test_edges_have_evidence(data, fitted):
    assert (fitted.edges_["p_value"] < 0.05).all()
    assert fitted.edges_["strength"].between(0, 1).all()
    assert edge_recall(data.dag, fitted.adjacency_matrix_) > 0.5


@pytest.mark.filterwarnings("ignore:Constant columns", "ignore:Duplicated columns")
def test_awkward_columns_work():
    rng = np.random.default_rng(0)
    x = rng.normal(size=200)
    X = pd.DataFrame(
        {"flat": 1.0, "x": x, "copy": x, "coin": rng.integers(0, 2, 200), "tail": rng.standard_cauchy(200)}
    )
    X["y"] = np.sin(2 * x) + 2.0 * X["coin"] + rng.normal(size=200) / 3
    edges = auto().fit(X, list(X.columns)).edges_
    into_y = set(edges.query("target == 'y'")["source"])
    assert "coin" in into_y
    assert into_y & {"x", "copy"}
    assert not into_y & {"flat", "tail"}


@pytest.mark.parametrize("n", [10, 15, 30])
def test_a_handful_of_rows_is_no_trouble(n):
    X = np.random.default_rng(0).normal(size=(n, 8))
    assert auto().fit(X, range(8)).adjacency_matrix_.sum() <= 3


@pytest.mark.parametrize(
    ("settings", "text"),
    [
        ({"penalty": 0.1, "level": 0.01}, "'level' parameter of SARTRE goes with penalty='auto'"),
        ({"penalty": 0.1, "interactions": True}, "'interactions' parameter of SARTRE goes with penalty='auto'"),
        ({"penalty": "auto", "embedding": "forest"}, "penalty='auto' goes with embedding='random'"),
        ({"penalty": "auto", "level": 0.0}, "'level' parameter of SARTRE must be a float"),
    ],
)
def test_settings_that_do_not_go_together_are_named(data, order, settings, text):
    with pytest.raises(ValueError, match=text):
        SARTRE(**settings).fit(data.X, order)

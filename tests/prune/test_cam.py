"""CAM-pruning: mgcv's decisions on stored cases, and changes that must not affect them."""

from __future__ import annotations

from contextlib import nullcontext
from pathlib import Path

import numpy as np
import pandas as pd
import pytest
from scipy.stats import spearmanr
from sklearn.base import clone

from sartre.metrics import edge_precision, edge_recall
from sartre.prune import CAMPruning
from sartre.prune.cam import adjusted
from sartre.simulate import random_dag, simulate

REFERENCE = Path(__file__).parent.parent / "reference"
CASES = {  # the smallest accepted Spearman correlation
    "er1_d8_n400": 0.9,
    "er2_d10_n1000": 0.9,
    "sf2_d10_n1000_mixed": 0.9,
    "er1_d10_n500_scaled": 0.9,
    "er2_d20_n300_wide": 0.85,
}


@pytest.fixture(scope="module", params=CASES)
def case(request):
    data = pd.read_csv(REFERENCE / f"{request.param}_data.csv")
    order = (REFERENCE / f"{request.param}_order.txt").read_text(encoding="utf-8").split()
    mgcv = pd.read_csv(REFERENCE / f"{request.param}_mgcv.csv")
    with pytest.warns(UserWarning, match="few samples per candidate") if "wide" in request.param else nullcontext():
        pruner = CAMPruning().fit(data, order)
    names = list(data.columns)
    mgcv["ours"] = [
        pruner.p_values_[names.index(parent), names.index(target)]
        for parent, target in zip(mgcv["parent"], mgcv["target"], strict=True)
    ]
    return request.param, data, order, mgcv, pruner


def test_decisions_are_mgcvs_wherever_mgcv_is_clear(case):
    _, _, _, mgcv, _ = case
    clear = mgcv[(mgcv["p_value"] < 1e-4) | (mgcv["p_value"] > 1e-2)]
    assert len(clear) > 0.8 * len(mgcv)
    assert ((clear["p_value"] < 0.001) == (clear["ours"] < 0.001)).all()
    assert (clear["p_value"] < 0.001).any()


def test_p_values_are_ordered_as_mgcvs(case):
    name, _, _, mgcv, _ = case
    ours, theirs = (mgcv[column].where(mgcv[column] > 1e-8, 0.0) for column in ("ours", "p_value"))
    assert spearmanr(ours, theirs).statistic >= CASES[name]


def test_basis_sizes_follow_cams_rule(case):
    _, data, _, mgcv, pruner = case
    asked = mgcv.groupby("target")["k"].first()
    assert {name: pruner.n_splines_[data.columns.get_loc(name)] for name in asked.index} == asked.to_dict()


@pytest.fixture(scope="module")
def data():
    return simulate(random_dag(8, 10, random_state=3), 600, mechanism="gp-additive", random_state=3)


@pytest.fixture(scope="module")
def order(data):
    return data.dag.topological_order()


def test_a_sparse_additive_graph_is_found(data, order):
    pruner = CAMPruning().fit(data.X, order)
    assert edge_precision(data.dag, pruner.adjacency_matrix_) > 0.9
    assert edge_recall(data.dag, pruner.adjacency_matrix_) > 0.7


def test_scaling_and_shifting_columns_changes_nothing(data, order):
    plain = CAMPruning().fit(data.X, order).p_values_
    moved = CAMPruning().fit(data.X * 10.0 ** np.arange(-4, 4) + np.arange(8) * 100, order).p_values_
    np.testing.assert_allclose(np.log(moved + 1e-300), np.log(plain + 1e-300), rtol=1e-4, atol=1e-4)


def test_permuting_columns_and_rows_permutes_the_result(data, order):
    plain = CAMPruning().fit(data.X, order)
    rng = np.random.default_rng(0)
    shuffled = data.X[list(rng.permutation(data.X.columns))].iloc[rng.permutation(len(data.X))]
    moved = CAMPruning().fit(shuffled, order)
    pd.testing.assert_frame_equal(plain.edges_, moved.edges_, rtol=1e-6)


def test_the_number_of_jobs_changes_nothing(data, order):
    np.testing.assert_array_equal(
        CAMPruning(n_jobs=2).fit(data.X, order).p_values_, CAMPruning().fit(data.X, order).p_values_
    )


def test_p_values_stand_where_candidates_were_and_edges_where_they_are_small(data, order):
    mask = np.random.default_rng(1).random((8, 8)) < 0.6
    pruner = CAMPruning(alpha=0.05).fit(data.X, order, candidates=mask)
    position = np.array([order.index(name) for name in data.X.columns])
    candidate = mask & (position[:, None] < position)
    np.testing.assert_array_equal(~np.isnan(pruner.p_values_), candidate)
    np.testing.assert_array_equal(pruner.adjacency_matrix_, pruner.p_values_ < 0.05)
    names = list(data.X.columns)
    for edge in pruner.edges_.itertuples():
        assert edge.p_value == pruner.p_values_[names.index(edge.source), names.index(edge.target)] < 0.05
    assert len(pruner.edges_) == pruner.adjacency_matrix_.sum() > 0
    assert pruner.edges_["strength"].is_monotonic_decreasing


def test_adjusted_p_values_are_textbook():
    raw = np.array([[0.01, np.nan], [0.02, 0.03]])
    np.testing.assert_allclose(adjusted(raw, "holm"), [[0.03, np.nan], [0.04, 0.04]])
    np.testing.assert_allclose(adjusted(raw, "bh"), [[0.03, np.nan], [0.03, 0.03]])
    np.testing.assert_array_equal(adjusted(raw, None), raw)
    assert np.isnan(adjusted(np.array([np.nan]), "holm")).all()


def test_adjustments_keep_fewer_edges(data, order):
    counts = [len(CAMPruning(alpha=0.2, adjust=adjust).fit(data.X, order).edges_) for adjust in (None, "bh", "holm")]
    assert counts[0] > counts[1] >= counts[2] > 0


@pytest.mark.filterwarnings("ignore:Constant columns", "ignore:Duplicated columns")
def test_constant_columns_are_left_out_and_a_copy_does_not_hide_its_original():
    rng = np.random.default_rng(0)
    x = rng.normal(size=300)
    X = pd.DataFrame({"flat": 3.0, "x": x, "copy": x, "twice": 2 * x + 1, "y": x**2 + rng.normal(size=300)})
    pruner = CAMPruning().fit(X, list(X.columns))
    assert np.isnan(pruner.p_values_[0]).all()
    assert np.isnan(pruner.p_values_[:, 0]).all()
    into_y = pruner.edges_.query("target == 'y'")
    assert into_y["source"].tolist() == ["x"]
    assert pruner.p_values_[2:4, 4].tolist() == [1.0, 1.0]


def test_binary_and_few_valued_columns_are_tested_like_others():
    rng = np.random.default_rng(0)
    X = pd.DataFrame({"coin": rng.integers(0, 2, 400), "die": rng.integers(1, 7, 400), "noise": rng.normal(size=400)})
    X["y"] = X["coin"] + (X["die"] - 3.5) ** 2 / 3 + rng.normal(size=400) / 2
    edges = CAMPruning().fit(X, list(X.columns)).edges_
    assert set(zip(edges["source"], edges["target"], strict=True)) == {("coin", "y"), ("die", "y")}


def test_more_candidates_than_samples_are_screened_and_it_says_so():
    rng = np.random.default_rng(0)
    X = rng.normal(size=(40, 60))
    X[:, 59] = 2 * X[:, 0] + rng.normal(size=40) / 4
    with (
        pytest.warns(UserWarning, match="their terms have 3 to 7 splines instead of 10"),
        pytest.warns(
            UserWarning, match=r"too many candidates for the samples of 49 targets \(for example 'x11'\): 1225"
        ),
    ):
        pruner = CAMPruning().fit(X, range(60))
    assert pruner.adjacency_matrix_[0, 59] == 1
    tested = (~np.isnan(pruner.p_values_)).sum(axis=0)
    np.testing.assert_array_equal(tested, np.minimum(np.arange(60), 10))
    np.testing.assert_array_equal(pruner.screened_.sum(axis=0), np.maximum(np.arange(60) - 10, 0))


@pytest.mark.filterwarnings("ignore:There are few samples", "ignore:There are too many candidates")
def test_holm_counts_the_candidates_that_were_screened_out():
    rng = np.random.default_rng(0)
    X = rng.normal(size=(40, 101))
    mask = np.zeros((101, 101), dtype=bool)
    mask[:100, 100] = True
    plain = CAMPruning().fit(X, range(101), candidates=mask).p_values_
    holm = CAMPruning(adjust="holm").fit(X, range(101), candidates=mask).p_values_
    assert np.nanmin(holm) == pytest.approx(min(1.0, 100 * np.nanmin(plain)))


def test_independent_columns_with_a_common_outlier_are_no_copies():
    rng = np.random.default_rng(0)
    X = rng.normal(size=(400, 3))
    X[:, 2] = np.sin(X[:, 0]) + np.sin(X[:, 1]) + rng.normal(size=400) / 4
    X[7, :2] = 1e6
    assert CAMPruning().fit(X, range(3)).adjacency_matrix_[:2, 2].tolist() == [1, 1]


@pytest.mark.parametrize(
    ("settings", "error", "text"),
    [
        ({"alpha": 0.0}, ValueError, r"'alpha' parameter of CAMPruning must be a float in the range \(0.0, 1.0\]"),
        ({"n_splines": 2}, ValueError, "'n_splines'"),
        ({"adjust": "fdr"}, ValueError, r"must be 'holm' or 'bh'\. Got 'fdr'"),
    ],
)
def test_wrong_settings_are_named(data, order, settings, error, text):
    with pytest.raises(error, match=text):
        CAMPruning(**settings).fit(data.X, order)


def test_it_is_a_scikit_learn_estimator():
    assert clone(CAMPruning(alpha=0.01, adjust="bh")).get_params()["adjust"] == "bh"

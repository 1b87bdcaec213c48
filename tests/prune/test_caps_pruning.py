"""CaPS's pruning filters the candidates and adds edges that stand out, never against the order."""

from __future__ import annotations

import numpy as np
import pandas as pd
import pytest

from sartre import CausalDiscovery
from sartre.metrics import edge_recall
from sartre.order import CaPS, parent_score
from sartre.prune import SARTRE, CAMPruning, CaPSPruning
from sartre.simulate import random_dag, simulate


@pytest.fixture(scope="module")
def data():
    return simulate(random_dag(10, 10, random_state=2), 500, mechanism="gp-additive", random_state=2)


@pytest.fixture(scope="module")
def order(data):
    return data.dag.topological_order()


@pytest.fixture(scope="module")
def fitted(data, order):
    return CaPSPruning().fit(data.X, order)


def test_a_candidate_stays_if_its_score_is_near_the_largest_of_its_child(data, order, fitted):
    position = np.array([order.index(name) for name in data.X.columns])
    allowed = position[:, None] < position
    score = parent_score(data.X)
    for child in range(10):
        parents = np.flatnonzero(allowed[:, child])
        kept = [i for i in parents if score[i, child] >= score[parents, child].max() / 50]
        np.testing.assert_array_equal(np.flatnonzero(fitted.candidates_[:, child]), kept)
    assert edge_recall(data.dag, fitted.candidates_.astype(int)) > 0.9
    assert fitted.candidates_.sum() < allowed.sum()


def test_the_pruner_decides_about_the_candidates(data, order, fitted):
    inner = CAMPruning().fit(data.X, order, candidates=fitted.candidates_)
    np.testing.assert_array_equal(inner.adjacency_matrix_, fitted.prune_step_.adjacency_matrix_)
    plain = CaPSPruning(lambda1=None, lambda2=None).fit(data.X, order)
    pd.testing.assert_frame_equal(plain.edges_, CAMPruning().fit(data.X, order).edges_)


def test_edges_that_stand_out_are_added_with_the_order_and_the_mask(data, order):
    position = np.array([order.index(name) for name in data.X.columns])
    mask = np.ones((10, 10), dtype=bool)
    mask[:, 3] = False
    pruner = CaPSPruning(lambda1=2.0, lambda2=0.001).fit(data.X, order, candidates=mask)
    kept = pruner.prune_step_.adjacency_matrix_.astype(bool)
    level = 0.001 * pruner.parent_score_[kept].sum() / 100
    expected = (pruner.parent_score_ >= level) & (position[:, None] < position) & mask & ~kept
    assert expected.any()
    np.testing.assert_array_equal(pruner.supplement_, expected)
    np.testing.assert_array_equal(pruner.adjacency_matrix_, kept | expected)
    edges = set(zip(pruner.edges_["source"], pruner.edges_["target"], strict=True))
    assert edges == {(data.X.columns[i], data.X.columns[j]) for i, j in np.argwhere(pruner.adjacency_matrix_)}
    assert pruner.edges_["strength"].isna().sum() == expected.sum()


def test_nothing_is_added_to_an_empty_graph():
    X = np.random.default_rng(0).normal(size=(100, 4))
    pruner = CaPSPruning(CAMPruning(alpha=1e-12), lambda2=1e-6).fit(X, range(4))
    assert not pruner.adjacency_matrix_.any()


@pytest.mark.filterwarnings("ignore:Constant columns", "ignore:Duplicated columns")
def test_awkward_columns_work():
    X = np.random.default_rng(0).normal(size=(60, 3))
    X[:, 2] += 2 * X[:, 0]
    awkward = np.column_stack([np.ones(60), X, X[:, 0]])
    pruner = CaPSPruning().fit(awkward, range(5))
    assert not pruner.adjacency_matrix_[0].any()
    assert pruner.adjacency_matrix_[1, 3]
    assert not CaPSPruning().fit(X[:, :1], [0]).adjacency_matrix_.any()


def test_settings_reach_the_inner_pruner_and_the_whole_runs(data):
    model = CausalDiscovery(CaPS(), CaPSPruning(SARTRE()), random_state=3).fit(data.X)
    assert model.prune_step_.prune_step_.random_state == 3
    assert edge_recall(data.dag, model.adjacency_matrix_) > 0.5


@pytest.mark.parametrize("settings", [{"lambda1": 0.0}, {"lambda2": -1.0}, {"eta": 0.0}])
def test_wrong_settings_are_named(data, order, settings):
    with pytest.raises(ValueError, match=f"'{next(iter(settings))}' parameter of CaPSPruning"):
        CaPSPruning(**settings).fit(data.X, order)

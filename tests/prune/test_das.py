"""DAS: a filter that loses no parent, and a pruner given as an argument."""

from __future__ import annotations

import numpy as np
import pandas as pd
import pytest

from sartre import CausalDiscovery
from sartre.metrics import edge_recall
from sartre.prune import DAS, SARTRE, CAMPruning
from sartre.simulate import random_dag, simulate


@pytest.fixture(scope="module")
def data():
    return simulate(random_dag(15, 15, random_state=4), 1000, mechanism="gp-additive", random_state=4)


@pytest.fixture(scope="module")
def order(data):
    return data.dag.topological_order()


@pytest.fixture(scope="module")
def fitted(data, order):
    return DAS(min_parents=2).fit(data.X, order)


def test_the_filter_keeps_parents_and_drops_many_others(data, order, fitted):
    assert edge_recall(data.dag, fitted.candidates_.astype(int)) > 0.9
    assert fitted.candidates_.sum() < 0.8 * 15 * 14 / 2
    position = np.array([order.index(name) for name in data.X.columns])
    assert not fitted.candidates_[position[:, None] >= position].any()


def test_parents_are_found_among_many_variables():
    dag = random_dag(60, 60, random_state=4)
    X = simulate(dag, 800, mechanism="gp-additive", random_state=4).X
    pruner = DAS(prune=SARTRE(0.1, random_state=4)).fit(X, dag.topological_order())
    assert edge_recall(dag, pruner.candidates_.astype(int)) > 0.7  # ranking by the median size of H_lj gives 0.5 to 0.6


def test_what_passes_is_pruned_by_the_pruner_given(data, order, fitted):
    direct = CAMPruning().fit(data.X, order, candidates=fitted.candidates_)
    pd.testing.assert_frame_equal(fitted.edges_, direct.edges_)
    lasso = DAS(prune=SARTRE(random_state=1), min_parents=2).fit(data.X, order)
    by_hand = SARTRE(random_state=1).fit(data.X, order, candidates=fitted.candidates_)
    np.testing.assert_array_equal(lasso.adjacency_matrix_, by_hand.adjacency_matrix_)
    assert lasso.adjacency_matrix_.any()


def test_few_candidates_stay_untested_and_never_more_than_the_largest_number(data, order):
    numbers = [data.X.columns.get_loc(name) for name in order]
    pruner = DAS(prune=SARTRE(random_state=0), min_parents=3, max_parents=4).fit(data.X, order)
    counts = pruner.candidates_.sum(axis=0)[numbers]
    np.testing.assert_array_equal(counts[:4], [0, 1, 2, 3])
    assert counts[4:].min() >= 3
    assert counts.max() <= 4


def test_all_parents_can_be_true_and_none_is_taken_as_the_reference():
    rng = np.random.default_rng(0)
    X = rng.normal(size=(1500, 7))
    X[:, 6] = np.sin(2 * X[:, :6]).sum(axis=1) + rng.normal(size=1500) / 2
    assert DAS(min_parents=0).fit(X, range(7)).candidates_[:6, 6].all()


@pytest.mark.parametrize("seed", [0, 1, 2])
def test_the_reference_is_nobodys_data(seed):
    rng = np.random.default_rng(seed)
    X = np.column_stack([rng.normal(size=600) for _ in range(8)])
    y = 2 * np.sin(2 * X[:, 0]) + rng.normal(size=600) / 2
    assert DAS(min_parents=0).fit(np.column_stack([X, y]), range(9)).candidates_[0, 8]


@pytest.mark.parametrize("margin", [np.exp, lambda z: z**3, np.tanh])
def test_few_useless_candidates_pass_whatever_the_margins(margin):
    X = margin(np.random.default_rng(3).normal(size=(300, 12)))
    pruner = DAS(prune=SARTRE(random_state=0), min_parents=0).fit(X, range(12))
    assert pruner.candidates_.sum() < 0.25 * 66


def test_candidates_are_respected(data, order):
    mask = np.random.default_rng(0).random((15, 15)) < 0.5
    pruner = DAS(prune=SARTRE(random_state=0), min_parents=2).fit(data.X, order, candidates=mask)
    assert not pruner.candidates_[~mask].any()
    assert pruner.candidates_.any()


def test_units_and_column_order_change_nothing(data, order, fitted):
    moved = data.X[list(data.X.columns[::-1])] * 10.0 ** np.arange(-7, 8) + 5.0
    other = DAS(min_parents=2).fit(moved, order)
    np.testing.assert_array_equal(other.candidates_[::-1, ::-1], fitted.candidates_)


@pytest.mark.filterwarnings("ignore:Constant columns", "ignore:Duplicated columns")
def test_constant_and_duplicated_columns_work(data, order):
    awkward = data.X.assign(flat=1.0, copy=data.X.iloc[:, 0])
    pruner = DAS(prune=SARTRE(random_state=0), min_parents=2).fit(awkward, [*order, "flat", "copy"])
    assert not pruner.candidates_[15].any()
    assert not pruner.adjacency_matrix_[:, 15].any()


def test_settings_reach_the_inner_pruner(data):
    model = CausalDiscovery(prune=DAS(prune=SARTRE()), random_state=3).fit(data.X)
    assert model.prune_step_.prune_step_.random_state == 3


@pytest.mark.parametrize("settings", [{"alpha": 2.0}, {"min_parents": -1}, {"max_parents": 4}, {"eta": 0.0}])
def test_wrong_settings_are_named(data, order, settings):
    with pytest.raises(ValueError, match=f"'{next(iter(settings))}' parameter of DAS"):
        DAS(**settings).fit(data.X, order)

"""Intervals that use the target, for the ablations: they cut where it jumps, and find its parents."""

from __future__ import annotations

import numpy as np
import pandas as pd
import pytest

from experiments import supervised
from experiments.supervised import SupervisedPruning, supervised_intervals
from sartre.metrics import edge_recall
from sartre.simulate import random_dag, simulate

KINDS = ["forest", "boosting"]


@pytest.fixture(scope="module")
def data():
    dag = random_dag(10, 12, random_state=0)
    return simulate(dag, 800, mechanism="gp-additive", random_state=0)


@pytest.mark.parametrize("kind", KINDS)
def test_supervised_intervals_cut_where_the_target_jumps(kind, monkeypatch):
    monkeypatch.setattr(supervised, "MAX_LEAVES", 2)
    rng = np.random.default_rng(0)
    column = 1e6 + rng.uniform(0, 1, size=500)  # an offset that float32 cannot represent
    target = (column > 1e6 + 0.3).astype(float)
    basis = supervised_intervals(kind, column, target, rng)
    assert np.abs(basis.edges - 1e6 - 0.3).max() < 0.01
    assert supervised_intervals(kind, np.ones(9), target[:9], rng).table.shape[1] == 0


@pytest.mark.parametrize("kind", KINDS)
def test_supervised_intervals_find_the_true_edges_too(data, kind):
    pruner = SupervisedPruning(kind).fit(data.X, data.dag.topological_order())
    assert edge_recall(data.dag, pruner.adjacency_matrix_) > 0.8
    assert len(pruner.edges_) < 45  # of all pairs


def test_one_seed_gives_one_graph_and_another_seed_other_intervals(data):
    order = data.dag.topological_order()
    one, same, other = (SupervisedPruning("forest", random_state=seed).fit(data.X, order).edges_ for seed in (5, 5, 6))
    pd.testing.assert_frame_equal(one, same)
    assert not one.equals(other)


@pytest.mark.filterwarnings("ignore:Constant columns", "ignore:Duplicated columns")
@pytest.mark.parametrize("kind", KINDS)
def test_constant_columns_are_never_connected_and_copies_work(kind):
    rng = np.random.default_rng(0)
    x = rng.normal(size=300)
    X = pd.DataFrame({"flat": 1e9, "x": x, "copy": x, "y": np.sin(2 * x) + rng.normal(size=300) / 3, "zero": 0.0})
    pruner = SupervisedPruning(kind).fit(X, list(X.columns))
    assert not pruner.adjacency_matrix_[[0, 4]].any()
    assert not pruner.adjacency_matrix_[:, [0, 4]].any()
    assert {"x", "copy"} & set(pruner.edges_.query("target == 'y'")["source"])

"""CausalDiscovery composes two steps, keeps the names, and passes settings down."""

from __future__ import annotations

import pickle

import numpy as np
import pandas as pd
import pytest
from sklearn.base import BaseEstimator, clone

from sartre import CausalDiscovery, Dag
from sartre.datasets import load_sachs
from sartre.metrics import shd
from sartre.order import SCORE, FixedOrder
from sartre.prune import SARTRE
from sartre.simulate import random_dag, simulate


@pytest.fixture(scope="module")
def data():
    return simulate(random_dag(6, 6, random_state=2), 500, mechanism="gp-additive", random_state=2)


def test_it_is_the_order_and_then_the_pruning(data):
    model = CausalDiscovery(order=SCORE(), prune=SARTRE(random_state=4)).fit(data.X)
    order = SCORE().fit(data.X).order_
    pruner = SARTRE(random_state=4).fit(data.X, order)
    np.testing.assert_array_equal(model.order_, order)
    np.testing.assert_array_equal(model.adjacency_matrix_, pruner.adjacency_matrix_)
    assert model.graph_ == Dag(pruner.adjacency_matrix_, list(data.X.columns))
    pd.testing.assert_frame_equal(model.edges_[list(pruner.edges_)], pruner.edges_)


def test_a_small_graph_is_recovered(data):
    assert shd(data.dag, CausalDiscovery(random_state=0).fit(data.X).graph_) <= 2


def test_seed_and_jobs_reach_the_steps_that_have_none_of_their_own(data):
    handed = CausalDiscovery(random_state=4, n_jobs=2).fit(data.X)
    assert handed.prune_step_.random_state == 4
    assert handed.prune_step_.n_jobs == 2
    own = CausalDiscovery(prune=SARTRE(random_state=9), random_state=4).fit(data.X)
    assert own.prune_step_.random_state == 9
    again = CausalDiscovery(random_state=4).fit(data.X)
    pd.testing.assert_frame_equal(handed.edges_, again.edges_)


def test_the_steps_given_are_not_touched(data):
    pruner = SARTRE()
    CausalDiscovery(prune=pruner, random_state=1).fit(data.X)
    assert pruner.random_state is None
    assert not hasattr(pruner, "edges_")


def test_a_custom_step_needs_only_a_few_lines(data):
    class ByVariance(BaseEstimator):
        def fit(self, X):
            self.order_ = np.argsort(np.asarray(X).var(axis=0))
            return self

    model = CausalDiscovery(order=ByVariance(), random_state=0).fit(data.X)
    np.testing.assert_array_equal(model.order_, np.argsort(data.X.to_numpy().var(axis=0)))


def test_clone_and_nested_parameters_work():
    model = clone(CausalDiscovery(order=FixedOrder([0, 1]), prune=SARTRE()))
    model.set_params(prune__penalty=0.3)
    assert model.get_params()["prune__penalty"] == 0.3


@pytest.mark.parametrize(
    ("X", "text"),
    [
        (np.zeros((9, 3)), "At least 10 rows are needed. Got 9"),
        (np.zeros((50, 1)), "At least 2 columns are needed. Got 1"),
        (np.zeros((0, 0)), "At least 10 rows"),
    ],
)
def test_too_little_data_is_refused(X, text):
    with pytest.raises(ValueError, match=text):
        CausalDiscovery().fit(X)


def test_each_warning_is_given_once(data):
    with pytest.warns(UserWarning, match="columns") as caught:
        CausalDiscovery(random_state=0).fit(data.X.assign(flat=0.0, copy=data.X.iloc[:, 0]))
    assert sorted(str(w.message).split(":")[0] for w in caught) == [
        "Constant columns can be neither causes nor effects",
        "Duplicated columns cannot be told apart by the data",
    ]


def test_sachs_standardised_gives_a_sparse_named_graph():
    X = load_sachs().X
    model = CausalDiscovery(random_state=0).fit((X - X.mean()) / X.std())
    assert set(model.graph_.names) == set(X.columns)
    assert 3 <= model.graph_.n_edges <= 30


@pytest.mark.parametrize("stage", ["learning.promised", "discovery.findings_of"])
def test_a_fit_that_fails_changes_nothing(data, monkeypatch, stage):
    model = CausalDiscovery(prune=SARTRE(joint=False), random_state=0).fit(data.X)
    earlier = dict(vars(model))
    calls = []

    def failing(step, *name):
        calls.append(name)
        if name in (("edges_",), ()):
            raise KeyboardInterrupt
        return getattr(step, *name)

    monkeypatch.setattr(f"sartre.{stage}", failing)
    with pytest.raises(KeyboardInterrupt):
        model.fit(data.X.iloc[:, ::-1])
    assert calls
    assert vars(model).keys() == earlier.keys()
    assert all(vars(model)[name] is value for name, value in earlier.items())


def test_directions_must_be_a_bool(data):
    with pytest.raises(TypeError, match=r"'directions' parameter of CausalDiscovery must be a bool. Got 'no' instead"):
        CausalDiscovery(directions="no").fit(data.X)


@pytest.mark.parametrize(("order", "direction"), [(None, "unchecked"), (FixedOrder(range(6)), "known")])
def test_a_model_from_before_directions_were_weighed_is_read(data, tmp_path, order, direction):
    model = CausalDiscovery(order, SARTRE(joint=False), directions=False, random_state=0).fit(data.X)
    model.edges_ = model.edges_.drop(columns=[name for name in model.edges_ if name.startswith("direction")])
    del model.pdag_, model.directions, model.prune_step_.device
    old = pickle.loads(pickle.dumps(model))  # noqa: S301 - our own
    assert set(old.edges_["direction"]) == {direction}
    assert len(old.pdag_.lines) == (direction == "unchecked") * old.graph_.n_edges
    assert old.scm_.graph == old.graph_
    old.report(tmp_path / "report.html")


class ThirdParty(BaseEstimator):
    """A pruner that keeps the first two edges of the order, and lists what it is told to."""

    def __init__(self, listed=None):
        self.listed = listed

    def fit(self, _, order):
        self.adjacency_matrix_ = np.zeros((len(order), len(order)))
        self.adjacency_matrix_[order[0], order[1:3]] = 1
        self.edges_ = self.listed
        return self


@pytest.mark.parametrize(
    "listed",
    [
        None,
        pd.DataFrame(),
        pd.DataFrame({"source": [], "target": []}),
        pd.DataFrame({"source": [0], "target": [2]}),
        pd.DataFrame({"source": ["x0", "x0"], "target": ["x2", "x1"]}),
    ],
)
def test_the_edges_of_a_pruner_are_completed_from_its_matrix(data, listed):
    X = data.X.iloc[:, :3].to_numpy()
    model = CausalDiscovery(FixedOrder([0, 1, 2]), ThirdParty(listed), directions=False).fit(X)
    edges = set(zip(model.edges_["source"], model.edges_["target"], strict=True))
    assert edges == set(model.graph_.edges) == {("x0", "x1"), ("x0", "x2")}
    learnt = CausalDiscovery(SCORE(), ThirdParty(listed=None), directions=False).fit(X)
    assert len(learnt.pdag_.lines) == 2


@pytest.mark.parametrize(
    ("listed", "error", "message"),
    [
        ([("x0", "x1")], TypeError, "ThirdParty.fit must set 'edges_' to a data frame .* Got list instead"),
        (pd.DataFrame({"source": ["x1"], "target": ["x2"]}), ValueError, "ThirdParty.fit .* Got x1 -> x2, which the"),
        (pd.DataFrame({"source": [0], "target": [7]}), ValueError, "ThirdParty.fit .* Got x0 -> 7, which the matrix"),
    ],
)
def test_edges_that_are_not_in_the_matrix_are_refused_with_the_pruner(data, listed, error, message):
    with pytest.raises(error, match=message):
        CausalDiscovery(FixedOrder([0, 1, 2]), ThirdParty(listed)).fit(data.X.iloc[:, :3].to_numpy())

import re
import sys

import numpy as np
import pandas as pd
import pytest

from sartre import CausalDiscovery, Knowledge
from sartre.data.checks import as_table
from sartre.metrics import shd
from sartre.order import FixedOrder
from sartre.prune import DAS, SARTRE
from sartre.prune.sartre.joint import price_of
from sartre.report.content_edges import interaction_rows
from sartre.report.mechanisms import Drawing
from sartre.simulate import random_dag, simulate
from sartre.steps import for_resamples


def joint_table(n=500, seed=0):
    """Four roots, of which three act on y jointly; nothing shows in single variables or pairs."""
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(n, 5))
    X[:, 4] = 3 * np.tanh(2 * X[:, 0]) * np.tanh(2 * X[:, 1]) * np.tanh(2 * X[:, 2]) + X[:, 4]
    return X


def parents(pruner, target):
    return np.flatnonzero(pruner.adjacency_matrix_[:, target]).tolist()


def test_three_parents_that_act_jointly_are_found():
    X = joint_table()
    assert len(parents(SARTRE().fit(X, range(5)), 4)) < 3
    pruner = SARTRE(joint=True).fit(X, range(5))
    assert parents(pruner, 4) == [0, 1, 2]
    assert pruner.adjacency_matrix_.sum() == 3
    assert pruner.joint_terms_["target"].tolist() == ["x4"]
    assert sorted(pruner.joint_terms_["parents"][0]) == ["x0", "x1", "x2"]
    assert (pruner.edges_["p_value"] < 1e-6).all()
    assert pruner.edges_["strength"].between(0.05, 1.0).all()
    assert pruner.rows_seen_["joint"] == 500


def networks(seed):
    """Neural networks of several parents with little noise, and their order: an additive model does not fit them."""
    dag = random_dag(9, 26, random_state=seed)
    return simulate(dag, 1000, mechanism="sdcd", random_state=seed), dag.topological_order()


def test_a_misfit_makes_no_parents():
    errors = {False: 0, "auto": 0, True: 0}
    for seed in range(2):
        data, order = networks(seed)
        for joint in errors:
            errors[joint] += shd(data.dag, SARTRE(joint=joint, n_jobs=2).fit(data.X, order).adjacency_matrix_)
    assert errors["auto"] <= 0.75 * errors[False]
    assert errors[True] <= 0.5 * errors[False]


def test_switched_off_and_on_independent_columns_there_are_no_edges():
    X = np.random.default_rng(0).normal(size=(300, 6))
    plain, joint = SARTRE(joint=False).fit(X, range(6)), SARTRE(joint=True).fit(X, range(6))
    assert len(plain.joint_terms_) == 0
    assert "joint" not in plain.rows_seen_
    assert joint.adjacency_matrix_.sum() == 0
    assert SARTRE().fit(X, range(6)).adjacency_matrix_.sum() == 0
    assert joint.false_edges_bound_ > plain.false_edges_bound_


@pytest.mark.parametrize("joint", [True, "auto", None])
def test_additive_effects_stay_as_they_are(joint):
    rng = np.random.default_rng(5)
    X = rng.normal(size=(600, 4))
    X[:, 3] += np.sin(2 * X[:, 0]) + X[:, 1]
    plain, found = SARTRE(joint=False).fit(X, range(4)), SARTRE(joint=joint).fit(X, range(4))
    pd.testing.assert_frame_equal(plain.edges_, found.edges_)


def test_by_default_the_targets_with_most_to_gain_are_tried_and_the_others_named(monkeypatch):
    data, order = networks(1)
    plain, fitted = SARTRE(joint=False).fit(data.X, order), SARTRE().fit(data.X, order)
    assert len(fitted.joint_terms_) > 0
    assert fitted.rows_seen_["joint"] == 800
    assert fitted.notes_ == []
    assert fitted.false_edges_bound_ == plain.false_edges_bound_
    monkeypatch.setattr("sartre.prune.sartre.estimator.affordable", lambda *_: [])
    left = SARTRE().fit(data.X, order)
    pd.testing.assert_frame_equal(left.edges_, plain.edges_)
    assert re.search(r"were not looked for in [2-9] of 9 targets that may have other parents", left.notes_[0])
    assert "joint=True (--effort thorough)" in left.notes_[0]


def test_by_default_wide_tables_are_left_alone(monkeypatch):
    monkeypatch.setattr("sartre.prune.sartre.estimator.MOST_COLUMNS", 8)
    data, order = networks(1)
    fitted = SARTRE().fit(data.X, order)
    assert "joint" not in fitted.rows_seen_
    assert "are not looked for among more than 8 columns" in fitted.notes_[0]


def test_by_default_batches_and_jobs_give_the_same():
    data, order = networks(1)
    expected = SARTRE().fit(data.X, order).edges_
    pd.testing.assert_frame_equal(SARTRE(n_jobs=2).fit(data.X, order).edges_, expected)
    pd.testing.assert_frame_equal(SARTRE().fit_batches([data.X[:400], data.X[400:]], order).edges_, expected)


def test_resamples_leave_joint_effects_out_unless_they_were_asked_for():
    for asked, used in ((None, False), ("auto", False), (True, True), (False, False)):
        assert for_resamples(CausalDiscovery(prune=SARTRE(joint=asked))).prune.joint is used
        assert for_resamples(CausalDiscovery(prune=DAS(prune=SARTRE(joint=asked)))).prune.prune.joint is used
    assert for_resamples(CausalDiscovery(prune=SARTRE(penalty=0.1))).prune.joint is None


def test_required_parents_stay():
    required = np.zeros((5, 5), bool)
    required[3, 4] = True
    pruner = SARTRE(joint=True).fit(joint_table(), range(5), required=required)
    assert parents(pruner, 4) == [0, 1, 2, 3]


def test_graph_depends_on_neither_rows_columns_units_nor_jobs():
    X = joint_table()
    expected = SARTRE(joint=True).fit(X, range(5)).adjacency_matrix_
    rows, columns = np.random.default_rng(1).permutation(500), np.array([2, 4, 0, 3, 1])
    moved = (7 + 3 * X[rows])[:, columns]
    order = [int(np.flatnonzero(columns == j)[0]) for j in range(5)]
    found = SARTRE(joint=True, n_jobs=2).fit(moved, order).adjacency_matrix_
    np.testing.assert_array_equal(found, expected[np.ix_(columns, columns)])


def test_heavy_tails_make_no_edges():
    X = np.random.default_rng(2).standard_t(2, size=(300, 6))
    assert SARTRE(joint=True).fit(X, range(6)).adjacency_matrix_.sum() == 0


def test_categories_missing_values_and_few_values():
    rng = np.random.default_rng(4)
    n = 600
    frame = pd.DataFrame(rng.normal(size=(n, 2)), columns=["a", "b"])
    frame["group"] = rng.choice(["u", "v", "w"], n)
    sign = frame["group"].map({"u": -1.0, "v": 0.0, "w": 1.0})
    frame["y"] = 2 * np.tanh(2 * frame["a"]) * np.tanh(2 * frame["b"]) * sign + rng.normal(size=n) / 2
    frame["flag"] = (frame["y"] > 0).astype(float)
    frame.loc[rng.random(n) < 0.1, "a"] = np.nan
    model = CausalDiscovery(order=FixedOrder(["a", "b", "group", "y", "flag"]), prune=SARTRE(joint=True), missing="bin")
    model.fit(frame)
    found = set(model.graph_.parents("y"))
    assert found == {"a", "b", "group"}
    assert "y" in model.graph_.parents("flag")


def test_more_rows_than_a_process_sees():
    X = joint_table(5000)
    pruner = SARTRE(joint=True).fit(X, range(5))
    assert parents(pruner, 4) == [0, 1, 2]
    assert pruner.rows_seen_["joint"] == 2000


@pytest.mark.parametrize("value", ["yes", 1, 0.5])
def test_setting_is_checked(value):
    with pytest.raises(ValueError, match="'joint' parameter of SARTRE must be True, False or 'auto'"):
        SARTRE(joint=value).fit(joint_table(50), range(5))


@pytest.mark.parametrize("settings", [{"joint": False}, {"penalty": 0.1}])
def test_a_device_on_which_nothing_runs_is_not_looked_for(settings, monkeypatch):
    monkeypatch.setitem(sys.modules, "torch", None)
    X = np.random.default_rng(0).normal(size=(50, 2))
    SARTRE(device="cuda", **settings).fit(X, [0, 1])
    with pytest.raises(ValueError, match=r"'device' parameter of SARTRE must be 'cpu' or 'cuda'. Got 'gpu' instead"):
        SARTRE(device="gpu", **settings).fit(X, [0, 1])
    with pytest.raises(ImportError, match="needs PyTorch"):
        SARTRE(device="cuda").fit(X, [0, 1])


def test_setting_needs_the_automatic_penalty():
    with pytest.raises(ValueError, match="'joint' parameter of SARTRE requires penalty='auto'"):
        SARTRE(penalty=0.1, joint=True).fit(joint_table(50), range(5))


def test_price_grows_as_the_level_falls():
    assert price_of(1.0) == 0.0
    assert price_of(1e-6) > price_of(1e-3) > 4


def test_the_model_uses_the_process_as_its_mechanism(tmp_path):
    names = ["c", "a", "d", "b", "y"]  # the arguments of a mechanism are sorted by name
    frame = pd.DataFrame(joint_table(800), columns=names)
    model = CausalDiscovery(order=FixedOrder(names), prune=SARTRE(joint=True)).fit(frame)
    mechanism = model.prune_step_.mechanisms_["y"]
    assert model.mechanisms(frame)["y"] is mechanism
    truth = 3 * np.tanh(2 * frame["c"]) * np.tanh(2 * frame["a"]) * np.tanh(2 * frame["d"])
    predicted = mechanism.predict(frame[["a", "c", "d"]].to_numpy())
    assert np.corrcoef(predicted, truth)[0, 1] > 0.95
    assert (
        0.9 < model.scm_.residuals["y"].std() < 2.0
    )  # 1.0 in truth; that of rows which are left out, not of those that were fitted
    assert model.scm_.do({"a": 1.0, "c": 1.0, "d": 1.0}).sample(300, random_state=0)["y"].mean() > 2.0
    model.report(tmp_path / "report.html", frame)
    (surface,) = interaction_rows(model, Drawing.of(model.graph_, as_table(frame), model.mechanisms(frame)))
    assert surface["target"] == 4
    assert sorted([surface["first"], surface["second"], *surface["others"]]) == [0, 1, 2]
    assert surface["p_value"] is None
    assert len(surface["effect"]) == 24


def test_a_path_has_joint_parents():
    path = SARTRE(joint=True).path(joint_table(), range(5), values=[1e-4, 1e-2])
    assert sorted(path.loc[path["level"] == 1e-2, "source"]) == ["x0", "x1", "x2"]


def test_parents_that_act_alone_are_not_said_to_act_jointly():
    rng = np.random.default_rng(0)
    X = np.column_stack([joint_table(600)[:, :4], rng.normal(size=600)])
    X[:, 4] = 3 * np.prod(np.tanh(2 * X[:, :3]), axis=1) + 2 * X[:, 3] + rng.normal(size=600) / 3
    pruner = SARTRE(joint=True).fit(X, range(5))
    assert parents(pruner, 4) == [0, 1, 2, 3]
    assert sorted(pruner.joint_terms_["parents"][0]) == ["x0", "x1", "x2"]


def test_a_required_constant_and_rare_levels_leave_models_usable():
    rng = np.random.default_rng(3)
    frame = pd.DataFrame(joint_table(450), columns=list("abcde"))
    frame["k"] = 1.0
    knowledge = Knowledge(required=[("k", "e")])
    model = CausalDiscovery(order=FixedOrder(list("kabcde")), prune=SARTRE(joint=True), knowledge=knowledge)
    with pytest.warns(UserWarning, match="Constant columns"):
        model.fit(frame)
    assert model.prune_step_.mechanisms_ == {}
    assert model.diagnostics_ is not None
    frame["k"] = pd.Categorical(rng.choice(list("pqrstu"), p=[0.02, 0.32, 0.02, 0.3, 0.02, 0.32], size=450))
    frame["e"] *= frame["k"].map({"q": -2.0, "u": 2.0}).astype(float).fillna(0.5)
    model = CausalDiscovery(order=FixedOrder(list("kabcde")), prune=SARTRE(joint=True)).fit(frame)
    assert "k" in model.graph_.parents("e")
    assert "e" not in model.prune_step_.mechanisms_


def test_hardly_any_noise_whose_variance_follows_a_parent():
    rng = np.random.default_rng(1)
    X = rng.normal(size=(450, 5))
    y = X[:, :3].sum(axis=1) + 1e-3 * np.exp(X[:, 0]) * rng.normal(size=450)
    assert parents(SARTRE(joint=True).fit(np.column_stack([X, y]), range(6)), 5) == [0, 1, 2]

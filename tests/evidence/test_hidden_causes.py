"""Edges that a hidden common cause explains are marked, in every place that shows the graph."""

from __future__ import annotations

import copy
import json
import pickle

import numpy as np
import pandas as pd
import pytest

from sartre import CausalDiscovery, Knowledge, Pdag
from sartre.evidence.hidden_causes import COLUMNS_OF_MARKS, hidden_causes, marked_pairs, sentences
from sartre.order import FixedOrder
from sartre.prune import SARTRE

CONFOUNDED = FixedOrder(["z", "w", "x", "y"])


def table_with(hidden, seed=0, n=800):
    z, w, u, e, f = np.random.default_rng(seed).normal(size=(5, n))
    x, y = np.sin(2 * z) + e / 2, np.sin(2 * w) + f / 2
    x, y = (x + u, y + u) if hidden else (x, y + np.tanh(2 * x))
    return pd.DataFrame({"z": z, "w": w, "x": x, "y": y})


def fitted(table, **settings):
    return CausalDiscovery(order=CONFOUNDED, prune=SARTRE(joint=False), random_state=0, **settings).fit(table)


@pytest.fixture(scope="module")
def confounded():
    return fitted(table_with(hidden=True))


@pytest.fixture(scope="module")
def clean():
    return fitted(table_with(hidden=False))


def test_the_marked_edge_is_the_confounded_one(confounded):
    frame = confounded.hidden_causes_
    assert list(frame.columns) == ["first", "second", "statistic", "p_value", "mark"] == COLUMNS_OF_MARKS
    assert frame["mark"].dtype == bool
    assert marked_pairs(frame) == [("x", "y")]
    assert confounded.pdag_.hidden == {("x", "y")}
    assert frame["p_value"].between(0, 1).all()


def test_an_edge_is_not_marked_where_it_is_a_cause(clean):
    assert ("x", "y") in clean.graph_.edges
    assert not clean.hidden_causes_["mark"].any()
    assert clean.pdag_.hidden == set()
    assert "<->" not in clean.pdag_.to_dagitty()


def test_marks_are_computed_when_they_are_asked_for_and_once(confounded, monkeypatch):
    calls = []
    monkeypatch.setattr("sartre.evidence.hidden_causes.hidden_causes", lambda *given: calls.append(given))
    fitted(table_with(hidden=True, n=300))
    assert not calls
    assert confounded.hidden_causes_ is confounded.hidden_causes_


def test_the_graph_of_an_earlier_fit_keeps_its_marks():
    model = fitted(table_with(hidden=True))
    earlier = model.pdag_
    model.fit(table_with(hidden=False))
    assert earlier.hidden == {("x", "y")}
    assert model.pdag_.hidden == set()


def test_copies_and_pickles_have_the_same_marks(confounded):
    for other in (copy.deepcopy(confounded), pickle.loads(pickle.dumps(confounded))):  # noqa: S301
        assert other.pdag_.hidden == {("x", "y")}
        pd.testing.assert_frame_equal(other.hidden_causes_, confounded.hidden_causes_)


def test_a_pickle_from_before_there_were_marks_computes_them():
    model = fitted(table_with(hidden=True))
    del model._hidden
    model.pdag_ = model.graph_.with_lines([])
    assert marked_pairs(pickle.loads(pickle.dumps(model)).hidden_causes_) == [("x", "y")]  # noqa: S301


def test_the_function_takes_the_table_in_any_order_of_columns(confounded):
    table = table_with(hidden=True)
    frame = hidden_causes(confounded, table[["y", "x", "w", "z"]])
    pd.testing.assert_frame_equal(frame, confounded.hidden_causes_)


def test_edges_that_cannot_be_tested_are_left_out():
    table = table_with(hidden=True)
    assert fitted(table.head(150)).hidden_causes_.empty  # too few rows
    coarse = table.assign(y=np.sign(table["y"]))
    assert fitted(coarse).hidden_causes_.empty  # no continuous noise
    pair = CausalDiscovery(order=FixedOrder(["x", "y"]), random_state=0).fit(table[["x", "y"]])
    assert pair.graph_.n_edges == 1
    assert pair.hidden_causes_.empty  # x has no causes
    assert list(pair.hidden_causes_.columns) == COLUMNS_OF_MARKS


def test_missing_values_are_left_out_row_by_row():
    table = table_with(hidden=True)
    table.loc[:50, "z"] = np.nan
    model = fitted(table, missing="bin")
    assert marked_pairs(model.hidden_causes_) == [("x", "y")]


def test_every_output_has_the_marks(confounded, tmp_path):
    text = confounded.pdag_.to_dagitty()
    assert '"x" <-> "y";' in text
    assert '"x" -> "y";' in text
    again = Pdag.from_dict(json.loads(json.dumps(confounded.pdag_.to_dict())))
    assert again.hidden == {("x", "y")}
    assert again == confounded.pdag_
    marks = confounded.hidden_causes_.to_dict("records")
    document = {**confounded.graph_.to_dict(), "hidden_causes": marks}
    (tmp_path / "graph.json").write_text(json.dumps(document), encoding="utf-8")
    assert Pdag.read(tmp_path / "graph.json").hidden == {("x", "y")}
    assert sentences([("x", "y")]) == ["x -> y: a hidden common cause would explain this as well or better"]


def test_an_effect_that_an_environment_changes_which_acts_elsewhere_is_marked():
    n = 500
    rng = np.random.default_rng(3)
    z, w, u, e, f, s = rng.normal(size=(6, 2 * n))
    where = np.repeat(["usual", "drug"], n)
    drug = where == "drug"
    x = np.sin(2 * z) + e / 2
    y = np.sin(2 * w) + np.where(drug, -1, 1) * x + f / 2  # it changes where only s is set
    s[drug] = u[drug] / 10
    table = pd.DataFrame({"z": z, "w": w, "x": x, "y": y, "s": s})
    model = CausalDiscovery(order=FixedOrder(["z", "w", "s", "x", "y"]), prune=SARTRE(joint=False), random_state=0)
    model.fit(table, environment=where, interventions={"drug": ["s"]})
    assert ("x", "y") in marked_pairs(model.hidden_causes_)
    model.fit(table, environment=where, interventions={"drug": ["s", "x"]})  # it acts on the cause
    assert ("x", "y") not in marked_pairs(model.hidden_causes_)


def test_no_edge_is_learnt_from_a_common_cause_that_is_known():
    known = Knowledge(confounded=[("y", "x")])
    model = fitted(table_with(hidden=True), knowledge=known)
    assert not {("x", "y"), ("y", "x"), ("z", "y")} & set(model.graph_.edges)
    assert {("z", "x"), ("w", "y")} <= set(model.graph_.edges)
    assert model.pdag_.hidden == {("x", "y")}
    assert '"x" <-> "y";' in model.pdag_.to_dagitty()


def test_an_edge_that_is_more_than_a_known_common_cause_is_learnt():
    table = table_with(hidden=False)
    u = np.random.default_rng(9).normal(size=len(table)) / 4
    table[["x", "y"]] += u[:, None]
    model = fitted(table, knowledge=Knowledge(confounded=[("x", "y")]))
    assert ("x", "y") in model.graph_.edges
    required = Knowledge(confounded=[("x", "y")], required=[("x", "y")])
    assert ("x", "y") in fitted(table_with(hidden=True), knowledge=required).graph_.edges

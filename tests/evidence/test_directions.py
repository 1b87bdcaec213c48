import logging

import numpy as np
import pandas as pd
import pytest

from sartre import CausalDiscovery, Knowledge, stability
from sartre.data.checks import as_table
from sartre.evidence.directions import DECIDED, Weighed, confidence, weigh_directions
from sartre.order import SCORE, FixedOrder, OrderSearch
from sartre.prune import SARTRE
from sartre.simulate import random_dag, simulate
from sartre.steps import StepTags

COLUMNS = ["direction", "direction_confidence", "direction_evidence"]


def linear_chain(seed, n=1000):
    a, *noise = np.random.default_rng(seed).normal(size=(3, n))
    b = a + noise[0]
    return pd.DataFrame({"a": a, "b": b, "c": b + noise[1]})


def curved(seed=0, n=500):
    rng = np.random.default_rng(seed)
    a = rng.normal(size=n)
    b = np.sin(2 * a) + rng.normal(size=n) / 2
    return pd.DataFrame({"a": a, "b": b, "c": b**2 / 2 + rng.normal(size=n) / 2})


def test_arrows_of_linear_normal_chains_are_undecided():
    undecided = [CausalDiscovery().fit(linear_chain(seed)).edges_["direction"] == "undecided" for seed in range(10)]
    assert sum(each.all() for each in undecided) >= 9


def test_arrows_of_curved_relations_are_decided():
    model = CausalDiscovery().fit(curved())
    assert model.graph_.edges == [("a", "b"), ("b", "c")]
    assert (model.edges_["direction"] == "decided").all()
    assert (model.edges_["direction_evidence"] > DECIDED).all()
    assert model.pdag_.arrows == model.graph_.edges


def test_colliders_are_decided_though_they_are_linear():
    """Turned, a collider needs an edge more: half of log(n) + 2 log(d) is 5.4 here, less what chance explains."""
    evidence = []
    for seed in range(10):
        a, b, noise = np.random.default_rng(seed).normal(size=(3, 5000))
        table = as_table(np.column_stack([a, b, a + b + noise]))
        evidence.append(weigh_directions(table, [0, 1, 2], [(0, 2), (1, 2)], np.zeros((3, 3), bool)).evidence)
    assert np.mean(np.array(evidence) > DECIDED) >= 0.8
    assert np.max(evidence) < 5.5


def test_what_is_called_decided_is_nearly_always_right():
    right = []
    for seed in range(4):
        dag = random_dag(12, 24, random_state=seed)
        model = CausalDiscovery(prune=SARTRE(joint=False)).fit(simulate(dag, 800, random_state=seed).X)
        joined = [(a, b) for a, b in model.pdag_.arrows if (a, b) in dag.edges or (b, a) in dag.edges]
        right += [edge in dag.edges for edge in joined]
    assert len(right) >= 30
    assert np.mean(right) >= 0.97


def test_values_far_out_decide_nothing():
    table = linear_chain(3)
    table.loc[:2, "a"] = [40.0, -35.0, 50.0]
    evidence = weigh_directions(as_table(table), [0, 1, 2], [(0, 1), (1, 2)], np.zeros((3, 3), bool)).evidence
    assert (np.abs(evidence) < 15).all()


def test_knowledge_and_given_orders_are_known():
    table = linear_chain(0)
    fixed = CausalDiscovery(FixedOrder(["a", "b", "c"])).fit(table)
    assert set(fixed.edges_["direction"]) == {"known"}
    assert (fixed.edges_["direction_confidence"] == 1).all()
    assert fixed.edges_["direction_evidence"].isna().all()
    told = CausalDiscovery(knowledge=Knowledge(roots=["a"])).fit(table)
    said = dict(
        zip(zip(told.edges_["source"], told.edges_["target"], strict=True), told.edges_["direction"], strict=True)
    )
    assert said["a", "b"] == "known"
    assert ("a", "b") in told.pdag_.arrows


def test_a_known_edge_makes_another_one_certain():
    """With a -> b known, the chain has only one graph without a collider: b -> c follows."""
    before = np.zeros((3, 3), bool)
    before[0, 1] = True
    tables = [as_table(linear_chain(seed, n=5000)) for seed in range(10)]
    evidence = [weigh_directions(table, [0, 1, 2], [(1, 2)], before).evidence[0] for table in tables]
    assert np.mean(evidence) > DECIDED
    assert 2 < np.min(evidence) < np.max(evidence) < 5.5


def test_columns_are_there_without_edges_too():
    X = np.random.default_rng(0).normal(size=(100, 3))
    edges = CausalDiscovery().fit(X).edges_
    assert len(edges) == 0
    assert list(edges.columns[-4:-1]) == COLUMNS
    assert edges["direction"].dtype == edges["source"].dtype


def test_categories_holes_and_few_values_are_unchecked():
    table = curved(n=600)
    rng = np.random.default_rng(3)
    table["d"] = np.where(table["b"] + rng.normal(size=600) / 4 > 0, "high", "low")
    table["e"] = (table["c"] + rng.normal(size=600) / 4 > 0.5).astype(float)
    table.loc[::50, "a"] = np.nan
    with pytest.warns(UserWarning, match="positions of these categories"):
        edges = CausalDiscovery(missing="bin", random_state=0).fit(table).edges_
    odd = edges["source"].isin(["a", "d", "e"]) | edges["target"].isin(["a", "d", "e"])
    assert odd.sum() >= 2
    assert set(edges.loc[odd, "direction"]) == {"unchecked"}
    assert edges.loc[odd, "direction_confidence"].isna().all()


def test_wide_tables_and_switched_off_are_unchecked(monkeypatch):
    assert set(CausalDiscovery(directions=False).fit(curved()).edges_["direction"]) == {"unchecked"}
    monkeypatch.setattr("sartre.learning.MOST_COLUMNS_WEIGHED", 2)
    assert set(CausalDiscovery().fit(curved()).edges_["direction"]) == {"unchecked"}


def test_other_orders_are_weighed_and_left_as_they_are():
    table = curved()
    model = CausalDiscovery(SCORE()).fit(table)
    assert list(model.order_) == list(SCORE().fit(table).order_)
    assert not (model.edges_["direction"] == "unchecked").any()
    wrong = weigh_directions(as_table(table), [2, 1, 0], [(1, 0), (2, 1)], np.zeros((3, 3), bool)).evidence
    assert (wrong < -DECIDED).all()


def test_names_rows_columns_and_units_do_not_matter():
    table = curved()
    expected = CausalDiscovery().fit(table).edges_
    rows = np.random.default_rng(0).permutation(len(table))
    other = (1000 * table[["c", "a", "b"]] + 5).iloc[rows].set_axis(["z", "x", "y"], axis=1)
    found = CausalDiscovery().fit(other).edges_.replace({"x": "a", "y": "b", "z": "c"})
    keys = ["source", "target", "direction"]
    assert sorted(map(tuple, found[keys].to_numpy())) == sorted(map(tuple, expected[keys].to_numpy()))


def test_ctrl_c_keeps_the_graph(monkeypatch):
    calls = []

    def interrupted(*_):
        calls.append(1)
        if len(calls) == 2:
            raise KeyboardInterrupt
        return Weighed(9.0, 8.0, 8.0)

    monkeypatch.setattr("sartre.evidence.directions._Scales.weigh", interrupted)
    with pytest.warns(UserWarning, match="The graph is complete; the directions of 1 of its edges are unchecked"):
        model = CausalDiscovery().fit(curved())
    assert sorted(model.edges_["direction"]) == ["decided", "unchecked"]


def test_progress_is_logged_and_half_samples_weigh_nothing(caplog, monkeypatch):
    with caplog.at_level(logging.INFO, logger="sartre"):
        CausalDiscovery().fit(curved())
    assert "directions: 2 of 2 edges weighed" in caplog.text
    monkeypatch.setattr("sartre.learning.weigh_directions", None)
    stability(CausalDiscovery(OrderSearch(effort="fast")), curved(), n_pairs=1, random_state=0)


def test_noise_models_must_agree():
    assert Weighed(5.0, 9.0, 8.0).agreed == 5.0
    assert Weighed(-5.0, -9.0, -8.0).agreed == -5.0
    assert Weighed(8.0, 9.0, -1.0).agreed == 0.0
    assert confidence(np.array([1e9, -1e9])).tolist() == pytest.approx([1.0, 0.0])


def test_ctrl_c_before_the_first_edge_keeps_the_graph(monkeypatch):
    def interrupted(*_):
        raise KeyboardInterrupt

    monkeypatch.setattr("sartre.evidence.directions.blocks_of_rows", interrupted)
    with pytest.warns(UserWarning, match="The graph is complete; the directions of 2 of its edges are unchecked"):
        model = CausalDiscovery().fit(curved())
    assert model.graph_.n_edges == 2


def test_a_forbidden_edge_settles_its_reversal():
    free = CausalDiscovery().fit(linear_chain(0)).graph_.edges
    told = CausalDiscovery(knowledge=Knowledge(forbidden=[(b, a) for a, b in free])).fit(linear_chain(0))
    assert told.graph_.edges == free
    assert set(told.edges_["direction"]) == {"known"}


def test_columns_with_imputed_values_are_unchecked():
    table = curved()
    table.loc[::50, "a"] = np.nan
    with pytest.warns(UserWarning, match="were imputed"):
        edges = CausalDiscovery(missing="impute", random_state=0).fit(table).edges_
    odd = (edges["source"] == "a") | (edges["target"] == "a")
    assert set(edges.loc[odd, "direction"]) == {"unchecked"}
    assert set(edges.loc[~odd, "direction"]) == {"decided"}


class Backwards(FixedOrder):
    step_tags = StepTags(seeks_likelihood=True)


def test_contradicted_arrows_are_turned_where_the_order_was_searched_for():
    table, settings = curved(), {"prune": SARTRE(joint=False), "random_state": 0}
    turned = CausalDiscovery(order=Backwards(["c", "b", "a"]), **settings).fit(table)
    assert turned.graph_ == CausalDiscovery(order=FixedOrder(["a", "b", "c"]), **settings).fit(table).graph_
    assert set(turned.edges_["direction"]) == {"decided"}
    forced = CausalDiscovery(order=Backwards(["c", "b", "a"]), knowledge=Knowledge(before=[("b", "a")]), **settings)
    order = [table.columns[j] for j in forced.fit(table).order_]
    assert order.index("b") < order.index("a")

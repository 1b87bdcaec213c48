"""Models of rows in which variables were set: their noise, and what was seen against what they predict."""

from __future__ import annotations

import numpy as np
import pandas as pd
import pytest

from sartre import CausalDiscovery, Dag
from sartre.order import FixedOrder
from sartre.scm import seen_interventions
from sartre.simulate import simulate

AGREES = 4.0  # standard errors
CHAIN = Dag.from_edges([("a", "b"), ("b", "c")])
SET = {"b set": ["b"]}


def chain(seed=0, n=600, n_set=200):
    """Return rows of b = 1.5 a, c = 3 - b, each with noise of variance 1; in the last rows, b was set to about 4."""
    rng = np.random.default_rng(seed)
    a, noise_b, noise_c = rng.normal(size=(3, n + n_set))
    b = 1.5 * a + noise_b
    b[n:] = 4 + noise_b[n:] / 2
    return pd.DataFrame({"a": a, "b": b, "c": 3 - b + noise_c}), np.repeat(["observed", "b set"], [n, n_set])


def fitted(X, environment, order, **settings):
    return CausalDiscovery(FixedOrder(order), random_state=0).fit(X, environment=environment, **settings)


@pytest.fixture(scope="module")
def true_model():
    return fitted(*chain(), ["a", "b", "c"], interventions=SET)


def test_noise_does_not_come_from_rows_in_which_a_variable_was_set(true_model):
    scm = true_model.scm_
    assert scm.graph == CHAIN
    was_set = chain()[1] == "b set"
    assert scm.residuals["b"].isna().equals(pd.Series(was_set))
    assert scm.residuals[["a", "c"]].notna().all(axis=None)
    drawn = scm.sample(20_000, random_state=0)
    assert drawn["b"].mean() == pytest.approx(0, abs=0.25)  # 1 if the rows in which it was set were drawn, too
    assert drawn["b"].std() == pytest.approx(np.sqrt(1 + 1.5**2), abs=0.15)


def test_effects_use_all_rows_that_show_a_mechanism(true_model):
    """At b = 4 there are hardly any rows but those in which it was set, and c = 3 - b there as elsewhere."""
    found = true_model.scm_.effect("b", "c", at=[0.0, 4.0], n_bootstrap=20, random_state=0)
    assert found["mean"].tolist() == pytest.approx([3, -1], abs=0.25)
    assert ((found["low"] < found["mean"]) & (found["mean"] < found["high"])).all()
    assert (found["high"] - found["low"] < 0.5).all()
    from_a = true_model.scm_.effect("a", "c", at=1.0, baseline=0.0, n_bootstrap=20, random_state=0)
    assert from_a["low"][0] < -1.5 < from_a["high"][0]


@pytest.mark.parametrize("seed", range(3))
def test_the_true_graph_predicts_what_was_seen_and_the_reversed_one_does_not(seed):
    X, environment = chain(seed)
    seen = fitted(X, environment, ["a", "b", "c"], interventions=SET).seen_interventions_
    assert seen[["environment", "targets", "variable"]].to_numpy().tolist() == [
        ["b set", "b", "a"],
        ["b set", "b", "c"],
    ]
    assert seen["observed"].tolist() == pytest.approx(X.loc[environment == "b set", ["a", "c"]].mean().tolist())
    assert (seen["z"].abs() < AGREES).all()
    reversed_model = fitted(X, environment, ["c", "b", "a"], interventions=SET)
    assert ("b", "a") in reversed_model.graph_.edges
    assert (reversed_model.seen_interventions_["z"].abs() > AGREES).all()


def test_interventions_of_a_simulation_are_predicted_by_its_graph():
    dag = Dag.from_edges([("a", "b"), ("b", "c"), ("c", "d"), ("a", "d")])
    X, _, *_ = data = simulate(
        dag, 500, "linear", interventions={"kb": ["b"], "kc": ["c", "a"]}, n_intervened=150, random_state=0
    )
    model = fitted(X, data.environment, dag.topological_order(), interventions=data.interventions)
    seen = model.seen_interventions_
    assert set(zip(seen["environment"], seen["variable"], strict=True)) == {
        *(("kb", name) for name in "acd"),
        *(("kc", name) for name in "bd"),
    }
    assert (seen["z"].abs() < AGREES).all()


def test_the_difference_is_that_of_the_formula(true_model):
    """Without parents, the prediction is the mean of the other rows, and the standard error that of two means."""
    X, environment = chain()
    row = true_model.seen_interventions_.set_index("variable").loc["a"]
    inside, outside = (X.loc[(environment == "b set") == yes, "a"] for yes in (True, False))
    assert row["predicted"] == pytest.approx(outside.mean(), abs=0.02)
    error = np.sqrt(inside.var() / len(inside) + outside.var() / len(outside))
    assert row["z"] == pytest.approx((inside.mean() - outside.mean()) / error, abs=0.3)


def test_the_comparison_depends_on_nothing_but_the_rows(true_model):
    first = true_model.seen_interventions_
    pd.testing.assert_frame_equal(first, seen_interventions(true_model.scm_, SET))
    X, environment = chain()
    scaled = fitted(5 + 100 * X, environment, ["a", "b", "c"], interventions=SET).seen_interventions_
    np.testing.assert_allclose(scaled["z"], first["z"], atol=0.01)
    assert scaled["predicted"].tolist() == pytest.approx((5 + 100 * first["predicted"]).tolist(), rel=1e-3)


@pytest.mark.filterwarnings("ignore:Neighbouring rows are correlated")
def test_without_interventions_there_is_nothing_to_compare():
    X, environment = chain()
    plain = CausalDiscovery(FixedOrder(["a", "b", "c"]), random_state=0).fit(X)
    assert plain.environments_ is None
    assert plain.seen_interventions_ is None
    for settings in ({}, {"interventions": {"b set": ("soft", ["b"])}}):
        model = fitted(X, environment, ["a", "b", "c"], **settings)
        assert model.environments_["set"].tolist() == [(), ()]
        assert model.seen_interventions_ is None


def test_what_was_set_is_not_mixed_up_with_what_was_found():
    """An environment that shifts more than its target sets its target only, and the comparison shows the rest."""
    X, environment = chain()
    X.loc[environment == "b set", "a"] += 3
    model = fitted(X, environment, ["a", "b", "c"], interventions=SET)
    assert "a" in model.environment_effects_["variable"].tolist()
    told = model.environments_.set_index("environment")
    assert told.loc["b set", "set"] == ("b",)
    assert told["rows"].to_dict() == {"observed": 600, "b set": 200}
    z = model.seen_interventions_.set_index("variable")["z"]
    assert z["a"] > AGREES
    assert abs(z["c"]) < AGREES


@pytest.mark.filterwarnings("ignore:Neighbouring rows are correlated")
def test_a_new_fit_forgets_the_comparison():
    X, environment = chain()
    model = fitted(X, environment, ["a", "b", "c"], interventions=SET)
    assert model.seen_interventions_ is not None
    assert model.fit(X).seen_interventions_ is None


def test_residuals_are_examined_where_a_variable_was_not_set(true_model):
    nodes = true_model.diagnostics_.nodes
    assert nodes["n"].to_dict() == {"a": 800, "b": 600, "c": 800}
    assert nodes.loc["b", "normality"] > 0.001  # with the rows in which it was set there are two humps
    assert nodes.loc["b", "independence"] > 0.001


def test_an_environment_that_is_not_there_is_refused(true_model):
    with pytest.raises(ValueError, match="No row of the model has the environment 'c set'"):
        seen_interventions(true_model.scm_, {"c set": ["c"]})


def test_rows_that_are_repeated_within_groups_do_not_narrow_an_interval():
    X = chain(n=200, n_set=0)[0]
    repeated, groups = pd.concat([X] * 9, ignore_index=True), np.tile(np.arange(200), 9)
    repeated += np.random.default_rng(1).normal(size=repeated.shape) / 1000  # exact copies would be left out
    order = FixedOrder(["a", "b", "c"])
    widths = []
    for table, known in ((X, None), (repeated, groups)):
        scm = CausalDiscovery(order, random_state=0).fit(table, groups=known).scm_
        found = scm.effect("b", "c", at=1.0, baseline=0.0, n_bootstrap=60, random_state=0)
        widths.append(found["high"][0] - found["low"][0])
    assert widths[1] > 0.8 * widths[0]  # rows that are drawn one by one would narrow it

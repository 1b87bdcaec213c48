"""StructuralModel against known truth: path products, products of causes, identities of counterfactuals."""

from __future__ import annotations

import pickle
import warnings

import numpy as np
import pandas as pd
import pytest
from sklearn.base import clone
from sklearn.exceptions import NotFittedError

from sartre import CausalDiscovery, Dag, StructuralModel
from sartre.order import FixedOrder, VarianceSort
from sartre.prune import SARTRE, CAMPruning

TRIANGLE = Dag.from_edges([("a", "b"), ("a", "c"), ("b", "c")])
PRODUCT = Dag.from_edges([("a", "y"), ("b", "y"), ("y", "z")])
PAIR = [("a", "b", "y")]


def linear(n, seed=0):
    """Return b = 2 a, c = a - 3 b, each with noise: the effect of a on c is 1 - 6 = -5, that of b -3."""
    rng = np.random.default_rng(seed)
    a = rng.normal(1, 1, size=n)
    b = 2 * a + rng.normal(size=n)
    return pd.DataFrame({"a": a, "b": b, "c": 10 + a - 3 * b + rng.normal(size=n)})


def product(n, seed=0):
    """Return y = a b, z = sin(y), each with noise; a has mean 0 and b mean 1."""
    rng = np.random.default_rng(seed)
    a, b = rng.normal(size=n), rng.normal(1, 1, size=n)
    y = a * b + rng.normal(size=n) / 2
    return pd.DataFrame({"z": np.sin(y) + rng.normal(size=n) / 4, "y": y, "a": a, "b": b})


@pytest.fixture(scope="module")
def straight():
    return StructuralModel.fit(linear(400), TRIANGLE)


@pytest.fixture(scope="module")
def joint():
    return StructuralModel.fit(product(1000), PRODUCT, PAIR)


# Effects


@pytest.mark.parametrize(("cause", "outcome", "truth"), [("a", "c", -5.0), ("b", "c", -3.0), ("a", "b", 2.0)])
def test_linear_effects_are_the_path_products(straight, cause, outcome, truth):
    found = straight.effect(cause, outcome, at=1.0, baseline=0.0, n_bootstrap=10, random_state=0)
    assert list(found.columns) == ["value", "mean", "low", "high", "lowest", "highest"]
    assert found["mean"][0] == pytest.approx(truth, abs=0.3)
    assert found["low"][0] < found["mean"][0] < found["high"][0]


def test_all_effects_of_a_linear_model_are_those_of_its_weights():
    rng = np.random.default_rng(11)
    names = ["p", "q", "r", "s"]
    weights = np.triu(rng.uniform(0.5, 1.5, size=(4, 4)) * (rng.random((4, 4)) < 0.8), k=1)  # [cause, effect]
    total = np.linalg.inv(np.eye(4) - weights)
    table = pd.DataFrame(rng.laplace(size=(3000, 4)) @ total, columns=names)
    scm = StructuralModel.fit(table, Dag(weights, names))
    for i, cause in enumerate(names):
        for j, outcome in enumerate(names):
            if i != j:
                found = scm.effect(cause, outcome, at=1.0, baseline=-1.0, n_bootstrap=2, random_state=0)
                assert found["mean"][0] / 2 == pytest.approx(total[i, j], abs=0.15)


def test_an_effect_without_noise_is_exact_whatever_the_seed():
    table = linear(100)[["a"]]
    scm = StructuralModel.fit(table.assign(b=2 * table["a"]), Dag.from_edges([("a", "b")]))
    found = scm.effect("a", "b", at=[0.5, 1.5], n_bootstrap=3, random_state=None)
    for column in ("mean", "low", "high"):
        np.testing.assert_allclose(found[column], [1.0, 3.0], atol=1e-6)


def test_what_does_not_follow_from_the_cause_is_constant_exactly(straight, joint):
    for scm, cause, outcome in ((straight, "c", "a"), (straight, "b", "a"), (joint, "a", "b"), (joint, "z", "y")):
        found = scm.effect(cause, outcome, n_bootstrap=4, random_state=0)
        assert len(found) == 10
        numbers = found[["mean", "low", "high"]].to_numpy()
        np.testing.assert_array_equal(numbers, np.tile(numbers[0], (10, 1)))
        assert numbers[0, 0] == pytest.approx(scm.table.values[:, scm.names.index(outcome)].mean(), abs=0.2)
        contrast = scm.effect(cause, outcome, baseline=0.0, n_bootstrap=2, random_state=0)
        assert (contrast[["mean", "low", "high"]] == 0).all(axis=None)


def test_an_interaction_is_averaged_over_the_other_cause(joint):
    found = joint.effect("a", "y", at=[-1.0, 0.0, 1.0], n_bootstrap=10, random_state=0)
    np.testing.assert_allclose(found["mean"], [-1.0, 0.0, 1.0], atol=0.15)  # a E[b], and E[b] = 1
    at_zero = joint.do({"b": 0.0}).effect("a", "y", at=[-1.0, 1.0], n_bootstrap=2, random_state=0)
    np.testing.assert_allclose(at_zero["mean"], 0.0, atol=0.15)  # the direct effect with b held at 0
    at_two = joint.do({"b": 2.0}).effect("a", "y", at=1.0, baseline=-1.0, n_bootstrap=2, random_state=0)
    assert at_two["mean"][0] == pytest.approx(4.0, abs=0.4)


def test_the_default_values_are_quantiles_of_the_cause(straight):
    found = straight.effect("a", "b", n_bootstrap=2, random_state=0)
    np.testing.assert_allclose(found["value"], np.quantile(linear(400)["a"], np.linspace(0.05, 0.95, 10)))
    table = linear(200).assign(a=np.tile([0.0, 1.0], 100))
    binary = StructuralModel.fit(table, TRIANGLE).effect("a", "b", n_bootstrap=2, random_state=0)
    assert binary["value"].tolist() == [0.0, 1.0]


def test_intervals_cover_about_as_often_as_they_say():
    covered = []
    for seed in range(30):
        scm = StructuralModel.fit(linear(60, [7, seed]), TRIANGLE)
        found = scm.effect("a", "c", at=1.0, baseline=0.0, n_bootstrap=40, level=0.8, n_samples=60, random_state=seed)
        covered.append(found["low"][0] < -5 < found["high"][0])
    assert 0.6 < np.mean(covered) < 0.97  # 0.8 plus or minus three standard errors of 30 trials


def test_a_higher_level_gives_a_wider_interval(straight):
    narrow, wide = (straight.effect("a", "c", 1.0, n_bootstrap=20, level=q, random_state=0) for q in (0.5, 0.95))
    assert wide["low"][0] < narrow["low"][0] < narrow["high"][0] < wide["high"][0]


# Samples


def test_samples_have_the_moments_of_the_data(straight):
    table, drawn = linear(400), straight.sample(20000, random_state=0)
    assert list(drawn.columns) == ["a", "b", "c"]
    np.testing.assert_allclose(drawn.mean(), table.mean(), atol=0.3)
    np.testing.assert_allclose(drawn.corr(), table.corr(), atol=0.05)
    np.testing.assert_allclose(drawn.std() / table.std(), 1.0, atol=0.08)


def test_samples_under_an_intervention_have_the_moments_of_the_truth(joint):
    drawn = joint.do({"a": 1.0}).sample(20000, random_state=0)  # y = b + noise
    assert (drawn["a"] == 1).all()
    assert drawn["y"].mean() == pytest.approx(1.0, abs=0.15)
    assert drawn["y"].var() == pytest.approx(1.25, abs=0.2)
    assert drawn["y"].corr(drawn["b"]) == pytest.approx(np.sqrt(1 / 1.25), abs=0.05)
    rng = np.random.default_rng(1)
    truth = np.sin(rng.normal(1, np.sqrt(1.25), size=20000)).mean()
    assert drawn["z"].mean() == pytest.approx(truth, abs=0.08)


def test_a_variable_without_parents_is_drawn_from_its_own_values_exactly(joint):
    table = product(1000)
    drawn = joint.sample(300, random_state=0)
    assert set(drawn["a"]) <= set(table["a"])
    assert set(drawn["b"]) <= set(table["b"])
    assert abs(drawn["a"].corr(drawn["b"])) < 0.2


def test_the_same_seed_gives_the_same_rows_and_the_same_noise_under_interventions(straight):
    first, again = straight.sample(50, random_state=3), straight.sample(50, random_state=3)
    pd.testing.assert_frame_equal(first, again)
    assert not first.equals(straight.sample(50, random_state=4))
    held = straight.do({"b": 0.0}).sample(50, random_state=3)
    pd.testing.assert_series_equal(held["a"], first["a"])
    effects = [straight.effect("a", "c", 1.0, n_bootstrap=3, random_state=2) for _ in range(2)]
    pd.testing.assert_frame_equal(*effects)


def test_noise_is_what_the_mechanisms_leave(straight):
    noise = straight.residuals
    np.testing.assert_allclose(noise.mean(), 0.0, atol=1e-12)
    np.testing.assert_allclose(noise[["b", "c"]].std(), 1.0, atol=0.15)


# Interventions


def test_a_value_cuts_the_edges_of_its_causes_and_a_rule_does_not(straight):
    assert straight.do({"b": 0.0}).graph.edges == [("a", "c"), ("b", "c")]
    rule = straight.do({"b": lambda b: np.minimum(b, 2.0)})
    assert rule.graph == TRIANGLE
    drawn, free = rule.sample(500, random_state=0), straight.sample(500, random_state=0)
    np.testing.assert_array_equal(drawn["b"], np.minimum(free["b"], 2.0))
    assert straight.interventions == {}


def test_several_variables_can_be_set_at_once_or_one_after_the_other(straight):
    both = straight.do({"a": 1.0, "b": np.linspace(0, 1, 20)}).sample(20, random_state=0)
    assert (both["a"] == 1).all()
    np.testing.assert_array_equal(both["b"], np.linspace(0, 1, 20))
    after = straight.do({"b": np.linspace(0, 1, 20)}).do({"a": 1.0}).sample(20, random_state=0)
    pd.testing.assert_frame_equal(both, after)


@pytest.mark.parametrize(
    ("given", "error", "told"),
    [
        ({"nobody": 1.0}, ValueError, "'nobody' is not a variable"),
        ({"a": np.nan}, ValueError, "'a' must be set to finite numbers. Got nan"),
        ({"a": [0.0, np.inf]}, ValueError, "'a' must be set to finite numbers. Got inf"),
        ({"a": "high"}, TypeError, "'a' must be set to numbers. Got 'high'"),
        ({"a": "5"}, TypeError, "'a' must be set to numbers. Got '5'"),
        ({"a": None}, TypeError, "'a' must be set to numbers. Got None"),
        ({"a": [[1.0], [1.0, 2.0]]}, TypeError, "'a' must be set to numbers"),
        ("a", TypeError, "Interventions must be given by name"),
        ({"a": [[1.0]]}, ValueError, "'a' must be set to a number or to a vector"),
        ({"a": []}, ValueError, "'a' must be set to a number or to a vector"),
        ({"a": [0.0, 1.0, 2.0]}, ValueError, "'a' must be set to one number, or to one .* per sample, 5 here. Got 3"),
        ({"b": lambda b: b[:2]}, ValueError, "'b' must be set to one number, or to one .* per sample, 5 here. Got 2"),
        ({"b": lambda b: b * np.nan}, ValueError, "'b' must be set to finite numbers"),
    ],
)
def test_a_wrong_intervention_is_refused_by_name(straight, given, error, told):
    with pytest.raises(error, match=told):
        straight.do(given).sample(5, random_state=0)


def test_a_variable_is_set_once(straight):
    with pytest.raises(ValueError, match="'a' is already under an intervention"):
        straight.do({"a": 1.0}).do({"a": 2.0})
    with pytest.raises(ValueError, match="'a' is already under an intervention"):
        straight.do({"a": 1.0}).effect("a", "b")


def test_leaving_the_data_gives_a_warning_that_names_the_variable(straight):
    rows = linear(5)
    for leave in (
        lambda: straight.do({"a": 100.0}),
        lambda: straight.do({"a": lambda a: a + 100}).sample(3, random_state=0),
        lambda: straight.effect("a", "b", at=100.0, n_bootstrap=2, random_state=0),
        lambda: straight.effect("a", "b", at=1.0, baseline=100.0, n_bootstrap=2, random_state=0),
        lambda: straight.counterfactual(rows, {"a": 100.0}),
    ):
        with pytest.warns(UserWarning, match="'a' is set to 10.*the data range only from"):
            leave()


def test_beyond_the_data_functions_continue_as_lines(straight):
    with pytest.warns(UserWarning, match="straight"):
        found = straight.effect("a", "c", at=[10.0, 20.0, 30.0], n_bootstrap=2, random_state=0)["mean"]
    assert found[2] - found[1] == pytest.approx(found[1] - found[0])


# Counterfactuals


@pytest.mark.parametrize("n", [1, 2, 7, 100])
def test_under_the_facts_nothing_changes_by_a_digit(joint, n):
    rows = product(n, 9)
    pd.testing.assert_frame_equal(joint.counterfactual(rows, {}), rows, check_exact=True)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", UserWarning)  # these rows are new and may lie outside the range of the data
        for names in (["a"], ["y"], ["a", "b", "y", "z"]):
            same = joint.counterfactual(rows, {name: rows[name].to_numpy() for name in names})
            pd.testing.assert_frame_equal(same, rows, check_exact=True)


def test_what_is_set_is_set_and_only_what_follows_changes(joint):
    rows = product(50, 9)
    changed = joint.counterfactual(rows, {"y": 0.25})
    assert (changed["y"] == 0.25).all()
    pd.testing.assert_frame_equal(changed[["a", "b"]], rows[["a", "b"]], check_exact=True)
    assert (changed["z"] != rows["z"]).all()


def test_counterfactuals_keep_the_noise_of_the_row(joint):
    rows = product(200, 9).clip(-1.5, 2.5)
    changed = joint.counterfactual(rows, {"a": rows["a"].to_numpy() / 2})
    truth = rows["y"] - rows["a"] * rows["b"] / 2  # y = a b + noise
    assert np.sqrt(np.mean((changed["y"] - truth) ** 2)) < 0.15
    assert np.sqrt(np.mean((rows["y"] - truth) ** 2)) > 0.5


def test_going_there_and_back_again_gives_the_row(joint):
    rows = product(30, 9).clip(-1.5, 2.5)
    there = joint.counterfactual(rows, {"a": 1.0})
    back = joint.counterfactual(there, {"a": rows["a"].to_numpy()})
    pd.testing.assert_frame_equal(back, rows, rtol=1e-9)


def test_a_rule_meets_the_value_that_the_row_would_have_had(straight):
    rows = linear(20, 9).clip(-1, 2)
    shifted = straight.counterfactual(rows, {"a": lambda a: a / 2})
    np.testing.assert_array_equal(shifted["a"], rows["a"] / 2)


def test_rows_keep_their_index_and_order_of_columns(straight):
    rows = linear(3, 9).set_axis(["u", "v", "w"])[["c", "a", "b"]]
    changed = straight.counterfactual(rows, {"a": 1.0})
    assert changed.index.tolist() == ["u", "v", "w"]
    assert changed.columns.tolist() == ["c", "a", "b"]


def test_rows_of_other_variables_are_refused(straight):
    with pytest.raises(ValueError, match=r"These are in only one of them: c\."):
        straight.counterfactual(linear(3)[["a", "b"]], {"a": 1.0})
    with pytest.raises(ValueError, match=r"These are in only one of them: d\."):
        straight.counterfactual(linear(3).assign(d=1.0), {"a": 1.0})
    with pytest.raises(ValueError, match="Missing values"):
        straight.counterfactual(linear(3).assign(a=np.nan), {"a": 1.0})
    with pytest.raises(ValueError, match="Name all interventions"):
        straight.do({"a": 1.0}).counterfactual(linear(3), {"b": 1.0})


# The model as a whole


def test_the_order_of_the_columns_does_not_matter(joint):
    turned = StructuralModel.fit(product(1000)[["b", "y", "z", "a"]], PRODUCT.reindex(["a", "z", "y", "b"]), PAIR)
    drawn, expected = turned.sample(40, random_state=1), joint.sample(40, random_state=1)
    assert drawn.columns.tolist() == ["b", "y", "z", "a"]
    pd.testing.assert_frame_equal(drawn[expected.columns.tolist()], expected, rtol=1e-9)
    found, same = (scm.effect("a", "z", at=1.0, n_bootstrap=3, random_state=0) for scm in (turned, joint))
    pd.testing.assert_frame_equal(found, same, rtol=1e-9)


def test_units_do_not_matter(straight):
    scaled = StructuralModel.fit(1000 * linear(400) + 7, TRIANGLE)
    found = scaled.effect("a", "c", at=1007.0, n_bootstrap=3, random_state=0).drop(columns="value")
    expected = straight.effect("a", "c", at=1.0, n_bootstrap=3, random_state=0).drop(columns="value")
    pd.testing.assert_frame_equal((found - 7) / 1000, expected, rtol=1e-5)


def test_constants_stay_constant_and_say_nothing():
    with pytest.warns(UserWarning, match="Constant columns"):
        scm = StructuralModel.fit(linear(100).assign(a=0.1), TRIANGLE)
    assert (scm.sample(20, random_state=0)["a"] == 0.1).all()
    with pytest.warns(UserWarning, match="range only from 0.1 to 0.1"):
        found = scm.effect("a", "c", at=[0.0, 1.0], n_bootstrap=2, random_state=0)
    assert found["mean"][0] == found["mean"][1]


def test_a_graph_without_edges_is_independent_noise():
    scm = StructuralModel.fit(linear(100), Dag(np.zeros((3, 3)), list("abc")))
    drawn = scm.sample(2000, random_state=0)
    assert set(drawn["c"]) <= set(linear(100)["c"])
    assert abs(drawn.corr().to_numpy() - np.eye(3)).max() < 0.1


def test_names_that_are_numbers_go_by_their_text():
    scm = StructuralModel.fit(linear(50).set_axis([0, 1, 2], axis=1), Dag.from_edges([("0", "1")], names=list("012")))
    assert (scm.do({0: 1.0}).sample(5, random_state=0)["0"] == 1).all()
    rows = linear(2).to_numpy().tolist()
    plain = StructuralModel.fit(linear(50).to_numpy(), Dag.from_edges([("x0", "x1")], names=["x0", "x1", "x2"]))
    assert plain.counterfactual(rows, {}).to_numpy().tolist() == rows


def test_wrong_pairs_names_and_settings_are_refused(straight):
    for pair in (("a", "a", "c"), ("a", "c", "b"), ("a", "b", "a")):
        with pytest.raises(ValueError, match="A pair must join two parents of its target"):
            StructuralModel.fit(linear(20), TRIANGLE, [pair])
    with pytest.raises(ValueError, match="same variables"):
        StructuralModel.fit(linear(20).rename(columns={"a": "d"}), TRIANGLE)
    with pytest.raises(ValueError, match="'nobody' is not a variable"):
        straight.effect("a", "nobody")
    with pytest.raises(ValueError, match="Got 'a' for both"):
        straight.effect("a", "a")
    for setting in ({"n_bootstrap": 1}, {"level": 0.0}, {"n_samples": 0}):
        with pytest.raises(ValueError, match=f"The '{next(iter(setting))}' parameter of effect"):
            straight.effect("a", "b", **setting)
    with pytest.raises(ValueError, match="The 'n' parameter of sample"):
        straight.sample(0)


def test_it_says_what_it_is(joint):
    assert repr(joint) == "StructuralModel: 4 variables, 3 edges, 1 pairs"
    assert repr(joint.do({"y": 1.0})) == "StructuralModel: 4 variables, 1 edges, 0 pairs, do(y)"


# From CausalDiscovery


def test_a_learnt_model_brings_its_pairs():
    table = product(800)
    model = CausalDiscovery(FixedOrder(["a", "b", "y", "z"]), SARTRE(random_state=0)).fit(table)
    assert model.scm_.pairs == (("a", "b", "y"),)
    assert model.scm_.graph == model.graph_
    assert model.scm_ is model.scm_
    held = model.scm_.do({"b": 2.0}).effect("a", "y", at=1.0, baseline=0.0, n_bootstrap=2, random_state=0)
    assert held["mean"][0] == pytest.approx(2.0, abs=0.3)


@pytest.mark.parametrize("pruner", [CAMPruning(), SARTRE(penalty=0.1, random_state=0)])
def test_any_orderer_and_any_pruner_will_do(pruner):
    model = CausalDiscovery(VarianceSort(), pruner).fit(linear(200))
    assert model.scm_.pairs == ()
    assert model.scm_.sample(3, random_state=0).columns.tolist() == ["a", "b", "c"]


def test_another_fit_gives_another_model_and_a_copy_keeps_or_forgets_it():
    model = CausalDiscovery(FixedOrder([0, 1, 2]), CAMPruning())
    assert not hasattr(model, "scm_")
    with pytest.raises(NotFittedError):
        _ = model.scm_
    first = model.fit(linear(100)).scm_
    kept = pickle.loads(pickle.dumps(model))  # noqa: S301 - our own
    pd.testing.assert_frame_equal(kept.scm_.sample(5, random_state=0), first.sample(5, random_state=0))
    assert not hasattr(clone(model), "scm_")
    assert model.fit(linear(100, 1)).scm_ is not first

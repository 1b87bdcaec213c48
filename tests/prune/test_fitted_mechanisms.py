"""Mechanisms: all statements about a variable's parents come from one fitted function."""

from __future__ import annotations

import json
import re

import numpy as np
import pandas as pd
import pytest
from scipy.stats import skew
from sklearn.base import BaseEstimator

from sartre import CausalDiscovery, Dag
from sartre.additive.mechanism import Curve, fit_mechanism
from sartre.data.checks import as_table
from sartre.evidence.diagnostics import diagnose
from sartre.order import FixedOrder
from sartre.prune import CAMPruning
from sartre.prune.mechanisms import fit_mechanisms, mechanisms_of, parent_columns
from sartre.report.mechanisms import Drawing

ORDER = ["mild", "able", "cold", "yield"]


def product_table(n=600, seed=0):
    """Return a table in which `able` and `mild` act jointly on `yield`, as does `cold` alone; effects come first."""
    rng = np.random.default_rng(seed)
    mild, able, cold, noise = rng.normal(size=(4, n))
    cold = cold + np.sin(2 * mild)
    outcome = mild * able + cold**2 / 3 + mild / 2 + rng.exponential(size=n) / 3
    return pd.DataFrame({"yield": outcome, "mild": mild, "cold": cold, "able": able, "lone": noise})


@pytest.fixture(scope="module")
def table():
    return product_table()


@pytest.fixture(scope="module")
def model(table):
    fitted = CausalDiscovery(FixedOrder(["lone", *ORDER]), random_state=0).fit(table)
    pairs = fitted.prune_step_.interactions_[["first", "second", "target"]].to_numpy().tolist()
    assert [sorted(pair[:2]) for pair in pairs if pair[2] == "yield"] == [["able", "mild"]]
    return fitted


def arguments(model, table, name):
    """Return the values of a variable's parents, sorted by name."""
    return table[sorted(model.graph_.parents(name))].to_numpy()


def data_of(page):
    return json.loads(re.search(r'<script[^>]*id="data"[^>]*>(.*?)</script>', page, re.DOTALL)[1])


# All uses of a mechanism agree


def test_the_structural_model_has_the_very_mechanisms_and_their_residuals(model, table):
    mechanisms = model.mechanisms()
    assert list(mechanisms) == list(table.columns)
    for name, mechanism in mechanisms.items():
        assert model.scm_.mechanisms[name] is mechanism
        residuals = mechanism.residuals(arguments(model, table, name), table[name].to_numpy())
        np.testing.assert_array_equal(model.scm_.residuals[name], residuals)


def test_the_report_draws_the_very_mechanisms(model, table):
    drawing = Drawing.of(model.graph_, as_table(table), mechanisms_of(model, as_table(table)))
    for j, name in enumerate(table.columns):
        mechanism, drawn = model.mechanisms()[name], drawing.mechanism(j)
        np.testing.assert_array_equal(drawn.residual, model.scm_.residuals[name])
        columns = parent_columns(model.graph_, name)
        assert [curve.parent for curve in drawn.curves] == sorted(columns)
        for curve in drawn.curves:
            expected = mechanism.curve(columns.index(curve.parent), curve.x)
            np.testing.assert_array_equal(curve.values, expected.values)
            np.testing.assert_array_equal(curve.std, expected.std)


def test_the_surface_of_a_pair_is_drawn_as_it_was_fitted_whichever_comes_first(model, table):
    drawing = Drawing.of(model.graph_, as_table(table), model.mechanisms())
    target, first, second = (list(table.columns).index(name) for name in ("yield", "able", "mild"))
    x, y, effect = drawing.surface(target, (first, second), 7)
    turned = drawing.surface(target, (second, first), 7)
    np.testing.assert_array_equal(turned[2], effect.T)
    at = np.column_stack([each.ravel() for each in np.meshgrid(x, y, indexing="ij")])
    mechanism = model.mechanisms()["yield"]  # parents: able, cold, mild
    expected = mechanism.surface((0, 2), at).reshape(7, 7) / table["yield"].std(ddof=0)
    np.testing.assert_allclose(effect, expected)
    slopes = np.polyfit((x[:, None] * y).ravel(), effect.ravel() * table["yield"].std(ddof=0), 1)
    assert slopes[0] == pytest.approx(1, abs=0.2)  # the true effect is the product


def test_the_diagnostics_describe_the_very_residuals(model, table):
    nodes = model.diagnostics_.nodes
    for name in table.columns:
        assert nodes.loc[name, "skewness"] == pytest.approx(skew(model.scm_.residuals[name]))
    assert nodes.loc["yield", "skewness"] > 0.5  # the exponential noise alone has 2; without the pair this is hidden
    again = diagnose(model, table).nodes
    pd.testing.assert_frame_equal(again, nodes)


def test_a_mechanism_is_the_sum_of_its_curves_and_surfaces(model, table):
    rng = np.random.default_rng(1)
    for name, mechanism in model.mechanisms().items():
        p = len(model.graph_.parents(name))
        X = 2 * rng.normal(size=(50, p))  # some values are beyond the data
        total = np.full(50, mechanism.intercept)
        for parent in range(p):
            total += mechanism.curve(parent, X[:, parent]).values
        for pair in mechanism.pairs:
            total += mechanism.surface(pair, X[:, pair])
        np.testing.assert_allclose(mechanism.predict(X), total, atol=1e-9)
        np.testing.assert_allclose(mechanism.residuals(X, total + 3.0), 3.0, atol=1e-9)
        assert mechanism.intercept == pytest.approx(table[name].mean())
    assert model.mechanisms()["yield"].pairs in {((0, 2),), ((2, 0),)}


def test_curves_surfaces_and_residuals_have_mean_zero_over_the_rows(model, table):
    for name, mechanism in model.mechanisms().items():
        X = arguments(model, table, name)
        means = [mechanism.curve(parent, X[:, parent]).values.mean() for parent in range(X.shape[1])]
        means += [mechanism.surface(pair, X[:, pair]).mean() for pair in mechanism.pairs]
        np.testing.assert_allclose(means, 0, atol=1e-6)
        assert mechanism.residuals(X, table[name].to_numpy()).mean() == pytest.approx(0, abs=1e-6)


def test_mechanisms_are_fitted_once_and_anew_with_every_fit(table):
    model = CausalDiscovery(FixedOrder(["lone", *ORDER]), CAMPruning()).fit(table)
    first = model.mechanisms()
    assert model.mechanisms()["yield"] is first["yield"]
    assert model.mechanisms(table)["yield"] is first["yield"]  # the same rows as in the fit
    assert mechanisms_of(model, as_table(table))["yield"] is first["yield"]
    scm = model.scm_
    model.fit(product_table(seed=1))
    assert model.mechanisms()["yield"] is not first["yield"]
    assert model.scm_ is not scm
    assert model.scm_.mechanisms["yield"] is model.mechanisms()["yield"]


def test_in_other_units_the_functions_are_those_of_the_rows_in_these_units(model, table):
    scale = pd.Series({"yield": 100.0, "mild": 0.1, "cold": -3.0, "able": 7.0, "lone": 1.0})
    shift = pd.Series({"yield": -5.0, "mild": 2.0, "cold": 0.0, "able": 100.0, "lone": 1.0})
    moved = table * scale + shift
    for name, mechanism in model.mechanisms(moved).items():
        fitted = mechanism.predict(arguments(model, moved, name))
        expected = model.mechanisms()[name].predict(arguments(model, table, name))
        np.testing.assert_allclose((fitted - shift[name]) / scale[name], expected, atol=1e-3 * table[name].std())


def test_rows_with_their_columns_in_another_order_give_the_same_functions(table):
    model = CausalDiscovery(FixedOrder(["lone", *ORDER]), CAMPruning()).fit(table)
    for name, mechanism in model.mechanisms(table[sorted(table.columns)]).items():
        X = arguments(model, table, name)
        np.testing.assert_allclose(mechanism.predict(X), model.mechanisms()[name].predict(X), atol=1e-6)


def test_the_order_of_the_columns_changes_no_mechanism(table):
    dag = Dag.from_edges([("mild", "yield"), ("able", "yield"), ("cold", "yield")], names=list(table.columns))
    pairs, new = [("mild", "able", "yield")], np.random.default_rng(0).normal(size=(20, 3))
    predicted = []
    for names in (list(table.columns), sorted(table.columns), sorted(table.columns, reverse=True)):
        found = fit_mechanisms(as_table(table[names]), dag.reindex(names), pairs)
        assert list(found) == names
        predicted.append(found["yield"].predict(new))
    np.testing.assert_allclose(predicted[1], predicted[0], atol=1e-8)
    np.testing.assert_allclose(predicted[2], predicted[0], atol=1e-8)


# A pruner's own mechanisms


class Doubled:
    """The function 2 x + 1 of one parent; refitting gives the least-squares line."""

    pairs = ()

    def __init__(self, slope=2.0, intercept=1.0):
        self.slope, self.intercept = slope, intercept

    def predict(self, X):
        return self.slope * X[:, 0] + self.intercept

    def residuals(self, X, y):
        return y - self.predict(X)

    def refit(self, X, y):
        return Doubled(*np.polyfit(X[:, 0], y, 1))

    def curve(self, parent, x):
        assert parent == 0
        return Curve(self.slope * x, np.full(len(x), 0.5))

    def surface(self, pair, x):
        raise NotImplementedError

    def loss_without(self, parent):
        raise NotImplementedError


class FirstCausesLast(BaseEstimator):
    """A pruner that keeps one edge and has its own mechanism for it."""

    def fit(self, X, order):
        table = as_table(X)
        self.adjacency_matrix_ = np.zeros((len(order), len(order)), dtype=np.uint8)
        self.adjacency_matrix_[order[0], order[-1]] = 1
        names = table.names[order[0]], table.names[order[-1]]
        self.edges_ = pd.DataFrame(
            [(*names, 0.5, np.nan, np.nan)], columns=["source", "target", "strength", "margin", "p_value"]
        )
        self.mechanisms_ = {names[1]: Doubled()}
        return self


def test_a_pruners_own_mechanism_is_what_everybody_uses(tmp_path):
    rng = np.random.default_rng(0)
    X = pd.DataFrame({"b": rng.normal(size=200), "y": 0.0, "a": rng.normal(size=200)})
    X["y"] = np.cosh(X["a"]) + rng.normal(size=200) / 3
    model = CausalDiscovery(FixedOrder(["a", "b", "y"]), FirstCausesLast()).fit(X)
    noise = (X["y"] - 2 * X["a"] - 1).to_numpy()
    assert model.mechanisms()["y"] is model.prune_step_.mechanisms_["y"]
    np.testing.assert_allclose(model.scm_.residuals["y"], noise)
    assert model.scm_.counterfactual(X[:1], do={"a": X["a"][0] + 1})["y"][0] == pytest.approx(X["y"][0] + 2)
    assert model.diagnostics_.nodes.loc["y", "skewness"] == pytest.approx(skew(noise))
    model.report(tmp_path / "report.html")
    content = data_of((tmp_path / "report.html").read_text(encoding="utf-8"))
    (edge,) = content["edges"]
    grid = np.linspace(edge["shape"]["low"], edge["shape"]["high"], len(edge["shape"]["values"]))
    np.testing.assert_allclose(edge["shape"]["values"], 2 * grid, atol=1e-3)
    assert set(edge["shape"]["std"]) == {0.5}
    np.testing.assert_allclose(content["residuals"]["1"], noise, atol=1e-3)
    assert model.mechanisms()["a"].predict(np.empty((1, 0)))[0] == pytest.approx(X["a"].mean())  # the others are fitted


def test_a_pruners_own_mechanism_is_fitted_again_to_other_units_and_to_bootstrap_samples():
    rng = np.random.default_rng(0)
    X = pd.DataFrame({"a": rng.normal(size=200), "y": 0.0})
    X["y"] = X["a"] ** 3 + rng.normal(size=200) / 3  # a line is far from it, and an additive mechanism is not
    model = CausalDiscovery(FixedOrder(["a", "y"]), FirstCausesLast()).fit(X)
    slope, intercept = np.polyfit(10 * X["a"], X["y"], 1)
    (again,) = (model.mechanisms(X.assign(a=10 * X["a"]))["y"],)
    assert isinstance(again, Doubled)
    np.testing.assert_allclose(again.predict(np.array([[3.0]])), [slope * 3 + intercept])
    found = model.scm_.effect("a", "y", at=1.0, baseline=0.0, n_bootstrap=50, random_state=0)
    assert found["low"][0] < 10 * slope < found["high"][0]
    assert found["high"][0] - found["low"][0] < 3  # lines through bootstrap samples, not cubes


def test_rows_that_are_not_those_of_the_fit_are_refused():
    X = pd.DataFrame(np.random.default_rng(0).normal(size=(100, 2)), columns=["a", "y"])
    model = CausalDiscovery(FixedOrder(["a", "y"]), CAMPruning()).fit(X)
    with pytest.raises(ValueError, match="must hold the 100 rows"):
        model.mechanisms(X[:50])
    with pytest.raises(ValueError, match=r"must have the columns a, y\. Got a, z"):
        model.mechanisms(X.rename(columns={"y": "z"}))


def test_mechanisms_that_are_known_are_not_fitted():
    X = as_table(np.random.default_rng(0).normal(size=(50, 3)))
    known = Doubled()
    found = fit_mechanisms(X, Dag.from_edges([("x0", "x2")], names=["x0", "x1", "x2"]), known={"x2": known})
    assert list(found) == ["x0", "x1", "x2"]
    assert found["x2"] is known


# Strength: the variance lost without a parent


def two_valued(n=500, seed=0):
    """Return three dependent columns of two values each, so that all functions of them are straight lines."""
    rng = np.random.default_rng(seed)
    common = rng.normal(size=(n, 1))
    X = (rng.normal(size=(n, 3)) + common > [0.0, 0.5, -0.5]).astype(float) * [1.0, 5.0, -0.1]
    return X, 3 + X @ [1.0, -0.3, 2.0] + rng.normal(size=n)


def unexplained(X, y):
    """Return the share of variance that least squares does not explain, both with their degrees of freedom."""
    design = np.column_stack([np.ones(len(y)), X])
    residual = y - design @ np.linalg.lstsq(design, y, rcond=None)[0]
    return (residual**2).sum() / (len(y) - design.shape[1]) / y.var(ddof=1)


@pytest.mark.parametrize("seed", range(3))
def test_the_loss_without_a_parent_is_that_of_least_squares_for_straight_lines(seed):
    X, y = two_valued(seed=seed)
    mechanism = fit_mechanism(X, y)
    for parent in range(3):
        lost = unexplained(np.delete(X, parent, axis=1), y) - unexplained(X, y)
        assert lost > 1e-4
        assert mechanism.loss_without(parent) == pytest.approx(lost, rel=1e-6)


def test_nothing_is_lost_without_a_copy_or_a_constant():
    X, y = two_valued()
    plain, mechanism = fit_mechanism(X, y), fit_mechanism(np.column_stack([X, X[:, 0], np.ones(len(X))]), y)
    assert mechanism.loss_without(0) < 1e-8
    assert mechanism.loss_without(3) < 1e-8
    assert mechanism.loss_without(4) == 0.0
    assert mechanism.loss_without(1) == pytest.approx(
        plain.loss_without(1), rel=0.02
    )  # with one degree of freedom more


def test_a_parent_that_acts_only_together_takes_the_pair_with_it():
    rng = np.random.default_rng(0)
    X = rng.normal(size=(500, 2))
    mechanism = fit_mechanism(X, X[:, 0] * X[:, 1] + rng.normal(size=500) / 10, [(0, 1)])
    assert mechanism.loss_without(0) > 0.9
    assert mechanism.loss_without(1) > 0.9


def test_the_loss_does_not_depend_on_units(model, table):
    scaled = model.mechanisms(table * 10.0 ** np.arange(-2, 3))["yield"]
    losses = [[mechanism.loss_without(k) for k in range(3)] for mechanism in (scaled, model.mechanisms()["yield"])]
    np.testing.assert_allclose(*losses, rtol=1e-3)


# Categories and missing values


def levels_with(n=300, seed=0, missing=0.0):
    rng = np.random.default_rng(seed)
    codes = rng.choice([0.0, 1.0, 2.0, 3.0], p=[0.5, 0.3, 0.15, 0.05], size=n)
    codes[rng.random(n) < missing] = np.nan
    y = np.array([0.0, 2.0, -1.0, 5.0, 3.0])[np.nan_to_num(codes, nan=4).astype(int)] + rng.normal(size=n)
    return codes, y


@pytest.mark.parametrize("missing", [0.0, 0.2])
def test_the_curve_of_a_category_is_its_levels_means(missing):
    codes, y = levels_with(missing=missing)
    mechanism = fit_mechanism(codes[:, None], y, nominal=[0])
    levels = [0.0, 1.0, 2.0, 3.0, *([np.nan] if missing else [])]
    groups = [y[np.isnan(codes) if np.isnan(level) else codes == level] for level in levels]
    within = sum(((group - group.mean()) ** 2).sum() for group in groups) / (len(y) - len(levels))
    curve = mechanism.curve(0, np.array(levels))
    np.testing.assert_allclose(curve.values, [group.mean() - y.mean() for group in groups], atol=1e-6)
    np.testing.assert_allclose(curve.std**2, [within * (1 / len(group) - 1 / len(y)) for group in groups], rtol=1e-6)
    np.testing.assert_allclose(mechanism.predict(np.array(levels)[:, None]), [group.mean() for group in groups])
    assert mechanism.loss_without(0) == pytest.approx(1 - within / y.var(ddof=1))


def test_levels_and_missing_values_are_predicted_wherever_they_are():
    rng = np.random.default_rng(0)
    codes, y = levels_with(missing=0.1)
    X = np.column_stack([codes, rng.normal(size=300), rng.normal(size=300)])
    y += X[:, 1] ** 2 + X[:, 1] * (codes == 1)
    X[rng.random(300) < 0.2, 1] = np.nan
    mechanism = fit_mechanism(X, y, pairs=[(0, 1), (1, 2)], nominal=[0])
    assert len(mechanism.pairs) == 2
    new = np.array([[np.nan, np.nan, np.nan], [9.0, 0.0, 0.0], [1.0, 1e6, -1e6], [0.0, np.nan, 1.0]])
    assert np.isfinite(mechanism.predict(X)).all()
    assert np.isfinite(mechanism.predict(new)).all()
    for parent in range(3):
        curve = mechanism.curve(parent, new[:, parent])
        assert np.isfinite(curve.values).all()
        assert np.isfinite(curve.std).all()
    assert mechanism.residuals(X, y).var() < 0.5 * y.var()


def test_rows_without_the_target_take_no_part():
    rng = np.random.default_rng(0)
    X = pd.DataFrame({"a": rng.normal(size=300), "y": 0.0})
    X["y"] = np.sin(X["a"]) + rng.normal(size=300) / 3
    X.loc[::3, "y"] = np.nan
    dag = Dag.from_edges([("a", "y")])
    holes = fit_mechanisms(as_table(X, missing=True), dag)["y"]
    without = fit_mechanisms(as_table(X.dropna()), dag)["y"]
    grid = np.linspace(-3, 3, 20)
    np.testing.assert_allclose(holes.predict(grid[:, None]), without.predict(grid[:, None]))


def test_diagnostics_and_report_agree_on_tables_with_categories_and_missing_values():
    rng = np.random.default_rng(0)
    codes, y = levels_with(n=400)
    X = pd.DataFrame({"y": y, "kind": np.array(list("pqrs"))[codes.astype(int)], "x": rng.normal(size=400)})
    X["y"] += X["x"] ** 2
    X.loc[::10, "x"] = np.nan
    X.loc[5::20, "y"] = np.nan
    model = CausalDiscovery(FixedOrder(["kind", "x", "y"]), random_state=0, missing="bin").fit(X)
    assert model.graph_.parents("y") == ["kind", "x"]
    read = as_table(X, categories=True, missing=True)
    drawn = Drawing.of(model.graph_, read, mechanisms_of(model, read)).mechanism(0)
    observed = X["y"].notna().to_numpy()
    assert np.isfinite(drawn.residual).all()
    assert model.diagnostics_.nodes.loc["y", "skewness"] == pytest.approx(skew(drawn.residual[observed]))


# Memory of a mechanism


def arrays_in(item, seen):
    """Yield all arrays that an object holds, at any depth."""
    if id(item) in seen:
        return
    seen.add(id(item))
    if isinstance(item, np.ndarray):
        yield item
        if item.base is not None:
            yield from arrays_in(item.base, seen)
    elif isinstance(item, dict):
        for value in item.values():
            yield from arrays_in(value, seen)
    elif isinstance(item, (tuple, list, set, frozenset)):
        for value in item:
            yield from arrays_in(value, seen)
    elif hasattr(item, "__dict__"):
        yield from arrays_in(vars(item), seen)


@pytest.mark.parametrize(
    ("pairs", "nominal"),
    [
        ([], []),
        ([], [2]),
        ([(0, 1)], []),
    ],
    ids=["lines", "levels", "pair"],
)
def test_a_mechanism_keeps_no_array_with_as_many_entries_as_rows(pairs, nominal):
    n = 4000
    rng = np.random.default_rng(0)
    X = np.column_stack([rng.normal(size=(n, 2)), rng.integers(0, 3, size=n)])
    y = X[:, 0] * X[:, 1] + np.sin(X[:, 0]) + rng.normal(size=n)
    mechanism = fit_mechanism(X, y, pairs, nominal)
    mechanism.predict(X)
    mechanism.loss_without(0)
    arrays = list(arrays_in(mechanism, set()))
    assert len(arrays) > 5
    assert max(array.size for array in arrays) < n

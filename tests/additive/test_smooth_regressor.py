"""AdditiveRegressor: smooths that can be inspected, with valid standard errors."""

from __future__ import annotations

import numpy as np
import pandas as pd
import pytest
from sklearn.utils.estimator_checks import estimator_checks_generator

from sartre.additive import AdditiveRegressor
from sartre.prune import CAMPruning

CHECKS = list(estimator_checks_generator(AdditiveRegressor()))


@pytest.fixture(scope="module")
def data():
    rng = np.random.default_rng(0)
    X = pd.DataFrame(rng.uniform(-2, 2, size=(500, 4)), columns=list("abcd"))
    return X, 3 + 2 * np.sin(2 * X["b"]) + X["d"] + rng.normal(size=500)


@pytest.mark.parametrize(("estimator", "check"), CHECKS, ids=[str(check.func.__name__) for _, check in CHECKS])
@pytest.mark.filterwarnings("default")
def test_scikit_learns_own_checks_pass(estimator, check):
    check(estimator)


def test_it_is_the_model_of_cam_pruning(data):
    X, y = data
    model = AdditiveRegressor().fit(X, y)
    pruner = CAMPruning().fit(X.assign(y=y), [*X.columns, "y"])
    np.testing.assert_allclose(model.p_values_, pruner.p_values_[:4, 4], rtol=1e-6)
    table = model.summary()
    assert table.index.tolist() == list("abcd")
    assert list(table.columns) == ["edf", "ref_df", "F", "p_value", "strength"]
    kept = pruner.edges_.query("target == 'y'").set_index("source")["strength"]
    np.testing.assert_allclose(table["strength"][kept.index], kept, atol=5e-3)  # the pruner refits what it keeps
    assert table["strength"].between(0, 1).all()


def test_a_prediction_is_the_intercept_plus_the_functions_up_to_the_bins(data):
    X, y = data
    model = AdditiveRegressor().fit(X, y)
    parts = [model.shape_function(name, X[name].to_numpy()).values for name in X.columns]
    np.testing.assert_allclose(model.predict(X), y.mean() + sum(parts))
    assert model.score(X, y) > 0.7
    assert model.scale_ == pytest.approx(1.0, abs=0.15)


def test_bands_cover_the_truth_about_as_often_as_they_say():
    covered = []
    for seed in range(40):
        rng = np.random.default_rng([3, seed])
        x = rng.uniform(-2, 2, size=400)
        other = rng.normal(size=400)
        y = np.sin(2 * x) + other + rng.normal(size=400)
        smooth = AdditiveRegressor().fit(np.column_stack([x, other]), y).shape_function(0, x, return_std=True)
        truth = np.sin(2 * x) - np.sin(2 * x).mean()
        covered.append(np.mean(np.abs(smooth.values - truth) < 1.96 * smooth.std))
    assert 0.9 < np.mean(covered) < 0.99


def test_functions_go_on_straight_beyond_the_data(data):
    smooth = AdditiveRegressor().fit(*data).shape_function("b", np.array([10.0, 20.0, 30.0]), return_std=True)
    assert smooth.values[2] - smooth.values[1] == pytest.approx(smooth.values[1] - smooth.values[0])
    assert (np.diff(smooth.std) > 0).all()


def test_standard_errors_come_only_when_asked_for(data):
    model = AdditiveRegressor().fit(*data)
    assert model.shape_function(0).std is None
    assert (model.shape_function(0, return_std=True).std > 0).all()


def test_constant_and_copied_features_are_left_out(data):
    X, y = data
    model = AdditiveRegressor().fit(X.assign(flat=1.0, copy=X["b"]), y)
    assert model.edf_[4:].tolist() == [0.0, 0.0]
    assert np.isnan(model.p_values_[4:]).all()
    assert model.shape_function("flat").values.tolist() == [0.0]
    assert not model.shape_function("copy").values.any()


def test_more_features_than_samples_work():
    rng = np.random.default_rng(0)
    X = rng.normal(size=(60, 200))
    model = AdditiveRegressor().fit(X, 3 * X[:, 5] + rng.normal(size=60) / 4)
    assert model.p_values_[5] < 1e-6
    assert (model.edf_ > 0).sum() == 15


def test_nothing_but_constant_features_gives_the_mean():
    y = np.arange(50.0)
    model = AdditiveRegressor().fit(np.full((50, 2), 0.1), y)
    assert model.predict(np.full((3, 2), 0.1)).tolist() == [y.mean()] * 3
    assert model.summary()["edf"].tolist() == [0.0, 0.0]


def test_two_samples_give_no_p_value():
    assert np.isnan(AdditiveRegressor().fit([[0.0], [1.0]], [0.0, 1.0]).p_values_).all()


@pytest.mark.parametrize("unit", [1e-200, 1e200])
def test_extreme_units_of_features_change_nothing(data, unit):
    X, y = data
    np.testing.assert_allclose(
        AdditiveRegressor().fit(X * unit, y).p_values_, AdditiveRegressor().fit(X, y).p_values_, rtol=1e-4
    )

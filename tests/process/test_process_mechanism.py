import numpy as np
import pytest

from sartre.process.mechanism import fit_process


def product_of_three(n=400, seed=0, noise=0.3):
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(n, 3)) * [1.0, 10.0, 0.1] + [0.0, 100.0, 5.0]
    Z = (X - [0.0, 100.0, 5.0]) / [1.0, 10.0, 0.1]
    return X, 50 + 7 * np.tanh(2 * Z[:, 0]) * np.tanh(2 * Z[:, 1]) * np.tanh(2 * Z[:, 2]) + noise * rng.normal(size=n)


def test_predicts_new_rows_in_raw_units():
    X, y = product_of_three()
    other, truth = product_of_three(seed=1, noise=0.0)
    error = fit_process(X, y).predict(other) - truth
    assert np.mean(error**2) < 0.15 * truth.var()


def test_residuals_at_its_own_rows_are_those_of_rows_left_out():
    X, y = product_of_three()
    mechanism = fit_process(X, y)
    residual = mechanism.residuals(X, y)
    np.testing.assert_allclose(np.sort(residual), np.sort(mechanism.left_out))
    np.testing.assert_array_equal(mechanism.residuals(mechanism.X, mechanism.y), mechanism.left_out)
    assert residual.std() > 1.2 * (y - mechanism.predict(X)).std()
    other, value = product_of_three(seed=1)
    np.testing.assert_allclose(mechanism.residuals(other, value), value - mechanism.predict(other))


def test_losses_pairs_and_units():
    X, y = product_of_three()
    X = np.column_stack([X, np.random.default_rng(5).normal(size=len(X))])
    mechanism = fit_process(X, y)
    losses = [mechanism.loss_without(j) for j in range(4)]
    assert min(losses[:3]) > 0.3
    assert losses[3] < 0.05
    assert 3 not in mechanism.pairs[0]
    scaled = mechanism.refit(X, 1000 * y)
    np.testing.assert_allclose(scaled.predict(X) / 1000, mechanism.predict(X), rtol=2e-3)


def test_curve_and_surface_are_sections_at_the_medians():
    X, y = product_of_three()
    mechanism = fit_process(X, y)
    x = np.linspace(-1, 1, 7)
    curve = mechanism.curve(0, x)
    middle = np.median(X, axis=0)
    at = np.tile(middle, (7, 1))
    at[:, 0] = x
    difference = mechanism.predict(at) - curve.values
    np.testing.assert_allclose(difference, difference[0])
    assert (curve.std > 0).all()
    assert (curve.std < y.std()).all()
    pairs = np.column_stack([x, np.full(7, middle[1])])
    np.testing.assert_allclose(mechanism.surface((0, 1), pairs), 0.0, atol=1e-8)


def test_standard_errors_grow_away_from_the_data():
    X, y = product_of_three()
    std = fit_process(X, y).curve(0, np.array([0.0, 3.0])).std
    assert std[1] > std[0]


def test_categories_and_missing_values():
    rng = np.random.default_rng(0)
    n = 500
    group, x = rng.integers(0, 3, n).astype(float), rng.normal(size=n)
    y = np.where(group == 1, 1.0, -1.0) * np.sin(2 * x) + rng.normal(size=n) / 5
    x[rng.random(n) < 0.1] = np.nan
    mechanism = fit_process(np.column_stack([group, x]), y, nominal=[0])
    low, high = mechanism.predict(np.array([[0.0, 0.8], [1.0, 0.8]]))
    assert low < -0.7
    assert high > 0.7
    assert np.isfinite(mechanism.predict(np.array([[2.0, np.nan], [7.0, 0.0]]))).all()
    assert np.isfinite(mechanism.curve(0, np.array([0.0, 1.0, 2.0])).values).all()


@pytest.mark.parametrize("X", [np.zeros((50, 2)), np.column_stack([np.arange(50.0), np.zeros(50)])])
def test_constants_do_no_harm(X):
    y = np.random.default_rng(0).normal(size=50)
    for target in (y, np.ones(50)):
        mechanism = fit_process(X, target)
        assert np.isfinite(mechanism.predict(X)).all()
        assert np.isfinite(mechanism.residuals(X, target)).all()


def test_many_rows_are_sampled():
    X, y = product_of_three(2500)
    mechanism = fit_process(X, y)
    assert len(mechanism.y) == 2000
    residual = mechanism.residuals(X, y)
    assert residual.shape == (2500,)
    assert residual.std() < 0.2 * y.std()


def test_repeated_rows_are_not_taken_for_a_function_without_noise():
    X, y = product_of_three()
    rows = np.random.default_rng(3).integers(len(y), size=len(y))
    mechanism = fit_process(X, y)
    again = mechanism.refit(X[rows], y[rows])
    assert again.counts.sum() == len(y)
    assert again.weights is mechanism.weights
    left = np.setdiff1d(np.arange(len(y)), rows)
    assert again.residuals(X[left], y[left]).std() < 1.5 * mechanism.left_out.std()
    fresh = fit_process(X[rows], y[rows])
    assert fresh.weights.noise > mechanism.weights.noise / 4

"""Mechanisms are fits that can be evaluated at new values, including pairs."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from sartre.additive import AdditiveRegressor
from sartre.additive.mechanism import fit_mechanism


def normal(n, p, seed=0):
    return np.random.default_rng(seed).normal(size=(n, p))


def test_without_pairs_it_predicts_what_the_additive_regressor_does():
    X = normal(400, 3)
    y = 5 + np.sin(2 * X[:, 0]) + X[:, 1] + normal(400, 1, 1)[:, 0] / 2
    new = normal(50, 3, 2)
    np.testing.assert_allclose(fit_mechanism(X, y).predict(new), AdditiveRegressor().fit(X, y).predict(new), atol=1e-6)


def test_a_linear_function_is_found_exactly_and_goes_on_beyond_the_data():
    X = normal(100, 2)
    mechanism = fit_mechanism(X, 7 - 2 * X[:, 0] + 0.5 * X[:, 1])
    far = 100 * normal(20, 2, 1)
    np.testing.assert_allclose(mechanism.predict(far), 7 - 2 * far[:, 0] + 0.5 * far[:, 1], rtol=1e-6)


def test_a_product_is_found_exactly_within_the_data():
    X = normal(300, 2)
    mechanism = fit_mechanism(X, 1 + 3 * X[:, 0] * X[:, 1], pairs=[(0, 1)])
    inside = np.clip(normal(50, 2, 1), X.min(axis=0), X.max(axis=0))
    np.testing.assert_allclose(mechanism.predict(inside), 1 + 3 * inside[:, 0] * inside[:, 1], atol=1e-5)


@pytest.mark.parametrize(
    "joint", [lambda a, b: np.sin(2 * a) * b, lambda a, b: 2 * np.tanh(a) * np.tanh(b), lambda a, b: np.sin(a + b)]
)
def test_other_interactions_are_mostly_found_and_not_at_all_without_the_pair(joint):
    X, new = normal(800, 2), normal(2000, 2, 1)
    y = joint(*X.T) + normal(800, 1, 2)[:, 0] / 2
    truth = joint(*new.T)

    def missed(pairs):
        return np.mean((fit_mechanism(X, y, pairs).predict(new) - truth) ** 2) / truth.var()

    assert missed([(0, 1)]) < 0.15
    assert missed([]) > 2 * missed([(0, 1)])


def test_a_pair_stays_at_its_border_beyond_the_data():
    X = normal(300, 2)
    y = X[:, 0] * X[:, 1]
    mechanism = fit_mechanism(X, y, pairs=[(0, 1)])
    pair = next(term for term in mechanism.terms if term.columns == (0, 1))
    border, beyond = X.max(axis=0, keepdims=True), 10 * X.max(axis=0, keepdims=True)
    np.testing.assert_array_equal(pair.functions(border), pair.functions(beyond))


def test_the_mean_of_the_predictions_is_that_of_the_target():
    X = normal(2000, 2)
    y = np.exp(X[:, 0]) + X[:, 0] * X[:, 1] + 100
    assert fit_mechanism(X, y, [(0, 1)]).predict(X).mean() == pytest.approx(y.mean(), rel=1e-12)


def test_units_and_the_order_of_the_columns_do_not_matter():
    X = normal(300, 2)
    y = np.sin(X[:, 0]) + X[:, 0] * X[:, 1] + normal(300, 1, 1)[:, 0] / 2
    expected = fit_mechanism(X, y, [(0, 1)]).predict(X)
    rescaled = fit_mechanism(1000 * X + 5, 1e-3 * y - 2, [(0, 1)]).predict(1000 * X + 5)
    np.testing.assert_allclose((rescaled + 2) / 1e-3, expected, atol=1e-4)
    turned = fit_mechanism(X[:, ::-1], y, [(1, 0)]).predict(X[:, ::-1])
    np.testing.assert_allclose(turned, expected, atol=1e-6)


def test_without_columns_or_without_variation_it_is_the_mean():
    y = np.array([1.0, 2.0, 6.0])
    assert fit_mechanism(np.empty((3, 0)), y).predict(np.empty((4, 0))).tolist() == [3.0] * 4
    assert fit_mechanism(np.ones((3, 1)), y).predict(np.array([[8.0]])).tolist() == [3.0]
    assert fit_mechanism(np.ones((3, 2)), y, [(0, 1)]).predict(np.array([[8.0, 1.0]])).tolist() == [3.0]
    assert fit_mechanism(y[:, None], np.full(3, 0.1)).predict(y[:, None]) == pytest.approx(0.1, abs=1e-15)


def test_copies_share_their_effect():
    x = normal(200, 1)
    mechanism = fit_mechanism(np.hstack([x, x]), x[:, 0])
    np.testing.assert_allclose(mechanism.predict(np.array([[1.0, 1.0], [1.0, 0.0]])), [1.0, 0.5], atol=1e-3)


def test_groups_of_two_binary_columns_have_a_mean_of_their_own():
    X = (normal(400, 2) > 0).astype(float)
    y = 3 * X[:, 0] * X[:, 1] - X[:, 0]
    cells = np.array([[0.0, 0.0], [0.0, 1.0], [1.0, 0.0], [1.0, 1.0]])
    np.testing.assert_allclose(fit_mechanism(X, y, [(0, 1)]).predict(cells), [0.0, 0.0, -1.0, 2.0], atol=1e-3)


@settings(max_examples=25, deadline=None)
@given(st.integers(3, 60), st.integers(1, 20), st.integers(1, 5), st.integers(0, 10**6))
def test_predictions_are_finite_for_few_rows_many_columns_and_ties(n, p, levels, seed):
    rng = np.random.default_rng(seed)
    X, y = rng.integers(levels, size=(n, p)).astype(float), rng.integers(levels, size=n).astype(float)
    pairs = [(0, p - 1)] if p > 1 else []
    mechanism = fit_mechanism(X, y, pairs)
    assert np.isfinite(mechanism.predict(rng.normal(size=(5, p)))).all()

"""CaPS: the curvature of a Gaussian is known, and so is its change when a leaf is removed."""

from __future__ import annotations

import numpy as np
import pytest

from sartre.order import CaPS, parent_score


def linear_gaussian(n, seed=0):
    """Return the chain x0 -> x1 -> x2 with weights 1, unit noise, and its precision matrix."""
    e = np.random.default_rng(seed).normal(size=(n, 3))
    precision = np.array([[2.0, -1, 0], [-1, 2, -1], [0, -1, 1]])
    return np.cumsum(e, axis=1), precision


def test_the_criterion_of_a_gaussian_is_the_diagonal_of_its_precision():
    X, precision = linear_gaussian(2000)
    criterion = CaPS(eta=0.01).fit(X).scores_[-1]
    # A kernel estimate is too flat in the tails: all values are smaller than the truth, by similar factors.
    factor = criterion / np.diag(precision)
    assert np.all((factor > 0.5) & (factor < 1.1))
    assert factor.max() / factor.min() < 1.25


def test_a_linear_gaussian_chain_is_ordered_where_nothing_is_nonlinear():
    for seed in range(5):
        X, _ = linear_gaussian(400, seed)
        assert CaPS().fit(X).order_.tolist() == [0, 1, 2]


def test_the_parent_score_of_a_leaf_is_the_strength_of_its_edges():
    rng = np.random.default_rng(0)
    x = rng.normal(size=(2000, 3))
    x[:, 2] += 1.5 * x[:, 0]
    P = parent_score(x, eta=0.01)
    # Without x2, the expected curvature of x0 falls from 1 + 1.5^2 to 1, and that of x1 remains 1.
    assert P[0, 2] == pytest.approx(1.5**2, rel=0.25)
    assert P[1, 2] < 0.15
    np.testing.assert_array_equal(np.diag(P), 0)


def test_the_parent_score_goes_with_its_columns_and_its_units():
    X = np.random.default_rng(0).normal(size=(60, 4)) @ np.triu(np.ones((4, 4)))
    moved = [2, 0, 3, 1]
    np.testing.assert_allclose(parent_score(X[:, moved]), parent_score(X)[np.ix_(moved, moved)], rtol=1e-6)
    np.testing.assert_allclose(parent_score(10 * X, eta=1e-4) * 100, parent_score(X, eta=1e-3), rtol=1e-6)


@pytest.mark.filterwarnings("ignore:Constant columns")
def test_a_constant_column_has_no_parent_score():
    X = np.column_stack([np.random.default_rng(0).normal(size=(60, 2)), np.ones(60)])
    P = parent_score(X)
    assert not P[2].any()
    assert not P[:, 2].any()
    assert P[0, 1] > 0
    assert not parent_score(np.ones((20, 2))).any()


@pytest.mark.parametrize("what", [CaPS(eta=0.0).fit, lambda X: parent_score(X, eta=0.0)])
def test_a_wrong_ridge_is_refused(what):
    with pytest.raises(ValueError, match=r"The 'eta' parameter of \w+ must be a float in the range \(0.0, inf\)"):
        what(np.random.default_rng(0).normal(size=(20, 2)))

"""The Stein estimator: stored values, the tensor form, and closed forms."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

from sartre.stein.estimator import Stein, _square_distances

REFERENCE = Path(__file__).parents[1] / "reference"


def stored(name):
    return np.loadtxt(REFERENCE / f"stein_d5_n200_{name}.csv", delimiter=",", skiprows=1)


def test_the_stored_diagonal_and_column_are_met():
    estimate = Stein(stored("data"), eta=0.001)
    diagonal, column = stored("hessian_diagonal"), stored("hessian_column_last")
    np.testing.assert_allclose(estimate.hessian_diagonal(), diagonal, rtol=1e-6, atol=1e-6 * np.abs(diagonal).max())
    np.testing.assert_allclose(estimate.hessian_column(4), column, rtol=1e-6, atol=1e-6 * np.abs(column).max())


def tensor_form(X, eta):
    """Return the score and the full Hessian directly from the published formulas, with an n x n x d tensor."""
    n, d = X.shape
    diff = X[:, None, :] - X[None, :, :]
    distances = np.linalg.norm(diff, axis=2)
    h = np.sort(distances.ravel())[(n * n - 1) // 2]
    K = np.exp(-(distances**2) / (2 * h**2)) / h
    inverse = np.linalg.inv(K + eta * np.eye(n))
    score = inverse @ (-np.einsum("kij,ki->kj", diff, K) / h**2)
    hessian = np.empty((n, d, d))
    for c in range(d):
        products = np.einsum("ik,ikj->ij", K * diff[:, :, c], diff) / h**4
        products[:, c] -= K.sum(axis=1) / h**2
        hessian[:, c] = inverse @ products - score[:, [c]] * score
    return score, hessian


@pytest.mark.parametrize("d", [1, 2, 6])
def test_matrix_form_equals_tensor_form(d):
    X = np.random.default_rng(d).normal(size=(80, d)) ** 3
    score, hessian = tensor_form(X, 0.01)
    estimate = Stein(X, eta=0.01)
    np.testing.assert_allclose(estimate.score(), score, rtol=1e-7, atol=1e-8)
    np.testing.assert_allclose(estimate.hessian_diagonal(), np.einsum("ijj->ij", hessian), rtol=1e-7, atol=1e-7)
    for c in range(d):
        np.testing.assert_allclose(estimate.hessian_column(c), hessian[:, c], rtol=1e-7, atol=1e-7)


def test_offsets_are_centred_away():
    X = np.random.default_rng(0).normal(size=(150, 4))
    plain, far = Stein(X, 0.001), Stein(X + np.array([0, 1e6, -1e8, 3]), 0.001)
    np.testing.assert_allclose(far.hessian_diagonal(), plain.hessian_diagonal(), rtol=1e-4, atol=1e-4)


def test_a_linear_gaussian_pair_has_its_closed_form_score_and_hessian():
    rng = np.random.default_rng(0)
    x = rng.normal(size=1500)
    X = np.column_stack([x, 0.7 * x + rng.normal(size=1500)])
    precision = np.array([[1 + 0.7**2, -0.7], [-0.7, 1.0]])
    estimate = Stein(X, eta=0.01)
    inner = np.abs(X).max(axis=1) < 1.5  # a kernel estimate is biased in the tails
    error = (estimate.score() + X @ precision)[inner]
    assert np.sqrt(np.mean(error**2)) < 0.2  # the score has standard deviation 1.1
    np.testing.assert_allclose(np.median(estimate.hessian_diagonal()[inner], axis=0), -np.diag(precision), atol=0.2)
    np.testing.assert_allclose(np.median(estimate.hessian_column(1)[inner], axis=0), -precision[1], atol=0.2)


def test_discrete_columns_have_a_width():
    X = np.random.default_rng(0).integers(0, 2, size=(60, 1)).astype(float)
    X[:40] = 0.0  # more than half of all distances are zero
    assert np.isfinite(Stein(X, 0.001).hessian_diagonal()).all()


@pytest.mark.parametrize("unit", [1e-12, 1e12])
def test_extreme_units_stay_finite(unit):
    X = unit * np.random.default_rng(0).normal(size=(100, 3))
    assert np.isfinite(Stein(X, 0.001).hessian_diagonal()).all()


def test_rare_huge_values_do_not_change_the_width():
    rng = np.random.default_rng(0)
    X = rng.normal(size=(300, 3))
    X[:, 2] = np.where(rng.random(300) < 0.05, 1e7 * (1 + rng.random(300)), 0.0)
    distances = np.linalg.norm(X[:, None] - X[None], axis=2)
    assert Stein(X, 0.001)._h == pytest.approx(np.sort(distances.ravel())[(300 * 300 - 1) // 2], rel=1e-4)


@pytest.mark.parametrize("unit", [1e-140, 1e-75, 1e80, 1e140])
def test_only_the_unit_of_the_ridge_depends_on_the_unit(unit):
    X = np.random.default_rng(0).normal(size=(80, 3))
    plain, scaled = Stein(X, 0.001), Stein(X * unit, 0.001 / unit)
    np.testing.assert_allclose(scaled.hessian_diagonal() * unit * unit, plain.hessian_diagonal(), rtol=1e-6)
    np.testing.assert_allclose(scaled.score() * unit, plain.score(), rtol=1e-6)


def test_the_fast_form_is_close_and_falls_back_to_double_precision():
    X = np.random.default_rng(0).normal(size=(1200, 8))
    exact, fast = Stein(X, 0.001), Stein(X, 0.001, fast=True)
    assert fast._kernel.dtype == np.float32
    assert fast._h == pytest.approx(exact._h, rel=0.02)
    error = fast.hessian_diagonal() - exact.hessian_diagonal()
    assert np.sqrt(np.mean(error**2)) < 0.1 * exact.hessian_diagonal().std()
    outlier = X.copy()
    outlier[0, 0] = 1e6
    for awkward in (outlier, 1e-6 * X, 1e9 * X, np.repeat(X[:3], 400, axis=0) * 1.0):
        assert np.isfinite(Stein(awkward, 0.001, fast=True).hessian_diagonal()).all()
    assert Stein(outlier, 0.001, fast=True)._kernel.dtype == np.float64


def test_rows_that_are_mostly_equal_have_a_width_in_the_fast_form():
    X = np.zeros((2000, 1))
    X[1::4, 0] = np.random.default_rng(0).normal(size=500)  # every fourth row from the first is the same
    assert Stein(X, 0.001, fast=True)._h == Stein(X, 0.001)._h > 0


@pytest.mark.parametrize("seed", range(5))
@pytest.mark.parametrize("code", [1e6, 99999999.0, 1e12])
def test_rare_flags_and_a_code_for_missing_have_an_estimate(seed, code):
    rng = np.random.default_rng(seed)
    X = np.column_stack([rng.random((200, 4)) < 0.03, rng.normal(size=200)]).astype(float)
    X[rng.integers(200), 4] = code
    X = (X - X.mean(axis=0)) / X.std(axis=0)
    for fast in (False, True):
        assert np.isfinite(Stein(X, 0.001, fast=fast).hessian_diagonal()).all()


def test_distances_keep_their_digits_beside_a_value_far_out():
    X = np.random.default_rng(0).normal(size=(60, 2))
    X[0] = 1e9
    inside = X[1:] - np.median(X, axis=0)
    expected = ((inside[:, None] - inside[None]) ** 2).sum(axis=2)
    np.testing.assert_allclose(_square_distances(X - np.median(X, axis=0))[1:, 1:], expected, rtol=1e-9)

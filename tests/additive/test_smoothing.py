"""REML in Gram form reaches the optimum of the full likelihood, and Wood's test is calibrated."""

from __future__ import annotations

import numpy as np
import pytest
from scipy.optimize import minimize

from sartre.additive.bases.splines import spline
from sartre.additive.design import prepare
from sartre.additive.gram import gram_of_design
from sartre.additive.kernels.reml import HIGHEST
from sartre.additive.significance import wood_tests
from sartre.additive.smoothing import fit_smooths


def problem(seed, n=300, p=4, n_splines=8):
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(n, p)) + rng.uniform(0, 1) * rng.normal(size=(n, 1))
    y = np.sin(2 * X[:, 0]) + 0.5 * X[:, 1] + rng.normal(size=n)
    y = (y - y.mean()) / y.std()
    design = prepare(X, [spline(column, n_splines).basis() for column in X.T])
    return design, y, gram_of_design(design, y[:, None])


def restricted_likelihood(design, y, log_lambda):
    """Return twice the negative log restricted likelihood from the covariance of y, a slow and independent route."""
    n = len(y)
    columns = [design.table(j)[design.codes[j]] for j in range(len(design.rank))]
    fixed = np.column_stack([np.ones(n), *(block[:, 0] for block in columns)])
    V = np.eye(n)
    for j, block in enumerate(columns):
        s = design.roughness[design.spectrum_start[j] + 1 : design.spectrum_start[j] + design.rank[j]]
        V += (block[:, 1:] / (n * np.exp(log_lambda[j]) * s)) @ block[:, 1:].T
    inverse = np.linalg.inv(V)
    information = fixed.T @ inverse @ fixed
    residual = y - fixed @ np.linalg.solve(information, fixed.T @ inverse @ y)
    df = n - fixed.shape[1]
    return df * np.log(residual @ inverse @ residual) + np.linalg.slogdet(V)[1] + np.linalg.slogdet(information)[1]


@pytest.mark.parametrize("seed", range(6))
def test_the_smoothing_parameters_minimise_the_restricted_likelihood(seed):
    design, y, products = problem(seed)
    fit = fit_smooths(products, 0, np.arange(4))
    assert fit.converged
    found = np.minimum(fit.log_lambda, HIGHEST)
    value = restricted_likelihood(design, y, found)
    for start in (found, np.zeros(4), np.full(4, 4.0)):
        other = minimize(
            lambda rho: restricted_likelihood(design, y, rho), start, method="L-BFGS-B", bounds=[(-15, HIGHEST)] * 4
        )
        assert value <= other.fun + 0.01


@pytest.mark.parametrize("seed", range(3))
def test_coefficients_edf_and_covariance_are_those_of_penalised_least_squares(seed):
    design, y, products = problem(seed)
    fit = fit_smooths(products, 0, np.arange(4))
    phi = np.hstack([design.table(j)[design.codes[j]] for j in range(4)])
    penalty = np.concatenate(
        [
            np.where(np.arange(7) > 0, np.exp(min(fit.log_lambda[j], 40)), 0.0) * design.roughness[7 * j : 7 * j + 7]
            for j in range(4)
        ]
    )
    n = len(y)
    inverse = np.linalg.inv(phi.T @ phi / n + np.diag(penalty))
    beta = inverse @ phi.T @ y / n
    np.testing.assert_allclose(np.concatenate(fit.coefficients), beta, atol=1e-6)
    F = inverse @ phi.T @ phi / n
    np.testing.assert_allclose(
        fit.edf, [np.trace(F[7 * j : 7 * j + 7, 7 * j : 7 * j + 7]) for j in range(4)], atol=1e-6
    )
    rss = np.sum((y - phi @ beta) ** 2)
    assert fit.residual_df == pytest.approx(n - 1 - np.trace(F), rel=1e-6)
    assert fit.scale == pytest.approx(rss / fit.residual_df, rel=1e-6)
    np.testing.assert_allclose(fit.covariances[0], inverse[:7, :7] * fit.scale / n, atol=1e-7)


def test_straight_effects_get_one_degree_of_freedom_and_wiggly_ones_more():
    rng = np.random.default_rng(0)
    X = rng.normal(size=(1000, 2))
    y = X[:, 0] + np.sin(3 * X[:, 1]) + rng.normal(size=1000) / 2
    products = gram_of_design(
        prepare(X, [spline(column, 10).basis() for column in X.T]), ((y - y.mean()) / y.std())[:, None]
    )
    fit = fit_smooths(products, 0, np.arange(2))
    assert fit.edf[0] < 2
    assert fit.edf[1] > 5
    assert (fit.p_value < 1e-20).all()


def p_value_of(x, y, n_splines=10):
    y = (y - y.mean()) / y.std()
    products = gram_of_design(prepare(x[:, None], [spline(x, n_splines).basis()]), y[:, None])
    return fit_smooths(products, 0, np.array([0])).p_value[0]


@pytest.mark.parametrize("n", [200, 300, 500])
@pytest.mark.parametrize("frequency", [3, 4])
def test_fast_oscillations_are_not_taken_for_a_straight_line(n, frequency):
    for seed in range(5):
        rng = np.random.default_rng([seed, n])
        x = rng.uniform(-1, 1, size=n)
        assert p_value_of(x, 1.4 * np.cos(frequency * np.pi * x) + rng.normal(size=n) / 2) < 1e-10


@pytest.mark.parametrize("spread", [2.0, 2.5, 3.0])
def test_heavy_tailed_columns_have_an_effect_that_is_seen(spread):
    rng = np.random.default_rng(0)
    x = rng.lognormal(0, spread, size=1000)
    assert p_value_of(x, np.sin(2 * np.arcsinh(x)) + 0.3 * rng.normal(size=1000)) < 1e-10
    assert p_value_of(x, rng.normal(size=1000)) > 1e-3


def test_hundreds_of_splines_are_no_trouble():
    rng = np.random.default_rng(0)
    x = rng.uniform(size=1000)
    assert p_value_of(x, np.sin(9 * x) + rng.normal(size=1000), n_splines=300) < 1e-20


def test_gram_blocks_add_up_over_chunks_of_rows(monkeypatch):
    design, y, products = problem(0)
    monkeypatch.setattr("sartre.additive.gram._CHUNK", 1000)
    chunked = gram_of_design(design, y[:, None])
    np.testing.assert_allclose(chunked.matrix, products.matrix, atol=1e-12)
    np.testing.assert_allclose(chunked.cross, products.cross, atol=1e-12)


def test_exactly_dependent_columns_and_perfect_fits_are_told_from_noise():
    rng = np.random.default_rng(0)
    X = rng.normal(size=(300, 4))
    X[:, 2] = X[:, 0] + X[:, 1]
    design = prepare(X, [spline(column, 10).basis() for column in X.T])
    for y in (X[:, 2] + rng.normal(size=300) / 10, np.sin(X[:, 0])):
        fit = fit_smooths(gram_of_design(design, ((y - y.mean()) / y.std())[:, None]), 0, np.arange(4))
        assert np.isfinite(fit.edf).all()
        assert fit.p_value[3] > 1e-3
    assert fit.p_value[0] < 1e-10


def test_woods_statistic_with_whole_and_with_fractional_rank():
    V = np.diag([4.0, 1.0, 0.25])
    beta = np.array([2.0, 3.0, 1.0])
    rank = np.array([2.0, 3.0, 2.5])
    three = np.kron(np.eye(3), V), np.repeat(np.arange(3), 3), rank
    statistic, _ = wood_tests(np.tile(beta, 3), *three, 1e9)
    np.testing.assert_allclose(statistic, [(1 + 9) / 2, (1 + 9 + 4) / 3, (1 + 9 + 0.5 * 4) / 2.5])  # the signs cancel
    np.testing.assert_allclose(wood_tests(np.zeros(9), *three, 50.0)[1], 1.0)
    np.testing.assert_array_equal(rank, [2.0, 3.0, 2.5])


def test_a_smooth_is_tested_on_its_own_coefficients_only():
    rng = np.random.default_rng(0)
    root = rng.normal(size=(7, 7))
    V, beta, owner = root @ root.T, rng.normal(size=7), np.array([0, 2, 0, 2, 2, 0, 2])
    together = wood_tests(beta, V, owner, np.array([1.7, 1.0, 3.2]), 100.0)
    for t, rank in ((0, 1.7), (2, 3.2)):
        mine = np.flatnonzero(owner == t)
        alone = wood_tests(beta[mine], V[np.ix_(mine, mine)], np.zeros(len(mine), np.intp), np.array([rank]), 100.0)
        np.testing.assert_allclose([one[t] for one in together], [one[0] for one in alone])
    assert [one[1] for one in together] == [0.0, 1.0]  # a model without coefficients


def test_p_values_of_smooths_that_are_not_there_have_the_right_tails():
    p_values = []
    for seed in range(125):
        rng = np.random.default_rng([7, seed])
        X, Y = rng.normal(size=(400, 10)), rng.normal(size=(400, 10))
        design = prepare(X, [spline(column, 10).basis() for column in X.T])
        products = gram_of_design(design, (Y - Y.mean(axis=0)) / Y.std(axis=0))
        p_values += [fit_smooths(products, t, np.arange(10)).p_value for t in range(10)]
    p_values = np.concatenate(p_values)
    assert len(p_values) == 12_500
    assert 0.04 <= np.mean(p_values < 0.05) <= 0.065
    assert 0.005 <= np.mean(p_values < 0.01) <= 0.02
    assert np.mean(p_values < 0.001) <= 0.003

"""Robust tests equal plain ones for equal variances, hold their level otherwise, and are used for heavy tails."""

from __future__ import annotations

import numpy as np
import pytest

from sartre.additive.bases.splines import smooth_bases, spline
from sartre.additive.design import prepare
from sartre.additive.gram import gram_of_design
from sartre.additive.significance import robust_covariance
from sartre.additive.smoothing import solve_smooths, term_tests
from sartre.data.table import normal_scores, standardise
from sartre.prune.sartre.robust import is_unsettled
from sartre.prune.sartre.rows import RowModel, share_rows


def fitted(X, y):
    y = (y - y.mean()) / y.std()
    design = prepare(X, [spline(column, 10).basis() for column in X.T])
    products = gram_of_design(design, y[:, None])
    solved = solve_smooths(products, 0, np.arange(X.shape[1]))
    functions = np.hstack([design.table(j)[design.codes[j]] for j in range(X.shape[1])])[:, solved.columns]
    covariance = robust_covariance(solved, functions, y - functions @ solved.beta)
    return products, solved, functions, covariance


def test_equal_residuals_give_the_bayesian_covariance():
    rng = np.random.default_rng(0)
    X = rng.normal(size=(4000, 2))
    _, solved, functions, _ = fitted(X, np.sin(2 * X[:, 0]) + rng.normal(size=4000))
    leverage = np.einsum("ij,jk,ik->i", functions, solved.inverse, functions) / 4000
    same = np.sqrt(solved.scale) * (1 - leverage)
    expected = solved.inverse * solved.scale / 4000
    np.testing.assert_allclose(robust_covariance(solved, functions, same), expected, atol=1e-7 * expected.max())


def test_straight_lines_have_the_hc3_variance_of_a_linear_regression():
    rng = np.random.default_rng(1)
    x = rng.integers(0, 2, size=300).astype(float)  # with two values there is only a straight line
    y = x + (1 + 3 * x) * rng.normal(size=300)
    *_, covariance = fitted(x[:, None], y)
    design = np.column_stack([np.ones(300), (x - x.mean()) / x.std()])
    inverse = np.linalg.inv(design.T @ design)
    z = (y - y.mean()) / y.std()
    residual = z - design @ (inverse @ design.T @ z)
    leverage = np.einsum("ij,jk,ik->i", design, inverse, design)
    meat = design.T @ (design * ((residual / (1 - leverage)) ** 2)[:, None])
    hc3 = (inverse @ meat @ inverse)[1, 1]
    assert covariance[0, 0] == pytest.approx(hc3, rel=0.02)  # up to the leverage of the intercept


def test_unequal_variances_do_not_make_parents():
    plain, robust = 0, 0
    for seed in range(200):
        rng = np.random.default_rng([seed, 9])
        x = rng.normal(size=300)
        products, solved, _, covariance = fitted(x[:, None], np.abs(x) ** 1.5 * rng.normal(size=300))
        plain += term_tests(products, solved).p_value[0] < 0.01
        robust += term_tests(products, solved, covariance).p_value[0] < 0.01
    assert plain > 20
    assert robust <= 12


def test_normal_scores_keep_order_and_ties_and_lose_the_tail():
    x = np.random.default_rng(0).standard_cauchy(size=501)
    x[:3] = 0.0
    z = normal_scores(np.column_stack([x, x**3]))
    np.testing.assert_array_equal(z[:, 0], z[:, 1])
    assert z[0, 0] == z[1, 0] == z[2, 0]
    assert (np.diff(z[np.argsort(x), 0]) >= 0).all()
    assert np.abs(z).max() < 3.3


def test_heavy_tails_and_unequal_variances_call_for_it_and_plain_noise_does_not():
    def called(make):
        answers = []
        for seed in range(40):
            rng = np.random.default_rng([seed, 3])
            X = rng.normal(size=(500, 4))
            shared = share_rows(X, prepare(X, smooth_bases(X, 10)), pairs=None)
            answers.append(is_unsettled(RowModel(shared, standardise(make(X, rng))), None, np.arange(4)))
        return np.mean(answers)

    assert called(lambda X, rng: rng.normal(size=len(X))) <= 0.05
    assert called(lambda X, rng: rng.standard_t(3, size=len(X))) > 0.9
    assert called(lambda X, rng: np.exp(0.5 * X[:, 1]) * rng.normal(size=len(X))) > 0.9

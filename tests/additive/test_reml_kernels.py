"""REML's compiled loops agree with the plain formulas."""

from __future__ import annotations

import numpy as np
import pytest

from sartre.additive.kernels import reml
from sartre.additive.kernels.reml import HIGHEST, Wiggles, empty_point, evaluate, inverse_factor, smoothness


def wiggles(seed, sizes=(3, 1, 5, 4), n=200):
    rng = np.random.default_rng(seed)
    functions = rng.normal(size=(n, sum(sizes))) + 0.5 * rng.normal(size=(n, 1))
    y = functions @ rng.normal(size=sum(sizes)) / 5 + rng.normal(size=n)
    term = np.repeat(np.arange(len(sizes)), sizes)
    s = np.concatenate([np.arange(1.0, size + 1) ** 2 for size in sizes])
    scale = y @ y / n
    return Wiggles(functions.T @ functions / n, functions.T @ y / n / np.sqrt(scale), s, term, 1.0, n - 5.0, -9.0)


def plain(problem, log_lambda):
    """Return twice the negative log restricted likelihood of all curved components, by solves and determinants."""
    bent = np.flatnonzero(np.isfinite(log_lambda[problem.term]))
    penalty = np.exp(log_lambda[problem.term[bent]]) * problem.s[bent]
    A = problem.C[np.ix_(bent, bent)] + np.diag(penalty)
    deviance = problem.unexplained - problem.u[bent] @ np.linalg.solve(A, problem.u[bent])
    return problem.df * np.log(deviance) + np.linalg.slogdet(A)[1] - np.log(penalty).sum()


def chosen(problem, log_lambda):
    """Return a point with the curved columns."""
    point = empty_point(len(problem.term), len(log_lambda))
    bent = np.flatnonzero(np.isfinite(log_lambda[problem.term]))
    terms, block = np.unique(problem.term[bent], return_inverse=True)
    point.size[:] = len(bent), len(terms)
    point.columns[: len(bent)], point.block[: len(bent)], point.bent[: len(terms)] = bent, block, terms
    return point


@pytest.mark.parametrize("k", [0, 1, 3, 4, 5, 8, 17])
def test_the_inverse_factor_gives_the_inverse_and_the_determinant(k):
    rows = np.random.default_rng(k).normal(size=(k + 5, k))
    A = rows.T @ rows
    W = np.zeros((k, k))
    volume = inverse_factor(A.copy(), k, W)
    np.testing.assert_allclose(np.tril(W).T @ np.tril(W), np.linalg.inv(A), atol=1e-9)
    assert volume == pytest.approx(np.linalg.slogdet(A)[1], abs=1e-9)


def test_a_matrix_that_is_not_positive_definite_has_no_factor():
    assert np.isnan(inverse_factor(np.array([[1.0, 2.0], [2.0, 1.0]]), 2, np.zeros((2, 2))))


@pytest.mark.parametrize("straight", [[], [1], [0, 2]])
def test_likelihood_and_derivatives_are_those_of_the_plain_formula(straight):
    problem = wiggles(1)
    log_lambda = np.array([-1.0, 0.5, 2.0, -3.0])
    log_lambda[straight] = np.inf
    point = chosen(problem, log_lambda)
    value, _ = evaluate(problem, log_lambda, point)
    assert value == pytest.approx(plain(problem, log_lambda), rel=1e-12)
    b, step = int(point.size[1]), 1e-4
    gradient, hessian = point.gradient[:b].copy(), point.hessian[:b, :b].copy()
    for a, t in enumerate(point.bent[:b].tolist()):
        sides = []
        for side in (-1, 1):
            moved = log_lambda.copy()
            moved[t] += side * step
            sides.append((plain(problem, moved), evaluate(problem, moved, point), point.gradient[:b].copy()))
        assert gradient[a] == pytest.approx((sides[1][0] - sides[0][0]) / (2 * step), abs=1e-5)
        np.testing.assert_allclose(hessian[a], (sides[1][2] - sides[0][2]) / (2 * step), atol=1e-5)


@pytest.mark.parametrize("seed", range(4))
def test_the_smoothness_found_is_a_minimum_whatever_the_start(seed):
    problem = wiggles(seed)
    values = []
    for start in (np.inf, -5.0, 3.0):
        log_lambda = np.full(4, start)
        point = empty_point(len(problem.term), 4)
        _, _, settled = smoothness(problem, log_lambda, 1e-6, point)
        assert settled
        values.append(plain(problem, log_lambda))
        for t in np.flatnonzero(np.isfinite(log_lambda)):
            for move in (-0.3, 0.3):
                other = log_lambda.copy()
                other[t] = np.clip(other[t] + move, problem.lowest, HIGHEST)
                assert plain(problem, other) >= values[-1] - 1e-6
        k = int(point.size[0])
        np.testing.assert_allclose(point.P[:k, :k], point.P[:k, :k].T)
    assert max(values) - min(values) < 1.0  # a straight line may have less curvature than that


def test_terms_without_a_wiggle_have_no_derivatives_and_no_index_is_out_of_bounds():
    point = empty_point(0, 2)
    getattr(reml._differentiate, "py_func", reml._differentiate)(1.0, 1.0, point)  # Python checks every index
    problem = Wiggles(np.empty((0, 0)), np.empty(0), np.empty(0), np.empty(0, np.intp), 0.5, 100.0, -9.0)
    deviance, n_steps, settled = smoothness(problem, np.full(2, np.inf), 1e-6, point)
    assert (deviance, n_steps, settled, point.size.tolist()) == (0.5, 0, True, [0, 0])

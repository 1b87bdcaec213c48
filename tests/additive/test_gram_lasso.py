"""The solver without rows gives the same solution as the solver with rows."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from sartre.additive.bases.trees import random_intervals
from sartre.additive.design import prepare
from sartre.additive.gram import gram_of_design
from sartre.additive.lasso import gram_terms, solve, solve_gram, terms
from sartre.additive.smooth_sums import SmoothCounter
from sartre.prune.sartre.screen import NullNorms, solve_calibrated


def problem(n, d, seed, scale=1.0):
    """Return correlated columns, one of them discrete, and a target that depends on some of them."""
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(n, d + 1))
    X[:, 1] = X[:, 0] + rng.normal(size=n) / 2
    X[:, 2] = rng.integers(0, 4, n)
    X[:, d] = np.sin(2 * X[:, 1]) + (X[:, 2] > 1) + X[:, 0] ** 2 / 3 + rng.normal(size=n) / 2
    X *= scale
    return X, *prepared(X, rng)


def prepared(X, rng):
    """Return the intervals of all columns, and their inner products with each other and with the unscaled columns."""
    design = prepare(X, [random_intervals(column, 5, 8, rng) for column in X.T])
    return design, gram_of_design(design, X - X.mean(axis=0))._replace(squares=X.var(axis=0))


def assert_same(rows, gram):
    scale = max(1.0, np.abs(rows.coefficients).max(initial=0.0))
    np.testing.assert_allclose(gram.coefficients, rows.coefficients, atol=1e-8 * scale)
    np.testing.assert_array_equal(gram.support, rows.support)
    assert gram.n_epochs == rows.n_epochs
    assert gram.converged == rows.converged
    np.testing.assert_allclose(gram.objective, rows.objective, rtol=1e-8)


@settings(max_examples=40, deadline=None)
@given(
    n=st.integers(60, 900),
    d=st.integers(3, 8),
    penalty=st.floats(0.01, 0.5),
    seed=st.integers(0, 10**6),
    free=st.integers(0, 2),
)
def test_both_forms_have_the_same_solution_to_the_eighth_digit(n, d, penalty, seed, free):
    X, design, normal = problem(n, d, seed)
    weights = np.ones(d)
    weights[:free] = 0.0
    settings = {"weights": weights, "max_epochs": 300}
    rows = solve(design, X[:, d], np.arange(d), penalty, **settings)
    gram = solve_gram(normal, d, np.arange(d), penalty, **settings)
    assert_same(rows, gram)
    described = gram_terms(normal, d, gram)
    expected = terms(design, X[:, d], rows)
    np.testing.assert_array_equal(described.variables, expected.variables)
    np.testing.assert_allclose(described.strength, expected.strength, atol=1e-7)
    np.testing.assert_allclose(described.margin, expected.margin, rtol=1e-6)


@pytest.mark.parametrize("scale", [1e-6, 1e6])
def test_both_forms_agree_in_any_unit_and_from_any_start(scale):
    X, design, normal = problem(500, 5, 1, scale)
    before, gram = None, None
    for penalty in (0.3, 0.1, 0.03):
        before = solve(design, X[:, 5], np.arange(5), penalty * scale, start=before)
        gram = solve_gram(normal, 5, np.arange(5), penalty * scale, start=gram)
        np.testing.assert_allclose(gram.coefficients / scale, before.coefficients / scale, atol=1e-8)
        assert gram.gap <= 1e-6 * normal.squares[5]


def test_the_calibrated_fits_agree():
    X, design, normal = problem(800, 6, 5)
    settings = {"weights": NullNorms(design.spectra).at(0.05)[:6] / np.sqrt(800), "tol": 1e-6}
    rows = solve_calibrated(
        lambda penalty, start: solve(design, X[:, 6], np.arange(6), penalty, start=start, **settings),
        float(np.std(X[:, 6])),
    )
    gram = solve_calibrated(
        lambda penalty, start: solve_gram(normal, 6, np.arange(6), penalty, start=start, **settings),
        float(np.sqrt(normal.squares[6])),
    )
    np.testing.assert_allclose(gram.coefficients, rows.coefficients, atol=1e-8)
    np.testing.assert_allclose(gram.residual_square, np.var(rows.residual), rtol=1e-6)


def test_orthonormal_smooths_have_their_closed_form():
    rng = np.random.default_rng(0)
    X = rng.normal(size=(4000, 2))
    X[:, 1] += X[:, 0] ** 2
    counter = SmoothCounter.of(X)
    normal = counter.gram(counter.count(X), 6)
    solution = solve_gram(normal, 1, np.arange(1), penalty=0.2, tol=1e-14)
    b = normal.cross[: normal.rank[0], 1]
    np.testing.assert_allclose(solution.coefficients, b * (1 - 0.2 / np.linalg.norm(b)), atol=1e-9)


def test_no_candidate_and_constant_columns_are_fine():
    X, _, _ = problem(100, 4, 0)
    X[:, 0] = 3.0
    _, normal = prepared(X, np.random.default_rng(0))
    assert solve_gram(normal, 4, np.empty(0, dtype=int), 0.1).support.tolist() == []
    assert 0 not in solve_gram(normal, 4, np.arange(4), 0.01).support
    assert solve_gram(normal, 0, np.arange(1, 4), 0.1).support.tolist() == []

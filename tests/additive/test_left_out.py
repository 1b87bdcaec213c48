"""The residuals of rows that are left out are those of fits without them."""

from __future__ import annotations

import numpy as np

from sartre.additive.gram import gram_of_functions
from sartre.additive.left_out import TermFunctions, functions_of, functions_of_pair, left_out_residuals
from sartre.additive.smoothing import solve_smooths


def test_a_residual_is_that_of_ridge_regression_without_its_row():
    rng = np.random.default_rng(0)
    a, b = rng.normal(size=(2, 60))
    y = np.sin(2 * a) + b / 2 + rng.normal(size=60) / 3
    terms = [functions_of(a), functions_of(b)]
    found = left_out_residuals(y, terms)
    y = (y - y.mean()) / y.std()
    gram = gram_of_functions([t.values for t in terms], [t.roughness for t in terms], y)
    solved = solve_smooths(gram, 0, np.arange(2))
    design = np.column_stack([np.ones(60), np.hstack([t.values for t in terms])[:, solved.columns]])
    penalty = 60 * np.diag(np.append(0.0, solved.penalty))
    for row in (0, 17, 59):
        others = np.delete(np.arange(60), row)
        beta = np.linalg.solve(design[others].T @ design[others] + penalty, design[others].T @ y[others])
        np.testing.assert_allclose(found[row], y[row] - design[row] @ beta, rtol=1e-6, atol=1e-9)


def test_terms_without_functions_change_nothing():
    y = np.random.default_rng(1).normal(size=40)
    nothing = TermFunctions(np.empty((40, 0)), np.empty(0))
    np.testing.assert_array_equal(left_out_residuals(y, [nothing]), left_out_residuals(y, []))


def test_the_line_of_a_category_is_its_levels():
    codes = np.repeat([0.0, 1.0, 2.0], 20)
    assert functions_of(codes, nominal=True).line.values.shape == (60, 2)


def test_a_pair_adds_what_two_columns_do_only_together():
    a, b = np.random.default_rng(2).normal(size=(2, 400))
    y = np.sign(a * b)
    alone = [functions_of(a), functions_of(b)]
    together = [*alone, functions_of_pair(a, b)]
    assert np.mean(left_out_residuals(y, together) ** 2) < 0.7 * np.mean(left_out_residuals(y, alone) ** 2)

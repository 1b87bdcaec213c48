"""The group lasso reaches celer's optimum, and has the properties of any optimum."""

from __future__ import annotations

import numpy as np
import pytest
from celer import GroupLasso
from sklearn.linear_model import Lasso

from sartre.additive.bases.trees import random_intervals
from sartre.additive.design import encode, prepare
from sartre.additive.lasso import largest_penalty, solve, solve_path, terms

N_PROBLEMS = 60


def problem(seed, n=None, d=None):
    """Draw random data of random shape, including correlated, discrete and duplicated columns."""
    rng = np.random.default_rng(seed)
    n, d = n or int(rng.integers(30, 400)), d or int(rng.integers(1, 16))
    X = rng.normal(size=(n, d)) + rng.uniform(0, 1.5) * rng.normal(size=(n, 1))
    if d > 2:
        X[:, 0] = rng.integers(0, 3, size=n)
    if d > 5:
        X[:, 1] = X[:, 2]
    parents = rng.choice(d, size=int(rng.integers(0, min(d, 4) + 1)), replace=False)
    y = 5.0 + rng.normal(size=n) + sum((np.sin(rng.uniform(0.5, 2) * X[:, j]) for j in parents), np.zeros(n))
    trees, leaves = int(rng.integers(1, 7)), int(rng.integers(2, 9))
    bases = [random_intervals(column, trees, leaves, rng) for column in X.T]
    return X, y, bases, prepare(X, bases)


def blocks_of(X, bases):
    return [basis.table[encode(column, basis.edges)] for column, basis in zip(X.T, bases, strict=True)]


@pytest.mark.parametrize("seed", range(N_PROBLEMS))
def test_the_optimum_and_the_support_are_celers(seed):
    X, y, bases, design = problem(seed)
    d = X.shape[1]
    rng = np.random.default_rng(seed + 1000)
    penalty = largest_penalty(design, y, np.arange(d)) * rng.uniform(0.03, 0.95)
    weights = rng.uniform(0.5, 2, size=d) if seed % 3 == 0 else np.ones(d)
    ours = solve(design, y, np.arange(d), penalty, weights=weights, tol=1e-13)
    blocks = blocks_of(X, bases)
    sizes = [block.shape[1] for block in blocks]
    theirs = GroupLasso(
        groups=sizes, alpha=penalty, weights=weights, tol=1e-13, fit_intercept=True, max_iter=500, max_epochs=100_000
    ).fit(np.asfortranarray(np.hstack(blocks)), y)
    parts = np.split(theirs.coef_, np.cumsum(sizes)[:-1])
    norms = np.array([np.linalg.norm(part) for part in parts])
    objective = np.mean((y - theirs.predict(np.hstack(blocks))) ** 2) / 2 + penalty * weights @ norms
    assert ours.converged
    assert ours.objective == pytest.approx(objective, rel=1e-8)
    np.testing.assert_array_equal(ours.selected, norms > 1e-7 * max(norms.max(), 1e-3))
    np.testing.assert_allclose([np.linalg.norm(block) for block in ours.blocks], norms, atol=2e-4 * max(norms.max(), 1))


@pytest.mark.parametrize("seed", range(5))
def test_the_gap_bounds_the_distance_to_the_optimum(seed):
    _, y, _, design = problem(seed, n=200, d=8)
    everything = np.arange(8)
    penalty = 0.2 * largest_penalty(design, y, everything)
    best = solve(design, y, everything, penalty, tol=1e-14).objective
    for tol in (1e-2, 1e-4, 1e-6):
        rough = solve(design, y, everything, penalty, tol=tol)
        assert rough.gap <= tol * np.var(y)
        assert -1e-12 <= rough.objective - best <= rough.gap + 1e-12


def test_the_reported_objective_is_the_objective_of_the_reported_blocks():
    _, y, _, design = problem(3, n=150, d=6)
    solution = solve(design, y, np.arange(6), 0.05)
    fit = sum(design.table(j)[design.codes[j]] @ solution.blocks[j] for j in range(6))
    np.testing.assert_allclose(solution.residual, y - y.mean() - fit, atol=1e-10)
    norms = sum(np.linalg.norm(block) for block in solution.blocks)
    assert solution.objective == pytest.approx(np.mean(solution.residual**2) / 2 + 0.05 * norms)


@pytest.mark.parametrize("seed", range(5))
def test_nothing_enters_at_the_largest_penalty_and_something_just_below(seed):
    _, y, _, design = problem(seed + 50, n=100, d=5)
    everything = np.arange(5)
    largest = largest_penalty(design, y, everything)
    assert solve(design, y, everything, largest * (1 + 1e-9)).support.size == 0
    assert solve(design, y, everything, largest * (1 - 1e-3), tol=1e-12).support.size >= 1


def test_groups_of_one_function_are_the_ordinary_lasso():
    rng = np.random.default_rng(0)
    X = rng.integers(0, 2, size=(200, 6)).astype(float)  # a step of height t costs |(-t/2, t/2)| = t / sqrt(2)
    y = X @ np.array([1.0, -0.5, 0, 0, 0.2, 0]) + rng.normal(size=200) / 2
    design = prepare(X, [random_intervals(column, 1, 2, rng) for column in X.T])
    ours = solve(design, y, np.arange(6), 0.03, tol=1e-14)
    lasso = Lasso(alpha=0.03 * np.sqrt(0.5), tol=1e-14, max_iter=100_000).fit(X, y)
    np.testing.assert_allclose(ours.residual, y - lasso.predict(X), atol=1e-6)


def test_a_warm_start_reaches_the_same_optimum_in_fewer_sweeps():
    _, y, _, design = problem(11, n=300, d=10)
    everything = np.arange(10)
    penalties = largest_penalty(design, y, everything) * np.geomspace(1, 0.05, 10)
    path = solve_path(design, y, everything, penalties, tol=1e-10)
    cold = [solve(design, y, everything, penalty, tol=1e-10) for penalty in penalties]
    np.testing.assert_allclose([s.objective for s in path], [s.objective for s in cold], rtol=1e-8)
    assert sum(s.n_epochs for s in path) < sum(s.n_epochs for s in cold)
    assert path[0].support.size == 0 < path[-1].support.size


def test_an_unpenalised_group_is_always_in_and_leaves_an_orthogonal_residual():
    _, y, _, design = problem(21, n=200, d=6)
    everything = np.arange(6)
    weights = np.array([1.0, 0.0, 1.0, 0.0, 1.0, 1.0])
    solution = solve(design, y, everything, 10.0, weights=weights, tol=1e-12)
    assert solution.converged
    assert solution.support.tolist() == [1, 3]
    together = np.hstack([design.table(j)[design.codes[j]] for j in (1, 3)])
    exact = y - y.mean() - together @ np.linalg.lstsq(together, y - y.mean(), rcond=None)[0]
    np.testing.assert_allclose(solution.residual, exact, atol=1e-6)
    mixed = solve(design, y, everything, 0.05, weights=weights, tol=1e-12)
    assert mixed.converged
    np.testing.assert_allclose(together.T @ mixed.residual, 0, atol=1e-6)


@pytest.mark.parametrize("factor", [1e-6, 1e5])
def test_scaling_target_and_penalty_together_scales_the_fit(factor):
    _, y, _, design = problem(31, n=200, d=6)
    plain = solve(design, y, np.arange(6), 0.1, tol=1e-10)
    scaled = solve(design, factor * y, np.arange(6), 0.1 * factor, tol=1e-10)
    np.testing.assert_allclose(scaled.residual, factor * plain.residual, rtol=1e-6, atol=1e-9 * factor)
    assert plain.support.tolist() == scaled.support.tolist() != []


def test_a_solution_that_ran_out_of_sweeps_says_so():
    _, y, _, design = problem(2, n=300, d=10)
    short = solve(design, y, np.arange(10), 1e-3, tol=1e-12, max_epochs=2)
    assert not short.converged
    assert short.n_epochs == 2
    assert short.gap > 1e-12 * np.var(y)


def test_constant_variables_and_no_candidates_are_fine():
    X = np.column_stack([np.ones(40), np.arange(40.0)])
    design = prepare(X, [random_intervals(column, 3, 4, np.random.default_rng(0)) for column in X.T])
    y = np.arange(40.0)
    assert solve(design, y, np.array([0]), 0.1).support.size == 0
    assert solve(design, y, np.array([0]), 0.0).support.size == 0
    assert solve(design, y, np.array([], dtype=int), 0.1).converged
    assert solve(design, y, np.array([0, 1]), 0.1).support.tolist() == [1]
    assert largest_penalty(design, y, np.array([], dtype=int)) == 0.0


def test_strength_and_margin_mean_what_they_say():
    _, y, _, design = problem(8, n=400, d=6)
    everything = np.arange(6)
    solution = solve(design, y, everything, 0.05, tol=1e-12)
    found = terms(design, y, solution)
    assert found.variables.tolist() == solution.support.tolist() != []
    for variable, strength, margin in zip(*found, strict=True):
        fit = (design.table(variable) @ solution.block(variable))[design.codes[variable]]
        lost = np.var(solution.residual + fit) - np.var(solution.residual)
        assert strength == pytest.approx(lost / np.var(y))
        assert margin > 1
        partial = solution.residual + fit
        assert margin == pytest.approx(largest_penalty(design, partial, np.array([variable])) / 0.05)
        alone = solve(design, partial, np.array([variable]), 0.05 * margin * (1 + 1e-9))
        assert alone.support.size == 0


def test_unpenalised_groups_that_ran_out_of_sweeps_are_not_called_converged():
    rng = np.random.default_rng(0)
    x = rng.normal(size=400)
    X = x[:, None] + 0.5 * rng.normal(size=(400, 4))
    y = np.sin(2 * x) + 2 * X[:, 0] - 2 * X[:, 1] + 0.1 * rng.normal(size=400)
    design = prepare(X, [random_intervals(column, 5, 8, rng) for column in X.T])
    best = solve(design, y, np.arange(4), 0.0, tol=1e-12)
    short = solve(design, y, np.arange(4), 0.0, max_epochs=1)
    assert best.converged
    assert not short.converged
    assert 0 <= short.objective - best.objective <= short.gap


@pytest.mark.parametrize("factor", [1e-140, 1e140])
def test_extreme_units_of_the_target_change_nothing(factor):
    _, y, _, design = problem(31, n=200, d=6)
    plain = solve(design, y, np.arange(6), 0.1)
    scaled = solve(design, y * factor, np.arange(6), 0.1 * factor)
    assert scaled.converged
    assert scaled.support.tolist() == plain.support.tolist()
    margins = [terms(design, y * f, s).margin for f, s in ((1.0, plain), (factor, scaled))]
    np.testing.assert_allclose(margins[1], margins[0], rtol=1e-3)

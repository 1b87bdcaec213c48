"""Models of one target from rows: quantities that are kept between fits agree with the rows."""

from __future__ import annotations

import numpy as np
import pytest
from scipy.linalg import lstsq
from scipy.stats import t as student

from sartre.additive.bases.rank_polynomials import DEGREE, pair_basis, pair_functions, pair_products
from sartre.additive.bases.splines import smooth_bases
from sartre.additive.design import prepare
from sartre.additive.gram import gram_of_functions
from sartre.additive.significance import robust_covariance
from sartre.additive.smoothing import solve_smooths, term_tests
from sartre.data.table import standardise
from sartre.prune.sartre.constants import SMOOTHNESS_TOL
from sartre.prune.sartre.rows import RowModel, SmoothFunctions, share_rows

N = 300
TERMS = [[0], [2, 0], [0, 1, 2], [1, 3, (1, 3)], [0, 1, 2, 3, 4, (0, 1), (2, 4), (1, 2)]]


def table(seed=0):
    """Return five columns that depend on each other, one with few values and one with a category of three levels."""
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(N, 5)) + 0.5 * rng.normal(size=(N, 1))
    X[:, 3] = np.round(X[:, 3])
    X[:, 4] = rng.integers(0, 3, size=N)
    return X


def target(X, seed=0):
    noise = np.random.default_rng([seed, 1]).normal(size=N)
    return standardise(np.sin(2 * X[:, 0]) + X[:, 1] * X[:, 2] + (X[:, 4] == 1) + noise)


def shared_rows(X, *, robust=False, many_targets=True):
    return share_rows(
        X,
        prepare(X, smooth_bases(X, 10, {4})),
        pair_basis(X, {4}),
        robust=robust,
        nominal={4},
        many_targets=many_targets,
    )


@pytest.fixture(scope="module", params=[False, True], ids=["plain", "robust"])
def shared(request):
    return shared_rows(table(), robust=request.param)


def model_of(shared, seed=0):
    return RowModel(shared, target(table(seed), seed))


def blocks_of(shared, chosen):
    """Return the functions of terms and their roughness, computed again without the model."""
    blocks, roughness = [], []
    for term in chosen:
        if isinstance(term, int):
            blocks.append(shared.functions.functions(term))
            roughness.append(shared.functions.roughness(term))
        else:
            pair = pair_functions(shared.pairs, *term)
            blocks.append(pair.values)
            roughness.append(pair.roughness)
    return blocks, roughness


def fitted_values(model, chosen):
    return model.y - model.residual(model.solve(chosen))


@pytest.mark.parametrize("chosen", TERMS, ids=str)
def test_the_residual_is_the_target_less_functions_times_coefficients(shared, chosen):
    model = model_of(shared)
    model.solve([3, (0, 3)])  # some terms are not part of the fit
    solved = model.solve(chosen)
    functions = model.functions(solved)
    assert functions.shape == (N, len(solved.beta))
    np.testing.assert_allclose(model.residual(solved), model.y - functions @ solved.beta, atol=1e-12)
    np.testing.assert_array_equal(model.residual(None), model.y)


@pytest.mark.parametrize("chosen", TERMS, ids=str)
def test_functions_have_mean_zero_and_those_of_a_term_are_orthonormal(shared, chosen):
    for block in blocks_of(shared, chosen)[0]:
        np.testing.assert_allclose(block.mean(axis=0), 0, atol=1e-9)
        np.testing.assert_allclose(block.T @ block / N, np.eye(block.shape[1]), atol=1e-7)


@pytest.mark.parametrize("chosen", TERMS, ids=str)
def test_the_coefficients_solve_the_penalised_equations(shared, chosen):
    model = model_of(shared)
    solved = model.solve(chosen)
    functions = model.functions(solved)
    gradient = functions.T @ model.residual(solved) / N
    np.testing.assert_allclose(gradient, solved.penalty * solved.beta, atol=1e-6)
    assert (solved.penalty >= 0).all()


@pytest.mark.parametrize("chosen", TERMS[1:], ids=str)
def test_terms_that_are_added_in_another_order_give_the_same_fit(shared, chosen):
    at_once, one_by_one = model_of(shared), model_of(shared)
    for k in range(len(chosen), 0, -1):
        one_by_one._add([chosen[k - 1]])
    expected = fitted_values(at_once, chosen)
    np.testing.assert_allclose(fitted_values(one_by_one, chosen), expected, atol=1e-8)
    reverse = model_of(shared)
    np.testing.assert_allclose(fitted_values(reverse, chosen[::-1]), expected, atol=0.01)  # REML stops at its tolerance
    p_values = [model.p_values(model.solve(terms)) for model, terms in ((at_once, chosen), (one_by_one, chosen))]
    np.testing.assert_allclose(*p_values, rtol=1e-6, atol=1e-300)


def test_terms_that_take_no_part_change_nothing(shared):
    alone, crowded = model_of(shared), model_of(shared)
    crowded._add([4, (0, 4), 3, (1, 1)])
    np.testing.assert_allclose(fitted_values(crowded, [0, 1, (0, 1)]), fitted_values(alone, [0, 1, (0, 1)]), atol=1e-9)
    crowded._add([2, (2, 3)])
    assert len(crowded._gram.roughness) > 64  # more than the initial capacity of the model
    np.testing.assert_allclose(fitted_values(crowded, [0, 1, (0, 1)]), fitted_values(alone, [0, 1, (0, 1)]), atol=1e-9)


@pytest.mark.parametrize("chosen", TERMS, ids=str)
def test_p_values_are_those_of_all_functions_made_at_once(chosen):
    shared = shared_rows(table())
    model = model_of(shared)
    model._add([3, (0, 2)])
    gram = gram_of_functions(*blocks_of(shared, chosen), model.y)
    places = np.arange(len(chosen))
    solved = solve_smooths(gram, 0, places, np.full(len(chosen), np.inf), SMOOTHNESS_TOL)
    np.testing.assert_allclose(
        model.p_values(model.solve(chosen)), term_tests(gram, solved).p_value, rtol=1e-6, atol=1e-300
    )


@pytest.mark.parametrize("chosen", TERMS, ids=str)
def test_robust_p_values_are_the_larger_of_two(chosen):
    shared = shared_rows(table(), robust=True)
    model = model_of(shared)
    solved = model.solve(chosen)
    functions = model.functions(solved)
    covariance = robust_covariance(solved, functions, model.residual(solved))
    plain, robust = (term_tests(model._gram, solved, each).p_value for each in (None, covariance))
    np.testing.assert_allclose(model.p_values(solved), np.maximum(plain, robust), rtol=1e-9)
    assert (plain != robust).all()


@pytest.mark.parametrize("pair", [(0, 1), (1, 2), (0, 4), (3, 4)], ids=str)
@pytest.mark.parametrize("chosen", [[2], [0, 1, 2, (0, 2)]], ids=str)
def test_what_a_fit_leaves_of_a_pair_is_its_projection_off_the_functions(shared, pair, chosen):
    model = model_of(shared)
    solved = model.solve(chosen)
    found = model.residual_of_pair(pair, solved)
    first, second = (shared.pairs.values[j] for j in pair)
    products = pair_products(first, second)
    rows = np.column_stack([first, second, products - products.mean(axis=0), model.residual(solved)])
    functions = model.functions(solved)
    rows -= functions @ lstsq(functions, rows)[0]
    inner = rows.T @ rows / N
    assert found.square.shape == (2 * DEGREE + DEGREE**2,) * 2
    np.testing.assert_allclose(found.square, inner[:-1, :-1], atol=1e-6)
    np.testing.assert_allclose(found.cross, inner[:-1, -1], atol=1e-6)
    if shared.robust:
        np.testing.assert_allclose(found.by_sample, rows, atol=1e-5)
    else:
        assert found.by_sample is None


def test_a_fit_of_no_term_leaves_a_pair_as_it_is(shared):
    model = model_of(shared)
    found = model.residual_of_pair((0, 1), model.solve([]))
    first, second = (shared.pairs.values[j] for j in (0, 1))
    products = pair_products(first, second)
    rows = np.column_stack([first, second, products - products.mean(axis=0)])
    np.testing.assert_allclose(found.square, rows.T @ rows / N, atol=1e-9)
    np.testing.assert_allclose(found.cross, rows.T @ model.y / N, atol=1e-9)


@pytest.mark.parametrize("chosen", TERMS, ids=str)
def test_functions_that_all_targets_share_are_those_that_each_makes_for_itself(chosen):
    X = table()
    together, alone = (model_of(shared_rows(X, many_targets=many)) for many in (True, False))
    assert together.shared.functions.inner_products([0, 1]) is not None
    assert alone.shared.functions.inner_products([0, 1]) is None
    one, other = together.solve(chosen), alone.solve(chosen)
    np.testing.assert_allclose(together.functions(one), alone.functions(other), atol=1e-12)
    np.testing.assert_allclose(one.beta, other.beta, atol=1e-9)
    np.testing.assert_allclose(together.p_values(one), alone.p_values(other), rtol=1e-6, atol=1e-300)


def test_shared_functions_are_given_in_the_order_asked_for_and_cannot_be_written_to():
    X = table()
    smooths = prepare(X, smooth_bases(X, 10, {4}))
    functions = SmoothFunctions(shared_rows(X).X, smooths, shared=True)
    blocks = [functions.functions(j) for j in (4, 0, 2)]
    joined = np.hstack(blocks)
    np.testing.assert_allclose(functions.inner_products([4, 0, 2]), joined.T @ joined / N, atol=1e-12)
    with pytest.raises(ValueError, match="read-only"):
        blocks[0][0, 0] = 1.0


def test_a_straight_line_is_the_column_itself():
    X = table()
    shared = shared_rows(X)
    for j in (0, 1, 2, 3):
        (line,) = np.flatnonzero(shared.functions.roughness(j) == 0)
        np.testing.assert_array_equal(shared.functions.functions(j)[:, line], shared.X[:, j])
    assert (shared.functions.roughness(4) == 0).all()  # levels have neither a straight line nor a penalty


def test_pulls_are_the_norms_of_the_gradients_in_standard_units(shared):
    model = model_of(shared)
    for solved in (None, model.solve([0, 2])):
        residual = model.residual(solved)
        norms = [np.linalg.norm(shared.smooths.table(j)[shared.smooths.codes[j]].T @ residual) for j in (4, 1, 3)]
        expected = np.array(norms) / (np.sqrt(N) * residual.std())
        np.testing.assert_allclose(model.pulls(solved, np.array([4, 1, 3])), expected, rtol=1e-9)


def test_lines_are_tested_in_the_linear_model_of_all_that_have_one(shared):
    model, candidates = model_of(shared), np.array([4, 2, 0, 3])
    variables, p_values = model.lines(candidates)
    assert variables.tolist() == [2, 0, 3]
    X = shared.X[:, variables]
    beta, squares = np.linalg.lstsq(X, model.y, rcond=None)[:2]
    spread = np.sqrt(squares[0] / (N - 4) * np.linalg.inv(X.T @ X).diagonal())
    np.testing.assert_allclose(p_values, 2 * student.sf(np.abs(beta) / spread, N - 4), rtol=1e-5)
    assert shared.square is not None
    few = RowModel(shared._replace(square=None), model.y)  # as happens with few rows for many columns
    np.testing.assert_allclose(few.lines(candidates)[1], p_values, rtol=1e-9)

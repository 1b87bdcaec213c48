"""Pairs that act jointly are found, and none are found where there are none."""

from __future__ import annotations

import numpy as np
import pytest

from sartre.additive.bases.rank_polynomials import pair_basis, pair_functions, pair_products, rank_polynomials
from sartre.additive.bases.splines import smooth_bases, spline
from sartre.additive.design import prepare
from sartre.data.table import standardise
from sartre.prune.sartre import rows as row_models
from sartre.prune.sartre.pairs import PairResidual, PairSearch, pair_tail
from sartre.prune.sartre.rows import RowModel, SmoothFunctions, share_rows

NOTHING = np.empty(0, dtype=np.intp)


def plain_tail(basis, y, functions, robust=False):
    """Return the p-value of a pair from the samples themselves, with the functions projected out by least squares."""

    def tail(pair):
        first, second = (basis.values[j] for j in pair)
        both = pair_products(first, second)
        table = np.column_stack([first, second, both - both.mean(axis=0), y])
        table -= functions @ np.linalg.lstsq(functions, table)[0]
        square = table.T @ table / len(y)
        left = PairResidual(square[:-1, :-1], square[:-1, -1], table if robust else None)
        return pair_tail(left, np.outer(*(basis.orders[j] for j in pair)).ravel(), 1.0, len(y))

    return tail


def search(X, y, functions=None, robust=False, inside=NOTHING):
    y = (y - y.mean()) / y.std()
    basis, functions = pair_basis(X), np.empty((len(y), 0)) if functions is None else functions
    pairs = PairSearch(basis, np.arange(X.shape[1]))
    found = pairs.best(inside, (), y, plain_tail(basis, y, functions, robust), bound=0.05)
    return found[0] if found else None


@pytest.mark.parametrize("levels", [2, 3, 5, 1000])
def test_polynomials_are_orthonormal_and_follow_the_ranks(levels):
    x = np.random.default_rng(0).integers(0, levels, size=400).astype(float)
    P = rank_polynomials(np.column_stack([x, np.exp(x / levels)]))
    np.testing.assert_allclose(P[0], P[1])
    real = min(levels - 1, 4)
    np.testing.assert_allclose(P[0].T @ P[0] / 400, np.diag([1.0] * real + [0.0] * (4 - real)), atol=1e-9)
    np.testing.assert_allclose(P[0].sum(axis=0), 0, atol=1e-7)


def test_permuting_rows_permutes_the_polynomials_ties_included():
    rng = np.random.default_rng(0)
    X = rng.integers(0, 7, size=(100, 2)).astype(float)
    shuffle = rng.permutation(100)
    plain, moved = rank_polynomials(X)[:, shuffle], rank_polynomials(X[shuffle])
    np.testing.assert_allclose(np.abs(plain), np.abs(moved), atol=1e-8)


def test_functions_of_a_pair_are_orthonormal_and_rougher_and_rougher():
    functions = pair_functions(pair_basis(np.random.default_rng(0).normal(size=(500, 2))), 0, 1)
    np.testing.assert_allclose(functions.values.T @ functions.values / 500, np.eye(16), atol=1e-8)
    assert functions.roughness[0] == 1
    assert (np.diff(functions.roughness) >= 0).all()


def test_a_product_is_found_among_many_pairs():
    rng = np.random.default_rng(0)
    X = rng.normal(size=(500, 12))
    pair = search(X, X[:, 3] * X[:, 8] + rng.normal(size=500))
    assert (pair.first, pair.second) == (3, 8)
    assert pair.p_value < 1e-10


def test_with_many_candidates_only_pairs_with_a_known_variable_are_looked_at():
    rng = np.random.default_rng(0)
    X = rng.normal(size=(300, 150))
    y = X[:, 3] * X[:, 8] + rng.normal(size=300) / 2
    assert search(X, y) is None
    for inside in ([8], [3, 8], [3, 40, 100]):
        pair = search(X, y, inside=np.array(inside))
        assert (pair.first, pair.second) == (3, 8)


def test_pairs_of_variables_in_the_model_come_with_the_best_one_and_only_new_ones():
    rng = np.random.default_rng(0)
    X = rng.normal(size=(1000, 6))
    y = 2 * X[:, 0] * X[:, 1] + X[:, 1] * X[:, 2] + X[:, 3] * X[:, 4] + rng.normal(size=1000)
    y = (y - y.mean()) / y.std()
    basis = pair_basis(X)
    pairs, tail = PairSearch(basis, np.arange(6)), plain_tail(basis, y, np.empty((1000, 0)), robust=False)

    def found(model):
        return [(first, second) for first, second, _ in pairs.best(NOTHING, model, y, tail, 0.01)]

    assert found([]) == [(0, 1)]
    assert found([0, 1, 2, 3, 5]) == [(0, 1), (1, 2)]
    assert sorted(found([0, 1, 2, 3, 4])) == [(0, 1), (1, 2), (3, 4)]
    assert sorted(found([0, 1, 2, 3, 4, (0, 1)])) == [(1, 2), (3, 4)]


@pytest.mark.parametrize("correlation", [0.0, 0.5, 0.95])
def test_the_level_holds_for_dependent_columns_too(correlation):
    below = 0
    for seed in range(400):
        rng = np.random.default_rng([seed, 5])
        X = np.sqrt(1 - correlation) * rng.normal(size=(200, 4)) + np.sqrt(correlation) * rng.normal(size=(200, 1))
        pair = search(X, rng.normal(size=200))
        below += pair is not None
    assert below <= 34  # at most 20 are expected; the margin is three standard deviations


@pytest.mark.parametrize("robust", [False, True])
def test_the_level_holds_for_unequal_variances_if_they_are_allowed_for(robust):
    below = 0
    for seed in range(400):
        rng = np.random.default_rng([seed, 6])
        X = rng.normal(size=(300, 3))
        pair = search(X, np.abs(X[:, 0] * X[:, 1]) * rng.normal(size=300), robust=robust)
        below += pair is not None
    assert (below <= 34) == robust


def test_main_effects_are_not_taken_for_a_pair():
    rng = np.random.default_rng(0)
    x = rng.normal(size=500)
    X = np.column_stack([x, x + 0.3 * rng.normal(size=500)])  # their product is nearly a square
    y = x**2 + rng.normal(size=500)
    design = prepare(X, [spline(column, 10).basis() for column in X.T])
    functions = np.hstack([design.table(j)[design.codes[j]] for j in range(2)])
    pair = search(X, y, functions)
    assert pair is None or pair.p_value > 1e-3


@pytest.mark.parametrize(("robust", "shared"), [(False, False), (True, False), (False, True)])
def test_a_model_leaves_of_a_pair_what_least_squares_leaves(robust, shared):
    rng = np.random.default_rng(2)
    X = rng.normal(size=(400, 3)) + rng.normal(size=(400, 1))
    y = np.sin(X[:, 0]) + X[:, 0] * X[:, 1] + X[:, 2] + rng.normal(size=400)
    X, y = (X - X.mean(axis=0)) / X.std(axis=0), (y - y.mean()) / y.std()
    basis = pair_basis(X)
    smooths = prepare(X, [spline(column, 10).basis() for column in X.T])
    model = RowModel(share_rows(X, smooths, basis, robust=robust, many_targets=shared), y)
    solved = model.solve([0, 2, (0, 1)])
    for pair in ((0, 2), (0, 1)):
        left = model.residual_of_pair(pair, solved)
        tail = pair_tail(left, model.orders(pair), 1.0, 400)
        assert tail == pytest.approx(plain_tail(basis, y, model.functions(solved), robust)(pair), rel=1e-4)


def test_functions_of_single_variables_are_the_same_shared_or_not(monkeypatch):
    rng = np.random.default_rng(4)
    X = np.column_stack([rng.normal(size=(200, 2)), rng.integers(0, 3, 200), np.zeros(200)])
    smooths = prepare(X, smooth_bases(X, 10, nominal={2}))
    X = np.column_stack([standardise(column) for column in X.T])
    shared, alone = SmoothFunctions(X, smooths, shared=True), SmoothFunctions(X, smooths)
    for j in range(4):
        np.testing.assert_array_equal(shared.functions(j), alone.functions(j))
    functions = np.hstack([alone.functions(j) for j in (2, 0)])
    np.testing.assert_allclose(shared.inner_products([2, 0]), functions.T @ functions / 200, atol=1e-12)
    assert alone.inner_products([2, 0]) is None
    monkeypatch.setattr(row_models, "SHARED_BYTES", 1000)
    assert SmoothFunctions(X, smooths, shared=True).inner_products([2, 0]) is None  # there is no capacity for a pair


def test_statistics_of_all_pairs_are_the_sums_they_stand_for():
    rng = np.random.default_rng(0)
    basis, r = pair_basis(rng.normal(size=(200, 5))), rng.normal(size=200)
    pairs = PairSearch(basis, np.arange(5))
    for rows in (np.arange(5), np.array([1, 3])):
        sums = np.einsum("anp,bnq,n->abpq", basis.values[rows], basis.values, r)
        expected = (sums**2 / np.outer(np.arange(1, 5), np.arange(1, 5))).sum(axis=(2, 3))
        np.testing.assert_allclose(pairs._statistics(rows, r), expected, rtol=1e-4)

"""The measures that save time and memory with thousands of variables do not change any result."""

from __future__ import annotations

import tracemalloc

import numpy as np
import pandas as pd
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from sartre import CausalDiscovery, Knowledge
from sartre.additive.bases.rank_polynomials import pair_basis
from sartre.additive.bases.splines import smooth_bases
from sartre.additive.bases.trees import Embedding, interval_bases
from sartre.additive.design import prepare
from sartre.additive.lasso import gradient_norms, solve, solve_path
from sartre.data.checks import default_names
from sartre.graph.paths import transitive_closure
from sartre.order import FixedOrder
from sartre.prune import SARTRE
from sartre.prune.sartre.constants import ALL_PAIRS, MOST_BY_CHANCE, SCREENING_LEVEL
from sartre.prune.sartre.pairs import BLOCK, PairSearch
from sartre.prune.sartre.screen import screening_level
from sartre.simulate import random_dag


def chain(n, d, seed=0):
    """Return a chain in which every variable depends on the one before it."""
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(n, d))
    for j in range(1, d):
        X[:, j] += 1.5 * np.sin(2 * X[:, j - 1])
    return X


def intervals_of(X):
    return prepare(X, interval_bases(X, default_names(X.shape[1]), Embedding(), 0))


# No mask, no matrix


@pytest.mark.parametrize("penalty", ["auto", 0.1])
def test_no_mask_is_the_mask_that_allows_all(penalty):
    X = chain(200, 8)
    X[:, 5] = 3.0
    order = np.random.default_rng(1).permutation(8)
    with pytest.warns(UserWarning, match="Constant columns"):
        free, masked = (
            SARTRE(penalty=penalty, random_state=0).fit(X, order, candidates)
            for candidates in (None, np.ones((8, 8), dtype=bool))
        )
    pd.testing.assert_frame_equal(free.edges_, masked.edges_)
    assert free.adjacency_matrix_.any()
    assert not free.adjacency_matrix_[:, 5].any()
    if penalty == "auto":
        assert free.false_edges_bound_ == pytest.approx(masked.false_edges_bound_)
        assert free.false_edges_bound_ == pytest.approx(0.03 * 6)


def test_pruning_holds_no_matrix_of_doubles_over_all_pairs():
    d = 1200
    X = np.random.default_rng(0).normal(size=(12, d))
    model = CausalDiscovery(FixedOrder(range(d)), SARTRE(penalty=2.0), random_state=0)
    CausalDiscovery(FixedOrder(range(2)), SARTRE(penalty=2.0), random_state=0).fit(X[:, :2])  # compile
    tracemalloc.start()
    try:
        model.fit(X)
        # There is no list of all pairs either, which would take 4 d^2 in addition to the graph's d^2.
        assert tracemalloc.get_traced_memory()[1] < 6 * d**2
    finally:
        tracemalloc.stop()


def test_nothing_known_takes_no_room():
    known = Knowledge().resolve(default_names(50))
    for mask in (known.before, known.forbidden, known.required):
        assert mask.shape == (50, 50)
        assert mask.strides == (0, 0)
        assert not mask.any()


# Screening


@settings(deadline=None)
@given(m=st.integers(0, 10**6))
def test_so_many_useless_variables_may_pass_the_screening_and_no_more(m):
    level = screening_level(m)
    assert level * m <= MOST_BY_CHANCE
    assert level == SCREENING_LEVEL or 2 * level * m > MOST_BY_CHANCE


def test_parents_are_found_among_more_candidates_than_the_screening_is_loose_for():
    rng = np.random.default_rng(0)
    X = rng.normal(size=(300, 451))
    X[:, 450] += 2 * np.sin(2 * X[:, 7]) + X[:, 440] ** 2 + X[:, 3]
    last = np.zeros((451, 451), dtype=bool)
    last[:, 450] = True
    found = SARTRE(interactions=False, random_state=0).fit(X, range(451), candidates=last).adjacency_matrix_
    assert np.flatnonzero(found[:, 450]).tolist() == [3, 7, 440]


def test_columns_that_come_later_change_nothing():
    X = np.hstack([chain(200, 6), np.random.default_rng(1).normal(size=(200, 500))])
    early = np.zeros((506, 506), dtype=bool)
    early[:, :6] = True
    pruner = SARTRE(interactions=False, robust=False, random_state=0)
    alone = pruner.fit(X[:, :6], range(6)).edges_
    pd.testing.assert_frame_equal(pruner.fit(X, range(506), candidates=early).edges_, alone)
    assert len(alone) >= 5


# The engine


def test_bases_made_one_by_one_give_the_same_design_as_a_list_of_them():
    rng = np.random.default_rng(0)
    X = np.column_stack([rng.integers(0, 5, 400), rng.normal(size=400), np.zeros(400), rng.normal(size=400)])
    at_once, streamed = prepare(X, list(smooth_bases(X, 10))), prepare(X, smooth_bases(X, 10))
    for one, other in zip(at_once, streamed, strict=True):
        np.testing.assert_array_equal(one, other)
    assert streamed.codes.dtype == np.uint16  # only the first column needs a byte
    assert streamed.rank.tolist() == [4, 9, 0, 9]
    for j in (0, 1, 3):
        alone = prepare(X[:, [j]], smooth_bases(X[:, [j]], 10))
        np.testing.assert_array_equal(streamed.table(j), alone.table(0))
        np.testing.assert_array_equal(streamed.codes[j], alone.codes[0])


def test_a_warm_start_ends_where_a_cold_one_does_and_its_bounds_are_bounds():
    X = chain(300, 40)
    design, y, candidates = intervals_of(X), X[:, 20] + X[:, 30], np.arange(20)
    for solution in solve_path(design, y, candidates, [0.5, 0.2, 0.1, 0.05], tol=1e-9):
        cold = solve(design, y, candidates, solution.penalties[0], tol=1e-9)
        assert solution.support.tolist() == cold.support.tolist()
        assert solution.objective == pytest.approx(cold.objective, rel=1e-7)
        exact = gradient_norms(design, solution.residual, candidates)
        assert (solution.bounds >= exact - 1e-9).all()


def test_pairs_searched_in_blocks_are_those_of_one_product():
    rng = np.random.default_rng(0)
    d, n = 2 * BLOCK + 5, 40
    assert BLOCK >= ALL_PAIRS
    basis, residual = pair_basis(rng.normal(size=(n, d))), rng.normal(size=n)
    rows = np.array([0, BLOCK - 1, BLOCK, d - 1])
    found = PairSearch(basis, np.arange(d))._statistics(rows, residual)
    z = np.einsum("anp,bnq,n->apbq", basis.values[rows], basis.values, residual)
    expected = (z**2 / np.outer(range(1, 5), range(1, 5))[None, :, None, :]).sum(axis=(1, 3))
    np.testing.assert_allclose(found, expected, rtol=1e-3)


# Other parts


@settings(max_examples=50, deadline=None)
@given(d=st.integers(1, 20), density=st.floats(0, 0.3), seed=st.integers(0, 10**6))
def test_the_transitive_closure_is_the_sum_of_all_powers(d, density, seed):
    matrix = np.random.default_rng(seed).random((d, d)) < density
    power = reached = matrix.astype(int)
    for _ in range(d):
        power = np.minimum(power @ matrix.astype(int), 1)
        reached = np.maximum(reached, power)
    np.testing.assert_array_equal(transitive_closure(matrix), reached.astype(bool))


@pytest.mark.parametrize(("d", "n_edges"), [(1, 0), (2, 1), (7, 21), (30, 40)])
def test_random_graphs_are_the_pairs_that_were_drawn(d, n_edges):
    rng = np.random.default_rng(3)
    rows, columns = np.triu_indices(d, k=1)
    chosen = rng.choice(len(rows), size=n_edges, replace=False)
    oldest_first = np.zeros((d, d), dtype=np.uint8)
    oldest_first[rows[chosen], columns[chosen]] = 1
    labels = rng.permutation(d)
    expected = oldest_first[np.ix_(labels, labels)]
    np.testing.assert_array_equal(random_dag(d, n_edges, random_state=3).adjacency, expected)

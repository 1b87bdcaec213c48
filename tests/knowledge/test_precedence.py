"""Precedences are transitively closed, free of cycles, and obeyed."""

from __future__ import annotations

import numpy as np
import pytest

from sartre.graph.paths import find_cycle, transitive_closure
from sartre.knowledge.precedence import check_before, obeyed
from sartre.order import SCORE, FixedOrder


def random_before(rng, d):
    order = rng.permutation(d)
    matrix = np.zeros((d, d), dtype=bool)
    matrix[np.ix_(order, order)] = np.triu(rng.random((d, d)) < 0.2, k=1)
    return matrix


def holds(order, before):
    position = np.argsort(order)
    return bool((position[:, None] < position)[before].all())


@pytest.mark.parametrize("seed", range(20))
def test_the_closure_is_that_of_matrix_powers(seed):
    rng = np.random.default_rng(seed)
    matrix = rng.random((7, 7)) < 0.2
    powers = [np.linalg.matrix_power(matrix.astype(float), k) for k in range(1, 8)]
    np.testing.assert_array_equal(transitive_closure(matrix), sum(powers) > 0)


@pytest.mark.parametrize("seed", range(20))
def test_any_order_can_be_made_to_obey(seed):
    rng = np.random.default_rng(seed)
    before = random_before(rng, 8)
    order = obeyed(rng.permutation(8), check_before(before, list("abcdefgh")))
    assert sorted(order) == list(range(8))
    assert holds(order, before)
    np.testing.assert_array_equal(obeyed(order, transitive_closure(before)), order)


def test_a_cycle_is_named():
    matrix = np.zeros((4, 4), dtype=bool)
    matrix[0, 1] = matrix[1, 2] = matrix[2, 0] = matrix[2, 3] = True
    assert find_cycle(matrix) == [0, 1, 2, 0]
    with pytest.raises(ValueError, match="a before b before c before a"):
        check_before(matrix, list("abcd"))
    with pytest.raises(ValueError, match="d before d"):
        check_before(np.diag([False, False, False, True]), list("abcd"))


@pytest.mark.parametrize("before", [np.zeros((2, 3)), np.full((3, 3), 2), "abc"])
def test_anything_but_a_matrix_of_booleans_is_refused(before):
    with pytest.raises(ValueError, match="'before' must be"):
        check_before(before, list("abc"))


@pytest.mark.filterwarnings("ignore:Constant columns")
@pytest.mark.parametrize("seed", range(10))
def test_score_obeys_constant_columns_or_not(seed):
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(60, 6)).cumsum(axis=1)
    X[:, 2] = 1.0
    before = random_before(rng, 6)
    order = SCORE().fit(X, before=before).order_
    assert sorted(order) == list(range(6))
    assert holds(order, before)


def test_a_fixed_order_that_cannot_be_is_refused():
    before = np.zeros((3, 3), dtype=bool)
    before[1, 0] = True
    X = np.random.default_rng(0).normal(size=(20, 3))
    assert FixedOrder([1, 0, 2]).fit(X, before=before).order_.tolist() == [1, 0, 2]
    with pytest.raises(ValueError, match="has 'x0' before 'x1', but 'x1' must come first"):
        FixedOrder([0, 1, 2]).fit(X, before=before)

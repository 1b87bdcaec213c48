"""SCORE and fixed orders: permutations that follow the data, not the columns."""

from __future__ import annotations

import numpy as np
import pandas as pd
import pytest

from sartre.metrics import order_divergence
from sartre.order import SCORE, FixedOrder
from sartre.simulate import random_dag, simulate
from sartre.stein.estimator import Stein


@pytest.fixture(scope="module")
def data():
    return simulate(random_dag(8, 8, random_state=1), 400, random_state=1)


def test_the_order_is_close_to_a_true_one(data):
    assert order_divergence(data.dag, SCORE().fit(data.X).order_) <= 1


def test_permuting_columns_permutes_the_order(data):
    shuffled = data.X[list(np.random.default_rng(0).permutation(data.X.columns))]
    plain = [data.X.columns[j] for j in SCORE().fit(data.X).order_]
    assert [shuffled.columns[j] for j in SCORE().fit(shuffled).order_] == plain


@pytest.mark.filterwarnings("ignore:Duplicated columns")
def test_the_number_of_threads_changes_nothing_even_with_copies(data):
    copied = data.X.assign(copy=data.X.iloc[:, 0], again=data.X.iloc[:, 0])
    orders = [SCORE(n_jobs=jobs).fit(copied).order_.tolist() for jobs in (None, 2)]
    assert orders[0] == orders[1]


def test_shifting_columns_changes_nothing(data):
    shifted = data.X + 1e5 * np.arange(8)
    np.testing.assert_array_equal(SCORE().fit(shifted).order_, SCORE().fit(data.X).order_)


def test_the_first_leaf_has_the_smallest_variance_of_the_hessian_diagonal(data):
    variances = Stein(data.X.to_numpy(), 0.001).hessian_diagonal().var(axis=0)
    assert SCORE().fit(data.X).order_[-1] == variances.argmin()


@pytest.mark.filterwarnings("ignore:Constant columns", "ignore:Duplicated columns")
def test_constant_and_duplicated_columns_keep_the_order_a_permutation(data):
    awkward = data.X.assign(flat=1.0, copy=data.X.iloc[:, 0], zero=0.0)
    order = SCORE().fit(awkward).order_
    assert sorted(order) == list(range(11))
    assert set(order[:2]) == {8, 10}
    assert sorted(SCORE().fit(np.ones((20, 3))).order_) == [0, 1, 2]
    assert SCORE().fit(np.arange(20.0)[:, None]).order_.tolist() == [0]


@pytest.mark.parametrize(("eta", "error"), [(0, ValueError), (-1.0, ValueError), ("a", TypeError), (True, TypeError)])
def test_a_wrong_ridge_is_refused(eta, error):
    with pytest.raises(error, match=r"The 'eta' parameter of SCORE must be a float in the range \(0.0, inf\)"):
        SCORE(eta=eta).fit(np.random.default_rng(0).normal(size=(20, 2)))


def test_a_fixed_order_takes_names_or_numbers():
    frame = pd.DataFrame({"a": [1.0, 2], "b": [3.0, 5], "c": [0.0, 1]})
    assert FixedOrder(["c", "a", "b"]).fit(frame).order_.tolist() == [2, 0, 1]
    assert FixedOrder(np.array([2, 0, 1])).fit(frame).order_.tolist() == [2, 0, 1]


@pytest.mark.parametrize(
    "order", [[0, 1], [0, 1, 1], [0, 1, 3], ["a", "b", "z"], [0.5, 1, 2], [-1, 0, 1], [0, 1, 2, 2]]
)
def test_what_is_not_a_permutation_is_refused(order):
    frame = pd.DataFrame({"a": [1.0, 2], "b": [3.0, 5], "c": [0.0, 1]})
    with pytest.raises(ValueError, match="An order"):
        FixedOrder(order).fit(frame)


@pytest.mark.parametrize("unit", [1e-100, 1e100])
def test_extreme_units_give_an_order_and_not_the_columns(data, unit):
    permuted = data.X[list(data.X.columns[::-1])]
    plain, other = (SCORE().fit(X * unit).order_ for X in (data.X, permuted))
    np.testing.assert_array_equal(7 - other, plain)


def test_the_fast_form_gives_the_exact_order_and_nearly_its_scores(data):
    exact, fast = SCORE(exact=True).fit(data.X), SCORE().fit(data.X)
    np.testing.assert_array_equal(fast.order_, exact.order_)
    np.testing.assert_allclose(fast.scores_, exact.scores_, rtol=0.1)
    np.testing.assert_allclose(fast.scores_[:5], exact.scores_[:5], rtol=0.01)  # five or fewer use double precision


def test_max_samples_is_score_on_so_many_rows_drawn_by_the_seed(data):
    some = SCORE(max_samples=150, random_state=3).fit(data.X)
    np.testing.assert_array_equal(some.scores_, SCORE(max_samples=150, random_state=3).fit(data.X).scores_)
    assert not np.array_equal(some.scores_, SCORE(max_samples=150, random_state=4).fit(data.X).scores_, equal_nan=True)
    every = SCORE(max_samples=400, random_state=3).fit(data.X)
    np.testing.assert_array_equal(every.scores_, SCORE().fit(data.X).scores_)


@pytest.mark.parametrize(("value", "error"), [(1, ValueError), (10.0, TypeError)])
def test_a_wrong_number_of_samples_is_refused(data, value, error):
    with pytest.raises(error, match="The 'max_samples' parameter of SCORE must be an int"):
        SCORE(max_samples=value).fit(data.X)

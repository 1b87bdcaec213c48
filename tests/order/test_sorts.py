"""The baselines: sorting by variance, by R^2, and at random."""

from __future__ import annotations

import numpy as np
import pytest
from sklearn.linear_model import LinearRegression

from sartre.order import R2Sort, RandomOrder, VarianceSort


@pytest.fixture
def table():
    rng = np.random.default_rng(0)
    return rng.normal(size=(200, 6)) @ rng.normal(size=(6, 6))


def test_variance_sort_sorts_by_variance_and_obeys_a_demand_with_one_change():
    X = np.array([[0.0, 0, 0], [3, 1, 2]])
    assert VarianceSort().fit(X).order_.tolist() == [1, 2, 0]
    assert VarianceSort().fit(X, before=[[0, 1, 0], [0, 0, 0], [0, 0, 0]]).order_.tolist() == [2, 0, 1]


def test_r2_is_that_of_a_regression_on_all_others(table):
    regressions = [
        LinearRegression().fit(np.delete(table, j, 1), table[:, j]).score(np.delete(table, j, 1), table[:, j])
        for j in range(6)
    ]
    np.testing.assert_allclose(R2Sort().fit(table).scores_, regressions, rtol=1e-9)
    assert R2Sort().fit(table).order_.tolist() == np.argsort(regressions).tolist()


def test_with_fewer_rows_than_columns_everything_is_explained():
    few = np.random.default_rng(0).normal(size=(5, 8))
    np.testing.assert_array_equal(R2Sort().fit(few).scores_, np.ones(8))


def test_units_change_a_sort_by_variance_but_not_by_r2(table):
    units = 10.0 ** np.arange(6)[::-1]
    assert VarianceSort().fit(table * units).order_.tolist() == [5, 4, 3, 2, 1, 0]
    np.testing.assert_array_equal(R2Sort().fit(table * units + 7).order_, R2Sort().fit(table).order_)


def test_a_random_order_is_that_of_its_seed_and_all_orders_occur(table):
    drawn = [tuple(RandomOrder(random_state=seed).fit(table[:, :3]).order_) for seed in range(100)]
    assert len(set(drawn)) == 6
    assert drawn == [tuple(RandomOrder(random_state=seed).fit(table[:, :3]).order_) for seed in range(100)]


def test_all_orders_that_obey_occur(table):
    before = np.array([[0, 1, 0], [0, 0, 0], [0, 0, 0]])
    drawn = {tuple(RandomOrder(random_state=seed).fit(table[:, :3], before).order_.tolist()) for seed in range(100)}
    assert drawn == {(0, 1, 2), (0, 2, 1), (2, 0, 1)}

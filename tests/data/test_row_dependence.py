"""Rows that depend on their neighbours are found, and rows that were merely sorted are not."""

from __future__ import annotations

import warnings

import numpy as np
import pandas as pd
import pytest

from sartre import CausalDiscovery
from sartre.data.checks import as_table
from sartre.data.read_design import with_design
from sartre.data.row_dependence import RowSorting, dependence_between_rows, neighbour_correlation
from sartre.prune import SARTRE


def series(phi, n=500, d=6, seed=0):
    """Return independent columns whose rows follow each other: an autoregression, or a random walk for phi = 1."""
    X = np.random.default_rng(seed).normal(size=(n, d))
    for i in range(1, n):
        X[i] += phi * X[i - 1]
    return X


@pytest.mark.parametrize("phi", [0.5, 0.9, 1.0])
def test_time_series_are_found(phi):
    assert "x0, x1" in (dependence_between_rows(as_table(series(phi))) or "")


def test_groups_of_rows_are_found():
    rng = np.random.default_rng(0)
    X = np.repeat(rng.normal(size=(100, 4)), 10, axis=0) + rng.normal(size=(1000, 4))
    assert dependence_between_rows(as_table(X)) is not None


@pytest.mark.parametrize("seed", range(20))
def test_independent_rows_are_not_reported_even_if_they_were_sorted(seed):
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(300, 8))
    X[:, 1] += np.sin(2 * X[:, 0])
    X[:, 2] += X[:, 0] ** 2
    for rows in (np.arange(300), np.argsort(X[:, 0]), np.argsort(-X[:, 2])):
        assert dependence_between_rows(as_table(X[rows])) is None


def test_one_column_that_follows_the_rows_does_no_harm():
    X = np.random.default_rng(0).normal(size=(400, 3))
    X[:, 1] = np.cumsum(X[:, 1])
    assert dependence_between_rows(as_table(X)) is None


def test_units_missing_values_and_outliers_make_no_difference():
    X = series(0.8)
    other = 1e6 - 3 * X
    other[::50] = np.nan
    other[7] = 1e12
    assert "x0, x1" in (dependence_between_rows(as_table(other, missing=True)) or "")


@pytest.mark.parametrize("column", [np.ones(100), np.arange(19.0) % 3, np.empty(0)])
def test_columns_that_say_nothing_have_no_correlation(column):
    unsorted = RowSorting((), np.zeros(len(column), dtype=np.intp))
    assert np.isnan(neighbour_correlation(column, unsorted))


def test_trends_clocks_and_few_groups_are_found():
    rng = np.random.default_rng(0)
    noise = rng.normal(size=(600, 6))
    trend = noise + 3 * np.linspace(0, 1, 600)[:, None]
    groups = noise + np.repeat(rng.normal(size=(3, 6)), 200, axis=0)
    clocks = np.cumsum(rng.exponential(size=(300, 5)), axis=0)
    for X in (trend, groups, clocks, series(1.0, n=40)):
        assert dependence_between_rows(as_table(X)) is not None


def test_a_time_series_with_its_time_is_found():
    assert dependence_between_rows(as_table(np.column_stack([np.arange(500), series(0.9)]))) is not None


def test_rows_sorted_by_several_columns_or_put_together_by_a_category_are_not_reported():
    rng = np.random.default_rng(0)
    flags, scale = (rng.random((1000, 6)) < 0.3) * 1.0, rng.integers(0, 5, size=(800, 6)).astype(float)
    city = np.sort(rng.integers(0, 40, size=1000))
    effects = rng.normal(size=(40, 3))[city] + rng.normal(size=(1000, 3))
    frame = pd.DataFrame(effects, columns=list("abc")).assign(city=[f"c{k}" for k in rng.permutation(40)[city]])
    for table in (flags[np.lexsort(flags.T)], np.unique(scale, axis=0), frame):
        assert dependence_between_rows(as_table(table, categories=True)) is None


def test_a_fit_to_random_walks_warns_and_promises_nothing():
    walks = pd.DataFrame(series(1.0), columns=list("abcdef"))
    with pytest.warns(UserWarning, match=r"Neighbouring rows are correlated in a, b.*Take differences, keep"):
        model = CausalDiscovery(random_state=0).fit(walks)
    assert np.isnan(model.prune_step_.false_edges_bound_)
    with pytest.warns(UserWarning, match="Neighbouring rows are correlated"):
        SARTRE(random_state=0).fit(walks, list("abcdef"))


def test_their_differences_are_independent():
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        model = CausalDiscovery(random_state=0).fit(np.diff(series(1.0), axis=0))
    assert len(model.edges_) == 0
    assert model.prune_step_.false_edges_bound_ > 0


def test_what_is_known_about_the_rows_is_not_reported():
    rng = np.random.default_rng(0)
    site, patient = np.repeat(np.arange(4), 100), np.repeat(np.arange(80), 5)
    noise = rng.normal(size=(400, 6))
    by_site, by_patient = noise + rng.normal(size=(4, 6))[site], noise + rng.normal(size=(80, 6))[patient]
    for X, said in ((by_site, {"environment": site}), (by_patient, {"groups": patient})):
        assert "groups= for those that belong together, environment=" in dependence_between_rows(as_table(X))
        assert dependence_between_rows(with_design(X, **said)) is None
    assert dependence_between_rows(with_design(by_site + series(0.9, n=400), environment=site)) is not None

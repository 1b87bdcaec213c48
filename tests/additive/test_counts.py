"""Totals over rows: exact, and the same however the rows are cut."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.interpolate import CubicSpline

from sartre.additive.bins import encode
from sartre.additive.counts import IntervalCounter
from sartre.additive.products import SmoothCounter
from sartre.additive.trees import random_intervals


def mixed_table(n, seed):
    """A smooth, a heavy-tailed, a discrete and a constant column."""
    rng = np.random.default_rng(seed)
    x = rng.normal(size=n)
    return np.column_stack([x, np.exp(x + rng.normal(size=n)), rng.integers(0, 3, n), np.full(n, 7.0)])


def interval_counter(X, seed):
    rng = np.random.default_rng(seed)
    return IntervalCounter.of([random_intervals(column, 5, 8, rng) for column in X.T], X)


def arrays(totals):
    return {name: value for name, value in vars(totals).items() if isinstance(value, np.ndarray)}


@pytest.mark.parametrize("counter", [interval_counter, lambda X, _: SmoothCounter.of(X)])
@settings(max_examples=15, deadline=None)
@given(cuts=st.lists(st.integers(0, 3000), max_size=6), seed=st.integers(0, 1000))
def test_totals_are_the_same_to_the_last_bit_however_the_rows_are_cut(counter, cuts, seed):
    X = mixed_table(3000, seed)
    counts = counter(X[:500], seed)
    whole = counts.count(X)
    parts = [counts.count(part) for part in np.split(X, sorted(cuts))]
    np.random.default_rng(seed).shuffle(parts)
    total = parts[0]
    for part in parts[1:]:
        total = total + part
    assert total.n == whole.n == 3000
    for name, value in arrays(whole).items():
        np.testing.assert_array_equal(getattr(total, name), value, err_msg=name)


@settings(max_examples=15, deadline=None)
@given(n=st.integers(2, 400), seed=st.integers(0, 1000))
def test_interval_totals_are_the_counts_and_sums_of_the_rows(n, seed):
    X = mixed_table(n, seed)
    counter = interval_counter(X, seed)
    totals = counter.count(X)
    codes = [encode(column, edges) for column, edges in zip(X.T, counter.edges, strict=True)]
    onehot = [np.eye(size)[code] for size, code in zip(counter.n_bins, codes, strict=True)]
    for j in range(4):
        for k in range(j + 1, 4):
            first = counter.pair_start[j, k]
            table = totals.pairs[first : first + counter.n_bins[j] * counter.n_bins[k]]
            np.testing.assert_array_equal(table, (onehot[j].T @ onehot[k]).ravel())
    sums = np.vstack([indicators.T @ (X - counter.centre) for indicators in onehot])
    np.testing.assert_allclose(counter.deviations(totals), sums, rtol=1e-9, atol=1e-8 * np.abs(X).max())
    np.testing.assert_allclose(counter.variances(totals), X.var(axis=0), rtol=1e-7, atol=1e-12)


def hats(column, nodes):
    """The hat functions of a column, evaluated at its values."""
    return np.column_stack([np.interp(column, nodes, unit) for unit in np.eye(len(nodes))])


@settings(max_examples=10, deadline=None)
@given(n=st.integers(2, 400), seed=st.integers(0, 1000))
def test_smooth_totals_are_the_products_of_the_hats_and_the_columns(n, seed):
    X = mixed_table(n, seed)
    counter = SmoothCounter.of(X[: max(2, n // 2)])
    totals = counter.count(X)
    functions = [hats(column, nodes) for column, nodes in zip(X.T, counter.nodes, strict=True)]
    Z = np.clip((X - counter.centre) / counter.scale, -32, 32)
    for j in range(4):
        for k in range(4):
            np.testing.assert_allclose(
                counter._hats(totals, j, k), functions[j].T @ functions[k] / n, atol=1e-3
            )  # weights are rounded to 1 / 4096
        np.testing.assert_allclose(counter._sums(totals, j), functions[j].T @ Z / n, atol=1e-2)
    np.testing.assert_allclose(totals.products[1:, 1:] / 2.0**32, Z.T @ Z, rtol=1e-3, atol=1e-3 * n)


@pytest.mark.parametrize("n_splines", [8, 40])
def test_smooths_from_hats_are_those_of_the_rows_and_orthonormal_over_all(n_splines):
    X = mixed_table(5000, seed=3)
    X[:, 1] = np.log(X[:, 1])
    counter = SmoothCounter.of(X[:1000])
    products = counter.gram(counter.count(X), n_splines, np.array([1, 0, 2]))
    start, rank = products.start, products.rank
    np.testing.assert_array_equal(rank, [n_splines - 1, n_splines - 1, 2])
    for j in range(3):
        block = products.matrix[start[j] : start[j] + rank[j]][:, start[j] : start[j] + rank[j]]
        np.testing.assert_allclose(block, np.eye(rank[j]), atol=1e-9)
    np.testing.assert_allclose(products.cross[start], np.corrcoef(X[:, [1, 0, 2]].T), atol=1e-4)
    lines = X[:, [1, 0]] - X[:, [1, 0]].mean(axis=0)
    spaces = []
    for j in (1, 0):
        nodes = counter.nodes[j]
        z = (nodes - counter.centre[j]) / counter.scale[j]
        knots = np.quantile(z, np.linspace(0, 1, n_splines))
        table = hats(X[:, j], nodes) @ CubicSpline(knots, np.eye(n_splines), bc_type="natural")(z)
        whole = np.column_stack([lines[:, 1 - j], table - table.mean(axis=0)])
        left, size, _ = np.linalg.svd(whole, full_matrices=False)
        spaces.append(left[:, size > 1e-2 * size[0]])
    cosines = products.matrix[start[0] : start[0] + rank[0], start[1] : start[1] + rank[1]]
    largest = np.linalg.svd(spaces[0].T @ spaces[1])[1][0]
    np.testing.assert_allclose(np.linalg.svd(cosines)[1][0], largest, atol=2e-2)  # the canonical correlation


def test_columns_that_stop_varying_have_no_function():
    rng = np.random.default_rng(0)
    X = rng.normal(size=(500, 2))
    counter = SmoothCounter.of(X)
    products = counter.gram(counter.count(np.column_stack([X[:, 0], np.zeros(500)])), 5)
    assert products.rank.tolist() == [4, 0]
    assert not products.cross[:, 1].any()


def test_the_tables_of_many_columns_stay_small():
    X = np.random.default_rng(0).normal(size=(300, 300))
    counter = SmoothCounter.of(X)
    assert counter.count(X[:2]).pairs.nbytes <= 2**29
    assert SmoothCounter.of(X[:, :50]).n_nodes.tolist() == [64] * 50


def test_values_far_beyond_the_sample_do_not_overflow():
    values = np.random.default_rng(0).normal(size=(20_000, 2))
    values[:5000, 0] = 1e6
    counter = IntervalCounter((np.zeros(1), np.zeros(1)), centre=np.zeros(2), scale=np.ones(2))
    totals = counter.count(values[:9000]) + counter.count(values[9000:])
    np.testing.assert_allclose(counter.variances(totals), np.clip(values, -128, 128).var(axis=0))
    many = counter.count(np.full((60_000, 2), 1e6))
    for _ in range(2):
        many += many
    with pytest.raises(ValueError, match="Too many rows, or far larger values"):
        _ = many + many

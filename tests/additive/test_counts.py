"""Totals over rows: exact, and the same however the rows are cut."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from sartre.additive.bins import encode
from sartre.additive.counts import IntervalCounter
from sartre.additive.products import SmoothCounter
from sartre.additive.splines import rotated, spline
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


@pytest.mark.parametrize("counter", [interval_counter, lambda X, _: SmoothCounter.of(X, 6)])
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


def test_smooth_totals_are_the_products_of_the_functions_and_stay_orthonormal_over_all_rows():
    X = mixed_table(5000, seed=3)[:, :3]
    counter = SmoothCounter.of(X[:1000], 8)
    products = counter.gram(counter.count(X))
    start, rank = products.start, products.rank
    np.testing.assert_array_equal(rank, [7, 7, 2])
    for j in range(3):
        block = products.matrix[start[j] : start[j] + rank[j]][:, start[j] : start[j] + rank[j]]
        np.testing.assert_allclose(block, np.eye(rank[j]), atol=1e-9)
    functions = [rotated(spline(X[:1000, j], 8), X[:1000, j])(X[:, j]) for j in range(2)]
    Q = [np.linalg.qr(block - block.mean(axis=0))[0] for block in functions]
    cosines = products.matrix[start[0] : start[0] + 7, start[1] : start[1] + 7]
    np.testing.assert_allclose(
        np.linalg.svd(cosines)[1], np.linalg.svd(Q[0].T @ Q[1])[1], atol=1e-4
    )  # the same two spaces
    np.testing.assert_allclose(products.cross[start[:3]], np.corrcoef(X.T), atol=1e-4)


def test_columns_that_stop_varying_have_no_function():
    rng = np.random.default_rng(0)
    X = rng.normal(size=(500, 2))
    counter = SmoothCounter.of(X, 5)
    products = counter.gram(counter.count(np.column_stack([X[:, 0], np.zeros(500)])))
    assert products.rank.tolist() == [4, 0]
    assert not products.cross[:, 1].any()

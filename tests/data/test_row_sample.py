"""A sample of rows depends only on the seed and the row numbers, or on what the rows hold."""

from __future__ import annotations

import numpy as np
from hypothesis import given, settings
from hypothesis import strategies as st

from sartre.data.row_sample import RowSample, drawn_rows, hashes, sample_rows


@settings(max_examples=50, deadline=None)
@given(
    n=st.integers(1, 300),
    size=st.integers(1, 50),
    cuts=st.lists(st.integers(0, 300), max_size=8),
    seed=st.integers(0, 2**100),
)
def test_the_sample_is_the_rows_with_the_smallest_hashes_however_they_arrive(n, size, cuts, seed):
    X = np.arange(2.0 * n).reshape(n, 2)
    expected = np.sort(np.argsort(hashes(np.arange(n), seed))[:size])
    blocks = np.split(X, sorted(cut for cut in cuts if cut <= n))
    streamed = sample_rows(iter(blocks), seed, size)
    first, parts = 0, []
    for block in blocks:
        parts.append(RowSample.of(block, first, seed, size))
        first += len(block)
    merged = parts[-1]
    for part in reversed(parts[:-1]):
        merged = merged + part
    for sample in (RowSample.of(X, 0, seed, size), streamed, merged):
        assert sample.n == n
        np.testing.assert_array_equal(sample.numbers, expected)
        np.testing.assert_array_equal(sample.values, X[expected])


def test_without_a_block_there_is_no_sample():
    assert sample_rows([], seed=0, size=5) is None


def test_hashes_differ_by_row_and_by_seed_and_are_spread_evenly():
    numbers = np.arange(100_000)
    found = hashes(numbers, seed=1)
    assert len(np.unique(found)) == len(numbers)
    assert (found != hashes(numbers, seed=2)).all()
    counts = np.bincount((found >> np.uint64(58)).astype(int), minlength=64)
    assert ((counts - len(numbers) / 64) ** 2).sum() / (len(numbers) / 64) < 130  # chi-square, 63 degrees of freedom


@settings(max_examples=50, deadline=None)
@given(n=st.integers(50, 100), d=st.integers(5, 8), size=st.integers(1, 80), seed=st.integers(0, 2**100))
def test_rows_are_drawn_by_what_they_hold(n, d, size, seed):
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(n, d))
    X[:, 0] = np.round(X[:, 0])  # ties are broken by the other columns
    rows, columns = rng.permutation(n), rng.permutation(d)
    moved = X[np.ix_(rows, columns)] * rng.uniform(0.1, 10, d) - 1e6
    drawn, other = drawn_rows(X, seed, size), drawn_rows(moved, seed, size)
    assert len(drawn) == min(n, size) == len(set(drawn.tolist()))
    np.testing.assert_array_equal(rows[other], drawn)


def test_another_seed_draws_other_rows():
    X = np.random.default_rng(0).normal(size=(100, 2))
    assert set(drawn_rows(X, 0, 20).tolist()) != set(drawn_rows(X, 1, 20).tolist())


def test_an_empty_table_has_no_rows_to_draw():
    assert drawn_rows(np.empty((0, 3)), seed=0).tolist() == []

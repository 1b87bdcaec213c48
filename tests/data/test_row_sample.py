"""The sample of rows depends on the seed and the rows' numbers only."""

from __future__ import annotations

import numpy as np
from hypothesis import given, settings
from hypothesis import strategies as st

from sartre.data.row_sample import RowSample, hashes, sample_rows


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


def test_no_block_no_sample():
    assert sample_rows([], seed=0, size=5) is None


def test_hashes_differ_by_row_and_by_seed_and_are_spread_evenly():
    numbers = np.arange(100_000)
    found = hashes(numbers, seed=1)
    assert len(np.unique(found)) == len(numbers)
    assert (found != hashes(numbers, seed=2)).all()
    counts = np.bincount((found >> np.uint64(58)).astype(int), minlength=64)
    assert ((counts - len(numbers) / 64) ** 2).sum() / (len(numbers) / 64) < 130  # chi-square, 63 degrees of freedom

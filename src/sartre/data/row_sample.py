"""Samples of rows: by their numbers, however the rows arrive, or by their contents, whatever their order."""

from __future__ import annotations

import hashlib
from collections.abc import Iterable
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from sartre.data.table import standardise_columns

STEPS_PER_DEVIATION = 1000.0  # steps per standard deviation to which values are rounded before they are hashed
FARTHEST = 1e6  # standard deviations; values beyond are counted there
SAME_COLUMN = 1e-7  # columns whose statistics differ by less may differ by rounding only


@dataclass(frozen=True)
class RowSample:
    """The rows with the smallest hashes of their numbers; samples of two parts of the rows can be added (``a + b``).

    Attributes
    ----------
    seed, size : int
        Seed of the hash, and the largest number of rows kept.
    n : int
        Number of rows that the sample was drawn from.
    numbers : int64 array of shape (m,)
        Numbers of the rows kept, in increasing order.
    values : array of shape (m, d)

    Examples
    --------
    >>> X = np.arange(20.0).reshape(10, 2)
    >>> whole = RowSample.of(X, 0, seed=1, size=4)
    >>> samples = RowSample.of(X[:7], 0, seed=1, size=4) + RowSample.of(X[7:], 7, seed=1, size=4)
    >>> whole.numbers.tolist() == samples.numbers.tolist(), len(samples.values)
    (True, 4)
    """

    seed: int
    size: int
    n: int
    numbers: NDArray[np.int64]
    values: NDArray[np.float64]

    @staticmethod
    def of(values: NDArray[np.float64], first: int, seed: int, size: int) -> RowSample:
        """Draw from rows, shape (m, d), which are numbered from `first` on."""
        numbers = np.arange(first, first + len(values))
        kept = smallest(numbers, seed, size)
        return RowSample(seed, size, len(values), numbers[kept], values[kept])

    def __add__(self, other: RowSample) -> RowSample:
        numbers = np.concatenate([self.numbers, other.numbers])
        kept = smallest(numbers, self.seed, self.size)
        kept = kept[np.argsort(numbers[kept])]
        values = np.concatenate([self.values, other.values])[kept]
        return RowSample(self.seed, self.size, self.n + other.n, numbers[kept], values)


def smallest(numbers: NDArray[np.int64], seed: int, size: int) -> NDArray[np.intp]:
    """Return the positions of the `size` rows with the smallest hashes, in increasing order."""
    if len(numbers) <= size:
        return np.arange(len(numbers))
    return np.sort(np.argpartition(hashes(numbers, seed), size - 1)[:size])


def hashes(numbers: NDArray[np.int64], seed: int) -> NDArray[np.uint64]:
    """Return a pseudo-random integer for every row number, no two alike (the counter hash SplitMix64).

    Examples
    --------
    >>> hashes(np.arange(2), seed=0).tolist() == hashes(np.arange(1, 3), seed=0).tolist()
    False
    """
    key = int.from_bytes(hashlib.blake2b(str(seed).encode(), digest_size=8).digest(), "little")
    z = numbers.astype(np.uint64) * np.uint64(0x9E3779B97F4A7C15) + np.uint64(key)
    z = (z ^ (z >> np.uint64(30))) * np.uint64(0xBF58476D1CE4E5B9)
    z = (z ^ (z >> np.uint64(27))) * np.uint64(0x94D049BB133111EB)
    return z ^ (z >> np.uint64(31))


def drawn_rows(values: NDArray[np.float64], seed: int, size: int | None = None) -> NDArray[np.intp]:
    """Draw rows of a table without replacement, in an order that depends only on the seed and the rows' contents.

    The key of a row is the sum of hashes of its standardised values, rounded, each with the rank of its column. Columns
    are ranked by their own distribution and their correlations. The order of rows and columns, their names and their
    units make no difference: the same observations are drawn, in the same order.

    Parameters
    ----------
    values : array of shape (n, d)
        NaN where missing.
    seed : int
    size : int, optional
        How many to draw; all by default.

    Examples
    --------
    >>> X = np.random.default_rng(0).normal(size=(100, 3))
    >>> other = 1000 + 3 * X[::-1, [2, 0, 1]]
    >>> drawn = X[drawn_rows(X, seed=0, size=10), 0]
    >>> np.allclose(1000 + 3 * drawn, other[drawn_rows(other, seed=0, size=10), 1])
    True
    """
    Z = standardise_columns(values)
    keys = np.zeros(len(values), dtype=np.uint64)
    for column, rank in zip(Z.T, _column_ranks(Z), strict=True):
        rounded = np.floor(np.clip(column, -FARTHEST, FARTHEST) * STEPS_PER_DEVIATION + 0.5).astype(np.int64)
        keys += hashes(hashes(rounded, seed).view(np.int64) + rank, seed)
    return np.argsort(keys, kind="stable")[:size]


def _column_ranks(Z: NDArray[np.float64]) -> NDArray[np.int64]:
    """Rank standardised columns by their third moment and correlations; equal up to rounding, they share a rank."""
    n = max(1, len(Z))
    statistic = (Z**3).sum(axis=0) / n + (np.abs(Z.T @ Z / n) ** 3).sum(axis=0)
    places = np.argsort(statistic, kind="stable")
    ranks = np.empty(len(places), dtype=np.int64)
    ranks[places] = np.cumsum(np.diff(statistic[places], prepend=-np.inf) > SAME_COLUMN)
    return ranks


def sample_rows(blocks: Iterable[NDArray[np.float64]], seed: int, size: int) -> RowSample | None:
    """Draw from rows that come in blocks, one after the other; return None if there is no block.

    Examples
    --------
    >>> blocks = [np.ones((5, 2)), np.ones((3, 2))]
    >>> sample = sample_rows(blocks, seed=0, size=6)
    >>> sample.n, sample.values.shape
    (8, (6, 2))
    """
    sample, waiting, bound = None, [], None
    n, n_waiting = 0, 0
    for block in blocks:
        numbers = np.arange(n, n + len(block))
        n += len(block)
        if bound is not None:  # a row whose hash exceeds the largest in the sample cannot enter it later either
            few = hashes(numbers, seed) < bound
            numbers, block = numbers[few], block[few]  # noqa: PLW2901
        waiting.append(RowSample(seed, size, 0, numbers, np.array(block, dtype=np.float64)))
        n_waiting += len(numbers)
        if n_waiting >= size:
            sample, waiting, n_waiting = _merged(sample, waiting), [], 0
            bound = hashes(sample.numbers, seed).max() if len(sample.numbers) == size else None
    if sample is None and not waiting:
        return None
    sample = _merged(sample, waiting) if waiting else sample
    return RowSample(seed, size, n, sample.numbers, sample.values) if sample is not None else None


def _merged(sample: RowSample | None, samples: list[RowSample]) -> RowSample:
    """Join many small samples at once."""
    samples = samples if sample is None else [sample, *samples]
    numbers = np.concatenate([each.numbers for each in samples])
    first = samples[0]
    joined = RowSample(first.seed, first.size, 0, numbers, np.concatenate([each.values for each in samples]))
    return joined + RowSample(first.seed, first.size, 0, numbers[:0], joined.values[:0])

"""A sample of rows that depends on the seed and the rows' numbers only, however the rows arrive."""

from __future__ import annotations

import hashlib
from collections.abc import Iterable
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray


@dataclass(frozen=True)
class RowSample:
    """The rows with the smallest hashes of their numbers; the samples of two parts of the rows add up (``a + b``).

    Attributes
    ----------
    seed, size : int
        Of the hash, and the largest number of rows.
    n : int
        Rows that it was drawn from.
    numbers : int64 array of shape (m,)
        Of the rows kept, increasing.
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
        """Draw from some rows, shape (m, d), which are numbered from `first` on."""
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
    """Return the places of the `size` rows with the smallest hashes, in the order of the places."""
    if len(numbers) <= size:
        return np.arange(len(numbers))
    return np.sort(np.argpartition(hashes(numbers, seed), size - 1)[:size])


def hashes(numbers: NDArray[np.int64], seed: int) -> NDArray[np.uint64]:
    """Return a random-looking whole number for every row number, no two alike (the counter hash SplitMix64).

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


def sample_rows(blocks: Iterable[NDArray[np.float64]], seed: int, size: int) -> RowSample | None:
    """Draw from rows that come in blocks, one after the other; None where there is no block.

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
        if bound is not None:  # the largest hash in the sample: a row above it will not be in the next one either
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

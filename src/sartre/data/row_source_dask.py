"""Rows on many machines: the partitions of a Dask data frame are sampled and counted where they are."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from copy import copy
from functools import reduce
from math import sqrt
from operator import add
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from sartre.compute.parallel import blas_threads
from sartre.data.batches import Batches
from sartre.data.row_sample import RowSample, hashes

BRANCHES = 8  # results that one task adds up: fewer make the tree deeper, more keep one worker waiting
DEVIATIONS = 10  # standard deviations added to the expected number of rows drawn: the sample is then almost surely full


class Partitions:
    """The rows of a Dask data frame, partition by partition; they stay where they are, and only sums over them travel.

    An active ``distributed.Client`` is used if there is one, otherwise the scheduler that Dask is set to.

    Parameters
    ----------
    frame : dask.dataframe.DataFrame
    missing : "error" or "drop"
        How to treat rows with missing values.

    Attributes
    ----------
    names : tuple of names
    n_dropped : int
        Number of rows left out, known once a sample has been drawn.

    Examples
    --------
    >>> import dask.dataframe as dd, pandas as pd
    >>> frame = dd.from_pandas(pd.DataFrame({"a": range(10), "b": range(10)}), npartitions=3)
    >>> Partitions(frame, "error").sample(seed=0, size=4).values.shape
    (4, 2)
    """

    def __init__(self, frame: Any, missing: str) -> None:
        self.names = tuple(str(name) for name in frame.columns)
        self.n_dropped = 0
        self._partitions = [
            (partition, _Reader(k, self.names, missing)) for k, partition in enumerate(frame.to_delayed())
        ]

    def sample(self, seed: int, size: int) -> RowSample | None:
        """Check and number all rows, then draw from them; return None if there are none."""
        from dask.base import compute  # noqa: PLC0415 - an extra; it is installed, since it made the frame
        from dask.delayed import delayed  # noqa: PLC0415

        look, draw = delayed(_look), delayed(_draw)
        looks = compute(*[look(*partition) for partition in self._partitions])
        self.n_dropped = sum(dropped for _, dropped in looks)
        self._partitions = [partition for partition, (length, _) in zip(self._partitions, looks, strict=True) if length]
        stops = np.cumsum([length for length, _ in looks if length]).tolist()
        if not stops:
            return None
        n, likely = stops[-1], size + DEVIATIONS * sqrt(size)
        for share in (min(likely / n, 1.0), 1.0):
            starts = [0, *stops[:-1]]
            tasks = [
                draw(*partition, start, seed, size, share)
                for partition, start in zip(self._partitions, starts, strict=True)
            ]
            drawn = _added_up(tasks)
            if len(drawn.numbers) == min(size, n):
                break
        return drawn

    def scaled(self, centre: NDArray[np.float64], scale: NDArray[np.float64]) -> Partitions:
        """Return the same rows, minus the centre and divided by the scale of every column; arrays of shape (d,)."""
        scaled = copy(self)
        rows = [(partition, reader._replace(centre=centre, scale=scale)) for partition, reader in self._partitions]
        scaled._partitions = rows  # noqa: SLF001 - a copy of itself
        return scaled

    def total(self, count: Callable[[NDArray[np.float64]], Any]) -> Any:
        """Return the sum of ``count(values)`` over all rows, once `sample` has seen them."""
        from dask.delayed import delayed  # noqa: PLC0415

        task, sent = delayed(_count), delayed(count, traverse=False)
        return _added_up([task(*partition, sent) for partition in self._partitions])


class _Reader(NamedTuple):
    """The reader of one partition, known by its number, which it turns into checked arrays."""

    number: int
    names: tuple[str, ...]
    missing: str
    centre: NDArray[np.float64] | float = 0.0
    scale: NDArray[np.float64] | float = 1.0

    def batches(self, frame: Any) -> Batches:
        return Batches([frame], self.missing, self.names)

    def arrays(self, batches: Batches) -> Iterator[NDArray[np.float64]]:
        try:
            for values in batches:
                yield (values - self.centre) / self.scale
        except (TypeError, ValueError) as error:
            raise type(error)(f"In partition {self.number} of the Dask data frame: {error}") from None


def _look(frame: Any, reader: _Reader) -> tuple[int, int]:
    """Check a partition; return how many rows it has and how many are left out."""
    batches = reader.batches(frame)
    return sum(len(values) for values in reader.arrays(batches)), batches.n_dropped


def _draw(frame: Any, reader: _Reader, start: int, seed: int, size: int, share: float) -> RowSample:
    """Draw the rows with the lowest hashes from a partition, whose rows are numbered from `start` on."""
    drawn = []
    for values in reader.arrays(reader.batches(frame)):
        sample = RowSample.of(values, start, seed, size)
        low = hashes(sample.numbers, seed) / 2.0**64 <= share
        drawn.append(RowSample(seed, size, sample.n, sample.numbers[low], sample.values[low]))
        start += len(values)
    return reduce(add, drawn)


def _count(frame: Any, reader: _Reader, count: Callable[[NDArray[np.float64]], Any]) -> Any:
    with blas_threads(1):  # the parallelism is over partitions
        return reduce(add, (count(values) for values in reader.arrays(reader.batches(frame))))


def _added_up(tasks: list[Any]) -> Any:
    """Compute tasks and add up their results, a few at a time, on the workers; only the total is sent back."""
    from dask.delayed import delayed  # noqa: PLC0415

    total = delayed(_sum)
    while len(tasks) > 1:
        tasks = [total(tasks[k : k + BRANCHES]) for k in range(0, len(tasks), BRANCHES)]
    return tasks[0].compute()


def _sum(results: list[Any]) -> Any:
    return reduce(add, results)

"""Tables that are too large for memory: they are read batch by batch, twice, and never as a whole."""

from __future__ import annotations

import logging
import warnings
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import narwhals as nw
import numpy as np
import pandas as pd
from joblib import Parallel, delayed
from numpy.typing import NDArray

from sartre.compute.parallel import blas_threads, workers
from sartre.data import table as tables
from sartre.data.batches import BATCH, Batches
from sartre.data.checks import as_table
from sartre.data.row_sample import sample_rows, smallest
from sartre.data.row_source_dask import Partitions

if TYPE_CHECKING:
    from sartre.data.table import Table


logger = logging.getLogger(__name__)


@dataclass(frozen=True)
class Survey:
    """A table of many rows after a first pass: the number of rows, and a sample of them.

    Attributes
    ----------
    batches : iterable of arrays of shape (m, d), or Partitions
        Each iteration is a pass over all rows; the rows of partitions are counted where they are.
    n : int
    sample : Table
        The rows that every computation on single rows uses (`sartre.data.row_sample`).
    """

    batches: Iterable[NDArray[np.float64]] | Partitions
    n: int
    sample: Table

    def whole(self) -> Table | None:
        """Return the table if the sample has all of its rows."""
        return self.sample if len(self.sample.values) == self.n else None

    def standardized(self) -> Survey:
        """Return the survey of the same rows with every numeric column at mean zero and variance one in the sample."""
        centre, scale = self.sample.centre_and_scale()
        batches = self.batches
        scaled = _Scaled(batches, centre, scale) if isinstance(batches, Iterable) else batches.scaled(centre, scale)
        return Survey(scaled, self.n, self.sample.standardized())

    def total(self, count: Callable[[NDArray[np.float64]], Any], n_jobs: int | None = None) -> Any:
        """Return the sum of ``count(values)`` over all batches; sums of integers do not depend on `n_jobs`."""
        total, seen = None, 0
        with blas_threads(1):
            for totals in self._counted(count, n_jobs):
                total = totals if total is None else total + totals
                seen += totals.n
                logger.info("rows: %d of %d counted", seen, self.n)
        if seen != self.n:
            raise ValueError(
                f"The source must give the same rows in each pass. The first saw {self.n} rows, the second {seen}. If "
                "the source is a function, let it return a fresh iterator on each call."
            )
        return total

    def _counted(self, count: Callable[[NDArray[np.float64]], Any], n_jobs: int | None) -> Iterable[Any]:
        """Return the totals of parts of the rows. Threads count local rows, so that no row is copied."""
        if not isinstance(self.batches, Iterable):
            return [self.batches.total(count)]
        jobs = (delayed(count)(values) for values in self.batches)
        started = None if n_jobs is None else workers(n_jobs)
        return Parallel(n_jobs=started, require="sharedmem", return_as="generator")(jobs)


@dataclass(frozen=True)
class _Scaled:
    """Batches of standardised rows."""

    batches: Iterable[NDArray[np.float64]]
    centre: NDArray[np.float64]
    scale: NDArray[np.float64]

    def __iter__(self) -> Iterator[NDArray[np.float64]]:
        return ((values - self.centre) / self.scale for values in self.batches)


def survey(source: Any, seed: int, missing: str = "error") -> Survey:
    """Check, count and sample all rows in one pass.

    Parameters
    ----------
    source : as in `Batches`, a Dask data frame, or Batches; a Survey is returned as it is
    seed : int
        Seed of the sample.
    missing : "error" or "drop"

    Examples
    --------
    >>> found = survey([np.eye(4), np.eye(4)], seed=0)
    >>> found.n, found.sample.shape
    (8, (8, 4))
    """
    if isinstance(source, Survey):
        return source
    if nw.dependencies.is_dask_dataframe(source):
        batches = Partitions(source, missing)
        sample = batches.sample(seed, tables.SAMPLE_ROWS)
    else:
        batches = source if isinstance(source, Batches) else Batches(source, missing)
        sample = sample_rows(iter(batches), seed, tables.SAMPLE_ROWS)
    if sample is None:
        raise ValueError(
            "The source must have at least one batch. Got none. Check the folder, or the function that makes batches."
        )
    if sample.n > tables.SAMPLE_ROWS and len(batches.names) > tables.WIDEST:
        raise ValueError(
            f"Batches with more than {tables.SAMPLE_ROWS} rows in total must have at most {tables.WIDEST} columns. Got "
            f"{len(batches.names)}. Use fewer columns, or a table in memory."
        )
    if batches.n_dropped:
        total = sample.n + batches.n_dropped
        warnings.warn(
            f"{batches.n_dropped} of {total} rows were left out because they have missing values. The result describes "
            "complete rows only. Impute the values first to keep all rows.",
            UserWarning,
            stacklevel=3,
        )
    logger.info("rows: %d seen, %d kept as a sample", sample.n, len(sample.values))
    frame = pd.DataFrame(sample.values, columns=list(batches.names))
    return Survey(batches, sample.n, as_table(frame, min_columns=1))


def survey_of_table(table: Table, seed: int) -> Survey:
    """Return the survey of a table in memory."""
    values = table.values
    batches = [values[first : first + BATCH] for first in range(0, len(values), BATCH)]
    return Survey(batches, len(values), table.take(smallest(np.arange(len(values)), seed, tables.SAMPLE_ROWS)))

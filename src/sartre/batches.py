"""Tables that are too large for memory: read batch by batch, twice, and never whole."""

from __future__ import annotations

import logging
import warnings
from collections.abc import Iterable
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

import narwhals as nw
import numpy as np
import pandas as pd
from joblib import Parallel, delayed
from threadpoolctl import threadpool_limits

from sartre import rows
from sartre.files import parquet_batches
from sartre.rows import sample_rows, smallest
from sartre.table import Table
from sartre.validation import LARGEST, as_table, check_choice, read_columns

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Sequence

    from numpy.typing import NDArray

    from sartre.partitions import Partitions

logger = logging.getLogger(__name__)
WAYS = ("error", "drop")  # with missing values; the others need all rows at once
WIDEST = 300  # columns: tables of all pairs grow with their square
BATCH = 1 << 16  # rows that are worked on at a time: 26 MB for 50 columns


class Batches:
    """The rows of a table, as arrays of at most 65,536 rows, checked; a new pass starts with each ``iter``.

    Parameters
    ----------
    source : path, Arrow data, list of tables, or function
        A Parquet file, or a folder of them (read in the order of their paths); a pyarrow ``Table`` or ``Dataset``; an
        array or data frame; a list (or anything that can be gone through twice) of arrays, data frames or record
        batches; or a function without arguments that returns a fresh iterator over such batches. An iterator itself is
        refused: two passes are needed.
    missing : "error" or "drop"
        What to do about rows with missing values.
    columns : sequence of names, optional
        Which columns to use; all by default.

    Attributes
    ----------
    names : tuple of names, known once a pass has begun
    n_dropped : int
        Rows left out in the last pass.

    Examples
    --------
    >>> batches = Batches([np.ones((3, 2)), np.zeros((4, 2))])
    >>> [len(values) for values in batches], batches.names
    ([3, 4], ('x0', 'x1'))
    """

    def __init__(self, source: Any, missing: str = "error", columns: Sequence[str] | None = None) -> None:  # noqa: ANN401
        check_choice("Batches", "missing", missing, WAYS)
        self._open = _opener(source)
        self._missing, self._columns = missing, None if columns is None else list(columns)
        self.names: tuple[str, ...] = ()
        self.n_dropped = 0

    def __iter__(self) -> Iterator[NDArray[np.float64]]:
        """Go through the rows once."""
        n_read, self.n_dropped = 0, 0
        for batch in self._open():
            table = self._chosen(_read(batch, n_read))
            if not self.names:
                self.names = table.names
            if table.names != self.names:
                raise ValueError(
                    f"All batches need the same columns in the same order. The one from row {n_read} on has "
                    f"{', '.join(table.names[:5])}, ...; the first has {', '.join(self.names[:5])}, ..."
                )
            values = self._checked(table, n_read)
            n_read += len(table.values)
            for first in range(0, len(values), BATCH):
                yield values[first : first + BATCH]

    def _chosen(self, table: Table) -> Table:
        if self._columns is None:
            return table
        unknown = [name for name in self._columns if name not in table.names]
        if unknown:
            raise ValueError(f"There is no column '{unknown[0]}'; the columns are {', '.join(table.names[:20])}.")
        return table.select(np.array([table.names.index(name) for name in self._columns], dtype=np.intp))

    def _checked(self, table: Table, first: int) -> NDArray[np.float64]:
        """Return the values of a batch; missing ones are dropped or, as infinite ones are, refused."""
        values = table.values
        if (values.min(axis=0, initial=0.0) >= -LARGEST).all() and (values.max(axis=0, initial=0.0) <= LARGEST).all():
            return values  # no NaN, for which neither holds
        absent = np.isnan(values).any(axis=1)
        if self._missing == "error" and absent.any():
            row = int(absent.argmax())
            name = table.names[int(np.isnan(values[row]).argmax())]
            raise ValueError(
                f"In the batch from row {first} on (its rows are numbered from 0): Missing values (NaN), the first in "
                f"row {row}, column '{name}'. Drop such rows first, or let CausalDiscovery do it: missing='drop'. The "
                "other ways need a table in memory."
            )
        if absent.any():
            self.n_dropped += int(absent.sum())
            table = table.take(np.flatnonzero(~absent))
        try:
            return as_table(Table(table.values, table.names), min_rows=0).values
        except ValueError as error:
            raise ValueError(f"In the batch from row {first} on (its rows are numbered from 0): {error}") from None


@dataclass(frozen=True)
class Survey:
    """A table of many rows after a first look: how many there are, and a sample of them.

    Attributes
    ----------
    batches : iterable of arrays of shape (m, d), or Partitions
        A pass over all rows, each time it is asked for; or rows elsewhere, which are counted there.
    n : int
    sample : Table
        The rows that whatever needs rows sees (`sartre.rows`).
    """

    batches: Iterable[NDArray[np.float64]] | Partitions
    n: int
    sample: Table

    def whole(self) -> Table | None:
        """Return the table if the sample has all of its rows."""
        return self.sample if len(self.sample.values) == self.n else None

    def standardized(self) -> Survey:
        """Return the survey of the same rows with every column of numbers at mean zero, variance one in the sample."""
        centre, spread = self.sample.values.mean(axis=0), self.sample.values.std(axis=0)
        scale = np.where(self.sample.constant, 1.0, spread)
        levels = list(self.sample.levels)
        centre[levels], scale[levels] = 0.0, 1.0
        batches = self.batches
        scaled = _Scaled(batches, centre, scale) if isinstance(batches, Iterable) else batches.scaled(centre, scale)
        return Survey(scaled, self.n, self.sample.standardized())

    def total(self, count: Callable[[NDArray[np.float64]], Any], n_jobs: int | None = None) -> Any:  # noqa: ANN401
        """Return the sum of ``count(values)`` over all batches; sums of whole numbers do not depend on `n_jobs`."""
        total, seen = None, 0
        with threadpool_limits(1, user_api="blas"):
            for part in self._counted(count, n_jobs):
                total = part if total is None else total + part
                seen += part.n
                logger.info("rows: %d of %d counted", seen, self.n)
        if seen != self.n:
            raise ValueError(
                f"The first pass saw {self.n} rows, the second {seen}. The source must give the same rows each time: "
                "a function must return a fresh iterator."
            )
        return total

    def _counted(self, count: Callable[[NDArray[np.float64]], Any], n_jobs: int | None) -> Iterable[Any]:
        """Return the totals of parts of the rows. Threads count those that are here: rows do not travel."""
        if not isinstance(self.batches, Iterable):
            return [self.batches.total(count)]
        jobs = (delayed(count)(values) for values in self.batches)
        return Parallel(n_jobs=n_jobs, require="sharedmem", return_as="generator")(jobs)


@dataclass(frozen=True)
class _Scaled:
    """Batches of standardised rows."""

    batches: Iterable[NDArray[np.float64]]
    centre: NDArray[np.float64]
    scale: NDArray[np.float64]

    def __iter__(self) -> Iterator[NDArray[np.float64]]:
        return ((values - self.centre) / self.scale for values in self.batches)


def survey(source: Any, seed: int, missing: str = "error") -> Survey:  # noqa: ANN401 - see Batches
    """Go through all rows once; they are checked, counted and sampled.

    Parameters
    ----------
    source : as in `Batches`, a Dask data frame, or Batches; a Survey comes back as it is
    seed : int
        Of the sample.
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
        from sartre.partitions import Partitions  # noqa: PLC0415 - it stands on Batches

        batches = Partitions(source, missing)
        sample = batches.sample(seed, rows.ROWS)
    else:
        batches = source if isinstance(source, Batches) else Batches(source, missing)
        sample = sample_rows(iter(batches), seed, rows.ROWS)
    if sample is None:
        raise ValueError("The source has no batch at all. Check the folder, or the function that makes the batches.")
    if sample.n > rows.ROWS and len(batches.names) > WIDEST:
        raise ValueError(
            f"At most {WIDEST} columns are taken in batches of more than {rows.ROWS} rows. Got {len(batches.names)}. "
            "Use fewer columns, or a table in memory."
        )
    if batches.n_dropped:
        total = sample.n + batches.n_dropped
        warnings.warn(
            f"{batches.n_dropped} of {total} rows are left out: they have missing values.", UserWarning, stacklevel=3
        )
    logger.info("rows: %d seen, %d kept as a sample", sample.n, len(sample.values))
    frame = pd.DataFrame(sample.values, columns=list(batches.names))
    return Survey(batches, sample.n, as_table(frame, min_columns=1))


def is_long(table: Table) -> bool:
    """Return whether a table in memory is treated as batches are: many rows, not too many columns, plain numbers."""
    n, d = table.shape
    return n > rows.ROWS and d <= WIDEST and not table.nominal and not np.isnan(table.values).any()


def takes_sums(pruner: Any) -> bool:  # noqa: ANN401 - any pruner, or None for the default
    """Return whether a pruner can do with sums over the rows: trees that follow a target need the rows themselves.

    Examples
    --------
    >>> from sartre.prune import SARTRE, CAMPruning
    >>> takes_sums(SARTRE()), takes_sums(CAMPruning())
    (True, False)
    """
    supervised = getattr(getattr(pruner, "embedding", None), "supervised", False)
    return pruner is None or (hasattr(pruner, "fit_batches") and not supervised)


def survey_of_table(table: Table, seed: int) -> Survey:
    """Return the same of a table in memory."""
    values = table.values
    batches = [values[first : first + BATCH] for first in range(0, len(values), BATCH)]
    return Survey(batches, len(values), table.take(smallest(np.arange(len(values)), seed, rows.ROWS)))


def _opener(source: Any) -> Callable[[], Iterable[Any]]:  # noqa: ANN401
    """Return what starts a new pass over a source."""
    if isinstance(source, (str, Path)):
        return lambda: parquet_batches(Path(source), BATCH)
    if hasattr(source, "to_batches") and not hasattr(source, "read_next_batch"):  # a pyarrow Table or Dataset
        slowly = {"batch_readahead": 1, "fragment_readahead": 1} if hasattr(source, "scanner") else {}
        size = {"batch_size": BATCH} if slowly else {"max_chunksize": BATCH}
        return lambda: source.to_batches(**size, **slowly)
    if isinstance(source, (np.ndarray, Table)) or _is_record_batch(source) or nw.dependencies.is_into_dataframe(source):
        return lambda: [source]
    if callable(source):
        function: Any = source
        return function
    if not hasattr(source, "__iter__"):
        raise TypeError(f"Batches come from a path, Arrow data, a list or a function. Got a {type(source).__name__}.")
    if iter(source) is source:
        raise TypeError(
            f"Two passes over the rows are needed, and a {type(source).__name__} gives one only. Pass a list, a path, "
            "or a function that returns a fresh iterator each time."
        )
    return lambda: source


def _read(batch: Any, first: int) -> Table:  # noqa: ANN401 - any table
    try:
        return read_columns(_as_frame(batch))
    except (TypeError, ValueError) as error:
        kind = TypeError if isinstance(error, TypeError) else ValueError
        raise kind(f"In the batch from row {first} on (its rows are numbered from 0): {error}") from None


def _is_record_batch(batch: object) -> bool:
    return type(batch).__name__ == "RecordBatch"


def _as_frame(batch: Any) -> Any:  # noqa: ANN401 - any table
    """Turn a record batch into a table of one batch; others stay as they are."""
    if not _is_record_batch(batch):
        return batch
    import pyarrow as pa  # noqa: PLC0415

    return pa.Table.from_batches([batch])

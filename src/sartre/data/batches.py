"""The rows of a table, read batch by batch and checked; each iteration is a new pass."""

from __future__ import annotations

import logging
from collections.abc import Callable, Iterable, Iterator, Sequence
from pathlib import Path
from typing import Any

import narwhals as nw
import numpy as np
from numpy.typing import NDArray

from sartre.data.checks import as_table, is_record_batch, read_columns
from sartre.data.read_file import batches_of
from sartre.data.table import Table
from sartre.data.value_checks import LARGEST
from sartre.settings import check_choice, listed, suggestion

logger = logging.getLogger(__name__)
MISSING_IN_BATCHES = ("error", "drop")  # the other ways to treat missing values need all rows at once
BATCH = 1 << 16  # rows that are processed at a time: 26 MB for 50 columns


class Batches:
    """The rows of a table as checked arrays of at most 65,536 rows; each ``iter`` starts a new pass.

    Parameters
    ----------
    source : path, Arrow data, list of tables, or function
        A Parquet or CSV file, or a folder of Parquet files (read in the order of their paths); a pyarrow ``Table`` or
        ``Dataset``; an array or data frame; a list (or anything that can be iterated over twice) of arrays, data frames
        or record batches; or a function without arguments that returns a fresh iterator over such batches. An iterator
        itself is refused, because two passes are needed.
    missing : "error" or "drop"
        How to treat rows with missing values.
    columns : sequence of names, optional
        Which columns to use; all by default.

    Attributes
    ----------
    names : tuple of names, known once a pass has begun
    n_dropped : int
        Number of rows left out in the last pass.

    Examples
    --------
    >>> batches = Batches([np.ones((3, 2)), np.zeros((4, 2))])
    >>> [len(values) for values in batches], batches.names
    ([3, 4], ('x0', 'x1'))
    """

    def __init__(self, source: Any, missing: str = "error", columns: Sequence[str] | None = None) -> None:
        check_choice("Batches", "missing", missing, MISSING_IN_BATCHES)
        self._open = _opener(source)
        self._missing, self._columns = missing, None if columns is None else list(columns)
        self.names: tuple[str, ...] = ()
        self.n_dropped = 0

    def __iter__(self) -> Iterator[NDArray[np.float64]]:
        """Make one pass over the rows."""
        n_read, self.n_dropped = 0, 0
        for batch in self._open():
            table = self._chosen(_read(batch, n_read))
            if not self.names:
                self.names = table.names
            if table.names != self.names:
                raise ValueError(
                    f"All batches must have the same columns in the same order. The batch that starts at row {n_read} "
                    f"has {listed(table.names)}; the first has {listed(self.names)}."
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
            raise ValueError(
                f"There is no column '{unknown[0]}'; the columns are {', '.join(table.names[:20])}."
                f"{suggestion(unknown[0], table.names)}"
            )
        return table.select(np.array([table.names.index(name) for name in self._columns], dtype=np.intp))

    def _checked(self, table: Table, first: int) -> NDArray[np.float64]:
        """Return the values of a batch; rows with missing values are dropped or, like infinite values, refused."""
        values = table.values
        if (values.min(axis=0, initial=0.0) >= -LARGEST).all() and (values.max(axis=0, initial=0.0) <= LARGEST).all():
            return values  # neither comparison holds for NaN, so there is none
        absent = np.isnan(values).any(axis=1)
        if self._missing == "error" and absent.any():
            row = int(absent.argmax())
            name = table.names[int(np.isnan(values[row]).argmax())]
            raise ValueError(
                f"In the batch that starts at row {first} (its rows are numbered from 0): Missing values (NaN) are not "
                f"allowed. The first is in row {row}, column '{name}'. Drop such rows first, or set missing='drop' in "
                "CausalDiscovery. The other ways need a table in memory."
            )
        if absent.any():
            self.n_dropped += int(absent.sum())
            table = table.take(np.flatnonzero(~absent))
        try:
            return as_table(Table(table.values, table.names), min_rows=0).values
        except ValueError as error:
            where = f"In the batch that starts at row {first} (its rows are numbered from 0)"
            raise ValueError(f"{where}: {error}") from None


def _opener(source: Any) -> Callable[[], Iterable[Any]]:
    """Return a function that starts a new pass over a source."""
    if isinstance(source, (str, Path)):
        return lambda: batches_of(source, BATCH)
    if hasattr(source, "to_batches") and not hasattr(source, "read_next_batch"):  # a pyarrow Table or Dataset
        slowly = {"batch_readahead": 1, "fragment_readahead": 1} if hasattr(source, "scanner") else {}
        size = {"batch_size": BATCH} if slowly else {"max_chunksize": BATCH}
        return lambda: source.to_batches(**size, **slowly)
    if isinstance(source, (np.ndarray, Table)) or is_record_batch(source) or nw.dependencies.is_into_dataframe(source):
        return lambda: [source]
    if callable(source):
        function: Any = source
        return function
    if not hasattr(source, "__iter__"):
        raise TypeError(
            "The source of batches must be a path, Arrow data, a list or a function. Got "
            f"{type(source).__name__} instead."
        )
    if iter(source) is source:
        raise TypeError(
            f"The source of batches must allow two passes. Got {type(source).__name__}, which allows only one. Pass a "
            "list, a path, or a function that returns a fresh iterator each time."
        )
    return lambda: source


def _read(batch: Any, first: int) -> Table:
    try:
        return read_columns(batch)
    except (TypeError, ValueError) as error:
        kind = TypeError if isinstance(error, TypeError) else ValueError
        raise kind(f"In the batch that starts at row {first} (its rows are numbered from 0): {error}") from None

"""The rows of a table, read batch by batch and checked; a new pass starts each time."""

from __future__ import annotations

import logging
import sys
from collections.abc import Callable, Iterable, Iterator, Sequence
from pathlib import Path
from typing import Any

import narwhals as nw
import numpy as np
from numpy.typing import NDArray

from sartre.data.checks import LARGEST, as_table, read_columns
from sartre.data.read_arrow import parquet_batches
from sartre.data.table import Table
from sartre.settings import check_choice, listed

logger = logging.getLogger(__name__)
MISSING_IN_BATCHES = ("error", "drop")  # with missing values; the others need all rows at once
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

    def __init__(self, source: Any, missing: str = "error", columns: Sequence[str] | None = None) -> None:
        check_choice("Batches", "missing", missing, MISSING_IN_BATCHES)
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
                    f"{listed(table.names)}; the first has {listed(self.names)}."
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


def _opener(source: Any) -> Callable[[], Iterable[Any]]:
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


def _read(batch: Any, first: int) -> Table:
    try:
        return read_columns(_as_frame(batch))
    except (TypeError, ValueError) as error:
        kind = TypeError if isinstance(error, TypeError) else ValueError
        raise kind(f"In the batch from row {first} on (its rows are numbered from 0): {error}") from None


def _is_record_batch(batch: object) -> bool:
    pyarrow: Any = sys.modules.get("pyarrow")  # whoever has a record batch has imported it
    return pyarrow is not None and isinstance(batch, pyarrow.RecordBatch)


def _as_frame(batch: Any) -> Any:
    """Turn a record batch into a table of one batch; others stay as they are."""
    if not _is_record_batch(batch):
        return batch
    import pyarrow as pa  # noqa: PLC0415 - an extra

    return pa.Table.from_batches([batch])

"""The single entry point for tables: they are checked here and trusted everywhere else."""

from __future__ import annotations

import hashlib
import re
import sys
import warnings
from collections import Counter
from collections.abc import Callable, Iterable, Sequence
from typing import Any

import narwhals as nw
import numpy as np
import pandas as pd
from numpy.typing import NDArray
from scipy import sparse

from sartre.data.columns import Column, read_objects, read_series
from sartre.data.refusals import BadTableError, Problem, refusal
from sartre.data.table import Table, standardise_columns
from sartre.data.value_checks import value_problems
from sartre.settings import listed

MIN_ROWS = 10  # nothing can be learnt from a table with fewer rows


def as_table(
    X: Any,
    *,
    min_rows: int = 1,
    min_columns: int = 1,
    categories: bool = False,
    missing: bool = False,
) -> Table:
    """Check a table and keep its names.

    Parameters
    ----------
    X : array of shape (n, d), any eager data frame, or Table
        Rows are samples, columns are variables.
    min_rows, min_columns : int
        Fewer raise a ``ValueError``.
    categories : bool
        Whether text and categoricals are allowed (`sartre.data.columns.read_series`), or numbers only.
    missing : bool
        Whether missing values are allowed; they become NaN.

    Returns
    -------
    Table
        A `Table` is returned as it is. Constant columns give one warning, and so do duplicated columns.

    Examples
    --------
    >>> as_table([[1, 2.5], [3, 4.5]]).names
    ('x0', 'x1')
    """
    table = read_columns(X, categories=categories)
    if table.levels and not categories:
        raise ValueError(
            f"All columns must be numeric here. Got the categories {listed([table.names[j] for j in table.levels])}. "
            "Code them as numbers or leave them out; CausalDiscovery codes them for orderers, and SARTRE, CAMPruning "
            "and DAS accept them as they are."
        )
    if not (missing and table is X):
        _check_finite(table, missing=missing)
    if table.shape[0] < min_rows:
        raise ValueError(f"At least {min_rows} rows are needed. Got {table.shape[0]}. Provide more samples.")
    if table.shape[1] < min_columns:
        raise ValueError(
            f"At least {min_columns} columns are needed. Got {table.shape[1]}: {listed(table.names) or 'none'}. "
            "Provide more variables."
        )
    if table is not X:
        _warn_about_columns(table)
    return table


def default_names(n_columns: int) -> list[str]:
    """Return the names of a plain array's columns: x0, x1, ..."""
    return [f"x{j}" for j in range(n_columns)]


def check_unique(names: Sequence[str]) -> None:
    """Refuse a name that stands for two variables."""
    repeated = [name for name, count in Counter(names).items() if count > 1]
    if repeated:
        sentence = f"Every variable must have a unique name. Repeated: {listed(repeated)}."
        raise refusal([Problem("name", repeated[0], sentence, "Rename them.", "none")])


def read_columns(X: Any, *, categories: bool = False) -> Table:
    """Read an array or data frame (a Table stays as it is) without checking its values: NaN and infinity may occur.

    Examples
    --------
    >>> read_columns([[1, None], [2, 3.5]]).values[0].tolist()
    [1.0, nan]
    """
    if isinstance(X, Table):
        return X
    _check_in_memory(X)
    if is_record_batch(X):
        import pyarrow as pa  # noqa: PLC0415 - an extra

        X = pa.Table.from_batches([X])
    if nw.dependencies.is_pandas_like_dataframe(X):
        check_unique([str(name) for name in X.columns])
    frame = nw.from_native(X, pass_through=True, eager_only=True)
    if isinstance(frame, nw.DataFrame):
        names = [str(name) for name in frame.columns]
        _check_for_index(names)
        check_unique(names)
        series = zip(frame.iter_columns(), names, strict=True)
        columns = _each(read_series, series, categories=categories)
        return _joined(columns, names, frame.shape[0])
    array = _to_array(X)
    if array.ndim == 0:
        raise TypeError(f"A table is needed: a two-dimensional array or an eager data frame. Got {type(X).__name__}.")
    if array.ndim != 2:
        raise ValueError(
            f"A table must have two dimensions, rows and columns. Got {array.ndim}. "
            "Reshape it to one row per sample and one column per variable."
        )
    names = default_names(array.shape[1])
    if array.dtype.kind in "fiub":
        return Table(np.array(array, dtype=np.float64, order="F"), tuple(names))
    if array.dtype.kind not in "OUS":
        raise TypeError(f"A table of real numbers is needed. Got an array of dtype {array.dtype}.")
    objects = ((array[:, j].astype(object), name) for j, name in enumerate(names))
    return _joined(_each(read_objects, objects, categories=categories), names, len(array))


def _each(read: Callable[..., Column], columns: Iterable[tuple[Any, str]], *, categories: bool) -> list[Column]:
    """Read every column, and refuse all that are bad at once."""
    found, problems = [], []
    for values, name in columns:
        try:
            found.append(read(values, name, categories=categories))
        except BadTableError as error:
            problems.extend(error.problems)
    if problems:
        raise refusal(problems)
    return found


def _check_in_memory(X: Any) -> None:
    if sparse.issparse(X):
        raise TypeError("A dense table is needed. Got a sparse matrix; pass X.toarray().")
    if nw.dependencies.is_dask_dataframe(X):
        raise TypeError(
            "A table in memory is needed. Got a Dask data frame. Pass it to CausalDiscovery.fit_batches, which counts "
            "its partitions where they are, or pass X.compute() if it fits into memory."
        )


def is_record_batch(X: object) -> bool:
    """Return whether a table is a pyarrow ``RecordBatch``."""
    pyarrow: Any = sys.modules.get("pyarrow")  # it has been imported if there is a record batch
    return pyarrow is not None and isinstance(X, pyarrow.RecordBatch)


def _joined(columns: Sequence[Column], names: Sequence[str], n_rows: int) -> Table:
    values = np.empty((n_rows, len(columns)), dtype=np.float64, order="F")
    for j, column in enumerate(columns):
        values[:, j] = column.values
    return Table(values, tuple(names), {j: c.levels for j, c in enumerate(columns) if c.levels is not None})


def _check_for_index(names: Sequence[str]) -> None:
    for name in names:
        if not name or re.fullmatch(r"Unnamed: \d+", name):
            sentence = f"Column {names.index(name)} has no name ('{name}') and looks like a row index, not a variable."
            raise refusal([Problem("name", name, sentence, "Drop it (pd.read_csv(..., index_col=0)) or name it.")])


def _to_array(X: Any) -> NDArray[Any]:
    try:
        return np.ma.filled(X.astype(np.float64), np.nan) if np.ma.isMaskedArray(X) else np.asarray(X)
    except ValueError:
        raise ValueError(
            "Every row of a table must have the same number of values. Got rows of different lengths."
        ) from None


def _check_finite(table: Table, *, missing: bool) -> None:
    absent = np.isnan(table.values)
    if absent.any() and not missing:
        names = table.names
        counts = [f"'{names[j]}' {absent[:, j].sum()}" for j in np.flatnonzero(absent.any(axis=0)).tolist()]
        row, j = np.argwhere(absent)[0]
        text = (
            f"Missing values (NaN) are not allowed here. Counts per column: {listed(counts)}; the first is in row "
            f"{row} (the first row is 0), column '{names[j]}'. Drop those rows or impute the values first, or set "
            "'missing' in CausalDiscovery to 'drop', 'impute', or 'bin', which makes missing a value of its own."
        )
        raise refusal(missing_problems(table), text=text)
    problems = list(value_problems(table))
    if problems:
        raise refusal(problems)


def missing_problems(table: Table) -> list[Problem]:
    """Return the columns with missing values, without those that have no value at all.

    Examples
    --------
    >>> table = Table(np.array([[1.0, np.nan], [2.0, 3.0]]), ("a", "b"))
    >>> [str(problem) for problem in missing_problems(table)]
    ["Column 'b' has 1 missing value. Leave out such rows, impute the values, or treat missing as a value of its own."]
    """
    remedy = "Leave out such rows, impute the values, or treat missing as a value of its own."
    counts = np.isnan(table.values).sum(axis=0).tolist()
    return [
        Problem(
            "missing",
            name,
            f"Column '{name}' has {count} missing value{'s' * (count > 1)}.",
            remedy,
            "impute",
            count=count,
        )
        for name, count in zip(table.names, counts, strict=True)
        if 0 < count < len(table.values)
    ]


def _warn_about_columns(table: Table) -> None:
    constant = [table.names[j] for j in np.flatnonzero(table.silent)]
    if constant:
        warnings.warn(
            f"Constant columns can be neither causes nor effects: {listed(constant)}. Leave them out.",
            UserWarning,
            stacklevel=4,
        )
    found = copies((j, as_compared(table, j)) for j in np.flatnonzero(~table.constant).tolist())
    if found:
        shown = listed(f"{table.names[copy]} = {table.names[original]}" for original, copy in found)
        warnings.warn(
            f"Duplicated columns cannot be told apart by the data: {shown}. The edges between and into them are "
            "arbitrary. Keep one of each.",
            UserWarning,
            stacklevel=4,
        )


def as_compared(table: Table, j: int) -> NDArray[Any]:
    """Return a column; levels are numbered by first occurrence, so that their names make no difference."""
    column = table.values[:, j]
    return pd.factorize(column)[0] if j in table.levels else column


NEAR_COPY = 0.999  # two columns with at least this absolute correlation are near copies
_COLUMNS_AT_ONCE = 1000  # columns that are compared with all others at a time, so that no d x d array is needed


def copies(columns: Iterable[tuple[int, NDArray[Any]]]) -> list[tuple[int, int]]:
    """Return ``(original, copy)`` for every column that equals an earlier one, by the columns' numbers.

    Examples
    --------
    >>> copies(enumerate(np.array([[1.0, 2.0], [0.0, 5.0], [1.0, 2.0]])))
    [(0, 2)]
    """
    first: dict[bytes, int] = {}
    found = []
    for j, column in columns:
        digest = hashlib.blake2b((column + column.dtype.type(0)).tobytes(), digest_size=32).digest()  # -0.0 is 0.0
        original = first.setdefault(digest, j)
        if original != j:
            found.append((original, j))
    return found


def near_copies(X: NDArray[np.float64]) -> list[tuple[int, int]]:
    """Return the pairs of columns that have an absolute correlation of at least .999 but are not identical.

    Examples
    --------
    >>> x = np.random.default_rng(0).normal(size=(100, 2))
    >>> near_copies(np.column_stack([x, -3 * x[:, 0], x[:, 1]]))
    [(0, 2)]
    """
    scores = standardise_columns(X) / np.sqrt(len(X))
    found = []
    for start in range(0, X.shape[1], _COLUMNS_AT_ONCE):
        block = scores[:, start : start + _COLUMNS_AT_ONCE]
        for a, b in np.argwhere(np.abs(block.T @ scores[:, start:]) >= NEAR_COPY).tolist():
            if a < b and not np.array_equal(X[:, start + a], X[:, start + b], equal_nan=True):
                found.append((start + a, start + b))
    return found

"""All problems of a table at once, and what would make it usable: for the command line and the app."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import narwhals as nw
import numpy as np
from numpy.typing import NDArray

from sartre.data.checks import MIN_ROWS, as_compared, check_unique, copies, missing_problems, read_columns
from sartre.data.refusals import BadTableError, Problem, as_text, lines_of
from sartre.data.table import Table
from sartre.data.value_checks import value_problems

__all__ = ["Problem", "Repair", "as_text", "lines_of", "problems_of", "repair_of", "row_numbers"]

MIN_COLUMNS = 2
_NAME_OF_AN_ID = re.compile(r"(^|[^a-z])(id|ids|uid|uuid|guid|key|index|idx|row|nr|no|number)$", re.IGNORECASE)
_CAMEL_CASE = re.compile(r"(?<=[a-z])(?=[A-Z])")  # patientId


@dataclass(frozen=True)
class Repair:
    """What makes a table usable: columns to leave out, and whether missing values must be filled in.

    Attributes
    ----------
    exclude : tuple of names
    missing : "error" or "impute"
    """

    exclude: tuple[str, ...]
    missing: str


def problems_of(frame: Any, *, missing: str = "error") -> list[Problem]:
    """Return everything that is wrong with a table, in the order of its columns, fatal problems first.

    Parameters
    ----------
    frame : array of shape (n, d), or any eager data frame
        As `read_table` returns it.
    missing : "error", "drop", "impute" or "bin"
        Only with "error" are missing values a problem.

    Returns
    -------
    list of Problem
        Fatal problems refuse the table: ids and free text, dates, values that are no numbers, columns without any
        value, missing values and, if nothing else is wrong, too few rows or columns. The others are advice: constants,
        copies, numbers of rows.

    Examples
    --------
    >>> import pandas as pd
    >>> rows = range(20)
    >>> table = pd.DataFrame({"id": [f"p{k}" for k in rows], "x": [k % 7 for k in rows], "y": [None, *rows[1:]]})
    >>> table["site"] = 1
    >>> [(problem.kind, problem.column, problem.fatal) for problem in problems_of(table)]
    [('id', 'id', True), ('missing', 'y', True), ('constant', 'site', False)]
    """
    try:
        native = _by_column(frame)
    except BadTableError as error:  # its names are wrong
        return list(error.problems)
    found, read = [], []
    for name, column in native:
        try:
            table = read_columns(column, categories=True)
        except BadTableError as error:
            found += error.problems
        else:
            read.append((name, table))
    for _, table in read:
        found += value_problems(table)
        found += missing_problems(table) if missing == "error" else []
    found += [] if found else _size_problems(native)  # how many rows and columns there are is known once these are good
    place = {name: j for j, (name, _) in enumerate(native)}
    found.sort(key=lambda problem: (problem.kind == "missing", place.get(problem.column or "", len(place))))
    bad = {problem.column for problem in found if problem.action == "exclude"}
    return found + _advice([table for name, table in read if name not in bad])


def repair_of(frame: Any, problems: Sequence[Problem]) -> Repair | None:
    """Return what would solve the problems of a table, or None if no option does.

    Examples
    --------
    >>> import pandas as pd
    >>> rows = range(20)
    >>> table = pd.DataFrame({"id": [f"p{k}" for k in rows], "x": [k % 7 for k in rows], "y": [None, *rows[1:]]})
    >>> repair_of(table, problems_of(table))
    Repair(exclude=('id',), missing='impute')
    >>> repair_of(table[["id", "x"]], problems_of(table[["id", "x"]])) is None
    True
    """
    exclude = dict.fromkeys(problem.column for problem in problems if problem.action == "exclude" and problem.column)
    holes = any(problem.action == "impute" and problem.column not in exclude for problem in problems)
    rest = [(name, column) for name, column in _by_column(frame) if name not in exclude]
    if len(rest) < MIN_COLUMNS or _size_problems(rest):
        return None
    return Repair(tuple(exclude), "impute" if holes else "error")


def row_numbers(table: Table) -> list[Problem]:
    """Return the columns of whole numbers that seem to number the rows: 1, 2, 3, ..., or distinct and called an id.

    Examples
    --------
    >>> X = np.column_stack([np.arange(20), np.arange(20)[::-1] * 3, np.arange(20) % 7])
    >>> [problem.column for problem in row_numbers(Table(X.astype(float), ("a", "patient_id", "id")))]
    ['a', 'patient_id']
    """
    found = []
    for j, name in enumerate(table.names):
        values = table.values[:, j]
        if j in table.levels or not _all_distinct_integers(values):
            continue
        if (np.diff(values) == 1).all():
            sentence = f"Column '{name}' grows by one from row to row, like a row number."
        elif _NAME_OF_AN_ID.search(_CAMEL_CASE.sub("_", name)):
            sentence = f"Column '{name}' has a different whole number in every row, like an id."
        else:
            continue
        found.append(Problem("id", name, sentence, "Leave it out, unless it was measured.", fatal=False))
    return found


def _by_column(frame: Any) -> list[tuple[str, Any]]:
    """Return the columns of a table, each as a table of its own, with their names."""
    if isinstance(frame, Table):
        return [(name, frame.select(np.array([j]))) for j, name in enumerate(frame.names)]
    if nw.dependencies.is_pandas_like_dataframe(frame):
        check_unique([str(name) for name in frame.columns])
    wrapped = nw.from_native(frame, pass_through=True, eager_only=True)
    if isinstance(wrapped, nw.DataFrame):
        return [(str(column.name), column.to_frame().to_native()) for column in wrapped.iter_columns()]
    table = read_columns(frame, categories=True)
    return _by_column(table)


def _size_problems(columns: Sequence[tuple[str, Any]]) -> list[Problem]:
    """Return that there are too few rows or columns, in the words of `as_table`."""
    n_rows, found = columns[0][1].shape[0] if columns else 0, []
    if n_rows < MIN_ROWS:
        sentence = f"At least {MIN_ROWS} rows are needed. Got {n_rows}."
        found.append(Problem("size", None, sentence, "Provide more samples.", "none"))
    if len(columns) < MIN_COLUMNS:
        names = ", ".join(name for name, _ in columns) or "none"
        sentence = f"At least {MIN_COLUMNS} columns are needed. Got {len(columns)}: {names}."
        found.append(Problem("size", None, sentence, "Provide more variables.", "none"))
    return found


def _advice(tables: Sequence[Table]) -> list[Problem]:
    """Return what is no obstacle, but should be left out: constants, copies of other columns, numbers of rows."""
    found = []
    for table in tables:
        if table.silent[0]:
            sentence = f"Column '{table.names[0]}' has a single value, so it can be neither cause nor effect."
            found.append(Problem("constant", table.names[0], sentence, "Leave it out.", fatal=False))
        found += row_numbers(table)
    advised = {problem.column for problem in found}
    others = [table for table in tables if table.names[0] not in advised]
    for original, copy in copies((j, as_compared(table, 0)) for j, table in enumerate(others)):
        name = others[copy].names[0]
        sentence = f"Column '{name}' equals '{others[original].names[0]}', so their edges are arbitrary."
        found.append(Problem("duplicate", name, sentence, "Keep one of them.", fatal=False))
    return found


def _all_distinct_integers(values: NDArray[np.float64]) -> bool:
    whole = len(values) >= MIN_ROWS and bool(np.isfinite(values).all()) and bool((values == np.floor(values)).all())
    return whole and len(np.unique(values)) == len(values)

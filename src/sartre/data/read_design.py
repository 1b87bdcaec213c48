"""A table together with what is said about its rows."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from sartre.data.checks import as_table
from sartre.data.row_design import own_columns, read_design

if TYPE_CHECKING:
    from sartre.data.table import Table

CENTRED = "centred"


def with_design(X: Any, environment: Any = None, interventions: Any = None, groups: Any = None) -> Any:
    """Return a checked table, categories and missing values included, with the design of its rows; X if there is none.

    Parameters
    ----------
    X : array of shape (n, d), data frame, or Table
    environment, groups : name of a column, or n values, optional
        A column that is named is not a variable. With ``groups=("centred", ...)`` the mean of every group is taken off
        every numeric column, so that only differences within groups count (fixed effects).
    interventions : mapping, optional
        As in `sartre.data.row_design.read_design`.

    Examples
    --------
    >>> import numpy as np, pandas as pd
    >>> frame = pd.DataFrame({"a": np.arange(20.0), "b": np.arange(20.0) ** 2, "site": np.repeat([1, 2], 10)})
    >>> table = with_design(frame, environment="site", interventions={2: ["b"]})
    >>> table.names, int(table.design.acted.sum())
    (('a', 'b'), 10)
    """
    if environment is None and interventions is None and groups is None:
        return X
    centred = _is_centred(groups)
    rest, given = own_columns(X, {"environment": environment, "groups": groups[1] if centred else groups})
    table = as_table(rest, categories=True, missing=True)
    design = read_design(table.values, table.names, given["environment"], interventions, given["groups"])
    table = replace(table, design=design)
    return table if not centred or design is None or design.groups is None else _within_groups(table, design.groups)


def named_columns(environment: Any, groups: Any) -> list[str]:
    """Return the columns that are named by what is said about the rows.

    Examples
    --------
    >>> named_columns("site", ("centred", "patient")), named_columns(["p", "q"], None)
    (['site', 'patient'], [])
    """
    return [name for name in (environment, groups[1] if _is_centred(groups) else groups) if isinstance(name, str)]


def _is_centred(groups: Any) -> bool:
    return isinstance(groups, tuple) and len(groups) == 2 and isinstance(groups[0], str) and groups[0] == CENTRED


def _within_groups(table: Table, groups: NDArray[np.intp]) -> Table:
    """Return a table whose numeric columns have the same mean in every group."""
    values = table.values.copy(order="F")
    for j in sorted(set(range(table.shape[1])) - set(table.levels)):
        own = table.rows_of(j)  # what a variable was set to says nothing about its group
        codes = np.unique(groups[own], return_inverse=True)[1]
        column = values[own, j]
        values[own, j] -= (np.bincount(codes, column) / np.bincount(codes))[codes] - column.mean()
    return replace(table, values=values)

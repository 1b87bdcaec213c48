"""A table together with what is said about its rows."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

from sartre.data.checks import as_table
from sartre.data.row_design import own_columns, read_design


def with_design(X: Any, environment: Any = None, interventions: Any = None, groups: Any = None) -> Any:
    """Return a checked table, categories and missing values included, with the design of its rows; X if there is none.

    Parameters
    ----------
    X : array of shape (n, d), data frame, or Table
    environment, groups : name of a column, or n values, optional
        A column that is named is not a variable.
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
    rest, given = own_columns(X, {"environment": environment, "groups": groups})
    table = as_table(rest, categories=True, missing=True)
    design = read_design(table.values, table.names, given["environment"], interventions, given["groups"])
    return replace(table, design=design)

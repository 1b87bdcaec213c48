"""Missing values: refused, dropped, filled in, or kept for the steps that know what to do with them."""

from __future__ import annotations

import warnings
from dataclasses import replace
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from sartre.data.checks import as_table
from sartre.settings import check_choice

if TYPE_CHECKING:
    from sartre.data.table import Table

MISSING_IN_MEMORY = ("error", "drop", "bin", "impute")
ROUNDS, NEAREST = 5, 20  # imputation rounds over the columns, and predictors per column: more would be slow


def read_table(X: Any, missing: str, seed: int, *, min_rows: int = 1, min_columns: int = 1) -> Table:
    """Check a table, categories included, and treat its missing values in one of four ways.

    Parameters
    ----------
    X : array of shape (n, d), any eager data frame, or Table
    missing : "error", "drop", "bin" or "impute"
        Refuse them; leave out the rows that have any; keep them as NaN; or fill them in (`imputed`). A warning says
        what was left out or filled in.
    seed : int
        Seed of the imputation.
    min_rows, min_columns : int
        Fewer raise a ``ValueError``; rows that are left out do not count.

    Examples
    --------
    >>> read_table([[1, 2], [3, np.nan], [5, 7]], "bin", seed=0).missing.sum()
    np.int64(1)
    """
    check_choice("CausalDiscovery", "missing", missing, MISSING_IN_MEMORY)
    table = as_table(X, min_rows=min_rows, min_columns=min_columns, categories=True, missing=missing != "error")
    absent = table.missing
    if missing == "bin" or not absent.any():
        return table
    count = f"{absent.sum()} missing values in {absent.any(axis=0).sum()} columns"
    if missing == "drop":
        kept = np.flatnonzero(~absent.any(axis=1))
        _warn(
            f"{absent.any(axis=1).sum()} of {len(absent)} rows were left out because of {count}. The result describes "
            "complete rows only. Use missing='impute' or 'bin' to keep all rows."
        )
        return as_table(table.take(kept), min_rows=min_rows, categories=True)
    _warn(
        f"{count} were imputed. The tests treat imputed values as measured, so p-values of these columns are too "
        "small. Use missing='bin' or 'drop' to avoid this."
    )
    return imputed(table, seed)


def imputed(table: Table, seed: int) -> Table:
    """Fill in missing values: the most common level, or a draw from a linear model of the other columns.

    Numbers are drawn by scikit-learn's ``IterativeImputer`` with ``sample_posterior=True``: means instead of draws
    would make the columns look more dependent than they are. A column without any value becomes a constant.

    Examples
    --------
    >>> x = np.linspace(0, 1, 50)
    >>> X = np.column_stack([x, 2 * x])
    >>> X[7, 1] = np.nan
    >>> from sartre.data.table import Table
    >>> float(imputed(Table(X, ("a", "b")), seed=0).values[7, 1].round(2))
    0.29
    """
    absent = table.missing
    if not absent.any():
        return table
    values = table.values.copy()
    values[:, absent.all(axis=0)] = 0.0  # a column without any value becomes a constant
    for j in table.levels:
        observed = ~absent[:, j]
        values[~observed, j] = np.bincount(values[observed, j].astype(np.intp), minlength=1).argmax()
    numbers = [j for j in range(table.shape[1]) if j not in table.levels]
    if np.isnan(values[:, numbers]).any():
        values[:, numbers] = _drawn(values[:, numbers], seed)
    filled = frozenset(np.flatnonzero(absent.any(axis=0)).tolist())
    return replace(table, values=np.asfortranarray(values), imputed=table.imputed | filled)


def _drawn(X: NDArray[np.float64], seed: int) -> NDArray[np.float64]:
    from sklearn.experimental import enable_iterative_imputer  # noqa: F401, PLC0415 - slow to import and seldom used
    from sklearn.impute import IterativeImputer  # noqa: PLC0415

    low, high = np.nanmin(X, axis=0), np.nanmax(X, axis=0)
    shift, scale = np.nanmean(X, axis=0), np.maximum(np.nanstd(X, axis=0), np.finfo(float).tiny)
    imputer = IterativeImputer(
        sample_posterior=True,
        max_iter=ROUNDS,
        n_nearest_features=NEAREST if X.shape[1] > NEAREST else None,
        keep_empty_features=True,
        random_state=seed % 2**32,
    )
    filled = np.asarray(imputer.fit_transform((X - shift) / scale)) * scale + shift
    return np.where(np.isnan(X), np.clip(filled, low, high), X)


def _warn(text: str) -> None:
    warnings.warn(text, UserWarning, stacklevel=4)

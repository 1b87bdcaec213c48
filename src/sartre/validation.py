"""The one door for user data: tables, orders, masks and settings are checked here and trusted inside."""

from __future__ import annotations

import hashlib
import re
import warnings
from collections import Counter
from numbers import Integral, Real
from typing import TYPE_CHECKING, Any, TypeAlias

import narwhals as nw
import numpy as np
import pandas as pd
from scipy import sparse

from sartre.columns import Column, read_objects, read_series
from sartre.table import Table

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from numpy.typing import NDArray

RandomState: TypeAlias = int | np.random.Generator | np.random.RandomState | None

LARGEST = 1e150  # the square of anything larger may overflow a double
_SHOWN = 5


def as_table(
    X: Any,  # noqa: ANN401 - any table is welcome
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
        Whether text and categoricals are welcome (`sartre.columns.read_series`), or numbers only.
    missing : bool
        Whether missing values are welcome; they are NaN.

    Returns
    -------
    Table
        A `Table` passed in comes back as it is. Constant and duplicated columns give one warning each.

    Examples
    --------
    >>> as_table([[1, 2.5], [3, 4.5]]).names
    ('x0', 'x1')
    """
    table = read_columns(X, categories=categories)
    if table.levels and not categories:
        raise ValueError(
            f"Columns of numbers are needed here. Got categories: {_listed([table.names[j] for j in table.levels])}. "
            "Code them as numbers or leave them out; CausalDiscovery does so for orderers, and SARTRE, CAMPruning and "
            "DAS take them as they are."
        )
    if not (missing and table is X):
        _check_finite(table, missing=missing)
    if table.shape[0] < min_rows:
        raise ValueError(f"At least {min_rows} rows are needed. Got {table.shape[0]}. Bring more samples.")
    if table.shape[1] < min_columns:
        raise ValueError(
            f"At least {min_columns} columns are needed. Got {table.shape[1]}: {_listed(table.names) or 'none'}. "
            "Bring more variables."
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
        raise ValueError(f"Every variable needs a name of its own. Repeated: {_listed(repeated)}. Rename them.")


def position_of(item: int | str, names: Sequence[str], what: str) -> int:
    """Return the position of a feature or variable given by its name or its number."""
    if isinstance(item, str):
        if item not in names:
            raise ValueError(f"'{item}' is not a {what} here. There are {_listed(names)}.")
        return list(names).index(item)
    if not 0 <= item < len(names):
        raise ValueError(f"A {what} is numbered from 0 to {len(names) - 1}. Got {item}.")
    return int(item)


def check_order(order: Iterable[Any], names: Sequence[str]) -> NDArray[np.intp]:
    """Return an order as column indices, source first; column indices or names in, each exactly once.

    Examples
    --------
    >>> check_order(["b", "a"], ["a", "b"])
    array([1, 0])
    """
    if isinstance(order, (set, frozenset, str)) or not hasattr(order, "__iter__"):
        raise TypeError(f"An order is a sequence of columns, causes before effects. Got a {type(order).__name__}.")
    index: dict[Any, int] = {name: j for j, name in enumerate(names)}
    positions = []
    for item in list(order):
        if isinstance(item, str) and item in index:
            positions.append(index[item])
        elif isinstance(item, Integral) and not isinstance(item, bool) and 0 <= int(item) < len(names):
            if index.get(str(item), item) != item:
                raise ValueError(
                    f"A number in an order is a position, but a column elsewhere is named {item}. "
                    f"Name columns by text: '{item}'."
                )
            positions.append(int(item))
        else:
            raise ValueError(
                f"An order lists column names, or numbers from 0 to {len(names) - 1}. Got {item!r}; "
                f"the columns are {_listed(names)}."
            )
    counts = Counter(positions)
    wrong = [names[j] for j in range(len(names)) if counts[j] != 1]
    if wrong:
        raise ValueError(f"An order must list every column exactly once. Missing or repeated: {_listed(wrong)}.")
    return np.array(positions, dtype=np.intp)


def check_candidates(
    candidates: Any,  # noqa: ANN401
    order: NDArray[np.intp],
    names: Sequence[str],
) -> NDArray[np.bool_]:
    """Return which edges may stay: [parent, child], earlier -> later in the order and allowed by the mask."""
    position = np.argsort(order)
    allowed = position[:, None] < position[None, :]
    return allowed if candidates is None else allowed & as_mask("candidates", candidates, names)


def check_required(
    required: Any,  # noqa: ANN401
    order: NDArray[np.intp],
    allowed: NDArray[np.bool_],
    names: Sequence[str],
) -> NDArray[np.bool_]:
    """Return which edges must stay: [parent, child], all False for None; `allowed` is what `check_candidates` gives.

    Examples
    --------
    >>> order, names = np.array([1, 0]), ["a", "b"]
    >>> check_required([[0, 0], [1, 0]], order, check_candidates(None, order, names), names)[1]
    array([ True, False])
    """
    if required is None:
        return np.zeros_like(allowed)
    mask = as_mask("required", required, names)
    position = np.argsort(order)
    for parent, child in np.argwhere(mask & ~allowed).tolist():
        a, b = names[parent], names[child]
        if position[parent] >= position[child]:
            raise ValueError(f"The edge {a} -> {b} is required, but the order does not have {a} before {b}.")
        raise ValueError(f"The edge {a} -> {b} is required, but 'candidates' excludes it. Change one of them.")
    return mask


def as_mask(what: str, mask: Any, names: Sequence[str], sides: str = "[parent, child]") -> NDArray[np.bool_]:  # noqa: ANN401
    """Return a (d, d) boolean matrix; a data frame with names on both sides goes by its names."""
    if nw.dependencies.is_pandas_dataframe(mask):
        labelled = mask.set_axis(mask.index.map(str), axis=0).set_axis(mask.columns.map(str), axis=1)
        if not sorted(labelled.index) == sorted(labelled.columns) == sorted(names):
            raise ValueError(
                f"'{what}' as a data frame must have the columns' names on both sides, {sides}. "
                f"Pass {what}.to_numpy() to go by position."
            )
        mask = labelled.loc[list(names), list(names)]
    matrix = np.asarray(mask)
    d = len(names)
    if matrix.shape != (d, d) or not (matrix.dtype == bool or np.isin(matrix, (0, 1)).all()):
        raise ValueError(
            f"'{what}' must be a ({d}, {d}) matrix of booleans, {sides}. "
            f"Got shape {matrix.shape}, dtype {matrix.dtype}."
        )
    return matrix.astype(bool)


def check_number(
    owner: str,
    name: str,
    value: Any,  # noqa: ANN401
    *,
    low: float,
    high: float = np.inf,
    integer: bool = False,
    open_low: bool = False,
) -> None:
    """Check a numeric setting of a class or function, in scikit-learn's error grammar."""
    kind, word = (Integral, "an int") if integer else (Real, "a float")
    interval = f"{'(' if open_low else '['}{low}, {high}{')' if high == np.inf else ']'}"
    complaint = f"The '{name}' parameter of {owner} must be {word} in the range {interval}. Got {value!r} instead."
    if not isinstance(value, kind) or isinstance(value, (bool, np.bool_)):
        raise TypeError(complaint)
    number: Any = value  # compared as it is: an int past the largest double is still out of range
    if not (low <= number <= high) or number == np.inf or (open_low and number == low):
        raise ValueError(complaint)


def check_choice(owner: str, name: str, value: object, choices: Sequence[str]) -> None:
    """Check a setting that is one of a few words, in scikit-learn's error grammar."""
    if not isinstance(value, str) or value not in choices:
        *others, last = map(repr, choices)
        raise ValueError(
            f"The '{name}' parameter of {owner} must be {', '.join(others)} or {last}. Got {value!r} instead."
        )


def seed_of(owner: str, random_state: RandomState) -> int:
    """Return the whole number that all draws of a call follow from; a generator moves on, an int stays."""
    if isinstance(random_state, (np.random.Generator, np.random.RandomState)):
        return int.from_bytes(random_state.bytes(16), "little")
    if random_state is None:
        return int.from_bytes(np.random.default_rng().bytes(16), "little")
    check_number(owner, "random_state", random_state, low=0, integer=True)
    return int(random_state)


def read_columns(X: Any, *, categories: bool = False) -> Table:  # noqa: ANN401
    """Read an array or data frame (a Table is one already) without a look at its values: NaN and infinity may be there.

    Examples
    --------
    >>> read_columns([[1, None], [2, 3.5]]).values[0].tolist()
    [1.0, nan]
    """
    if isinstance(X, Table):
        return X
    if sparse.issparse(X):
        raise TypeError("A dense table is needed. Got a sparse matrix; pass X.toarray().")
    if nw.dependencies.is_pandas_like_dataframe(X):
        check_unique([str(name) for name in X.columns])
    frame = nw.from_native(X, pass_through=True, eager_only=True)
    if isinstance(frame, nw.DataFrame):
        names = [str(name) for name in frame.columns]
        _check_for_index(names)
        check_unique(names)
        columns = [read_series(frame[:, j], name, categories=categories) for j, name in enumerate(names)]
        return _joined(columns, names, frame.shape[0])
    array = _to_array(X)
    if array.ndim == 0:
        raise TypeError(f"A table is needed: a two-dimensional array or an eager data frame. Got {type(X).__name__}.")
    if array.ndim != 2:
        raise ValueError(
            f"A table has rows and columns: two dimensions. Got {array.ndim}. "
            "Reshape it, one row a sample and one column a variable."
        )
    names = default_names(array.shape[1])
    if array.dtype.kind in "fiub":
        return Table(np.array(array, dtype=np.float64, order="F"), tuple(names))
    if array.dtype.kind not in "OUS":
        raise TypeError(f"A table of real numbers is needed. Got an array of dtype {array.dtype}.")
    columns = [read_objects(array[:, j].astype(object), name, categories=categories) for j, name in enumerate(names)]
    return _joined(columns, names, len(array))


def _joined(columns: Sequence[Column], names: Sequence[str], n_rows: int) -> Table:
    values = np.empty((n_rows, len(columns)), dtype=np.float64, order="F")
    for j, column in enumerate(columns):
        values[:, j] = column.values
    return Table(values, tuple(names), {j: c.levels for j, c in enumerate(columns) if c.levels is not None})


def _check_for_index(names: Sequence[str]) -> None:
    for name in names:
        if not name or re.fullmatch(r"Unnamed: \d+", name):
            raise ValueError(
                f"Column {names.index(name)} has no name ('{name}') and looks like a row index, not a variable. "
                "Drop it (pd.read_csv(..., index_col=0)) or name it."
            )


def _to_array(X: Any) -> NDArray[Any]:  # noqa: ANN401
    try:
        return np.ma.filled(X.astype(np.float64), np.nan) if np.ma.isMaskedArray(X) else np.asarray(X)
    except ValueError:
        raise ValueError("Every row of a table has the same number of values. Got rows of different lengths.") from None


def _check_finite(table: Table, *, missing: bool) -> None:
    values, names = table.values, table.names
    if values.size == 0:
        return
    absent = np.isnan(values)
    if absent.any() and not missing:
        counts = [f"'{names[j]}' {absent[:, j].sum()}" for j in np.flatnonzero(absent.any(axis=0)).tolist()]
        row, j = np.argwhere(absent)[0]
        raise ValueError(
            f"Missing values (NaN) by column: {_listed(counts)}; the first is in row {row} (the first row is 0), "
            f"column '{names[j]}'. Drop those rows or fill them in first, or let CausalDiscovery do it: "
            "missing='drop', 'impute', or 'bin', which makes missing a value of its own."
        )
    if absent.any():
        if absent.all(axis=0).any():
            raise ValueError(f"Column '{names[int(absent.all(axis=0).argmax())]}' has no value at all. Leave it out.")
        values = np.where(absent, np.nanmedian(values, axis=0), values)
    with np.errstate(over="ignore", invalid="ignore"):
        spread = values.max(axis=0) - values.min(axis=0)
    largest = np.abs(values).max(axis=0)
    for j in np.flatnonzero(largest > LARGEST).tolist():
        row = int(np.abs(values[:, j]).argmax())
        what = "infinity" if np.isinf(largest[j]) else f"{values[row, j]:g} (its square overflows)"
        raise ValueError(
            f"Column '{names[j]}' holds {what} in row {row} (the first row is 0). "
            "Correct the value or rescale the column."
        )
    for j in np.flatnonzero((spread > 0) & (spread < 1 / LARGEST)).tolist():
        raise ValueError(
            f"Column '{names[j]}' varies by {spread[j]:g} only, whose square is zero in floating point. "
            "Rescale the column."
        )


def _warn_about_columns(table: Table) -> None:
    constant = [table.names[j] for j in np.flatnonzero(table.silent)]
    if constant:
        warnings.warn(
            f"Constant columns can be neither cause nor effect: {_listed(constant)}.",
            UserWarning,
            stacklevel=4,
        )
    first: dict[bytes, str] = {}
    copies = []
    for j in np.flatnonzero(~table.constant):
        column = table.values[:, j] + 0.0  # -0.0 is 0.0
        if j in table.levels:  # levels by their first sample: what they are called does not make them differ
            column = pd.factorize(column)[0]
        original = first.setdefault(hashlib.blake2b(column.tobytes(), digest_size=32).digest(), table.names[j])
        if original != table.names[j]:
            copies.append(f"{table.names[j]} = {original}")
    if copies:
        warnings.warn(
            f"Duplicated columns: {_listed(copies)}. The data cannot tell copies apart, so the edges between and into "
            "them are arbitrary. Keep one of each.",
            UserWarning,
            stacklevel=4,
        )


def _listed(items: Sequence[str]) -> str:
    shown = ", ".join(items[:_SHOWN])
    return shown if len(items) <= _SHOWN else f"{shown} and {len(items) - _SHOWN} more"

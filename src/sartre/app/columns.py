"""A table as the page shows it: every column with its kind, its gaps, a small histogram and its first values."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import narwhals as nw
import numpy as np
from numpy.typing import NDArray

from sartre.data.columns import Column, is_missing, read_series

if TYPE_CHECKING:
    import pandas as pd

BARS = 12  # of a histogram, and levels of a category that are shown
FIRST_ROWS = 8
LONGEST = 60  # characters of a value


def described_table(frame: pd.DataFrame) -> dict[str, Any]:
    """Return the size of a table and a description of each column.

    Examples
    --------
    >>> import pandas as pd
    >>> found = described_table(pd.DataFrame({"dose": [1.0, 2.0, None], "drug": ["a", "b", "a"]}))
    >>> [(column["name"], column["kind"], column["missing"]) for column in found["columns"]]
    [('dose', 'number', 1), ('drug', 'category', 0)]
    """
    table = nw.from_native(frame, eager_only=True)
    return {
        "rows": len(frame),
        "columns": [_described(series, str(series.name)) for series in table.iter_columns()],
    }


def _described(series: nw.Series[Any], name: str) -> dict[str, Any]:
    first = [None if is_missing(value) else str(value)[:LONGEST] for value in series.head(FIRST_ROWS).to_list()]
    described = {"name": name, "first": first, "missing": int(series.null_count())}
    try:
        column = read_series(series, name, categories=True)
    except (TypeError, ValueError) as error:
        kind = "date" if series.dtype.is_temporal() or "dates" in str(error) else "id"
        return {**described, "kind": kind, "note": str(error), "bars": []}
    described["missing"] = int(np.isnan(column.values).sum())
    kind = "number" if column.levels is None else "category"
    return {**described, "kind": kind, "note": None, **_distribution(column)}


def _distribution(column: Column) -> dict[str, Any]:
    """Return the heights of a few bars, and what they stand for."""
    observed = column.values[np.isfinite(column.values)]
    if not len(observed):
        return {"bars": [], "distinct": 0}
    if column.levels is not None:
        counts = np.bincount(observed.astype(np.intp), minlength=len(column.levels))
        most = np.argsort(-counts, kind="stable")[:BARS].tolist()
        bars = [{"label": column.levels[j][:LONGEST], "count": int(counts[j])} for j in most]
        return {"bars": bars, "distinct": len(column.levels)}
    distinct = np.unique(observed)
    return {"bars": _histogram(observed, distinct), "distinct": len(distinct)}


def _histogram(observed: NDArray[np.float64], distinct: NDArray[np.float64]) -> list[dict[str, Any]]:
    if len(distinct) <= BARS:
        return [{"label": f"{value:g}", "count": int((observed == value).sum())} for value in distinct.tolist()]
    counts, edges = np.histogram(observed, BARS)
    labels = (f"{low:.4g} to {high:.4g}" for low, high in zip(edges[:-1], edges[1:], strict=True))
    return [{"label": label, "count": count} for label, count in zip(labels, counts.tolist(), strict=True)]

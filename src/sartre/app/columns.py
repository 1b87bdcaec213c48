"""A table as the page shows it: every column with its kind, its gaps, a small histogram and its first values."""

from __future__ import annotations

from dataclasses import asdict
from itertools import pairwise
from typing import TYPE_CHECKING, Any

import narwhals as nw
import numpy as np
from numpy.typing import NDArray

from sartre.data.columns import Column, is_missing, read_series
from sartre.data.problems import problems_of
from sartre.data.refusals import BadTableError

if TYPE_CHECKING:
    import pandas as pd

BARS = 12  # of a histogram, and levels of a category that are shown
PREVIEWED_ROWS = 8
LONGEST_VALUE = 60  # characters of a value


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
    problems = problems_of(frame)
    kinds = {each.column: each.kind for each in problems if each.kind in {"id", "date", "text"} and each.fatal}
    return {
        "rows": len(frame),
        "columns": [_described(series, str(series.name), kinds) for series in table.iter_columns()],
        "problems": [{**asdict(problem), "fatal": bool(problem.fatal)} for problem in problems],
    }


def _described(series: nw.Series[Any], name: str, kinds: dict[str | None, str]) -> dict[str, Any]:
    first = [None if is_missing(value) else _shown(value) for value in series.head(PREVIEWED_ROWS).to_list()]
    described = {"name": name, "first": first, "missing": int(series.null_count()), "bars": [], "distinct": None}
    try:
        column = read_series(series, name, categories=True)
    except BadTableError:
        return {**described, "kind": kinds.get(name, "text")}
    described["missing"] = int(np.isnan(column.values).sum())
    return {**described, "kind": "number" if column.levels is None else "category", **_distribution(column)}


def _shown(value: Any) -> str:
    """Return a value as text, a number with at most six digits."""
    return f"{value:.6g}" if isinstance(value, float) else str(value)[:LONGEST_VALUE]


def _distribution(column: Column) -> dict[str, Any]:
    """Return the heights of a few bars, and what they stand for."""
    observed = column.values[np.isfinite(column.values)]
    if not len(observed):
        return {"bars": [], "distinct": 0}
    if column.levels is not None:
        counts = np.bincount(observed.astype(np.intp), minlength=len(column.levels))
        most = np.argsort(-counts, kind="stable")[:BARS].tolist()
        bars = [{"label": column.levels[j][:LONGEST_VALUE], "count": int(counts[j])} for j in most]
        return {"bars": bars, "distinct": len(column.levels)}
    distinct = np.unique(observed)
    return {"bars": _histogram(observed, distinct), "distinct": len(distinct)}


def _histogram(observed: NDArray[np.float64], distinct: NDArray[np.float64]) -> list[dict[str, Any]]:
    if len(distinct) <= BARS:
        return [{"label": f"{value:g}", "count": int((observed == value).sum())} for value in distinct.tolist()]
    counts, edges = np.histogram(observed, BARS)
    labels = (f"{low:.4g} to {high:.4g}" for low, high in pairwise(edges))
    return [{"label": label, "count": count} for label, count in zip(labels, counts.tolist(), strict=True)]

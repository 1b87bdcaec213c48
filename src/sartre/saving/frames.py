"""Data frames as JSON and arrays."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np
import pandas as pd

if TYPE_CHECKING:
    from sartre.saving.archive import ArrayStore, StoredArrays


def frame_to_plain(frame: pd.DataFrame | None, store: ArrayStore) -> dict[str, Any] | None:
    """Return a frame for JSON: numbers as arrays, anything else as lists."""
    if frame is None:
        return None
    named = frame.index.name is not None
    return {
        "index": {"name": str(frame.index.name), "labels": [str(label) for label in frame.index]} if named else None,
        "columns": [{"name": str(name), **_column_to_plain(frame[name], store)} for name in frame.columns],
        "rows": len(frame),
    }


def frame_of_plain(data: Any, arrays: StoredArrays) -> pd.DataFrame | None:
    """Return the frame that a file holds."""
    if data is None:
        return None
    n, columns = data["rows"], {}
    for column in data["columns"]:
        if "array" in column:
            columns[str(column["name"])] = arrays.any(column, (n,), "biuf")
            continue
        values = [tuple(value) if column["tuples"] else value for value in column["values"]]
        if len(values) != n:
            raise ValueError(f"a table of {n!r:.20} rows has a column of {len(values)}")
        columns[str(column["name"])] = pd.Series(values, dtype=object) if column["objects"] else pd.Series(values)
    index = data["index"]
    frame = pd.DataFrame(columns)
    return frame if index is None else frame.set_axis(pd.Index(index["labels"], name=str(index["name"])))


def _column_to_plain(column: pd.Series, store: ArrayStore) -> dict[str, Any]:
    if isinstance(column.dtype, np.dtype) and column.dtype.kind in "biuf":
        return dict(store.put(column.to_numpy()))
    values = [_plain(value) for value in column]
    tuples = len(values) > 0 and all(isinstance(value, tuple) for value in column)
    return {"values": values, "tuples": tuples, "objects": bool(column.dtype == object)}


def _plain(value: Any) -> Any:
    if isinstance(value, (list, tuple)):
        return [_plain(item) for item in value]
    if value is None or isinstance(value, (str, bool)):
        return value
    if isinstance(value, (np.bool_, np.integer, np.floating, float, int)):
        number = value.item() if isinstance(value, np.generic) else value
        return number if np.isfinite(float(number)) else None
    return str(value)

"""Square matrices as given by users: a data frame goes by its labels, anything else by position."""

from __future__ import annotations

from typing import Any

import narwhals as nw
import numpy as np
import pandas as pd
from numpy.typing import NDArray

from sartre.settings import listed


def by_label(what: str, matrix: Any) -> tuple[NDArray[Any], list[str] | None]:
    """Return a square matrix as an array, and the names of its variables, or None if it has no labels.

    The columns of a pandas frame are put in the order of its rows; one with default labels, 0, 1, ..., on both axes has
    none. Frames of other libraries label only their columns, so their rows are taken to be in the same order.

    Examples
    --------
    >>> by_label("truth", pd.DataFrame([[1, 0], [0, 0]], index=["a", "b"], columns=["b", "a"]))
    (array([[0, 1],
           [0, 0]]), ['a', 'b'])
    """
    if nw.dependencies.is_pandas_like_dataframe(matrix):
        if all(_is_default(axis) for axis in matrix.axes):
            return matrix.to_numpy(), None
        rows, columns = ([str(name) for name in axis] for axis in matrix.axes)
        if len(set(rows)) < len(rows) or sorted(rows) != sorted(columns):
            raise ValueError(
                f"'{what}', given as a data frame, must have the same unique names on both axes. Got the rows "
                f"{listed(rows)} and the columns {listed(columns)}. Label both, or pass {what}.to_numpy() to match by "
                "position."
            )
        place = {name: j for j, name in enumerate(columns)}
        return matrix.to_numpy()[:, [place[name] for name in rows]], rows
    frame = nw.from_native(matrix, pass_through=True, eager_only=True)
    if isinstance(frame, nw.DataFrame):
        return frame.to_numpy(), list(frame.columns)
    return np.asarray(matrix), None


def _is_default(axis: Any) -> bool:
    return isinstance(axis, pd.RangeIndex) and axis.equals(pd.RangeIndex(len(axis)))

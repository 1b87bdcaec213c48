"""The rows of a fitted model as JSON and arrays, for files that hold them."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from sartre.data.row_design import RowDesign
from sartre.data.table import Table

if TYPE_CHECKING:
    from sartre.saving.archive import ArrayStore, StoredArrays

_OF_ROWS = ("acted", "indicators", "shifted", "is_indicator", "forms_pairs")


def rows_to_plain(table: Table, store: ArrayStore) -> dict[str, Any]:
    """Return a table for JSON, its values put into the store."""
    design = table.design
    return {
        "values": store.put(table.values),
        "levels": {str(j): list(levels) for j, levels in table.levels.items()},
        "imputed": sorted(map(int, table.imputed)),
        "design": design
        and {
            **{name: store.put(getattr(design, name)) for name in _OF_ROWS},
            "environments": list(design.environments),
            "reference": design.reference,
            "groups": None if design.groups is None else store.put(design.groups),
        },
    }


def rows_of_plain(data: Any, arrays: StoredArrays, names: tuple[str, ...]) -> Table:
    """Return the table that a file holds."""
    values = np.asfortranarray(arrays.any(data["values"], (None, len(names))))
    if np.isinf(values).any():
        raise ValueError("the rows hold infinite values")
    levels = {int(j): tuple(map(str, given)) for j, given in data["levels"].items()}
    for j, given in levels.items():
        codes = values[~np.isnan(values[:, j]), j]
        if not 0 <= j < len(names) or not np.isin(codes, np.arange(len(given))).all():
            raise ValueError("the levels of a category do not fit its values")
    design = None if data["design"] is None else _design_of_plain(data["design"], arrays, values.shape)
    return Table(values, names, levels, design, frozenset(map(int, data["imputed"])))


def _design_of_plain(data: Any, arrays: StoredArrays, shape: tuple[int, ...]) -> RowDesign:
    n, d = shape
    environments = tuple(map(str, data["environments"]))
    k = len(environments)
    return RowDesign(
        acted=arrays.get(data["acted"], (n, d), "b"),
        indicators=arrays.get(data["indicators"], (n, k)),
        environments=environments,
        reference=str(data["reference"]),
        shifted=arrays.get(data["shifted"], (k, d), "b"),
        groups=None if data["groups"] is None else arrays.get(data["groups"], (n,), "i").astype(np.intp),
        is_indicator=arrays.get(data["is_indicator"], (d,), "b"),
        forms_pairs=arrays.get(data["forms_pairs"], (d,), "b"),
    )

"""The table of kept edges that every pruner returns."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
import pandas as pd

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence


def edge_table(edges: Iterable[tuple[int, int, float, float, float]], names: Sequence[str]) -> pd.DataFrame:
    """Return ``(parent, child, strength, margin, p_value)`` rows as a data frame with names, strongest first."""
    rows = [(names[parent], names[child], *numbers) for parent, child, *numbers in edges]
    frame = pd.DataFrame(rows, columns=["source", "target", "strength", "margin", "p_value"])
    numbers = {"strength": np.float64, "margin": np.float64, "p_value": np.float64}
    return frame.astype(numbers).sort_values("strength", ascending=False, kind="stable", ignore_index=True)

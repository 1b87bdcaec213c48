"""What pruners share: one target's result, and the table of kept edges."""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

import numpy as np
import pandas as pd

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from numpy.typing import NDArray

    from sartre.additive.selection import FoundPair


class TargetFit(NamedTuple):
    """One target's kept parents and what is known of each, pairs among them, the kind of tests, the solver's end."""

    target: int
    parents: NDArray[np.intp]
    strength: Sequence[float] | NDArray[np.float64] = ()
    margin: Sequence[float] | NDArray[np.float64] = ()
    p_value: Sequence[float] | NDArray[np.float64] = ()
    pairs: Sequence[FoundPair] = ()
    robust: bool = False
    gap: float = 0.0
    converged: bool = True

    def rows(self) -> list[tuple[int, int, float, float, float]]:
        """Return ``(parent, child, strength, margin, p_value)`` of every edge."""
        known = zip(self.parents.tolist(), self.strength, self.margin, self.p_value, strict=True)
        return [(parent, self.target, strength, margin, p_value) for parent, strength, margin, p_value in known]


def edge_table(edges: Iterable[tuple[int, int, float, float, float]], names: Sequence[str]) -> pd.DataFrame:
    """Return ``(parent, child, strength, margin, p_value)`` rows as a data frame with names, strongest first."""
    rows = [(names[parent], names[child], *numbers) for parent, child, *numbers in edges]
    frame = pd.DataFrame(rows, columns=["source", "target", "strength", "margin", "p_value"])
    numbers = {"strength": np.float64, "margin": np.float64, "p_value": np.float64}
    return frame.astype(numbers).sort_values("strength", ascending=False, kind="stable", ignore_index=True)

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


def united(fits: Sequence[TargetFit]) -> TargetFit:
    """Join the fits of the k indicators of one target: all their parents and pairs.

    A parent has the largest strength and margin it has anywhere, and k times its smallest p-value.
    """
    if len(fits) == 1:
        return fits[0]
    k = len(fits)
    found: dict[int, tuple[float, float, float]] = {}
    pairs: dict[tuple[int, int], FoundPair] = {}
    for fit in fits:
        for parent, _, strength, margin, p_value in fit.rows():
            old = found.get(parent, (np.nan, np.nan, np.nan))
            corrected = np.minimum(1.0, k * p_value)  # NaN stays
            found[parent] = (
                float(np.fmax(old[0], strength)),
                float(np.fmax(old[1], margin)),
                float(np.fmin(old[2], corrected)),
            )
        for pair in fit.pairs:
            both = pair._replace(p_value=min(1.0, k * pair.p_value))
            if both[:2] not in pairs or both.p_value < pairs[both[:2]].p_value:
                pairs[both[:2]] = both
    parents = sorted(found)
    strength, margin, p_value = np.array([found[j] for j in parents]).reshape(-1, 3).T
    return TargetFit(
        fits[0].target,
        np.array(parents, dtype=np.intp),
        strength,
        margin,
        p_value,
        list(pairs.values()),
        any(fit.robust for fit in fits),
        max(fit.gap for fit in fits),
        all(fit.converged for fit in fits),
    )


def moved(fit: TargetFit, target: int, columns: NDArray[np.intp], rows: NDArray[np.intp]) -> TargetFit:
    """Return a fit to some rows and columns of a table in the numbers of the whole table."""
    pairs = [
        pair._replace(
            first=int(columns[pair.first]),
            second=int(columns[pair.second]),
            surface=pair.surface._replace(first=rows[pair.surface.first], second=rows[pair.surface.second]),
        )
        for pair in fit.pairs
    ]
    return fit._replace(target=target, parents=columns[fit.parents], pairs=pairs)


def edge_table(edges: Iterable[tuple[int, int, float, float, float]], names: Sequence[str]) -> pd.DataFrame:
    """Return ``(parent, child, strength, margin, p_value)`` rows as a data frame with names, strongest first."""
    rows = [(names[parent], names[child], *numbers) for parent, child, *numbers in edges]
    frame = pd.DataFrame(rows, columns=["source", "target", "strength", "margin", "p_value"])
    numbers = {"strength": np.float64, "margin": np.float64, "p_value": np.float64}
    return frame.astype(numbers).sort_values("strength", ascending=False, kind="stable", ignore_index=True)

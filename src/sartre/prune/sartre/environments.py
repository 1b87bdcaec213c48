"""What environments do: indicators of them are candidates of every target, and are taken out of the graph again.

An environment may shift any variable. Its indicator, 1 in its rows, is a candidate like any other, so that what it
shifts is tested like any other edge; left out, the shift would look like an effect of whatever else it moves.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import TYPE_CHECKING, NamedTuple

import numpy as np
import pandas as pd
from numpy.typing import NDArray

if TYPE_CHECKING:
    from sartre.data.table import Table
    from sartre.prune.edges import TargetFit

COLUMNS = ["environment", "variable", "strength", "p_value", "changes"]


class Effect(NamedTuple):
    """An environment's direct effect on a target; changes: the parent whose effect it changes, or -1 for a shift."""

    environment: int
    target: int
    strength: float
    p_value: float
    changes: int = -1


def with_indicators(table: Table) -> Table:
    """Return a table with the indicators of its environments as further columns."""
    design = table.design
    if design is None or not design.environments or design.is_indicator.any():
        return table
    n, k = design.indicators.shape
    names = (*table.names, *(f"environment {label}" for label in design.environments))
    while len(set(names)) < len(names):  # a column may have any name
        names = (*table.names, *(f"{name}'" for name in names[len(table.names) :]))
    return replace(
        table,
        values=np.asfortranarray(np.hstack([table.values, design.indicators])),
        names=names,
        design=replace(
            design,
            acted=np.hstack([design.acted, np.zeros((n, k), dtype=bool)]),
            shifted=np.hstack([design.shifted, np.zeros((k, k), dtype=bool)]),
            is_indicator=np.append(design.is_indicator, np.ones(k, dtype=bool)),
            forms_pairs=np.append(design.forms_pairs, ~design.acting),
        ),
    )


def with_environments(
    table: Table, targets: Sequence[tuple[int, NDArray[np.intp], NDArray[np.intp]]]
) -> list[tuple[int, NDArray[np.intp], NDArray[np.intp]]]:
    """Add the indicators to the candidates of every target, and those that are known to shift it to the required ones.

    Parameters
    ----------
    table : Table
        Without the indicators.
    targets : sequence of (target, candidates, required)
    """
    design, d = table.design, table.shape[1]
    if design is None or not design.environments:
        return list(targets)
    indicators = d + np.arange(len(design.environments))
    constant = table.constant
    return [
        (target, candidates, required)
        if constant[target]
        else (
            target,
            np.append(candidates, indicators),
            np.append(required, indicators[design.shifted[:, target]]),
        )
        for target, candidates, required in targets
    ]


def split(fit: TargetFit, d: int) -> tuple[TargetFit, list[Effect]]:
    """Split the fit of a target into that of the first d columns, and what environments do to it."""
    inside = fit.parents < d
    if inside.all():
        return fit, []
    effects = [
        Effect(parent - d, fit.target, strength, p_value)
        for parent, _, strength, _, p_value in fit.rows()
        if parent >= d
    ]
    for pair in fit.pairs:
        low, high = sorted((pair.first, pair.second))
        if low < d <= high:
            effects.append(Effect(high - d, fit.target, np.nan, pair.p_value, low))
    kept = {name: np.asarray(getattr(fit, name))[inside] for name in ("parents", "strength", "margin", "p_value")}
    pairs = [pair for pair in fit.pairs if max(pair.first, pair.second) < d]
    return fit._replace(**kept, pairs=pairs, joint=[j for j in fit.joint if j < d], mechanism=None), effects


def effects_table(effects: Sequence[Effect], names: Sequence[str], environments: Sequence[str]) -> pd.DataFrame:
    """Return what each environment does directly, strongest first, by name."""
    rows = [
        (environments[e.environment], names[e.target], e.strength, e.p_value, "" if e.changes < 0 else names[e.changes])
        for e in effects
    ]
    frame = pd.DataFrame(rows, columns=COLUMNS).astype({"strength": np.float64, "p_value": np.float64})
    return frame.sort_values("strength", ascending=False, kind="stable", ignore_index=True)

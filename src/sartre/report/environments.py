"""The environments on the page of a report: what was acted on, what else they shift, and whether the model agrees."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

if TYPE_CHECKING:
    import pandas as pd

    from sartre.data.table import Table
    from sartre.discovery import CausalDiscovery


def environment_rows(model: CausalDiscovery, table: Table) -> list[dict[str, Any]]:
    """Return one entry per environment of a model, the reference first; none without environments.

    Each has names, counts and summaries only: ``name``, ``reference``, ``rows``, ``set``, ``shifted``, ``effects``
    (what it acts on beyond these) and ``contradiction`` (the variable whose mean differs most from what the model
    predicts, with the difference in standard errors), None where nothing was set or categories or missing values leave
    the model without predictions.
    """
    environments = model.environments_
    if environments is None:
        return []
    predicts = not table.nominal and not table.missing.any()
    compared = model.seen_interventions_ if predicts else None
    return [
        {
            "name": row["environment"],
            "reference": place == 0,
            "rows": row["rows"],
            "set": list(row["set"]),
            "shifted": list(row["shifted"]),
            "effects": _effects(model.environment_effects_, row["environment"], row["shifted"]),
            "contradiction": None if compared is None else _contradiction(compared, row["environment"]),
        }
        for place, row in enumerate(environments.to_dict("records"))
    ]


def _effects(effects: pd.DataFrame | None, environment: str, known: tuple[str, ...]) -> list[dict[str, Any]]:
    """Return what an environment acts on beyond the shifts that are known, strongest first."""
    if effects is None:
        return []
    own = effects[
        (effects["environment"] == environment) & ~(effects["variable"].isin(known) & (effects["changes"] == ""))
    ]
    return [
        {
            "variable": row["variable"],
            "strength": float(f"{row['strength']:.4g}") if np.isfinite(row["strength"]) else None,
            "changes": row["changes"] or None,
        }
        for row in own.to_dict("records")
    ]


def _contradiction(compared: pd.DataFrame, environment: str) -> dict[str, Any] | None:
    """Return the variable with the largest difference between what was seen and what is predicted."""
    own = compared[(compared["environment"] == environment) & compared["z"].notna()]
    if own.empty:
        return None
    place = int(np.argmax(np.abs(own["z"].to_numpy())))
    return {"variable": str(own["variable"].iloc[place]), "z": float(f"{own['z'].iloc[place]:.3g}")}

"""The equations of a structural model: fitting, sampling, and propagation under interventions.

The noise of a unit in variable j is its value minus the prediction of its mechanism, e_j = x_j - f_j(old parents).
Under an intervention the noise stays the same, and the value becomes x_j + (f_j(new parents) - f_j(old parents)). In
this form, a value does not change by a single digit unless its parents do.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from typing import TYPE_CHECKING, NamedTuple

import numpy as np
from numpy.typing import NDArray

from sartre.prune.mechanisms import fit_mechanisms, parent_columns, refit_mechanisms
from sartre.scm.checks import check_value

if TYPE_CHECKING:
    from sartre.scm.model import StructuralModel
    from sartre.steps import Mechanism


class Units(NamedTuple):
    """Samples: the values of every variable (n, d) and the predictions of its mechanism (n, d)."""

    values: NDArray[np.float64]
    predicted: NDArray[np.float64]


def fitted(model: StructuralModel) -> StructuralModel:
    """Return the model with the mechanisms of its graph, fitted to its table."""
    return with_mechanisms(model, fit_mechanisms(model.table, model.graph, model.pairs))


def refitted(model: StructuralModel) -> StructuralModel:
    """Return the model with its mechanisms refitted to its present table."""
    return with_mechanisms(model, refit_mechanisms(model.table, model.graph, model.mechanisms))


def with_mechanisms(model: StructuralModel, mechanisms: Mapping[str, Mechanism]) -> StructuralModel:
    """Return the model with these mechanisms, by name."""
    model, values = replace(model, mechanisms=dict(mechanisms)), model.table.values
    predicted = predict(model, values)
    for j, name in enumerate(model.names):  # a process predicts a row that it was fitted to as if that were left out
        residual = mechanisms[name].residuals(values[:, parent_columns(model.graph, name)], values[:, j])
        predicted[:, j] += (values[:, j] - predicted[:, j]) - residual
    return replace(model, predicted=predicted)


def predict(model: StructuralModel, values: NDArray[np.float64]) -> NDArray[np.float64]:
    """Return the predictions of the mechanisms for rows (n, d), each from the parents in the same row."""
    predicted = np.empty_like(values)
    for j, name in enumerate(model.names):
        predicted[:, j] = model.mechanisms[name].predict(values[:, parent_columns(model.graph, name)])
    return predicted


def draw(model: StructuralModel, n: int, seed: int, *, evenly: bool = False) -> Units:
    """Draw training rows, independently for every variable; if `evenly`, their counts differ by at most one.

    A variable is drawn from the rows that show its own mechanism: not from those in which it was set.
    """
    values, predicted = np.empty((2, n, len(model.names)))
    for j, name in enumerate(model.names):
        rng = np.random.default_rng(np.random.SeedSequence(seed, spawn_key=tuple(name.encode())))
        own = np.flatnonzero(model.table.rows_of(j))
        rows = own[rng.permutation(np.arange(n) % len(own)) if evenly else rng.integers(len(own), size=n)]
        values[:, j], predicted[:, j] = model.table.values[rows, j], model.predicted[rows, j]
    return Units(values, predicted)


def propagate(
    model: StructuralModel,
    units: Units,
    values: NDArray[np.float64] | None = None,
    only: set[str] | None = None,
) -> NDArray[np.float64]:
    """Return the values of units under the interventions of a model, causes before effects.

    Parameters
    ----------
    model : StructuralModel
    units : Units
    values, only : array of shape (n, d) and set of names, optional
        The values that are already known, and the variables that are still to be computed.
    """
    values = np.empty_like(units.values) if values is None else values.copy()
    for name in model.graph.topological_order():
        if only is not None and name not in only:
            continue
        j, held = model.names.index(name), model.interventions.get(name)
        if held is None or callable(held):
            now = model.mechanisms[name].predict(values[:, parent_columns(model.graph, name)])
            natural = units.values[:, j] + (now - units.predicted[:, j])
            held = natural if held is None else check_value(name, held(natural))
        if np.ndim(held) and len(np.atleast_1d(held)) != len(values):
            raise ValueError(
                f"'{name}' must be set to one number, or to one number per sample, {len(values)} here. "
                f"Got {len(np.atleast_1d(held))}."
            )
        values[:, j] = held
    return values

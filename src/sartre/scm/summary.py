"""What a structural model knows of its rows where these are not kept: numbers that describe each column on its own.

Values and noise are replaced by the means of groups of at least ten neighbours in size, and the columns are described
by a few quantiles. Which values occur together in a row is lost.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, NamedTuple

import numpy as np
from numpy.typing import NDArray

from sartre.additive.mechanism import AdditiveMechanism
from sartre.data.table import Table

if TYPE_CHECKING:
    from sartre.scm.model import StructuralModel
    from sartre.steps import Mechanism

PER_GROUP = 10  # rows at least whose mean stands for them
MOST_GROUPS = 200
KEPT_QUANTILES = tuple(
    np.unique(np.round([0, 1, 0.25, 0.75, *np.linspace(0.05, 0.95, 10)], 9)).tolist()
)  # of the quantiles


class ColumnSummary(NamedTuple):
    """A column: how many rows show its own mechanism, quantiles at `KEPT_QUANTILES`, and whether it has two values."""

    n: int
    quantiles: tuple[float, ...]
    binary: bool


class Summary(NamedTuple):
    """What is kept of the rows of a model: group means of values and of noise (m, d), and a summary of each column."""

    values: NDArray[np.float64]
    noise: NDArray[np.float64]
    columns: Mapping[str, ColumnSummary]


def summary_of(model: StructuralModel) -> Summary:
    """Return what may be kept of a model's rows.

    Examples
    --------
    >>> from sartre import Dag, StructuralModel
    >>> x = np.random.default_rng(0).normal(size=(500, 2))
    >>> summary = summary_of(StructuralModel.fit(x, Dag([[0, 1], [0, 0]])))
    >>> summary.values.shape, bool(np.allclose(summary.values.mean(axis=0), x.mean(axis=0)))
    ((50, 2), True)
    """
    table, columns = model.table, {}
    own = [np.flatnonzero(table.rows_of(j)) for j in range(len(table.names))]
    m = int(np.clip(min(map(len, own)) // PER_GROUP, 1, MOST_GROUPS))
    values, noise = np.empty((2, m, len(own)))
    for j, (name, rows) in enumerate(zip(table.names, own, strict=True)):
        column = table.values[:, j]
        values[:, j] = _group_means(column, m)
        noise[:, j] = _group_means(column[rows] - model.predicted[rows, j], m)
        quantiles = tuple(np.quantile(column, KEPT_QUANTILES).tolist())
        columns[name] = ColumnSummary(len(rows), quantiles, len(np.unique(column)) == 2)
    return Summary(values, noise, columns)


def redrawn(
    model: StructuralModel, rng: np.random.Generator
) -> tuple[Table, NDArray[np.float64], dict[str, Mechanism]]:
    """Return a table, its predictions and mechanisms as another sample of rows might have given.

    Mechanisms are refitted to simulated targets, and noise is drawn anew from the groups, as often as there were rows.
    """
    n = max(model.columns_kept[name].n for name in model.names)
    values, predicted = np.empty((2, n, len(model.names)))
    for j in range(len(model.names)):
        rows = rng.integers(len(model.predicted), size=n)
        values[:, j], predicted[:, j] = model.table.values[rows, j], model.predicted[rows, j]
    mechanisms = {
        name: mechanism.drawn(rng) if isinstance(mechanism, AdditiveMechanism) else mechanism
        for name, mechanism in model.mechanisms.items()
    }
    return Table(np.asfortranarray(values), model.table.names), predicted, mechanisms


def _group_means(column: NDArray[np.float64], m: int) -> NDArray[np.float64]:
    """Return the means of m groups of neighbours in size, weighted so that their mean is that of the column."""
    ordered = np.sort(column)
    edges = np.round(np.linspace(0, len(ordered), m + 1)).astype(np.intp)
    sizes = np.diff(edges)
    means = np.add.reduceat(ordered, edges[:-1]) / sizes
    return means + (ordered.mean() - means.mean())

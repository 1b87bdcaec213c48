"""What a report shows of an edge: the parent's part of the fitted mechanism, with standard errors, on even grids."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, NamedTuple

import numpy as np
from numpy.typing import NDArray

from sartre.data.category_codes import scored
from sartre.data.missing import imputed
from sartre.prune.mechanisms import parent_columns

if TYPE_CHECKING:
    from sartre.data.table import Table
    from sartre.graph.dag import Dag
    from sartre.steps import Mechanism

TAIL = 0.005  # share of the samples outside the frame at either end, so that an outlier does not hide the function
FEW_SHOWN = 20  # a column with at most this many values is shown completely
POINTS = 60  # points on a curve
IMPUTATION_SEED = 0  # missing values are imputed for plots only


class DrawnCurve(NamedTuple):
    """A parent's function on an even grid ``x``: its centred ``values`` and their standard errors."""

    parent: int
    x: NDArray[np.float64]
    values: NDArray[np.float64]
    std: NDArray[np.float64]


class DrawnMechanism(NamedTuple):
    """A target as a sum of functions of its parents: one curve per parent, and the residuals (n,) of the sum."""

    target: int
    curves: list[DrawnCurve]
    residual: NDArray[np.float64]

    def partial_residuals(self, curve: DrawnCurve, column: NDArray[np.float64]) -> NDArray[np.float64]:
        """Return the values that the curve is fitted to: its value at each sample plus the sample's residual."""
        return np.interp(column, curve.x, curve.values) + self.residual


class Drawing(NamedTuple):
    """Mechanisms as they are drawn: columns as numbers, levels as scores, and missing values imputed."""

    dag: Dag
    table: Table
    numbers: Table
    mechanisms: Mapping[str, Mechanism]

    @staticmethod
    def of(dag: Dag, table: Table, mechanisms: Mapping[str, Mechanism]) -> Drawing:
        """Prepare the drawing of a table's mechanisms."""
        return Drawing(dag, table, scored(imputed(table, IMPUTATION_SEED)), mechanisms)

    def mechanism(self, target: int) -> DrawnMechanism:
        """Return the curves of a target, its parents in column order.

        Examples
        --------
        >>> from sartre import Dag
        >>> from sartre.data.checks import as_table
        >>> from sartre.prune.mechanisms import fit_mechanisms
        >>> x = np.linspace(-1, 1, 200)
        >>> noise = np.random.default_rng(0).normal(size=200) / 10
        >>> dag, table = Dag([[0, 1], [0, 0]]), as_table(np.column_stack([x, 3 * x + noise]))
        >>> (curve,) = Drawing.of(dag, table, fit_mechanisms(table, dag)).mechanism(1).curves
        >>> bool(np.allclose(np.diff(curve.values) / np.diff(curve.x), 3, atol=0.2))
        True
        """
        name = self.dag.names[target]
        columns, fitted = parent_columns(self.dag, name), self.mechanisms[name]
        residual = fitted.residuals(self.table.values[:, columns], self.numbers.values[:, target])
        curves = [self._curve(fitted, columns.index(parent), parent) for parent in sorted(columns)]
        return DrawnMechanism(target, curves, residual)

    def _curve(self, fitted: Mechanism, place: int, parent: int) -> DrawnCurve:
        column = self.numbers.values[:, parent]
        x = frame(column, POINTS)
        if parent not in self.table.nominal:
            curve = fitted.curve(place, x)
            return DrawnCurve(parent, x, curve.values, curve.std)
        codes = self.table.values[:, parent]
        observed = np.flatnonzero(~np.isnan(codes))
        levels, rows = np.unique(codes[observed], return_index=True)
        scores = column[observed[rows]]
        order = np.argsort(scores)
        curve = fitted.curve(place, levels[order])
        values, std = (np.interp(x, scores[order], each) for each in (curve.values, curve.std))
        return DrawnCurve(parent, x, values, std)

    def surface(self, target: int, pair: tuple[int, int], points: int) -> tuple[NDArray[np.float64], ...]:
        """Return even grids of two parents, and their joint effect on a target, in its standard deviations.

        The arrays have shapes (points,), (points,) and (points, points), with the first parent down and the second
        across.
        """
        name = self.dag.names[target]
        columns = parent_columns(self.dag, name)
        grids = [frame(self.numbers.values[:, j], points) for j in pair]
        at = np.stack(np.meshgrid(*grids, indexing="ij"), axis=-1).reshape(-1, 2)
        first, second = (columns.index(j) for j in pair)
        effect = self.mechanisms[name].surface((first, second), at).reshape(points, points)
        return grids[0], grids[1], effect / (self.numbers.values[:, target].std() or 1.0)


def frame(column: NDArray[np.float64], points: int) -> NDArray[np.float64]:
    """Return an even grid over a column without its tails, between round numbers rather than sample values.

    Examples
    --------
    >>> frame(np.arange(1001.0), 3)
    array([  0., 500., 1000.])
    """
    tail = TAIL if len(np.unique(column)) > FEW_SHOWN else 0.0
    low, high = np.quantile(column, [tail, 1 - tail])
    step = 10.0 ** np.floor(np.log10((high - low) or abs(high) or 1.0)) / 10
    first, last = np.floor(low / step), np.ceil(high / step)
    return step * np.linspace(first - (first == last), last + (first == last), points)

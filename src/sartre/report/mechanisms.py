"""What a report shows of an edge: the smooth function of the parent, with its standard error, and what it explains."""

from __future__ import annotations

import logging
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from sartre.additive.smooth_regressor import AdditiveRegressor

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from sartre.graph import Dag
    from sartre.prune.sartre import Interaction
    from sartre.validation import Table

logger = logging.getLogger(__name__)
TAIL = 0.005  # of the samples left out of the frame at either end: one outlier must not hide the function
FEW = 20  # values, which are all shown
POINTS = 60  # of a curve


class Curve(NamedTuple):
    """A parent's function on an even grid ``x``: its ``values``, centred, and their standard errors."""

    parent: int
    x: NDArray[np.float64]
    values: NDArray[np.float64]
    std: NDArray[np.float64]


class Mechanism(NamedTuple):
    """A target as a sum of functions of its parents: one curve a parent, and the residuals (n,) of all."""

    target: int
    curves: list[Curve]
    residual: NDArray[np.float64]

    def partial_residuals(self, curve: Curve, column: NDArray[np.float64]) -> NDArray[np.float64]:
        """Return what the curve is fitted to: its value at each sample plus the sample's residual."""
        return np.interp(column, curve.x, curve.values) + self.residual


def mechanism(dag: Dag, table: Table, target: int) -> Mechanism:
    """Fit a target on its parents by smooth functions, each chosen by REML.

    Examples
    --------
    >>> from sartre import Dag
    >>> from sartre.validation import as_table
    >>> x = np.linspace(-1, 1, 200)
    >>> noise = np.random.default_rng(0).normal(size=200) / 10
    >>> found = mechanism(Dag([[0, 1], [0, 0]]), as_table(np.column_stack([x, 3 * x + noise])), 1)
    >>> bool(np.allclose(np.diff(found.curves[0].values) / np.diff(found.curves[0].x), 3, atol=0.2))
    True
    """
    parents = [dag.names.index(name) for name in dag.parents(dag.names[target])]
    model = AdditiveRegressor().fit(table.values[:, parents], table.values[:, target])
    curves = []
    for k, parent in enumerate(parents):
        smooth = model.shape_function(k, frame(table.values[:, parent], POINTS), return_std=True)
        curves.append(Curve(parent, smooth.x, smooth.values, np.zeros(POINTS) if smooth.std is None else smooth.std))
    return Mechanism(target, curves, table.values[:, target] - model.predict(table.values[:, parents]))


def mechanisms(dag: Dag, table: Table) -> dict[int, Mechanism]:
    """Return the mechanism of every variable that has parents."""
    targets = [j for j, name in enumerate(dag.names) if dag.parents(name)]
    found = {}
    for k, target in enumerate(targets, start=1):
        found[target] = mechanism(dag, table, target)
        logger.info("report: %d of %d mechanisms", k, len(targets))
    return found


def frame(column: NDArray[np.float64], points: int) -> NDArray[np.float64]:
    """Return an even grid over a column without its tails, between round numbers rather than samples' values.

    Examples
    --------
    >>> frame(np.arange(1001.0), 3)
    array([  0., 500., 1000.])
    """
    tail = TAIL if len(np.unique(column)) > FEW else 0.0
    low, high = np.quantile(column, [tail, 1 - tail])
    step = 10.0 ** np.floor(np.log10((high - low) or abs(high) or 1.0)) / 10
    first, last = np.floor(low / step), np.ceil(high / step)
    return step * np.linspace(first - (first == last), last + (first == last), points)


def on_even_grid(shape: Interaction, columns: tuple[Any, Any], points: int) -> Interaction:
    """Return an interaction over even grids of its two columns, which may be in other units than it was fitted in.

    An interaction's own grid goes from a column's smallest to its largest value; that says how units translate.
    """
    from scipy.interpolate import RegularGridInterpolator  # noqa: PLC0415 - a fifth of a second

    own = []
    for values, column in zip(shape[:2], columns, strict=True):
        share = (values - values[0]) / (values[-1] - values[0])
        own.append(column.min() + share * np.ptp(column))
    grids = [frame(column, points) for column in columns]
    at = np.meshgrid(*(np.clip(grid, side[0], side[-1]) for grid, side in zip(grids, own, strict=True)), indexing="ij")
    effect = RegularGridInterpolator(own, shape.effect)(np.stack(at, axis=-1))
    return type(shape)(grids[0], grids[1], effect)

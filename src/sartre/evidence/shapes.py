"""The shape of every edge in a word: how the mean of the target follows the source, the other causes held fixed."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from sartre.prune.mechanisms import parent_columns

if TYPE_CHECKING:
    import pandas as pd

    from sartre.additive.mechanism import Curve
    from sartre.data.table import Table
    from sartre.graph.dag import Dag
    from sartre.steps import Mechanism

RISING, FALLING, U_SHAPED, INVERTED_U, WAVY = "rising", "falling", "U-shaped", "inverted U", "wavy"
JOINT = "joint"  # it acts with another cause, and hardly on its own
UNCLEAR = "unclear"  # its curve does not move by more than its errors
BY_LEVEL = "by level"  # the levels of a category have no order
CURVE_POINTS = 41  # of the grid on which a curve is looked at
OUTSIDE = 0.025  # share of the rows beyond the grid at either end
SMALLEST_TURN = 0.15  # share of a curve's range that it must come back, to have turned
FOURTH = 4  # every fourth point of a grid is enough for a joint effect
MOSTLY = 0.5  # spread of a curve, relative to that of a joint effect, below which the latter is what matters
ERRORS = 2.0  # standard errors of the difference that it must come back, too


def edge_shapes(edges: pd.DataFrame, graph: Dag, table: Table, mechanisms: Mapping[str, Mechanism]) -> list[str]:
    """Return the shape of every edge, in their order.

    Parameters
    ----------
    edges : DataFrame
        With the columns ``source`` and ``target``.
    graph : Dag
    table : Table
        The rows that the mechanisms were fitted to.
    mechanisms : dict of Mechanism

    Examples
    --------
    >>> import pandas as pd
    >>> from sartre import Dag
    >>> from sartre.data.checks import as_table
    >>> from sartre.prune.mechanisms import fit_mechanisms
    >>> x = np.linspace(-1, 1, 200)
    >>> table, dag = as_table(np.column_stack([x, -(x**2)])), Dag([[0, 1], [0, 0]])
    >>> edge_shapes(pd.DataFrame({"source": ["x0"], "target": ["x1"]}), dag, table, fit_mechanisms(table, dag))
    ['inverted U']
    """
    place = {name: j for j, name in enumerate(table.names)}
    grids: dict[int, NDArray[np.float64]] = {}
    parents: dict[str, list[int]] = {}
    shapes = []
    for source, target in zip(edges["source"], edges["target"], strict=True):
        j = place[source]
        if {j, place[target]} & table.nominal:
            shapes.append(BY_LEVEL)
            continue
        if j not in grids:
            grids[j] = _grid(table.values[:, j])
        if target not in parents:
            parents[target] = parent_columns(graph, target)
        parent, mechanism = parents[target].index(j), mechanisms[target]
        curve = mechanism.curve(parent, grids[j])
        partners = [a + b - parent for a, b in mechanism.pairs if parent in (a, b)]
        columns = [table.values[:, parents[target][partner]] for partner in partners]
        joint = [
            _joint_spread(mechanism, parent, partner, (grids[j][::FOURTH], _grid(column)[::FOURTH]))
            for partner, column in zip(partners, columns, strict=True)
        ]
        shapes.append(JOINT if float(curve.values.std()) < MOSTLY * max(joint, default=0.0) else shape_of(curve))
    return shapes


def _joint_spread(
    mechanism: Mechanism, parent: int, partner: int, grids: tuple[NDArray[np.float64], NDArray[np.float64]]
) -> float:
    """Return the standard deviation of a joint effect over the values of both parents."""
    at = np.stack(np.meshgrid(*grids), axis=-1).reshape(-1, 2)
    pair, at = ((parent, partner), at) if parent < partner else ((partner, parent), at[:, ::-1])
    return float(mechanism.surface(pair, at).std())


def shape_of(curve: Curve) -> str:
    """Return the shape of a curve over a grid: where it turns, and which way it goes first.

    It has turned if it comes back by 15 % of its range and by two standard errors. A curve whose ends and turns do not
    differ by two standard errors is unclear.

    Examples
    --------
    >>> from sartre.additive.mechanism import Curve
    >>> x = np.linspace(-1, 1, 41)
    >>> [shape_of(Curve(values, 0.01 + 0 * x)) for values in (x**3, -x, x**2, np.sin(9 * x), 0 * x)]
    ['rising', 'falling', 'U-shaped', 'wavy', 'unclear']
    """
    turns = _turns(curve)
    moves = np.sign(np.diff(curve.values[turns])).tolist()
    shapes = {(): UNCLEAR, (1,): RISING, (-1,): FALLING, (-1, 1): U_SHAPED, (1, -1): INVERTED_U}
    return shapes.get(tuple(moves), WAVY)


def _turns(curve: Curve) -> Sequence[int]:
    """Return the ends and the turns of a curve: one point if it has none."""
    values, variance = curve.values, curve.std**2
    least = SMALLEST_TURN * float(np.ptp(values))

    def differ(a: int, b: int) -> bool:
        gap = abs(values[a] - values[b])
        return bool(gap >= least and gap > ERRORS * np.sqrt(variance[a] + variance[b]) and gap > 0)

    lowest = highest = 0
    turns: list[int] = []
    rises: bool | None = None
    for k in range(1, len(values)):
        lowest = k if values[k] < values[lowest] else lowest
        highest = k if values[k] > values[highest] else highest
        if rises is not True and differ(lowest, k) and values[k] > values[lowest]:
            turns, rises, highest = [*turns, lowest], True, k
        elif rises is not False and differ(highest, k) and values[k] < values[highest]:
            turns, rises, lowest = [*turns, highest], False, k
    return [*turns, highest if rises else lowest] if turns else [0]


def _grid(column: NDArray[np.float64]) -> NDArray[np.float64]:
    """Return even values over a column without its tails; those of a column with few values are its own."""
    observed = column[~np.isnan(column)]
    values = np.unique(observed)
    if len(values) <= CURVE_POINTS:
        return values
    low, high = np.quantile(observed, [OUTSIDE, 1 - OUTSIDE]).tolist()
    return np.linspace(low, high, CURVE_POINTS)

"""How much of a target is lost without each of its parents, where a pruner has no model that it can fit again."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from sartre.additive.mechanism import fit_mechanism

if TYPE_CHECKING:
    from sartre.data.table import Table


def losses_without(table: Table, target: int, parents: NDArray[np.intp]) -> NDArray[np.float64]:
    """Return the share of a target's variance that is lost without each of its parents, the others fitted again.

    The model is a sum of smooth functions, and what is explained by chance is not counted (`lost_share`). Of a category
    with several indicators, a parent gets its largest loss.

    Parameters
    ----------
    table : Table
        Rows in which the target is missing are left out.
    target : int
    parents : array of ints

    Examples
    --------
    >>> from sartre.data.checks import as_table
    >>> a, b = np.random.default_rng(0).normal(size=(2, 500))
    >>> table = as_table(np.column_stack([a, b, a + b, a + 3 * b]))  # any two of the first three say all
    >>> losses_without(table, 3, np.array([0, 1, 2])).round(3), losses_without(table, 3, np.array([0, 1])).round(1)
    (array([0., 0., 0.]), array([0.1, 0.9]))
    """
    observed = ~table.missing[:, target]
    if len(parents) == 0 or not observed.any():
        return np.zeros(len(parents))
    rows = table if observed.all() else table.take(np.flatnonzero(observed))
    X, nominal = rows.values[:, parents], [k for k, parent in enumerate(parents.tolist()) if parent in table.nominal]
    fitted = [fit_mechanism(X, y, nominal=nominal) for y in rows.responses(target)]
    return np.max([[each.loss_without(k) for k in range(len(parents))] for each in fitted], axis=0)

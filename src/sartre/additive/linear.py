"""How well linear regressions predict the columns of a table from each other."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

if TYPE_CHECKING:
    from sartre.data.table import Table


DEPENDENT = 1e-9  # a column with a smaller unexplained share is a function of the others, up to rounding


def explained_by_others(table: Table) -> NDArray[np.float64]:
    """Return the R^2 of the linear regression of every column on all others, shape (d,).

    With C the correlation matrix, R_j^2 = 1 - 1 / (C^-1)_jj. Dependent columns make C singular. Its smallest
    eigenvalues are then kept away from zero, which gives R^2 = 1 for columns that are functions of others (for all
    columns if there are no more rows than columns) and leaves the other R^2 unchanged. Constant columns have 0.

    Examples
    --------
    >>> from sartre.data.checks import as_table
    >>> explained_by_others(as_table([[0.0, 1, 1], [1, 3, 0], [2, 5, 1], [3, 7, 0], [4, 9, 0.5]])).round(3).tolist()
    [1.0, 1.0, 0.1]
    """
    explained = np.zeros(table.shape[1])
    varies = ~table.constant
    if not varies.any():
        return explained
    Z = table.standardized().values[:, varies]
    values, vectors = np.linalg.eigh(Z.T @ Z / len(Z))
    floor = DEPENDENT / 1000 / len(values)
    unexplained = 1 / ((vectors**2) @ (1 / np.maximum(values, floor)))
    explained[varies] = np.where(unexplained < DEPENDENT, 1.0, np.clip(1 - unexplained, 0.0, 1.0))
    return explained

"""How well the columns of a table predict each other by straight lines, and how a number grows along a graph."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from sartre.validation import Table

DEPENDENT = 1e-9  # a column that the others leave less than this share of is a function of them, up to rounding


def explained_by_others(table: Table) -> NDArray[np.float64]:
    """Return the R^2 of the linear regression of every column on all others, shape (d,).

    With C the correlation matrix, R_j^2 = 1 - 1 / (C^-1)_jj. Dependent columns make C singular: its smallest
    eigenvalues are then kept off zero, which leaves R^2 = 1 for columns that are functions of others (all of them, if
    there are no more rows than columns) and the R^2 of the rest as it is. Constant columns have 0.

    Examples
    --------
    >>> from sartre.validation import as_table
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
    left = 1 / ((vectors**2) @ (1 / np.maximum(values, floor)))
    explained[varies] = np.where(left < DEPENDENT, 1.0, np.clip(1 - left, 0.0, 1.0))
    return explained


def alignment(adjacency: NDArray[np.bool_], criterion: NDArray[np.float64]) -> tuple[float, int]:
    """Return the share of directed paths along which a criterion increases, ties half, and how many were counted.

    Paths of one length between two variables count once, as in the published definition; variables whose criterion is
    NaN are not compared.

    Examples
    --------
    >>> chain = np.array([[0, 1, 0], [0, 0, 1], [0, 0, 0]], dtype=bool)
    >>> alignment(chain, np.array([1.0, 2.0, 3.0]))
    (1.0, 3)
    >>> alignment(chain, np.array([1.0, 1.0, 1.0]))
    (0.5, 3)
    """
    edges = adjacency.astype(np.float32)
    paths, increasing, count = edges, 0.0, 0
    low, high = criterion[:, None], criterion[None, :]
    tie = np.isclose(low, high, rtol=1e-9, atol=0.0)
    gain = np.where(tie, 0.5, high > low)
    comparable = ~np.isnan(low) & ~np.isnan(high)
    while paths.any():
        mine = (paths > 0) & comparable
        increasing += float(gain[mine].sum())
        count += int(mine.sum())
        paths = ((paths @ edges) > 0).astype(np.float32)
    return (increasing / count if count else np.nan), count

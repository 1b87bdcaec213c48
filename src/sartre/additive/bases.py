"""The basis of any column: intervals or splines of numbers, indicators of levels, and a bin for missing values."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from sartre.additive.design import Basis
from sartre.additive.splines import spline

if TYPE_CHECKING:
    from collections.abc import Collection, Iterator, Sequence

    from numpy.typing import NDArray

    from sartre.additive.trees import Embedding


NOTHING = Basis(np.empty(0), np.empty((1, 0)), np.empty((0, 0)))  # of a column without a value


def level_basis(column: NDArray[np.float64], scale: float = 1.0) -> Basis:
    """Return the indicators of the levels 0, 1, ... of a category, without a penalty: its test is the F test.

    Parameters
    ----------
    column : array of shape (n,)
    scale : float
        Value of an indicator.

    Examples
    --------
    >>> level_basis(np.array([0.0, 2.0, 1.0])).table
    array([[1., 0., 0.],
           [0., 1., 0.],
           [0., 0., 1.]])
    """
    n_levels = int(np.nanmax(column)) + 1
    return Basis(np.arange(n_levels - 1.0), scale * np.eye(n_levels), np.zeros((n_levels, n_levels)))


def with_missing(basis: Basis, scale: float = 1.0) -> Basis:
    """Add a bin for missing values and its indicator, which has no penalty; the other functions are zero there."""
    bins, functions = basis.table.shape
    table = np.zeros((bins + 1, functions + 1))
    table[:bins, :functions] = basis.table
    table[bins, functions] = scale
    edges = np.append(basis.edges, np.inf)
    if basis.penalty is None:
        return Basis(edges, table)
    penalty = np.zeros((functions + 1, functions + 1))
    penalty[:functions, :functions] = basis.penalty
    if basis.line is None:
        return Basis(edges, table, penalty)
    line = np.zeros((functions + 1, 2))
    line[:functions, 0], line[functions, 1] = basis.line, 1.0
    return Basis(edges, table, penalty, line)


def smooth_bases(X: NDArray[np.float64], n_splines: int, nominal: Collection[int] = ()) -> Iterator[Basis]:
    """Yield the basis of every column for a model of penalised smooths.

    Parameters
    ----------
    X : array of shape (n, d)
        NaN where missing.
    n_splines : int
        Splines of a column of numbers.
    nominal : collection of ints
        Columns whose values are levels.
    """
    for j, column in enumerate(X.T):
        there = ~np.isnan(column)
        if not there.any():
            yield NOTHING
            continue
        basis = level_basis(column) if j in nominal else spline(column[there], n_splines).basis()
        yield basis if there.all() else with_missing(basis)


def interval_bases(
    X: NDArray[np.float64],
    names: Sequence[str],
    embedding: Embedding,
    seed: int,
    nominal: Collection[int] = (),
    target: tuple[NDArray[np.float64], str] | None = None,
) -> Iterator[Basis]:
    """Yield the basis of every column for the group lasso: leaves of trees.

    A level is a leaf of every tree, and so is missing: each tree's indicator counts, as it does for intervals.

    Parameters
    ----------
    X, nominal : as in `smooth_bases`
    names : sequence of d strings
    embedding : Embedding
    seed : int
    target : pair of an array of shape (n,) and its name, optional
        What a supervised embedding fits its trees to.
    """
    scale = float(np.sqrt(embedding.n_trees))
    for j, column in enumerate(X.T):
        there = ~np.isnan(column)
        if not there.any():
            yield NOTHING
            continue
        if j in nominal:
            basis = level_basis(column, scale)._replace(penalty=None)
        else:
            y, of = (None, "") if target is None else (target[0][there], target[1])
            (basis,) = embedding.bases(column[there][:, None], [names[j]], seed, y, of)
        yield basis if there.all() else with_missing(basis, scale)

"""Numeric scores of categories, for the steps that accept only numbers."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

if TYPE_CHECKING:
    from sartre.data.table import Table

DIGITS = 9  # scores are rounded, so that levels at the same place have the same score


def scored(table: Table) -> Table:
    """Replace the levels of every nominal column by scores, so that all columns are numbers.

    All columns are standardised; a nominal column is represented by the centred indicators of its levels, each divided
    by the square root of its share, which together have the weight of one column. The score of a level is the mean of
    the first principal component over its samples, so that the levels lie along the main direction of the data. The
    names of the levels do not matter; missing values are not allowed.

    Examples
    --------
    >>> x = np.array([0.0, 1.0, 5.0, 6.0, 2.0, 3.0])
    >>> level = np.array([0.0, 0.0, 1.0, 1.0, 2.0, 2.0])
    >>> from sartre.data.table import Table
    >>> table = Table(np.column_stack([x, level]), ("x", "level"), {1: ("a", "b", "c")})
    >>> np.argsort(scored(table).values[::2, 1]).tolist() in ([0, 2, 1], [1, 2, 0])
    True
    """
    if not table.nominal:
        return replace(table, levels={})
    blocks = []
    for j, column in enumerate(table.values.T):
        block = _contrasts(column) if j in table.nominal else column[:, None] - column.mean()
        scale = np.sqrt((block**2).sum())
        blocks.append(block / scale if scale > 0 else block)
    Z = np.hstack(blocks)
    main = np.linalg.eigh(Z.T @ Z)[1][:, -1]
    component = Z @ main
    values = table.values.copy(order="F")
    for j in table.nominal:
        codes = table.values[:, j].astype(np.intp)
        totals, counts = np.bincount(codes, weights=component), np.bincount(codes)
        scores = (totals / np.maximum(counts, 1))[codes]
        spread = scores.std()
        values[:, j] = np.round((scores - scores.mean()) / spread, DIGITS) if spread > 0 else 0.0
    return replace(table, values=values, levels={})


def _contrasts(codes: NDArray[np.float64]) -> NDArray[np.float64]:
    """Return the centred indicators of the levels, each divided by the square root of its share."""
    indicators = (codes[:, None] == np.unique(codes)).astype(np.float64)
    share = indicators.mean(axis=0)
    return (indicators - share) / np.sqrt(share)

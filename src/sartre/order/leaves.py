"""The loop that most orderers share: repeatedly find a leaf and remove it."""

from __future__ import annotations

import logging
from collections.abc import Callable
from typing import TYPE_CHECKING, NamedTuple

import numpy as np
from numpy.typing import NDArray

from sartre.knowledge.precedence import may_be_last

if TYPE_CHECKING:
    from sartre.data.table import Table


logger = logging.getLogger(__name__)
TIE = 1e-9  # criteria this close (as for copies of a column) are ties: the first column is taken


class Leaves(NamedTuple):
    """An order, and the criterion of every variable at every step.

    order: column indices, source first. scores: shape (d, d), row k from the step in which the k-th variable of
    the order was removed as a leaf; NaN for variables that were already removed or not compared.
    """

    order: NDArray[np.intp]
    scores: NDArray[np.float64]


def remove_leaves(
    table: Table, before: NDArray[np.bool_], criterion: Callable[[NDArray[np.intp]], NDArray[np.float64]]
) -> Leaves:
    """Order the columns: of those that may come last, the one with the smallest criterion is a leaf.

    Parameters
    ----------
    table : Table
    before : boolean array of shape (d, d)
        The result of `check_before`.
    criterion : function
        Takes two or more remaining columns, none constant, and returns one number for each, smallest for a leaf.
        Constant columns are not compared: they are placed as early as `before` allows.
    """
    d = table.shape[1]
    constant = table.constant
    remaining = np.arange(d)
    scores = np.full((d, d), np.nan)
    leaves: list[int] = []
    while len(remaining):
        open_ = remaining[may_be_last(before, remaining)]
        judged = remaining[~constant[remaining]]
        eligible = open_[~constant[open_]]
        if len(eligible) and len(judged) > 1:
            row = scores[len(remaining) - 1]
            row[judged] = criterion(judged)
            best = row[eligible].min()
            leaf = int(eligible[np.argmax(row[eligible] <= best + TIE * abs(best))])
        else:
            leaf = int((eligible if len(eligible) else open_)[-1])
        leaves.append(leaf)
        remaining = remaining[remaining != leaf]
        logger.info("order: %d of %d leaves found", len(leaves), d)
    return Leaves(np.array(leaves[::-1], dtype=np.intp), scores)

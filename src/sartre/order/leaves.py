"""The loop that most orderers share: find a leaf, take it away, again and again."""

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
TIE = 1e-9  # criteria this close (copies of a column) are equal up to rounding: the first column is taken


class Leaves(NamedTuple):
    """An order, and the criterion of every variable at every step.

    order: column indices, source first. scores: shape (d, d), row k from when the k-th variable of the order was
    taken as a leaf; NaN for variables that were gone by then, or never judged.
    """

    order: NDArray[np.intp]
    scores: NDArray[np.float64]


def remove_leaves(
    table: Table, before: NDArray[np.bool_], criterion: Callable[[NDArray[np.intp]], NDArray[np.float64]]
) -> Leaves:
    """Order the columns: of those that may be last, the one with the smallest criterion is a leaf.

    Parameters
    ----------
    table : Table
    before : boolean array of shape (d, d)
        What `check_before` gives.
    criterion : function
        Of two or more remaining columns, none constant; one number each, smallest for a leaf. Constant columns are
        not judged: they come as early as `before` allows.
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

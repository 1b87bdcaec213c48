"""An order that is already known."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
from sklearn.base import BaseEstimator

from sartre.data.checks import as_table
from sartre.knowledge.masks import check_order
from sartre.knowledge.precedence import check_before
from sartre.steps import StepTags


class FixedOrder(BaseEstimator):
    """Use a given order, such as the true one in a simulation or one from an expert.

    Parameters
    ----------
    order : sequence of column names or column indices
        Every column exactly once, causes before effects.

    Attributes
    ----------
    order_ : array of shape (d,)
        Column indices, source first.

    Examples
    --------
    >>> FixedOrder([2, 0, 1]).fit([[1, 2, 3], [4, 5, 7]]).order_
    array([2, 0, 1])
    """

    step_tags = StepTags(learns_order=False, costs=())

    def __init__(self, order: Sequence[Any]) -> None:
        self.order = order

    def fit(self, X: Any, before: Any = None) -> FixedOrder:
        """Check the order against the columns of a table and the constraints in `before`."""
        names = as_table(X).names
        self.order_ = check_order(self.order, names)
        if before is None:
            return self
        demanded = check_before(before, names)[np.ix_(self.order_, self.order_)]
        for later, earlier in np.argwhere(np.tril(demanded)).tolist():
            a, b = names[self.order_[later]], names[self.order_[earlier]]
            raise ValueError(
                f"The fixed order has '{b}' before '{a}', but '{a}' must come first. "
                "Change the order or the constraint."
            )
        return self

"""An order that is already known."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from sklearn.base import BaseEstimator

from sartre.validation import as_table, check_order

if TYPE_CHECKING:
    from collections.abc import Sequence


class FixedOrder(BaseEstimator):
    """Use a given order: the true one in a simulation, or what an expert knows.

    Parameters
    ----------
    order : sequence of column names or column indices
        Every column once, causes before effects.

    Attributes
    ----------
    order_ : array of shape (d,)
        Column indices, source first.

    Examples
    --------
    >>> FixedOrder([2, 0, 1]).fit([[1, 2, 3], [4, 5, 7]]).order_
    array([2, 0, 1])
    """

    def __init__(self, order: Sequence[Any]) -> None:
        self.order = order

    def fit(self, X: Any) -> FixedOrder:  # noqa: ANN401 - any table
        """Check the order against the columns of a table."""
        self.order_ = check_order(self.order, as_table(X).names)
        return self

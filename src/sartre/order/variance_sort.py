"""Sort by variance (Reisach et al., 2021): a baseline that shows how much the units alone reveal."""

from __future__ import annotations

from typing import Any

import numpy as np
from sklearn.base import BaseEstimator

from sartre.data.checks import as_table
from sartre.knowledge.precedence import check_before, obeyed
from sartre.steps import Cost, StepTags


class VarianceSort(BaseEstimator):
    """Order the variables by increasing variance.

    In simulations in which every variable adds its own noise, the variance tends to grow from causes to effects, and
    this order does well without using any relation. It is a baseline: a method that does no better may have learnt
    from the units alone, which `x / x.std()` removes.

    Attributes
    ----------
    order_ : array of shape (d,)
        Column indices, source first; ties keep the column order.
    scores_ : array of shape (d,)
        The variances.

    References
    ----------
    Reisach, Seiler and Weichwald, "Beware of the simulated DAG! Causal discovery benchmarks may be easy to game",
    NeurIPS 2021.

    Examples
    --------
    >>> VarianceSort().fit([[0, 5, 1], [4, 0, 2], [0, 9, 1]]).order_
    array([2, 0, 1])
    """

    step_tags = StepTags(costs=(Cost("VarianceSort"),))

    def fit(self, X: Any, before: Any = None) -> VarianceSort:
        """Order the columns of a table.

        Parameters
        ----------
        X : array of shape (n, d) or data frame
        before : boolean array of shape (d, d), optional
            True where row must precede column; the order is changed as little as necessary.
        """
        table = as_table(X)
        self.scores_ = np.where(table.constant, 0.0, table.values.var(axis=0))
        self.order_ = obeyed(np.argsort(self.scores_, kind="stable"), check_before(before, table.names))
        return self

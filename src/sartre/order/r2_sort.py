"""Sort by R^2 (Reisach et al., 2023): a baseline that does not depend on units."""

from __future__ import annotations

from typing import Any

import numpy as np
from sklearn.base import BaseEstimator

from sartre.additive.linear import explained_by_others
from sartre.data.checks import as_table
from sartre.knowledge.precedence import check_before, obeyed
from sartre.steps import Cost, StepTags


class R2Sort(BaseEstimator):
    """Order the variables by how well all others predict them, the least predictable first.

    The share of a variable's variance that a linear regression on all other columns explains tends to grow from
    causes to effects if noise accumulates along the paths. The order does not depend on units. It is a baseline:
    what a method achieves beyond it comes from the relations.

    Attributes
    ----------
    order_ : array of shape (d,)
        Column indices, source first; ties keep the column order.
    scores_ : array of shape (d,)
        R^2 of every column on all others; 1 for functions of the others, 0 for constant columns.

    References
    ----------
    Reisach, Tami, Seiler, Chambaz and Weichwald, "A scale-invariant sorting criterion to find a causal order in
    additive noise models", NeurIPS 2023.

    Examples
    --------
    >>> rng = np.random.default_rng(0)
    >>> a, b = rng.normal(size=(2, 200))
    >>> R2Sort().fit(np.column_stack([a + b, a, b + rng.normal(size=200)])).order_[-1]
    np.int64(0)
    """

    step_tags = StepTags(costs=(Cost("R2Sort"),))

    def fit(self, X: Any, before: Any = None) -> R2Sort:
        """Order the columns of a table.

        Parameters
        ----------
        X : array of shape (n, d) or data frame
        before : boolean array of shape (d, d), optional
            True where row must precede column; the order is changed as little as necessary.
        """
        table = as_table(X, min_rows=2)
        self.scores_ = explained_by_others(table)
        self.order_ = obeyed(np.argsort(self.scores_, kind="stable"), check_before(before, table.names))
        return self

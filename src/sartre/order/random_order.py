"""A random order, as a baseline for what chance achieves."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np
from sklearn.base import BaseEstimator

from sartre.data.checks import as_table
from sartre.knowledge.precedence import check_before, obeyed
from sartre.settings import seed_of
from sartre.steps import Cost, StepTags

if TYPE_CHECKING:
    from sartre.settings import RandomState


class RandomOrder(BaseEstimator):
    """Shuffle the variables; about half of the true edges point against such an order.

    Parameters
    ----------
    random_state : int, numpy.random.Generator, numpy.random.RandomState or None
        The same int gives the same order.

    Attributes
    ----------
    order_ : array of shape (d,)
        Column indices, source first. Without `before`, all orders are equally likely; with it, every order that
        obeys it is possible.

    Examples
    --------
    >>> sorted(RandomOrder(random_state=0).fit([[1, 2, 3], [4, 5, 7]]).order_.tolist())
    [0, 1, 2]
    """

    step_tags = StepTags(costs=(Cost("RandomOrder"),))

    def __init__(self, random_state: RandomState = None) -> None:
        self.random_state = random_state

    def fit(self, X: Any, before: Any = None) -> RandomOrder:
        """Draw an order of the columns of a table.

        Parameters
        ----------
        X : array of shape (n, d) or data frame
        before : boolean array of shape (d, d), optional
            True where row must precede column.
        """
        rng = np.random.default_rng(seed_of("RandomOrder", self.random_state))
        names = as_table(X).names
        self.order_ = obeyed(rng.permutation(len(names)), check_before(before, names))
        return self

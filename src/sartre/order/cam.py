"""CAM (Buehlmann, Peters and Ernest, 2014): greedily add the edge that raises the likelihood most."""

from __future__ import annotations

import logging
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray
from sklearn.base import BaseEstimator

from sartre.additive.bases.splines import spline
from sartre.additive.design import prepare
from sartre.additive.gram import gram_of_design
from sartre.compute.parallel import blas_threads
from sartre.data.checks import as_table
from sartre.knowledge.precedence import check_before, obeyed
from sartre.order.forward import ForwardModels
from sartre.settings import check_number
from sartre.steps import Cost, StepTags

if TYPE_CHECKING:
    from sartre.additive.gram import Gram

logger = logging.getLogger(__name__)
SMOOTHNESS = 1e-3  # penalty of the splines; 1e-4 and 1e-2 gave similar orders, 1e-5 worse ones
TIE = 1e-9  # gains this close (as for copies of a column) are ties: the first pair is taken


class CAM(BaseEstimator):
    """Order variables by adding edges greedily: in each step the one that raises the likelihood most.

    Every variable has an additive model of its parents, which starts empty; an edge i -> j gains
    log(residual variance of j) - log(residual variance of j with i). In each step the edge with the largest gain is
    added, edges that would close a cycle are excluded, and the gains of the edges into j, whose model has changed, are
    recomputed, until every pair is ordered. Edges between neighbours are added before all others: the neighbours of a
    variable are those that a forward selection among all other variables takes first.

    The search works on the Gram matrix of the spline functions: after one product over the samples, the cost of an
    edge does not depend on their number. The order does not depend on the units and offsets of the columns. The model
    assumes Gaussian noise and additive relations; interactions between parents make the order less accurate.

    Parameters
    ----------
    n_splines : int
        Basis functions per term.
    max_neighbors : int or None
        Neighbours per variable (fewer if the next would gain less than log(n) / n); None makes all variables
        neighbours. Small numbers help in dense graphs. The original uses 10, chosen by boosting.
    max_parents : int
        A model stops growing at this many parents; the gains of further edges are computed given these parents. Memory
        grows with this number: about 350 MB for 200 variables.

    Attributes
    ----------
    order_ : array of shape (d,)
        Column indices, source first. Constant columns are placed as early as `before` allows.
    gains_ : array of shape (d, d)
        [parent, child]: the gain of an edge when it was added; NaN where there is none.

    References
    ----------
    Buehlmann, Peters and Ernest, "CAM: causal additive models, high-dimensional order search and penalized
    regression", Annals of Statistics 42, 2014.

    Examples
    --------
    >>> rng = np.random.default_rng(0)
    >>> cause = rng.normal(size=300)
    >>> effect = np.sin(2 * cause) + rng.normal(size=300) / 2
    >>> CAM().fit(np.column_stack([effect, cause])).order_
    array([1, 0])
    """

    step_tags = StepTags(costs=(Cost("CAM"),))

    def __init__(self, n_splines: int = 10, *, max_neighbors: int | None = 5, max_parents: int = 10) -> None:
        self.n_splines = n_splines
        self.max_neighbors = max_neighbors
        self.max_parents = max_parents

    def fit(self, X: Any, before: Any = None) -> CAM:
        """Learn the order of the columns of a table X (n, d); where ``before[i, j]``, i must precede j."""
        check_number("CAM", "n_splines", self.n_splines, low=3, integer=True)
        check_number("CAM", "max_parents", self.max_parents, low=1, integer=True)
        if self.max_neighbors is not None:
            check_number("CAM", "max_neighbors", self.max_neighbors, low=1, integer=True)
        table = as_table(X, min_rows=2)
        known = check_before(before, table.names)
        columns = np.flatnonzero(~table.constant)
        self.gains_ = np.full(known.shape, np.nan)
        path, inner = known.copy(), np.ix_(columns, columns)
        if len(columns) > 1:
            Z = table.standardized().values[:, columns]
            with blas_threads(1):  # the products are many and small
                gram = gram_of_design(prepare(Z, [spline(column, self.n_splines).basis() for column in Z.T]), Z)
                near = self._neighbors(gram)
                path[inner], self.gains_[inner] = self._search(gram, near, known[inner])
        # `path` orders every pair of variables; sort topologically, with constant columns first where possible.
        start = np.concatenate([np.flatnonzero(table.constant), columns])
        self.order_ = obeyed(start, path)
        return self

    def _neighbors(self, gram: Gram) -> NDArray[np.bool_]:
        """Return the neighbours of each variable, [neighbour, variable]: those a forward selection takes first."""
        d = len(gram.rank)
        if self.max_neighbors is None or self.max_neighbors >= d - 1:
            return ~np.eye(d, dtype=bool)
        models = ForwardModels(gram, SMOOTHNESS)
        near = np.zeros((d, d), dtype=bool)
        for target in range(d):
            for _ in range(self.max_neighbors):
                gains = models.gains(target)
                gains[target] = -np.inf
                best = _first_largest(gains)
                if gains[best] < np.log(gram.n) / gram.n:
                    break
                near[best, target] = True
                models.add(target, best)
        return near

    def _search(
        self, gram: Gram, near: NDArray[np.bool_], before: NDArray[np.bool_]
    ) -> tuple[NDArray[np.bool_], NDArray[np.float64]]:
        """Add edges until all pairs are ordered; return which variable precedes which, and the gains of the edges."""
        d = len(near)
        models = ForwardModels(gram, SMOOTHNESS)
        gains = np.column_stack([models.gains(target) for target in range(d)])
        added = np.full((d, d), np.nan)
        path, n_parents = before.copy(), np.zeros(d, dtype=np.intp)
        for candidates in (near, ~np.eye(d, dtype=bool)):
            open_ = candidates & np.isnan(added) & ~path.T
            while open_.any() and np.count_nonzero(path) < d * (d - 1) // 2:
                parent, child = divmod(_first_largest(np.where(open_, gains, -np.inf).ravel()), d)
                added[parent, child] = gains[parent, child]
                path |= np.outer(path[:, parent] | _only(parent, d), path[child] | _only(child, d))
                open_ &= np.isnan(added) & ~path.T
                if n_parents[child] < self.max_parents:
                    models.add(child, parent)
                    n_parents[child] += 1
                    gains[:, child] = models.gains(child)
                logger.info("order: %d of %d pairs ordered", np.count_nonzero(path), d * (d - 1) // 2)
        return path, added


def _only(j: int, d: int) -> NDArray[np.bool_]:
    return np.arange(d) == j


def _first_largest(numbers: NDArray[np.float64]) -> int:
    best = numbers.max()
    return int(np.argmax(numbers >= best - TIE * abs(best)))

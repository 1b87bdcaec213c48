"""Search over orders: start from an orderer, then climb the likelihood."""

from __future__ import annotations

from collections.abc import Callable
from math import log
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray
from sklearn.base import BaseEstimator

from sartre.compute.parallel import blas_threads
from sartre.data.checks import as_table
from sartre.knowledge.masks import check_order
from sartre.knowledge.precedence import check_before, obeyed
from sartre.order.score import SCORE
from sartre.order.search.climb import Climb
from sartre.order.search.constants import START_ROWS, TOLERANCE
from sartre.order.search.local_scores import LocalScores
from sartre.settings import check_choice, check_jobs_and_seed
from sartre.steps import ORDERER, Cost, StepTags, check_step, fresh, tags_of

if TYPE_CHECKING:
    from sartre.data.table import Table
    from sartre.settings import RandomState


class OrderSearch(BaseEstimator):
    """Order variables by likelihood: start from another orderer's order and improve it move by move.

    An order is as good as the sum over its variables of a local score: the log of the residual variance that is left
    when the variable is predicted from those before it, by smooth functions and pairwise products chosen one by one,
    each at a price (`sartre.order.search.local_scores`). Moves take one variable to its best place, or turn a pair
    round together with all that the later of the two needs; sweeps end when no move gains more than 6 / n.

    Columns are standardised inside, so that the order does not depend on their units. Where the noise of all variables
    has the same variance, the units do tell: see `scale`.

    Parameters
    ----------
    start : orderer, optional
        ``fit(X)`` gives the order to start from. `sartre.order.SCORE` on 1000 rows by default; dense graphs need a
        start as good as that.
    scale : {"standard", "raw"}
        ``"raw"`` asserts that the noise of all variables has the same variance, in the units given. The start then sees
        the columns as they are, and scores are those of a common noise variance, the mean under the start.
    n_jobs : int, optional
        Handed to a start that leaves its own at None; the search itself takes one step after the other.
    random_state : optional
        Handed to a start in the same way. With more than 1000 rows the default start sees
        1000 of them, which depend on the seed (0 for None) and on what the rows hold, not on their order.

    Attributes
    ----------
    order_ : array of shape (d,)
        Column indices, source first. Constant columns come as early as they may.
    start_order_ : array of shape (d,)
        Where the search started.
    local_scores_ : array of shape (d,)
        Of each column given those before it, smaller is better; NaN for constant columns.
    score_, start_score_ : float
        Their sum, and what it was for the start.
    n_sweeps_, n_moves_ : int
    start_step_ : the fitted start

    Examples
    --------
    >>> rng = np.random.default_rng(0)
    >>> cause = rng.normal(size=300)
    >>> effect = np.sin(2 * cause) + rng.normal(size=300) / 2
    >>> search = OrderSearch().fit(np.column_stack([effect, cause]))
    >>> search.order_, bool(search.score_ <= search.start_score_)
    (array([1, 0]), True)
    """

    def __init__(
        self,
        start: Any = None,
        *,
        scale: str = "standard",
        n_jobs: int | None = None,
        random_state: RandomState = None,
    ) -> None:
        self.start = start
        self.scale = scale
        self.n_jobs = n_jobs
        self.random_state = random_state

    @property
    def step_tags(self) -> StepTags:
        """What this step is."""
        start = tags_of(self._start()).costs
        return StepTags(costs=None if start is None else (*start, Cost("OrderSearch", serial=True)))

    def _start(self) -> Any:
        if self.start is not None:
            return self.start
        seed = 0 if self.random_state is None else self.random_state  # the same table has the same order
        return SCORE(exact=True, max_samples=START_ROWS, random_state=seed)  # exact: the units must not matter

    def fit(self, X: Any, before: Any = None) -> OrderSearch:
        """Learn the order of the columns of a table X (n, d); where ``before[i, j]``, i must precede j."""
        check_choice("OrderSearch", "scale", self.scale, ("standard", "raw"))
        check_jobs_and_seed(self)
        check_step("OrderSearch", "start", self.start, ORDERER)
        table = as_table(X, min_rows=2)
        demanded = check_before(before, table.names)
        start = fresh(self._start(), n_jobs=self.n_jobs, random_state=self.random_state)
        known = {} if before is None else {"before": before}
        self.start_step_ = start.fit(table if self.scale == "raw" else table.standardized(), **known)
        order = check_order(self.start_step_.order_, table.names)
        self.start_order_ = obeyed(order[np.argsort(~table.constant[order], kind="stable")], demanded)
        with blas_threads():  # there are many small products
            self._search(table, demanded)
        return self

    def _search(self, table: Table, before: NDArray[np.bool_]) -> None:
        """Climb among the columns that vary, numbered by themselves; the others come as early as they may."""
        constant = table.constant
        varied = np.flatnonzero(~constant)
        order = np.searchsorted(varied, self.start_order_[~constant[self.start_order_]]).tolist()
        scores = LocalScores(table.standardized().values[:, varied])
        score = lambda v, inside: scores(v, inside).value  # noqa: E731 - one of two
        if self.scale == "raw":
            score = _common_variance(scores, table.values[:, varied].var(axis=0), order)
        climb = Climb(score, lambda v, inside: scores(v, inside).used, order, before[np.ix_(varied, varied)])
        self.start_score_ = float(sum(climb.local_scores()))
        climb.run(TOLERANCE / len(table.values))
        self.score_ = float(sum(climb.local_scores()))
        self.local_scores_ = np.full(len(constant), np.nan)
        self.local_scores_[varied[climb.order]] = climb.local_scores()
        self.order_ = obeyed(np.concatenate([np.flatnonzero(constant), varied[climb.order]]), before)
        self.n_sweeps_, self.n_moves_ = climb.n_sweeps, climb.n_moves


def _common_variance(
    scores: LocalScores, variances: NDArray[np.float64], order: list[int]
) -> Callable[[int, int], float]:
    """Return local scores under one noise variance s^2: residual variance / s^2 in place of its log.

    s^2 is the mean residual variance of an order; `variances` are those of the columns.
    """
    residual = [variances[v] * scores(v, sum(1 << u for u in order[:place])).variance for place, v in enumerate(order)]
    unit = variances / np.mean(residual) if residual else variances

    def score(v: int, inside: int) -> float:
        local = scores(v, inside)
        return float(unit[v] * local.variance) + local.value - log(local.variance)

    return score

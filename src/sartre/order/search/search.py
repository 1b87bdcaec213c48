"""Search over orders: start from orderers, climb the likelihood, and escape from where the climb ends."""

from __future__ import annotations

import logging
import warnings
from collections.abc import Callable
from dataclasses import replace
from math import log
from typing import TYPE_CHECKING, Any

import numpy as np
import pandas as pd
from numpy.typing import NDArray
from sklearn.base import BaseEstimator

from sartre.compute.parallel import blas_threads
from sartre.data.checks import as_table
from sartre.knowledge.masks import check_order
from sartre.knowledge.precedence import check_before, obeyed
from sartre.order.cam import CAM
from sartre.order.score import SCORE
from sartre.order.search.blocks import blocks_of_rows
from sartre.order.search.climb import Climb, Exploration
from sartre.order.search.constants import (
    EFFORTS,
    MIN_START_ROWS,
    MOST_POLISHED,
    REVERSALS,
    START_ROWS_PER_COLUMN,
    START_TOLERANCE,
    TOLERANCE,
)
from sartre.order.search.local_scores import LocalScores
from sartre.order.search.noise import NoiseDensities
from sartre.order.search.polish import polished
from sartre.settings import check_choice, check_jobs_and_seed, sample_seed
from sartre.steps import ORDERER, Cost, StepTags, check_step, fresh, tags_of

if TYPE_CHECKING:
    from sartre.data.table import Table
    from sartre.settings import RandomState

logger = logging.getLogger(__name__)


class OrderSearch(BaseEstimator):
    """Order variables by likelihood: climb from the orders of other orderers, and escape from where the climb ends.

    An order is as good as the sum over its variables of a local score: the log of the residual variance that is left
    when the variable is predicted from those before it, by lines, curves and pairwise products chosen one by one, each
    at a price (`sartre.order.search.local_scores`), less what the residual's own density gains over the normal one
    (`sartre.order.search.noise`). Moves take one variable to its best place, or turn a pair round together with all
    that the later of the two needs, until none gains more than 6 / n. Then a few random pairs are turned round and the
    climb is repeated, as long as that pays.

    Columns are standardised inside, so that the order does not depend on their units. Where the noise of all variables
    has the same variance, the units do tell: see `scale`.

    Parameters
    ----------
    start : orderer, optional
        ``fit(X)`` gives the only order to start from. By default these are `sartre.order.SCORE`, on a sample of the
        rows, and `sartre.order.CAM`. What SCORE says of variables that the local scores do not tell apart is worth a
        lot on dense graphs, so another start replaces it only if it gains 2 d / n, or is better before any climb.
    effort : {"auto", "fast", "thorough"}
        How much to search. ``"fast"`` climbs once, from SCORE on 1000 rows. ``"auto"`` climbs from SCORE on 2000 rows
        and from CAM, and escapes until 2 d escapes in a row were in vain or 500 d local scores were computed.
        ``"thorough"`` uses 4000 rows and four random starts more, and gives up after 20 d escapes or 5000 d scores.
        In tables of at most 30 columns, and without environments or groups, it ends with insertions that Gaussian
        processes favour (`polish.py`), which see joint functions of many variables; ``score_`` is then not the lowest
        that was found.
    scale : {"standard", "raw"}
        ``"raw"`` asserts that the noise of all variables is normal with the same variance, in the units given. The
        starts then see the columns as they are, and scores are those of a common noise variance, the mean under the
        first start.
    n_jobs : int, optional
        Handed to a start that leaves its own at None; the search itself takes one step after the other.
    random_state : optional
        Handed to a start in the same way. It determines the rows that SCORE sees, random starts and escapes; None is
        the seed 0. The order of rows and columns makes no difference.

    Attributes
    ----------
    order_ : array of shape (d,)
        Column indices, source first. Constant columns come as early as they may.
    local_scores_ : array of shape (d,)
        Of each column given those before it, smaller is better; NaN for constant columns.
    score_ : float
        Their sum. With ``scale="standard"`` it may be compared between searches of the same table.
    starts_ : DataFrame
        One row per start: ``start``, the name of the orderer or "random", ``score``, that of its order, and
        ``climbed_to``, the score where the climb from it ended. If these differ much, one climb is not enough.
    n_sweeps_, n_moves_, n_escapes_, n_evaluations_ : int
        Of all climbs from starts and escapes; the last is the number of local scores that were computed.
    has_spread_ : bool
        Whether residuals were divided by a spread, because the sizes of most of them follow other variables; functions
        that no block can fit look the same.
    interrupted_ : bool
        Whether Ctrl-C ended the search.

    Notes
    -----
    Ctrl-C ends the search, with a warning, and keeps the best order found so far; during the first start it stops the
    fit.

    Examples
    --------
    >>> rng = np.random.default_rng(0)
    >>> cause = rng.normal(size=300)
    >>> effect = np.sin(2 * cause) + rng.normal(size=300) / 2
    >>> search = OrderSearch().fit(np.column_stack([effect, cause]))
    >>> search.order_, search.starts_["start"].tolist()
    (array([1, 0]), ['SCORE', 'CAM'])
    """

    def __init__(
        self,
        start: Any = None,
        *,
        effort: str = "auto",
        scale: str = "standard",
        n_jobs: int | None = None,
        random_state: RandomState = None,
    ) -> None:
        self.start = start
        self.effort = effort
        self.scale = scale
        self.n_jobs = n_jobs
        self.random_state = random_state

    @property
    def step_tags(self) -> StepTags:
        """What this step is."""
        return StepTags(seeks_likelihood=self.scale == "standard", takes_experiments=True, costs=self._costs())

    def _costs(self) -> tuple[Cost, ...] | None:
        """Return the costs of starts and search; None where they were not measured."""
        costs: list[Cost] = []
        for start in self._starts():
            own = tags_of(start).costs
            if own is None:
                return None
            costs += own if hasattr(start, "n_jobs") else [cost._replace(serial=True) for cost in own]
        if self.effort != "thorough":
            return (*costs, Cost("OrderSearch", serial=True))
        polish = Cost("OrderSearch polish", EFFORTS["thorough"].polish_rows, serial=True, max_columns=MOST_POLISHED)
        return (*costs, Cost("OrderSearch thorough", serial=True), polish)

    def fit(self, X: Any, before: Any = None) -> OrderSearch:
        """Learn the order of the columns of a table X (n, d); where ``before[i, j]``, i must precede j."""
        check_choice("OrderSearch", "effort", self.effort, tuple(EFFORTS))
        check_choice("OrderSearch", "scale", self.scale, ("standard", "raw"))
        check_jobs_and_seed(self)
        check_step("OrderSearch", "start", self.start, ORDERER)
        table = as_table(X, min_rows=2)
        demanded = check_before(before, table.names)
        starts = [fresh(start, n_jobs=self.n_jobs, random_state=self.random_state) for start in self._starts()]
        seen = _undisturbed(table)
        seen = seen if self.scale == "raw" else seen.standardized()
        known = {} if before is None else {"before": before}
        orders = [check_order(start.fit(seen, **known).order_, table.names) for start in starts]
        orders = [obeyed(order[np.argsort(~table.constant[order], kind="stable")], demanded) for order in orders]
        with blas_threads():  # there are many small products
            self._search(table, demanded, [type(start).__name__ for start in starts], orders)
        return self

    def _starts(self) -> list[Any]:
        if self.start is not None:
            return [self.start]
        seed = 0 if self.random_state is None else self.random_state  # the same table has the same order
        effort = EFFORTS.get(self.effort, EFFORTS["auto"])
        return [SCORE(max_samples=effort.start_rows, random_state=seed), *([CAM()] if effort.escapes else [])]

    def _search(
        self, table: Table, before: NDArray[np.bool_], names: list[str], orders: list[NDArray[np.intp]]
    ) -> None:
        """Search among the columns that vary, numbered by themselves; the others come as early as they may."""
        constant, effort = table.constant, EFFORTS[self.effort]
        varied = np.flatnonzero(~constant)
        d, n = len(varied), len(table.values)
        starts = [np.searchsorted(varied, order[~constant[order]]).tolist() for order in orders]
        rng = np.random.default_rng(sample_seed("OrderSearch", self.random_state))
        before_varied = before[np.ix_(varied, varied)]
        if self.start is None:  # permutations of the first start, so that the order of the columns does not matter
            shuffled = [np.array(starts[0])[rng.permutation(d)] for _ in range(effort.random_starts)]
            starts += [obeyed(order, before_varied).tolist() for order in shuffled]
            names = [*names, *["random"] * len(shuffled)]
        scores, score, densities = self._scores(table, varied, starts[0])

        def fresh_climb() -> Climb:
            return Climb(score, lambda v, inside: scores(v, inside).used, before_varied, TOLERANCE / n)

        climb = fresh_climb()
        exploration = Exploration(climb, START_TOLERANCE * d / n, starts[0])
        self.interrupted_ = False
        try:
            if densities is not None:
                first = fresh_climb()
                first.run(starts[0])
                densities.look_for_spread(dependences(scores, first.order))
            for order in starts:
                exploration.start(order)
            limit = scores.n_evaluations + effort.evaluations * d
            while exploration.n_vain < effort.escapes * d and scores.n_evaluations < limit:
                exploration.escape(max(1, round(REVERSALS * d)), rng)
                logger.info(
                    "order: %d escapes in vain, %d at most", exploration.n_vain, effort.escapes * d
                )  # no estimate
            if effort.polish_rows and self.scale == "standard" and d <= MOST_POLISHED and table.design is None:
                columns = table.standardized().values[:, varied]
                exploration.best = polished(columns, exploration.best, before_varied, effort.polish_rows)
        except KeyboardInterrupt:
            exploration.stop()
            self.interrupted_ = True
            warnings.warn("The search was interrupted. The order is the best found so far.", UserWarning, stacklevel=3)
        self.has_spread_ = densities is not None and densities.has_spread
        best = exploration.best
        self.order_ = obeyed(np.concatenate([np.flatnonzero(constant), varied[best]]), before)
        self.local_scores_ = np.full(len(constant), np.nan)
        self.local_scores_[varied[best]] = climb.local_scores(best)
        self.score_ = float(np.nansum(self.local_scores_))
        rows = [(name, *reached) for name, reached in zip(names, exploration.starts, strict=False)]
        self.starts_ = pd.DataFrame(rows, columns=["start", "score", "climbed_to"])
        self.n_sweeps_, self.n_moves_, self.n_escapes_ = climb.n_sweeps, climb.n_moves, exploration.n_escapes
        self.n_evaluations_ = scores.n_evaluations

    def _scores(
        self, table: Table, varied: NDArray[np.intp], start: list[int]
    ) -> tuple[LocalScores, Callable[[int, int], float], NoiseDensities | None]:
        """Return the local scores, the function of a variable and a set that is minimised, and its densities."""
        X = np.asfortranarray(table.standardized().values[:, varied])
        X, functions, blocks = blocks_of_rows(X, None if table.design is None else table.design.select(varied))
        scores = LocalScores(blocks)
        if self.scale == "raw":
            variances = np.array([table.values[table.rows_of(j), j].var() for j in varied.tolist()])
            return scores, _common_variance(scores, variances, start), None
        density = NoiseDensities(X, functions, blocks)

        def score(v: int, inside: int) -> float:
            local = scores(v, inside)
            return local.value + density(v, local.blocks)

        return scores, score, density


def _undisturbed(table: Table) -> Table:
    """Return the rows in which nothing was set, without their design, if there are enough of them for a start."""
    if table.design is None:
        return table
    rows = np.flatnonzero(~table.design.acted.any(axis=1))
    n, d = table.shape
    few = len(rows) < max(MIN_START_ROWS, START_ROWS_PER_COLUMN * d)
    chosen = np.arange(n) if few else rows
    return replace(table.take(chosen), design=None)


def dependences(scores: LocalScores, order: list[int]) -> list[tuple[int, tuple[int, ...]]]:
    """Return every variable of an order, and the blocks that it depends on there."""
    return [(v, scores(v, sum(1 << u for u in order[:place])).blocks) for place, v in enumerate(order)]


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

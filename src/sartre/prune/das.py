"""DAS (Montagna et al., 2023): derivatives of the score select the candidates, and another pruner decides."""

from __future__ import annotations

import logging
from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.special import ndtri
from scipy.stats import ttest_ind
from sklearn.base import BaseEstimator

from sartre.compute.parallel import blas_threads
from sartre.data.checks import as_table
from sartre.data.table import Table, normal_scores
from sartre.knowledge.masks import OrderedEdges, check_edges
from sartre.prune.cam import prune_candidates
from sartre.settings import check_jobs_and_seed, check_number
from sartre.stein.estimator import Stein
from sartre.steps import PRUNER, Cost, StepTags, check_step, tags_of

logger = logging.getLogger(__name__)
_NOISE = 0x5A7274E_DA5_2023  # a seed of its own, unlikely to be used for simulated data


class DAS(BaseEstimator):
    """Filter the candidate parents by the score function, then prune the remaining ones.

    Among a variable l and its predecessors, l is a leaf, and the derivative H_lj = d s_l / d x_j of its score is zero
    if and only if j is not a parent. The candidates are ranked by the absolute median of H_lj over the samples, in
    which pure noise cancels. The first `min_parents` are kept. Of the next ones, up to `max_parents` in total, those
    are kept whose abs(H_lj) is larger than that of a variable that is not a parent (one-sided Welch test). The
    published method uses the weakest candidate as that variable, which may be a true parent if few candidates remain;
    here it is an added column of independent noise. To make it comparable to the others, every column is replaced by
    the normal scores of its ranks. This does not change where H_lj is zero, and makes the filter independent of units
    and robust to outliers.

    Levels of a category have no derivative. A category with three or more levels passes the filter as a parent, is not
    filtered as a target, and is left out of the filters of other variables; two levels are treated as 0 and 1.

    The filter takes one O(n^3) factorisation per variable, in single precision where that is safe, and O(n^2 + n d)
    memory.

    Parameters
    ----------
    prune : pruner, optional
        Decides on the candidates that are kept: ``fit(X, order, candidates=...)``, with ``required=...`` if edges are
        required. `CAMPruning` by default.
    eta : float
        Ridge of the Stein estimator.
    alpha : float
        Level of the filter's tests.
    min_parents, max_parents : int
        Number of candidates kept without a test, and the largest number kept; required edges are kept in addition.
    n_jobs : int, optional
        Passed to the pruner if it has no setting of its own; also the threads of the filter's linear algebra, with at
        least 4000 rows.

    Attributes
    ----------
    candidates_ : boolean array of shape (d, d)
        Edges that passed the filter, [parent, child].
    adjacency_matrix_, edges_ : those of the pruner
    prune_step_ : the fitted pruner

    References
    ----------
    Montagna, Noceti, Rosasco, Zhang and Locatello, "Scalable causal discovery with score matching", CLeaR 2023.

    Examples
    --------
    >>> rng = np.random.default_rng(0)
    >>> X = rng.normal(size=(300, 8))
    >>> X[:, 7] += 2 * np.sin(2 * X[:, 0])
    >>> pruner = DAS(min_parents=1).fit(X, order=range(8))
    >>> bool(pruner.candidates_[0, 7]), int(pruner.candidates_.sum()) < 28
    (True, True)
    >>> pruner.edges_[["source", "target"]].to_numpy().tolist()
    [['x0', 'x7']]
    """

    def __init__(
        self,
        prune: Any = None,
        *,
        eta: float = 0.001,
        alpha: float = 0.05,
        min_parents: int = 5,
        max_parents: int = 20,
        n_jobs: int | None = None,
    ) -> None:
        self.prune = prune
        self.eta = eta
        self.alpha = alpha
        self.min_parents = min_parents
        self.max_parents = max_parents
        self.n_jobs = n_jobs

    @property
    def step_tags(self) -> StepTags:
        """The properties of this step."""
        return StepTags(needs_units=tags_of(self.prune).needs_units, costs=(Cost("DAS"),))

    def fit(self, X: Any, order: Sequence[Any], candidates: Any = None, required: Any = None) -> DAS:
        """Filter and prune the fully connected graph of an order; the arguments are those of `SARTRE.fit`."""
        check_jobs_and_seed(self)
        check_step("DAS", "prune", self.prune, PRUNER)
        check_number("DAS", "eta", self.eta, low=0.0, open_low=True)
        check_number("DAS", "alpha", self.alpha, low=0.0, high=1.0, open_low=True)
        check_number("DAS", "min_parents", self.min_parents, low=0, integer=True)
        check_number("DAS", "max_parents", self.max_parents, low=max(1, self.min_parents), integer=True)
        table = as_table(X, min_rows=10, categories=True, missing=isinstance(X, Table))
        if table.missing.any():
            raise ValueError("DAS needs a table without missing values. Set missing='drop' or 'impute', or use SARTRE.")
        edges = check_edges(order, candidates, required, table.names)
        with blas_threads(self.n_jobs, len(table.values)):
            self.candidates_ = self._filter(table, edges) | edges.required
        self.prune_step_ = prune_candidates(self, table, edges)
        self.adjacency_matrix_ = self.prune_step_.adjacency_matrix_
        self.edges_ = self.prune_step_.edges_
        return self

    def _filter(self, table: Table, edges: OrderedEdges) -> NDArray[np.bool_]:
        """Return the candidates to keep, computed leaf by leaf from the end of the order."""
        positions, allowed = edges.order, edges.allowed
        kept = np.zeros_like(allowed)
        n = table.shape[0]
        values = normal_scores(table.values)
        noise = np.random.default_rng(_NOISE).permutation(np.asarray(ndtri((np.arange(n) + 0.5) / n), dtype=np.float64))
        varies, nominal = ~table.constant, np.isin(np.arange(table.shape[1]), list(table.nominal))
        for k in range(len(positions) - 1, 0, -1):
            leaf, before = positions[k], positions[:k][varies[positions[:k]]]
            kept[before[nominal[before] & allowed[before, leaf]], leaf] = True
            before = before[~nominal[before] | nominal[leaf]]
            parents = before[allowed[before, leaf]]
            if len(parents) > self.min_parents and varies[leaf] and not nominal[leaf]:
                scores = np.hstack([values[:, [leaf]], values[:, before], noise[:, None]])
                derivatives = Stein(scores, self.eta, fast=True).hessian_column(0)
                parents = self._passing(derivatives[:, 1:], before, parents)
            kept[parents, leaf] = True
            logger.info("filter: %d of %d targets", len(positions) - k, len(positions) - 1)
        return kept

    def _passing(
        self, derivatives: NDArray[np.float64], before: NDArray[np.intp], parents: NDArray[np.intp]
    ) -> NDArray[np.intp]:
        """Return the parents to keep; `derivatives` are H_lj of the predecessors `before`, then of the noise column."""
        column = {int(j): k for k, j in enumerate(before)}
        columns = np.array([column[int(j)] for j in parents])
        strength = np.abs(np.median(derivatives[:, columns], axis=0))
        ranked = columns[np.argsort(-strength, kind="stable")][: self.max_parents]
        first, rest = ranked[: self.min_parents], ranked[self.min_parents :]
        if len(rest):
            sizes = np.abs(derivatives[:, [*rest, -1]])
            tests: Any = ttest_ind(sizes[:, :-1], sizes[:, [-1]], equal_var=False, alternative="greater")
            rest = rest[tests.pvalue < self.alpha]
        return before[np.append(first, rest)]

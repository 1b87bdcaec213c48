"""CaPS's post-processing (Xu et al., 2024): the parent score is applied before and after another pruner."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray
from sklearn.base import BaseEstimator

from sartre.data.checks import as_table
from sartre.knowledge.masks import check_edges
from sartre.order.caps import parent_score
from sartre.prune.cam import prune_candidates
from sartre.settings import check_jobs_and_seed, check_number
from sartre.steps import PRUNER, Cost, StepTags, check_step

if TYPE_CHECKING:
    from sartre.data.table import Table


class CaPSPruning(BaseEstimator):
    """Drop weak candidates by the parent score, prune the others, then add edges whose score stands out.

    With P[i, j] the parent score (`sartre.order.parent_score`) of i -> j:

    1. a candidate parent i of j is kept if P[i, j] >= max_k P[k, j] / lambda1, over all k that the order allows;
    2. another pruner decides on the candidates that are kept;
    3. i -> j is added if P[i, j] >= lambda2 * (sum of P over the kept edges) / d^2 and the order and `candidates` allow
       it (the published code adds such edges even against the order). Nothing is added to an empty graph.

    The parent score depends on units: rescaling column i by c divides P[i, j] by c^2. Use it if all columns have the
    same unit.

    Parameters
    ----------
    prune : pruner, optional
        Decides on the candidates that are kept: ``fit(X, order, candidates=...)``. `CAMPruning` by default.
    lambda1 : float or None
        A candidate is dropped if its score is less than 1 / lambda1 of the largest; None drops no candidate.
    lambda2 : float or None
        An edge is added if its score is at least lambda2 times the mean over all pairs, where pairs without an edge
        count as zero; None adds no edge.
    eta : float
        Ridge of the Stein estimator.
    n_jobs : int, optional
        Passed to the pruner if it has no setting of its own; also the threads of the linear algebra, with at least 4000
        rows.

    Attributes
    ----------
    parent_score_ : array of shape (d, d)
        [parent, child].
    candidates_ : boolean array of shape (d, d)
        Edges passed to the pruner, [parent, child].
    supplement_ : boolean array of shape (d, d)
        Edges added to those of the pruner.
    adjacency_matrix_ : uint8 array of shape (d, d)
        1 where row is a parent of column.
    edges_ : DataFrame
        The edges of the pruner; added edges come last, with NaN in the numeric columns.
    prune_step_ : the fitted pruner

    References
    ----------
    Xu, Li, Liu and Gui, "Ordering-based causal discovery for linear and nonlinear relations", NeurIPS 2024.

    Examples
    --------
    >>> rng = np.random.default_rng(0)
    >>> X = rng.normal(size=(300, 4))
    >>> X[:, 3] += 2 * X[:, 0]
    >>> pruner = CaPSPruning().fit(X, order=range(4))
    >>> pruner.edges_[["source", "target"]].to_numpy().tolist()
    [['x0', 'x3']]
    """

    step_tags = StepTags(costs=(Cost("CaPSPruning"),))

    def __init__(
        self,
        prune: Any = None,
        *,
        lambda1: float | None = 50.0,
        lambda2: float | None = 50.0,
        eta: float = 0.001,
        n_jobs: int | None = None,
    ) -> None:
        self.prune = prune
        self.lambda1 = lambda1
        self.lambda2 = lambda2
        self.eta = eta
        self.n_jobs = n_jobs

    def fit(self, X: Any, order: Sequence[Any], candidates: Any = None, required: Any = None) -> CaPSPruning:
        """Prune the fully connected graph of an order; the arguments are those of `sartre.prune.SARTRE.fit`."""
        for name in ("lambda1", "lambda2"):
            if getattr(self, name) is not None:
                check_number("CaPSPruning", name, getattr(self, name), low=0.0, open_low=True)
        check_number("CaPSPruning", "eta", self.eta, low=0.0, open_low=True)
        check_jobs_and_seed(self)
        check_step("CaPSPruning", "prune", self.prune, PRUNER)
        table = as_table(X, min_rows=10)
        edges = check_edges(order, candidates, required, table.names)
        self.parent_score_ = parent_score(table, self.eta, n_jobs=self.n_jobs)
        score = np.where(edges.allowed, self.parent_score_, 0.0)
        self.candidates_ = edges.allowed
        if self.lambda1 is not None:
            strong = score >= score.max(axis=0, initial=0.0) / self.lambda1
            self.candidates_ = edges.allowed & strong | edges.required
        self.prune_step_ = prune_candidates(self, table, edges)
        self._supplement(table, score)
        return self

    def _supplement(self, table: Table, score: NDArray[np.float64]) -> None:
        """Add the allowed edges with a high score; an edge with score zero (forbidden, or constant) is never added."""
        kept = np.asarray(self.prune_step_.adjacency_matrix_, dtype=bool)
        self.supplement_ = np.zeros_like(kept)
        if self.lambda2 is not None and kept.any():
            level = self.lambda2 * score[kept].sum() / kept.size
            self.supplement_ = (score >= level) & (score > 0) & ~kept
        self.adjacency_matrix_ = (kept | self.supplement_).astype(np.uint8)
        added = np.argwhere(self.supplement_)
        added = added[np.argsort(-score[self.supplement_], kind="stable")]
        self.edges_ = self.prune_step_.edges_.copy()
        for i, j in added:
            self.edges_.loc[len(self.edges_), ["source", "target"]] = table.names[i], table.names[j]

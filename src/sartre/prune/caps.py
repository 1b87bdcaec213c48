"""CaPS's post-processing (Xu et al., 2024): the parent score before and after another pruner."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np
from sklearn.base import BaseEstimator

from sartre.order.caps import parent_score
from sartre.prune.cam import CAMPruning
from sartre.steps import fit_within, fresh
from sartre.validation import as_table, check_candidates, check_number, check_order, check_required

if TYPE_CHECKING:
    from collections.abc import Sequence

    from numpy.typing import NDArray

    from sartre.validation import Table


class CaPSPruning(BaseEstimator):
    """Drop weak candidates by the parent score, prune the others, then add edges whose score stands out.

    With P[i, j] the parent score (`sartre.order.parent_score`) of i -> j:

    1. a candidate parent i of j stays if P[i, j] >= max_k P[k, j] / lambda1, over all k the order allows;
    2. another pruner decides about those that stay;
    3. where P[i, j] >= lambda2 * (sum of P over the kept edges) / d^2, i -> j is added, if the order and `candidates`
       allow it (the published code adds such edges against the order too). Nothing is added to an empty graph.

    The parent score is a matter of units: rescaling column i by c divides P[i, j] by c^2. Use it where all columns are
    in one unit.

    Parameters
    ----------
    prune : pruner, optional
        Decides about the candidates that stay: ``fit(X, order, candidates=...)``. `CAMPruning` by default.
    lambda1 : float or None
        A candidate is dropped if its score is this many times smaller than the largest; None drops none.
    lambda2 : float or None
        An edge is added if its score is this many times the mean over all pairs, with zero for those that are no edge;
        None adds none.
    eta : float
        Ridge of the Stein estimator.
    n_jobs : int, optional
        Threads of the linear algebra, handed to the pruner if it has none of its own.

    Attributes
    ----------
    parent_score_ : array of shape (d, d)
        [parent, child].
    candidates_ : boolean array of shape (d, d)
        Edges that the pruner was asked about, [parent, child].
    supplement_ : boolean array of shape (d, d)
        Edges that were added to those of the pruner.
    adjacency_matrix_ : uint8 array of shape (d, d)
        1 where row is a parent of column.
    edges_ : DataFrame
        As the pruner gives it; edges that were added come last and have no numbers.
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

    def __init__(
        self,
        prune: Any = None,  # noqa: ANN401 - anything with fit(X, order, candidates=...)
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

    def fit(
        self,
        X: Any,  # noqa: ANN401
        order: Sequence[Any],
        candidates: Any = None,  # noqa: ANN401
        required: Any = None,  # noqa: ANN401
    ) -> CaPSPruning:
        """Prune the fully connected graph of an order.

        Parameters
        ----------
        X : array of shape (n, d) or data frame
        order : sequence of d column indices or names
            Causes before effects.
        candidates : boolean array of shape (d, d), optional
            Edges that may stay, [parent, child], as far as the order allows them; all that it allows by default.
        required : boolean array of shape (d, d), optional
            Edges that stay whatever scores and tests say, [parent, child]; the order and `candidates` must allow them.
        """
        for name in ("lambda1", "lambda2"):
            if getattr(self, name) is not None:
                check_number("CaPSPruning", name, getattr(self, name), low=0.0, open_low=True)
        check_number("CaPSPruning", "eta", self.eta, low=0.0, open_low=True)
        table = as_table(X, min_rows=10)
        positions = check_order(order, table.names)
        allowed = check_candidates(candidates, positions, table.names)
        demanded = check_required(required, positions, allowed, table.names)
        self.parent_score_ = parent_score(table, self.eta, n_jobs=self.n_jobs)
        score = np.where(allowed, self.parent_score_, 0.0)
        self.candidates_ = allowed
        if self.lambda1 is not None:
            self.candidates_ = allowed & (score >= score.max(axis=0, initial=0.0) / self.lambda1) | demanded
        step = fresh(CAMPruning() if self.prune is None else self.prune, n_jobs=self.n_jobs)
        forced = demanded if demanded.any() else None
        self.prune_step_ = fit_within(step, table, positions, candidates=self.candidates_, required=forced)
        self._supplement(table, score)
        return self

    def _supplement(self, table: Table, score: NDArray[np.float64]) -> None:
        """Add the allowed edges that stand out; a score of zero (not allowed, a constant column) never does."""
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

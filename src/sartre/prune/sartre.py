"""SARTRE-pruning, Algorithm 1 of the paper: a sparse additive model of every variable on its predecessors."""

from __future__ import annotations

import logging
import warnings
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np
from joblib import Parallel, delayed
from sklearn.base import BaseEstimator
from sklearn.exceptions import ConvergenceWarning

from sartre.additive.design import prepare
from sartre.additive.group_lasso import TOL, Term, solve, terms
from sartre.additive.trees import EMBEDDINGS, Embedding
from sartre.prune._edges import edge_table
from sartre.validation import Table, as_table, check_candidates, check_choice, check_number, check_order, seed_of

if TYPE_CHECKING:
    from collections.abc import Sequence

    from numpy.typing import NDArray

    from sartre.additive.design import Design
    from sartre.validation import RandomState

logger = logging.getLogger(__name__)


class _Fit(NamedTuple):
    """One target's model: its kept parents, their terms, and how the solver ended."""

    target: int
    parents: NDArray[np.intp]
    terms: list[Term]
    gap: float
    converged: bool


class SARTRE(BaseEstimator):
    """Prune a fully connected order to the edges that a sparse additive model needs.

    Every variable becomes indicators of intervals (the leaves of small random trees), once. Each variable
    x_i is then regressed on its predecessors by the group lasso, and a predecessor whose group is zero is no parent:

        min  1/(2n) | x_i - sum_j Phi_j b_j |^2 + penalty * sum_j |b_j|_2

    The penalty is in the unit of the target (as in the paper): standardise columns whose units are arbitrary.

    Parameters
    ----------
    penalty : float
        The paper's lambda.
    n_trees, max_leaves : int
        Trees a variable, and the largest number of leaves of each (no tree has more than 32).
    embedding : "random", "forest" or "boosting"
        Completely random trees (the method), or trees of a random forest or of gradient boosting that
        regress the target on each predecessor (ablations; slow).
    tol : float
        Duality gap at which the solver stops, relative to the target's variance.
    n_jobs : int, optional
        Threads over the targets; the graph does not depend on it.
    random_state : int, Generator, RandomState or None
        Seed of the intervals. A column's intervals depend on the seed and its name (``x0, x1, ...`` in an array) only.

    Attributes
    ----------
    adjacency_matrix_ : uint8 array of shape (d, d)
        1 where row is a parent of column.
    edges_ : DataFrame
        The kept edges, strongest first: ``source``, ``target``, ``strength`` (share of the target's variance
        lost when the parent's terms are dropped from the fitted model), ``margin`` (norm of the gradient with the
        parent taken out, over the penalty: 1 is the edge of being pruned), ``p_value`` (NaN: a lasso does not test).

    References
    ----------
    Kanamori, Suzuki and Takagi, "Sparse additive model pruning for order-based causal structure learning", AAAI 2026.

    Examples
    --------
    >>> rng = np.random.default_rng(0)
    >>> x0, x1 = rng.normal(size=(2, 500))
    >>> x2 = np.sin(2 * x0) + rng.normal(size=500) / 2
    >>> pruner = SARTRE(random_state=0).fit(np.column_stack([x0, x1, x2]), order=[0, 1, 2])
    >>> pruner.edges_[["source", "target"]].to_numpy().tolist()
    [['x0', 'x2']]
    """

    def __init__(
        self,
        penalty: float = 0.1,
        *,
        n_trees: int = 5,
        max_leaves: int = 8,
        embedding: str = "random",
        tol: float = TOL,
        n_jobs: int | None = None,
        random_state: RandomState = None,
    ) -> None:
        self.penalty = penalty
        self.n_trees = n_trees
        self.max_leaves = max_leaves
        self.embedding = embedding
        self.tol = tol
        self.n_jobs = n_jobs
        self.random_state = random_state

    def fit(self, X: Any, order: Sequence[Any], candidates: Any = None) -> SARTRE:  # noqa: ANN401
        """Prune the fully connected graph of an order.

        Parameters
        ----------
        X : array of shape (n, d) or data frame
        order : sequence of d column indices or names
            Causes before effects.
        candidates : boolean array of shape (d, d), optional
            Edges that may stay, [parent, child]; all that the order allows by default.
        """
        self._check_settings()
        table = as_table(X, min_rows=2)
        positions = check_order(order, table.names)
        allowed = check_candidates(candidates, positions, table.names)
        embedding = Embedding(self.embedding, self.n_trees, self.max_leaves, seed_of("SARTRE", self.random_state))
        shared = None if embedding.supervised else prepare(table.values, embedding.bases(table.values, table.names))
        allowed[:, table.constant] = False
        jobs = (
            delayed(self._fit_target)(table, target, positions[:k][allowed[positions[:k], target]], embedding, shared)
            for k, target in enumerate(positions.tolist())
        )
        fits = []
        for fit in Parallel(n_jobs=self.n_jobs, require="sharedmem", return_as="generator")(jobs):
            fits.append(fit)
            logger.info("prune: %d of %d targets fitted", len(fits), len(positions))
        self._warn_unless_converged(fits, table.names)
        self.adjacency_matrix_ = np.zeros((len(positions), len(positions)), dtype=np.uint8)
        for fit in fits:
            self.adjacency_matrix_[fit.parents, fit.target] = 1
        self.edges_ = edge_table(
            (
                (parent, fit.target, term.strength, term.margin, np.nan)
                for fit in fits
                for parent, term in zip(fit.parents.tolist(), fit.terms, strict=True)
            ),
            table.names,
        )
        return self

    def _check_settings(self) -> None:
        check_number("SARTRE", "penalty", self.penalty, low=0.0, open_low=True)
        check_number("SARTRE", "n_trees", self.n_trees, low=1, integer=True)
        check_number("SARTRE", "max_leaves", self.max_leaves, low=2, integer=True)
        check_choice("SARTRE", "embedding", self.embedding, EMBEDDINGS)
        check_number("SARTRE", "tol", self.tol, low=0.0, open_low=True)

    def _fit_target(
        self, table: Table, target: int, parents: NDArray[np.intp], embedding: Embedding, shared: Design | None
    ) -> _Fit:
        """Fit one variable on its candidate parents (lines 7 to 12 of Algorithm 1)."""
        y = table.values[:, target]
        if len(parents) == 0:
            return _Fit(target, parents[:0], [], 0.0, converged=True)
        design, candidates = shared, parents
        if design is None:
            columns, names = table.values[:, parents], [table.names[j] for j in parents]
            design = prepare(columns, embedding.bases(columns, names, y, table.names[target]))
            candidates = np.arange(len(parents))
        solution = solve(design, y, candidates, self.penalty, tol=self.tol)
        kept = parents[solution.selected]
        return _Fit(target, kept, terms(design, y, solution), solution.gap, solution.converged)

    @staticmethod
    def _warn_unless_converged(fits: list[_Fit], names: Sequence[str]) -> None:
        for fit in fits:
            if not fit.converged:
                warnings.warn(
                    f"The group lasso of target '{names[fit.target]}' stopped at a duality gap of {fit.gap:.2g}. "
                    "Raise 'tol', or 'penalty'.",
                    ConvergenceWarning,
                    stacklevel=3,
                )

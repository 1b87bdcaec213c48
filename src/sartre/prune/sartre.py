"""SARTRE-pruning, Algorithm 1 of the paper: a sparse additive model of every variable on its predecessors."""

from __future__ import annotations

import logging
import warnings
from functools import partial
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np
import pandas as pd
from joblib import Parallel, delayed
from sklearn.base import BaseEstimator
from sklearn.exceptions import ConvergenceWarning
from threadpoolctl import threadpool_limits

from sartre.additive.design import prepare
from sartre.additive.group_lasso import TOL, solve, terms
from sartre.additive.interactions import rank_polynomials
from sartre.additive.selection import expected_false, prepare_selection, select
from sartre.additive.splines import spline
from sartre.additive.trees import EMBEDDINGS, Embedding
from sartre.prune._edges import edge_table
from sartre.validation import Table, as_table, check_candidates, check_choice, check_number, check_order, seed_of

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from numpy.typing import NDArray

    from sartre.additive.design import Design
    from sartre.additive.selection import Prepared
    from sartre.validation import RandomState

logger = logging.getLogger(__name__)
LEVEL = 0.01
N_SPLINES = 10


class _Fit(NamedTuple):
    """One target's model: its kept parents and what is known of each, pairs among them, and how the solver ended."""

    target: int
    parents: NDArray[np.intp]
    strength: Sequence[float] | NDArray[np.float64] = ()
    margin: Sequence[float] | NDArray[np.float64] = ()
    p_value: Sequence[float] | NDArray[np.float64] = ()
    pairs: Sequence[tuple[int, int, float]] = ()
    gap: float = 0.0
    converged: bool = True


class SARTRE(BaseEstimator):
    """Prune a fully connected order to the edges that a sparse additive model needs.

    Every variable becomes indicators of intervals (the leaves of small random trees), once. Each variable
    x_i is then regressed on its predecessors by the group lasso, and a predecessor whose group is zero is no parent:

        min  1/(2n) | x_i - sum_j Phi_j b_j |^2 + penalty * sum_j |b_j|_2

    A penalty given as a number is in the unit of the target (as in the paper): standardise columns whose units are
    arbitrary. ``penalty="auto"`` needs no unit and no tuning: each group is penalised by what chance would give it, the
    short list that results is fitted again by smooth functions, pairs of variables that act together are
    searched in the residual, and everything is tested before it stays.

    Parameters
    ----------
    penalty : float or "auto"
        The paper's lambda, or chosen by the data.
    level : float, optional
        With ``penalty="auto"``, the one knob: how many false parents each target may be expected to have where nothing
        has an effect, and as many again through pairs. 0.01 by default; more keeps more edges.
    interactions : bool, optional
        With ``penalty="auto"``, whether pairs are searched; True by default.
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
        parent taken out, over the penalty: 1 is the edge of being pruned; NaN for a parent found through a pair),
        ``p_value`` (NaN with a penalty given as a number: a lasso does not test). The p-values are those of the
        final model and do not account for the search that led to it; `level` does.
    interactions_ : DataFrame
        With ``penalty="auto"``: the pairs that act together, ``first``, ``second``, ``target`` and ``p_value``.
    false_edges_bound_ : float
        With ``penalty="auto"``: the expected number of false edges, were no column to depend on another.

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
        penalty: float | str = 0.1,
        *,
        level: float | None = None,
        interactions: bool | None = None,
        n_trees: int = 5,
        max_leaves: int = 8,
        embedding: str = "random",
        tol: float = TOL,
        n_jobs: int | None = None,
        random_state: RandomState = None,
    ) -> None:
        self.penalty = penalty
        self.level = level
        self.interactions = interactions
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
            Edges that may stay, [parent, child], as far as the order allows them; all that it allows by default.
        """
        self._check_settings()
        table = as_table(X, min_rows=2)
        positions = check_order(order, table.names)
        allowed = check_candidates(candidates, positions, table.names)
        allowed[:, table.constant] = False
        fit_target = self._target_fitter(table)
        jobs = (
            delayed(fit_target)(target, positions[:k][allowed[positions[:k], target]])
            for k, target in enumerate(positions.tolist())
        )
        fits = []
        with threadpool_limits(1, user_api="blas"):  # the parallelism is over targets
            for fit in Parallel(n_jobs=self.n_jobs, require="sharedmem", return_as="generator")(jobs):
                fits.append(fit)
                logger.info("prune: %d of %d targets fitted", len(fits), len(positions))
        self._warn_unless_converged(fits, table.names)
        if self.penalty == "auto":
            expected = expected_false(self._level(), pairs=self.interactions is not False)
            self.false_edges_bound_ = float(allowed.any(axis=0).sum() * expected)
            pairs = [(table.names[a], table.names[b], table.names[f.target], p) for f in fits for a, b, p in f.pairs]
            self.interactions_ = pd.DataFrame(pairs, columns=["first", "second", "target", "p_value"])
        return self._keep(fits, table.names)

    def _keep(self, fits: list[_Fit], names: Sequence[str]) -> SARTRE:
        self.adjacency_matrix_ = np.zeros((len(names), len(names)), dtype=np.uint8)
        edges = []
        for fit in fits:
            self.adjacency_matrix_[fit.parents, fit.target] = 1
            numbers = zip(fit.parents.tolist(), fit.strength, fit.margin, fit.p_value, strict=True)
            edges += [(parent, fit.target, *known) for parent, *known in numbers]
        self.edges_ = edge_table(edges, names)
        return self

    def _check_settings(self) -> None:
        automatic = isinstance(self.penalty, str) and self.penalty == "auto"
        if not automatic:
            check_number("SARTRE", "penalty", self.penalty, low=0.0, open_low=True)
            for name in ("level", "interactions"):
                if getattr(self, name) is not None:
                    raise ValueError(
                        f"The '{name}' parameter of SARTRE goes with penalty='auto'. Got penalty={self.penalty!r}."
                    )
        elif self.embedding != "random":
            raise ValueError(f"penalty='auto' goes with embedding='random'. Got embedding={self.embedding!r}.")
        check_number("SARTRE", "level", self._level(), low=0.0, high=1.0, open_low=True)
        check_number("SARTRE", "n_trees", self.n_trees, low=1, integer=True)
        check_number("SARTRE", "max_leaves", self.max_leaves, low=2, integer=True)
        check_choice("SARTRE", "embedding", self.embedding, EMBEDDINGS)
        check_number("SARTRE", "tol", self.tol, low=0.0, open_low=True)

    def _level(self) -> float:
        return LEVEL if self.level is None else self.level

    def _target_fitter(self, table: Table) -> Callable[[int, NDArray[np.intp]], _Fit]:
        """Prepare what all targets share, and return a function that fits one target on its candidate parents."""
        embedding = Embedding(self.embedding, self.n_trees, self.max_leaves, seed_of("SARTRE", self.random_state))
        if embedding.supervised:
            return partial(self._fit_supervised, table, embedding)
        shared = prepare(table.values, embedding.bases(table.values, table.names))
        if self.penalty != "auto":
            return partial(self._fit_lasso, table, shared)
        smooths = prepare(table.values, [spline(column, N_SPLINES).basis() for column in table.values.T])
        polynomials = None if self.interactions is False else rank_polynomials(table.values)
        return partial(self._fit_automatic, prepare_selection(table.values, shared, smooths, polynomials))

    def _fit_lasso(self, table: Table, design: Design, target: int, parents: NDArray[np.intp]) -> _Fit:
        """Fit one variable on its candidate parents (lines 7 to 12 of Algorithm 1)."""
        return self._solved(design, table.values[:, target], target, parents, parents)

    def _fit_supervised(self, table: Table, embedding: Embedding, target: int, parents: NDArray[np.intp]) -> _Fit:
        """Fit one variable over intervals that were made for it."""
        columns, y = table.values[:, parents], table.values[:, target]
        names = [table.names[j] for j in parents]
        design = prepare(columns, embedding.bases(columns, names, y, table.names[target]))
        return self._solved(design, y, target, parents, np.arange(len(parents)))

    def _solved(
        self,
        design: Design,
        y: NDArray[np.float64],
        target: int,
        parents: NDArray[np.intp],
        candidates: NDArray[np.intp],
    ) -> _Fit:
        if len(parents) == 0:
            return _Fit(target, parents)
        solution = solve(design, y, candidates, float(self.penalty), tol=self.tol)
        found = terms(design, y, solution)
        return _Fit(
            target,
            parents[solution.selected],
            strength=[term.strength for term in found],
            margin=[term.margin for term in found],
            p_value=[np.nan] * len(found),
            gap=solution.gap,
            converged=solution.converged,
        )

    def _fit_automatic(self, prepared: Prepared, target: int, parents: NDArray[np.intp]) -> _Fit:
        """Choose the parents of one variable: screened by the lasso, then tested, pairs included."""
        usable = parents[prepared.smooths.rank[parents] > 0]
        if len(usable) == 0:
            return _Fit(target, usable)
        chosen = select(prepared, target, usable, self._level(), self.tol)
        return _Fit(
            target,
            chosen.variables,
            chosen.strength,
            chosen.margin,
            chosen.p_value,
            chosen.pairs,
            chosen.gap,
            chosen.converged,
        )

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

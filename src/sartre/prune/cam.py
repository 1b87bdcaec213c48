"""CAM-pruning (Buehlmann, Peters and Ernest, 2014): an additive model of every variable, and a test of every term."""

from __future__ import annotations

import logging
import warnings
from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np
from numpy.typing import NDArray
from scipy.stats import false_discovery_control
from sklearn.base import BaseEstimator
from sklearn.exceptions import ConvergenceWarning

from sartre.additive.bases.splines import smooth_bases
from sartre.additive.capacity import SMALLEST_BASIS, basis_size, first_of_copies, strongest
from sartre.additive.design import prepare
from sartre.additive.gram import gram_of_design
from sartre.additive.smoothing import SmoothFit, fit_smooths
from sartre.compute.parallel import blas_threads, spread
from sartre.data.checks import as_table
from sartre.data.table import Table, standardise
from sartre.knowledge.masks import OrderedEdges, check_edges
from sartre.prune.edges import edge_table
from sartre.prune.strength import losses_without
from sartre.settings import check_choice, check_jobs_and_seed, check_number, listed
from sartre.steps import Cost, StepTags, fit_within, fresh

if TYPE_CHECKING:
    from sartre.additive.gram import Gram

logger = logging.getLogger(__name__)
ADJUSTMENTS = ("holm", "bh")


class _TargetTask(NamedTuple):
    """A target, its candidate parents (columns of the table, required ones first) and the basis size of its model.

    complete: whether the target has no missing values.
    """

    target: int
    parents: NDArray[np.intp]
    required: NDArray[np.bool_]
    size: int
    complete: bool


class _TestedTarget(NamedTuple):
    """A fitted target (or one of its indicators): the tested parents, the parents that are copies, and the model."""

    target: int
    tested: NDArray[np.intp]
    copies: NDArray[np.intp]
    model: SmoothFit


class CAMPruning(BaseEstimator):
    """Keep an edge if the parent's smooth term is significant in the additive model of the child.

    Each variable is regressed on a sum of smooth functions of its candidate parents: natural cubic splines with a
    curvature penalty whose weights are chosen by REML. A term is tested by Wood's (2013) test for smooth components,
    and its edge is kept if p < alpha. The result does not depend on the units and offsets of the columns.

    A categorical parent enters as unpenalised indicators of its levels. A categorical target is replaced by the
    indicators of its k common levels (by 0 and 1 if it has two), and an edge has k times the smallest of its k
    p-values.

    Parameters
    ----------
    alpha : float
        Level of the tests.
    n_splines : int
        Basis functions per term. With fewer than 30 samples per candidate, ceil(n / (3 candidates)) are used, but at
        least 3. With more than n / 4 candidates, only the n / 4 that explain most of the target on their own are
        tested, and their p-values are too small, because the same samples selected them. Both cases raise a warning.
    adjust : None, "holm" or "bh"
        Correction of the p-values over all tests: Holm's (no false edge with probability at least 1 - alpha) or
        Benjamini and Hochberg's (an expected share of false edges of at most alpha).
    n_jobs : int, optional
        Threads over the targets, or jobs of the active joblib backend; the graph does not depend on their number.

    Attributes
    ----------
    adjacency_matrix_ : uint8 array of shape (d, d)
        1 where row is a parent of column.
    p_values_ : array of shape (d, d)
        [parent, child], after `adjust`; NaN for pairs that are not candidates or were not tested. A (possibly shifted
        or scaled) copy of an earlier candidate adds nothing and has 1. The p-values of required edges decide nothing,
        so they are not adjusted and do not count as tests in `adjust`.
    screened_ : boolean array of shape (d, d)
        Candidates that were not tested because there were too many for the samples; they count as tests in `adjust`.
    edges_ : DataFrame
        The kept edges, strongest first: ``source``, ``target``, ``strength`` (share of the target's variance that is
        lost without the parent, the other kept parents fitted again and chance not counted: between 0 and 1),
        ``margin`` (always NaN, as there is no lasso) and ``p_value``. A required edge of a constant column has NaN for
        all of them, that of a copy has NaN for ``strength``.
    n_splines_ : int array of shape (d,)
        Basis size used for each target; 0 if there was nothing to fit.

    References
    ----------
    Buehlmann, Peters and Ernest, "CAM: causal additive models, high-dimensional order search and penalized
    regression", Annals of Statistics 42, 2014. Wood, "On p-values for smooth components of an extended generalized
    additive model", Biometrika 100, 2013.

    Examples
    --------
    >>> rng = np.random.default_rng(0)
    >>> x0, x1 = rng.normal(size=(2, 500))
    >>> x2 = np.sin(2 * x0) + rng.normal(size=500) / 2
    >>> pruner = CAMPruning().fit(np.column_stack([x0, x1, x2]), order=[0, 1, 2])
    >>> pruner.edges_[["source", "target"]].to_numpy().tolist()
    [['x0', 'x2']]
    >>> bool(pruner.p_values_[1, 2] > 0.001)
    True
    """

    step_tags = StepTags(costs=(Cost("CAMPruning"),))

    def __init__(
        self,
        alpha: float = 0.001,
        *,
        n_splines: int = 10,
        adjust: str | None = None,
        n_jobs: int | None = None,
    ) -> None:
        self.alpha = alpha
        self.n_splines = n_splines
        self.adjust = adjust
        self.n_jobs = n_jobs

    def fit(self, X: Any, order: Sequence[Any], candidates: Any = None, required: Any = None) -> CAMPruning:
        """Prune the fully connected graph of an order; the arguments are those of `sartre.prune.SARTRE.fit`."""
        self._check_settings()
        table = as_table(X, min_rows=10, categories=True, missing=isinstance(X, Table))
        edges = check_edges(order, candidates, required, table.names)
        tasks = self._tasks(table, edges)
        fits = []
        for fit in self._fits(table, tasks):
            fits.append(fit)
            logger.info("prune: %d of %d targets fitted", len({fit.target for fit in fits}), len(tasks))
        self._record(tasks, fits, table.shape[1])
        self._warn(fits, table.names)
        return self._keep(fits, edges.required, table)

    def _check_settings(self) -> None:
        check_jobs_and_seed(self)
        check_number("CAMPruning", "alpha", self.alpha, low=0.0, high=1.0, open_low=True)
        check_number("CAMPruning", "n_splines", self.n_splines, low=SMALLEST_BASIS, integer=True)
        if self.adjust is not None:
            check_choice("CAMPruning", "adjust", self.adjust, ADJUSTMENTS)

    def _tasks(self, table: Table, edges: OrderedEdges) -> list[_TargetTask]:
        constant, silent, missing = table.constant, table.silent, table.missing
        tasks = []
        for target, candidates, required in edges.targets():
            parents = candidates[~silent[candidates]]
            if not constant[target] and len(parents):
                parents = parents[np.argsort(~np.isin(parents, required), kind="stable")]
                absent = int(missing[:, target].sum())
                size = basis_size(table.shape[0] - absent, len(parents), self.n_splines)
                tasks.append(_TargetTask(target, parents, np.isin(parents, required), size, absent == 0))
        return tasks

    def _fits(self, table: Table, tasks: list[_TargetTask]) -> Iterator[_TestedTarget]:
        """Fit all targets; those with the same basis size and no missing values share one Gram matrix."""
        together = [
            [task for task in tasks if task.complete and task.size == size]
            for size in sorted({task.size for task in tasks if task.complete})
        ]
        with blas_threads(1):  # also while the Gram matrices are computed
            for group in [*together, *([task] for task in tasks if not task.complete)]:
                rows = np.flatnonzero(~np.isnan(table.values[:, group[0].target]))
                yield from self._fits_together(table if group[0].complete else table.take(rows), group)

    def _fits_together(self, table: Table, tasks: list[_TargetTask]) -> Iterator[_TestedTarget]:
        columns = np.unique(np.concatenate([task.parents for task in tasks]))
        parents = table.select(columns)
        responses = [(task, y) for task in tasks for y in table.responses(task.target)]
        design = prepare(parents.values, smooth_bases(parents.values, tasks[0].size, parents.nominal))
        gram = gram_of_design(design, np.column_stack([standardise(y) for _, y in responses]))
        jobs = [(t, task, columns) for t, (task, _) in enumerate(responses)]
        return (fit for _, fit in spread(_fit_target, gram, jobs, self.n_jobs))

    def _record(self, tasks: list[_TargetTask], fits: list[_TestedTarget], n_columns: int) -> None:
        """Record the basis sizes and the candidates that were not tested."""
        self.n_splines_ = np.zeros(n_columns, dtype=np.intp)
        self.screened_ = np.zeros((n_columns, n_columns), dtype=bool)
        for task in tasks:
            self.n_splines_[task.target] = task.size
            self.screened_[task.parents, task.target] = True
        for fit in fits:
            self.screened_[np.append(fit.tested, fit.copies), fit.target] = False

    def _warn(self, fits: list[_TestedTarget], names: Sequence[str]) -> None:
        smaller = [size for size in self.n_splines_ if 0 < size < self.n_splines]
        if smaller:
            warnings.warn(
                f"There are few samples per candidate for {len(smaller)} targets: their terms have {min(smaller)} to "
                f"{max(smaller)} splines instead of {self.n_splines}, so that strongly nonlinear effects may be "
                "missed. Use more samples, or restrict the candidates.",
                UserWarning,
                stacklevel=3,
            )
        if self.screened_.any():
            targets = np.flatnonzero(self.screened_.any(axis=0))
            warnings.warn(
                f"There are too many candidates for the samples of {len(targets)} targets (for example "
                f"'{names[targets[0]]}'): {self.screened_.sum()} that explain little on their own were not tested and "
                "have no edge, and the p-values of the others are too small. Use more samples, or restrict the "
                "candidates.",
                UserWarning,
                stacklevel=3,
            )
        lost = [f"'{names[target]}'" for target in sorted({fit.target for fit in fits if not fit.model.converged})]
        if lost:
            warnings.warn(
                f"The smoothing parameters of the models of {listed(lost)} did not converge, so their p-values are "
                "approximate. Check these columns for a near-perfect fit.",
                ConvergenceWarning,
                stacklevel=3,
            )

    def _keep(self, fits: list[_TestedTarget], required: NDArray[np.bool_], table: Table) -> CAMPruning:
        d = len(table.names)
        raw = np.full((d, d), np.nan)
        responses = np.bincount([fit.target for fit in fits], minlength=d)
        for fit in fits:
            corrected = np.minimum(1.0, responses[fit.target] * fit.model.p_value)
            raw[fit.copies, fit.target] = np.fmin(raw[fit.copies, fit.target], 1.0)
            raw[fit.tested, fit.target] = np.fmin(raw[fit.tested, fit.target], corrected)
        raw[self.screened_] = 1.0
        self.p_values_ = np.where(required, raw, adjusted(np.where(required, np.nan, raw), self.adjust))
        self.p_values_[self.screened_] = np.nan
        self.adjacency_matrix_ = (required | (self.p_values_ < self.alpha)).astype(np.uint8)
        strength = self._strength(fits, table)
        kept = np.argwhere(self.adjacency_matrix_).tolist()
        self.edges_ = edge_table(
            ((parent, child, strength[parent, child], np.nan, self.p_values_[parent, child]) for parent, child in kept),
            table.names,
        )
        return self

    def _strength(self, fits: list[_TestedTarget], table: Table) -> NDArray[np.float64]:
        """Return what is lost without each parent that is kept, (d, d); NaN for copies and constants, and elsewhere."""
        strength = np.full(self.adjacency_matrix_.shape, np.nan)
        for target in sorted({fit.target for fit in fits}):
            tested = np.unique(np.concatenate([fit.tested for fit in fits if fit.target == target]))
            parents = tested[self.adjacency_matrix_[tested, target] > 0]
            strength[parents, target] = losses_without(table, target, parents)
        return strength


def adjusted(p_values: NDArray[np.float64], method: str | None) -> NDArray[np.float64]:
    """Adjust p-values for multiple testing by Holm's or Benjamini and Hochberg's method; NaN stays NaN.

    Examples
    --------
    >>> adjusted(np.array([0.01, np.nan, 0.04]), "holm")
    array([0.02,  nan, 0.04])
    """
    result = p_values.copy()
    tested = ~np.isnan(p_values)
    values = p_values[tested]
    if method is None or len(values) == 0:
        return result
    if method == "bh":
        result[tested] = false_discovery_control(values)
        return result
    order = np.argsort(values)
    steps = np.maximum.accumulate(values[order] * np.arange(len(values), 0, -1))
    values[order] = np.minimum(steps, 1.0)
    result[tested] = values
    return result


def _fit_target(gram: Gram, t: int, task: _TargetTask, columns: NDArray[np.intp]) -> _TestedTarget:
    variables = np.searchsorted(columns, task.parents)
    original = gram.rank[variables] > 0  # the rank is also 0 if no value is observed where the target is
    original[original] = first_of_copies(gram, variables[original])
    kept = strongest(gram, t, variables[original], task.required[original])
    tested = task.parents[original][kept]
    return _TestedTarget(task.target, tested, task.parents[~original], fit_smooths(gram, t, variables[original][kept]))


def prune_candidates(step: Any, table: Table, edges: OrderedEdges) -> Any:
    """Fit the pruner that decides on the candidates of a step: its `prune`, or `CAMPruning` if that is None."""
    pruner = fresh(CAMPruning() if step.prune is None else step.prune, n_jobs=step.n_jobs)
    required = edges.required if edges.required.any() else None
    return fit_within(pruner, table, edges.order, candidates=step.candidates_, required=required)

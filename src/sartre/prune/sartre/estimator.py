"""SARTRE-pruning, Algorithm 1 of the paper: a sparse additive model of every variable on its predecessors."""

from __future__ import annotations

import logging
import warnings
from collections.abc import Iterable, Sequence
from functools import partial
from typing import TYPE_CHECKING, Any

import numpy as np
import pandas as pd
from sklearn.base import BaseEstimator, clone
from sklearn.exceptions import ConvergenceWarning

from sartre.additive.bases.trees import embedding_of
from sartre.additive.lasso import GAP_TOL
from sartre.compute.devices import DEVICES, check_device
from sartre.compute.parallel import spread
from sartre.data.checks import as_table
from sartre.data.row_dependence import dependence_between_rows, warn_about_dependent_rows
from sartre.data.row_source import Survey, survey, survey_of_table
from sartre.data.table import Table
from sartre.knowledge.masks import check_edges
from sartre.prune.edges import edge_table
from sartre.prune.sartre.constants import (
    ALL_ROWS,
    BRIEF_ROWS,
    FEWEST_JOINT_ROWS,
    LEVEL,
    LEVELS,
    MOST_COLUMNS,
    MOST_REPEATS,
    PENALTIES,
    SCREENING_GAP,
)
from sartre.prune.sartre.environments import effects_table, split, with_environments, with_indicators
from sartre.prune.sartre.joint import BRIEF, LOOK_ONLY, THOROUGH, JointEffort, affordable, seconds_of_all
from sartre.prune.sartre.large import SummedPruning
from sartre.prune.sartre.paper import PaperPruning
from sartre.prune.sartre.prepared import Prepared, Target, sizes_of, targets_of
from sartre.prune.sartre.select import (
    AutomaticPruning,
    expected_false,
    warn_about_near_copies,
    warn_about_repeats,
    without_repeats,
)
from sartre.settings import check_choice, check_jobs_and_seed, check_number, sample_seed, seed_of
from sartre.steps import Cost, StepTags, with_defaults

if TYPE_CHECKING:
    from sartre.additive.bases.trees import Embedding
    from sartre.knowledge.masks import OrderedEdges
    from sartre.prune.edges import TargetFit
    from sartre.settings import RandomState

logger = logging.getLogger(__name__)


class SARTRE(BaseEstimator):
    """Prune a fully connected order to the edges that a sparse additive model needs.

    Each variable x_i is regressed on functions Phi_j of its predecessors by the group lasso, and a predecessor whose
    group is zero is not a parent:

        min  1/(2n) | x_i - sum_j Phi_j b_j |^2 + penalty * sum_j |b_j|_2

    With ``penalty="auto"`` nothing needs a unit or tuning. The functions are smooth, and each group is penalised by
    what chance would give it. The short list that results is fitted again without shrinkage, pairs of variables that
    act together are searched for in the residual, and every term is tested before it stays. The graph does not depend
    on names or units, nor on the order of columns and, up to 50,000 of them, of rows.

    With a penalty given as a number it is the paper's method: the functions are indicators of intervals, the leaves of
    small random trees. The number is in the unit of the target: standardise columns whose units are arbitrary.

    The functions of a category are the indicators of its levels. A category of three levels or more is regressed by
    the indicators of its k common levels, each at 1 / k of the level, or with the given penalty. Its parents are those
    of all its indicators, with k times the smallest p-value. With ``penalty="auto"`` rare levels, with fewer than
    10 or sqrt(n) of n samples, are merged first.

    Of more than 50,000 rows, in memory or not (`fit_batches`), functions are learnt from a sample of 50,000 that
    depends on the seed and the row numbers, and fitted to sums over all rows; where a target has pairs, needs robust
    tests, or is decided by a process (``joint``), the sample decides on all of its parents.
    With a penalty given as a number, whose graph more rows hardly change, only the sample is used. Tables with
    categories of three levels or more, or with missing values, are the exception: all rows are used for everything.
    Tables with environments are, too, unless 5,000 of a target's own rows show pairs, a need for robust tests, or a
    process that decides: then no others are used.

    Parameters
    ----------
    penalty : "auto" or float
        Chosen by the data, or the paper's lambda (0.1 there).
    level : float, optional
        The one knob of ``penalty="auto"``: how many false parents a target may be expected to have where nothing has
        an effect, and as many pairs of them again. It is shared out evenly: every edge that may stay is tested at the
        same level, 2 ``level`` / d in a full order of d variables. 0.01 by default; more keeps more edges.
    interactions : bool, optional
        With ``penalty="auto"``, whether pairs are searched; True by default.
    robust : "auto" or bool, optional
        With ``penalty="auto"``, whether tests are to hold for heavy tails and for noise whose variance is not the same
        everywhere: columns are replaced by normal scores of their ranks, and variances follow the samples (HC3).
        ``"auto"``, the default, does so for the targets whose residuals call for it.
    joint : "auto" or bool, optional
        With ``penalty="auto"``, whether Gaussian processes of all candidates look for parents that act jointly, five or
        seven at once, and for those that only stood for a misfit. With True they see 2,000 rows and 25 candidates per
        target at most, and take one second per target of a sparse graph, up to ten of a dense one. ``"auto"``, the
        default, is the same with 800 rows, for targets with at least one parent, and with a budget of 3 to 25 seconds
        per table (four times as much with environments), spent on the targets with most to gain; tables of more than 50
        columns are left alone. What was left out is in ``notes_``.
    device : "cpu" or "cuda"
        With ``penalty="auto"``, where Gaussian processes run; on a GPU they need PyTorch, the extra ``gpu``.
    embedding : Embedding, optional
        With a penalty given as a number, how variables become intervals: five completely random trees of at most eight
        leaves each by default.
    tol : float, optional
        Duality gap at which the group lasso stops, relative to the target's variance. 0.01 by default with
        ``penalty="auto"``, where it only makes a short list, and 1e-6 with a penalty given as a number.
    n_jobs : int, optional
        Threads over the targets, or jobs of the joblib backend that is switched on; the graph does not depend on it.
    random_state : int, Generator, RandomState or None
        Seed of the sample of more than 50,000 rows and, with a penalty given as a number, of the intervals: those of a
        column depend only on the seed and its name (``x0, x1, ...`` in an array).

    Attributes
    ----------
    adjacency_matrix_ : uint8 array of shape (d, d)
        1 where row is a parent of column.
    edges_ : DataFrame
        The kept edges, strongest first: ``source``, ``target``, ``strength`` (share of the target's variance
        that is lost without the parent and its pairs, the other parents fitted again and chance not counted: between 0
        and 1, and small for each of two parents that stand for each other; where the tests are robust, it is that of
        the normal scores), ``margin`` (norm of the gradient with the
        parent taken out, over the penalty: 1 is the edge of being pruned; NaN for a parent found through a pair),
        ``p_value`` (NaN with a penalty given as a number: a lasso does not test). The p-values are those of the
        final model's tests, those of a parent's terms combined; that the same data chose the model they do not
        know: they rank edges, and ``false_edges_bound_`` is the statement about errors.
    interactions_ : DataFrame
        With ``penalty="auto"``: the pairs that act together, ``first``, ``second``, ``target`` and ``p_value``. An
        edge that is in none of them acts on its own.
    joint_terms_ : DataFrame
        With ``penalty="auto"``: the targets on which a Gaussian process decided, ``target``, and the ``parents`` that
        act jointly in it, a list. Of these targets, ``strength`` is that of rows that are left out in turn,
        ``p_value`` that of the fall of the marginal likelihood with the other parents left as they are, and
        ``interactions_`` has no pairs.
    mechanisms_ : dict
        The processes, by target, that predict it better than an additive model does; report, diagnostics and ``scm_``
        use them.
    notes_ : list of str
        With ``penalty="auto"``: what the search for joint effects left out, and what it would cost, in a sentence.
    environment_effects_ : DataFrame
        Of a table with environments: which of them act directly on which variable, beyond what is known to be set in
        them, relative to the reference environment: ``environment``, ``variable``, ``strength``, ``p_value`` and
        ``changes``, the parent whose effect on the variable is another one in this environment, or "" for a shift.
    robust_targets_ : list of names
        With ``penalty="auto"``: the targets whose tests were robust.
    false_edges_bound_ : float
        With ``penalty="auto"``: the expected number of false edges, were no column to depend on another. It takes the
        tests for exact, which with under 100 samples and heavy tails they are not: twice as many have been seen. NaN if
        neighbouring rows are correlated, because nothing bounds the false edges then.
    rows_seen_ : dict
        How many rows each part saw: ``"additive"`` and, with ``penalty="auto"``, ``"interactions"``, ``"robust"`` and
        ``"joint"``.

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
        penalty: float | str = "auto",
        *,
        level: float | None = None,
        interactions: bool | None = None,
        robust: bool | str | None = None,
        joint: bool | str | None = None,
        device: str = "cpu",
        embedding: Embedding | None = None,
        tol: float | None = None,
        n_jobs: int | None = None,
        random_state: RandomState = None,
    ) -> None:
        self.penalty = penalty
        self.level = level
        self.interactions = interactions
        self.robust = robust
        self.joint = joint
        self.device = device
        self.embedding = embedding
        self.tol = tol
        self.n_jobs = n_jobs
        self.random_state = random_state

    def fit(self, X: Any, order: Sequence[Any], candidates: Any = None, required: Any = None) -> SARTRE:
        """Prune the fully connected graph of an order.

        Parameters
        ----------
        X : array of shape (n, d), data frame, or what `sartre.data.row_source.survey` gives
        order : sequence of d column indices or names
            Causes before effects.
        candidates : boolean array of shape (d, d), optional
            Edges that may stay, [parent, child], as far as the order allows them; all that it allows by default.
        required : boolean array of shape (d, d), optional
            Edges that stay whatever the data says. They are not penalised, and their numbers are reported as measured.
        """
        self._check_settings()
        data = self._read(X)
        if not self._automatic() and data.sample.design is not None and data.sample.design.groups is not None:
            raise ValueError(
                "Groups need tests, which a penalty given as a number does not make. Use SARTRE(), with penalty='auto'."
            )
        if data is not X:
            warn_about_dependent_rows(data.sample, stacklevel=2)
        edges = check_edges(order, candidates, required, data.sample.names)
        value = self._level() if self._automatic() else self.penalty
        tested, fits = self._fits(data, edges, [float(value)])
        return self._keep(tested, edges, [fit for (fit,) in fits])

    def fit_batches(self, source: Any, order: Sequence[Any], candidates: Any = None, required: Any = None) -> SARTRE:
        """Prune from rows that are read batch by batch, in two passes; the graph is that of `fit` on the same rows.

        Parameters
        ----------
        source : path of a Parquet file or folder, Arrow data, list of tables, function, or Dask data frame
            As in `sartre.data.batches.Batches`; the partitions of a Dask data frame are counted where they are.
            Columns of numbers, none missing.
        order, candidates, required : as in `fit`

        Examples
        --------
        >>> rng = np.random.default_rng(0)
        >>> x0, x1 = rng.normal(size=(2, 600))
        >>> X = np.column_stack([x0, x0**2 + x1])
        >>> pruner = SARTRE(random_state=0).fit_batches([X[:200], X[200:]], order=[0, 1])
        >>> pruner.edges_[["source", "target"]].to_numpy().tolist(), pruner.rows_seen_["additive"]
        ([['x0', 'x1']], 600)
        """
        self._check_settings()
        found = survey(source, sample_seed("SARTRE", self.random_state))
        return self.fit(found.whole() or found, order, candidates, required)

    def path(
        self,
        X: Any,
        order: Sequence[Any],
        values: Sequence[float] | None = None,
        candidates: Any = None,
        required: Any = None,
    ) -> pd.DataFrame:
        """Return the edges as a function of the level or, with a penalty given as a number, of the penalty.

        Parameters
        ----------
        X, order, candidates, required : as in `fit`
        values : sequence of floats, optional
            Levels (1e-6 to 0.3 by default) or penalties (0.3 to 0.05).

        Returns
        -------
        DataFrame
            One row per edge and value, few edges first: ``level`` or ``penalty``, then the columns of ``edges_``.

        Examples
        --------
        >>> rng = np.random.default_rng(0)
        >>> x0 = rng.normal(size=300)
        >>> x1 = x0 + 8 * rng.normal(size=300)
        >>> path = SARTRE(random_state=0).path(np.column_stack([x0, x1]), [0, 1], values=[1e-6, 0.2])
        >>> path[["level", "source", "target"]].to_numpy().tolist()
        [[0.2, 'x0', 'x1']]
        """
        self._check_settings()
        name, default = ("level", LEVELS) if self._automatic() else ("penalty", PENALTIES)
        values = default if values is None else list(values) if isinstance(values, Iterable) else [values]
        if len(values) == 0:
            raise ValueError("A path needs at least one value. Got none.")
        for value in values:
            check_number("SARTRE.path", name, value, low=0.0, high=np.inf if name == "penalty" else 1.0, open_low=True)
        values = sorted(values, reverse=name == "penalty")
        data = self._read(X)
        table, fits = self._fits(data, check_edges(order, candidates, required, data.sample.names), values)
        d = data.sample.shape[1]
        rows = [[row for fit in fits for row in split(fit[k], d)[0].rows()] for k in range(len(values))]
        frames = [edge_table(found, table.names) for found in rows]
        for frame, value in zip(frames, values, strict=True):
            frame.insert(0, name, value)
        return pd.concat(frames, ignore_index=True)

    @property
    def step_tags(self) -> StepTags:
        """What this step is."""
        if not self._automatic():
            return StepTags(
                needs_units=True, takes_row_source=True, takes_experiments=True, costs=(Cost("SARTRE penalty"),)
            )
        costs = [Cost("SARTRE")]
        if self._joint() == "auto":
            costs.append(Cost("SARTRE joint auto", BRIEF_ROWS, max_columns=MOST_COLUMNS))
        elif self._joint():
            costs.append(Cost("SARTRE joint", ALL_ROWS))
        known = tuple(costs) if self.device == "cpu" or self._joint() is False else None  # not measured on a GPU
        return StepTags(
            takes_row_source=True, takes_experiments=True, runs_on_gpu=True, costs=known, counting_cost="counting"
        )

    def __setstate__(self, state: dict[str, Any]) -> None:
        super().__setstate__(with_defaults(type(self), state))

    def for_resamples(self) -> SARTRE:
        """Return a copy for many resamples, without the search for joint effects unless it was asked for."""
        copy: Any = clone(self)
        return copy.set_params(joint=False) if self._automatic() and self._joint() == "auto" else copy

    def _read(self, X: Any) -> Table | Survey:
        """Return a table or, of one with many rows, its survey."""
        if isinstance(X, Survey):
            return X
        table = as_table(X, min_rows=2, categories=True, missing=isinstance(X, Table))
        return survey_of_table(table, sample_seed("SARTRE", self.random_state)) if table.is_long else table

    def _fits(
        self, data: Table | Survey, edges: OrderedEdges, values: Sequence[float]
    ) -> tuple[Table, list[list[TargetFit]]]:
        """Return the rows that were used, and each target's results, one per value."""
        targets = with_environments(data.sample, list(targets_of(data.sample, edges)))
        if self._automatic():  # every edge is tested at one level, so that the targets have the given one in the mean
            sizes = sizes_of(data.sample, edges)[:, 0]
            values = [value * np.count_nonzero(sizes) / max(int(sizes.sum()), 1) for value in values]
        prepared = (
            self._summed(data, values) if isinstance(data, Survey) else self._prepared(with_indicators(data), values)
        )
        table, self.rows_seen_, self.notes_ = prepared.table, prepared.rows_seen, []
        fits = self._fitted(prepared, targets, "targets fitted")
        if self._automatic() and self._joint() == "auto":
            fits = self._decided(prepared, targets, fits)
        self._warn_unless_converged([fit[-1] for fit in fits], table.names)
        return table, fits

    def _fitted(self, prepared: Prepared, targets: Sequence[tuple[Any, ...]], what: str) -> list[list[TargetFit]]:
        """Fit some targets: the arguments of `Prepared.fit`."""
        done: dict[int, list[TargetFit]] = {}
        for k, fit in spread(Prepared.fit, prepared, targets, self.n_jobs):
            done[k] = fit
            logger.info("prune: %d of %d %s", len(done), len(targets), what)
        return [done[k] for k in range(len(targets))]

    def _decided(
        self, prepared: Prepared, targets: Sequence[Target], fits: list[list[TargetFit]]
    ) -> list[list[TargetFit]]:
        """Let processes decide on the targets where they promise most, within the budget of a table."""
        n, d = len(prepared.table.values), _n_variables(prepared.table)
        sizes = [int((parents < d).sum()) for _, parents, _ in targets]
        promises = [max((fit.promise for fit in fitted), default=0.0) for fitted in fits]
        chosen = affordable(promises, sizes, prepared.most_evaluations)
        n_left = sum(promise > 0 for promise in promises) - len(chosen)
        seconds = float(f"{seconds_of_all(promises, sizes, n):.2g}")
        left_out = (
            f"are not looked for among more than {MOST_COLUMNS} columns"
            if d > MOST_COLUMNS
            else f"were not looked for in {n_left} of {d} targets that may have other parents"
        )
        if n_left or (d > MOST_COLUMNS and n >= FEWEST_JOINT_ROWS):
            self.notes_.append(
                f"Joint effects of many parents {left_out}. joint=True (--effort thorough) looks for all of them; it "
                f"would take {'at least' if d > MOST_COLUMNS else 'about'} {seconds:,.0f} s on one thread."
            )
        tasks = [(*targets[k], fits[k]) for k in chosen]
        again = self._fitted(prepared.with_effort(BRIEF), tasks, "joint effects tried")
        decided = dict(zip(chosen, again, strict=True))
        return [decided.get(k, fit) for k, fit in enumerate(fits)]

    def _prepared(self, table: Table, values: Sequence[float]) -> Prepared:
        """Prepare all targets of a table for some levels (or penalties, if these were given as numbers)."""
        if not self._automatic():
            seed, embedding = seed_of("SARTRE", self.random_state), embedding_of("SARTRE", self.embedding)
            method = partial(PaperPruning, embedding=embedding, seed=seed, penalties=values, tol=self._tol())
            return Prepared(method(table), table, {"additive": len(table.values)}, method)
        table = table.with_common_levels()
        warn_about_near_copies(table, stacklevel=4)
        kept = without_repeats(table)
        warn_about_repeats(table, kept, stacklevel=4)
        method = partial(AutomaticPruning, levels=values, tol=self._tol(), device=self.device, **self._kinds(table))
        return Prepared(method(kept), kept, self._rows_seen(kept), partial(method, many_targets=False))

    def _summed(self, survey: Survey, values: Sequence[float]) -> Prepared:
        """Prepare all targets from sums over the rows of a survey, and its sample."""
        sample, kinds = survey.sample, self._kinds(survey.sample)
        # More rows hardly change the graph of a given penalty, variances that follow the samples need the samples, and
        # sums over all rows would count copies of a row as evidence.
        n_repeats = len(sample.values) - len(without_repeats(sample).values)
        if not self._automatic() or kinds["robust"] is True or n_repeats > MOST_REPEATS * len(sample.values):
            return self._prepared(sample, values)
        warn_about_near_copies(sample, stacklevel=4)
        method = SummedPruning(survey, sample, values, self._tol(), self.n_jobs, device=self.device, **kinds)
        return Prepared(method, sample, {**self._rows_seen(sample), "additive": survey.n})

    def _rows_seen(self, table: Table) -> dict[str, int]:
        """Return how many rows of a table each part of the automatic method sees."""
        n, seen = len(table.values), dict[str, int]()
        for kind, wanted in self._kinds(table).items():
            if wanted and (kind != "joint" or n >= FEWEST_JOINT_ROWS):
                seen[kind] = min(n, wanted.all_rows) if isinstance(wanted, JointEffort) else n
        return {"additive": n, **seen}

    def _tol(self) -> float:
        if self.tol is not None:
            return self.tol
        return SCREENING_GAP if self._automatic() else GAP_TOL

    def _kinds(self, table: Table) -> dict[str, Any]:
        """Return what the automatic method looks for beyond additive effects.

        Where rows belong together, tests are robust, and processes, which take rows for independent, decide nothing.
        """
        has_groups = table.design is not None and table.design.groups is not None
        few = _n_variables(table) <= MOST_COLUMNS
        effort = THOROUGH if self._joint() is True else LOOK_ONLY if self._joint() == "auto" and few else None
        effort = None if has_groups else effort
        robust = "auto" if self.robust is None or self.robust == "auto" else bool(self.robust)
        robust = True if has_groups else robust
        return {
            "interactions": self.interactions is None or bool(self.interactions),
            "robust": robust,
            "joint": effort,
        }

    def _joint(self) -> bool | str:
        return "auto" if self.joint is None or self.joint == "auto" else bool(self.joint)

    def _keep(self, table: Table, edges: OrderedEdges, fits: list[TargetFit]) -> SARTRE:
        """Keep what was found as attributes."""
        d, names, design = len(edges.order), table.names, table.design
        pieces = [split(fit, d) for fit in fits]
        fits = [fit for fit, _ in pieces]
        environments = () if design is None else design.environments
        self.environment_effects_ = effects_table([e for _, found in pieces for e in found], names, environments)
        self.adjacency_matrix_ = np.zeros((d, d), dtype=np.uint8)
        for fit in fits:
            self.adjacency_matrix_[fit.parents, fit.target] = 1
        rows = [row for fit in fits for row in fit.rows()]
        if edges.demanded is not None:
            unmeasured = edges.demanded & (self.adjacency_matrix_ == 0)  # edges of a constant, or of a copy
            rows += [(a, b, np.nan, np.nan, np.nan) for a, b in np.argwhere(unmeasured).tolist()]
            self.adjacency_matrix_[edges.demanded] = 1
        self.edges_ = edge_table(rows, names)
        if self._automatic():
            (candidates, required), pairs = sizes_of(table, edges).T, self._kinds(table)["interactions"]
            expected = expected_false(self._level(), pairs=pairs, joint=self._joint() is True)
            holds = dependence_between_rows(table) is None
            self.false_edges_bound_ = expected * int((candidates > required).sum()) if holds else np.nan
            self.robust_targets_ = [names[fit.target] for fit in fits if fit.robust]
            self.interactions_ = pd.DataFrame(
                [(names[a], names[b], names[fit.target], p_value) for fit in fits for a, b, p_value in fit.pairs],
                columns=["first", "second", "target", "p_value"],
            )
            n_parents = self.adjacency_matrix_.sum(axis=0)  # with required ones that were not measured
            self.mechanisms_ = {
                names[fit.target]: fit.mechanism
                for fit in fits
                if fit.mechanism is not None and len(fit.parents) == n_parents[fit.target]
            }
            self.joint_terms_ = pd.DataFrame(
                [(names[fit.target], [names[j] for j in fit.joint]) for fit in fits if fit.by_process],
                columns=["target", "parents"],
            )
        return self

    def _automatic(self) -> bool:
        return isinstance(self.penalty, str) and self.penalty == "auto"

    def _level(self) -> float:
        return LEVEL if self.level is None else self.level

    def _check_settings(self) -> None:
        check_jobs_and_seed(self)
        check_choice("SARTRE", "device", self.device, DEVICES)
        if self._automatic() and self._joint() is not False:  # nothing else runs there
            check_device("SARTRE", self.device)
        if not self._automatic():
            embedding_of("SARTRE", self.embedding)
            check_number("SARTRE", "penalty", self.penalty, low=0.0, open_low=True)
        elsewhere = ("embedding",) if self._automatic() else ("level", "interactions", "robust", "joint")
        for name in elsewhere:
            if getattr(self, name) is not None:
                needed = "a penalty given as a number" if self._automatic() else "penalty='auto'"
                raise ValueError(
                    f"The '{name}' parameter of SARTRE requires {needed}. Got penalty={self.penalty!r} instead. "
                    f"Leave '{name}' out, or change the penalty."
                )
        if not (self.interactions is None or isinstance(self.interactions, (bool, np.bool_))):
            raise TypeError(
                f"The 'interactions' parameter of SARTRE must be a bool. Got {self.interactions!r} instead."
            )
        for name in ("robust", "joint"):
            value = getattr(self, name)
            if not (value is None or isinstance(value, (bool, np.bool_)) or value == "auto"):
                raise ValueError(
                    f"The '{name}' parameter of SARTRE must be True, False or 'auto'. Got {value!r} instead."
                )
        check_number("SARTRE", "level", self._level(), low=0.0, high=1.0, open_low=True)
        check_number("SARTRE", "tol", self._tol(), low=0.0, open_low=True)

    @staticmethod
    def _warn_unless_converged(fits: list[TargetFit], names: Sequence[str]) -> None:
        for fit in fits:
            if not fit.converged:
                warnings.warn(
                    f"The group lasso of target '{names[fit.target]}' did not converge: it stopped at a duality gap of "
                    f"{fit.gap:.2g}, so its edges are approximate. Raise 'tol' or 'penalty'.",
                    ConvergenceWarning,
                    stacklevel=4,
                )


def _n_variables(table: Table) -> int:
    """Return the number of columns that are variables, not indicators of environments."""
    return table.shape[1] if table.design is None else int((~table.design.is_indicator).sum())

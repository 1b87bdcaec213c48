"""How the parents of one target are chosen, with an automatic penalty: the steps, from top to bottom.

A loose lasso over smooth functions makes a short list (`screen.py`), which is fitted again without shrinkage and pruned
by tests (`backward.py`). Pairs that act together are added while the best one explains more of the residual than chance
would (`pairs.py`), and everything is tested once more. Where the residual calls for it (`robust.py`), all of this is
repeated with robust tests, on normal scores of the columns' ranks. Last, if wanted, a Gaussian process of all
candidates looks for what acts jointly (`joint.py`).
"""

from __future__ import annotations

import warnings
from collections.abc import Sequence
from dataclasses import replace
from functools import cached_property
from threading import Lock
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from sartre.additive.bases.rank_polynomials import pair_basis
from sartre.additive.bases.splines import smooth_bases
from sartre.additive.design import prepare
from sartre.compute.devices import check_device
from sartre.data.checks import near_copies
from sartre.data.row_sample import drawn_rows
from sartre.data.table import normal_scores, standardise
from sartre.prune.edges import TargetFit, united
from sartre.prune.sartre.backward import Elimination
from sartre.prune.sartre.constants import CHECKED_ROWS, FEWEST_JOINT_ROWS, FEWEST_VALUES, FILLED, N_SPLINES, NEARLY_ALL
from sartre.prune.sartre.joint import JointSearch, better_process
from sartre.prune.sartre.pairs import PairSearch, found_pairs, grow
from sartre.prune.sartre.robust import is_unsettled
from sartre.prune.sartre.rows import RowModel, SharedRows, share_rows
from sartre.prune.sartre.screen import short_list, strongest_first
from sartre.settings import listed

if TYPE_CHECKING:
    from sartre.additive.bases.rank_polynomials import PairBasis
    from sartre.data.table import Table
    from sartre.process.likelihood import Weights
    from sartre.prune.sartre.joint import JointEffort


def select(
    model: RowModel,
    target: int,
    candidates: NDArray[np.intp],
    levels: Sequence[float],
    tol: float,
    required: Sequence[int] = (),
) -> list[TargetFit]:
    """Choose the parents of a target among the candidates, at one level or at several, which share the work.

    A variable stays if p < level. Where no candidate has an effect, at most `expected_false` times their number are
    expected to be chosen.

    Parameters
    ----------
    model : RowModel
    target : int
    candidates : array of ints
        Those that come first are preferred where candidates stand for each other.
    levels : sequence of floats
        Of the test of one candidate.
    tol : float
        Duality gap of the screening, as in `lasso.solve`.
    required : sequence of ints
        Candidates that stay whatever their test says.
    """
    first = short_list(model, candidates, required, tol)
    elimination = Elimination(model, candidates, set(required))
    search = None if model.shared.pairs is None else PairSearch(model.shared.pairs, candidates)
    fits = []
    for level in levels:
        chosen = elimination.completed(elimination.pruned(first.variables, level), first.variables, level)
        if search is not None:
            grown = grow(elimination, model, search, chosen, level)
            chosen = chosen if grown == chosen else elimination.pruned(grown, level)
        found = elimination.described(chosen)
        solved = elimination.fitted(chosen) if chosen else None
        fits.append(
            TargetFit(
                target,
                found.variables,
                found.strength,
                first.margin(found.variables),
                found.p_value,
                pairs=found_pairs(elimination, chosen),
                robust=model.shared.robust,
                unsettled=is_unsettled(model, solved, candidates),
                gap=first.gap,
                converged=first.converged,
            )
        )
    return fits


def expected_false(level: float, *, pairs: bool, joint: bool = False) -> float:
    """Return how many false parents `select` may be expected to choose, tests exact, where none has an effect.

    With the level of one test it is a mean over the candidates, with that times their number their sum.
    """
    return level * (1 + 2 * pairs + joint)  # a false pair brings two


class AutomaticPruning:
    """Screened, tested and, where they act together, paired parents for any target of a table.

    Parameters
    ----------
    table : Table
    levels : sequence of floats
        Each gives one result per target.
    tol : float
    interactions : bool
    robust : bool or "auto"
    joint : JointEffort, optional
        Of the search for joint effects; none by default.
    device : "cpu" or "cuda"
        On which it runs.
    many_targets : bool
        Whether many targets are to be fitted: what all of them need is then made at once.
    """

    def __init__(
        self,
        table: Table,
        levels: Sequence[float],
        tol: float,
        *,
        interactions: bool,
        robust: bool | str,
        joint: JointEffort | None = None,
        device: str = "cpu",
        many_targets: bool = True,
    ) -> None:
        self._table, self._levels, self._tol = table, levels, tol
        self._interactions, self._robust, self._joint = interactions, robust, joint
        self._many_targets, self._device = many_targets, device
        self._lock, self._shared = Lock(), dict[bool, SharedRows]()

    def __getstate__(self) -> dict[str, Any]:
        """Return what travels to another process: the table. The designs, many times as large, are made there."""
        return {**self.__dict__, "_lock": None, "_shared": {}}

    def __setstate__(self, state: dict[str, Any]) -> None:
        self.__dict__.update(state, _lock=Lock())

    def with_effort(self, effort: JointEffort | None) -> AutomaticPruning:
        """Return the same with another effort of the search for joint effects."""
        other = object.__new__(type(self))
        other.__dict__.update(self.__dict__, _joint=effort)  # what all targets share is not made again
        return other

    def fit(
        self,
        target: int,
        parents: NDArray[np.intp],
        required: NDArray[np.intp],
        known: list[TargetFit] | None = None,
    ) -> list[TargetFit]:
        """Choose the parents of one variable without missing values, once per level.

        A nominal variable is regressed by its k indicators, each at 1 / k of the level, and its parents are all theirs.
        With fits that are known, only processes look at them once more.
        """
        usable = parents[self._share(robust=self._robust is True).smooths.rank[parents] > 0]
        if len(usable) == 0:
            return [TargetFit(target, usable)] * len(self._levels)
        kept = usable[np.isin(usable, required)].tolist()
        responses = self._table.responses(target)
        levels = [level / len(responses) for level in self._levels]
        known = known if len(responses) == 1 else None
        found = [self._chosen(target, response, usable, levels, kept, known) for response in responses]
        return [united(fits) for fits in zip(*found, strict=True)]

    def _chosen(
        self,
        target: int,
        response: NDArray[np.float64],
        usable: NDArray[np.intp],
        levels: Sequence[float],
        required: Sequence[int],
        known: list[TargetFit] | None,
    ) -> list[TargetFit]:
        """Choose what one response depends on, by plain tests first."""
        usable = strongest_first(self._model(target, response, robust=False), usable)  # also those with equal ranks
        robust, fits = self._robust is True, known
        while fits is None:
            fits = select(self._model(target, response, robust=robust), target, usable, levels, self._tol, required)
            if not robust and self._robust == "auto" and any(fit.unsettled for fit in fits):
                robust, fits = True, None
        if self._joint is None or len(response) < FEWEST_JOINT_ROWS or len(np.unique(response)) < FEWEST_VALUES:
            return fits
        if not self._joint.explores and not any(len(fit.parents) for fit in fits):
            return fits
        return self._jointly(response, usable, fits, self._joint, levels, np.array(required, dtype=np.intp))

    def _jointly(
        self,
        response: NDArray[np.float64],
        usable: NDArray[np.intp],
        fits: list[TargetFit],
        effort: JointEffort,
        levels: Sequence[float],
        required: NDArray[np.intp],
    ) -> list[TargetFit]:
        """Let Gaussian processes decide where they explain more, on normal scores if tails are heavy."""
        found = usable[np.isin(usable, np.concatenate([fit.parents for fit in fits]))]
        if self._table.design is not None:  # a process sees only those environments that were found to act
            usable = usable[~self._table.design.is_indicator[usable] | np.isin(usable, found)]
        if len(usable) == 0:
            return fits

        def search(*, robust: bool) -> JointSearch:
            model = self._model(fits[0].target, response, robust=robust)
            return JointSearch(model, self._rows, usable, found, effort, check_device("SARTRE", self._device))

        processes = search(robust=self._robust is True)
        if self._robust == "auto" and processes.has_heavy_tails:
            processes = search(robust=True)
        decisions = [processes.decided(fit, level, required) for fit, level in zip(fits, levels, strict=True)]
        if len(decisions) > 1:  # a path needs no mechanisms
            return [decision.fit for decision in decisions]
        return [self._with_mechanism(response, effort, *decisions[0])]

    def _with_mechanism(
        self, response: NDArray[np.float64], effort: JointEffort, fit: TargetFit, weights: Weights | None
    ) -> TargetFit:
        """Add the process of a target, if one decided on it and predicts better than an additive model."""
        if weights is None or len(fit.parents) == 0 or set(fit.parents.tolist()) & self._table.nominal:
            return fit  # the levels of a table whose rare ones were merged are not those that a mechanism is asked for
        table, rows = self._table, self._rows[: effort.all_rows]
        places = np.array(sorted(range(len(fit.parents)), key=lambda k: table.names[fit.parents[k]]), dtype=np.intp)
        columns = fit.parents[places]
        X = table.values[np.ix_(rows, columns)]
        return fit._replace(
            mechanism=better_process(X, response[rows], weights.of(places), check_device("SARTRE", self._device))
        )

    @cached_property
    def _rows(self) -> NDArray[np.intp]:
        """The rows of the table in the order in which processes use them, whatever their order in the table."""
        return drawn_rows(self._table.values, 0, CHECKED_ROWS)

    def _model(self, target: int, response: NDArray[np.float64], *, robust: bool) -> RowModel:
        shared = self._share(robust=robust)
        return RowModel(shared, standardise(response) if target in self._table.nominal else shared.X[:, target])

    def _share(self, *, robust: bool) -> SharedRows:
        """Return what the plain or the robust tests of all targets share, made when it is first asked for."""
        with self._lock:
            if robust not in self._shared:
                X, nominal = self._table.values, self._table.nominal
                if robust:
                    X = normal_scores(X)
                    X[:, list(nominal)] = self._table.values[:, list(nominal)]
                self._shared[robust] = share_rows(
                    X,
                    smooths=prepare(X, smooth_bases(X, N_SPLINES, nominal)),
                    pairs=self._pair_basis(X) if self._interactions else None,
                    robust=robust,
                    nominal=nominal,
                    many_targets=self._many_targets,
                    groups=None if self._table.design is None else self._table.design.groups,
                )
            return self._shared[robust]

    def _pair_basis(self, X: NDArray[np.float64]) -> PairBasis:
        basis, design = pair_basis(X, self._table.nominal), self._table.design
        return basis if design is None else replace(basis, useful=basis.useful & design.forms_pairs)


def without_repeats(table: Table) -> Table:
    """Drop rows that repeat another where that cannot be chance.

    A bootstrap sample or a join repeats rows, and to any test ten copies of a row are ten times the evidence. Rows
    without a value in a continuous column repeat by chance and stay.
    """
    values = np.nan_to_num(table.values, nan=np.inf)  # missing is missing
    n = len(values)
    if any(len(np.unique(column)) == n for column in values.T):
        return table
    _, first = np.unique(values, axis=0, return_index=True)
    if len(first) == n:
        return table
    fine = [_is_fine(column) for column in values[first].T]
    if not (any(fine) and _cannot_repeat(values[first])):
        return table
    kept = np.isin(np.arange(n), first) | np.isinf(values[:, fine]).all(axis=1)
    return table if kept.all() else table.take(np.flatnonzero(kept))


def _is_fine(column: NDArray[np.float64]) -> bool:
    """Return whether a column's values are measured finely: they fill less than half of the steps in their range.

    Counts, ages and codes fill nearly all of theirs.
    """
    values = np.unique(column[np.isfinite(column)])
    if len(values) < FEWEST_VALUES:
        return False
    steps = (values[-1] - values[0]) / np.diff(values).min() + 1
    return bool(len(values) < FILLED * steps)


def _cannot_repeat(rows: NDArray[np.float64]) -> bool:
    """Return whether distinct rows are so far from repeating each other that copies of them cannot be chance.

    Either a column alone tells nearly all of them apart, or any one column can be missing and still nearly all differ:
    rows that repeat by chance come with many more that differ in one column only.
    """
    codes = [np.unique(column, return_inverse=True)[1] for column in rows.T]
    enough = NEARLY_ALL * len(rows)
    if max(int(code.max()) + 1 for code in codes) >= enough:
        return True
    rng = np.random.default_rng(0)  # of a hash: rows are equal if and (almost surely) only if their sums are
    hashes = [rng.integers(2**63, size=int(code.max()) + 1, dtype=np.uint64)[code] for code in codes]
    total = np.sum(hashes, axis=0, dtype=np.uint64)
    return len(hashes) > 1 and all(len(np.unique(total - own)) >= enough for own in hashes)


def warn_about_repeats(table: Table, kept: Table, stacklevel: int) -> None:
    """Warn if rows of a table were left out because they repeat another row."""
    n, left_out = len(table.values), len(table.values) - len(kept.values)
    if left_out:
        warnings.warn(
            f"{left_out} of {n} rows repeat another row, which does not happen by chance in these columns (perhaps "
            "they come from a bootstrap sample or a join). They are left out of the tests: copies add no evidence.",
            UserWarning,
            stacklevel=stacklevel + 1,
        )


def warn_about_near_copies(table: Table, stacklevel: int) -> None:
    """Warn about columns that are near copies of another."""
    numbers = np.setdiff1d(np.arange(table.shape[1]), list(table.nominal))
    numbers = numbers if table.design is None else numbers[~table.design.is_indicator[numbers]]
    pairs = near_copies(table.values[:, numbers]) if len(table.values) >= FEWEST_VALUES else []
    if pairs:
        shown = listed(f"{table.names[numbers[a]]} ~ {table.names[numbers[b]]}" for a, b in pairs)
        warnings.warn(
            f"Some columns are near copies of each other: {shown}. Which of them gets an edge is arbitrary. "
            "Keep one of each.",
            UserWarning,
            stacklevel=stacklevel + 1,
        )

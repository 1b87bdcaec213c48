"""SARTRE-pruning with an automatic penalty: plain tests first, robust ones where a residual calls for them."""

from __future__ import annotations

import warnings
from threading import Lock
from typing import TYPE_CHECKING, Any

import numpy as np

from sartre.additive.bases import interval_bases, smooth_bases
from sartre.additive.design import prepare
from sartre.additive.interactions import pair_basis
from sartre.additive.robust import normal_scores
from sartre.additive.screening import near_copies
from sartre.additive.selection import Prepared, prepare_selection, select, standardise
from sartre.prune._edges import TargetFit, united

if TYPE_CHECKING:
    from collections.abc import Sequence

    from numpy.typing import NDArray

    from sartre.additive.trees import Embedding
    from sartre.table import Table

N_SPLINES = 10
FEWEST_VALUES, FILLED = 20, 0.5  # a column with more values, filling less of the steps in its range, is continuous
NEARLY_ALL = 0.95


class AutomaticPruning:
    """Screened, tested and, where they act together, paired parents for any target of a table.

    Parameters
    ----------
    table : Table
    embedding : Embedding
        Of the intervals to screen with.
    seed : int
    levels : sequence of floats
        Each gives one result a target.
    tol : float
    interactions : bool
    robust : bool or "auto"
    shared : bool
        Whether many targets are to be fitted: what all of them need is then made at once.
    """

    def __init__(
        self,
        table: Table,
        embedding: Embedding,
        seed: int,
        levels: Sequence[float],
        tol: float,
        *,
        interactions: bool,
        robust: bool | str,
        shared: bool = True,
    ) -> None:
        self._table, self._embedding, self._seed, self._levels, self._tol = table, embedding, seed, levels, tol
        self._interactions, self._robust, self._shared = interactions, robust, shared
        self._lock, self._prepared = Lock(), dict[bool, Prepared]()

    def __getstate__(self) -> dict[str, Any]:
        """Return what travels to another process: the table. The designs, many times as large, are made there."""
        return {**self.__dict__, "_lock": None, "_prepared": {}}

    def __setstate__(self, state: dict[str, Any]) -> None:
        self.__dict__.update(state, _lock=Lock())

    def fit(
        self,
        target: int,
        parents: NDArray[np.intp],
        required: NDArray[np.intp],
        levels: Sequence[float] | None = None,
    ) -> list[TargetFit]:
        """Choose the parents of one variable without missing values, once a level (those of the class by default).

        A nominal variable is regressed by its k indicators, each at 1 / k of the level, and its parents are all theirs.
        """
        smooths = self._prepare(robust=self._robust is True).smooths
        usable = parents[smooths.rank[parents] > 0]
        if len(usable) == 0:
            return [TargetFit(target, usable)] * len(self._levels if levels is None else levels)
        kept = usable[np.isin(usable, required)].tolist()
        responses = self._table.responses(target)
        levels = [level / len(responses) for level in (self._levels if levels is None else levels)]
        found = [self._chosen(target, response, usable, levels, kept) for response in responses]
        return [united(fits) for fits in zip(*found, strict=True)]

    def _chosen(
        self,
        target: int,
        response: NDArray[np.float64],
        usable: NDArray[np.intp],
        levels: Sequence[float],
        required: Sequence[int],
    ) -> list[TargetFit]:
        """Choose what one response depends on, by plain tests first."""
        robust = self._robust is True
        while True:
            prepared = self._prepare(robust=robust)
            y = standardise(response) if target in self._table.nominal else prepared.X[:, target]
            chosen = select(prepared, y, usable, levels, self._tol, required)
            if robust or self._robust != "auto" or not any(selection.unsettled for selection in chosen):
                break
            robust = True
        return [
            TargetFit(target, one.variables, one.strength, one.margin, one.p_value, one.pairs, robust, *one[-2:])
            for one in chosen
        ]

    def _prepare(self, *, robust: bool) -> Prepared:
        """Return what the plain or the robust tests of all targets share, made when it is first asked for."""
        with self._lock:
            if robust not in self._prepared:
                X, names, nominal = self._table.values, self._table.names, self._table.nominal
                if robust:
                    X = normal_scores(X)
                    X[:, list(nominal)] = self._table.values[:, list(nominal)]
                intervals = prepare(X, interval_bases(X, names, self._embedding, self._seed, nominal))
                smooths = prepare(X, smooth_bases(X, N_SPLINES, nominal))
                pairs = pair_basis(X, nominal) if self._interactions else None
                self._prepared[robust] = prepare_selection(
                    X, intervals, smooths, pairs, robust, nominal, shared=self._shared
                )
            return self._prepared[robust]


def without_repeats(table: Table) -> Table:
    """Drop rows that repeat another, with a warning, where that cannot be chance.

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
    if kept.all():
        return table
    warnings.warn(
        f"{n - kept.sum()} of {n} rows repeat another row, which these columns do not do by chance (a bootstrap "
        "sample? a join?). They are left out of the tests: copies are no evidence.",
        UserWarning,
        stacklevel=4,
    )
    return table.take(np.flatnonzero(kept))


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
    parts = [rng.integers(2**63, size=int(code.max()) + 1, dtype=np.uint64)[code] for code in codes]
    total = np.sum(parts, axis=0, dtype=np.uint64)
    return len(parts) > 1 and all(len(np.unique(total - part)) >= enough for part in parts)


def warn_about_near_copies(table: Table) -> None:
    """Name columns that say the same as another."""
    numbers = np.setdiff1d(np.arange(table.shape[1]), list(table.nominal))
    X = table.values[:, numbers]
    if np.isnan(X).any():
        X = np.column_stack([standardise(column) for column in X.T])
    pairs = [(numbers[a], numbers[b]) for a, b in near_copies(X)] if len(X) >= FEWEST_VALUES else []
    if pairs:
        shown = ", ".join(f"{table.names[a]} ~ {table.names[b]}" for a, b in pairs[:5])
        more = f" and {len(pairs) - 5} more" if len(pairs) > 5 else ""
        warnings.warn(
            f"Columns that are nearly copies of each other: {shown}{more}. Which of them has an edge is arbitrary. "
            "Keep one of each.",
            UserWarning,
            stacklevel=4,
        )

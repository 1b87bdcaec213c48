"""Results that all pruners share: the fit of one target, and the table of kept edges."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from typing import TYPE_CHECKING, Any, NamedTuple, Protocol

import numpy as np
import pandas as pd
from numpy.typing import NDArray

if TYPE_CHECKING:
    from sartre.data.table import Table
    from sartre.prune.sartre.pairs import Pair
    from sartre.steps import Mechanism


class TargetFit(NamedTuple):
    """The kept parents of one target with their statistics, and the interacting pairs among them.

    robust: whether the tests were robust; unsettled: whether the residual suggests that they should have been. gap,
    converged: the state in which the lasso stopped. by_process: whether a Gaussian process decided; joint: the parents
    that act together in it; mechanism: the process, if it predicts the target better than an additive model does.
    promise: how much likelihood a process that has not decided may gain by other parents.
    """

    target: int
    parents: NDArray[np.intp]
    strength: Sequence[float] | NDArray[np.float64] = ()
    margin: Sequence[float] | NDArray[np.float64] = ()
    p_value: Sequence[float] | NDArray[np.float64] = ()
    pairs: Sequence[Pair] = ()
    robust: bool = False
    unsettled: bool = False
    gap: float = 0.0
    converged: bool = True
    by_process: bool = False
    joint: Sequence[int] = ()
    mechanism: Mechanism | None = None
    promise: float = 0.0

    def rows(self) -> list[tuple[int, int, float, float, float]]:
        """Return ``(parent, child, strength, margin, p_value)`` of every edge."""
        known = zip(self.parents.tolist(), self.strength, self.margin, self.p_value, strict=True)
        return [(parent, self.target, strength, margin, p_value) for parent, strength, margin, p_value in known]


class PruningMethod(Protocol):
    """A method that is prepared once for all targets of a table and can fit each of them."""

    def fit(self, target: int, parents: NDArray[np.intp], required: NDArray[np.intp]) -> list[TargetFit]:
        """Choose the parents of one variable, once per level or penalty."""
        ...


def united(fits: Sequence[TargetFit]) -> TargetFit:
    """Join the fits of the k indicators of one target, with all their parents and pairs.

    A parent gets its largest strength and margin over the fits, and k times its smallest p-value.
    """
    if len(fits) == 1:
        return fits[0]
    k = len(fits)
    found: dict[int, tuple[float, float, float]] = {}
    pairs: dict[tuple[int, int], Pair] = {}
    for fit in fits:
        for parent, _, strength, margin, p_value in fit.rows():
            old = found.get(parent, (np.nan, np.nan, np.nan))
            corrected = np.minimum(1.0, k * p_value)  # NaN stays NaN
            found[parent] = (
                float(np.fmax(old[0], strength)),
                float(np.fmax(old[1], margin)),
                float(np.fmin(old[2], corrected)),
            )
        for pair in fit.pairs:
            corrected_pair = pair._replace(p_value=min(1.0, k * pair.p_value))
            known = pairs.get(pair[:2])
            if known is None or corrected_pair.p_value < known.p_value:
                pairs[pair[:2]] = corrected_pair
    parents = sorted(found)
    strength, margin, p_value = np.array([found[j] for j in parents]).reshape(-1, 3).T
    return TargetFit(
        fits[0].target,
        np.array(parents, dtype=np.intp),
        strength,
        margin,
        p_value,
        list(pairs.values()),
        any(fit.robust for fit in fits),
        any(fit.unsettled for fit in fits),
        max(fit.gap for fit in fits),
        all(fit.converged for fit in fits),
        any(fit.by_process for fit in fits),
        sorted({parent for fit in fits for parent in fit.joint}),
        promise=max(fit.promise for fit in fits),
    )


def fit_observed(
    prepare: Callable[[Table], PruningMethod],
    table: Table,
    target: int,
    parents: NDArray[np.intp],
    required: NDArray[np.intp],
    known: list[TargetFit] | None = None,
) -> list[TargetFit]:
    """Fit a target by a method that is prepared for the rows in which it is observed and was not set."""
    rows, columns = np.flatnonzero(table.rows_of(target)), np.append(parents, target)
    observed = table.select(columns).take(rows)
    usable = np.flatnonzero(~observed.silent[:-1])
    settings: dict[str, Any] = {}
    if known is not None:
        place = np.full(table.shape[1], -1)
        place[columns] = np.arange(len(columns))
        settings["known"] = [_renumbered(fit, place) for fit in known]
    fits = prepare(observed).fit(len(parents), usable, np.flatnonzero(np.isin(parents, required)), **settings)
    return [_renumbered(fit, columns) for fit in fits]


def _renumbered(fit: TargetFit, numbers: NDArray[np.intp]) -> TargetFit:
    """Return a fit with other numbers of the columns: column j has numbers[j]."""
    pairs = [pair._replace(first=int(numbers[pair.first]), second=int(numbers[pair.second])) for pair in fit.pairs]
    return fit._replace(
        target=int(numbers[fit.target]),
        parents=numbers[fit.parents],
        pairs=pairs,
        joint=[int(numbers[parent]) for parent in fit.joint],
    )


def edge_table(edges: Iterable[tuple[int, int, float, float, float]], names: Sequence[str]) -> pd.DataFrame:
    """Return ``(parent, child, strength, margin, p_value)`` rows as a data frame with names, strongest first."""
    rows = [(names[parent], names[child], *numbers) for parent, child, *numbers in edges]
    frame = pd.DataFrame(rows, columns=["source", "target", "strength", "margin", "p_value"])
    numbers = {"strength": np.float64, "margin": np.float64, "p_value": np.float64}
    return frame.astype(numbers).sort_values("strength", ascending=False, kind="stable", ignore_index=True)

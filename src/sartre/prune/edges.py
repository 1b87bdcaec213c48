"""Results that all pruners share: the fit of one target, and the table of kept edges."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from numbers import Integral
from typing import TYPE_CHECKING, Any, NamedTuple, Protocol

import numpy as np
import pandas as pd
from numpy.typing import NDArray

if TYPE_CHECKING:
    from sartre.data.table import Table
    from sartre.graph.dag import Dag
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


def edges_of(listed: Any, graph: Dag, pruner: str) -> pd.DataFrame:
    """Return a pruner's table of edges by name, completed from its graph; refuse one that the graph contradicts.

    Parameters
    ----------
    listed : data frame or None
        ``source`` and ``target`` are names or column numbers; an edge that is not listed gets a row without evidence.
    graph : Dag
    pruner : str
        Its name, for errors.

    Examples
    --------
    >>> from sartre.graph import Dag
    >>> edges_of(pd.DataFrame({"source": [0], "target": [1]}), Dag.from_edges([("a", "b")]), "Mine")
      source target
    0      a      b
    """
    if listed is not None and not isinstance(listed, pd.DataFrame):
        raise TypeError(
            f"{pruner}.fit must set 'edges_' to a data frame with the columns source and target, or to None. Got "
            f"{type(listed).__name__} instead."
        )
    if listed is None or not {"source", "target"} <= set(listed.columns):
        return edge_table(((i, j, np.nan, np.nan, np.nan) for i, j in np.argwhere(graph.adjacency)), graph.names)
    pairs = [tuple(_name_of(end, graph.names) for end in pair) for pair in listed[["source", "target"]].to_numpy()]
    strange = [pair for pair in pairs if pair not in set(graph.edges)]
    if strange:
        raise ValueError(
            f"{pruner}.fit must set 'edges_' to the edges of 'adjacency_matrix_'. Got {' -> '.join(strange[0])}, which "
            "the matrix does not have. Build one from the other."
        )
    rest = pd.DataFrame([edge for edge in graph.edges if edge not in set(pairs)], columns=["source", "target"])
    if listed.empty:
        return rest.reindex(columns=listed.columns)
    named = listed.assign(source=[a for a, _ in pairs], target=[b for _, b in pairs])
    return pd.concat([named, rest], ignore_index=True) if len(rest) else named


def _name_of(item: Any, names: Sequence[str]) -> str:
    """Return the name of a variable that is given by its name or its number."""
    is_number = isinstance(item, Integral) and 0 <= int(item) < len(names)
    return names[int(item)] if is_number else str(item)

"""What all targets of a table share, and which rows and columns one of them is fitted by.

A target is fitted by the rows in which it is observed and was not set. Where rows come from different environments and
there are many of them, a sample is fitted first. If it shows that variables act on the target together, that its tests
must be robust, or that a process is to decide, the sample is all that is used: with all rows the least misfit of an
additive model is significant, and looks like an effect of whatever else depends on a cause.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from functools import partial
from typing import TYPE_CHECKING, Any, NamedTuple, TypeAlias, cast

import numpy as np
from numpy.typing import NDArray

from sartre.data.row_sample import drawn_rows
from sartre.prune.edges import fit_observed
from sartre.prune.sartre.constants import MOST_EVALUATIONS, MOST_WITH_EXPERIMENTS, SAMPLED_ROWS

if TYPE_CHECKING:
    from sartre.data.table import Table
    from sartre.knowledge.masks import OrderedEdges
    from sartre.prune.edges import PruningMethod, TargetFit
    from sartre.prune.sartre.joint import JointEffort

Target: TypeAlias = tuple[int, NDArray[np.intp], NDArray[np.intp]]  # its number, its candidates, the required ones


class Prepared(NamedTuple):
    """What all targets share, the rows it was prepared from, and how many rows each part saw.

    for_rows: prepares the same for some rows of the table; none is needed where no value is missing.
    """

    method: PruningMethod
    table: Table
    rows_seen: dict[str, int]
    for_rows: Callable[[Table], PruningMethod] | None = None

    @property
    def most_evaluations(self) -> int:
        """How many evaluations of processes the table may take."""
        return MOST_WITH_EXPERIMENTS if self._has_environments else MOST_EVALUATIONS

    @property
    def _has_environments(self) -> bool:
        return self.table.design is not None and len(self.table.design.environments) > 0

    def fit(
        self, target: int, parents: NDArray[np.intp], required: NDArray[np.intp], *known: list[TargetFit]
    ) -> list[TargetFit]:
        """Fit a target by what all share or, if it is missing or was set in some rows, by the others."""
        if self.for_rows is None or len(parents) == 0:
            return self.method.fit(target, parents, required, *known)
        own = self.table.rows_of(target)
        if self._has_environments and own.sum() > SAMPLED_ROWS:
            rows = np.flatnonzero(own)
            sample = self.table.take(rows[drawn_rows(self.table.values[rows], 0, SAMPLED_ROWS)])
            fits = fit_observed(self.for_rows, sample, target, parents, required, *known)
            if any(fit.promise > 0 or fit.by_process or fit.pairs or fit.robust for fit in fits):
                return fits
        if own.all():
            return self.method.fit(target, parents, required, *known)
        return fit_observed(self.for_rows, self.table, target, parents, required, *known)

    def with_effort(self, effort: JointEffort) -> Prepared:
        """Return the same with another effort of the search for joint effects."""
        method, for_rows = cast("Any", self.method), cast("Any", self.for_rows)
        return self._replace(
            method=method.with_effort(effort), for_rows=None if for_rows is None else partial(for_rows, joint=effort)
        )


def targets_of(table: Table, edges: OrderedEdges) -> Iterator[Target]:
    """Yield every target with its candidate parents, and the required ones among them; a constant has none."""
    constant = table.constant
    for target, parents, required in edges.targets():
        yield (target, parents[:0], parents[:0]) if constant[target] else (target, parents, required)


def sizes_of(table: Table, edges: OrderedEdges) -> NDArray[np.intp]:
    """Return how many candidates say something, and how many of these are required, of every target: shape (d, 2)."""
    heard = ~table.silent
    found = [(heard[parents].sum(), heard[required].sum()) for _, parents, required in targets_of(table, edges)]
    return np.array(found, dtype=np.intp).reshape(-1, 2)

"""What SARTRE-pruning prepares once for all targets: of all rows, or of sums over them and a sample."""

from __future__ import annotations

from functools import partial
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from sartre.batches import Survey
from sartre.prune._automatic import AutomaticPruning, warn_about_near_copies, without_repeats
from sartre.prune._counted import CountedAutomaticPruning, CountedPaperPruning
from sartre.prune._edges import moved
from sartre.prune._paper import PaperPruning

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from numpy.typing import NDArray

    from sartre.additive.trees import Embedding
    from sartre.prune._edges import TargetFit
    from sartre.table import Table


class Settings(NamedTuple):
    """The settings of `SARTRE`, checked and complete; the last two go with the automatic penalty."""

    automatic: bool
    embedding: Embedding
    seed: int
    tol: float
    n_jobs: int | None
    interactions: bool
    robust: bool | str

    @property
    def shared(self) -> dict[str, Any]:
        """The settings that every method has."""
        return {"embedding": self.embedding, "seed": self.seed, "tol": self.tol}

    @property
    def kinds(self) -> dict[str, Any]:
        """What the automatic method looks for beyond additive effects."""
        return {"interactions": self.interactions, "robust": self.robust}


class Prepared(NamedTuple):
    """What all targets share, the rows it was prepared from, and how many rows each part saw.

    remade: prepares the same for one target, from other rows of the table; none is needed where no value is missing.
    """

    shared: AutomaticPruning | PaperPruning | CountedAutomaticPruning | CountedPaperPruning
    table: Table
    rows_seen: dict[str, int]
    remade: Callable[[Table], AutomaticPruning | PaperPruning] | None = None

    def fit(self, target: int, parents: NDArray[np.intp], required: NDArray[np.intp]) -> list[TargetFit]:
        """Fit a target by what all share or, if it has missing values, by the rows where it has none."""
        there = ~np.isnan(self.table.values[:, target])
        if self.remade is None or there.all() or len(parents) == 0:
            return self.shared.fit(target, parents, required)
        rows, columns = np.flatnonzero(there), np.append(parents, target)
        part = self.table.select(columns).take(rows)
        mine = np.flatnonzero(~part.silent[:-1])
        fits = self.remade(part).fit(len(parents), mine, np.flatnonzero(np.isin(parents, required)))
        return [moved(fit, target, columns, rows) for fit in fits]


def prepared_pruning(data: Table | Survey, values: Sequence[float], settings: Settings) -> Prepared:
    """Prepare all targets for some levels (or penalties, if these were given as numbers)."""
    if not isinstance(data, Survey):
        return _of_rows(data, values, settings)
    if not settings.automatic:
        counted = CountedPaperPruning(data, penalties=values, n_jobs=settings.n_jobs, **settings.shared)
        return Prepared(counted, data.sample, counted.rows_seen)
    if settings.robust is True:  # variances that follow the samples need the samples
        return _of_rows(data.sample, values, settings)
    warn_about_near_copies(data.sample)
    kinds = settings.kinds
    counted = CountedAutomaticPruning(data, levels=values, n_jobs=settings.n_jobs, **kinds, **settings.shared)
    return Prepared(counted, counted.table, counted.rows_seen)


def _of_rows(table: Table, values: Sequence[float], settings: Settings) -> Prepared:
    """Prepare a method that sees all rows of a table."""
    parts = ["additive"]
    if settings.automatic:
        warn_about_near_copies(table)
        table = without_repeats(table)
        parts += [part for part, wanted in settings.kinds.items() if wanted]
        method = partial(AutomaticPruning, levels=values, **settings.kinds, **settings.shared)
        for_one = partial(method, shared=False)
    else:
        method = for_one = partial(PaperPruning, penalties=values, **settings.shared)
    return Prepared(method(table), table, dict.fromkeys(parts, len(table.values)), for_one)

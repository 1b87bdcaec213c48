"""SARTRE-pruning as published: one group lasso a target, with a penalty given as a number."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from sartre.additive.bases import interval_bases
from sartre.additive.design import prepare
from sartre.additive.group_lasso import solve_path, terms
from sartre.prune._edges import TargetFit, united

if TYPE_CHECKING:
    from collections.abc import Sequence

    from numpy.typing import NDArray

    from sartre.additive.design import Design
    from sartre.additive.trees import Embedding
    from sartre.table import Table


class PaperPruning:
    """Lines 7 to 12 of Algorithm 1 for any target of a table.

    Parameters
    ----------
    table : Table
    embedding : Embedding
    seed : int
    penalties : sequence of floats
        From large to small; each gives one result a target.
    tol : float
    """

    def __init__(self, table: Table, embedding: Embedding, seed: int, penalties: Sequence[float], tol: float) -> None:
        self._table, self._embedding, self._seed, self._penalties, self._tol = table, embedding, seed, penalties, tol
        self._shared: Design | None = None
        if not embedding.supervised:
            self._shared = prepare(
                table.values, interval_bases(table.values, table.names, embedding, seed, table.nominal)
            )

    def fit(self, target: int, parents: NDArray[np.intp], required: NDArray[np.intp]) -> list[TargetFit]:
        """Regress one variable without missing values on its candidate parents, once a penalty.

        Required parents are not penalised. The indicators of a nominal variable are regressed one by one.
        """
        if len(parents) == 0:
            return [TargetFit(target, parents)] * len(self._penalties)
        found = [self._path(target, y, parents, required) for y in self._table.responses(target)]
        return [united(fits) for fits in zip(*found, strict=True)]

    def _path(
        self, target: int, y: NDArray[np.float64], parents: NDArray[np.intp], required: NDArray[np.intp]
    ) -> list[TargetFit]:
        design, candidates = self._shared, parents
        if design is None:  # intervals that were made for this target
            mine, named = self._table.select(parents), (y, self._table.names[target])
            bases = interval_bases(mine.values, mine.names, self._embedding, self._seed, mine.nominal, named)
            design, candidates = prepare(mine.values, bases), np.arange(len(parents))
        weights = np.where(np.isin(parents, required), 0.0, 1.0)
        path = solve_path(design, y, candidates, self._penalties, weights=weights, tol=self._tol)
        fits = []
        for solution in path:
            found = terms(design, y, solution)
            fits.append(
                TargetFit(
                    target,
                    parents[solution.selected],
                    strength=[term.strength for term in found],
                    margin=[term.margin for term in found],
                    p_value=[np.nan] * len(found),
                    gap=solution.gap,
                    converged=solution.converged,
                )
            )
        return fits

"""SARTRE-pruning as published: one group lasso per target, with a penalty given as a number."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from sartre.additive.bases.trees import interval_bases
from sartre.additive.design import prepare
from sartre.additive.lasso import solve_path, terms
from sartre.prune.edges import TargetFit, united
from sartre.prune.strength import losses_without

if TYPE_CHECKING:
    from sartre.additive.bases.trees import Embedding
    from sartre.data.table import Table


class PaperPruning:
    """Lines 7 to 12 of Algorithm 1 for any target of a table.

    Parameters
    ----------
    table : Table
    embedding : Embedding
    seed : int
    penalties : sequence of floats
        From large to small; each gives one result per target.
    tol : float
    """

    def __init__(self, table: Table, embedding: Embedding, seed: int, penalties: Sequence[float], tol: float) -> None:
        self._table, self._penalties, self._tol = table, penalties, tol
        self._design = prepare(table.values, interval_bases(table.values, table.names, embedding, seed, table.nominal))

    def fit(self, target: int, parents: NDArray[np.intp], required: NDArray[np.intp]) -> list[TargetFit]:
        """Regress one variable without missing values on its candidate parents, once per penalty.

        Required parents are not penalised. The indicators of a nominal variable are regressed one by one. A lasso
        shrinks what it keeps, so smooth functions say what is lost without a parent.
        """
        if len(parents) == 0:
            return [TargetFit(target, parents)] * len(self._penalties)
        found = [self._path(target, y, parents, required) for y in self._table.responses(target)]
        fits = [united(fits) for fits in zip(*found, strict=True)]
        return [fit._replace(strength=losses_without(self._table, target, fit.parents)) for fit in fits]

    def _path(
        self, target: int, y: NDArray[np.float64], parents: NDArray[np.intp], required: NDArray[np.intp]
    ) -> list[TargetFit]:
        weights = np.where(np.isin(parents, required), 0.0, 1.0)
        fits = []
        for solution in solve_path(self._design, y, parents, self._penalties, weights=weights, tol=self._tol):
            found = terms(self._design, y, solution)
            untested = np.full(len(found.strength), np.nan)
            fits.append(TargetFit(target, *found, untested, gap=solution.gap, converged=solution.converged))
        return fits

"""SARTRE-pruning of many rows: what pairwise sums can tell comes from all of them, the rest from a sample.

One pass over the rows adds up counts of bins (the paper's method) or inner products of smooths (the automatic one).
Pairs of variables and robust variances need the rows themselves: the sample's, which bins and smooths are learnt from.
"""

from __future__ import annotations

import warnings
from typing import TYPE_CHECKING, Any

import numpy as np

from sartre.additive.bases import interval_bases
from sartre.additive.counted_selection import CountedSelection
from sartre.additive.counts import IntervalCounter
from sartre.additive.gram_lasso import gram_terms, normal_equations, solve_gram
from sartre.additive.products import SmoothCounter
from sartre.prune._automatic import AutomaticPruning, without_repeats
from sartre.prune._edges import TargetFit

if TYPE_CHECKING:
    from collections.abc import Sequence

    from numpy.typing import NDArray

    from sartre.additive.selection import Selection
    from sartre.additive.trees import Embedding
    from sartre.batches import Survey
    from sartre.table import Table


class CountedPaperPruning:
    """Lines 7 to 12 of Algorithm 1, the intervals learnt from the sample and the lasso on all rows.

    Parameters
    ----------
    survey : Survey
    embedding, seed, penalties, tol : as in `PaperPruning`
    n_jobs : int, optional
        Threads that count.
    """

    def __init__(
        self,
        survey: Survey,
        embedding: Embedding,
        seed: int,
        penalties: Sequence[float],
        tol: float,
        n_jobs: int | None,
    ) -> None:
        self.table, self._penalties, self._tol = survey.sample, penalties, tol
        bases = list(interval_bases(self.table.values, self.table.names, embedding, seed))
        counter = IntervalCounter.of(bases, self.table.values)
        self._normal = normal_equations(bases, counter, survey.total(counter.count, n_jobs))
        self.rows_seen = {"additive": survey.n}

    def fit(self, target: int, parents: NDArray[np.intp], required: NDArray[np.intp]) -> list[TargetFit]:
        """Regress one variable on its candidate parents, once a penalty; required ones are not penalised."""
        weights = np.where(np.isin(parents, required), 0.0, 1.0)
        fits, solution = [], None
        for penalty in self._penalties:
            solution = solve_gram(
                self._normal, target, parents, penalty, weights=weights, start=solution, tol=self._tol
            )
            found = gram_terms(self._normal, target, solution)
            fits.append(
                TargetFit(
                    target,
                    found.variables,
                    found.strength,
                    found.margin,
                    np.full(len(found.variables), np.nan),
                    gap=solution.gap,
                    converged=solution.converged,
                )
            )
        return fits


class CountedAutomaticPruning:
    """Parents from tests on all rows; pairs and, where they are called for, robust tests from the sample.

    A target's parents are first chosen among additive models of all rows. With these as required, the sample is
    searched for pairs, and what they bring is added; where there are some, parents that are in none of them must be
    found on the sample too. Where the sample's residual calls for robust tests, all of the target's tests are the
    robust ones on the sample.

    Parameters
    ----------
    survey : Survey
    embedding, seed, levels, tol, interactions, robust : as in `AutomaticPruning`, robust "auto" or False
    n_jobs : int, optional
        Threads that count.
    """

    def __init__(
        self,
        survey: Survey,
        embedding: Embedding,
        seed: int,
        levels: Sequence[float],
        tol: float,
        n_jobs: int | None,
        **kinds: Any,  # noqa: ANN401 - interactions, robust
    ) -> None:
        self.table = _without_repeats(survey)
        self._levels, self._tol = levels, tol
        self._needs_rows = bool(kinds["interactions"] or kinds["robust"])
        self._sample = AutomaticPruning(self.table, embedding, seed, levels, tol, **kinds)
        counter = SmoothCounter.of(self.table.values)
        self._selection = CountedSelection(counter, survey.total(counter.count, n_jobs))
        self.rows_seen = {"additive": survey.n}
        self.rows_seen |= {part: len(self.table.values) for part in ("interactions", "robust") if kinds[part]}

    def fit(self, target: int, parents: NDArray[np.intp], required: NDArray[np.intp]) -> list[TargetFit]:
        """Choose the parents of one variable, once a level."""
        usable = parents[self._selection.products.rank[parents] > 0]
        if len(usable) == 0 or self._selection.products.rank[target] == 0:
            return [TargetFit(target, usable[:0])] * len(self._levels)
        kept = usable[np.isin(usable, required)]
        chosen = self._selection.select(target, usable, self._levels, self._tol, kept.tolist())
        found = [
            self._joined(target, usable, kept, additive, level)
            for additive, level in zip(chosen, self._levels, strict=True)
        ]
        if any(fit.robust for fit in found):  # of one target all tests are of one kind
            return self._sample.fit(target, usable, kept)
        return found

    def _joined(
        self,
        target: int,
        usable: NDArray[np.intp],
        required: NDArray[np.intp],
        additive: Selection,
        level: float,
    ) -> TargetFit:
        """Add what the sample's rows tell of a target to what all rows do."""
        variables, strength, margin, p_value, _, _, gap, converged = additive
        if not self._needs_rows:
            return TargetFit(target, variables, strength, margin, p_value, gap=gap, converged=converged)
        (found,) = self._sample.fit(target, usable, np.union1d(required, variables), [level])
        if found.robust:
            return found
        paired = [j for pair in found.pairs for j in pair[:2]]
        new = np.isin(found.parents, paired) & ~np.isin(found.parents, variables)
        stay = self._confirmed(target, usable, required, additive, paired, level)
        return TargetFit(
            target,
            np.concatenate([variables[stay], found.parents[new]]),
            np.concatenate([strength[stay], np.asarray(found.strength)[new]]),
            np.concatenate([margin[stay], np.asarray(found.margin)[new]]),
            np.concatenate([p_value[stay], np.asarray(found.p_value)[new]]),
            found.pairs,
            gap=gap,
            converged=converged,
        )

    def _confirmed(
        self,
        target: int,
        usable: NDArray[np.intp],
        required: NDArray[np.intp],
        additive: Selection,
        paired: list[int],
        level: float,
    ) -> NDArray[np.bool_]:
        """Return which additive parents stay where pairs act on the target.

        What a pair does looks, in a model without pairs, like an effect of whatever else depends on its variables, and
        of many rows the least of it is significant. So the others must be among what the sample finds, pairs included.
        """
        variables = additive.variables
        unpaired = ~np.isin(variables, [*paired, *required])
        if not paired or not unpaired.any():
            return np.ones(len(variables), dtype=bool)
        (found,) = self._sample.fit(target, usable, required, [level])
        return ~unpaired | np.isin(variables, found.parents)


def _without_repeats(survey: Survey) -> Table:
    """Return the sample without rows that repeat another where that cannot be chance, with a warning for all rows."""
    with warnings.catch_warnings(record=True):
        warnings.simplefilter("always")
        table = without_repeats(survey.sample)
    n = len(survey.sample.values)
    if len(table.values) < n:
        warnings.warn(
            f"{n - len(table.values)} of {n} sampled rows repeat another, which these columns do not do by chance (a "
            "bootstrap sample? a join?). To the tests on all rows copies are evidence: drop repeated rows first.",
            UserWarning,
            stacklevel=5,
        )
    return table

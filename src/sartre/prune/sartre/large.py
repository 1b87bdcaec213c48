"""The automatic method for many rows: what pairwise sums can tell comes from all of them, the rest from a sample.

One pass over the rows adds up inner products of smooth functions, from which parents are screened, fitted and tested as
they are from rows. Pairs of variables and robust variances need rows: those of the sample that the functions are learnt
from.

With very many rows even a small misfit of a function is significant, and looks like an effect of whatever else depends
on its variable. So what was chosen is fitted once more by smooths with many more knots, and pruned again.
"""

from __future__ import annotations

from collections.abc import Sequence
from functools import partial
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from sartre.additive.lasso import gram_terms, solve_gram
from sartre.additive.smooth_sums import SmoothCounter
from sartre.additive.smoothing import Solved, solve_smooths, term_tests
from sartre.prune.edges import TargetFit
from sartre.prune.sartre.backward import Elimination
from sartre.prune.sartre.constants import MANY_SPLINES, N_SPLINES, SMOOTHNESS_TOL
from sartre.prune.sartre.screen import NullNorms, Screened, line_p_values, short_list, solve_calibrated, strongest_first
from sartre.prune.sartre.select import AutomaticPruning

if TYPE_CHECKING:
    from sartre.additive.gram import Gram
    from sartre.additive.smooth_sums import SmoothTotals
    from sartre.data.row_source import Survey
    from sartre.data.table import Table
    from sartre.prune.sartre.joint import JointEffort
    from sartre.prune.sartre.rows import Term


class SumModel:
    """Models of one target from inner products alone; an implementation of `backward.TargetModel` without pairs.

    Parameters
    ----------
    gram : Gram
        Of the smooth functions of all variables, and of all of them as standardised targets.
    norms : NullNorms
        Of the functions.
    target : int
    """

    def __init__(self, gram: Gram, norms: NullNorms, target: int) -> None:
        self.n = gram.n
        self._gram, self._norms, self._target = gram, norms, target
        self._log_lambda: dict[Term, float] = {}

    def screened(self, candidates: NDArray[np.intp], level: float, tol: float) -> Screened:
        """Return what the group lasso over smooth functions selects at a level."""
        weights = self.null_norms(level)[candidates] / np.sqrt(self.n)
        solution = solve_calibrated(
            lambda penalty, start: solve_gram(
                self._gram, self._target, candidates, penalty, weights=weights, start=start, tol=tol
            ),
            float(np.sqrt(self._gram.squares[self._target])),
        )
        return Screened(gram_terms(self._gram, self._target, solution), solution.gap, solution.converged)

    def lines(self, candidates: NDArray[np.intp]) -> tuple[NDArray[np.intp], NDArray[np.float64]]:
        """Return the candidates and the p-value of each in the linear model of all of them."""
        lines = self._gram.start[candidates]
        square = self._gram.matrix[np.ix_(lines, lines)]
        return candidates, line_p_values(self.n, square, self._gram.cross[lines, self._target])

    def null_norms(self, level: float) -> NDArray[np.float64]:
        """Return what the pull of each variable exceeds by chance with this probability, shape (d,)."""
        return self._norms.at(level)

    def pulls(self, solved: Solved | None, candidates: NDArray[np.intp]) -> NDArray[np.float64]:
        """Return the norms of the candidates' gradients on what a fit leaves, in standard units."""
        gradients, variance = self._gram.cross[:, self._target], 1.0
        if solved is not None:
            cross = gradients
            gradients = cross - self._gram.matrix[:, solved.columns] @ solved.beta
            variance = float(1.0 - solved.beta @ (cross + gradients)[solved.columns])
        return np.sqrt(self._gram.per_term(gradients**2)[candidates] * self.n / max(variance, np.finfo(float).tiny))

    def solve(self, chosen: list[Term]) -> Solved:
        """Fit the variables together, smoothness from where it was last."""
        start = np.array([self._log_lambda.get(term, np.inf) for term in chosen])
        solved = solve_smooths(self._gram, self._target, np.array(chosen, dtype=np.intp), start, SMOOTHNESS_TOL)
        self._log_lambda.update(zip(chosen, solved.log_lambda.tolist(), strict=True))
        return solved

    def p_values(self, solved: Solved) -> NDArray[np.float64]:
        """Test every variable of a fit."""
        return term_tests(self._gram, solved).p_value


class SummedSelection:
    """Chooses among the smooth functions of all columns, for any of them as a target.

    Parameters
    ----------
    counter : SmoothCounter
    totals : SmoothTotals
        What it counted.
    """

    def __init__(self, counter: SmoothCounter, totals: SmoothTotals) -> None:
        self._finer = partial(counter.gram, totals, MANY_SPLINES)
        self.gram = counter.gram(totals, N_SPLINES)
        self._norms = NullNorms([np.ones(rank) for rank in self.gram.rank])

    def select(
        self,
        target: int,
        candidates: NDArray[np.intp],
        levels: Sequence[float],
        tol: float,
        required: Sequence[int] = (),
    ) -> list[TargetFit]:
        """Choose among the candidates, once per level; arguments as in `select.select`."""
        model = SumModel(self.gram, self._norms, target)
        candidates = strongest_first(model, candidates)
        first = short_list(model, candidates, required, tol)
        elimination = Elimination(model, candidates, set(required))
        fits = []
        for level in levels:
            chosen = elimination.completed(elimination.pruned(first.variables, level), first.variables, level)
            fit = self._closer(target, chosen, level, required)
            fits.append(fit._replace(margin=first.margin(fit.parents), gap=first.gap, converged=first.converged))
        return fits

    def _closer(self, target: int, chosen: list[Term], level: float, required: Sequence[int]) -> TargetFit:
        """Fit what was chosen by many splines, prune again, and describe what stays."""
        columns = np.array([*chosen, target], dtype=np.intp)
        gram = self._finer(columns)
        places = np.flatnonzero(gram.rank[:-1] > 0)
        kept = {place for place in places.tolist() if columns[place] in required}
        elimination = Elimination(SumModel(gram, self._norms, len(chosen)), places, kept)
        found = elimination.described(elimination.pruned([*places.tolist()], level))
        return TargetFit(target, columns[found.variables], found.strength, p_value=found.p_value)


class SummedPruning:
    """Parents from tests on all rows where sums tell all there is to tell, and otherwise from the sample.

    Sums over the rows are enough for additive models with equal variances. Where the sample shows that variables act on
    the target together, or that its tests must be robust, the sample decides on all of its parents: in a model without
    pairs, what a pair does looks like an effect of whatever else depends on its variables, and with many rows the least
    of it is significant.

    Parameters
    ----------
    survey : Survey
    sample : Table
        Its sample.
    levels, tol, interactions, robust, joint : as in `AutomaticPruning`, robust "auto" or False
    n_jobs : int, optional
        Threads that count.
    """

    def __init__(
        self,
        survey: Survey,
        sample: Table,
        levels: Sequence[float],
        tol: float,
        n_jobs: int | None,
        **kinds: Any,
    ) -> None:
        self._levels, self._tol = levels, tol
        self._needs_rows = bool(kinds["interactions"] or kinds["robust"] or kinds["joint"] is not None)
        self._sample = AutomaticPruning(sample, levels, tol, **kinds)
        counter = SmoothCounter.of(sample.values)
        self._selection = SummedSelection(counter, survey.total(counter.count, n_jobs))

    def fit(
        self,
        target: int,
        parents: NDArray[np.intp],
        required: NDArray[np.intp],
        known: list[TargetFit] | None = None,
    ) -> list[TargetFit]:
        """Choose the parents of one variable, once per level; arguments as in `AutomaticPruning.fit`."""
        rank = self._selection.gram.rank
        usable = parents[rank[parents] > 0]
        if len(usable) == 0 or rank[target] == 0:
            return [TargetFit(target, usable[:0])] * len(self._levels)
        kept = usable[np.isin(usable, required)]
        fits = [TargetFit(target, usable[:0])] * len(self._levels)
        if self._needs_rows:
            fits = self._sample.fit(target, usable, kept, known)
            if all(map(_needs_sample, fits)):
                return fits
        additive = self._selection.select(target, usable, self._levels, self._tol, kept.tolist())
        return [
            fit if _needs_sample(fit) else sums._replace(promise=fit.promise)
            for fit, sums in zip(fits, additive, strict=True)
        ]

    def with_effort(self, effort: JointEffort | None) -> SummedPruning:
        """Return the same with another effort of the search for joint effects."""
        other = object.__new__(type(self))
        other.__dict__.update(self.__dict__, _sample=self._sample.with_effort(effort))
        return other


def _needs_sample(fit: TargetFit) -> bool:
    """Return whether the sample decides on a target: sums know nothing of pairs, joint effects and robust tests."""
    return bool(fit.pairs or fit.by_process or fit.robust)

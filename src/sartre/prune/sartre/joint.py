"""Parents that act jointly: a Gaussian process over many candidates decides where it explains more.

A function of five or seven parents at once hardly shows in single variables or pairs, and what an additive model with
pairs cannot fit looks like an effect of every ancestor. So what was selected is compared with a process that sees all
candidates. A few rows come first. Where they show that nothing is left to find, nor a parent that only stood for a
misfit, the selection stands. Elsewhere the process is fitted to more rows and its candidates are eliminated backwards;
it decides if its likelihood, less a price per parent, is higher than that of the selection, and if the rows, each left
out in turn, confirm it.

The price is that of a test at the level of one candidate: half the chi-square quantile (one degree of freedom) at twice
the level, because a weight cannot be negative. Noise whose variance follows candidates is modelled; heavy tails call
for normal scores, as in `robust.py`.
"""

from __future__ import annotations

from functools import cached_property
from typing import TYPE_CHECKING, NamedTuple

import numpy as np
from numpy.typing import NDArray
from scipy.special import chdtrc, chdtri

from sartre.additive.mechanism import fit_mechanism
from sartre.process.fits import Fitted, ProcessFits, even_weights, lifted
from sartre.process.likelihood import Candidate, Inputs, gathered, joint_levels
from sartre.process.mechanism import ProcessMechanism, fit_process
from sartre.process.spread import row_variances
from sartre.prune.edges import TargetFit
from sartre.prune.sartre.constants import (
    ALL_ROWS,
    FIRST_ROWS,
    FIRST_SHARE,
    FIRST_STEPS,
    FOLDS,
    JOINT_GAIN,
    LEFT_OUT_T,
    MORE_STEPS,
    MOST_JOINT,
    WORTH_MORE_ROWS,
)
from sartre.prune.sartre.robust import has_heavy_tails

if TYPE_CHECKING:
    from sartre.process.likelihood import Weights
    from sartre.prune.sartre.rows import RowModel


def price_of(level: float) -> float:
    """Return the likelihood that a parent must gain at a level of its test.

    Examples
    --------
    >>> round(price_of(0.001), 2)
    4.77
    """
    return 0.5 * float(chdtri(1, min(1.0, 2 * level)))


class Decision(NamedTuple):
    """The fit of a target and, where a process decided, the weights of its parents in it."""

    fit: TargetFit
    weights: Weights | None = None


class JointSearch:
    """Processes of one target on its candidates, at few rows and at more.

    Parameters
    ----------
    model : RowModel
        The target, and what all targets share.
    rows : array of ints
        The rows in the order in which they are used.
    candidates : array of ints
        Those that come first are preferred where there are too many.
    found : array of ints
        Candidates that were selected so far.
    """

    def __init__(
        self,
        model: RowModel,
        rows: NDArray[np.intp],
        candidates: NDArray[np.intp],
        found: NDArray[np.intp],
    ) -> None:
        self._shared, self._y, self._rows = model.shared, model.y, rows
        others = candidates[~np.isin(candidates, found)]
        self.candidates = np.concatenate([found, others[: max(0, MOST_JOINT - len(found))]])

    @property
    def has_heavy_tails(self) -> bool:
        """Whether what the first process leaves of the target has heavy tails."""
        return has_heavy_tails(self._first[1].left_out.astype(np.float64))

    def decided(self, fit: TargetFit, level: float, required: NDArray[np.intp]) -> Decision:
        """Return the parents of a target: those of an earlier fit or, where the process finds others, its own."""
        price = price_of(level)
        chosen = np.flatnonzero(np.isin(self.candidates, fit.parents))
        kept = np.flatnonzero(np.isin(self.candidates, required)).tolist()
        if not self._is_open(chosen, price, kept):
            return Decision(fit)
        fits, whole = self._second
        best = fits.eliminated(whole, price, kept)
        if set(best.candidates.tolist()) == set(chosen.tolist()):
            return Decision(fit)
        selected = fits.fit(chosen, lifted(whole.weights.of(chosen)), MORE_STEPS)
        if best.priced(price) <= selected.priced(price) or not self._is_confirmed(fits, best, chosen):
            return Decision(fit)
        return Decision(self._described(fit, fits, best), best.weights)

    def _is_open(self, chosen: NDArray[np.intp], price: float, required: list[int]) -> bool:
        """Return whether, by the first rows, more can be found than was chosen, or less is needed."""
        fits, whole = self._first
        selected = fits.fit(chosen, lifted(whole.weights.of(chosen)), MORE_STEPS)
        if whole.value - selected.value >= WORTH_MORE_ROWS:
            return True
        smaller = fits.eliminated(selected, FIRST_SHARE * price, required)
        if len(smaller.candidates) == len(chosen):
            return False
        alone = selected.weights._replace(joint=0.0, within=np.zeros(len(chosen)))
        return (
            smaller.value - fits.fit(chosen, lifted(alone)._replace(within=alone.within), MORE_STEPS).value > JOINT_GAIN
        )

    @staticmethod
    def _is_confirmed(fits: ProcessFits, best: Fitted, chosen: NDArray[np.intp]) -> bool:
        """Return whether the parents that are new let a process miss rows that are left out by less, beyond chance."""
        old = np.flatnonzero(np.isin(best.candidates, chosen))
        if len(old) == len(best.candidates):
            return True
        other = fits.fit(best.candidates[old], lifted(best.weights.of(old)), MORE_STEPS)
        fall = other.left_out.astype(np.float64) ** 2 - best.left_out.astype(np.float64) ** 2
        return bool(fall.mean() > LEFT_OUT_T * fall.std() / np.sqrt(len(fall)))

    @cached_property
    def _first(self) -> tuple[ProcessFits, Fitted]:
        """The process of all candidates, at the first rows."""
        return self._fits(self._rows[:FIRST_ROWS], even_weights(len(self.candidates)), FIRST_STEPS)

    @cached_property
    def _second(self) -> tuple[ProcessFits, Fitted]:
        """The same at more rows."""
        rows, (fits, whole) = self._rows[:ALL_ROWS], self._first
        return (fits, whole) if len(rows) <= FIRST_ROWS else self._fits(rows, lifted(whole.weights), MORE_STEPS)

    def _fits(self, rows: NDArray[np.intp], start: Weights, steps: int) -> tuple[ProcessFits, Fitted]:
        inputs, y = self._inputs(rows), self._y[rows].astype(np.float32)
        everything = np.arange(len(self.candidates))
        fits = ProcessFits(inputs, y)
        whole = fits.fit(everything, start, steps)
        spread = row_variances(whole.left_out.astype(np.float64), self._shared.X[np.ix_(rows, self.candidates)])
        if spread is not None:
            fits = ProcessFits(inputs, y, spread.astype(np.float32))
            whole = fits.fit(everything, lifted(whole.weights), MORE_STEPS)
        return fits, whole

    def _inputs(self, rows: NDArray[np.intp]) -> Inputs:
        """Return what a process sees of the candidates."""
        shared, seen = self._shared, []
        for j in self.candidates.tolist():
            functions = shared.functions.functions(j)[rows]
            columns = shared.X[rows, j, None] if shared.has_line[j] else joint_levels(functions)
            seen.append(Candidate(columns, functions, shared.functions.roughness(j)))
        return gathered(seen)

    def _described(self, fit: TargetFit, fits: ProcessFits, best: Fitted) -> TargetFit:
        """Return the parents that a process chose, with what the target's fit and likelihood lose without each."""
        parents, margins = self.candidates[best.candidates], dict(zip(fit.parents.tolist(), fit.margin, strict=True))
        error = float(np.mean(best.left_out.astype(np.float64) ** 2))
        without = [fits.without(best, place) for place in range(len(parents))]
        falls = np.maximum(0.0, [best.value - other.value for other in without])
        return TargetFit(
            fit.target,
            parents,
            [max(0.0, float(np.mean(other.left_out.astype(np.float64) ** 2)) - error) for other in without],
            [margins.get(j, np.nan) for j in parents.tolist()],
            0.5 * chdtrc(1, 2 * falls),
            robust=self._shared.robust,
            gap=fit.gap,
            converged=fit.converged,
            joint=parents[best.weights.act_jointly].tolist(),
            by_process=True,
        )


def better_process(X: NDArray[np.float64], y: NDArray[np.float64], start: Weights) -> ProcessMechanism | None:
    """Return the process of a target on its parents (n, p), or None if additive models miss rows left out by less."""
    process = fit_process(X, y, start=start)
    additive = np.empty(len(y))
    for fold in range(FOLDS):
        held = np.arange(len(y)) % FOLDS == fold
        additive[held] = fit_mechanism(X[~held], y[~held]).residuals(X[held], y[held])
    return process if np.mean(process.left_out**2) < np.mean(additive**2) else None

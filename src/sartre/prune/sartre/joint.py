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

from collections.abc import Sequence
from functools import cached_property
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np
from numpy.typing import NDArray
from scipy.special import chdtrc, chdtri

from sartre.additive.mechanism import fit_mechanism
from sartre.process.constants import LOWEST_NOISE, REFIT_STEPS
from sartre.process.fits import Fitted, ProcessFits, even_weights, lifted
from sartre.process.likelihood import Candidate, Inputs, gathered, joint_levels
from sartre.process.mechanism import ProcessMechanism, fit_process
from sartre.process.spread import row_variances
from sartre.prune.edges import TargetFit
from sartre.prune.sartre.constants import (
    ALL_ROWS,
    BRIEF_FIRST_ROWS,
    BRIEF_ROWS,
    EVALUATIONS,
    FEWEST_JOINT_ROWS,
    FIRST_GAIN,
    FIRST_ROWS,
    FIRST_SHARE,
    FIRST_STEPS,
    FOLDS,
    JOINT_GAIN,
    LEFT_OUT_T,
    LOOKED,
    MORE_STEPS,
    MOST_EVALUATIONS,
    MOST_JOINT,
    NO_NOISE,
    WORTH_MORE_ROWS,
)
from sartre.prune.sartre.robust import has_heavy_tails

if TYPE_CHECKING:
    from sartre.process.likelihood import Weights
    from sartre.prune.sartre.rows import RowModel


SECONDS_PER_EVALUATION = 0.024  # at 1,000 rows, one thread


def price_of(level: float) -> float:
    """Return the likelihood that a parent must gain at a level of its test.

    Examples
    --------
    >>> round(price_of(0.001), 2)
    4.77
    """
    return 0.5 * float(chdtri(1, min(1.0, 2 * level)))


class JointEffort(NamedTuple):
    """How many rows the processes of a target see, and which targets they see.

    first_rows, all_rows: at first, and where they may change the parents. explores: whether they look at targets
    without any parent found so far. decides: whether they decide, or only say what they promise.
    """

    first_rows: int
    all_rows: int
    explores: bool = False
    decides: bool = True


THOROUGH = JointEffort(FIRST_ROWS, ALL_ROWS, explores=True)
BRIEF = JointEffort(BRIEF_FIRST_ROWS, BRIEF_ROWS)
LOOK_ONLY = BRIEF._replace(decides=False)


def affordable(promises: Sequence[float], n_candidates: Sequence[int], most: int = MOST_EVALUATIONS) -> list[int]:
    """Return the targets on which processes may decide within the evaluations of one table, most promising first.

    Parameters
    ----------
    promises : sequence of floats
        Of every target; zero where there is nothing to decide.
    n_candidates : sequence of ints
    most : int
        Evaluations.

    Examples
    --------
    >>> affordable([3.0, 0.0, 9.0], [19, 19, 19])
    [2, 0]
    >>> len(affordable([5.0] * 40, [25] * 40))
    6
    """
    chosen, left = [], most
    for k in sorted(range(len(promises)), key=lambda k: -promises[k]):
        left -= EVALUATIONS * min(n_candidates[k], MOST_JOINT)
        if promises[k] <= 0 or (chosen and left < 0):
            break
        chosen.append(k)
    return chosen


def seconds_of_all(promises: Sequence[float], n_candidates: Sequence[int], n_rows: int) -> float:
    """Return the time, within a factor of three, that processes of all targets would take on one thread."""
    first, second = (SECONDS_PER_EVALUATION * (min(n_rows, rows) / 1000) ** 2.3 for rows in (FIRST_ROWS, ALL_ROWS))
    looks = LOOKED * len(promises)
    decisions = sum(
        EVALUATIONS * min(k, MOST_JOINT) for promise, k in zip(promises, n_candidates, strict=True) if promise > 0
    )
    return looks * first + decisions * second


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
    effort : JointEffort
    device : optional
        As in `ProcessFits`.
    """

    def __init__(
        self,
        model: RowModel,
        rows: NDArray[np.intp],
        candidates: NDArray[np.intp],
        found: NDArray[np.intp],
        effort: JointEffort = THOROUGH,
        device: Any = None,
    ) -> None:
        self._shared, self._y, self._rows, self._effort = model.shared, model.y, rows, effort
        self._device = device
        others = candidates[~np.isin(candidates, found)]
        self.candidates = np.concatenate([found, others[: max(0, MOST_JOINT - len(found))]])

    @property
    def has_heavy_tails(self) -> bool:
        """Whether what the first process leaves of the target has heavy tails."""
        return has_heavy_tails(self._first[1].scaled_left_out.astype(np.float64))

    def decided(self, fit: TargetFit, level: float, required: NDArray[np.intp]) -> Decision:
        """Return the parents of a target: those of an earlier fit or, where the process finds others, its own."""
        price = price_of(level)
        chosen = np.flatnonzero(np.isin(self.candidates, fit.parents))
        kept = np.flatnonzero(np.isin(self.candidates, required)).tolist()
        promise = self._promise(chosen, price, kept)
        if promise == 0 or not self._effort.decides:
            return Decision(fit._replace(promise=promise))
        fits, whole = self._second
        best = self._restored(fits.eliminated(whole, price, kept), chosen, price)
        best = self._confirmed(fits, best, chosen)
        if set(best.candidates.tolist()) == set(chosen.tolist()):
            return Decision(fit)
        selected = fits.fit(chosen, lifted(whole.weights.of(chosen)), MORE_STEPS)
        if best.priced(price) <= selected.priced(price):
            return Decision(fit)
        return Decision(self._described(fit, fits, best), best.weights)

    def _promise(self, chosen: NDArray[np.intp], price: float, required: list[int]) -> float:
        """Return how much likelihood, by the first rows, other parents than the chosen ones may gain; zero if none."""
        fits, whole = self._first
        selected = fits.fit(chosen, lifted(whole.weights.of(chosen)), MORE_STEPS)
        if selected.weights.noise < NO_NOISE * LOWEST_NOISE:  # what is left is below what a process can see
            return 0.0
        price *= FIRST_SHARE
        gain = whole.value - selected.value
        if gain >= WORTH_MORE_ROWS:
            if self._effort.explores:
                return gain
            gain = fits.eliminated(whole, price, required).priced(price) - selected.priced(price)
            if gain > FIRST_GAIN:
                return gain
        smaller = fits.eliminated(selected, price, required)
        if len(smaller.candidates) == len(chosen):
            return 0.0
        alone = selected.weights._replace(joint=0.0, within=np.zeros(len(chosen)))
        gain = smaller.value - fits.fit(chosen, lifted(alone)._replace(within=alone.within), MORE_STEPS).value
        return gain if gain > JOINT_GAIN else 0.0

    def _restored(self, best: Fitted, chosen: NDArray[np.intp], price: float) -> Fitted:
        """Return the process with those of the chosen parents that it removed, but that further rows show to matter.

        A weak effect that many rows prove is nothing to a process that sees few of them. So what is lost without a
        removed parent, in a process with all of them, is added up over the rows that were not used, as many at a time.
        """
        (fits, whole), size = self._second, self._effort.all_rows
        removed = np.setdiff1d(chosen, best.candidates)
        later = [self._rows[k : k + size] for k in range(size, len(self._rows), size)]
        later = [rows for rows in later if len(rows) >= FEWEST_JOINT_ROWS]
        if len(removed) == 0 or not later:
            return best
        union = np.concatenate([best.candidates, removed])
        weights = fits.fit(union, lifted(whole.weights.of(union)), MORE_STEPS).weights
        lost = np.zeros(len(removed))
        for rows in [self._rows[:size], *later]:
            process = ProcessFits(self._inputs(rows), self._y[rows].astype(np.float32), device=self._device)
            value = process.value(union, weights)
            for k in range(len(removed)):
                others = np.delete(np.arange(len(union)), len(best.candidates) + k)
                lost[k] += value - process.value(union[others], weights.of(others))
        if not (lost > price).any():
            return best
        restored = np.concatenate([best.candidates, removed[lost > price]])
        return fits.fit(restored, lifted(whole.weights.of(restored)), MORE_STEPS)

    @staticmethod
    def _confirmed(fits: ProcessFits, best: Fitted, chosen: NDArray[np.intp]) -> Fitted:
        """Return the process without the parents that are new, unless they let it miss rows that are left out by less.

        Removing a parent needs no such confirmation: what was removed in favour of parents that only seemed to act
        stays removed.
        """
        old = np.flatnonzero(np.isin(best.candidates, chosen))
        if len(old) == len(best.candidates):
            return best
        other = fits.fit(best.candidates[old], lifted(best.weights.of(old)), MORE_STEPS)
        fall = other.left_out.astype(np.float64) ** 2 - best.left_out.astype(np.float64) ** 2
        return best if fall.mean() > LEFT_OUT_T * fall.std() / np.sqrt(len(fall)) else other

    @cached_property
    def _first(self) -> tuple[ProcessFits, Fitted]:
        """The process of all candidates, at the first rows."""
        return self._fits(self._rows[: self._effort.first_rows], even_weights(len(self.candidates)), FIRST_STEPS)

    @cached_property
    def _second(self) -> tuple[ProcessFits, Fitted]:
        """The same at more rows."""
        rows, (fits, whole) = self._rows[: self._effort.all_rows], self._first
        return (
            (fits, whole)
            if len(rows) <= self._effort.first_rows
            else self._fits(rows, lifted(whole.weights), MORE_STEPS)
        )

    def _fits(self, rows: NDArray[np.intp], start: Weights, steps: int) -> tuple[ProcessFits, Fitted]:
        inputs, y = self._inputs(rows), self._y[rows].astype(np.float32)
        everything = np.arange(len(self.candidates))
        fits = ProcessFits(inputs, y, device=self._device)
        whole = fits.fit(everything, start, steps)
        spread = row_variances(whole.scaled_left_out.astype(np.float64), self._shared.X[np.ix_(rows, self.candidates)])
        if spread is not None:
            fits = ProcessFits(inputs, y, spread.astype(np.float32), self._device)
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
        """Return the parents that a process chose, with what the target's fit and likelihood lose without each.

        The fit is that of rows that are left out, and the other parents are fitted again without one.
        """
        parents, margins = self.candidates[best.candidates], dict(zip(fit.parents.tolist(), fit.margin, strict=True))
        error = float(np.mean(best.left_out.astype(np.float64) ** 2))
        without = [fits.without(best, place) for place in range(len(parents))]
        falls = np.maximum(0.0, [best.value - other.value for other in without])
        refitted = [fits.fit(other.candidates, lifted(other.weights), REFIT_STEPS) for other in without]
        errors = [float(np.mean(other.left_out.astype(np.float64) ** 2)) for other in refitted]
        return TargetFit(
            fit.target,
            parents,
            np.clip(np.array(errors) - error, 0.0, 1.0),
            [margins.get(j, np.nan) for j in parents.tolist()],
            0.5 * chdtrc(1, 2 * falls),
            robust=self._shared.robust,
            gap=fit.gap,
            converged=fit.converged,
            joint=parents[best.weights.act_jointly].tolist(),
            by_process=True,
        )


def better_process(
    X: NDArray[np.float64], y: NDArray[np.float64], start: Weights, device: Any = None
) -> ProcessMechanism | None:
    """Return the process of a target on its parents (n, p), or None if additive models miss rows left out by less."""
    process = fit_process(X, y, start=start, device=device)
    additive = np.empty(len(y))
    for fold in range(FOLDS):
        held = np.arange(len(y)) % FOLDS == fold
        additive[held] = fit_mechanism(X[~held], y[~held]).residuals(X[held], y[held])
    return process if np.mean(process.left_out**2) < np.mean(additive**2) else None

"""Choose the variables of an additive model from inner products alone: the rows were added up before.

The steps and the rules are those of `selection.py` without pairs: a loose lasso and a linear model of all candidates
make a short list, which is fitted by penalised smooths; what is left of the target is screened again, and the least
significant variable is removed until all that are left are significant. The lasso is on the smooths themselves.

With very many rows the least misfit of a function is significant, and looks like an effect of whatever else depends on
its variable. So what is left is fitted once more by smooths with many more knots, and pruned again.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from sartre.additive.calibration import weighted_chi_square_quantile
from sartre.additive.gram_lasso import gram_terms, orthonormal_equations, solve_gram_calibrated
from sartre.additive.screening import linear_p_values
from sartre.additive.selection import MOST_ROUNDS, SAMPLES_A_TERM, SCREENING_LEVEL, Selection
from sartre.additive.smoothing import describe_smooths, solve_smooths
from sartre.additive.term_model import TOL

if TYPE_CHECKING:
    from collections.abc import Sequence

    from numpy.typing import NDArray

    from sartre.additive.products import SmoothCounter, SmoothTotals
    from sartre.additive.smoothing import Gram, Solved

N_SPLINES = 10  # of a variable while there are many of them
MANY_SPLINES = 40  # of one that is in the model


class CountedSelection:
    """Chooses among the smooths of all columns, for any of them as a target.

    Parameters
    ----------
    counter : SmoothCounter
    totals : SmoothTotals
        What it counted.

    Examples
    --------
    >>> from sartre.additive.products import SmoothCounter
    >>> X = np.random.default_rng(0).normal(size=(2000, 3))
    >>> X[:, 2] += X[:, 0] ** 2
    >>> counter = SmoothCounter.of(X)
    >>> selection = CountedSelection(counter, counter.count(X))
    >>> selection.select(2, np.array([0, 1]), levels=[0.01], tol=1e-6)[0].variables
    array([0])
    """

    def __init__(self, counter: SmoothCounter, totals: SmoothTotals) -> None:
        self._counter, self._totals = counter, totals
        products = self.products = counter.gram(totals, N_SPLINES)
        self._normal = orthonormal_equations(products)
        quantiles = [
            weighted_chi_square_quantile(SCREENING_LEVEL, np.ones(rank)) if rank else 0.0 for rank in products.rank
        ]
        self._norms = np.sqrt(quantiles)

    def select(
        self,
        target: int,
        candidates: NDArray[np.intp],
        levels: Sequence[float],
        tol: float,
        required: Sequence[int] = (),
    ) -> list[Selection]:
        """Choose among the candidates, once a level; arguments as in `selection.select`."""
        screened = solve_gram_calibrated(self._normal, target, candidates, self._norms, tol)
        found = gram_terms(self._normal, target, screened)
        margins = dict(zip(found.variables.tolist(), found.margin.tolist(), strict=True))
        first = [j for j in candidates.tolist() if j in {*margins, *self._lines(target, candidates), *required}]
        search = _Search(self.products, target, candidates, set(required), self._norms)
        result = []
        for level in levels:
            chosen = search.completed(search.pruned(first, level), first, level)
            variables, strength, p_value = self._closely(target, chosen, level, required)
            margin = np.array([margins.get(j, np.nan) for j in variables.tolist()])
            result.append(
                Selection(variables, strength, margin, p_value, [], False, screened.gap, screened.converged)  # noqa: FBT003
            )
        return result

    def _closely(
        self, target: int, chosen: list[int], level: float, required: Sequence[int]
    ) -> tuple[NDArray[np.intp], NDArray[np.float64], NDArray[np.float64]]:
        """Fit what was chosen by many splines, prune again, and describe what stays."""
        columns = np.array([*chosen, target], dtype=np.intp)
        products = self._counter.gram(self._totals, MANY_SPLINES, columns)
        places = np.flatnonzero(products.rank[:-1] > 0)
        fixed = {place for place in places.tolist() if chosen[place] in required}
        search = _Search(products, len(chosen), places, fixed, np.zeros(0))
        stay = search.pruned(places.tolist(), level)
        return columns[stay], *search.described(stay)

    def _lines(self, target: int, candidates: NDArray[np.intp]) -> list[int]:
        """Return the candidates that a linear model of all of them finds."""
        if SAMPLES_A_TERM * len(candidates) > self.products.n:
            return []
        lines = self.products.start[candidates]
        square = self.products.matrix[np.ix_(lines, lines)]
        p_value = linear_p_values(self.products.n, square, self.products.cross[lines, target])
        return candidates[p_value < SCREENING_LEVEL].tolist()


class _Search:
    """Models of one target, pruned by tests."""

    def __init__(
        self,
        products: Gram,
        target: int,
        candidates: NDArray[np.intp],
        required: set[int],
        norms: NDArray[np.float64],
    ) -> None:
        self._products, self._target, self._candidates = products, target, candidates
        self._required, self._norms = required, norms
        self._log_lambda: dict[int, float] = {}
        self._last: tuple[list[int], Solved, NDArray[np.float64]] | None = None

    def tested(self, chosen: list[int]) -> tuple[Solved, NDArray[np.float64]]:
        """Fit the variables, smoothness from where it was last, and test each."""
        if self._last is None or self._last[0] != chosen:
            start = np.array([self._log_lambda.get(j, np.inf) for j in chosen])
            solved = solve_smooths(self._products, self._target, np.array(chosen, dtype=np.intp), start, TOL)
            self._log_lambda.update(zip(chosen, solved.log_lambda.tolist(), strict=True))
            self._last = chosen, solved, describe_smooths(self._products, solved).p_value
        return self._last[1:]

    def pruned(self, chosen: list[int], level: float) -> list[int]:
        """Remove the least significant variable, again and again."""
        while chosen:
            _, p_value = self.tested(chosen)
            free = [(p, j) for p, j in zip(p_value.tolist(), chosen, strict=True) if j not in self._required]
            if not free or max(free)[0] < level:
                break
            chosen = [j for j in chosen if j != max(free)[1]]
        return chosen

    def completed(self, chosen: list[int], tried: list[int], level: float) -> list[int]:
        """Screen again by what the model leaves of the target."""
        for _ in range(MOST_ROUNDS):
            gradients, variance = self._left(chosen)
            norms = np.sqrt(np.add.reduceat(np.append(gradients**2, 0.0), self._products.start))
            norms = np.where(self._products.rank > 0, norms, 0.0)[self._candidates]
            bound = self._norms[self._candidates] * np.sqrt(variance / self._products.n)
            fresh = [j for j in self._candidates[norms > bound].tolist() if j not in tried]
            if not fresh:
                break
            tried = [*tried, *fresh]
            chosen = self.pruned([*chosen, *fresh], level)
        return chosen

    def described(self, chosen: list[int]) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
        """Return the share of variance lost without each variable, and its p-value."""
        if not chosen:
            return np.empty(0), np.empty(0)
        solved, p_value = self.tested(chosen)
        gradients, _ = self._left(chosen)
        inner = self._products.matrix[np.ix_(solved.columns, solved.columns)]
        strength = []
        for k in range(len(chosen)):
            mine = solved.owner == k
            beta = solved.beta[mine]
            strength.append(beta @ inner[np.ix_(mine, mine)] @ beta + 2 * beta @ gradients[solved.columns[mine]])
        return np.array(strength), p_value

    def _left(self, chosen: list[int]) -> tuple[NDArray[np.float64], float]:
        """Return the inner products of all functions with what a model leaves of the target, and its mean square."""
        cross = self._products.cross[:, self._target]
        if not chosen:
            return cross, 1.0
        solved, _ = self.tested(chosen)
        gradients = cross - self._products.matrix[:, solved.columns] @ solved.beta
        return gradients, float(1.0 - solved.beta @ (cross + gradients)[solved.columns])

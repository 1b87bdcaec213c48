"""Backward elimination: the least significant term is removed until all that remain are significant.

The short list is fitted by penalised smooths (`smoothing.py`), which do not shrink what is needed, and every term is
tested. One term is removed at a time: of two variables that say the same either can go, but not both. Whether a model
comes from rows or from sums over them makes no difference here.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple, Protocol, TypeVar

import numpy as np
from numpy.typing import NDArray

from sartre.additive.smoothing import lost_share
from sartre.prune.sartre.constants import PAIR_STAYS
from sartre.prune.sartre.screen import screening_level

if TYPE_CHECKING:
    from sartre.additive.smoothing import Solved
    from sartre.prune.sartre.rows import Term
    from sartre.prune.sartre.screen import Screened


SAME_P_VALUE = 1e-6  # relative difference that rounding may make
_T = TypeVar("_T")


class TargetModel(Protocol):
    """Models of one target with n samples on any terms: what screening and elimination need of the data."""

    n: int

    def screened(self, candidates: NDArray[np.intp], level: float, tol: float) -> Screened:
        """Return what a group lasso selects at a level."""
        ...

    def lines(self, candidates: NDArray[np.intp]) -> tuple[NDArray[np.intp], NDArray[np.float64]]:
        """Return the candidates that have a line, and the p-value of each in the linear model of all of them."""
        ...

    def null_norms(self, level: float) -> NDArray[np.float64]:
        """Return what the pull of each variable exceeds by chance with this probability, shape (d,)."""
        ...

    def pulls(self, solved: Solved | None, candidates: NDArray[np.intp]) -> NDArray[np.float64]:
        """Return how much each candidate pulls at what a fit (None: of no term) leaves of the target."""
        ...

    def solve(self, chosen: list[Term]) -> Solved:
        """Fit some terms together."""
        ...

    def p_values(self, solved: Solved) -> NDArray[np.float64]:
        """Test every term of a fit."""
        ...


class Described(NamedTuple):
    """The variables of a model, the share of variance that is lost without each (`lost_share`), and their p-values."""

    variables: NDArray[np.intp]
    strength: NDArray[np.float64]
    p_value: NDArray[np.float64]


class Elimination:
    """Backward elimination for one target.

    Parameters
    ----------
    model : TargetModel
    candidates : array of ints
    required : set of ints
        Candidates that stay whatever their test says.
    """

    def __init__(self, model: TargetModel, candidates: NDArray[np.intp], required: set[int]) -> None:
        self._model, self._candidates, self._required = model, candidates, required
        self._last: tuple[list[Term], Solved, NDArray[np.float64]] | None = None

    def tested(self, chosen: list[Term]) -> tuple[Solved, NDArray[np.float64]]:
        """Fit the terms and test each; the last result is remembered, because it is often asked for again."""
        if self._last is None or self._last[0] != chosen:
            solved = self._model.solve(chosen)
            p_value = self._model.p_values(solved)
            p_value[np.isnan(p_value)] = 1.0  # without residual degrees of freedom nothing shows that a term is needed
            self._last = chosen, solved, p_value
        return self._last[1:]

    def fitted(self, chosen: list[Term]) -> Solved:
        """Fit the terms, if they are not those that were tested last."""
        return self._last[1] if self._last is not None and self._last[0] == chosen else self._model.solve(chosen)

    def pruned(self, chosen: list[Term], level: float) -> list[Term]:
        """Remove the least significant pair, then the least significant variable with its pairs, one at a time."""
        while chosen:
            _, p_value = self.tested(chosen)
            pairs = {term: p for term, p in zip(chosen, p_value, strict=True) if isinstance(term, tuple)}
            if pairs and max(pairs.values()) > PAIR_STAYS:
                worst = _last_of_largest(pairs)
                chosen = [term for term in chosen if term != worst]
                continue
            free = {j: p for j, p in _p_values(chosen, p_value).items() if j not in self._required}
            if not free or max(free.values()) < level:
                break
            worst = _last_of_largest(free)
            chosen = [term for term in chosen if not _involves(term, worst)]
        return chosen

    def completed(self, chosen: list[Term], tried: list[Term], level: float) -> list[Term]:
        """Screen again by what the model leaves of the target: much smaller, it shows effects that were hidden."""
        candidates = self._candidates
        norms = self._model.null_norms(screening_level(len(candidates)))[candidates]
        while True:
            pulls = self._model.pulls(self.fitted(chosen) if chosen else None, candidates)
            new = [j for j in candidates[pulls > norms].tolist() if j not in tried]
            if not new:
                return chosen
            tried = [*tried, *new]
            before, chosen = chosen, self.pruned([*chosen, *new], level)
            if chosen == before:  # so is what the model leaves of the target
                return chosen

    def described(self, chosen: list[Term]) -> Described:
        """Describe every variable of a model; without it and its pairs, the others are fitted again."""
        variables = variables_of(chosen)
        if not variables:
            return Described(np.empty(0, dtype=np.intp), np.empty(0), np.empty(0))
        solved, p_value = self.tested(chosen)
        smaller = [self._model.solve([term for term in chosen if not _involves(term, j)]) for j in variables]
        strength = np.array([lost_share(solved, other) for other in smaller])
        return Described(np.array(variables), strength, np.array(list(_p_values(chosen, p_value).values())))


def variables_of(chosen: list[Term]) -> list[int]:
    """Return the variables of a model, whose own functions are among its terms."""
    return [term for term in chosen if isinstance(term, int)]


def _last_of_largest(p_values: dict[_T, float]) -> _T:
    """Return the term with the largest p-value; of those equal up to rounding the last, which pulls least."""
    largest = (1 - SAME_P_VALUE) * max(p_values.values())
    return next(term for term in reversed(p_values) if p_values[term] >= largest)


def _involves(term: Term, variable: int) -> bool:
    return variable in term if isinstance(term, tuple) else variable == term


def _p_values(chosen: list[Term], p_values: NDArray[np.float64]) -> dict[int, float]:
    """Return the p-value of every variable, from those of its terms."""
    of_terms: dict[int, list[float]] = {j: [] for j in variables_of(chosen)}
    for term, p_value in zip(chosen, p_values.tolist(), strict=True):
        for j in term if isinstance(term, tuple) else (term,):
            of_terms[j].append(p_value)
    return {j: combined(several) if len(several) > 1 else several[0] for j, several in of_terms.items()}


def combined(p_values: list[float]) -> float:
    """Combine p-values of dependent tests by the mean of their Cauchy quantiles (Liu and Xie, 2020).

    Small p-values come out as their harmonic mean: Bonferroni's, where one is much smaller than the others, and less
    where several are small. None counts as more than 0.99, so that a useless term cannot outweigh a useful one.

    Examples
    --------
    >>> [round(combined(some), 9) for some in ([1e-6, 0.8, 1.0], [1e-6, 1e-6], [0.0, 0.5], [1e-310, 0.5])]
    [3e-06, 1e-06, 0.0, 0.0]
    """
    with np.errstate(divide="ignore", over="ignore"):
        quantiles = 1 / np.tan(np.pi * np.minimum(p_values, 0.99))
    return float(np.arctan2(1, quantiles.mean()) / np.pi)

"""A short list of candidates: what a loose lasso selects, and what a linear model of all of them finds.

If y is noise of variance sigma^2, independent of variable j, then n |Phi_j' y / n|^2 / sigma^2 is (nearly) distributed
as sum_k D_jk chi^2_1, where D_j is the spectrum of the group (`design.py`). So the penalty sigma sqrt(q_j / n), with
q_j the upper quantile of that sum at a level, lets a useless group in with that probability: whatever the unit of the
target, the number of samples, trees or distinct values.

The group lasso shrinks, so what it leaves in the residual leaks into useless variables; its support is a short list
and no more.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Sequence
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np
from numpy.typing import NDArray
from scipy.special import stdtr

from sartre.additive.significance import weighted_chi_square_quantile
from sartre.prune.sartre.constants import (
    MOST_BY_CHANCE,
    SAMPLES_PER_LINE,
    SCREENING_LEVEL,
)

if TYPE_CHECKING:
    from sartre.additive.lasso import Terms
    from sartre.prune.sartre.backward import TargetModel
    from sartre.prune.sartre.rows import Term


class Screened(NamedTuple):
    """What a lasso selects, its duality gap, and whether it converged."""

    terms: Terms
    gap: float
    converged: bool


class ShortList(NamedTuple):
    """Candidates worth a model, in their own order; the margins of those the lasso selected; how the lasso ended."""

    variables: list[Term]
    margins: dict[int, float]
    gap: float
    converged: bool

    def margin(self, variables: NDArray[np.intp]) -> NDArray[np.float64]:
        """Return the margins of some variables, NaN for those that were found otherwise."""
        return np.array([self.margins.get(j, np.nan) for j in variables.tolist()])


def short_list(model: TargetModel, candidates: NDArray[np.intp], required: Collection[int], tol: float) -> ShortList:
    """Screen the candidates of a target; required ones pass whatever the data say."""
    level = screening_level(len(candidates))
    screened = model.screened(candidates, level, tol)
    margins = dict(zip(screened.terms.variables.tolist(), screened.terms.margin.tolist(), strict=True))
    passing = list(margins)
    if SAMPLES_PER_LINE * len(candidates) <= model.n:  # the lasso misses weak straight effects among many
        lines, p_value = model.lines(candidates)
        passing += lines[p_value < level].tolist()
    variables: list[Term] = [j for j in candidates.tolist() if j in {*passing, *required}]
    return ShortList(variables, margins, screened.gap, screened.converged)


def strongest_first(model: TargetModel, candidates: NDArray[np.intp]) -> NDArray[np.intp]:
    """Sort candidates by their pull at the target, so that no result depends on the position of a column."""
    return candidates[np.argsort(-model.pulls(None, candidates), kind="stable")]


def screening_level(n_candidates: int) -> float:
    """Return the chance of a useless variable to pass the screening: 0.05, halved until 20 at most are expected to.

    Every one that passes is fitted and tested, so that without this bound the work for one target would grow with the
    cube of the candidates; and what stays at last has a p-value far below this level anyway.

    Examples
    --------
    >>> screening_level(100), screening_level(400), screening_level(10_000)
    (0.05, 0.05, 0.0015625)
    """
    level = SCREENING_LEVEL
    while level * n_candidates > MOST_BY_CHANCE:
        level /= 2
    return level


class NullNorms:
    """sqrt(q_j) of every variable, at any level: what its gradient norm exceeds by chance, in units of sigma / sqrt(n).

    Each level is computed when it is first asked for.

    Parameters
    ----------
    spectra : d arrays
        D_j of every variable.
    """

    def __init__(self, spectra: Sequence[NDArray[np.float64]]) -> None:
        self._spectra = spectra
        self._known: dict[float, NDArray[np.float64]] = {}

    def at(self, level: float) -> NDArray[np.float64]:
        """Return the norms at a level, shape (d,)."""
        if level not in self._known:
            quantiles = [weighted_chi_square_quantile(level, D) if len(D) else 0.0 for D in self._spectra]
            self._known[level] = np.sqrt(quantiles)
        return self._known[level]


def solve_calibrated(solve: Callable[[float, Any], Any], spread: float) -> Any:
    """Fit a lasso with the target's spread as penalty, then with that of what it leaves (the scaled lasso, two rounds).

    Parameters
    ----------
    solve : function
        Of a penalty and a solution to start from, or None.
    spread : float
        The target's standard deviation, the first sigma.
    """
    solution = solve(spread, None)
    return solve(solution.residual_spread, solution)


def line_p_values(n: int, square: NDArray[np.float64], cross: NDArray[np.float64]) -> NDArray[np.float64]:
    """Return the p-value of every column in the linear model of a target on all of them, all standardised.

    Parameters
    ----------
    n : int
        Number of samples.
    square, cross : arrays of shape (m, m), (m,)
        Mean products of the columns with each other and with the target, whose own mean square is one.
    """
    m = len(cross)
    inverse: NDArray[np.float64] = np.asarray(np.linalg.inv(square + 1e-8 * np.eye(m)), dtype=np.float64)
    beta = inverse @ cross  # the ridge: copies share their effect
    unexplained, df = float(1.0 - beta @ (2 * cross - square @ beta)), n - m - 1
    noise = max(unexplained, 1e-12) * n / max(df, 1)
    return 2 * stdtr(df, -np.abs(beta) / np.sqrt(noise / n * inverse.diagonal()))

"""The group lasso over prepared variables: one target, its candidate parents, a certified solution.

    min_b  1/(2n) | y - mean(y) - sum_j Phi_j b_j |^2  +  penalty * sum_j w_j |b_j|_2

This scale (a mean square, raw columns, the intercept by centring) is the one on which the paper's
penalty of 0.1 works. Every solution carries its duality gap: an upper bound on how far its objective is
from the optimum.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from sartre.additive import _kernels

if TYPE_CHECKING:
    from collections.abc import Iterable

    from numpy.typing import NDArray

    from sartre.additive.design import Design

TOL = 1e-6
MAX_EPOCHS = 10_000


@dataclass(frozen=True)
class Groups:
    """The blocks of coefficients of a solution.

    Attributes
    ----------
    candidates : array of shape (m,)
        The variables of the problem, as positions in the design.
    penalties : array of shape (m,)
        ``penalty * weight`` of each.
    coefficients : array
        Rotated coefficients g_j of all candidates, one block after the other (the original ones are V_j g_j; the norms
        are equal); the block of candidate a ends before ``ends[a]``.
    ends : array of shape (m,)
    """

    candidates: NDArray[np.intp]
    penalties: NDArray[np.float64]
    coefficients: NDArray[np.float64]
    ends: NDArray[np.intp]

    @property
    def blocks(self) -> list[NDArray[np.float64]]:
        """The coefficients of each candidate."""
        return [self.block(a) for a in range(len(self.candidates))]

    def block(self, a: int) -> NDArray[np.float64]:
        """Return the coefficients of one candidate."""
        return self.coefficients[self.ends[a - 1] if a else 0 : self.ends[a]]

    @property
    def selected(self) -> NDArray[np.bool_]:
        """Which candidates have a block that is not zero."""
        chosen = np.zeros(len(self.candidates), dtype=bool)
        chosen[np.searchsorted(self.ends, np.flatnonzero(self.coefficients), side="right")] = True
        return chosen

    @property
    def support(self) -> NDArray[np.intp]:
        """The candidates whose block is not zero."""
        return self.candidates[self.selected]


@dataclass(frozen=True)
class Solution(Groups):
    """What `solve` found, and how well.

    Attributes
    ----------
    residual : array of shape (n,)
        y - mean(y) - fit.
    bounds : array of shape (m,)
        At least |Phi_j' residual| / n of each candidate.
    objective, gap : float
        The value reached, and an upper bound on its distance to the optimum.
    n_epochs : int
        Sweeps over the active groups.
    converged : bool
        Whether ``gap <= tol * |y - mean(y)|^2 / n``.
    """

    residual: NDArray[np.float64]
    bounds: NDArray[np.float64]
    objective: float
    gap: float
    n_epochs: int
    converged: bool


@dataclass(frozen=True)
class Term:
    """One selected variable of a solution.

    Attributes
    ----------
    variable : int
        Position in the design.
    values : array of shape (n_bins,)
        The fitted function g_j, bin by bin; its mean over the samples is zero.
    importance : float
        Root mean square of g_j over the samples.
    strength : float
        Share of the target's variance lost when g_j is dropped from the fitted model.
    margin : float
        Norm of the gradient with g_j taken out, over the penalty: 1 is the edge of being pruned.
    """

    variable: int
    values: NDArray[np.float64]
    importance: float
    strength: float
    margin: float


def solve(
    design: Design,
    target: NDArray[np.float64],
    candidates: NDArray[np.intp],
    penalty: float,
    *,
    weights: NDArray[np.float64] | None = None,
    start: Solution | None = None,
    tol: float = TOL,
    max_epochs: int = MAX_EPOCHS,
) -> Solution:
    """Fit one target on its candidates.

    Parameters
    ----------
    design : Design
        Prepared once, shared by all targets.
    target : array of shape (n,)
        Centred inside; the intercept is its mean.
    candidates : array of ints
        Variables of the design that may enter.
    penalty : float
        Zero or more.
    weights : array of shape (m,), optional
        Factor of the penalty for each candidate; 0 leaves one unpenalised. All one by default.
    start : Solution, optional
        A solution for the same target and candidates to start from.
    tol : float
        Stop when the duality gap is at most ``tol * |y - mean(y)|^2 / n``.
    max_epochs : int
        Give up after so many sweeps (the solution says so).

    Returns
    -------
    Solution

    Examples
    --------
    >>> from sartre.additive.design import prepare
    >>> from sartre.additive.trees import random_intervals
    >>> rng = np.random.default_rng(0)
    >>> X = rng.normal(size=(500, 3))
    >>> design = prepare(X, [random_intervals(column, 5, 8, rng) for column in X.T])
    >>> solution = solve(design, np.sin(2 * X[:, 1]), np.arange(3), penalty=0.1)
    >>> solution.support, solution.converged
    (array([1]), True)
    """
    candidates = np.asarray(candidates, dtype=np.intp)
    penalties = penalty * (np.ones(len(candidates)) if weights is None else np.asarray(weights, dtype=np.float64))
    y = np.ascontiguousarray(target - target.mean())
    ends = np.cumsum(design.rank[candidates])
    begins = ends - design.rank[candidates]
    if start is None:
        coefficients, residual = np.zeros(ends[-1] if len(ends) else 0), y.copy()
        bounds = np.full(len(candidates), np.inf)
    else:  # what was safely out at its residual need not be looked at again
        coefficients, residual, bounds = start.coefficients.copy(), start.residual.copy(), start.bounds.copy()
    objective, gap, n_epochs, converged = _kernels.group_lasso(
        design, y, candidates, penalties, begins, coefficients, residual, bounds, tol, max_epochs
    )
    return Solution(candidates, penalties, coefficients, ends, residual, bounds, objective, gap, n_epochs, converged)


def solve_path(
    design: Design,
    target: NDArray[np.float64],
    candidates: NDArray[np.intp],
    penalties: Iterable[float],
    *,
    weights: NDArray[np.float64] | None = None,
    tol: float = TOL,
    max_epochs: int = MAX_EPOCHS,
) -> list[Solution]:
    """Fit one target at several penalties, each from the solution before it; go from large to small."""
    path: list[Solution] = []
    for penalty in penalties:
        start = path[-1] if path else None
        path.append(
            solve(design, target, candidates, penalty, weights=weights, start=start, tol=tol, max_epochs=max_epochs)
        )
    return path


def largest_penalty(design: Design, target: NDArray[np.float64], candidates: NDArray[np.intp]) -> float:
    """Return the smallest penalty at which nothing enters: max_j |Phi_j' (y - mean(y))| / n."""
    return float(gradient_norms(design, target, candidates).max(initial=0.0))


def gradient_norms(design: Design, target: NDArray[np.float64], candidates: NDArray[np.intp]) -> NDArray[np.float64]:
    """Return |Phi_j' (y - mean(y))| / n of every candidate."""
    norms = np.empty(len(candidates))
    _kernels.gradient_norms(design, target - target.mean(), np.asarray(candidates, dtype=np.intp), norms)
    return norms


def terms(design: Design, target: NDArray[np.float64], solution: Solution) -> list[Term]:
    """Describe every selected variable of a solution: its function and how much it matters."""
    variance = np.var(target)
    found = []
    for a in np.flatnonzero(solution.selected).tolist():
        j, block, penalty = int(solution.candidates[a]), solution.block(a), solution.penalties[a]
        gradient = _gradient(design, j, solution.residual)
        spectrum = design.eigenvalues(j)
        fit_square = float(block @ (spectrum * block))
        margin = np.linalg.norm(gradient + spectrum * block) / penalty if penalty > 0 else np.inf
        found.append(
            Term(
                variable=j,
                values=design.table(j) @ block,
                importance=float(np.sqrt(fit_square)),
                strength=float((fit_square + 2 * gradient @ block) / variance),
                margin=float(margin),
            )
        )
    return found


def _gradient(design: Design, j: int, residual: NDArray[np.float64]) -> NDArray[np.float64]:
    sums = np.bincount(design.codes[j], weights=residual, minlength=design.n_bins[j])
    return design.table(j).T @ sums / len(residual)

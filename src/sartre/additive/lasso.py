"""The group lasso for one target and its candidates, from rows or from inner products, with certified solutions.

    min_b  1/(2n) | y - mean(y) - sum_j Phi_j b_j |^2  +  penalty * sum_j w_j |b_j|_2

The paper's penalty of 0.1 applies on this scale (a mean square, raw columns, an intercept removed by centring).
Every solution carries its duality gap: an upper bound on the distance of its objective from the optimum. `solve` works
on a `Design`; `solve_gram` works on a `Gram`, whose rows are already summed, and finds the same solution up to
rounding.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from sartre.additive.kernels import gram_lasso as gram_kernels
from sartre.additive.kernels import lasso as kernels

if TYPE_CHECKING:
    from sartre.additive.design import Design
    from sartre.additive.gram import Gram

GAP_TOL = 1e-6
MAX_EPOCHS = 10_000


@dataclass(frozen=True)
class Groups:
    """The blocks of coefficients of a solution, and its accuracy.

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
    objective, gap : float
        The value reached, and an upper bound on its distance from the optimum.
    n_epochs : int
        Sweeps over the active groups.
    converged : bool
        Whether ``gap <= tol * |y - mean(y)|^2 / n``.
    """

    candidates: NDArray[np.intp]
    penalties: NDArray[np.float64]
    coefficients: NDArray[np.float64]
    ends: NDArray[np.intp]
    objective: float
    gap: float
    n_epochs: int
    converged: bool

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
    """The solution that `solve` returns.

    Attributes
    ----------
    residual : array of shape (n,)
        y - mean(y) - fit.
    bounds : array of shape (m,)
        Upper bounds on |Phi_j' residual| / n of each candidate.
    """

    residual: NDArray[np.float64]
    bounds: NDArray[np.float64]

    @property
    def residual_spread(self) -> float:
        """The standard deviation of the residual."""
        return float(np.std(self.residual))


@dataclass(frozen=True)
class GramSolution(Groups):
    """The solution that `solve_gram` returns.

    Attributes
    ----------
    gradients : array
        c_j = Phi_j' r / n of all candidates, one block after the other.
    residual_square : float
        |r|^2 / n.
    """

    gradients: NDArray[np.float64]
    residual_square: float

    @property
    def residual_spread(self) -> float:
        """The standard deviation of the residual."""
        return float(np.sqrt(self.residual_square))


class Terms(NamedTuple):
    """The selected variables of a solution.

    variables: positions in the design. strength: share of the target's variance lost when g_j is dropped from the
    fitted model. margin: norm of the gradient with g_j removed, divided by the penalty; at 1 the variable is dropped.
    """

    variables: NDArray[np.intp]
    strength: NDArray[np.float64]
    margin: NDArray[np.float64]


def solve(
    design: Design,
    target: NDArray[np.float64],
    candidates: NDArray[np.intp],
    penalty: float,
    *,
    weights: NDArray[np.float64] | None = None,
    start: Solution | None = None,
    tol: float = GAP_TOL,
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
        Stop after this many sweeps; ``converged`` of the solution is then False.

    Examples
    --------
    >>> from sartre.additive.design import prepare
    >>> from sartre.additive.bases.trees import random_intervals
    >>> rng = np.random.default_rng(0)
    >>> X = rng.normal(size=(500, 3))
    >>> design = prepare(X, [random_intervals(column, 5, 8, rng) for column in X.T])
    >>> solution = solve(design, np.sin(2 * X[:, 1]), np.arange(3), penalty=0.1)
    >>> solution.support, solution.converged
    (array([1]), True)
    """
    candidates, penalties = _problem(candidates, penalty, weights)
    y = np.ascontiguousarray(target - target.mean())
    ends = np.cumsum(design.rank[candidates])
    begins = ends - design.rank[candidates]
    if start is None:
        coefficients, residual = np.zeros(ends[-1] if len(ends) else 0), y.copy()
        bounds = np.full(len(candidates), np.inf)
    else:  # groups that the bounds of the start exclude need not be checked again
        coefficients, residual, bounds = start.coefficients.copy(), start.residual.copy(), start.bounds.copy()
    objective, gap, n_epochs, converged = kernels.group_lasso(
        design, y, candidates, penalties, begins, coefficients, residual, bounds, tol, max_epochs
    )
    return Solution(candidates, penalties, coefficients, ends, objective, gap, n_epochs, converged, residual, bounds)


def _problem(
    candidates: NDArray[np.intp], penalty: float, weights: NDArray[np.float64] | None
) -> tuple[NDArray[np.intp], NDArray[np.float64]]:
    candidates = np.asarray(candidates, dtype=np.intp)
    return candidates, penalty * (np.ones(len(candidates)) if weights is None else np.asarray(weights, np.float64))


def solve_path(
    design: Design,
    target: NDArray[np.float64],
    candidates: NDArray[np.intp],
    penalties: Iterable[float],
    **options: Any,
) -> list[Solution]:
    """Fit one target at several penalties, best in decreasing order: each solution starts from the previous one."""
    path: list[Solution] = []
    for penalty in penalties:
        path.append(solve(design, target, candidates, penalty, start=path[-1] if path else None, **options))
    return path


def largest_penalty(design: Design, target: NDArray[np.float64], candidates: NDArray[np.intp]) -> float:
    """Return the smallest penalty at which no candidate enters: max_j |Phi_j' (y - mean(y))| / n."""
    return float(gradient_norms(design, target, candidates).max(initial=0.0))


def gradient_norms(design: Design, target: NDArray[np.float64], candidates: NDArray[np.intp]) -> NDArray[np.float64]:
    """Return |Phi_j' (y - mean(y))| / n of every candidate."""
    norms = np.empty(len(candidates))
    kernels.gradient_norms(design, target - target.mean(), np.asarray(candidates, dtype=np.intp), norms)
    return norms


def terms(design: Design, target: NDArray[np.float64], solution: Solution) -> Terms:
    """Describe every selected variable of a solution."""

    def gradient(a: int) -> NDArray[np.float64]:
        j = solution.candidates[a]
        sums = np.bincount(design.codes[j], weights=solution.residual, minlength=design.n_bins[j])
        return design.table(j).T @ sums / len(solution.residual)

    return _described(solution, gradient, lambda a: design.eigenvalues(solution.candidates[a]), float(np.var(target)))


def solve_gram(
    gram: Gram,
    target: int,
    candidates: NDArray[np.intp],
    penalty: float,
    *,
    weights: NDArray[np.float64] | None = None,
    start: GramSolution | None = None,
    tol: float = GAP_TOL,
    max_epochs: int = MAX_EPOCHS,
) -> GramSolution:
    """Fit one target, a column of ``gram.cross``, on its candidates; the other parameters are those of `solve`."""
    candidates, penalties = _problem(candidates, penalty, weights)
    rank = gram.rank[candidates]
    ends = np.cumsum(rank)
    width = int(ends[-1]) if len(ends) else 0
    coefficients = np.zeros(width) if start is None else start.coefficients.copy()
    gradients = np.empty(width)
    problem = (
        gram.matrix,
        np.ascontiguousarray(gram.cross[:, target]),
        float(gram.squares[target]),
        gram.start[candidates],
        rank,
        gram.matrix.diagonal().copy(),
        penalties,
        ends - rank,
    )
    objective, gap, square, n_epochs, converged = gram_kernels.gram_lasso(
        problem, coefficients, gradients, tol, max_epochs
    )
    reached = (objective, gap, n_epochs, converged)
    return GramSolution(candidates, penalties, coefficients, ends, *reached, gradients, square)


def gram_terms(gram: Gram, target: int, solution: GramSolution) -> Terms:
    """Describe every selected variable of a solution."""
    squares = gram.matrix.diagonal()

    def spectrum(a: int) -> NDArray[np.float64]:
        first = gram.start[solution.candidates[a]]
        return squares[first : first + len(solution.block(a))]

    def gradient(a: int) -> NDArray[np.float64]:
        return solution.gradients[solution.ends[a] - len(solution.block(a)) : solution.ends[a]]

    return _described(solution, gradient, spectrum, float(gram.squares[target]))


def _described(
    solution: Groups,
    gradient_of: Callable[[int], NDArray[np.float64]],
    spectrum_of: Callable[[int], NDArray[np.float64]],
    variance: float,
) -> Terms:
    """Describe the selected variables from their gradients and spectra, by their positions among the candidates."""
    chosen = np.flatnonzero(solution.selected)
    strength, margin = np.empty((2, len(chosen)))
    for k, a in enumerate(chosen.tolist()):
        block, gradient, penalty = solution.block(a), gradient_of(a), solution.penalties[a]
        fitted = spectrum_of(a) * block
        strength[k] = (block @ fitted + 2 * gradient @ block) / variance
        margin[k] = np.linalg.norm(gradient + fitted) / penalty if penalty > 0 else np.inf
    return Terms(solution.candidates[chosen], strength, margin)

"""The group lasso from inner products: rows were added up before (`counts.py`), and none is seen here.

The problem, its tolerance and its certificate are those of `group_lasso.py`, and so is the solution, up to rounding.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from sartre.additive import _gram_kernels
from sartre.additive.calibration import ROUNDS
from sartre.additive.design import rotate
from sartre.additive.group_lasso import MAX_EPOCHS, TOL, Groups

if TYPE_CHECKING:
    from collections.abc import Sequence

    from numpy.typing import NDArray

    from sartre.additive.counts import IntervalCounter, IntervalTotals
    from sartre.additive.design import Basis
    from sartre.additive.smoothing import Gram


class NormalEquations(NamedTuple):
    """Inner products (over n) of all functions of all variables: a design without rows.

    matrix (W, W): of the functions with each other; those of variable j, from ``start[j]`` on, ``rank[j]`` of them, are
    orthogonal: ``spectrum`` (W,) has their mean squares. cross (W, t): with the targets, centred. squares (t,): mean
    squares of the centred targets.
    """

    n: int
    matrix: NDArray[np.float64]
    cross: NDArray[np.float64]
    squares: NDArray[np.float64]
    start: NDArray[np.intp]
    rank: NDArray[np.intp]
    spectrum: NDArray[np.float64]


@dataclass(frozen=True)
class GramSolution(Groups):
    """What `solve_gram` found, and how well; as in `group_lasso.Solution`, but without rows.

    Attributes
    ----------
    gradients : array
        c_j = Phi_j' r / n of all candidates, one block after the other.
    residual_square : float
        |r|^2 / n.
    """

    gradients: NDArray[np.float64]
    residual_square: float
    objective: float
    gap: float
    n_epochs: int
    converged: bool


class GramTerms(NamedTuple):
    """The selected variables of a solution, and what is known of each; as in `group_lasso.Term`."""

    variables: NDArray[np.intp]
    strength: NDArray[np.float64]
    margin: NDArray[np.float64]


def normal_equations(bases: Sequence[Basis], counter: IntervalCounter, totals: IntervalTotals) -> NormalEquations:
    """Return the inner products of all bases, as `design.prepare` would rotate them on all rows, and of all columns.

    Examples
    --------
    >>> from sartre.additive.counts import IntervalCounter
    >>> from sartre.additive.trees import random_intervals
    >>> rng = np.random.default_rng(0)
    >>> X = rng.normal(size=(500, 3))
    >>> X[:, 2] += np.sin(2 * X[:, 1])
    >>> bases = [random_intervals(column, 5, 8, rng) for column in X.T]
    >>> counter = IntervalCounter.of(bases, X)
    >>> normal = normal_equations(bases, counter, counter.count(X[:200]) + counter.count(X[200:]))
    >>> solve_gram(normal, 2, np.arange(2), penalty=0.1).support
    array([1])
    """
    n_bins, pair_start, n = counter.n_bins, counter.pair_start, totals.n
    bin_start = np.cumsum(n_bins) - n_bins
    tables, spectra = [], []
    for basis, first, size in zip(bases, bin_start, n_bins, strict=True):
        rotation = rotate(basis, totals.sizes[first : first + size] / n)
        tables.append((basis.table - rotation.mean) @ rotation.vectors)
        spectra.append(rotation.squares)
    rank = np.array([len(spectrum) for spectrum in spectra], dtype=np.intp)
    start = np.cumsum(rank) - rank
    spectrum = np.concatenate([np.empty(0), *spectra])
    matrix, cross = np.diag(spectrum), np.zeros((len(spectrum), len(bases)))
    deviations = counter.deviations(totals)
    for j, table in enumerate(tables):
        mine = slice(start[j], start[j] + rank[j])
        cross[mine] = table.T @ deviations[bin_start[j] : bin_start[j] + n_bins[j]] / n
        for k in range(j + 1, len(tables)):
            first = pair_start[j, k]
            counts = totals.pairs[first : first + n_bins[j] * n_bins[k]].reshape(n_bins[j], n_bins[k])
            block = table.T @ counts @ tables[k] / n
            other = slice(start[k], start[k] + rank[k])
            matrix[mine, other], matrix[other, mine] = block, block.T
    return NormalEquations(n, matrix, cross, counter.variances(totals), start, rank, spectrum)


def orthonormal_equations(products: Gram) -> NormalEquations:
    """Return the inner products of smooths, which are orthonormal, and of standardised targets."""
    n_targets, width = products.cross.shape[1], len(products.matrix)
    return NormalEquations(
        products.n,
        products.matrix,
        products.cross,
        np.ones(n_targets),
        products.start,
        products.rank,
        np.ones(width),
    )


def solve_gram(
    normal: NormalEquations,
    target: int,
    candidates: NDArray[np.intp],
    penalty: float,
    *,
    weights: NDArray[np.float64] | None = None,
    start: GramSolution | None = None,
    tol: float = TOL,
    max_epochs: int = MAX_EPOCHS,
) -> GramSolution:
    """Fit one target on its candidates; parameters as in `group_lasso.solve`."""
    candidates = np.asarray(candidates, dtype=np.intp)
    penalties = penalty * (np.ones(len(candidates)) if weights is None else np.asarray(weights, dtype=np.float64))
    rank = normal.rank[candidates]
    ends = np.cumsum(rank)
    width = int(ends[-1]) if len(ends) else 0
    coefficients = np.zeros(width) if start is None else start.coefficients.copy()
    gradients = np.empty(width)
    problem = (
        normal.matrix,
        np.ascontiguousarray(normal.cross[:, target]),
        float(normal.squares[target]),
        normal.start[candidates],
        rank,
        normal.spectrum,
        penalties,
        ends - rank,
    )
    objective, gap, square, n_epochs, converged = _gram_kernels.gram_lasso(
        problem, coefficients, gradients, tol, max_epochs
    )
    return GramSolution(
        candidates, penalties, coefficients, ends, gradients, square, objective, gap, n_epochs, converged
    )


def solve_gram_calibrated(
    normal: NormalEquations, target: int, candidates: NDArray[np.intp], norms: NDArray[np.float64], tol: float
) -> GramSolution:
    """Fit one target with the penalty sigma sqrt(q_j / n), as `calibration.solve_calibrated` does."""
    weights = norms[candidates] / np.sqrt(normal.n)
    solution = None
    for _ in range(ROUNDS):
        square = normal.squares[target] if solution is None else solution.residual_square
        solution = solve_gram(
            normal, target, candidates, float(np.sqrt(square)), weights=weights, start=solution, tol=tol
        )
    return solution  # pyright: ignore[reportReturnType] - there is a round


def gram_terms(normal: NormalEquations, target: int, solution: GramSolution) -> GramTerms:
    """Describe every selected variable of a solution."""
    strength, margin = [], []
    chosen = np.flatnonzero(solution.selected)
    for a in chosen.tolist():
        block = solution.block(a)
        gradient = solution.gradients[solution.ends[a] - len(block) : solution.ends[a]]
        first = normal.start[solution.candidates[a]]
        fitted = normal.spectrum[first : first + len(block)] * block
        strength.append((block @ fitted + 2 * gradient @ block) / normal.squares[target])
        penalty = solution.penalties[a]
        margin.append(np.linalg.norm(gradient + fitted) / penalty if penalty > 0 else np.inf)
    return GramTerms(solution.candidates[chosen], np.array(strength), np.array(margin))

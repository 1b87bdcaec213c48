"""Additive models of penalised smooths: how smooth each term is comes from REML, whether it is needed from Wood's test.

A variable's functions are orthonormal over the samples (`design.py`): first its straight line, unpenalised, then its
wiggles with roughness s_k >= 1. With lambda_j the smoothing parameter of term j,

    min_b  | y - sum_j Phi_j b_j |^2 / n  +  sum_j lambda_j sum_k s_jk b_jk^2

needs nothing but the Gram matrix of all functions, so that a fit costs nothing that grows with n. The lambda_j minimise
the restricted likelihood; a term whose optimum is lambda = infinity is a straight line and costs one column.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, NamedTuple

import numpy as np
from scipy.linalg import LinAlgError, cho_solve, get_lapack_funcs, solve_triangular

from sartre.additive.wood import wood_test

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from sartre.additive.design import Design

HIGHEST = 12.0  # of log lambda: a straight line (roughness is at least 1)
MARGIN = 6.0  # below minus the log of the largest roughness there is no penalty at all
DIP = 1.0  # twice the log likelihood that bending must gain where the slope at the straight line does not show it
LARGEST_STEP = 5.0
TOL = 1e-3  # of the derivative of twice the log likelihood
RIDGE = 1e-10  # of the lines: exactly dependent columns share their effect
FLOOR = 1e-12  # of the unexplained variance: columns that are functions of each other
_CHUNK = 1 << 24  # numbers in a block of rows
_potrf, _trtri = get_lapack_funcs(("potrf", "trtri"), dtype=np.float64)


class Gram(NamedTuple):
    """Inner products (over n) of all functions of all variables with each other and with all targets.

    Variable j has the columns ``start[j]`` to ``start[j] + rank[j]`` of ``matrix``; the targets are standardised.
    """

    n: int
    matrix: NDArray[np.float64]
    cross: NDArray[np.float64]
    start: NDArray[np.intp]
    rank: NDArray[np.intp]
    roughness: NDArray[np.float64]


@dataclass(frozen=True)
class SmoothFit:
    """An additive model of one standardised target on `p` variables.

    Attributes
    ----------
    variables : array of shape (p,)
    coefficients : list of p arrays
        In the rotated, orthonormal functions of each variable; zeros where a term is a straight line.
    covariances : list of p arrays
        Bayesian covariance of the coefficients (Wood, 2013).
    log_lambda : array of shape (p,)
        Smoothing parameters; infinity for a straight line.
    edf, ref_df, statistic, p_value : arrays of shape (p,)
        Effective degrees of freedom, reference degrees of freedom of the test, its statistic and p-value.
    strength : array of shape (p,)
        Share of the target's variance lost when the term is dropped from the fitted model.
    residual_df, scale : float
        Degrees of freedom and variance of the noise.
    n_iterations : int
    converged : bool
    """

    variables: NDArray[np.intp]
    coefficients: list[NDArray[np.float64]]
    covariances: list[NDArray[np.float64]]
    log_lambda: NDArray[np.float64]
    edf: NDArray[np.float64]
    ref_df: NDArray[np.float64]
    statistic: NDArray[np.float64]
    p_value: NDArray[np.float64]
    strength: NDArray[np.float64]
    residual_df: float
    scale: float
    n_iterations: int
    converged: bool


def gram(design: Design, targets: NDArray[np.float64]) -> Gram:
    """Add up the inner products of a design and of (n, t) standardised targets, a block of rows at a time."""
    n, width = len(targets), int(design.rank.sum())
    matrix, cross = np.zeros((width, width)), np.zeros((width, targets.shape[1]))
    tables = [design.table(j) for j in range(len(design.rank))]
    step = max(1, _CHUNK // max(1, width))
    for first in range(0, n, step):
        codes = design.codes[:, first : first + step]
        functions = np.hstack([table[code] for table, code in zip(tables, codes, strict=True)])
        matrix += functions.T @ functions
        cross += functions.T @ targets[first : first + step]
    return Gram(n, matrix / n, cross / n, design.spectrum_start, design.rank, design.roughness)


class Solved(NamedTuple):
    """A fitted model, before anything is said of its terms.

    columns, owner, penalty (q,): columns of the Gram matrix in use, the term of each and its lambda s. inverse (q, q):
    (M + L)^-1; beta (q,). log_lambda (p,): infinity for a straight line. edf (q,): effective degrees of freedom.
    """

    variables: NDArray[np.intp]
    columns: NDArray[np.intp]
    owner: NDArray[np.intp]
    penalty: NDArray[np.float64]
    inverse: NDArray[np.float64]
    beta: NDArray[np.float64]
    log_lambda: NDArray[np.float64]
    edf: NDArray[np.float64]
    residual_df: float
    scale: float
    n_iterations: int
    converged: bool


def solve_smooths(
    products: Gram,
    target: int,
    variables: NDArray[np.intp],
    start: NDArray[np.float64] | None = None,
    tol: float = TOL,
) -> Solved:
    """Fit one target on the smooths of some variables (none of rank 0) and choose their smoothness.

    Parameters
    ----------
    products : Gram
    target : int
        Column of ``products.cross``.
    variables : array of ints, shape (p,)
    start : array of shape (p,), optional
        First log lambda; straight lines by default.
    tol : float
        Largest derivative of (twice) the likelihood with respect to a log lambda that is zero enough.
    """
    problem = _Problem(products, target, variables)
    log_lambda, n_iterations, converged = _smoothness(problem, start, tol)
    bent = np.flatnonzero(np.isfinite(log_lambda[problem.term]))
    wiggly = np.exp(log_lambda[problem.term[bent]]) * problem.s[bent]
    P, beta = _solution(problem, bent, wiggly)
    penalty = np.concatenate([np.zeros(len(problem.lines)), wiggly])
    columns = np.append(problem.lines, problem.wiggles[bent])
    edf = 1 - np.diag(P) * penalty  # the diagonal of (M + L)^-1 M
    residual_df = products.n - 1 - edf.sum()
    square = 1.0 - beta @ products.cross[columns, target]
    scale = max(square - penalty @ beta**2, FLOOR) * products.n / max(residual_df, 1.0)
    owner = np.append(problem.line_term, problem.term[bent])
    return Solved(
        variables, columns, owner, penalty, P, beta, log_lambda, edf, residual_df, scale, n_iterations, converged
    )


def fit_smooths(products: Gram, target: int, variables: NDArray[np.intp]) -> SmoothFit:
    """Fit one target on the smooths of some variables (none of rank 0), choose their smoothness, test each.

    Parameters
    ----------
    products : Gram
    target : int
        Column of ``products.cross``.
    variables : array of ints
    """
    return describe_smooths(products, solve_smooths(products, target, variables))


def describe_smooths(products: Gram, solved: Solved, covariance: NDArray[np.float64] | None = None) -> SmoothFit:
    """Describe and test every term of a fitted model; the coefficients' covariance is Bayesian if not given."""
    covariance = solved.inverse * (solved.scale / products.n) if covariance is None else covariance
    F = np.eye(len(solved.penalty)) - solved.inverse * solved.penalty  # (M + L)^-1 M
    twice = np.einsum("ij,ji->i", F, F)
    coefficients, covariances, rows = [], [], []
    for t, variable in enumerate(solved.variables):
        mine = np.flatnonzero(solved.owner == t)
        beta, edf = solved.beta[mine], solved.edf[mine].sum()
        V = covariance[np.ix_(mine, mine)]
        ref_df = min(2 * edf - twice[mine].sum(), len(mine))
        statistic, p_value = wood_test(beta, V, ref_df, solved.residual_df)
        rows.append((edf, ref_df, statistic, p_value, beta**2 @ (1 + 2 * solved.penalty[mine])))
        full = int(products.rank[variable])
        coefficients.append(np.zeros(full))
        covariances.append(np.zeros((full, full)))
        coefficients[t][: len(mine)] = beta
        covariances[t][: len(mine), : len(mine)] = V
    edf, ref_df, statistic, p_value, strength = np.reshape(rows, (len(solved.variables), 5)).T
    return SmoothFit(
        variables=solved.variables,
        coefficients=coefficients,
        covariances=covariances,
        log_lambda=solved.log_lambda,
        edf=edf,
        ref_df=ref_df,
        statistic=statistic,
        p_value=p_value,
        strength=strength,
        residual_df=solved.residual_df,
        scale=solved.scale,
        n_iterations=solved.n_iterations,
        converged=solved.converged,
    )


class _Problem:
    """The wiggles of all terms with the straight lines projected off: a problem in which everything is penalised.

    lines (l,), wiggles (w,): columns of the Gram matrix without and with roughness; line_term (l,), term (w,): the
    term of each; s (w,): the roughness of each wiggle.
    C = M_ww - M_wl M_ll^-1 M_lw and u = b_w - M_wl M_ll^-1 b_l; unexplained = 1 - b_l' M_ll^-1 b_l.
    """

    def __init__(self, products: Gram, target: int, variables: NDArray[np.intp]) -> None:
        self.products, self.target, self.variables = products, target, variables
        rank = products.rank[variables]
        columns = np.repeat(products.start[variables] - np.cumsum(rank) + rank, rank) + np.arange(rank.sum())
        owner = np.repeat(np.arange(len(variables)), rank)
        straight = products.roughness[columns] == 0
        self.lines, self.line_term = columns[straight], owner[straight]
        self.wiggles, self.term = columns[~straight], owner[~straight]
        self.s = products.roughness[self.wiggles]
        M, b = products.matrix, products.cross[:, target]
        lines = M[np.ix_(self.lines, self.lines)]
        lines[np.diag_indices_from(lines)] += RIDGE
        self.factor = _cholesky(lines)
        self.between = M[np.ix_(self.lines, self.wiggles)]
        half = solve_triangular(self.factor, self.between, lower=True, check_finite=False)
        half_b = solve_triangular(self.factor, b[self.lines], lower=True, check_finite=False)
        self.C = M[np.ix_(self.wiggles, self.wiggles)] - half.T @ half
        self.u = b[self.wiggles] - half.T @ half_b
        self.unexplained = max(1.0 - half_b @ half_b, FLOOR)
        self.df = products.n - 1 - len(self.lines)
        self.lowest = -MARGIN - float(np.log(self.s.max(initial=1.0)))


class _Likelihood(NamedTuple):
    """The restricted likelihood (twice, up to a constant) at some log lambda, with two derivatives."""

    value: float
    gradient: NDArray[np.float64]
    hessian: NDArray[np.float64]
    factor: NDArray[np.float64]
    beta: NDArray[np.float64]
    deviance: float


def _likelihood(problem: _Problem, columns: NDArray[np.intp], log_lambda: NDArray[np.float64]) -> _Likelihood:
    """Evaluate df log D + log|C + L| - log|L| for the wiggles in `columns`, where L = diag(lambda_j s_jk).

    D = unexplained - u' (C + L)^-1 u is the penalised deviance. With P = (C + L)^-1 and beta = P u, the derivatives
    with respect to log lambda_j need block sums of (L beta) beta, L diag(P), (L beta)(L beta)' P and L P^2 L only.
    """
    term = problem.term[columns]
    first = np.flatnonzero(np.diff(term, prepend=-1))
    penalty = np.exp(log_lambda[term]) * problem.s[columns]
    shifted = problem.C[np.ix_(columns, columns)]
    shifted.flat[:: len(columns) + 1] += penalty
    factor = _cholesky(shifted)
    P = _inverse(factor)
    u = problem.u[columns]
    beta = P @ u
    deviance = max(problem.unexplained - u @ beta, FLOOR)
    ratio = problem.df / deviance
    value = problem.df * np.log(deviance) + 2 * np.log(np.diag(factor)).sum() - np.log(penalty).sum()
    pull = penalty * beta
    energy = np.add.reduceat(pull * beta, first)
    trace = np.add.reduceat(penalty * np.diag(P), first)
    gradient = ratio * energy + trace - np.diff(np.append(first, len(columns)))
    curved = P * (2 * ratio * np.outer(pull, pull) + P * np.outer(penalty, penalty))
    hessian = -np.add.reduceat(np.add.reduceat(curved, first, axis=0), first, axis=1)
    hessian -= ratio / deviance * np.outer(energy, energy)
    hessian.flat[:: len(first) + 1] += ratio * energy + trace
    return _Likelihood(value, gradient, hessian, factor, beta, deviance)


def _smoothness(
    problem: _Problem, start: NDArray[np.float64] | None, tol: float, max_rounds: int = 20
) -> tuple[NDArray[np.float64], int, bool]:
    """Find the log lambda of every term by an active set: straight lines until the likelihood wants them to bend."""
    log_lambda = np.full(len(problem.variables), np.inf)
    if start is not None:
        bendable = np.isin(np.arange(len(start)), problem.term)
        log_lambda = np.where(bendable, np.maximum(start, problem.lowest), np.inf)
    log_lambda, n_iterations, settled = _newton(problem, log_lambda, tol)
    for _ in range(max_rounds):
        columns = np.flatnonzero(np.isfinite(log_lambda[problem.term]))
        bending = _bending(problem, columns, log_lambda)
        if not np.isfinite(bending).any():
            return log_lambda, n_iterations, settled
        log_lambda = np.minimum(log_lambda, bending)
        log_lambda, steps, settled = _newton(problem, log_lambda, tol)
        n_iterations += steps
    return log_lambda, n_iterations, False


def _bending(problem: _Problem, columns: NDArray[np.intp], log_lambda: NDArray[np.float64]) -> NDArray[np.float64]:
    """Return a first log lambda for every straight line that the likelihood wants to bend, infinity for the others.

    With c_k the mean square of wiggle k, projected off the current model, and u_k its inner product with the
    residual, the derivative with respect to 1 / lambda at infinity is sum_k (c_k - df u_k^2 / D) / s_k. It hardly sees
    the rougher wiggles, so the likelihood on a grid counts too, each wiggle taken on its own; its best is the first
    value.
    """
    straight = np.flatnonzero(np.isinf(log_lambda[problem.term]))
    found = np.full(len(log_lambda), np.inf)
    if len(straight) == 0:
        return found
    c, u, deviance = np.diag(problem.C)[straight], problem.u[straight], problem.unexplained
    if len(columns):
        now = _likelihood(problem, columns, log_lambda)
        between = problem.C[np.ix_(columns, straight)]
        half = solve_triangular(now.factor, between, lower=True, check_finite=False)
        c, u, deviance = c - (half**2).sum(axis=0), u - between.T @ now.beta, now.deviance
    s, term = problem.s[straight], problem.term[straight]
    slope = np.bincount(term, weights=(c - problem.df * u**2 / deviance) / s, minlength=len(log_lambda))
    grid = np.arange(np.ceil(problem.lowest), HIGHEST)
    penalty = np.exp(grid)[:, None] * s
    volume = _by_term(np.log1p(np.maximum(c, 0.0) / penalty), term, len(log_lambda))
    gain = _by_term(u**2 / (np.maximum(c, 0.0) + penalty) / deviance, term, len(log_lambda))
    value = problem.df * np.log(np.maximum(1 - gain, FLOOR)) + volume
    wanted = (slope < -1e-6) | (value.min(axis=0) < -DIP)
    found[wanted] = grid[value[:, wanted].argmin(axis=0)]
    return found


def _by_term(rows: NDArray[np.float64], term: NDArray[np.intp], n_terms: int) -> NDArray[np.float64]:
    """Add up the columns of each term."""
    return np.stack([np.bincount(term, weights=row, minlength=n_terms).astype(np.float64) for row in rows])


def _newton(
    problem: _Problem, log_lambda: NDArray[np.float64], tol: float, max_steps: int = 50
) -> tuple[NDArray[np.float64], int, bool]:
    """Minimise over the finite log lambda; one that runs past the highest becomes infinite.

    Returns log lambda, the number of steps, and whether the gradient is zero there (or rounding allows no better).
    """
    n_steps = 0
    now = None
    while n_steps < max_steps:
        bent = np.flatnonzero(np.isfinite(log_lambda))
        columns = np.flatnonzero(np.isfinite(log_lambda[problem.term]))
        if len(bent) == 0:
            return log_lambda, n_steps, True
        now = now or _likelihood(problem, columns, log_lambda)
        free = np.flatnonzero((log_lambda[bent] > problem.lowest) | (now.gradient < 0))
        if np.abs(now.gradient[free]).max(initial=0.0) < tol:
            return log_lambda, n_steps, True
        values, vectors = np.linalg.eigh(now.hessian[np.ix_(free, free)])
        curvature = np.maximum(np.abs(values), 1e-2)  # downhill also where the likelihood is not convex
        step = np.zeros(len(log_lambda))
        step[bent[free]] = -vectors @ (vectors.T @ now.gradient[free] / curvature)
        step *= min(1.0, LARGEST_STEP / np.abs(step).max())
        n_steps += 1
        walked = _walk(problem, columns, log_lambda, step, now.value)
        if walked is None:
            return log_lambda, n_steps, bool(np.abs(now.gradient[free]).max() < 0.1)
        log_lambda, now = walked
        straight = log_lambda >= HIGHEST
        if (straight & np.isfinite(log_lambda)).any():
            log_lambda, now = np.where(straight, np.inf, log_lambda), None
    return log_lambda, n_steps, False


def _walk(
    problem: _Problem,
    columns: NDArray[np.intp],
    log_lambda: NDArray[np.float64],
    step: NDArray[np.float64],
    value: float,
) -> tuple[NDArray[np.float64], _Likelihood] | None:
    """Take a step within the bounds, halved until it does not go uphill; None if it always does."""
    bent = np.isfinite(log_lambda)
    for halved in range(9):
        trial = np.where(bent, np.clip(log_lambda + step / 2**halved, problem.lowest, HIGHEST), np.inf)
        there = _likelihood(problem, columns, trial)
        if there.value <= value + 1e-7:
            return trial, there
    return None


def _solution(
    problem: _Problem, bent: NDArray[np.intp], penalty: NDArray[np.float64]
) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    """Return (M + L)^-1 and the coefficients over [lines, bent wiggles], by blocks."""
    b = problem.products.cross[:, problem.target]
    inner = problem.C[np.ix_(bent, bent)] + np.diag(penalty)
    P_ww = _inverse(_cholesky(inner))
    turn = cho_solve((problem.factor, True), problem.between[:, bent], check_finite=False)
    P_ll = _inverse(problem.factor) + turn @ P_ww @ turn.T
    P = np.block([[P_ll, -turn @ P_ww], [-P_ww @ turn.T, P_ww]])
    return P, P @ b[np.append(problem.lines, problem.wiggles[bent])]


def _inverse(factor: NDArray[np.float64]) -> NDArray[np.float64]:
    """Return (L L')^-1 from a lower factor L with zeros above its diagonal."""
    if len(factor) == 0:
        return factor
    inverse = _trtri(factor, lower=1)[0]
    return inverse.T @ inverse


def _cholesky(matrix: NDArray[np.float64]) -> NDArray[np.float64]:
    """Return the lower factor; a matrix that is singular up to rounding gets the ridge it needs."""
    scale = float(np.diag(matrix).max(initial=1.0))
    for ridge in (0.0, 1e-12, 1e-10, 1e-8, 1e-6):
        shifted = matrix + np.diag(np.full(len(matrix), ridge * scale)) if ridge else matrix
        factor, info = _potrf(shifted, lower=1, clean=1)
        if info == 0:
            return factor
    raise LinAlgError("A Gram matrix is not positive definite.")

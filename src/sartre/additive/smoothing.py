"""Additive models of penalised smooths: REML chooses the smoothness of each term, and Wood's test its significance.

A variable's functions are orthonormal over the samples (`design.py`): first its straight line, unpenalised, then its
wiggles with roughness s_k >= 1. With lambda_j the smoothing parameter of term j,

    min_b  | y - sum_j Phi_j b_j |^2 / n  +  sum_j lambda_j sum_k s_jk b_jk^2

needs only the Gram matrix of all functions, so the cost of a fit does not grow with n. The lambda_j maximise the
restricted likelihood; a term whose optimum is lambda = infinity is a straight line and costs one column.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, NamedTuple

import numpy as np
from numpy.typing import NDArray

from sartre.additive.design import spans
from sartre.additive.kernels.reml import LEAST_UNEXPLAINED, Point, Wiggles, empty_point, invert, smoothness, submatrix
from sartre.additive.significance import wood_tests

if TYPE_CHECKING:
    from sartre.additive.gram import Gram


MARGIN = 6.0  # log lambda may fall this far below -log(largest roughness), where the penalty is negligible
LINE_RIDGE = 1e-10  # ridge on the lines, so that exactly dependent columns share their effect
REML_TOL = 1e-3  # tolerance for the derivative of twice the log likelihood


@dataclass(frozen=True)
class SmoothFit:
    """An additive model of one standardised target on `p` variables.

    Attributes
    ----------
    variables : array of shape (p,)
    coefficients : list of p arrays
        Coefficients of the rotated, orthonormal functions of each variable; zero beyond the first for a straight line.
    covariances : list of p arrays
        Bayesian covariance of the coefficients (Wood, 2013).
    log_lambda : array of shape (p,)
        Smoothing parameters; infinity for a straight line.
    edf, ref_df, statistic, p_value : arrays of shape (p,)
        Effective degrees of freedom, reference degrees of freedom of the test, its statistic and p-value.
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
    residual_df: float
    scale: float
    n_iterations: int
    converged: bool


class Solved(NamedTuple):
    """A fitted model before its terms are described and tested.

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
    gram: Gram,
    target: int,
    variables: NDArray[np.intp],
    start: NDArray[np.float64] | None = None,
    tol: float = REML_TOL,
) -> Solved:
    """Fit one target on the smooths of some variables (none of rank 0) and choose their smoothness.

    Parameters
    ----------
    gram : Gram
    target : int
        Column of ``gram.cross``.
    variables : array of ints, shape (p,)
    start : array of shape (p,), optional
        Initial log lambda; straight lines by default.
    tol : float
        Derivatives of twice the log likelihood with respect to log lambda below this value count as zero.
    """
    model = _Model(gram, target, variables)
    log_lambda = np.full(len(variables), np.inf)
    if start is not None:
        log_lambda[model.term] = np.maximum(start[model.term], model.wiggles.lowest)
    point = empty_point(len(model.term), len(variables))
    deviance, n_iterations, converged = smoothness(model.wiggles, log_lambda, tol, point)
    if np.isnan(deviance):
        raise np.linalg.LinAlgError("The Gram matrix is not positive definite. Check the columns for extreme values.")
    bent = point.columns[: point.size[0]]
    P, beta = model.solution(point)
    penalty = np.concatenate([np.zeros(len(model.lines)), point.penalty[: len(bent)]])
    columns = np.concatenate([model.lines, model.columns[bent]])
    edf = 1 - P.diagonal() * penalty  # the diagonal of (M + L)^-1 M
    residual_df = gram.n - 1 - float(edf.sum())
    square = 1.0 - beta @ gram.cross[columns, target]
    scale = max(float(square - penalty @ beta**2), LEAST_UNEXPLAINED) * gram.n / max(residual_df, 1.0)
    owner = np.concatenate([model.line_term, model.term[bent]])
    return Solved(
        variables, columns, owner, penalty, P, beta, log_lambda, edf, residual_df, scale, n_iterations, converged
    )


def lost_share(whole: Solved, smaller: Solved) -> float:
    """Return the share of a target's variance that a fit explains and a smaller one, fitted to the same rows, does not.

    Variances of the noise are compared, which allow for the degrees of freedom that each fit has used: what a useless
    term explains of the rows by chance is not counted. The share is between 0 and 1.
    """
    n = whole.residual_df + float(whole.edf.sum()) + 1
    return float(np.clip((smaller.scale - whole.scale) * (n - 1) / n, 0.0, 1.0))


def fit_smooths(gram: Gram, target: int, variables: NDArray[np.intp]) -> SmoothFit:
    """Fit one target on the smooths of some variables (none of rank 0), choose their smoothness and test each."""
    return describe_smooths(gram, solve_smooths(gram, target, variables))


class TermTests(NamedTuple):
    """The effective and reference degrees of freedom, test statistic and p-value of every term (Wood's test)."""

    edf: NDArray[np.float64]
    ref_df: NDArray[np.float64]
    statistic: NDArray[np.float64]
    p_value: NDArray[np.float64]


def term_tests(gram: Gram, solved: Solved, covariance: NDArray[np.float64] | None = None) -> TermTests:
    """Test every term of a fitted model; the covariance of the coefficients is Bayesian by default."""
    covariance = solved.inverse * (solved.scale / gram.n) if covariance is None else covariance
    F = np.eye(len(solved.penalty)) - solved.inverse * solved.penalty  # (M + L)^-1 M
    p = len(solved.variables)
    edf, twice, size = (
        np.bincount(solved.owner, weights=each, minlength=p).astype(np.float64)
        for each in (solved.edf, np.einsum("ij,ji->i", F, F), np.ones(len(F)))
    )
    ref_df = np.minimum(2 * edf - twice, size)
    return TermTests(edf, ref_df, *wood_tests(solved.beta, covariance, solved.owner, ref_df, solved.residual_df))


def describe_smooths(gram: Gram, solved: Solved) -> SmoothFit:
    """Describe and test every term of a fitted model."""
    covariance = solved.inverse * (solved.scale / gram.n)
    tests = term_tests(gram, solved, covariance)
    coefficients, covariances = [], []
    for t, variable in enumerate(solved.variables):
        own = np.flatnonzero(solved.owner == t)
        beta, full = solved.beta[own], int(gram.rank[variable])
        coefficients.append(np.zeros(full))
        covariances.append(np.zeros((full, full)))
        coefficients[t][: len(own)] = beta
        covariances[t][: len(own), : len(own)] = submatrix(covariance, own, own)
    return SmoothFit(
        variables=solved.variables,
        coefficients=coefficients,
        covariances=covariances,
        log_lambda=solved.log_lambda,
        residual_df=solved.residual_df,
        scale=solved.scale,
        n_iterations=solved.n_iterations,
        converged=solved.converged,
        **tests._asdict(),
    )


class _Model:
    """The functions of some variables, with the straight lines projected out.

    lines (l,), columns (w,): columns of the Gram matrix without and with roughness; line_term (l,), term (w,): the
    term of each. C = M_ww - M_wl M_ll^-1 M_lw and u = b_w - M_wl M_ll^-1 b_l; unexplained = 1 - b_l' M_ll^-1 b_l.
    """

    def __init__(self, gram: Gram, target: int, variables: NDArray[np.intp]) -> None:
        rank = gram.rank[variables]
        columns = spans(gram.start[variables], rank)
        owner = np.repeat(np.arange(len(variables)), rank)
        roughness = gram.roughness[columns]
        straight, wiggly = np.flatnonzero(roughness == 0), np.flatnonzero(roughness)
        self.lines, self.line_term = columns[straight], owner[straight]
        self.columns, self.term = columns[wiggly], owner[wiggly]
        M, b = gram.matrix, gram.cross[:, target]
        k = len(straight)
        self.W = np.zeros((k, k))
        invert(M, self.lines, np.full(k, LINE_RIDGE), k, np.empty((k, k)), self.W)
        self.half, self.half_b = self.W @ submatrix(M, self.lines, self.columns), self.W @ b[self.lines]
        s = roughness[wiggly]
        self.wiggles = Wiggles(
            C=submatrix(M, self.columns, self.columns) - self.half.T @ self.half,
            u=b[self.columns] - self.half.T @ self.half_b,
            s=s,
            term=self.term,
            unexplained=max(1.0 - float(self.half_b @ self.half_b), LEAST_UNEXPLAINED),
            df=float(gram.n - 1 - k),
            lowest=-MARGIN - float(np.log(s.max(initial=1.0))),
        )

    def solution(self, point: Point) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
        """Return (M + L)^-1 and the coefficients over [lines, active wiggles], by blocks."""
        k, w = len(self.W), int(point.size[0])
        P, beta = np.empty((k + w, k + w)), np.empty(k + w)
        turn = self.W.T @ self.half[:, point.columns[:w]]
        inner = point.P[:w, :w]
        crossed = turn @ inner
        P[:k, :k] = self.W.T @ self.W + crossed @ turn.T
        P[:k, k:], P[k:, :k], P[k:, k:] = -crossed, -crossed.T, inner
        beta[:k], beta[k:] = self.W.T @ self.half_b - turn @ point.beta[:w], point.beta[:w]
        return P, beta

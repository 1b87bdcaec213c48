"""CaPS (Xu et al., 2024): the log density is flattest along leaves, for linear and nonlinear relations alike."""

from __future__ import annotations

import logging
from typing import Any

import numpy as np
from numpy.typing import NDArray
from sklearn.base import BaseEstimator

from sartre.compute.devices import as_array, check_device
from sartre.compute.parallel import blas_threads
from sartre.data.checks import as_table
from sartre.knowledge.precedence import check_before
from sartre.order.leaves import remove_leaves
from sartre.settings import check_jobs, check_jobs_and_seed, check_number
from sartre.stein.estimator import Stein
from sartre.stein.on_gpu import estimators
from sartre.steps import Cost, StepTags

logger = logging.getLogger(__name__)


class CaPS(BaseEstimator):
    """Order variables by repeatedly removing the leaf l = argmax_j E[d s_j / d x_j].

    For x_j = f_j(parents) + noise of variance sigma_j^2, the expected derivative of the score is

        E[H_jj] = -1 / sigma_j^2 - sum over children c of E[(d f_c / d x_j)^2] / sigma_c^2,

    which is largest for a leaf if the noise variances do not decrease along the order, or if the effects are strong.
    This also holds for linear relations, whose H_jj are all constant. The estimator is that of SCORE (`sartre.stein`):
    one Cholesky factorisation per leaf, O(n^2 + n d) memory and O(d n^3) time.

    The criterion depends on units by construction: rescaling a column by c divides its E[H_jj] by c^2, and on
    standardised columns the noise variances of effects are mostly smaller than those of causes. Use it if all columns
    have the same unit and similar noise variances.

    Parameters
    ----------
    eta : float
        Ridge of the estimator.
    n_jobs : int, optional
        Threads of the linear algebra; used only with at least 4000 rows, because with fewer they gain little or lose.
    device : {"cpu", "cuda"}
        The device for the estimates: NumPy, or PyTorch on a GPU (``pip install "sartre[gpu]"``).

    Attributes
    ----------
    order_ : array of shape (d,)
        Column indices, source first. Constant columns come first.
    scores_ : array of shape (d, d)
        Row k: -E[H_jj] when the k-th variable of the order, which has the smallest, was removed as a leaf; NaN for
        variables removed before.

    References
    ----------
    Xu, Li, Liu and Gui, "Ordering-based causal discovery for linear and nonlinear relations", NeurIPS 2024.

    Examples
    --------
    >>> rng = np.random.default_rng(0)
    >>> cause = rng.normal(size=300)
    >>> effect = 2 * cause + rng.normal(size=300)
    >>> CaPS().fit(np.column_stack([effect, cause])).order_
    array([1, 0])
    """

    def __init__(self, eta: float = 0.001, *, n_jobs: int | None = None, device: str = "cpu") -> None:
        self.eta = eta
        self.n_jobs = n_jobs
        self.device = device

    @property
    def step_tags(self) -> StepTags:
        """The properties of this step."""
        return StepTags(runs_on_gpu=True, costs=(Cost("SCORE exact" if self.device == "cpu" else "CaPS on a GPU"),))

    def fit(self, X: Any, before: Any = None) -> CaPS:
        """Learn the order of the columns of a table X (n, d); where ``before[i, j]``, i must precede j."""
        check_number("CaPS", "eta", self.eta, low=0.0, open_low=True)
        check_jobs_and_seed(self)
        device = check_device("CaPS", self.device)
        table = as_table(X, min_rows=2)
        estimate = estimators(table.values, self.eta, device)

        def steepness(remaining: NDArray[np.intp]) -> NDArray[np.float64]:
            return as_array(-estimate(remaining).hessian_diagonal().mean(0))

        with blas_threads(self.n_jobs, len(table.values)):
            self.order_, self.scores_ = remove_leaves(table, check_before(before, table.names), steepness)
        return self


def parent_score(X: Any, eta: float = 0.001, *, n_jobs: int | None = None) -> NDArray[np.float64]:
    """Return CaPS's parent score: how much steeper every variable's score is in the presence of every other.

    P[i, j] = abs(E[H_ii] without variable j - E[H_ii] on all). If j is a leaf and i its parent, this is
    E[(d f_j / d x_i)^2] / sigma_j^2, the strength of the edge i -> j; otherwise it is only indicative, and it says
    nothing about direction. It takes one estimate per variable and one on all, O(n^3) each. Its unit is 1 / x_i^2, so
    rows are comparable only if the columns have the same unit.

    Parameters
    ----------
    X : array of shape (n, d) or data frame
    eta : float
        Ridge of the estimator.
    n_jobs : int, optional
        Threads of the linear algebra; used only with at least 4000 rows.

    Returns
    -------
    array of shape (d, d)
        [parent, child], zero on the diagonal and for constant columns.

    Examples
    --------
    >>> a, b, c = np.random.default_rng(0).normal(size=(3, 300))
    >>> P = parent_score(np.column_stack([a, b, 2 * a + c]))
    >>> bool(P[0, 2] > 5 * P[1, 2])
    True
    """
    check_number("parent_score", "eta", eta, low=0.0, open_low=True)
    check_jobs("parent_score", n_jobs)
    table = as_table(X, min_rows=2)
    scores = np.zeros((table.shape[1], table.shape[1]))
    columns = np.flatnonzero(~table.constant)
    if len(columns) < 2:
        return scores
    values = table.values[:, columns]
    with blas_threads(n_jobs, len(values)):
        together = _mean_curvature(values, eta)
        for k, child in enumerate(columns):
            without = _mean_curvature(np.delete(values, k, axis=1), eta)
            scores[np.delete(columns, k), child] = np.abs(without - np.delete(together, k))
            logger.info("parent score: %d of %d variables left out", k + 1, len(columns))
    return scores


def _mean_curvature(values: NDArray[np.float64], eta: float) -> NDArray[np.float64]:
    """Return the mean of H_jj over the samples, one number per column."""
    return Stein(values, eta).hessian_diagonal().mean(axis=0)

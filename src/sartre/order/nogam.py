"""NoGAM (Montagna et al., 2023): a leaf's score is a function of its own noise, for any noise distribution."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.linalg import get_lapack_funcs
from sklearn.base import BaseEstimator

from sartre.additive.bases.splines import spline
from sartre.additive.design import prepare
from sartre.additive.gram import gram_of_design
from sartre.additive.smoothing import fit_smooths
from sartre.compute.devices import as_array, check_device, require_torch
from sartre.compute.parallel import blas_threads
from sartre.data.checks import as_table
from sartre.data.table import standardise
from sartre.knowledge.precedence import check_before
from sartre.order.leaves import remove_leaves
from sartre.settings import check_jobs_and_seed, check_number
from sartre.stein.estimator import stable_ridge
from sartre.stein.on_gpu import estimators
from sartre.steps import Cost, StepTags

SPLINES = 10  # number of splines of the smooth that predicts the score from the residual
_potrf, _potri, _potrs = get_lapack_funcs(("potrf", "potri", "potrs"), dtype=np.float64)


class NoGAM(BaseEstimator):
    """Order variables by repeatedly removing the leaf: the variable whose score its own residual predicts best.

    For a leaf x_l = f_l(parents) + e_l with noise of any distribution, the score s_l = (log p_l)'(e_l) is a function of
    e_l alone. With s the Stein estimate (`sartre.stein`) and r_j the residual of x_j given all other variables, the
    leaf therefore has the smallest Var[s_j - E(s_j | r_j)] / Var[s_j].

    The residuals are those of kernel ridge regression, with each row predicted from all others. With K the kernel
    matrix and A = (K + ridge I)^-1, the leave-one-out residual is exactly (A x)_i / A_ii, from one Cholesky factor and
    without random folds. E(s_j | r_j) is a penalised spline. Columns are standardised first, so units and offsets do
    not matter. Every variable needs one O(n^3) factorisation per leaf, O(d^2 n^3) in total: for large n, use a subset
    of the rows.

    Parameters
    ----------
    eta : float
        Ridge of the Stein estimator.
    width : float
        Width of the Gaussian kernel, in units of the typical distance sqrt(2 p) between rows of p other columns.
    ridge : float
        Ridge of the regressions, in units of a column's variance.
    n_jobs : int, optional
        Threads of the linear algebra; used only with at least 4000 rows, because with fewer they gain little or lose.
    device : {"cpu", "cuda"}
        The device for scores and residuals: NumPy, or PyTorch on a GPU (``pip install "sartre[gpu]"``).

    Attributes
    ----------
    order_ : array of shape (d,)
        Column indices, source first. Constant columns come first.
    scores_ : array of shape (d, d)
        Row k: the unexplained share of each score's variance when the k-th variable of the order was removed as a leaf;
        NaN for variables removed before.

    References
    ----------
    Montagna, Noceti, Rosasco, Zhang and Locatello, "Causal discovery with score matching on additive models with
    arbitrary noise", CLeaR 2023.

    Examples
    --------
    >>> rng = np.random.default_rng(0)
    >>> cause = rng.laplace(size=300)
    >>> effect = np.sin(2 * cause) + rng.laplace(size=300) / 2
    >>> NoGAM().fit(np.column_stack([effect, cause])).order_
    array([1, 0])
    """

    def __init__(
        self,
        eta: float = 0.001,
        *,
        width: float = 0.5,
        ridge: float = 2.0,
        n_jobs: int | None = None,
        device: str = "cpu",
    ) -> None:
        self.eta = eta
        self.width = width
        self.ridge = ridge
        self.n_jobs = n_jobs
        self.device = device

    @property
    def step_tags(self) -> StepTags:
        """The properties of this step."""
        return StepTags(runs_on_gpu=True, costs=(Cost("NoGAM" if self.device == "cpu" else "NoGAM on a GPU"),))

    def fit(self, X: Any, before: Any = None) -> NoGAM:
        """Learn the order of the columns of a table X (n, d); where ``before[i, j]``, i must precede j."""
        for name in ("eta", "width", "ridge"):
            check_number("NoGAM", name, getattr(self, name), low=0.0, open_low=True)
        check_jobs_and_seed(self)
        device = check_device("NoGAM", self.device)
        table = as_table(X, min_rows=2).standardized()
        estimate = estimators(table.values, self.eta, device)

        def unpredicted(remaining: NDArray[np.intp]) -> NDArray[np.float64]:
            scores = as_array(estimate(remaining).score())
            residuals = self._residuals(table.values[:, remaining], device)
            return np.array([_share_left(residuals[:, j], scores[:, j]) for j in range(len(remaining))])

        with blas_threads(self.n_jobs, len(table.values)):
            self.order_, self.scores_ = remove_leaves(table, check_before(before, table.names), unpredicted)
        return self

    def _residuals(self, Z: Any, device: Any) -> NDArray[np.float64]:
        """Return the leave-one-out residual of every column given all others."""
        math, leave_one_out = np, leave_one_out_residuals
        if device is not None:
            math, leave_one_out = require_torch("NoGAM", "gpu"), _leave_one_out_on_device
            Z = math.as_tensor(Z, device=device)
        squares = (Z**2).sum(1)
        distances = squares[:, None] + squares - 2 * Z @ Z.T
        width2 = self.width**2 * 2 * (Z.shape[1] - 1)
        residuals = []
        for z in Z.T:
            others = (distances - (z[:, None] - z) ** 2).clip(0.0)
            residuals.append(as_array(leave_one_out(math.exp(-others / (2 * width2)), z, self.ridge)))
        return np.column_stack(residuals)


def leave_one_out_residuals(kernel: NDArray[np.float64], y: NDArray[np.float64], ridge: float) -> NDArray[np.float64]:
    """Return y_i minus the prediction for row i from kernel ridge regression on all other rows.

    Parameters
    ----------
    kernel : array of shape (n, n)
        Overwritten.
    y : array of shape (n,)
        Centred: the regression has no intercept.
    ridge : float
        Raised if it is smaller than double precision needs for the factorisation.

    Examples
    --------
    With the identity as kernel, the other rows predict nothing.

    >>> leave_one_out_residuals(np.eye(3), np.array([1.0, -3.0, 2.0]), ridge=0.5)
    array([ 1., -3.,  2.])
    """
    kernel[np.diag_indices_from(kernel)] += stable_ridge(ridge, len(y))
    factor, _ = _potrf(kernel.T, lower=1, overwrite_a=1, clean=0)
    solved, _ = _potrs(factor, y, lower=1)
    inverse, _ = _potri(factor, lower=1, overwrite_c=1)
    return solved / np.diag(inverse)


def _leave_one_out_on_device(kernel: Any, y: Any, ridge: float) -> Any:
    """Return the leave-one-out residuals of tensors."""
    torch = require_torch("NoGAM", "gpu")
    kernel.diagonal().add_(stable_ridge(ridge, len(y)))
    factor = torch.linalg.cholesky(kernel)
    return torch.cholesky_solve(y[:, None], factor)[:, 0] / torch.cholesky_inverse(factor).diagonal()


def _share_left(residual: NDArray[np.float64], score: NDArray[np.float64]) -> float:
    """Return the share of the score's variance that a smooth function of the residual leaves unexplained."""
    target = standardise(score)
    if not target.any():
        return 0.0
    gram = gram_of_design(prepare(residual[:, None], [spline(residual, SPLINES).basis()]), target[:, None])
    return fit_smooths(gram, 0, np.array([0])).scale if gram.rank[0] else 1.0

"""NoGAM (Montagna et al., 2023): a leaf's score is a function of its own noise, whatever the noise."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np
from joblib import effective_n_jobs
from scipy.linalg import get_lapack_funcs
from sklearn.base import BaseEstimator
from threadpoolctl import threadpool_limits

from sartre.additive.design import prepare
from sartre.additive.smoothing import fit_smooths, gram
from sartre.additive.splines import spline
from sartre.devices import as_array, check_device, require_torch
from sartre.order._leaves import remove_leaves
from sartre.precedence import check_before
from sartre.stein import stable_ridge
from sartre.stein_torch import estimators
from sartre.validation import as_table, check_number

if TYPE_CHECKING:
    from numpy.typing import NDArray

SPLINES = 10  # of the smooth that predicts the score from the residual
_potrf, _potri, _potrs = get_lapack_funcs(("potrf", "potri", "potrs"), dtype=np.float64)


class NoGAM(BaseEstimator):
    """Order variables by removing leaves: the one whose score its own residual predicts best, again and again.

    For a leaf x_l = f_l(parents) + e_l with noise of any distribution, the score s_l = (log p_l)'(e_l) is a function of
    e_l alone. So, with s the Stein estimate (`sartre.stein`) and r_j the residual of x_j given all other variables,
    the leaf has the smallest Var[s_j - E(s_j | r_j)] / Var[s_j].

    The residuals are those of kernel ridge regression, each row predicted from all others: with K the kernel matrix
    and A = (K + ridge I)^-1, the leave-one-out residual is (A x)_i / A_ii, exactly, from one Cholesky factor, and there
    are no folds to draw. E(s_j | r_j) is a penalised spline. Columns are standardised first, so units and offsets
    change nothing. One O(n^3) factorisation for every variable at every leaf, O(d^2 n^3) in all: some rows may have to
    do if there are many.

    Parameters
    ----------
    eta : float
        Ridge of the Stein estimator.
    width : float
        Width of the Gaussian kernel, in units of the typical distance sqrt(2 p) between rows of p other columns.
    ridge : float
        Ridge of the regressions, in units of a column's variance.
    n_jobs : int, optional
        Threads of the linear algebra; one by default, because on a busy machine more are often slower.
    device : {"cpu", "cuda"}
        Where scores and residuals are computed: NumPy, or PyTorch on a GPU (``pip install "sartre[gpu]"``).

    Attributes
    ----------
    order_ : array of shape (d,)
        Column indices, source first. Constant columns come first.
    scores_ : array of shape (d, d)
        Row k: the share of each score's variance that is left when the k-th variable of the order was taken as a leaf;
        NaN for those already gone.

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

    def fit(self, X: Any, before: Any = None) -> NoGAM:  # noqa: ANN401 - any table
        """Learn the order of a table's columns.

        Parameters
        ----------
        X : array of shape (n, d) or data frame
        before : boolean array of shape (d, d), optional
            Row must precede column.
        """
        for name in ("eta", "width", "ridge"):
            check_number("NoGAM", name, getattr(self, name), low=0.0, open_low=True)
        device = check_device("NoGAM", self.device)
        table = as_table(X, min_rows=2).standardized()
        estimate = estimators(table.values, self.eta, device)

        def unpredicted(remaining: NDArray[np.intp]) -> NDArray[np.float64]:
            scores = as_array(estimate(remaining).score())
            residuals = self._residuals(table.values[:, remaining], device)
            return np.array([_share_left(residuals[:, j], scores[:, j]) for j in range(len(remaining))])

        threads = effective_n_jobs(1 if self.n_jobs is None else self.n_jobs)
        with threadpool_limits(threads, user_api="blas"):
            self.order_, self.scores_ = remove_leaves(table, check_before(before, table.names), unpredicted)
        return self

    def _residuals(self, Z: Any, device: Any) -> NDArray[np.float64]:  # noqa: ANN401 - arrays or tensors
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
    """Return y_i minus what kernel ridge regression on all other rows predicts for row i.

    Parameters
    ----------
    kernel : array of shape (n, n)
        Overwritten.
    y : array of shape (n,)
        Centred: the regression has no intercept.
    ridge : float
        Never less than double precision needs for the factor.

    Examples
    --------
    With the kernel that knows nothing of other rows, they predict nothing.

    >>> leave_one_out_residuals(np.eye(3), np.array([1.0, -3.0, 2.0]), ridge=0.5)
    array([ 1., -3.,  2.])
    """
    kernel[np.diag_indices_from(kernel)] += stable_ridge(ridge, len(y))
    factor, _ = _potrf(kernel.T, lower=1, overwrite_a=1, clean=0)
    solved, _ = _potrs(factor, y, lower=1)
    inverse, _ = _potri(factor, lower=1, overwrite_c=1)
    return solved / np.diag(inverse)


def _leave_one_out_on_device(kernel: Any, y: Any, ridge: float) -> Any:  # noqa: ANN401 - tensors
    """Return what `leave_one_out_residuals` does, for tensors."""
    torch = require_torch("NoGAM", "gpu")
    kernel.diagonal().add_(stable_ridge(ridge, len(y)))
    factor = torch.linalg.cholesky(kernel)
    return torch.cholesky_solve(y[:, None], factor)[:, 0] / torch.cholesky_inverse(factor).diagonal()


def _share_left(residual: NDArray[np.float64], score: NDArray[np.float64]) -> float:
    """Return the share of the score's variance that a smooth function of the residual does not explain."""
    spread = score.std()
    if spread == 0:
        return 0.0
    target = (score - score.mean()) / spread
    products = gram(prepare(residual[:, None], [spline(residual, SPLINES).basis()]), target[:, None])
    return fit_smooths(products, 0, np.array([0])).scale if products.rank[0] else 1.0

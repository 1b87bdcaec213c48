"""SCORE (Rolland et al., 2022): for a leaf, the derivative of its score with respect to itself is constant."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray
from sklearn.base import BaseEstimator

from sartre.compute.devices import as_array, check_device
from sartre.compute.parallel import blas_threads
from sartre.data.checks import as_table
from sartre.data.row_sample import drawn_rows
from sartre.data.table import Table
from sartre.knowledge.precedence import check_before
from sartre.order.leaves import remove_leaves
from sartre.settings import check_bool, check_jobs_and_seed, check_number, seed_of
from sartre.stein.on_gpu import estimators
from sartre.steps import Cost, StepTags

if TYPE_CHECKING:
    from sartre.settings import RandomState

FEW_VARIABLES = 5  # in so few dimensions, kernels are wide, their matrices ill-conditioned, and single precision fails


class SCORE(BaseEstimator):
    """Order variables by repeatedly removing the leaf l = argmin_j Var[d s_j / d x_j].

    For x_j = f_j(parents) + Gaussian noise, the j-th derivative of the score s_j is constant if and only if
    j is a leaf. The derivative is estimated by the second-order Stein estimator (`sartre.stein`): one Cholesky
    factorisation per leaf, O(n^2 + n d) memory and O(d n^3) time.

    The criterion depends on the columns' units: rescaling a column by c divides its variance by c^4.

    Parameters
    ----------
    eta : float
        Ridge of the estimator.
    exact : bool
        Use double precision throughout, and the median of all distances as kernel width. Otherwise, while more than
        five variables remain, use single precision and the median over some of the rows: this is twice as fast, and
        the orders are as good. On a GPU the computation is always exact.
    max_samples : int, optional
        If there are more rows than this, that many are drawn without replacement, to bound time and memory. The draw
        depends on the seed and on the contents of the rows, not on the order of rows or columns.
    n_jobs : int, optional
        Threads of the linear algebra; used only with at least 4000 rows, because with fewer they gain little or lose.
    device : {"cpu", "cuda"}
        The device for the estimates: NumPy, or PyTorch on a GPU (``pip install "sartre[gpu]"``), which gives the order
        of `exact` for hundreds of variables or tens of thousands of rows in seconds.
    random_state : int, numpy.random.Generator, numpy.random.RandomState or None
        Determines the rows of `max_samples`.

    Attributes
    ----------
    order_ : array of shape (d,)
        Column indices, source first. Constant columns come first.
    scores_ : array of shape (d, d)
        Row k: the variances, divided by the largest squared derivative, when the k-th variable of the order was
        removed as a leaf; NaN for variables removed before.

    References
    ----------
    Rolland et al., "Score matching enables causal discovery of nonlinear additive noise models", ICML 2022.

    Examples
    --------
    >>> rng = np.random.default_rng(0)
    >>> cause = rng.normal(size=300)
    >>> effect = np.sin(2 * cause) + rng.normal(size=300) / 2
    >>> SCORE().fit(np.column_stack([effect, cause])).order_
    array([1, 0])
    """

    def __init__(
        self,
        eta: float = 0.001,
        *,
        exact: bool = False,
        max_samples: int | None = None,
        n_jobs: int | None = None,
        device: str = "cpu",
        random_state: RandomState = None,
    ) -> None:
        self.eta = eta
        self.exact = exact
        self.max_samples = max_samples
        self.n_jobs = n_jobs
        self.device = device
        self.random_state = random_state

    @property
    def step_tags(self) -> StepTags:
        """The properties of this step."""
        return StepTags(needs_units=True, runs_on_gpu=True, costs=(Cost(self._cost(), self.max_samples),))

    def _cost(self) -> str:
        if self.device != "cpu":
            return "SCORE on a GPU"
        return "SCORE exact" if self.exact else "SCORE"

    def fit(self, X: Any, before: Any = None) -> SCORE:
        """Learn the order of the columns of a table X (n, d); where ``before[i, j]``, i must precede j."""
        check_number("SCORE", "eta", self.eta, low=0.0, open_low=True)
        check_bool("SCORE", "exact", self.exact)
        check_jobs_and_seed(self)
        if self.max_samples is not None:
            check_number("SCORE", "max_samples", self.max_samples, low=2, integer=True)
        device = check_device("SCORE", self.device)
        table = as_table(X, min_rows=2)
        is_sample = self.max_samples is not None and table.shape[0] > self.max_samples
        if is_sample or not self.exact:  # the fast form takes kernel widths from every k-th row
            seed = seed_of("SCORE", self.random_state) if is_sample else 0
            rows = drawn_rows(table.values, seed, self.max_samples)
            table = Table(np.asfortranarray(table.values[rows]), table.names)

        estimate = estimators(table.values, self.eta, device)

        def variances(remaining: NDArray[np.intp]) -> NDArray[np.float64]:
            fast = not self.exact and len(remaining) > FEW_VARIABLES
            curvature = estimate(remaining, fast=fast).hessian_diagonal()
            curvature = curvature / abs(curvature).max()  # comparable between steps, whatever the units
            return as_array(((curvature - curvature.mean(0)) ** 2).mean(0))

        with blas_threads(self.n_jobs, len(table.values)):
            self.order_, self.scores_ = remove_leaves(table, check_before(before, table.names), variances)
        return self

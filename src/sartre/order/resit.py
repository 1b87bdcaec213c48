"""RESIT (Peters et al., 2014): the residual of a leaf is independent of everything else."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np
from joblib import Parallel, delayed
from numpy.typing import NDArray
from sklearn.base import BaseEstimator, clone
from sklearn.kernel_ridge import KernelRidge
from sklearn.model_selection import KFold, cross_val_predict

from sartre.compute.parallel import blas_threads, workers
from sartre.data.checks import as_table
from sartre.data.row_sample import drawn_rows
from sartre.knowledge.precedence import check_before
from sartre.order.leaves import remove_leaves
from sartre.settings import check_jobs_and_seed, check_number, seed_of
from sartre.stein.hsic import centred_kernel, dependence, squared_distances
from sartre.steps import Cost, StepTags, fresh

if TYPE_CHECKING:
    from sartre.settings import RandomState

RIDGE = 2.0  # ridge of the default regressor for standardised columns, chosen in simulations as for NoGAM
LARGEST_SEED = 2**31 - 1  # every regressor accepts seeds up to this


class RESIT(BaseEstimator):
    """Order variables by repeatedly removing the leaf: the variable whose residual depends least on all others.

    For a leaf x_l = f_l(parents) + e_l, the residual given all other variables is independent of them, for any noise
    distribution. Every variable is predicted from all others out of sample: each of `n_folds` folds is predicted by a
    regressor fitted to the rest, so that over-fitting becomes visible. The dependence of the residual on the others is
    measured by the Hilbert-Schmidt independence criterion (`sartre.stein.hsic`), with Gaussian kernels whose width is
    the median distance. It is expressed in standard deviations from independence, so that variables are comparable.
    Columns are standardised first, so units and offsets do not matter.

    It takes O(d^2) regressions per fold and as many O(n^2) tests: use it for tens of variables, not for hundreds.

    Parameters
    ----------
    regressor : scikit-learn regressor, optional
        Must have ``fit(X, y)`` and ``predict(X)``. The default is kernel ridge regression with a Gaussian kernel, which
        did better in simulations than additive models and boosted trees, and takes O(n^3) time.
    n_folds : int
        Number of folds.
    max_samples : int or None
        At most this many rows, drawn at random, are used; None uses all.
    n_jobs : int, optional
        Threads over the variables; the order does not depend on their number.
    random_state : int, numpy.random.Generator, numpy.random.RandomState or None
        Seed of the folds, of the rows, and of the regressor if that has no seed of its own.

    Attributes
    ----------
    order_ : array of shape (d,)
        Column indices, source first. Constant columns come first.
    scores_ : array of shape (d, d)
        Row k: the dependence of every residual on the other variables when the k-th variable of the order was removed
        as a leaf; NaN for variables removed before.

    References
    ----------
    Peters, Mooij, Janzing and Schoelkopf, "Causal discovery with continuous additive noise models", JMLR 15, 2014.

    Examples
    --------
    >>> rng = np.random.default_rng(0)
    >>> cause = rng.normal(size=300)
    >>> effect = np.sin(2 * cause) + rng.uniform(-1, 1, size=300)
    >>> RESIT(random_state=0).fit(np.column_stack([effect, cause])).order_
    array([1, 0])
    """

    def __init__(
        self,
        regressor: Any = None,
        *,
        n_folds: int = 5,
        max_samples: int | None = 1000,
        n_jobs: int | None = None,
        random_state: RandomState = None,
    ) -> None:
        self.regressor = regressor
        self.n_folds = n_folds
        self.max_samples = max_samples
        self.n_jobs = n_jobs
        self.random_state = random_state

    @property
    def step_tags(self) -> StepTags:
        """The properties of this step."""
        return StepTags(costs=(Cost("RESIT", self.max_samples),))

    def fit(self, X: Any, before: Any = None) -> RESIT:
        """Learn the order of the columns of a table X (n, d); where ``before[i, j]``, i must precede j."""
        self._check_settings()
        table = as_table(X, min_rows=10).standardized()
        seed = seed_of("RESIT", self.random_state)
        rng, values = np.random.default_rng(seed), table.values[drawn_rows(table.values, seed, self.max_samples)]
        folds = KFold(min(self.n_folds, len(values)), shuffle=True, random_state=int(rng.integers(LARGEST_SEED)))
        ridge: Any = RIDGE  # the type hints of scikit-learn allow only integers
        regressor = KernelRidge(alpha=ridge, kernel="rbf") if self.regressor is None else self.regressor
        regressor = fresh(regressor, random_state=int(rng.integers(LARGEST_SEED)))

        def dependences(remaining: NDArray[np.intp]) -> NDArray[np.float64]:
            Z = values[:, remaining]
            distances = squared_distances(Z)
            jobs = [delayed(_dependence)(clone(regressor), folds, Z, j, distances) for j in range(len(remaining))]
            started = None if self.n_jobs is None else workers(self.n_jobs, len(jobs))
            return np.array(Parallel(n_jobs=started, require="sharedmem")(jobs), dtype=np.float64)

        with blas_threads(1):  # the threads are spread over the variables
            self.order_, self.scores_ = remove_leaves(table, check_before(before, table.names), dependences)
        return self

    def _check_settings(self) -> None:
        if self.regressor is not None and not (hasattr(self.regressor, "fit") and hasattr(self.regressor, "predict")):
            raise TypeError(
                "The 'regressor' parameter of RESIT must have fit(X, y) and predict(X), like scikit-learn's "
                f"regressors. Got {self.regressor!r} instead."
            )
        check_jobs_and_seed(self)
        check_number("RESIT", "n_folds", self.n_folds, low=2, integer=True)
        if self.max_samples is not None:
            check_number("RESIT", "max_samples", self.max_samples, low=10, integer=True)


def _dependence(regressor: Any, folds: KFold, Z: NDArray[np.float64], j: int, distances: NDArray[np.float64]) -> float:
    """Return the dependence of the out-of-sample residual of column j on the other columns."""
    z = Z[:, j]
    predicted: Any = cross_val_predict(regressor, np.delete(Z, j, axis=1), z, cv=folds)
    residual = z - np.ravel(predicted)
    others = np.maximum(distances - (z[:, None] - z) ** 2, 0.0)
    return dependence(centred_kernel(squared_distances(residual[:, None])), centred_kernel(others))

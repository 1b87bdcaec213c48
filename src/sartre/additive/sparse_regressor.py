"""The scikit-learn face of the engine: a sparse additive model that selects features and shows its functions."""

from __future__ import annotations

import warnings
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np
from sklearn.base import BaseEstimator, RegressorMixin
from sklearn.exceptions import ConvergenceWarning
from sklearn.utils.validation import check_is_fitted, validate_data

from sartre.additive.bins import encode
from sartre.additive.design import prepare
from sartre.additive.group_lasso import MAX_EPOCHS, TOL, solve, terms
from sartre.additive.trees import Embedding, embedding_of
from sartre.validation import check_number, default_names, position_of, seed_of

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from sartre.validation import RandomState


class ShapeFunction(NamedTuple):
    """A piece-wise constant function: ``values[b]`` on ``(knots[b - 1], knots[b]]``, the ends reaching to infinity."""

    knots: NDArray[np.float64]
    values: NDArray[np.float64]

    def __call__(self, x: NDArray[np.float64]) -> NDArray[np.float64]:
        """Evaluate the function."""
        return self.values[encode(np.asarray(x, dtype=np.float64), self.knots)]


class SparseAdditiveRegressor(RegressorMixin, BaseEstimator):
    """Regress a target on a sum of piece-wise constant functions, most of them zero.

    y = intercept + sum_j g_j(x_j), where g_j lives on the leaves of a few trees and all g_j are fitted
    together by the group lasso (the paper's SARTRE framework).

    Parameters
    ----------
    penalty : float
        Weight of the group norms, in the unit of the target. Zero shrinks nothing and selects nothing.
    embedding : Embedding, optional
        How features become intervals: five completely random trees of at most eight leaves each by default.
    tol : float
        Duality gap at which the solver stops, relative to the target's variance.
    max_iter : int
        Sweeps after which it gives up, with a warning.
    random_state : int, Generator, RandomState or None
        Seed of the intervals; a feature's intervals depend on the seed and its name only.

    Attributes
    ----------
    intercept_ : float
    selected_features_ : array of ints
        Features whose function is not zero.
    feature_importances_ : array of shape (n_features,)
        Root mean square of each g_j over the training samples, in the unit of the target.
    dual_gap_ : float
        Upper bound on the distance of the objective to its optimum.
    n_iter_ : int
    n_features_in_, feature_names_in_ : as in scikit-learn

    Examples
    --------
    >>> rng = np.random.default_rng(0)
    >>> X = rng.uniform(-2, 2, size=(1000, 10))
    >>> y = np.sin(2 * X[:, 3]) + X[:, 7] ** 2 + rng.normal(size=1000) / 5
    >>> model = SparseAdditiveRegressor(penalty=0.05, random_state=0).fit(X, y)
    >>> model.selected_features_
    array([3, 7])
    >>> model.score(X, y) > 0.8
    True
    """

    def __init__(
        self,
        penalty: float = 0.1,
        *,
        embedding: Embedding | None = None,
        tol: float = TOL,
        max_iter: int = MAX_EPOCHS,
        random_state: RandomState = None,
    ) -> None:
        self.penalty = penalty
        self.embedding = embedding
        self.tol = tol
        self.max_iter = max_iter
        self.random_state = random_state

    def fit(self, X: Any, y: Any) -> SparseAdditiveRegressor:  # noqa: ANN401 - any table, any vector
        """Fit the model to a table of features (n, d) and a target (n,)."""
        check_number("SparseAdditiveRegressor", "penalty", self.penalty, low=0.0)
        check_number("SparseAdditiveRegressor", "tol", self.tol, low=0.0, open_low=True)
        check_number("SparseAdditiveRegressor", "max_iter", self.max_iter, low=1, integer=True)
        X, y = validate_data(self, X, y, dtype=np.float64, y_numeric=True, ensure_min_samples=2)
        y = y.astype(np.float64)
        names = [str(name) for name in getattr(self, "feature_names_in_", default_names(X.shape[1]))]
        embedding = embedding_of("SparseAdditiveRegressor", self.embedding)
        bases = embedding.bases(X, names, seed_of("SparseAdditiveRegressor", self.random_state), y)
        design = prepare(X, bases)
        solution = solve(design, y, np.arange(X.shape[1]), self.penalty, tol=self.tol, max_epochs=self.max_iter)
        if not solution.converged:
            warnings.warn(
                f"The group lasso stopped at a duality gap of {solution.gap:.2g}. "
                "Raise 'max_iter', 'tol' or 'penalty'.",
                ConvergenceWarning,
                stacklevel=2,
            )
        found = terms(design, y, solution)
        self.intercept_ = float(y.mean())
        self.selected_features_ = solution.support
        self.feature_importances_ = np.zeros(X.shape[1])
        self.feature_importances_[self.selected_features_] = [term.importance for term in found]
        self.dual_gap_, self.n_iter_ = solution.gap, solution.n_epochs
        self._shapes = [ShapeFunction(basis.edges, np.zeros(len(basis.table))) for basis in bases]
        for term in found:
            self._shapes[term.variable] = ShapeFunction(bases[term.variable].edges, term.values)
        return self

    def predict(self, X: Any) -> NDArray[np.float64]:  # noqa: ANN401 - any table
        """Return intercept + sum_j g_j(x_j) for every row; values never seen fall in the outermost intervals."""
        check_is_fitted(self)
        X = validate_data(self, X, dtype=np.float64, reset=False)
        total = np.full(len(X), self.intercept_)
        for j in self.selected_features_:
            total += self._shapes[j](X[:, j])
        return total

    def shape_function(self, feature: int | str) -> ShapeFunction:
        """Return g_j of a feature, by position or name: its knots and its values between them.

        Examples
        --------
        >>> X = np.linspace(-1, 1, 200)[:, None]
        >>> model = SparseAdditiveRegressor(penalty=0.01, random_state=0).fit(X, np.sign(X[:, 0]))
        >>> model.shape_function(0)(np.array([-0.9, 0.9])).round()
        array([-1.,  1.])
        """
        check_is_fitted(self)
        names = list(getattr(self, "feature_names_in_", default_names(len(self._shapes))))
        return self._shapes[position_of(feature, names, "feature")]

"""The engine's scikit-learn estimators: sparse and smooth additive models that can be inspected."""

from __future__ import annotations

import warnings
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np
import pandas as pd
from numpy.typing import NDArray
from sklearn.base import BaseEstimator, RegressorMixin
from sklearn.exceptions import ConvergenceWarning
from sklearn.utils.validation import check_is_fitted, validate_data

from sartre.additive.bases.splines import binned_rotation, spline
from sartre.additive.bases.trees import Embedding, embedding_of, interval_bases
from sartre.additive.capacity import SMALLEST_BASIS, basis_size, first_of_copies, strongest
from sartre.additive.design import encode, prepare
from sartre.additive.gram import gram_of_design
from sartre.additive.lasso import GAP_TOL, MAX_EPOCHS, solve
from sartre.additive.mechanism import AdditiveMechanism, ColumnTerm, FittedTerm
from sartre.additive.smoothing import fit_smooths
from sartre.data.checks import default_names
from sartre.data.table import mean_and_spread
from sartre.settings import check_number, position_of, seed_of

if TYPE_CHECKING:
    from sartre.settings import RandomState


class Smooth(NamedTuple):
    """A fitted function on a grid: ``values`` at ``x``, and their standard errors if requested."""

    x: NDArray[np.float64]
    values: NDArray[np.float64]
    std: NDArray[np.float64] | None = None


class AdditiveRegressor(RegressorMixin, BaseEstimator):
    """Regress a target on a sum of smooth functions, one per feature, and test each.

    y = intercept + sum_j f_j(x_j) with natural cubic splines, whose smoothness is chosen by REML. This is the model
    that `sartre.prune.CAMPruning` fits to every variable.

    Parameters
    ----------
    n_splines : int
        Basis functions per feature; fewer are used below 30 samples per feature.

    Attributes
    ----------
    intercept_ : float
    edf_ : array of shape (n_features,)
        Effective degrees of freedom: 1 for a straight line, 0 for a feature that was not fitted because it is
        constant, a copy of an earlier one, or among the weakest when there are too many for the samples.
    p_values_ : array of shape (n_features,)
        Wood's (2013) test that the function is zero; NaN where it was not fitted.
    scale_ : float
        Estimated variance of the noise.
    n_splines_ : int
        Number of basis functions per feature used.
    n_features_in_, feature_names_in_ : as in scikit-learn

    Examples
    --------
    >>> rng = np.random.default_rng(0)
    >>> X = rng.uniform(-2, 2, size=(500, 3))
    >>> y = np.sin(2 * X[:, 0]) + X[:, 1] + rng.normal(size=500) / 3
    >>> model = AdditiveRegressor().fit(X, y)
    >>> (model.p_values_ < 0.001).tolist()
    [True, True, False]
    >>> model.edf_.round().tolist()[:2]
    [8.0, 1.0]
    """

    def __init__(self, n_splines: int = 10) -> None:
        self.n_splines = n_splines

    def fit(self, X: Any, y: Any) -> AdditiveRegressor:
        """Fit the model to a table of features (n, d) and a target (n,)."""
        check_number("AdditiveRegressor", "n_splines", self.n_splines, low=SMALLEST_BASIS, integer=True)
        X, y = validate_data(self, X, y, dtype=np.float64, y_numeric=True, ensure_min_samples=2)
        n, d = X.shape
        size = self.n_splines_ = basis_size(n, d, self.n_splines)
        self.intercept_, spread = mean_and_spread(y)
        splines = [spline(column, size) for column in X.T]
        design = prepare(X, [smooth.basis() for smooth in splines])
        gram = gram_of_design(design, (y - self.intercept_)[:, None] / (spread or 1.0))
        variables = np.flatnonzero(design.rank > 0)
        variables = variables[first_of_copies(gram, variables)]
        variables = variables[strongest(gram, 0, variables)]
        self._centres, self._mechanism = [smooth.centres for smooth in splines], AdditiveMechanism(self.intercept_)
        self._table = pd.DataFrame({"edf": 0.0, "ref_df": 0.0, "F": np.nan, "p_value": np.nan}, index=range(d))
        self.scale_ = spread**2
        if len(variables):
            fit = fit_smooths(gram, 0, variables)
            self._table.iloc[variables] = np.column_stack([fit.edf, fit.ref_df, fit.statistic, fit.p_value])
            self.scale_ = fit.scale * spread**2
            fitted = []
            for j, beta, V in zip(variables.tolist(), fit.coefficients, fit.covariances, strict=True):
                term = ColumnTerm(splines[j], 0, knows_missing=False, rotation=binned_rotation(splines[j], X[:, j]))
                fitted.append(FittedTerm((j,), term, spread * beta, spread**2 * V))
            own = gram._replace(start=gram.start[variables], rank=gram.rank[variables])
            self._mechanism = AdditiveMechanism(self.intercept_, tuple(fitted), own)
        self.edf_, self.p_values_ = self._table["edf"].to_numpy(), self._table["p_value"].to_numpy()
        return self

    def predict(self, X: Any) -> NDArray[np.float64]:
        """Return intercept + sum_j f_j(x_j) for every row; functions are extrapolated linearly."""
        check_is_fitted(self)
        X = validate_data(self, X, dtype=np.float64, reset=False)
        return self._mechanism.predict(X)

    def shape_function(
        self, feature: int | str, x: NDArray[np.float64] | None = None, *, return_std: bool = False
    ) -> Smooth:
        """Return f_j of a feature, by position or name, at `x` (by default on a grid over its training range).

        The standard errors are Bayesian: f_j plus and minus two of them covers the function about 95 % of the time,
        on average over x. They do not include the uncertainty of the intercept.

        Examples
        --------
        >>> x = np.linspace(-1, 1, 300)
        >>> noise = np.random.default_rng(0).normal(size=300) / 10
        >>> smooth = AdditiveRegressor().fit(x[:, None], x**2 + noise).shape_function(0, return_std=True)
        >>> truth = smooth.x**2 - np.mean(x**2)
        >>> bool(np.mean(np.abs(smooth.values - truth) < 2 * smooth.std) > 0.8)
        True
        """
        check_is_fitted(self)
        names = list(getattr(self, "feature_names_in_", default_names(len(self._centres))))
        j = position_of(feature, names, "feature")
        at = self._centres[j] if x is None else np.asarray(x, dtype=np.float64)
        values, std = self._mechanism.curve(j, at)
        return Smooth(at, values, std if return_std else None)

    def summary(self) -> pd.DataFrame:
        """Return a table of the terms: edf, ref_df, F, p_value and strength.

        The last is the share of the target's variance that is lost without the term, the others fitted again.
        """
        check_is_fitted(self)
        strength = [self._mechanism.loss_without(j) for j in range(len(self._table))]
        names = list(getattr(self, "feature_names_in_", default_names(len(self._centres))))
        return self._table.assign(strength=strength).set_axis(pd.Index(names, name="feature"), axis=0)


class ShapeFunction(NamedTuple):
    """A piecewise constant function: ``values[b]`` on ``(knots[b - 1], knots[b]]``; the end intervals are unbounded."""

    knots: NDArray[np.float64]
    values: NDArray[np.float64]

    def __call__(self, x: NDArray[np.float64]) -> NDArray[np.float64]:
        """Evaluate the function."""
        return self.values[encode(np.asarray(x, dtype=np.float64), self.knots)]


class SparseAdditiveRegressor(RegressorMixin, BaseEstimator):
    """Regress a target on a sum of piecewise constant functions, most of them zero.

    y = intercept + sum_j g_j(x_j), where g_j is constant on the leaves of a few trees and all g_j are
    fitted together by the group lasso (the paper's SARTRE framework).

    Parameters
    ----------
    penalty : float
        Weight of the group norms, in the unit of the target. With zero, nothing is shrunk and no selection is made.
    embedding : Embedding, optional
        How features are split into intervals: by default, five completely random trees of at most eight leaves each.
    tol : float
        Duality gap at which the solver stops, relative to the target's variance.
    max_iter : int
        Number of sweeps after which the solver stops with a warning.
    random_state : int, Generator, RandomState or None
        Seed of the intervals; a feature's intervals depend only on the seed and its name.

    Attributes
    ----------
    intercept_ : float
    selected_features_ : array of ints
        Features whose function is not zero.
    feature_importances_ : array of shape (n_features,)
        Root mean square of each g_j over the training samples, in the unit of the target.
    dual_gap_ : float
        Upper bound on the distance of the objective from its optimum.
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
        tol: float = GAP_TOL,
        max_iter: int = MAX_EPOCHS,
        random_state: RandomState = None,
    ) -> None:
        self.penalty = penalty
        self.embedding = embedding
        self.tol = tol
        self.max_iter = max_iter
        self.random_state = random_state

    def fit(self, X: Any, y: Any) -> SparseAdditiveRegressor:
        """Fit the model to a table of features (n, d) and a target (n,)."""
        check_number("SparseAdditiveRegressor", "penalty", self.penalty, low=0.0)
        check_number("SparseAdditiveRegressor", "tol", self.tol, low=0.0, open_low=True)
        check_number("SparseAdditiveRegressor", "max_iter", self.max_iter, low=1, integer=True)
        X, y = validate_data(self, X, y, dtype=np.float64, y_numeric=True, ensure_min_samples=2)
        y = y.astype(np.float64)
        names = [str(name) for name in getattr(self, "feature_names_in_", default_names(X.shape[1]))]
        embedding = embedding_of("SparseAdditiveRegressor", self.embedding)
        bases = list(interval_bases(X, names, embedding, seed_of("SparseAdditiveRegressor", self.random_state)))
        design = prepare(X, bases)
        solution = solve(design, y, np.arange(X.shape[1]), self.penalty, tol=self.tol, max_epochs=self.max_iter)
        if not solution.converged:
            warnings.warn(
                f"The group lasso did not converge: it stopped at a duality gap of {solution.gap:.2g}, so the fit is "
                "approximate. Raise 'max_iter', 'tol' or 'penalty'.",
                ConvergenceWarning,
                stacklevel=2,
            )
        functions = {j: design.table(j) @ solution.block(j) for j in solution.support.tolist()}
        self.intercept_ = float(y.mean())
        self.selected_features_ = solution.support
        self.feature_importances_ = np.zeros(X.shape[1])
        for j in functions:
            self.feature_importances_[j] = np.sqrt(solution.block(j) ** 2 @ design.eigenvalues(j))
        self.dual_gap_, self.n_iter_ = solution.gap, solution.n_epochs
        self._shapes = [ShapeFunction(basis.edges, np.zeros(len(basis.table))) for basis in bases]
        for j, values in functions.items():
            self._shapes[j] = ShapeFunction(bases[j].edges, values)
        return self

    def predict(self, X: Any) -> NDArray[np.float64]:
        """Return intercept + sum_j g_j(x_j) for every row; values out of range fall in the outermost intervals."""
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

"""An additive model of smooth functions that can be looked at: the regression behind CAM-pruning."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np
import pandas as pd
from sklearn.base import BaseEstimator, RegressorMixin
from sklearn.utils.validation import check_is_fitted, validate_data

from sartre.additive.design import prepare
from sartre.additive.screening import SMALLEST_BASIS, basis_size, first_of_copies, strongest
from sartre.additive.smoothing import fit_smooths, gram
from sartre.additive.splines import rotated, spline
from sartre.validation import check_number, default_names, position_of

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from sartre.additive.smoothing import SmoothFit


class Smooth(NamedTuple):
    """A fitted function on a grid: ``values`` at ``x``, and their standard errors where asked for."""

    x: NDArray[np.float64]
    values: NDArray[np.float64]
    std: NDArray[np.float64] | None = None


class AdditiveRegressor(RegressorMixin, BaseEstimator):
    """Regress a target on a sum of smooth functions, one a feature, and test each.

    y = intercept + sum_j f_j(x_j) with natural cubic splines, whose smoothness is chosen by REML. It is the model
    that `sartre.prune.CAMPruning` fits to every variable.

    Parameters
    ----------
    n_splines : int
        Basis functions a feature; fewer when there are fewer than 30 samples a feature.

    Attributes
    ----------
    intercept_ : float
    edf_ : array of shape (n_features,)
        Effective degrees of freedom: 1 is a straight line, 0 a feature that was not fitted (constant, a copy of an
        earlier one, or one too many for the samples).
    p_values_ : array of shape (n_features,)
        Wood's (2013) test that the function is zero; NaN where it was not fitted.
    scale_ : float
        Estimated variance of the noise.
    n_splines_ : int
        Basis functions a feature that were used.
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

    def fit(self, X: Any, y: Any) -> AdditiveRegressor:  # noqa: ANN401 - any table, any vector
        """Fit the model to a table of features (n, d) and a target (n,)."""
        check_number("AdditiveRegressor", "n_splines", self.n_splines, low=SMALLEST_BASIS, integer=True)
        X, y = validate_data(self, X, y, dtype=np.float64, y_numeric=True, ensure_min_samples=2)
        n, d = X.shape
        size = self.n_splines_ = basis_size(n, d, self.n_splines)
        self.intercept_ = float(y.mean())
        width = float(np.ptp(y)) or 1.0
        spread = width * float(np.std((y - self.intercept_) / width))
        splines = [spline(column, size) for column in X.T]
        self._functions = [rotated(smooth, column, binned=True) for smooth, column in zip(splines, X.T, strict=True)]
        design = prepare(X, [smooth.basis() for smooth in splines])
        products = gram(design, (y - self.intercept_)[:, None] / (spread or 1.0))
        variables = np.flatnonzero(design.rank > 0)
        variables = variables[first_of_copies(products, variables)]
        variables = variables[strongest(products, 0, variables)]
        self._coefficients = [np.zeros(int(rank)) for rank in design.rank]
        self._covariances = [np.zeros((int(rank), int(rank))) for rank in design.rank]
        self._table = pd.DataFrame(
            {"edf": 0.0, "ref_df": 0.0, "F": np.nan, "p_value": np.nan, "strength": 0.0}, index=range(d)
        )
        self.scale_ = spread**2
        if len(variables):
            self._keep(fit_smooths(products, 0, variables), spread)
        self.edf_, self.p_values_ = self._table["edf"].to_numpy(), self._table["p_value"].to_numpy()
        return self

    def _keep(self, model: SmoothFit, spread: float) -> None:
        """Store a fit to the standardised target in the unit of the target."""
        for j, beta, V in zip(model.variables, model.coefficients, model.covariances, strict=True):
            self._coefficients[j], self._covariances[j] = spread * beta, spread**2 * V
        found = np.column_stack([model.edf, model.ref_df, model.statistic, model.p_value, model.strength])
        self._table.iloc[model.variables] = found
        self.scale_ = model.scale * spread**2

    def predict(self, X: Any) -> NDArray[np.float64]:  # noqa: ANN401 - any table
        """Return intercept + sum_j f_j(x_j) for every row; beyond the training range the functions go on straight."""
        check_is_fitted(self)
        X = validate_data(self, X, dtype=np.float64, reset=False)
        functions = [self._functions[j](X[:, j]) @ self._coefficients[j] for j in range(X.shape[1])]
        return self.intercept_ + np.sum(functions, axis=0)

    def shape_function(
        self, feature: int | str, x: NDArray[np.float64] | None = None, *, return_std: bool = False
    ) -> Smooth:
        """Return f_j of a feature, by position or name, at `x` (by default on a grid over its training range).

        The standard errors are Bayesian: f_j plus and minus two of them holds the function about 95 % of the time,
        on average over x. They do not include the intercept's.

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
        names = list(getattr(self, "feature_names_in_", default_names(len(self._functions))))
        j = position_of(feature, names, "feature")
        at = self._functions[j].spline.centres if x is None else np.asarray(x, dtype=np.float64)
        functions = self._functions[j](at)
        variance = np.einsum("ij,jk,ik->i", functions, self._covariances[j], functions)
        std = np.sqrt(np.maximum(variance, 0.0)) if return_std else None
        return Smooth(at, functions @ self._coefficients[j], std)

    def summary(self) -> pd.DataFrame:
        """Return a table of the terms: edf, ref_df, F, p_value and strength (share of variance lost without it)."""
        check_is_fitted(self)
        names = list(getattr(self, "feature_names_in_", default_names(len(self._functions))))
        return self._table.set_axis(pd.Index(names, name="feature"), axis=0)

"""Sparse additive regression, independent of the causal code."""

from sartre.additive.regressors import AdditiveRegressor, ShapeFunction, Smooth, SparseAdditiveRegressor

__all__ = ["AdditiveRegressor", "ShapeFunction", "Smooth", "SparseAdditiveRegressor"]

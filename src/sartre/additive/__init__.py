"""Sparse additive regression; knows nothing of causality."""

from sartre.additive.regressors import AdditiveRegressor, ShapeFunction, Smooth, SparseAdditiveRegressor

__all__ = ["AdditiveRegressor", "ShapeFunction", "Smooth", "SparseAdditiveRegressor"]

"""Sparse additive regression; knows nothing of causality."""

from sartre.additive.smooth_regressor import AdditiveRegressor, Smooth
from sartre.additive.sparse_regressor import ShapeFunction, SparseAdditiveRegressor

__all__ = ["AdditiveRegressor", "ShapeFunction", "Smooth", "SparseAdditiveRegressor"]

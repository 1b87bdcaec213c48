"""Sparse additive regression; knows nothing of causality."""

from sartre.additive.regressor import ShapeFunction, SparseAdditiveRegressor

__all__ = ["ShapeFunction", "SparseAdditiveRegressor"]

"""Sparse additive regression; knows nothing of causality."""

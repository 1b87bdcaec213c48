"""Pruning: ``fit(X, order)`` sets ``adjacency_matrix_`` (row -> column) and ``edges_``."""

from sartre.additive.bases.trees import Embedding
from sartre.prune.cam import CAMPruning
from sartre.prune.caps import CaPSPruning
from sartre.prune.das import DAS
from sartre.prune.sartre.estimator import SARTRE

__all__ = ["DAS", "SARTRE", "CAMPruning", "CaPSPruning", "Embedding"]

"""The fitted graph as a structural causal model: samples, interventions, effects and counterfactuals."""

from sartre.scm.model import StructuralModel

__all__ = ["StructuralModel"]

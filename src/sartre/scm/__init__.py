"""The fitted graph as a structural causal model: samples, interventions, effects and counterfactuals."""

from sartre.scm.model import StructuralModel
from sartre.scm.seen import seen_interventions

__all__ = ["StructuralModel", "seen_interventions"]

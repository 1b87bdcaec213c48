"""Order-based causal discovery: learn a topological order, then prune every edge the data does not need."""

from sartre.discovery import CausalDiscovery
from sartre.graph import Dag

__version__ = "0.1.0"

__all__ = ["CausalDiscovery", "Dag", "__version__"]

"""Order-based causal discovery: learn a topological order, then prune every edge that the data do not need."""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from sartre.discovery import CausalDiscovery
    from sartre.evidence.certificates import certify
    from sartre.evidence.hidden_causes import hidden_causes
    from sartre.evidence.stability import stability
    from sartre.graph.dag import Dag
    from sartre.graph.pdag import Pdag
    from sartre.knowledge.knowledge import Knowledge
    from sartre.saving import load
    from sartre.scm import StructuralModel

__version__ = "0.2.0"

__all__ = [
    "CausalDiscovery",
    "Dag",
    "Knowledge",
    "Pdag",
    "StructuralModel",
    "__version__",
    "certify",
    "hidden_causes",
    "load",
    "stability",
]

_HOMES = {
    "CausalDiscovery": "sartre.discovery",
    "Dag": "sartre.graph",
    "Knowledge": "sartre.knowledge",
    "Pdag": "sartre.graph",
    "StructuralModel": "sartre.scm",
    "certify": "sartre.evidence.certificates",
    "hidden_causes": "sartre.evidence.hidden_causes",
    "load": "sartre.saving",
    "stability": "sartre.evidence.stability",
}


def __getattr__(name: str) -> Any:
    if name not in _HOMES:
        raise AttributeError(f"module 'sartre' has no attribute '{name}'")
    return getattr(import_module(_HOMES[name]), name)


def __dir__() -> list[str]:
    return __all__

"""Prior knowledge: required and forbidden edges, and which variables come before which others."""

from sartre.knowledge.knowledge import Knowledge

__all__ = ["Knowledge"]

"""What is known beforehand: required and forbidden edges, and what comes before what."""

from sartre.knowledge.knowledge import Knowledge

__all__ = ["Knowledge"]

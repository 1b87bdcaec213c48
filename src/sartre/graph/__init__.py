"""Directed acyclic graphs, those with some directions open, and how they are written and read."""

from sartre.graph.dag import Dag
from sartre.graph.pdag import Pdag

__all__ = ["Dag", "Pdag"]

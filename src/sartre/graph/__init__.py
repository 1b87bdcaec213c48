"""Directed acyclic graphs, and how they are written and read."""

from sartre.graph.dag import Dag

__all__ = ["Dag"]

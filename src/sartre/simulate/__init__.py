"""Simulated data with a known graph: random graphs, random mechanisms, noise."""

from sartre.simulate.dataset import Dataset
from sartre.simulate.graphs import random_dag
from sartre.simulate.sampling import simulate

__all__ = ["Dataset", "random_dag", "simulate"]

"""Simulated data with a known graph: random graphs, random mechanisms, noise, interventions."""

from sartre.simulate.dataset import Dataset, Experiment
from sartre.simulate.graphs import random_dag
from sartre.simulate.sampling import simulate

__all__ = ["Dataset", "Experiment", "random_dag", "simulate"]

"""Draw tables whose rows come from several environments, in some of which variables were set."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from sartre.datasets import load_sachs
from sartre.simulate import Experiment, random_dag, simulate
from sartre.simulate.mechanisms import MechanismName  # noqa: TC001 - the fields of a named tuple are read

NODES = 20  # number of variables for which the edges below are stated
OBSERVATIONAL_PER_ACTED = 20  # there are this many times more observational rows than rows per target,
LEAST_PER_TARGET = 30  # but each target has at least this many


class Acted(NamedTuple):
    """A kind of simulation: its mechanisms, its edges, what share of the variables is set, and to what deviation.

    edges : number of edges among 20 variables; smaller graphs have the same share of all pairs
    """

    mechanism: MechanismName
    edges: int
    share: float
    deviation: float


SIMULATED = {
    "sdcd-80-all": Acted("sdcd", 80, 1.0, 0.1),
    "sdcd-80-half": Acted("sdcd", 80, 0.5, 0.1),
    "sdcd-40-all": Acted("sdcd", 40, 1.0, 0.1),
    "linear-ER1-set": Acted("linear", 20, 1.0, 1.0),
    "neural-ER4-set": Acted("neural", 80, 1.0, 1.0),
}
SACHS = "sachs-nine"
EXPERIMENTS = (*SIMULATED, SACHS)


def draw_experiment(family: str, nodes: int, samples: int, seed: int) -> Experiment:
    """Return rows of several environments; `samples` counts observational rows, or all rows of Sachs' proteins.

    Examples
    --------
    >>> draw_experiment("sdcd-40-all", 3, 100, 0)
    Experiment: 190 rows, 3 variables, 1 edges
      observational: 100 rows
      do x2: 30 rows, x2 set
      do x0: 30 rows, x0 set
      do x1: 30 rows, x1 set
    """
    return _sachs(samples, seed) if family == SACHS else _simulated(SIMULATED[family], nodes, samples, seed)


def _sachs(samples: int, seed: int) -> Experiment:
    """Draw cells of all nine conditions without replacement, and take logarithms."""
    X, dag = whole = load_sachs("full")
    rows = np.random.default_rng(seed).choice(len(X), size=samples, replace=False)
    logs = X.iloc[rows].reset_index(drop=True).apply(np.log)
    return Experiment(logs, dag, whole.environment.iloc[rows], whole.interventions)


def _simulated(kind: Acted, nodes: int, samples: int, seed: int) -> Experiment:
    """Draw as `benchmarks/experiments.py` does."""
    edges = round(kind.edges * nodes * (nodes - 1) / (NODES * (NODES - 1)))
    dag = random_dag(nodes, edges, random_state=seed)
    acted = np.random.default_rng(seed).permutation(dag.names)[: round(kind.share * nodes)]
    return simulate(
        dag,
        samples,
        kind.mechanism,
        random_state=seed,
        interventions={f"do {target}": [str(target)] for target in acted},
        n_intervened=max(LEAST_PER_TARGET, samples // OBSERVATIONAL_PER_ACTED),
        set_to=(0.0, kind.deviation),
    )

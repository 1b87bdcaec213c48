"""Define an experiment: its data sets, its methods, and the paper's claims about them."""

from __future__ import annotations

from dataclasses import astuple, dataclass, fields
from functools import partial
from typing import TYPE_CHECKING, Any, Literal, NamedTuple, cast

import numpy as np

from experiments.environments import EXPERIMENTS, draw_experiment
from experiments.fmri import load_fmri
from experiments.hidden import EFFECTS, draw_confounded
from sartre.datasets import load_sachs
from sartre.graph.dag import Dag
from sartre.simulate import random_dag, simulate
from sartre.simulate.dataset import Dataset

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    import pandas as pd

FIRST_SEED = 8000  # trial k draws with seed 8000 + k; no setting of the library was chosen on these seeds
FAMILIES = ("ER1", "ER4", "SF1", "SF4")  # kind of graph, and edges per node
SWEEPS = [*((d, 2000) for d in (10, 20, 30, 40, 50)), *((20, n) for n in (1000, 3000, 4000, 5000))]  # pairs (d, n)
REAL = {"sachs": load_sachs, "sachs-full": partial(load_sachs, "full"), "fmri": load_fmri}
LEVELS = 5  # number of values of a discrete column


@dataclass(frozen=True)
class Data:
    """Settings that determine how a table is drawn, except the trial. A family may also name a real data set.

    Families of `experiments.environments` are drawn there, as an `Experiment`, and those of `experiments.hidden` there,
    with `hidden` causes of two or three variables each; they have no other settings.

    columns : as drawn, standardised to mean 0 and variance 1, or cut into five values at their quantiles
    hidden : number of common causes of two variables each that are drawn and then left out
    """

    family: str
    nodes: int
    samples: int
    noise: str = "gaussian"
    linear_fraction: float = 0.0
    columns: Literal["raw", "standardised", "discrete"] = "raw"
    hidden: int = 0
    replace: bool = False

    def draw(self, trial: int) -> Dataset:
        """Return the table of a trial and its true graph."""
        if self.family in EXPERIMENTS:
            return draw_experiment(self.family, self.nodes, self.samples, FIRST_SEED + trial)
        if self.family in EFFECTS:
            return draw_confounded(self.family, self.nodes, self.samples, self.hidden, FIRST_SEED + trial)
        X, dag = self._rows(trial) if self.family in REAL else self._simulated(trial)
        if self.columns == "standardised":
            X = (X - X.mean()) / X.std(ddof=0)
        elif self.columns == "discrete":
            X = (X.rank(pct=True) * LEVELS).apply(np.ceil)
        return Dataset(X, dag)

    def _rows(self, trial: int) -> Dataset:
        X, dag = REAL[self.family]()
        rows = np.random.default_rng(FIRST_SEED + trial).choice(len(X), size=self.samples, replace=self.replace)
        return Dataset(X.iloc[rows].reset_index(drop=True), dag)

    def _simulated(self, trial: int) -> Dataset:
        seed, kind, density = FIRST_SEED + trial, cast("Any", self.family[:2]), int(self.family[2:])
        dag = random_dag(self.nodes, density * self.nodes, kind, random_state=seed)
        whole, noise = _with_common_causes(dag, self.hidden, seed), cast("Any", self.noise)
        X = simulate(whole, self.samples, noise=noise, linear_fraction=self.linear_fraction, random_state=seed).X
        return Dataset(X[dag.names], dag)


def _with_common_causes(dag: Dag, hidden: int, seed: int) -> Dag:
    """Add root variables with two effects each; hiding them does not change the true graph of the other variables."""
    rng = np.random.default_rng([seed, hidden])
    more = [(f"hidden{k}", dag.names[j]) for k in range(hidden) for j in rng.choice(len(dag), size=2, replace=False)]
    names = [*dag.names, *(f"hidden{k}" for k in range(hidden))]
    return Dag.from_edges([*dag.edges, *more], names) if hidden else dag


class Cell(NamedTuple):
    """A method on one kind of data, repeated over the trials. Methods that do not learn an order have order ""."""

    data: Data
    order: str
    prune: str

    def settings(self) -> dict[str, str]:
        """Return the cell as text, as it is written in a row of results."""
        return dict(zip(SETTINGS, map(str, (*astuple(self.data), self.order, self.prune)), strict=True))


SETTINGS = (*(field.name for field in fields(Data)), "order", "prune")


class Claim(NamedTuple):
    """A claim of the paper, a test that gives one outcome per comparison, and our comments on it.

    why : text with a placeholder for each of the figures, which come from the rows; omitted if one was not run
    needed : smallest share of the comparisons with which the claim holds; a half where it says "most" or "often"
    """

    text: str
    seen: Callable[[pd.DataFrame], Sequence[bool]]
    comment: str = ""
    why: str = ""
    figures: Sequence[Callable[[pd.DataFrame], float]] = ()
    needed: float = 0.9


class Study(NamedTuple):
    """A figure or a table: its cells, full or quick, its axis, and the measures that it shows."""

    name: str
    title: str
    text: str
    cells: Callable[[bool], list[Cell]]
    axis: str
    measures: tuple[str, ...]
    claims: tuple[Claim, ...] = ()

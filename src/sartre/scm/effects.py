"""The mean of an outcome as a function of the value of a cause under intervention, with bootstrap intervals."""

from __future__ import annotations

import logging
from dataclasses import replace
from math import ceil
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from sartre.graph.dag import Dag
from sartre.graph.paths import transitive_closure
from sartre.scm.equations import draw, propagate, refitted

if TYPE_CHECKING:
    from sartre.data.table import Table
    from sartre.scm.model import StructuralModel

logger = logging.getLogger(__name__)
_BOOTSTRAP = 256  # starts the spawn key of a replicate; keys of variables are bytes of their names, which are smaller


def without_causes(model: StructuralModel, cause: str, outcome: str) -> StructuralModel:
    """Return the model without the edges into a cause, with only the variables that then determine the outcome."""
    adjacency = model.graph.adjacency.copy()
    adjacency[:, model.names.index(cause)] = 0
    decides = transitive_closure(adjacency.astype(bool))[:, model.names.index(outcome)]
    kept = [k for k, name in enumerate(model.names) if decides[k] or name in (cause, outcome)]
    names = [model.names[k] for k in kept]
    return replace(
        model,
        table=model.table.select(np.array(kept, dtype=np.intp)),
        graph=Dag(adjacency[np.ix_(kept, kept)], names),
        predicted=model.predicted[:, kept],
        pairs=tuple(pair for pair in model.pairs if pair[2] in names and pair[2] != cause),
        interventions={name: held for name, held in model.interventions.items() if name in names},
    )


def mean_outcomes(
    model: StructuralModel, cause: str, outcome: str, at: NDArray[np.float64], n_samples: int, seed: int
) -> NDArray[np.float64]:
    """Return the mean of the outcome for each value of the cause, whose own causes are cut, with the same noise.

    All rows are drawn equally often, so that the means are exact for linear mechanisms.
    """
    n = len(model.predicted)
    units = draw(model, ceil(n_samples / n) * n, seed, evenly=True)
    reached = transitive_closure(model.graph.adjacency.astype(bool))[model.names.index(cause)]
    downstream = {cause, *(name for name, yes in zip(model.names, reached, strict=True) if yes)}
    values, means = None, []
    for value in at.tolist():
        held = replace(model, interventions={**model.interventions, cause: value})
        values = propagate(held, units, values, None if values is None else downstream)
        means.append(float(values[:, model.names.index(outcome)].mean()))
    return np.array(means)


def bootstrapped(
    model: StructuralModel,
    cause: str,
    outcome: str,
    at: NDArray[np.float64],
    n_samples: int,
    n_bootstrap: int,
    seed: int,
) -> NDArray[np.float64]:
    """Return the means (n_bootstrap, len(at)) of models that are refitted to rows drawn with replacement."""
    means = []
    for number in range(n_bootstrap):
        rng = np.random.default_rng(np.random.SeedSequence(seed, spawn_key=(_BOOTSTRAP, number)))
        again = refitted(replace(model, table=model.table.take(_drawn_again(model.table, rng))))
        means.append(mean_outcomes(again, cause, outcome, at, n_samples, int(rng.integers(2**63))))
        logger.info("effect: %d of %d bootstrap samples fitted", len(means), n_bootstrap)
    return np.array(means)


def _drawn_again(table: Table, rng: np.random.Generator) -> NDArray[np.intp]:
    """Draw rows with replacement: whole groups, or as many rows of each environment as there are."""
    n, design = len(table.values), table.design
    if design is None:
        return rng.integers(n, size=n)
    if design.groups is not None:
        members = np.split(np.argsort(design.groups, kind="stable"), np.cumsum(np.bincount(design.groups))[:-1])
        return np.concatenate([members[group] for group in rng.integers(len(members), size=len(members))])
    labels = np.unique(design.labels.astype(str), return_inverse=True)[1]
    found = [np.flatnonzero(labels == k) for k in range(labels.max() + 1)]
    return np.concatenate([rng.choice(rows, size=len(rows)) for rows in found])

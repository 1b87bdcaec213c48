"""The mean of an outcome as a function of the value of a cause under intervention, with intervals."""

from __future__ import annotations

import logging
from collections.abc import Callable, Collection
from dataclasses import replace
from math import ceil
from typing import TYPE_CHECKING, NamedTuple, TypeAlias

import numpy as np
from numpy.typing import NDArray

from sartre.graph.dag import Dag
from sartre.graph.paths import transitive_closure
from sartre.prune.mechanisms import parent_columns
from sartre.scm.equations import draw, propagate, refitted
from sartre.scm.summary import redrawn

if TYPE_CHECKING:
    from sartre.data.table import Table
    from sartre.scm.model import StructuralModel

logger = logging.getLogger(__name__)
_BOOTSTRAP = 256  # starts the spawn key of a replicate; keys of variables are bytes of their names, which are smaller
Means: TypeAlias = "Callable[[StructuralModel, str, str, NDArray[np.float64], int, int], NDArray[np.float64]]"


class Question(NamedTuple):
    """What is asked about a cause and an outcome.

    reduced: returns the part of a model, given cause and outcome, that decides. means: the mean outcome for each value
    of the cause in that part, from ``n_samples`` draws and a seed.
    """

    reduced: Callable[[StructuralModel, str, str], StructuralModel]
    means: Means


def without_causes(model: StructuralModel, cause: str, outcome: str) -> StructuralModel:
    """Return the model without the edges into a cause, with only the variables that then determine the outcome."""
    adjacency = model.graph.adjacency.copy()
    adjacency[:, model.names.index(cause)] = 0
    return _deciding(model, Dag(adjacency, model.names), cause, outcome)


def with_causes(model: StructuralModel, cause: str, outcome: str) -> StructuralModel:
    """Return the model with only the variables that determine the cause and the outcome without an intervention."""
    return _deciding(model, model.graph, cause, outcome)


def _deciding(model: StructuralModel, graph: Dag, cause: str, outcome: str) -> StructuralModel:
    decided = {outcome} if not graph.parents(cause) else {cause, outcome}
    kept = {cause, outcome}.union(*(graph.ancestors(name) for name in decided))
    return _with_variables(model, graph, kept)


def _with_variables(model: StructuralModel, graph: Dag, kept: Collection[str]) -> StructuralModel:
    """Return the model of some variables in a graph of which they need no others."""
    places = [k for k, name in enumerate(model.names) if name in kept]
    names = [model.names[k] for k in places]
    parents = {name: set(graph.parents(name)) for name in names}
    return replace(
        model,
        table=model.table.select(np.array(places, dtype=np.intp)),
        graph=Dag(graph.adjacency[np.ix_(places, places)], names),
        predicted=model.predicted[:, places],
        pairs=tuple(pair for pair in model.pairs if pair[2] in kept and set(pair[:2]) <= parents[pair[2]]),
        interventions={name: held for name, held in model.interventions.items() if name in kept},
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


def direct_outcomes(
    model: StructuralModel, cause: str, outcome: str, at: NDArray[np.float64], n_samples: int, seed: int
) -> NDArray[np.float64]:
    """Return the mean of the outcome for each value of the cause, with its other causes as they are.

    The mean is over what they are without an intervention on the cause. If the cause is no parent, all are the same.
    """
    n = len(model.predicted)
    units = draw(model, ceil(n_samples / n) * n, seed, evenly=True)
    values = propagate(model, units)
    columns, place, target = parent_columns(model.graph, outcome), model.names.index(cause), model.names.index(outcome)
    noise = units.values[:, target] - units.predicted[:, target]
    means = []
    for value in at.tolist():
        values[:, place] = value
        means.append(float((model.mechanisms[outcome].predict(values[:, columns]) + noise).mean()))
    return np.array(means)


def replicated(
    model: StructuralModel,
    means: Means,
    ends: tuple[str, str],
    at: NDArray[np.float64],
    n_samples: int,
    n_bootstrap: int,
    seed: int,
) -> NDArray[np.float64]:
    """Return the means (n_bootstrap, len(at)) of models as other samples of rows might have given them.

    They are refitted to rows drawn with replacement or, if the rows were not kept, to targets simulated from the fits.
    """
    found = []
    for number in range(n_bootstrap):
        rng = np.random.default_rng(np.random.SeedSequence(seed, spawn_key=(_BOOTSTRAP, number)))
        if model.columns_kept:
            table, predicted, mechanisms = redrawn(model, rng)
            again = replace(model, table=table, predicted=predicted, mechanisms=mechanisms)
        else:
            again = refitted(replace(model, table=model.table.take(_drawn_again(model.table, rng))))
        found.append(means(again, *ends, at, n_samples, int(rng.integers(2**63))))
        logger.info("effect: %d of %d bootstrap samples fitted", len(found), n_bootstrap)
    return np.array(found)


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


TOTAL_EFFECT = Question(without_causes, mean_outcomes)
DIRECT_EFFECT = Question(with_causes, direct_outcomes)

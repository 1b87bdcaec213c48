"""Other graphs that the data and the knowledge allow, and the models of an effect in them."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace
from itertools import islice
from typing import TYPE_CHECKING, TypeAlias

import numpy as np
from numpy.typing import NDArray

from sartre.graph.dag import Dag
from sartre.graph.equivalence import orientations
from sartre.prune.mechanisms import fit_mechanisms
from sartre.scm.effects import without_causes
from sartre.scm.equations import with_mechanisms

if TYPE_CHECKING:
    from sartre.knowledge.knowledge import Constraints
    from sartre.scm.checks import Pair
    from sartre.scm.model import StructuralModel

Edge: TypeAlias = tuple[str, str]
MOST_GRAPHS = 100  # that the open directions allow, for which an effect is computed
MOST_TRIED = 2000  # graphs that are looked at for those: many differ only in what the effect does not depend on


@dataclass(frozen=True)
class OpenDirections:
    """The edges of a graph whose directions are not certain.

    Attributes
    ----------
    graph : Dag
        The graph before any intervention: which way an edge points does not depend on what is done.
    undecided, unchecked : tuples of (source, target)
        Edges that the data do not decide, and edges that were not checked.
    known : Constraints, optional
        What every graph obeys.
    """

    graph: Dag
    undecided: tuple[Edge, ...] = ()
    unchecked: tuple[Edge, ...] = ()
    known: Constraints | None = None


def alternatives(
    model: StructuralModel,
    cause: str,
    outcome: str,
    reduced: Callable[[StructuralModel, str, str], StructuralModel] = without_causes,
) -> Iterator[tuple[list[Edge], StructuralModel]]:
    """Yield the model of each graph that open directions allow besides its own, as far as an effect depends on it.

    Each comes with the edges that are turned in it. At most 100 different ones are fitted, those first in which arrows
    near the cause or the outcome are turned. `reduced` returns the part of a model that decides.
    """
    for turned, other in other_graphs(model, cause, outcome, reduced):
        unchanged = [name for name in other.names if _keeps_mechanism(model, other, name)]
        same = {name: model.mechanisms[name] for name in unchanged}
        yield turned, with_mechanisms(other, fit_mechanisms(other.table, other.graph, other.pairs, same))


def other_graphs(
    model: StructuralModel,
    cause: str,
    outcome: str,
    reduced: Callable[[StructuralModel, str, str], StructuralModel],
) -> Iterator[tuple[list[Edge], StructuralModel]]:
    """Yield the same as `alternatives`, with mechanisms that are not those of the other graph."""
    if model.directions is None:
        return
    edges, names = [*model.directions.undecided, *model.directions.unchecked], model.names
    place = {name: k for k, name in enumerate(names)}
    graph = model.directions.graph.adjacency.astype(bool)
    steps = _steps_from(graph | graph.T, [place[cause], place[outcome]])
    free = [(place[a], place[b]) for a, b in edges]
    free.sort(key=lambda edge: (-min(steps[list(edge)]), edge))
    known = model.directions.known
    allowed = orientations(graph, free) if known is None else orientations(graph, free, known.before, known.forbidden)
    seen = {_equations(reduced(model, cause, outcome).graph)}
    for adjacency in islice(allowed, MOST_TRIED):
        other = reduced(_turned(model, adjacency), cause, outcome)
        if _equations(other.graph) in seen:
            continue
        if len(seen) == MOST_GRAPHS:
            return
        seen.add(_equations(other.graph))
        yield [(a, b) for a, b in edges if adjacency[place[b], place[a]]], other


def _turned(model: StructuralModel, adjacency: NDArray[np.bool_]) -> StructuralModel:
    """Return the model with another graph, under the same interventions, and with the pairs that are still parents."""
    kept = adjacency.copy()
    kept[:, [model.names.index(name) for name in model.held]] = False
    dag = Dag(kept, model.names)
    return replace(model, graph=dag, pairs=tuple(pair for pair in model.pairs if _are_parents(pair, dag)))


def _are_parents(pair: Pair, graph: Dag) -> bool:
    return set(pair[:2]) <= set(graph.parents(pair[2]))


def _keeps_mechanism(model: StructuralModel, other: StructuralModel, name: str) -> bool:
    """Return whether a variable has the same parents; one that is held keeps none, whatever its mechanism has."""
    return name not in model.held and set(other.graph.parents(name)) == set(model.graph.parents(name))


def _equations(graph: Dag) -> frozenset[Edge]:
    return frozenset([*graph.edges, *((name, name) for name in graph.names)])


def _steps_from(joined: NDArray[np.bool_], start: list[int]) -> NDArray[np.intp]:
    """Return how many edges each variable is away from the nearest of some."""
    steps, here = np.full(len(joined), len(joined)), np.zeros(len(joined), dtype=bool)
    here[start] = True
    for distance in range(len(joined)):
        new = here & (steps == len(joined))
        steps[new] = distance
        here = joined[new].any(axis=0)
    return steps

"""Which variables to adjust for, so that the effect of one variable on another can be estimated from observations.

A set Z identifies the total effect of x on y if it contains no variable on a causal path (other than x) and none that
such a variable causes, and if it separates x from y once the first edges of all causal paths are taken out (Shpitser,
VanderWeele and Robins, 2010; van der Zander, Liskiewicz and Textor, 2014).
"""

from __future__ import annotations

from collections import deque
from collections.abc import Collection

import numpy as np
from numpy.typing import NDArray

from sartre.graph.equivalence import separated
from sartre.graph.paths import transitive_closure

MOST_SETS = 100  # minimal sets that are listed: a dense graph can have exponentially many


def minimal_adjustment_sets(
    adjacency: NDArray[np.bool_], cause: int, outcome: int, observed: Collection[int]
) -> list[list[int]]:
    """Return the sets of observed variables of which none can be left out, the smallest first; at most 100.

    There is none if the outcome is a parent of the cause or, with unobserved variables, if no set separates the two.

    Examples
    --------
    >>> fork = np.array([[0, 1, 1], [0, 0, 1], [0, 0, 0]], dtype=bool)  # 0 causes 1 and 2, and 1 causes 2
    >>> minimal_adjustment_sets(fork, 1, 2, observed=[0])
    [[0]]
    """
    backdoor, excluded = _backdoor_graph(np.asarray(adjacency, dtype=bool), cause, outcome)
    allowed = set(observed) - excluded - {cause, outcome}
    joined = _joined_through(_moral(backdoor, {cause, outcome}), allowed | {cause, outcome})
    if joined[cause, outcome]:
        return []
    return sorted(_separators(joined, cause, outcome), key=lambda nodes: (len(nodes), nodes))


def is_adjustment_set(adjacency: NDArray[np.bool_], cause: int, outcome: int, given: Collection[int]) -> bool:
    """Return whether adjusting for some variables identifies the total effect of a cause.

    Examples
    --------
    >>> fork = np.array([[0, 1, 1], [0, 0, 1], [0, 0, 0]], dtype=bool)
    >>> is_adjustment_set(fork, 1, 2, [0]), is_adjustment_set(fork, 1, 2, [])
    (True, False)
    """
    backdoor, excluded = _backdoor_graph(np.asarray(adjacency, dtype=bool), cause, outcome)
    return not excluded & set(given) and separated(backdoor, [cause], [outcome], given)


def _backdoor_graph(adjacency: NDArray[np.bool_], cause: int, outcome: int) -> tuple[NDArray[np.bool_], set[int]]:
    """Return the graph without the first edges of the causal paths, and what must not be adjusted for."""
    reaches = transitive_closure(adjacency) | np.eye(len(adjacency), dtype=bool)
    on_path = reaches[cause] & reaches[:, outcome]
    on_path[cause] = False
    backdoor = adjacency.copy()
    backdoor[cause, on_path] = False
    return backdoor, set(np.flatnonzero(reaches[on_path].any(axis=0)).tolist())


def _moral(adjacency: NDArray[np.bool_], ends: Collection[int]) -> NDArray[np.bool_]:
    """Return the undirected graph of the ends and their ancestors in which parents of a common child are joined."""
    reaches = transitive_closure(adjacency) | np.eye(len(adjacency), dtype=bool)
    kept = reaches[:, list(ends)].any(axis=1)
    edges = adjacency & np.outer(kept, kept)
    married = edges.astype(np.float32) @ edges.T.astype(np.float32) > 0
    joined = edges | edges.T | married
    np.fill_diagonal(joined, val=False)
    return joined


def _joined_through(joined: NDArray[np.bool_], kept: Collection[int]) -> NDArray[np.bool_]:
    """Return an undirected graph in which variables are joined that a path through others, not kept, joins."""
    joined = joined.copy()
    for node in set(range(len(joined))) - set(kept):
        neighbours = np.flatnonzero(joined[node])
        joined[np.ix_(neighbours, neighbours)] = True
        joined[node] = joined[:, node] = False
    np.fill_diagonal(joined, val=False)
    return joined


def _separators(joined: NDArray[np.bool_], first: int, second: int) -> list[list[int]]:
    """Return the minimal sets that separate two variables of an undirected graph, at most 100 (Shen and Liang, 1997).

    The neighbours of the second variable's component, once those of the first are taken out, are one. From each, the
    next follow: one of its members moves to the side of the first variable, and what then borders the other side
    separates them.
    """
    start = _border(joined, {int(j) for j in np.flatnonzero(joined[first])}, second)
    found, waiting = {start}, deque([start])
    while waiting and len(found) < MOST_SETS:
        nodes = waiting.popleft()
        side = _component(joined, nodes, first)
        for node in sorted(nodes):
            if joined[node, second]:
                continue
            grown = side | {node}
            around = {int(j) for j in np.flatnonzero(joined[list(grown)].any(axis=0))} - grown
            new = _border(joined, around, second)
            if new not in found and len(found) < MOST_SETS:
                found.add(new)
                waiting.append(new)
    return [sorted(nodes) for nodes in found]


def _border(joined: NDArray[np.bool_], removed: Collection[int], second: int) -> frozenset[int]:
    """Return the removed variables that border the component of the second."""
    component = _component(joined, removed, second)
    return frozenset(set(removed) & {int(j) for j in np.flatnonzero(joined[list(component)].any(axis=0))})


def _component(joined: NDArray[np.bool_], removed: Collection[int], start: int) -> set[int]:
    """Return what can be reached from a variable in an undirected graph without some others."""
    open_ = np.ones(len(joined), dtype=bool)
    open_[list(removed)] = False
    reached, new = {start}, [start]
    while new:
        near = np.flatnonzero(joined[new].any(axis=0) & open_)
        new = [int(j) for j in near if int(j) not in reached]
        reached |= set(new)
    return reached

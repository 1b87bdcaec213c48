"""Graphs that no observational distribution can tell apart, and separation in a graph."""

from __future__ import annotations

from collections.abc import Collection, Iterator, Sequence
from itertools import count

import numpy as np
from numpy.typing import NDArray

MOST_STEPS = 20_000  # of a search for orientations: about a second


def compelled(adjacency: NDArray[np.bool_]) -> NDArray[np.bool_]:
    """Return the edges of a directed acyclic graph that all graphs of its Markov equivalence class share, (d, d).

    Edges that meet in a variable without being joined keep their direction, and so do those whose reversal would make
    another such meeting, or a cycle (Meek's rules).

    Examples
    --------
    >>> chain = np.array([[0, 1, 0], [0, 0, 1], [0, 0, 0]], dtype=bool)
    >>> compelled(chain).any()
    np.False_
    >>> collider = np.array([[0, 1, 0], [0, 0, 0], [0, 1, 0]], dtype=bool)
    >>> compelled(collider).tolist() == collider.tolist()
    True
    """
    directed = np.asarray(adjacency, dtype=bool)
    joined = directed | directed.T
    apart = ~joined & ~np.eye(len(joined), dtype=bool)
    fixed = np.zeros_like(directed)
    for child in range(len(directed)):
        parents = np.flatnonzero(directed[:, child])
        fixed[parents, child] = apart[np.ix_(parents, parents)].any(axis=1)
    while True:
        free = joined & ~fixed & ~fixed.T
        found = free & (_through(fixed.T, apart) | _through(fixed, fixed) | _meets(fixed, free, apart))
        if not found.any():
            return fixed
        fixed |= found


def _through(first: NDArray[np.bool_], second: NDArray[np.bool_]) -> NDArray[np.bool_]:
    """Return which pairs (a, c) have some b with first[a, b] and second[b, c]."""
    return first.astype(np.float32) @ second.astype(np.float32) > 0


def _meets(fixed: NDArray[np.bool_], free: NDArray[np.bool_], apart: NDArray[np.bool_]) -> NDArray[np.bool_]:
    """Return which free a - d have b and c, not joined, with a - b -> d and a - c -> d."""
    found = np.zeros_like(free)
    for a, d in np.argwhere(free).tolist():
        between = np.flatnonzero(free[a] & fixed[:, d])
        found[a, d] = apart[np.ix_(between, between)].any()
    return found


def separated(
    adjacency: NDArray[np.bool_], first: Collection[int], second: Collection[int], given: Collection[int]
) -> bool:
    """Return whether two sets of variables are d-separated given a third.

    They are if no path joins them in the graph of all their ancestors once parents of a common child are joined and
    the given variables are taken out.

    Examples
    --------
    >>> collider = np.array([[0, 1, 0], [0, 0, 0], [0, 1, 0]], dtype=bool)
    >>> separated(collider, [0], [2], []), separated(collider, [0], [2], [1])
    (True, False)
    """
    directed = np.asarray(adjacency, dtype=bool)
    known, targets = set(given), set(second) - set(given)
    ancestors = _reached(directed.T, {*first, *second, *known})
    inside = np.zeros(len(directed), dtype=bool)
    inside[list(ancestors)] = True
    kept = directed & inside & inside[:, None]
    moral = kept | kept.T | _through(kept, kept.T)
    moral[:, list(known)] = moral[list(known)] = False
    return not targets & _reached(moral, set(first) - known)


def _reached(edges: NDArray[np.bool_], start: set[int]) -> set[int]:
    """Return all variables that can be reached from some along the edges, with these."""
    reached, new = set(start), set(start)
    while new:
        new = set(np.flatnonzero(edges[list(new)].any(axis=0)).tolist()) - reached
        reached |= new
    return reached


def orientations(
    adjacency: NDArray[np.bool_],
    free: Sequence[tuple[int, int]],
    before: NDArray[np.bool_] | None = None,
    forbidden: NDArray[np.bool_] | None = None,
) -> Iterator[NDArray[np.bool_]]:
    """Yield the graphs in which some edges may be turned, the given graph first; those last in `free` turn first.

    None has a cycle, or an effect of two causes that are not joined where the given graph has none: of that, unlike of
    a direction alone, the data would know. The search ends after a bounded number of steps.

    Parameters
    ----------
    adjacency : boolean array of shape (d, d)
    free : sequence of (cause, effect)
        Edges of the graph that may be turned.
    before, forbidden : boolean arrays of shape (d, d), optional
        What is known, and obeyed by the graph: row precedes column, and edges that no graph has.

    Examples
    --------
    >>> chain = np.array([[0, 1, 0], [0, 0, 1], [0, 0, 0]], dtype=bool)
    >>> [np.argwhere(graph).tolist() for graph in orientations(chain, [(0, 1), (1, 2)])]
    [[[0, 1], [1, 2]], [[1, 0], [1, 2]], [[1, 0], [2, 1]]]
    """
    given = np.asarray(adjacency, dtype=bool)
    joined = given | given.T
    start = given.copy()
    for i, j in free:
        start[i, j] = False
    nothing = np.zeros_like(given)
    later, excluded = (nothing if known is None else np.asarray(known) for known in (before, forbidden))
    tried = count()

    def fits(graph: NDArray[np.bool_], cause: int, effect: int) -> bool:
        if excluded[cause, effect]:
            return False
        rivals = np.flatnonzero(graph[:, effect] & ~joined[cause])
        known = given[cause, effect] & given[rivals, effect]
        return bool(np.all(known | (rivals == cause))) and cause not in _reached(graph | later, {effect})

    def placed(graph: NDArray[np.bool_], rest: Sequence[tuple[int, int]]) -> Iterator[NDArray[np.bool_]]:
        if not rest:
            yield graph
            return
        (i, j), *others = rest
        for cause, effect in ((i, j), (j, i)):
            if next(tried) < MOST_STEPS and fits(graph, cause, effect):
                more = graph.copy()
                more[cause, effect] = True
                yield from placed(more, others)

    yield from placed(start, list(free))

"""Which variables must come before which others: a boolean matrix, [earlier, later], transitively closed."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from sartre.graph.paths import find_cycle, transitive_closure
from sartre.knowledge.masks import as_mask


def check_before(before: Any, names: Sequence[str]) -> NDArray[np.bool_]:
    """Return which variables must precede which, transitively closed; all False for None. Cycles are refused by name.

    Examples
    --------
    >>> check_before([[0, 1, 0], [0, 0, 1], [0, 0, 0]], ["a", "b", "c"])[0].tolist()
    [False, True, True]
    """
    d = len(names)
    if before is None:
        return np.zeros((d, d), dtype=bool)
    matrix = as_mask("before", before, names, "[earlier, later]")
    closed = transitive_closure(matrix)
    if closed.diagonal().any():
        cycle = " before ".join(names[j] for j in find_cycle(matrix))
        raise ValueError(f"No order can place {cycle}. Drop one of these constraints.")
    return closed


def may_be_last(before: NDArray[np.bool_], remaining: NDArray[np.intp]) -> NDArray[np.bool_]:
    """Return which of the remaining variables need not precede another of them."""
    return np.asarray(~before[np.ix_(remaining, remaining)].any(axis=1))


def obeyed(order: NDArray[np.intp], before: NDArray[np.bool_]) -> NDArray[np.intp]:
    """Return the order with as few changes as needed: a variable comes as soon as all that must precede it are placed.

    Examples
    --------
    >>> obeyed(np.array([2, 1, 0]), check_before([[0, 0, 1], [0, 0, 0], [0, 0, 0]], ["a", "b", "c"])).tolist()
    [1, 0, 2]
    """
    if not before.any():
        return order
    rest = order.tolist()
    waiting = before.sum(axis=0)
    result = []
    while rest:
        first = next(j for j in rest if waiting[j] == 0)
        rest.remove(first)
        result.append(first)
        waiting -= before[first]
    return np.array(result, dtype=np.intp)

"""Which variable must come before which: a boolean matrix, [earlier, later], closed under "and so on"."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from sartre.validation import as_mask

if TYPE_CHECKING:
    from collections.abc import Sequence

    from numpy.typing import NDArray


def check_before(before: Any, names: Sequence[str]) -> NDArray[np.bool_]:  # noqa: ANN401 - any matrix of booleans
    """Return what must precede what, transitively; all False for None. A cycle is refused by name.

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
        raise ValueError(f"No order can have {cycle}. Drop one of these demands.")
    return closed


def transitive_closure(matrix: NDArray[np.bool_]) -> NDArray[np.bool_]:
    """Return which variables reach which by one step or more."""
    reached = np.packbits(matrix, axis=1)  # eight variables a byte: with thousands of them time is memory read
    for middle in np.flatnonzero(matrix.any(axis=0) & matrix.any(axis=1)).tolist():
        before = np.flatnonzero(reached[:, middle // 8] & (128 >> middle % 8))
        reached[before] |= reached[middle]
    return np.unpackbits(reached, axis=1, count=len(matrix)).view(np.bool_)


def find_cycle(matrix: NDArray[np.bool_]) -> list[int]:
    """Return a cycle, its first variable at both ends; there must be one."""
    closed = transitive_closure(matrix)
    start = int(np.flatnonzero(closed.diagonal())[0])
    came_from = {start: start}
    queue = [start]
    for here in queue:
        for there in np.flatnonzero(matrix[here]).tolist():
            if there == start:
                path = [start, here]
                while path[-1] != start:
                    path.append(came_from[path[-1]])
                return path[::-1]
            if there not in came_from:
                came_from[there] = here
                queue.append(there)
    raise AssertionError("a variable that reaches itself lies on a cycle")


def may_be_last(before: NDArray[np.bool_], remaining: NDArray[np.intp]) -> NDArray[np.bool_]:
    """Return which of the remaining variables need not precede another of them."""
    return np.asarray(~before[np.ix_(remaining, remaining)].any(axis=1))


def obeyed(order: NDArray[np.intp], before: NDArray[np.bool_]) -> NDArray[np.intp]:
    """Return the order changed as little as it takes: each variable as soon as all that must precede it are there.

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

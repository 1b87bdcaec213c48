"""Directed paths in a boolean matrix: reachability, cycles, and whether a criterion increases along paths."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray


def alignment(adjacency: NDArray[np.bool_], criterion: NDArray[np.float64]) -> tuple[float, int]:
    """Return the share of directed paths along which a criterion increases, ties as one half, and their number.

    Paths of the same length between two variables count once, as in the published definition; variables whose criterion
    is NaN are not compared.

    Examples
    --------
    >>> chain = np.array([[0, 1, 0], [0, 0, 1], [0, 0, 0]], dtype=bool)
    >>> alignment(chain, np.array([1.0, 2.0, 3.0]))
    (1.0, 3)
    >>> alignment(chain, np.array([1.0, 1.0, 1.0]))
    (0.5, 3)
    """
    edges = adjacency.astype(np.float32)
    paths, increasing, count = edges, 0.0, 0
    low, high = criterion[:, None], criterion[None, :]
    tie = np.isclose(low, high, rtol=1e-9, atol=0.0)
    gain = np.where(tie, 0.5, high > low)
    comparable = ~np.isnan(low) & ~np.isnan(high)
    while paths.any():
        counted = (paths > 0) & comparable
        increasing += float(gain[counted].sum())
        count += int(counted.sum())
        paths = ((paths @ edges) > 0).astype(np.float32)
    return (increasing / count if count else np.nan), count


def transitive_closure(matrix: NDArray[np.bool_]) -> NDArray[np.bool_]:
    """Return which variables reach which others in one or more steps."""
    reached = np.packbits(matrix, axis=1)  # eight variables per byte: for thousands, reading memory takes the time
    for middle in np.flatnonzero(matrix.any(axis=0) & matrix.any(axis=1)).tolist():
        before = np.flatnonzero(reached[:, middle // 8] & (128 >> middle % 8))
        reached[before] |= reached[middle]
    return np.unpackbits(reached, axis=1, count=len(matrix)).view(np.bool_)


def find_cycle(matrix: NDArray[np.bool_]) -> list[int]:
    """Return a cycle, with its first variable at both ends; the matrix must have one."""
    closed = transitive_closure(matrix)
    start = int(np.flatnonzero(closed.diagonal())[0])
    came_from = {start: start}
    queue = [start]
    for here in queue:
        for next_ in np.flatnonzero(matrix[here]).tolist():
            if next_ == start:
                path = [start, here]
                while path[-1] != start:
                    path.append(came_from[path[-1]])
                return path[::-1]
            if next_ not in came_from:
                came_from[next_] = here
                queue.append(next_)
    raise AssertionError("a variable that reaches itself lies on a cycle")

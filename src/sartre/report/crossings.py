"""The order of the nodes within the layers of a drawing: sweeps by medians, so that few edges cross.

Gansner, Koutsofios, North and Vo (1993), "A technique for drawing directed graphs": each layer is sorted by the medians
of its neighbours' places in the layer before, down and up in turn; after each sweep, neighbours within a layer change
places where that removes crossings; the best order is kept.
"""

from __future__ import annotations

from bisect import bisect_left, bisect_right, insort

import numpy as np
from numpy.typing import NDArray

MEDIAN_SWEEPS = 24  # as many as Gansner and others use


def few_crossings(layers: NDArray[np.intp], links: list[tuple[int, int]]) -> list[list[int]]:
    """Return the nodes of each layer from left to right, with few crossings of the links.

    Parameters
    ----------
    layers : array of shape (nodes,)
        The layer of each node, from 0.
    links : list of (upper, lower)
        Pairs of nodes in adjacent layers.

    Examples
    --------
    >>> few_crossings(np.array([0, 0, 1, 1]), [(0, 3), (1, 2)])
    [[0, 1], [3, 2]]
    """
    above: list[list[int]] = [[] for _ in layers]
    below: list[list[int]] = [[] for _ in layers]
    for upper, lower in links:
        above[lower].append(upper)
        below[upper].append(lower)
    best = rows = [np.flatnonzero(layers == layer).tolist() for layer in range(layers.max() + 1)]
    fewest = n_crossings(rows, links)
    for sweep in range(MEDIAN_SWEEPS):
        if fewest == 0:
            break
        rows = _swept(rows, below, upwards=True) if sweep % 2 else _swept(rows, above, upwards=False)
        _transpose(rows, above, below)
        crossings = n_crossings(rows, links)
        if crossings < fewest:
            best, fewest = [row.copy() for row in rows], crossings
    return best


def n_crossings(rows: list[list[int]], links: list[tuple[int, int]]) -> int:
    """Return how many pairs of links between adjacent layers cross.

    Examples
    --------
    >>> n_crossings([[0, 1], [2, 3]], [(0, 3), (1, 2)])
    1
    """
    layer = {node: k for k, row in enumerate(rows) for node in row}
    place = {node: k for row in rows for k, node in enumerate(row)}
    seen: list[list[int]] = [[] for _ in rows]
    crossings = 0
    for upper, lower in sorted(links, key=lambda link: (place[link[0]], place[link[1]])):
        lowers = seen[layer[upper]]
        crossings += len(lowers) - bisect_right(lowers, place[lower])
        insort(lowers, place[lower])
    return crossings


def _swept(rows: list[list[int]], neighbours: list[list[int]], *, upwards: bool) -> list[list[int]]:
    """Return the rows, each sorted by the medians of its neighbours in the row before; nodes without any stay."""
    swept = rows[-1:] if upwards else rows[:1]
    for row in rows[-2::-1] if upwards else rows[1:]:
        place = {node: k for k, node in enumerate(swept[-1])}
        medians = {node: _median(sorted(place[i] for i in neighbours[node])) for node in row if neighbours[node]}
        ranked = iter(sorted(medians, key=medians.__getitem__))
        swept.append([next(ranked) if node in medians else node for node in row])
    return swept[::-1] if upwards else swept


def _median(places: list[int]) -> float:
    """Return the median; of an even number of places, it is nearer to the side on which they are denser."""
    half = len(places) // 2
    if len(places) % 2:
        return places[half]
    left, right = places[half - 1] - places[0], places[-1] - places[half]
    if left + right == 0:
        return (places[half - 1] + places[half]) / 2
    return (places[half - 1] * right + places[half] * left) / (left + right)


def _transpose(rows: list[list[int]], above: list[list[int]], below: list[list[int]]) -> None:
    """Let nodes that stand side by side change places, in place, as long as this removes crossings."""
    place = {node: k for row in rows for k, node in enumerate(row)}
    improved = True
    while improved:
        improved = False
        for row in rows:
            for k in range(len(row) - 1):
                first, second = row[k], row[k + 1]
                gain = 0
                for near in (above, below):
                    a, b = sorted(place[i] for i in near[first]), sorted(place[i] for i in near[second])
                    gain += sum(bisect_left(b, i) - (len(b) - bisect_right(b, i)) for i in a)
                if gain > 0:
                    row[k], row[k + 1] = second, first
                    place[first], place[second] = k + 1, k
                    improved = True

"""Orders and edge masks as given by users: they are checked once and used by all steps."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from numbers import Integral
from typing import Any

import numpy as np
from numpy.typing import NDArray

from sartre.data.labels import by_label
from sartre.settings import listed


def check_order(order: Iterable[Any], names: Sequence[str]) -> NDArray[np.intp]:
    """Return an order as column indices, source first; it must list every column exactly once, by index or name.

    The numbers of an integer array are indices, even if columns have numbers as names; in a list this is refused as
    unclear.

    Examples
    --------
    >>> check_order(["b", "a"], ["a", "b"])
    array([1, 0])
    """
    if isinstance(order, (set, frozenset, str)) or not hasattr(order, "__iter__"):
        raise TypeError(
            f"An order must be a sequence of columns, causes before effects. Got {type(order).__name__} instead."
        )
    index: dict[Any, int] = {name: j for j, name in enumerate(names)}
    unclear = not (isinstance(order, np.ndarray) and order.dtype.kind in "iu")
    positions = []
    for item in list(order):
        if isinstance(item, str) and item in index:
            positions.append(index[item])
        elif isinstance(item, Integral) and not isinstance(item, bool) and 0 <= int(item) < len(names):
            if unclear and index.get(str(item), item) != item:
                raise ValueError(
                    f"A number in an order is a position, but a column at another position is named {item}. "
                    f"Give column names as text: '{item}'."
                )
            positions.append(int(item))
        else:
            raise ValueError(
                f"An order must list column names, or numbers from 0 to {len(names) - 1}. Got {item!r} instead. "
                f"The columns are {listed(names)}."
            )
    counts = Counter(positions)
    wrong = [names[j] for j in range(len(names)) if counts[j] != 1]
    if wrong:
        raise ValueError(f"An order must list every column exactly once. Missing or repeated: {listed(wrong)}.")
    return np.array(positions, dtype=np.intp)


@dataclass(frozen=True)
class OrderedEdges:
    """The edges, [parent, child], that an order allows, and which of them may or must be kept.

    Attributes
    ----------
    order : array of shape (d,)
        Column indices, source first.
    candidates, demanded : boolean arrays of shape (d, d), or None
        If None, all edges that the order allows may be kept and none must be; no array of size d x d is made.

    Examples
    --------
    >>> edges = check_edges(["b", "a", "c"], None, None, ["a", "b", "c"])
    >>> [(target, parents.tolist()) for target, parents, _ in edges.targets()]
    [(1, []), (0, [1]), (2, [1, 0])]
    """

    order: NDArray[np.intp]
    candidates: NDArray[np.bool_] | None = None
    demanded: NDArray[np.bool_] | None = None

    def targets(self) -> Iterator[tuple[int, NDArray[np.intp], NDArray[np.intp]]]:
        """Yield every variable, along the order, with its candidate parents and the required ones among them."""
        for k, target in enumerate(self.order.tolist()):
            parents = self.order[:k]
            if self.candidates is not None:
                parents = parents[self.candidates[parents, target]]
            yield target, parents, parents[:0] if self.demanded is None else parents[self.demanded[parents, target]]

    @property
    def allowed(self) -> NDArray[np.bool_]:
        """The edges that may be kept, shape (d, d)."""
        return _forward(self.order) if self.candidates is None else self.candidates

    @property
    def required(self) -> NDArray[np.bool_]:
        """The edges that must be kept, shape (d, d)."""
        return np.zeros((len(self.order), len(self.order)), bool) if self.demanded is None else self.demanded


def check_edges(order: Iterable[Any], candidates: Any, required: Any, names: Sequence[str]) -> OrderedEdges:
    """Check the input of a pruner: an order, and masks of the edges, [parent, child], that may and must be kept.

    Examples
    --------
    >>> check_edges([1, 0], None, [[0, 0], [1, 0]], ["a", "b"]).required[1]
    array([ True, False])
    """
    positions = check_order(order, names)
    if candidates is None and required is None:
        return OrderedEdges(positions)
    allowed = _forward(positions)
    if candidates is not None:
        allowed &= as_mask("candidates", candidates, names)
    if required is None:
        return OrderedEdges(positions, allowed)
    demanded = as_mask("required", required, names)
    place = np.argsort(positions)
    for parent, child in np.argwhere(demanded & ~allowed).tolist():
        a, b = names[parent], names[child]
        if place[parent] >= place[child]:
            raise ValueError(
                f"The edge {a} -> {b} is required, but the order does not have {a} before {b}. Change one of them."
            )
        raise ValueError(f"The edge {a} -> {b} is required, but 'candidates' excludes it. Change one of them.")
    return OrderedEdges(positions, allowed, demanded)


def _forward(order: NDArray[np.intp]) -> NDArray[np.bool_]:
    """Return the edges from earlier to later variables of an order."""
    place = np.argsort(order)
    return place[:, None] < place[None, :]


def as_mask(what: str, mask: Any, names: Sequence[str], sides: str = "[parent, child]") -> NDArray[np.bool_]:
    """Return a (d, d) boolean matrix; a data frame with names on both axes is matched by name."""
    matrix, labels = by_label(what, mask)
    if labels is not None:
        if sorted(labels) != sorted(names):
            raise ValueError(
                f"'{what}', given as a data frame, must have the column names on both axes, {sides}. "
                f"Pass {what}.to_numpy() to match by position."
            )
        place = {name: j for j, name in enumerate(labels)}
        rows = [place[name] for name in names]
        matrix = matrix[np.ix_(rows, rows)]
    d = len(names)
    if matrix.shape != (d, d) or not (matrix.dtype == bool or np.isin(matrix, (0, 1)).all()):
        raise ValueError(
            f"'{what}' must be a ({d}, {d}) matrix of booleans, {sides}. "
            f"Got shape {matrix.shape}, dtype {matrix.dtype}."
        )
    return matrix.astype(bool)

"""What changes from one graph to another."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass


@dataclass(frozen=True, repr=False)
class GraphDifference:
    """What `sartre.Dag.difference` returns; it is false if both graphs have the same edges.

    Attributes
    ----------
    added, removed : tuples of (source, target)
        Edges that only the other graph has, and edges that only the first has.
    reversed : tuple of (source, target)
        Edges that point the other way in the other graph, as they are in the first.
    """

    added: tuple[tuple[str, str], ...]
    removed: tuple[tuple[str, str], ...]
    reversed: tuple[tuple[str, str], ...]

    def __bool__(self) -> bool:
        return bool(self.added or self.removed or self.reversed)

    def __repr__(self) -> str:
        lines = [f"  + {a} -> {b}" for a, b in self.added]
        lines += [f"  - {a} -> {b}" for a, b in self.removed]
        lines += [f"  {a} -> {b} is {b} -> {a}" for a, b in self.reversed]
        counts = f"{len(self.added)} added, {len(self.removed)} removed, {len(self.reversed)} reversed"
        return "\n".join([f"GraphDifference: {counts}", *lines])


def difference(first: Iterable[tuple[str, str]], second: Iterable[tuple[str, str]]) -> GraphDifference:
    """Compare the edges of two graphs.

    Examples
    --------
    >>> difference([("a", "b")], [("b", "a")]).reversed
    (('a', 'b'),)
    """
    old, new = list(first), list(second)
    present = set(new)
    turned = [(a, b) for a, b in old if (b, a) in present]
    kept, still = {*old, *((b, a) for a, b in turned)}, {*new, *turned}
    return GraphDifference(
        tuple(edge for edge in new if edge not in kept),
        tuple(edge for edge in old if edge not in still),
        tuple(turned),
    )

"""Graphs in which some edges have no direction, with names.

``A[i, j] = 1`` means that variable ``i`` is a cause of variable ``j``, or that a line joins them: it is then 1 at
``[j, i]`` too.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from graphlib import CycleError, TopologicalSorter
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from sartre.data.checks import check_unique, default_names
from sartre.graph import causal_learn, formats

if TYPE_CHECKING:
    from pathlib import Path

    import networkx as nx

_REPR_EDGES = 12
Pairs = Iterable[tuple[str, str]]


class Pdag:
    """A partially directed acyclic graph over named variables.

    Parameters
    ----------
    names : sequence of str
        The variables.
    arrows : iterable of pairs of names
        Cause first.
    lines : iterable of pairs of names
        Edges whose direction is not decided, either way round.
    hidden : iterable of pairs of names, or a function that returns one
        Variables that a hidden common cause may act on. A function is called when `hidden` is first asked for. These
        pairs are marks, not edges: they are no part of `adjacency`, and graphs that differ in them alone are equal.

    Examples
    --------
    >>> graph = Pdag(["a", "b", "c"], arrows=[("b", "c")], lines=[("a", "b")])
    >>> graph
    Pdag: 3 variables, 1 arrows, 1 lines
      b -> c
      a -- b
    >>> graph.adjacency.tolist()
    [[0, 1, 0], [1, 0, 1], [0, 0, 0]]
    >>> print(graph.to_dagitty(), end="")
    pdag {
      "a";
      "b";
      "c";
      "b" -> "c";
      "a" -- "b";
    }
    """

    __slots__ = ("_arrows", "_hidden", "_lines", "_names")

    def __init__(
        self, names: Sequence[str], arrows: Pairs = (), lines: Pairs = (), hidden: Pairs | Callable[[], Pairs] = ()
    ) -> None:
        self._names = [str(name) for name in names]
        check_unique(self._names)
        self._arrows, self._lines = ([(str(a), str(b)) for a, b in edges] for edges in (arrows, lines))
        self._hidden: set[tuple[str, str]] | Callable[[], Pairs]
        self._hidden = hidden if callable(hidden) else self._checked(hidden)  # pyright: ignore[reportArgumentType]
        self._check_edges()

    @classmethod
    def from_matrix(cls, matrix: ArrayLike, names: Sequence[str] | None = None) -> Pdag:
        """Read a matrix such as `adjacency`: 1 where row -> column, and both ways round for a line.

        Examples
        --------
        >>> Pdag.from_matrix([[0, 1, 0], [1, 0, 1], [0, 0, 0]], ["a", "b", "c"])
        Pdag: 3 variables, 1 arrows, 1 lines
          b -> c
          a -- b
        """
        joined = np.asarray(matrix) != 0
        if joined.ndim != 2 or joined.shape[0] != joined.shape[1]:
            raise ValueError(f"'matrix' must be square, with one row per variable. Got shape {joined.shape}.")
        labels = list(default_names(len(joined)) if names is None else names)
        arrows, lines = (
            [(labels[i], labels[j]) for i, j in np.argwhere(edges)]
            for edges in (joined & ~joined.T, np.triu(joined & joined.T))
        )
        return cls(labels, arrows, lines)

    @classmethod
    def read(cls, path: str | Path) -> Pdag:
        """Read the graph.json or edges.csv of a run, with lines where directions are neither decided nor known."""
        return formats.read_file(path, None, cls._parsed)

    @classmethod
    def _parsed(cls, parsed: formats.Parsed) -> Pdag:
        lines = dict.fromkeys(parsed.lines)
        arrows = [edge for edge in dict.fromkeys(parsed.edges) if edge not in lines]
        return cls(parsed.names, arrows, lines, parsed.hidden)

    @property
    def names(self) -> list[str]:
        """The names of the variables."""
        return list(self._names)

    @property
    def arrows(self) -> list[tuple[str, str]]:
        """The edges with a direction, cause first."""
        return list(self._arrows)

    @property
    def lines(self) -> list[tuple[str, str]]:
        """The edges without a direction."""
        return list(self._lines)

    @property
    def hidden(self) -> set[tuple[str, str]]:
        """The pairs of variables that a hidden common cause may act on; of a learnt edge, the cause is first."""
        found: Pairs | Callable[[], Pairs] = getattr(self, "_hidden", ())  # older pickles have none
        if callable(found):
            found = self._hidden = self._checked(found())
        return set(found)

    def with_hidden(self, hidden: Pairs | Callable[[], Pairs]) -> Pdag:
        """Return the same graph with these pairs as `hidden`.

        Examples
        --------
        >>> print(Pdag(["a", "b"], arrows=[("a", "b")]).with_hidden([("a", "b")]).to_dagitty(), end="")
        dag {
          "a";
          "b";
          "a" -> "b";
          "a" <-> "b";
        }
        """
        return Pdag(self._names, self._arrows, self._lines, hidden)

    @property
    def adjacency(self) -> NDArray[np.uint8]:
        """1 where row -> column; both ways round for a line. Shape (d, d)."""
        matrix = np.zeros((len(self), len(self)), dtype=np.uint8)
        place = self._places()
        for a, b in self._both_ways():
            matrix[place[a], place[b]] = 1
        return matrix

    def reindex(self, names: Sequence[str]) -> Pdag:
        """Return the same graph with its variables in another order."""
        if sorted(names) != sorted(self._names):
            raise ValueError(f"'names' must be the variables of this graph, {', '.join(self._names)}. Got {names!r}.")
        return Pdag(names, self._arrows, self._lines, getattr(self, "_hidden", ()))

    def to_networkx(self) -> nx.DiGraph:
        """Return a networkx graph in which a line is two edges, one each way, as in `adjacency`."""
        return formats.directed(self._names, self._both_ways())[1]

    def to_causal_learn(self) -> Any:
        """Return causal-learn's ``GeneralGraph``; its matrix ``graph`` has -1 twice for a line."""
        return causal_learn.to_graph(self._names, self._arrows, self._lines)

    @classmethod
    def from_causal_learn(cls, graph: Any, names: Sequence[Any] | None = None) -> Pdag:
        """Read what causal-learn's ``pc`` or ``ges`` return: a ``CausalGraph``, a ``GeneralGraph`` or its matrix.

        Examples
        --------
        >>> Pdag.from_causal_learn([[0, -1, 0], [-1, 0, -1], [0, 1, 0]], ["a", "b", "c"])
        Pdag: 3 variables, 1 arrows, 1 lines
          b -> c
          a -- b
        """
        ends, names = causal_learn.from_graph(graph, names)
        arrows, lines = causal_learn.arrows_and_lines(np.asarray(ends), lines=True)
        return cls.from_matrix(arrows | lines | lines.T, names)

    def to_gml(self) -> str:
        """Return the graph of `to_networkx` as GML."""
        return formats.write_gml(self._names, self._both_ways())

    def to_graphml(self) -> str:
        """Return the graph of `to_networkx` as GraphML."""
        return formats.write_graphml(self._names, self._both_ways())

    def to_dot(self) -> str:
        """Return the graph in Graphviz's DOT language, lines without arrowheads."""
        return formats.write_dot(self._names, self._arrows, self._lines)

    def to_dagitty(self) -> str:
        """Return the graph in the language of dagitty.net and R's dagitty, with ``<->`` for each pair of `hidden`.

        A learnt edge that a hidden cause may explain is written as well: both may be there.
        """
        return formats.write_dagitty(self._names, self._arrows, self._lines, sorted(self.hidden))

    def to_dict(self) -> dict[str, Any]:
        """Return plain lists, ready for JSON."""
        arrows, lines, hidden = ([list(edge) for edge in edges] for edges in self._all_pairs())
        return {
            "convention": formats.CONVENTION,
            "nodes": self.names,
            "arrows": arrows,
            "lines": lines,
            "hidden": hidden,
        }

    @classmethod
    def from_dict(cls, data: dict[str, Any]) -> Pdag:
        """Read the result of `to_dict`."""
        for key in ("nodes", "arrows", "lines"):
            if key not in data:
                raise ValueError(f"A stored Pdag must have the key '{key}'. Got only {', '.join(data)}.")
        pairs = (map(tuple, data.get(key, ())) for key in ("arrows", "lines", "hidden"))
        return cls(data["nodes"], *pairs)

    def __reduce__(self) -> tuple[Any, ...]:
        return Pdag, (self._names, self._arrows, self._lines, self.hidden)  # and not what still computes `hidden`

    def _all_pairs(self) -> tuple[list[tuple[str, str]], ...]:
        return self._arrows, self._lines, sorted(self.hidden)

    def _checked(self, hidden: Pairs) -> set[tuple[str, str]]:
        """Refuse marks on anything but two variables; of a pair that is given both ways, keep the first."""
        pairs: set[tuple[str, str]] = set()
        for pair in hidden:
            if isinstance(pair, str):
                raise TypeError(f"'hidden' must hold pairs of names. Got {pair!r}.")
            a, b = map(str, pair)
            pairs |= set() if (b, a) in pairs else {(a, b)}
        for a, b in sorted(pairs):
            if a == b or a not in self._names or b not in self._names:
                raise ValueError(f"'hidden' must name two variables of the graph at a time. Got {a!r} and {b!r}.")
        return pairs

    def _check_edges(self) -> None:
        """Refuse unknown names, pairs that are joined twice, and cycles of arrows."""
        causes: dict[str, list[str]] = {name: [] for name in self._names}
        for a, b in [*self._arrows, *self._lines]:
            if a == b or a not in causes or b not in causes:
                raise ValueError(f"An edge must join two variables of the graph. Got {a!r} and {b!r}.")
        pairs = [frozenset(edge) for edge in [*self._arrows, *self._lines]]
        if len(set(pairs)) < len(pairs):
            twice = next(edge for k, edge in enumerate(pairs) if edge in pairs[:k])
            raise ValueError(f"Two variables have one edge at most. Got several for {' and '.join(sorted(twice))}.")
        for a, b in self._arrows:
            causes[b].append(a)
        try:
            TopologicalSorter(causes).prepare()
        except CycleError as error:
            raise ValueError(f"The arrows must have no cycle. Got {' -> '.join(error.args[1])}.") from None

    def _places(self) -> dict[str, int]:
        return {name: place for place, name in enumerate(self._names)}

    def _both_ways(self) -> list[tuple[str, str]]:
        return [*self._arrows, *self._lines, *((b, a) for a, b in self._lines)]

    def __len__(self) -> int:
        return len(self._names)

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, Pdag):
            return NotImplemented
        return set(self._names) == set(other._names) and set(self._both_ways()) == set(other._both_ways())

    def __hash__(self) -> int:
        return hash((frozenset(self._names), frozenset(self._both_ways())))

    def _repr_svg_(self) -> str:
        """Return the graph as a picture; lines are dashed."""
        from sartre.report.svg import pdag_svg  # noqa: PLC0415 - drawing is a layer above graphs

        return pdag_svg(self)

    def _repr_html_(self) -> str:
        """Return the picture as a notebook shows it."""
        from sartre.report.svg import in_page  # noqa: PLC0415 - drawing is a layer above graphs

        return in_page(self._repr_svg_(), self._head())

    def _head(self) -> str:
        return f"Pdag: {len(self)} variables, {len(self._arrows)} arrows, {len(self._lines)} lines"

    def __repr__(self) -> str:
        edges = [f"  {a} -> {b}" for a, b in self._arrows] + [f"  {a} -- {b}" for a, b in self._lines]
        rest = len(edges) - _REPR_EDGES
        more = [f"  ... and {rest} more"] if rest > 0 else []
        return "\n".join([self._head(), *edges[:_REPR_EDGES], *more])

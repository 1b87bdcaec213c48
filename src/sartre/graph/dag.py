"""Directed acyclic graphs with names, and what an adjacency matrix means.

``A[i, j] = 1`` means that variable ``i`` is a cause of variable ``j``: row -> column, everywhere.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from graphlib import CycleError, TopologicalSorter
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from sartre.compute.files import write_text_atomically
from sartre.data.checks import check_unique, default_names
from sartre.data.labels import by_label
from sartre.graph import causal_learn, formats
from sartre.graph.adjustment import minimal_adjustment_sets
from sartre.graph.difference import GraphDifference, difference
from sartre.graph.equivalence import compelled, separated
from sartre.graph.paths import transitive_closure
from sartre.graph.pdag import Pdag
from sartre.settings import listed

if TYPE_CHECKING:
    import networkx as nx
    import pandas as pd
    from matplotlib.axes import Axes

    from sartre.graph.formats import GraphFormat


_REPR_EDGES = 12


class Dag:
    """A directed acyclic graph over named variables.

    Parameters
    ----------
    adjacency : array or data frame of shape (d, d)
        ``adjacency[i, j]`` is non-zero if variable ``i`` is a cause of variable ``j``. A data frame has its names on
        both axes, in any order.
    names : sequence of d strings, optional
        The names of the variables; by default the labels of a data frame, or else ``x0, x1, ...``. With a labelled data
        frame, they set the order of the variables.

    Examples
    --------
    >>> dag = Dag.from_edges([("rain", "wet"), ("sprinkler", "wet")])
    >>> dag
    Dag: 3 variables, 2 edges
      rain -> wet
      sprinkler -> wet
    >>> dag.parents("wet")
    ['rain', 'sprinkler']
    >>> dag.topological_order()
    ['rain', 'sprinkler', 'wet']

    Every export states the direction and can be read back: `write` (a file, by its extension), `to_networkx`,
    `to_frame` (edge list), `to_dict` (JSON), `to_gml`, `to_graphml`, `to_dot`, `to_dagitty`, `to_lingam` (transposed),
    `to_causal_learn` (its graph). `plot` draws the graph, and notebooks show it by themselves.

    >>> Dag.from_dagitty("dag { rain -> wet <- sprinkler }") == dag
    True
    >>> dag.to_lingam().tolist()
    [[0.0, 0.0, 0.0], [1.0, 0.0, 1.0], [0.0, 0.0, 0.0]]
    """

    __slots__ = ("_adjacency", "_index", "_names")

    def __init__(self, adjacency: ArrayLike | pd.DataFrame, names: Sequence[str] | None = None) -> None:
        given, names = _named("adjacency", adjacency, names)
        if given.dtype.kind not in "biuf":
            raise TypeError(
                f"The adjacency matrix must be a dense array of numbers. Got {type(adjacency).__name__} of dtype "
                f"{given.dtype}."
            )
        if given.dtype.kind == "f" and np.isnan(given).any():
            i, j = np.argwhere(np.isnan(given))[0]
            raise ValueError(f"The adjacency matrix must be 0 or 1 for every pair. Got NaN in row {i}, column {j}.")
        matrix = (given != 0).astype(np.uint8)
        if matrix.ndim != 2 or matrix.shape[0] != matrix.shape[1]:
            raise ValueError(
                "The adjacency matrix must be square, with one row and one column per variable. Got shape "
                f"{matrix.shape}."
            )
        labels = default_names(len(matrix)) if names is None else [str(name) for name in names]
        if len(labels) != len(matrix):
            raise ValueError(f"A graph of {len(matrix)} variables must have {len(matrix)} names. Got {len(labels)}.")
        check_unique(labels)
        self._adjacency = matrix
        self._adjacency.setflags(write=False)
        self._names = tuple(labels)
        self._index = {name: i for i, name in enumerate(labels)}
        self._sorted()  # a cycle is refused here, by name

    @classmethod
    def from_edges(cls, edges: Iterable[tuple[str, str]], names: Sequence[str] | None = None) -> Dag:
        """Build a graph from ``(source, target)`` pairs; names are in order of appearance unless given."""
        pairs = [(str(source), str(target)) for source, target in edges]
        mentioned = dict.fromkeys(name for pair in pairs for name in pair)
        labels = list(mentioned) if names is None else [str(name) for name in names]
        check_unique(labels)
        index = {name: i for i, name in enumerate(labels)}
        matrix = np.zeros((len(labels), len(labels)), dtype=np.uint8)
        for source, target in pairs:
            for name in (source, target):
                if name not in index:
                    raise ValueError(
                        f"The edge {source} -> {target} names '{name}', which is not a variable. Add it to 'names'."
                    )
            matrix[index[source], index[target]] = 1
        return cls(matrix, labels)

    @classmethod
    def read(cls, path: str | Path, fmt: GraphFormat | None = None) -> Dag:
        """Read a graph from a file in one of the formats of `sartre.graph.formats`, chosen by the file extension."""
        return formats.read_file(path, fmt, cls._parsed)

    def write(self, path: str | Path, fmt: GraphFormat | None = None) -> None:
        """Write the graph to a file in one of the formats of `sartre.graph.formats`, chosen by the file extension."""
        fmt = formats.format_of(Path(path)) if fmt is None else fmt
        write_text_atomically(path, fmt.write(self._names, self.edges))

    @classmethod
    def from_networkx(cls, graph: nx.DiGraph) -> Dag:
        """Build a graph from a networkx ``DiGraph``, with its nodes in the same order."""
        return cls._parsed(formats.of_networkx(graph))

    @classmethod
    def _parsed(cls, parsed: formats.Parsed) -> Dag:
        return cls.from_edges(parsed.edges, parsed.names)

    @property
    def names(self) -> list[str]:
        """Names of the variables, in column order."""
        return list(self._names)

    @property
    def adjacency(self) -> NDArray[np.uint8]:
        """The (d, d) matrix with 1 where the row is a cause of the column (read-only)."""
        return self._adjacency

    @property
    def edges(self) -> list[tuple[str, str]]:
        """All ``(source, target)`` pairs, by source and then target in column order."""
        return [(self._names[i], self._names[j]) for i, j in np.argwhere(self._adjacency)]

    @property
    def n_edges(self) -> int:
        """Number of edges."""
        return int(self._adjacency.sum(dtype=np.int64))

    def parents(self, name: str) -> list[str]:
        """Return the direct causes of a variable."""
        return self._named_where(self._adjacency[:, self._position(name)])

    def children(self, name: str) -> list[str]:
        """Return the direct effects of a variable."""
        return self._named_where(self._adjacency[self._position(name)])

    def ancestors(self, name: str) -> list[str]:
        """Return the direct and indirect causes of a variable, in column order."""
        return self._named_where(transitive_closure(self._adjacency.astype(bool))[:, self._position(name)])

    def descendants(self, name: str) -> list[str]:
        """Return the direct and indirect effects of a variable, in column order."""
        return self._named_where(transitive_closure(self._adjacency.astype(bool))[self._position(name)])

    def topological_order(self) -> list[str]:
        """Return the names, causes before effects, in an order that stays close to the column order."""
        return [self._names[i] for i in self._sorted()]

    def cpdag(self) -> Pdag:
        """Return the graph with lines where some graph of the same Markov equivalence class has the edge turned.

        Of a linear relation with normal noise, observations can tell no more than this.

        Examples
        --------
        >>> Dag.from_edges([("a", "b"), ("b", "c"), ("c", "d"), ("e", "d")]).cpdag()
        Pdag: 5 variables, 2 arrows, 2 lines
          c -> d
          e -> d
          a -- b
          b -- c
        """
        fixed = compelled(self._adjacency.astype(bool))
        return self.with_lines((a, b) for a, b in self.edges if not fixed[self._position(a), self._position(b)])

    def with_lines(self, edges: Iterable[tuple[str, str]]) -> Pdag:
        """Return the graph with lines in place of some of its edges.

        Examples
        --------
        >>> Dag.from_edges([("a", "b"), ("b", "c")]).with_lines([("a", "b")])
        Pdag: 3 variables, 1 arrows, 1 lines
          b -> c
          a -- b
        """
        lines = set(edges)
        missing = lines - set(self.edges)
        if missing:
            source, target = min(missing)
            raise ValueError(f"'edges' must be edges of the graph. Got {source} -> {target}, which it does not have.")
        return Pdag(
            self._names, [edge for edge in self.edges if edge not in lines], sorted(lines, key=self.edges.index)
        )

    def d_separated(
        self, first: str | Iterable[str], second: str | Iterable[str], given: str | Iterable[str] = ()
    ) -> bool:
        """Return whether two sets of variables are independent, given a third, in every distribution of the graph.

        A set of one variable may be given by its name.

        Examples
        --------
        >>> dag = Dag.from_edges([("rain", "wet"), ("sprinkler", "wet")])
        >>> dag.d_separated("rain", "sprinkler"), dag.d_separated(["rain"], ["sprinkler"], ["wet"])
        (True, False)
        """
        named = ([names] if isinstance(names, str) else names for names in (first, second, given))
        sets = [[self._position(name) for name in names] for names in named]
        return separated(self._adjacency.astype(bool), *sets)

    def adjustment_sets(self, cause: str, outcome: str, observed: Iterable[str] | None = None) -> list[list[str]]:
        """Return what to adjust for to estimate the total effect of a cause from observations, the smallest set first.

        Any one set suffices: a regression of the outcome on the cause and the set, for example, if all is linear. Sets
        are minimal (none of their variables can be left out), and at most 100 are listed. An empty set says that no
        adjustment is needed; an empty list that no set suffices, as where the outcome is a parent of the cause.

        Parameters
        ----------
        cause, outcome : str
        observed : iterable of names, optional
            The variables that may be adjusted for; all by default.

        Examples
        --------
        >>> dag = Dag.from_edges([("age", "drug"), ("age", "health"), ("drug", "dose"), ("dose", "health")])
        >>> dag.adjustment_sets("drug", "health"), dag.adjustment_sets("drug", "health", observed=["dose"])
        ([['age']], [])
        """
        ends = self._position(cause), self._position(outcome)
        if ends[0] == ends[1]:
            raise ValueError(f"The cause and the outcome must be different. Got '{cause}' for both.")
        usable = self._names if observed is None else [observed] if isinstance(observed, str) else list(observed)
        places = [self._position(name) for name in usable]
        found = minimal_adjustment_sets(self._adjacency.astype(bool), *ends, places)
        return [[self._names[j] for j in nodes] for nodes in found]

    def add_edge(self, source: str, target: str) -> Dag:
        """Return the graph with one more edge; an edge that it has, and one that would close a cycle, are refused.

        Examples
        --------
        >>> Dag.from_edges([("a", "b")], ["a", "b", "c"]).add_edge("b", "c").edges
        [('a', 'b'), ('b', 'c')]
        """
        return self._with_edge(source, target, present=True)

    def remove_edge(self, source: str, target: str) -> Dag:
        """Return the graph without one of its edges; the variables stay.

        Examples
        --------
        >>> Dag.from_edges([("a", "b"), ("b", "c")]).remove_edge("a", "b").edges
        [('b', 'c')]
        """
        return self._with_edge(source, target, present=False)

    def difference(self, other: Dag) -> GraphDifference:
        """Return what changes from this graph to another one of the same variables.

        Examples
        --------
        >>> before = Dag.from_edges([("a", "b"), ("b", "c")])
        >>> before.difference(Dag.from_edges([("b", "a"), ("a", "c")], ["a", "b", "c"]))
        GraphDifference: 1 added, 1 removed, 1 reversed
          + a -> c
          - b -> c
          a -> b is b -> a
        """
        if not isinstance(other, Dag):
            raise TypeError(f"'other' must be a Dag. Got {type(other).__name__} instead.")
        return difference(self.edges, other.reindex(self._names).edges)

    def plot(self, edges: pd.DataFrame | None = None, *, ax: Axes | None = None) -> Axes:
        """Draw the graph with matplotlib; `sartre.report.plot_graph` says what `edges` adds.

        Examples
        --------
        >>> ax = Dag.from_edges([("rain", "wet")]).plot()
        >>> sorted(text.get_text() for text in ax.texts)
        ['rain', 'wet']
        """
        from sartre.report import plot_graph  # noqa: PLC0415 - drawing is a layer above graphs

        return plot_graph(self, edges, ax=ax)

    def reindex(self, names: Sequence[str]) -> Dag:
        """Return the same graph with its variables in another order."""
        check_unique(names)
        if set(names) != set(self._names):
            lone = sorted(set(self._names) ^ set(names), key=str)
            raise ValueError(f"The two graphs must have the same variables. These are in only one of them: {lone}.")
        rows = [self._index[name] for name in names]
        return Dag(self._adjacency[np.ix_(rows, rows)], names)

    def to_networkx(self) -> nx.DiGraph:
        """Return a networkx ``DiGraph`` with the same nodes and edges."""
        return formats.directed(self._names, self.edges)[1]

    def to_dowhy(self) -> nx.DiGraph:
        """Return the graph for DoWhy: ``CausalModel(data, treatment, outcome, graph=...)`` or ``gcm`` models."""
        graph = self.to_networkx()
        for name in graph.nodes:
            graph.nodes[name]["observed"] = "yes"
        return graph

    def to_lingam(self) -> NDArray[np.float64]:
        """Return lingam's matrix, the TRANSPOSE of ours: ``B[i, j] = 1`` if j is a cause of i."""
        return self._adjacency.T.astype(np.float64)

    @classmethod
    def from_lingam(cls, matrix: ArrayLike | pd.DataFrame, names: Sequence[str] | None = None) -> Dag:
        """Read lingam's ``adjacency_matrix_``: ``B[i, j]`` is non-zero if j is a cause of i."""
        given, names = _named("matrix", matrix, names)
        return cls(given.T, names)

    def to_causal_learn(self) -> Any:
        """Return causal-learn's ``Dag``, which is a ``GeneralGraph``, as its functions take it; it must be installed.

        Its matrix ``graph`` holds endpoints: for i -> j, -1 (tail) at [i, j] and 1 (arrow) at [j, i].
        """
        return causal_learn.to_graph(self._names, self.edges)

    @classmethod
    def from_causal_learn(cls, graph: Any, names: Sequence[Any] | None = None) -> Dag:
        """Read causal-learn's ``CausalGraph``, ``GeneralGraph`` or matrix; an edge without a direction is refused.

        Names are those of its nodes, or given as text or as causal-learn's nodes.

        Examples
        --------
        >>> Dag.from_causal_learn([[0, -1], [1, 0]], ["rain", "wet"]).edges
        [('rain', 'wet')]
        """
        matrix, names = causal_learn.from_graph(graph, names)
        ends, names = _named("matrix", matrix, names)
        return cls(causal_learn.arrows_and_lines(ends, lines=False)[0], names)

    def to_frame(self) -> pd.DataFrame:
        """Return the edges as a data frame with columns ``source`` and ``target``."""
        import pandas as pd  # noqa: PLC0415 - the graph itself does not need it

        return pd.DataFrame(self.edges, columns=["source", "target"], dtype=object)

    @classmethod
    def from_frame(cls, frame: pd.DataFrame, names: Sequence[str] | None = None) -> Dag:
        """Read a data frame of edges, such as ``edges_``; variables without an edge must be listed in `names`."""
        missing = [column for column in ("source", "target") if column not in frame.columns]
        if missing:
            raise ValueError(f"A table of edges must have the columns source and target. Missing: {missing}.")
        return cls.from_edges(list(zip(frame["source"], frame["target"], strict=True)), names)

    def to_gml(self) -> str:
        """Return the graph as GML, for Gephi, Cytoscape, igraph and DoWhy."""
        return formats.write_gml(self._names, self.edges)

    @classmethod
    def from_gml(cls, text: str) -> Dag:
        """Read GML; the labels of the nodes are the names."""
        return cls._parsed(formats.read_gml(text))

    def to_graphml(self) -> str:
        """Return the graph as GraphML; names are the ids of the nodes, and their attribute ``name``."""
        return formats.write_graphml(self._names, self.edges)

    @classmethod
    def from_graphml(cls, text: str) -> Dag:
        """Read GraphML; names are in the node attribute ``name``, or are the ids if no node has one."""
        return cls._parsed(formats.read_graphml(text))

    def to_dot(self) -> str:
        """Return the graph in Graphviz's DOT language."""
        return formats.write_dot(self._names, self.edges)

    @classmethod
    def from_dot(cls, text: str) -> Dag:
        """Read a ``digraph`` of names and arrows in DOT; attributes are ignored."""
        return cls._parsed(formats.read_dot(text))

    def to_dagitty(self) -> str:
        """Return the graph in the language of dagitty.net and R's dagitty."""
        return formats.write_dagitty(self._names, self.edges)

    @classmethod
    def from_dagitty(cls, text: str) -> Dag:
        """Read DAGitty's ``dag { ... }`` of names and arrows; positions and roles are ignored.

        So is ``<->`` beside an arrow, which marks a possible hidden cause (`Pdag` keeps it).
        """
        parsed = formats.read_dagitty(text)
        joined = {frozenset(edge) for edge in parsed.edges}
        for first, second in parsed.hidden:
            if frozenset((first, second)) not in joined:
                raise ValueError(f"Every edge of a Dag must be '->' or '<-'. Got '{first} <->'.")
        return cls._parsed(parsed)

    def to_dict(self) -> dict[str, Any]:
        """Return plain lists, ready for JSON; the convention is spelled out in the result."""
        return formats.to_plain(self._names, self.edges)

    @classmethod
    def from_dict(cls, data: dict[str, Any]) -> Dag:
        """Read the result of `to_dict`."""
        return cls._parsed(formats.from_plain(data))

    def _with_edge(self, source: str, target: str, *, present: bool) -> Dag:
        place = self._position(source), self._position(target)
        if bool(self._adjacency[place]) == present:
            have = "already has" if present else "does not have"
            raise ValueError(f"The graph {have} the edge {source} -> {target}. Name another edge.")
        adjacency = self._adjacency.copy()
        adjacency[place] = present
        return Dag(adjacency, self._names)

    def _named_where(self, chosen: NDArray[Any]) -> list[str]:
        return [self._names[j] for j in np.flatnonzero(chosen)]

    def _position(self, name: str) -> int:
        if name not in self._index:
            raise ValueError(f"'{name}' is not a variable of this graph. Its variables are {', '.join(self._names)}.")
        return self._index[name]

    def _sorted(self) -> list[int]:
        causes: dict[int, list[int]] = {j: [] for j in range(len(self))}
        for i, j in np.argwhere(self._adjacency).tolist():
            causes[j].append(i)
        sorter = TopologicalSorter(causes)
        try:
            return list(sorter.static_order())
        except CycleError as error:
            cycle = " -> ".join(self._names[i] for i in error.args[1])
            raise ValueError(f"The graph must have no cycle. Got {cycle}. Remove one of these edges.") from None

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, Dag):
            return NotImplemented
        return set(self._names) == set(other._names) and set(self.edges) == set(other.edges)

    def __hash__(self) -> int:
        return hash((frozenset(self._names), frozenset(self.edges)))

    def __len__(self) -> int:
        return len(self._names)

    def _repr_svg_(self) -> str:
        """Return the graph as a picture."""
        from sartre.report.svg import dag_svg  # noqa: PLC0415 - drawing is a layer above graphs

        return dag_svg(self)

    def _repr_html_(self) -> str:
        """Return the picture as a notebook shows it."""
        from sartre.report.svg import in_page  # noqa: PLC0415 - drawing is a layer above graphs

        return in_page(self._repr_svg_(), f"Dag: {len(self)} variables, {self.n_edges} edges")

    def __repr__(self) -> str:
        lines = [f"Dag: {len(self)} variables, {self.n_edges} edges"]
        lines += [f"  {source} -> {target}" for source, target in self.edges[:_REPR_EDGES]]
        if self.n_edges > _REPR_EDGES:
            lines.append(f"  ... and {self.n_edges - _REPR_EDGES} more")
        return "\n".join(lines)


def _named(what: str, matrix: Any, names: Sequence[str] | None) -> tuple[NDArray[Any], Sequence[str] | None]:
    """Return a matrix and the names of its variables: the labels of a data frame, in the order of any names given."""
    given, labels = by_label(what, matrix)
    if labels is None or names is None:
        return given, names if labels is None else labels
    wanted = [str(name) for name in names]
    if sorted(wanted) != sorted(labels):
        raise ValueError(
            f"'names' must be the labels of '{what}', in any order. Got {listed(wanted)} for the labels "
            f"{listed(labels)}. Pass {what}.to_numpy() to match by position."
        )
    rows = [labels.index(name) for name in wanted]
    return given[np.ix_(rows, rows)], wanted

"""A directed acyclic graph with names: the only file that knows what an adjacency matrix means.

``A[i, j] = 1`` says that variable ``i`` is a cause of variable ``j``: row -> column, everywhere.
"""

from __future__ import annotations

from graphlib import CycleError, TopologicalSorter
from typing import TYPE_CHECKING, Any

import numpy as np

from sartre.validation import check_unique, default_names

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    import networkx as nx
    from numpy.typing import ArrayLike, NDArray

DIRECTION = "source -> target"
_REPR_EDGES = 12


class Dag:
    """A directed acyclic graph over named variables.

    Parameters
    ----------
    adjacency : array of shape (d, d)
        ``adjacency[i, j]`` is non-zero where variable ``i`` is a cause of variable ``j``.
    names : sequence of d strings, optional
        The variables' names; ``x0, x1, ...`` when left out.

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
    """

    __slots__ = ("_adjacency", "_index", "_names")

    def __init__(self, adjacency: ArrayLike, names: Sequence[str] | None = None) -> None:
        given = np.asarray(adjacency)
        if given.dtype.kind not in "biuf":
            raise TypeError(
                f"The adjacency matrix must be a dense array of numbers. Got {type(adjacency).__name__} of dtype "
                f"{given.dtype}."
            )
        if np.isnan(given).any():
            i, j = np.argwhere(np.isnan(given))[0]
            raise ValueError(f"The adjacency matrix must say 0 or 1 of every pair. Got NaN in row {i}, column {j}.")
        matrix = (given != 0).astype(np.uint8)
        if matrix.ndim != 2 or matrix.shape[0] != matrix.shape[1]:
            raise ValueError(
                f"The adjacency matrix must be square, one row and one column a variable. Got shape {matrix.shape}."
            )
        labels = default_names(len(matrix)) if names is None else [str(name) for name in names]
        if len(labels) != len(matrix):
            raise ValueError(f"A graph of {len(matrix)} variables needs as many names. Got {len(labels)}.")
        check_unique(labels)
        self._adjacency = matrix
        self._adjacency.setflags(write=False)
        self._names = tuple(labels)
        self._index = {name: i for i, name in enumerate(labels)}
        self._sorted()  # a cycle is refused here, by name

    @classmethod
    def from_edges(cls, edges: Iterable[tuple[str, str]], names: Sequence[str] | None = None) -> Dag:
        """Build a graph from ``(source, target)`` pairs; names in order of appearance unless given."""
        pairs = [(str(source), str(target)) for source, target in edges]
        mentioned = dict.fromkeys(name for pair in pairs for name in pair)
        labels = list(mentioned) if names is None else [str(name) for name in names]
        check_unique(labels)
        index = {name: i for i, name in enumerate(labels)}
        matrix = np.zeros((len(labels), len(labels)), dtype=np.uint8)
        for source, target in pairs:
            for name in (source, target):
                if name not in index:
                    raise ValueError(f"The edge {source} -> {target} names '{name}', which is not a variable.")
            matrix[index[source], index[target]] = 1
        return cls(matrix, labels)

    @classmethod
    def from_networkx(cls, graph: nx.DiGraph) -> Dag:
        """Build a graph from a networkx ``DiGraph``, its nodes in the graph's own order."""
        if not graph.is_directed():
            raise TypeError("A Dag needs a directed networkx graph (DiGraph). Got an undirected one.")
        return cls.from_edges(list(graph.edges()), [str(node) for node in graph.nodes()])

    @property
    def names(self) -> list[str]:
        """Names of the variables, in column order."""
        return list(self._names)

    @property
    def adjacency(self) -> NDArray[np.uint8]:
        """The (d, d) matrix with 1 where row is a cause of column (read-only)."""
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
        """Direct causes of a variable."""
        return [self._names[i] for i in np.flatnonzero(self._adjacency[:, self._position(name)])]

    def children(self, name: str) -> list[str]:
        """Direct effects of a variable."""
        return [self._names[j] for j in np.flatnonzero(self._adjacency[self._position(name)])]

    def topological_order(self) -> list[str]:
        """Names, causes before effects; of the orders that fit, one that stays near the column order."""
        return [self._names[i] for i in self._sorted()]

    def reindex(self, names: Sequence[str]) -> Dag:
        """Return the same graph with its variables in another order."""
        check_unique(names)
        if set(names) != set(self._names):
            lone = sorted(set(self._names) ^ set(names), key=str)
            raise ValueError(f"The two graphs must have the same variables. Only in one of them: {lone}.")
        rows = [self._index[name] for name in names]
        return Dag(self._adjacency[np.ix_(rows, rows)], names)

    def to_networkx(self) -> nx.DiGraph:
        """Return a networkx ``DiGraph`` with the same nodes and edges."""
        import networkx as nx  # noqa: PLC0415 - a tenth of a second that most runs do not need

        graph = nx.DiGraph()
        graph.add_nodes_from(self._names)
        graph.add_edges_from(self.edges)
        return graph

    def to_dict(self) -> dict[str, Any]:
        """Return plain lists, ready for JSON; the direction is spelled out in the result."""
        edges = [{"source": source, "target": target} for source, target in self.edges]
        return {"direction": DIRECTION, "nodes": self.names, "edges": edges}

    @classmethod
    def from_dict(cls, data: dict[str, Any]) -> Dag:
        """Read what `to_dict` wrote."""
        if data.get("direction") != DIRECTION:
            raise ValueError(f"A stored graph must state the direction '{DIRECTION}'. Got {data.get('direction')!r}.")
        for key in ("nodes", "edges"):
            if key not in data:
                raise ValueError(f"A stored graph must have '{key}'. Got {', '.join(data)} only.")
        return cls.from_edges([(edge["source"], edge["target"]) for edge in data["edges"]], data["nodes"])

    def _position(self, name: str) -> int:
        if name not in self._index:
            raise ValueError(f"'{name}' is not a variable of this graph. Its variables: {', '.join(self._names)}.")
        return self._index[name]

    def _sorted(self) -> list[int]:
        sorter = TopologicalSorter({j: np.flatnonzero(column).tolist() for j, column in enumerate(self._adjacency.T)})
        try:
            return list(sorter.static_order())
        except CycleError as error:
            cycle = " -> ".join(self._names[i] for i in error.args[1])
            raise ValueError(f"The graph must have no cycle. It has {cycle}.") from None

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, Dag):
            return NotImplemented
        return set(self._names) == set(other._names) and set(self.edges) == set(other.edges)

    def __hash__(self) -> int:
        return hash((frozenset(self._names), frozenset(self.edges)))

    def __len__(self) -> int:
        return len(self._names)

    def __repr__(self) -> str:
        lines = [f"Dag: {len(self)} variables, {self.n_edges} edges"]
        lines += [f"  {source} -> {target}" for source, target in self.edges[:_REPR_EDGES]]
        if self.n_edges > _REPR_EDGES:
            lines.append(f"  ... and {self.n_edges - _REPR_EDGES} more")
        return "\n".join(lines)

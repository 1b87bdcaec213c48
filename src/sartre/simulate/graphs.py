"""Random directed acyclic graphs: the Erdos-Renyi and scale-free families of the benchmarks."""

from __future__ import annotations

from typing import TYPE_CHECKING, Literal, get_args

import numpy as np
from numpy.typing import NDArray

from sartre.graph.dag import Dag
from sartre.settings import check_choice, check_number, seed_of

if TYPE_CHECKING:
    from sartre.settings import RandomState

Kind = Literal["ER", "SF"]
Orientation = Literal["age", "random"]


def random_dag(
    n_nodes: int,
    n_edges: int,
    kind: Kind = "ER",
    orientation: Orientation = "age",
    random_state: RandomState = None,
) -> Dag:
    """Draw a random directed acyclic graph.

    The labels are shuffled in every case, so that the order of the columns says nothing about the graph.

    Parameters
    ----------
    n_nodes : int
        Number of variables, named ``x0, x1, ...``.
    n_edges : int
        Number of edges: exact for ``"ER"``, a target for ``"SF"``.
    kind : {"ER", "SF"}
        ``"ER"``: Erdos-Renyi. The skeleton is uniform among all those with exactly ``n_edges`` edges, and a
        random permutation orients it. ``"SF"``: scale-free. A Barabasi-Albert graph in which every new node
        attaches to ``m = max(1, round(n_edges / n_nodes))`` older ones; it has ``m * (n_nodes - m)`` edges.
    orientation : {"age", "random"}
        Direction of the edges of ``"SF"``. ``"age"``: from the older to the newer node, so that hubs are causes
        and no node has more than ``m`` parents. ``"random"``: the same skeleton, oriented by a random
        permutation. ``"ER"`` nodes have no age, so this setting has no effect on them.
    random_state : int, numpy.random.Generator, numpy.random.RandomState or None
        Source of all randomness; the same int gives the same graph, and None a new one each time.

    Returns
    -------
    Dag
        The graph.

    Examples
    --------
    >>> random_dag(4, 3, random_state=0).n_edges
    3
    >>> hubs = random_dag(10, 20, kind="SF", random_state=0)
    >>> hubs.n_edges, max(len(hubs.parents(name)) for name in hubs.names)
    (16, 2)
    """
    check_choice("random_dag", "kind", kind, get_args(Kind))
    check_choice("random_dag", "orientation", orientation, get_args(Orientation))
    check_number("random_dag", "n_nodes", n_nodes, low=2 if kind == "SF" else 1, integer=True)
    check_number("random_dag", "n_edges", n_edges, low=0, high=n_nodes * (n_nodes - 1) // 2, integer=True)
    rng = np.random.default_rng(seed_of("random_dag", random_state))
    oldest_first = _erdos_renyi(n_nodes, n_edges, rng) if kind == "ER" else _scale_free(n_nodes, n_edges, rng)
    labels = rng.permutation(n_nodes)
    adjacency = oldest_first[np.ix_(labels, labels)]
    if kind == "SF" and orientation == "random":
        rank = rng.permutation(n_nodes)
        adjacency = (adjacency | adjacency.T) & (rank[:, None] < rank)
    return Dag(adjacency)


def _erdos_renyi(n_nodes: int, n_edges: int, rng: np.random.Generator) -> NDArray[np.bool_]:
    """Choose ``n_edges`` of all pairs; edges run from the lower to the higher number."""
    adjacency = np.zeros((n_nodes, n_nodes), dtype=bool)
    later = np.arange(n_nodes - 1, -1, -1)  # pairs are numbered row by row; these are each node's pairs with later ones
    ends = np.cumsum(later)
    chosen = rng.choice(int(ends[-1]), size=n_edges, replace=False)
    rows = np.searchsorted(ends, chosen, side="right")
    adjacency[rows, chosen - ends[rows] + n_nodes] = True
    return adjacency


def _scale_free(n_nodes: int, n_edges: int, rng: np.random.Generator) -> NDArray[np.bool_]:
    """Grow a Barabasi-Albert graph; nodes are numbered by age, edges run from the older to the newer."""
    import networkx as nx  # noqa: PLC0415 - slow to import, and most runs do not need it

    m = max(1, round(n_edges / n_nodes))
    adjacency = np.zeros((n_nodes, n_nodes), dtype=bool)
    for pair in nx.barabasi_albert_graph(n_nodes, m, seed=int(rng.integers(2**32))).edges():
        adjacency[min(pair), max(pair)] = True
    return adjacency

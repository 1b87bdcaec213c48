"""Distances between a true graph and a guess: always ``(truth, guess)``, always row -> column.

A graph is a `Dag` or a square matrix of 0 and 1 in which ``A[i, j] = 1`` means that i is a cause of j. `shd` and the
shares of edges also take a `Pdag`, for instance the truth's `Dag.cpdag`: a line is right where the other has a line.
`Dag` objects and data frames with labels are aligned by the names of their variables, everything else by position.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import TYPE_CHECKING, Any, Literal, NamedTuple, TypeAlias

import numpy as np
from numpy.typing import ArrayLike, NDArray

from sartre.additive.linear import explained_by_others
from sartre.data.checks import as_table
from sartre.data.labels import by_label
from sartre.graph.dag import Dag
from sartre.graph.paths import alignment
from sartre.graph.pdag import Pdag
from sartre.knowledge.masks import check_order

if TYPE_CHECKING:
    import pandas as pd

    Graph: TypeAlias = Dag | Pdag | ArrayLike | pd.DataFrame

Distance = Literal["sid", "parent_aid", "ancestor_aid", "oset_aid"]
EDGE_DIRECTION = "from row to column"  # this is gadjid's name for A[i, j] = 1 meaning i -> j


class Sortability(NamedTuple):
    """How well variance and R^2 alone reveal the causal order: 1 fully, 0.5 not at all, 0 in reverse."""

    variance: float
    r2: float


def shd(truth: Graph, guess: Graph, reversal: Literal[1, 2] = 1) -> int:
    """Count the edges to add, remove or reverse to get from one graph to the other.

    Parameters
    ----------
    truth, guess : Dag or array of shape (d, d)
        The graphs, row -> column.
    reversal : {1, 2}
        The cost of an edge in the wrong direction: 1, a single mistake (reverse the edge, the usual convention), or 2,
        one missing and one superfluous edge.

    Examples
    --------
    >>> truth = Dag.from_edges([("a", "b"), ("b", "c")])
    >>> guess = Dag.from_edges([("b", "a"), ("b", "c")])
    >>> shd(truth, guess), shd(truth, guess, reversal=2)
    (1, 2)
    >>> shd(truth.cpdag(), guess.cpdag()), shd(truth.cpdag(), guess)
    (0, 2)
    """
    if reversal not in (1, 2):
        raise ValueError(f"The 'reversal' parameter of shd must be 1 or 2. Got {reversal!r} instead.")
    true, guessed = _matrices(truth, guess)
    differs = true != guessed
    if reversal == 2:
        return int(differs.sum())
    return int((differs | differs.T).sum()) // 2


def sid(truth: Graph, guess: Graph) -> int:
    """Count the ordered pairs whose causal effect the guess gets wrong (structural intervention distance).

    Where j is a parent of i in the guess, the pair (i, j) is a mistake if i has an effect on j in the truth; elsewhere,
    if the parents of i in the guess are not a valid adjustment set in the truth (Peters and Buehlmann, Neural
    Computation 27, 2015). The distance is not symmetric: superfluous edges in the right direction cost nothing.

    At most ``d (d - 1)``.

    Examples
    --------
    >>> truth = Dag.from_edges([("a", "b"), ("b", "c")])
    >>> sid(truth, Dag.from_edges([("b", "a"), ("b", "c")]))
    3
    """
    return _mistakes("sid", truth, guess)


def parent_aid(truth: Graph, guess: Graph) -> int:
    """Count the pairs that adjustment for the guess's parents gets wrong (parent adjustment distance).

    It is one of the adjustment identification distances (Henckel, Wuertzen and Weichwald, UAI 2024). Between two DAGs
    it equals `sid`; it has its own name because it extends to graphs that are only partly directed.

    At most ``d (d - 1)``.

    Examples
    --------
    >>> truth = Dag.from_edges([("a", "b"), ("a", "c"), ("b", "c"), ("c", "d")])
    >>> parent_aid(truth, Dag.from_edges([("a", "b"), ("b", "c"), ("a", "d"), ("c", "d")]))
    1
    """
    return _mistakes("parent_aid", truth, guess)


def ancestor_aid(truth: Graph, guess: Graph) -> int:
    """Count the pairs that adjustment for the guess's ancestors gets wrong (ancestor adjustment distance).

    Where j descends from i in the guess, the pair is a mistake if the ancestors of i in the guess are not a valid
    adjustment set in the truth; elsewhere the guess says that i has no effect on j, which is a mistake if it has one.

    At most ``d (d - 1)``.

    Examples
    --------
    >>> truth = Dag.from_edges([("a", "b"), ("a", "c"), ("b", "c"), ("c", "d")])
    >>> ancestor_aid(truth, Dag.from_edges([("a", "b"), ("b", "c"), ("a", "d"), ("c", "d")]))
    0
    """
    return _mistakes("ancestor_aid", truth, guess)


def oset_aid(truth: Graph, guess: Graph) -> int:
    """Count the pairs that the guess's optimal adjustment sets get wrong (optimal adjustment distance).

    Where j descends from i in the guess, the pair is a mistake if the adjustment set of smallest variance that the
    guess suggests is not valid in the truth; elsewhere the guess says that i has no effect on j, which is a mistake if
    it has one.

    At most ``d (d - 1)``.

    Examples
    --------
    >>> truth = Dag.from_edges([("a", "b"), ("a", "c"), ("b", "c"), ("c", "d")])
    >>> oset_aid(truth, Dag.from_edges([("a", "b"), ("b", "c"), ("a", "d"), ("c", "d")]))
    1
    """
    return _mistakes("oset_aid", truth, guess)


def edge_precision(truth: Graph, guess: Graph) -> float:
    """Return the share of the guessed edges that are true, direction included.

    It is 1 for a guess without edges, which makes no false claim.

    Examples
    --------
    >>> truth = Dag.from_edges([("a", "b"), ("b", "c")])
    >>> edge_precision(truth, Dag.from_edges([("a", "b")], ["a", "b", "c"]))
    1.0
    """
    right, _, n_guessed = _edge_counts(truth, guess)
    return _share(right, n_guessed)


def edge_recall(truth: Graph, guess: Graph) -> float:
    """Return the share of the true edges that were guessed, direction included.

    It is 1 for a truth without edges, since none can be missed.

    Examples
    --------
    >>> truth = Dag.from_edges([("a", "b"), ("b", "c")])
    >>> edge_recall(truth, Dag.from_edges([("a", "b")], ["a", "b", "c"]))
    0.5
    """
    right, n_true, _ = _edge_counts(truth, guess)
    return _share(right, n_true)


def edge_f1(truth: Graph, guess: Graph) -> float:
    """Return the harmonic mean of precision and recall of the edges, direction included.

    ``2 |truth and guess| / (|truth| + |guess|)``: 1 if neither has an edge, 0 if only one of them has edges.

    Examples
    --------
    >>> truth = Dag.from_edges([("a", "b"), ("b", "c")])
    >>> edge_f1(truth, Dag.from_edges([("a", "b"), ("c", "b")]))
    0.5
    """
    right, n_true, n_guessed = _edge_counts(truth, guess)
    return _share(2 * right, n_true + n_guessed)


def order_divergence(truth: Graph, order: Iterable[int | str]) -> int:
    """Count the true edges that an order contradicts: those whose effect comes before the cause.

    No pruning can recover these edges, so this is the part of the error that is due to the order alone.

    Parameters
    ----------
    truth : Dag or array of shape (d, d)
        The graph, row -> column.
    order : sequence of d column indices or names
        Every variable once, source first.

    Examples
    --------
    >>> truth = Dag.from_edges([("a", "b"), ("b", "c")])
    >>> order_divergence(truth, ["a", "c", "b"]), order_divergence(truth, [2, 1, 0])
    (1, 2)
    """
    dag, _ = _as_dag(truth, "truth")
    columns = check_order(order, dag.names)
    return int(np.tril(dag.adjacency[np.ix_(columns, columns)]).sum(dtype=np.int64))


def sortability(X: Any, dag: Graph) -> Sortability:
    """Measure how well the variances of the columns, and their R^2 on all others, reveal the causal order.

    For every length k, and every pair (i, j) with a directed path of k edges from i to j, i should come before j. The
    result is the share of these cases in which the criterion increases from i to j; a tie counts as one half (Reisach
    et al., NeurIPS 2021 and 2023). Far from 0.5, sorting by the criterion (`VarianceSort`, `R2Sort`) is a baseline that
    every method must beat. Variances depend on the units of the columns; R^2 does not.

    Parameters
    ----------
    X : array of shape (n, d) or data frame
    dag : Dag or array of shape (d, d)
        The true graph, row -> column; the columns of a data frame are matched to the names of a `Dag` or the labels of
        another data frame.

    Both values are in [0, 1]; they are NaN for a graph without edges.

    Examples
    --------
    >>> a, b = np.random.default_rng(0).normal(size=(2, 500))
    >>> sortability(np.column_stack([a, a + b]), [[0, 1], [0, 0]]).variance
    1.0
    """
    table = as_table(X, min_rows=2)
    graph, is_named = _as_dag(dag, "dag")
    if len(graph) != table.shape[1]:
        raise ValueError(
            f"'dag' must have as many variables as the table has columns, {table.shape[1]}. Got {len(graph)} instead."
        )
    if is_named and set(graph.names) == set(table.names):
        graph = graph.reindex(table.names)
    adjacency = graph.adjacency.astype(bool)
    variance = np.where(table.constant, 0.0, table.values.var(axis=0))
    return Sortability(alignment(adjacency, variance)[0], alignment(adjacency, explained_by_others(table))[0])


def _edge_counts(truth: Graph, guess: Graph) -> tuple[int, int, int]:
    """Return how many edges both graphs have, arrows alike and lines alike, and how many each of them has."""
    true, guessed = _matrices(truth, guess)
    same = (true == guessed) & (true == guessed).T
    joined, guess_joined = np.triu(true | true.T), np.triu(guessed | guessed.T)
    return int((joined & same).sum()), int(joined.sum()), int(guess_joined.sum())


def _mistakes(distance: Distance, truth: Graph, guess: Graph) -> int:
    for graph, role in ((truth, "truth"), (guess, "guess")):
        _as_dag(graph, role)
    true, guessed = _matrices(truth, guess)
    if len(true) < 2:
        return 0  # there is no pair to get wrong, and gadjid requires one
    import gadjid  # noqa: PLC0415 - only these four distances need it

    measure = getattr(gadjid, distance)
    return int(measure(true.astype(np.int8), guessed.astype(np.int8), edge_direction=EDGE_DIRECTION)[1])


def _matrices(truth: Graph, guess: Graph) -> tuple[NDArray[np.bool_], NDArray[np.bool_]]:
    """Return both adjacency matrices, row -> column, over the same variables in the same order."""
    (true, true_named), (guessed, guess_named) = _as_graph(truth, "truth"), _as_graph(guess, "guess")
    if len(true) != len(guessed):
        raise ValueError(
            f"'truth' and 'guess' must have the same variables. Got {len(true)} and {len(guessed)} variables."
        )
    if true_named and guess_named:
        guessed = guessed.reindex(true.names)
    return true.adjacency.astype(bool), guessed.adjacency.astype(bool)


def _as_graph(graph: Graph, role: str) -> tuple[Dag | Pdag, bool]:
    """Return a graph, which may have lines, and whether its variables have names of their own."""
    return (graph, True) if isinstance(graph, Pdag) else _as_dag(graph, role)


def _as_dag(graph: Graph, role: str) -> tuple[Dag, bool]:
    """Return a graph, and whether its variables have names of their own."""
    if isinstance(graph, Pdag):
        raise TypeError(f"'{role}' must be a directed graph here. Got a Pdag; only shd and shares of edges take one.")
    if isinstance(graph, Dag):
        return graph, True
    matrix, names = by_label(role, graph)
    if not np.isin(matrix, (0, 1)).all():
        raise ValueError(
            f"'{role}' must contain only 0 and 1, with 1 where the row is a cause of the column. Got other values. "
            "Threshold a matrix of weights first."
        )
    try:
        return Dag(matrix, names), names is not None
    except ValueError as error:
        square = matrix.ndim == 2 and matrix.shape[0] == matrix.shape[1]
        lines = (
            " If 1 both ways round means a line, pass Pdag.from_matrix(...)."
            if square and (matrix * matrix.T).any()
            else ""
        )
        raise ValueError(f"'{role}' must be the matrix of a directed acyclic graph. {error}{lines}") from None


def _share(count: int, whole: int) -> float:
    return count / whole if whole else 1.0

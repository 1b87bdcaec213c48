from itertools import permutations, product

import networkx as nx
import numpy as np
import pytest

from sartre import Dag
from sartre.graph.equivalence import compelled, separated


def random_graph(rng, d, share=0.4):
    order = rng.permutation(d)
    upper = np.triu(rng.random((d, d)) < share, 1)
    matrix = np.zeros((d, d), dtype=bool)
    matrix[np.ix_(order, order)] = upper
    return matrix


def colliders(matrix):
    """Return the triples a -> c <- b with a and b not joined."""
    joined = matrix | matrix.T
    d = len(matrix)
    return {
        (a, b, c)
        for a, b, c in product(range(d), repeat=3)
        if a < b and matrix[a, c] and matrix[b, c] and not joined[a, b]
    }


def equivalent_graphs(matrix):
    """Return all graphs without cycles that have the same edges, directions aside, and the same colliders."""
    d, joined, found = len(matrix), matrix | matrix.T, {}
    for order in permutations(range(d)):
        place = np.argsort(order)
        other = joined & (place[:, None] < place)
        if colliders(other) == colliders(matrix):
            found[other.tobytes()] = other
    return list(found.values())


@pytest.mark.parametrize("seed", range(25))
def test_compelled_edges_are_those_of_all_equivalent_graphs(seed):
    matrix = random_graph(np.random.default_rng(seed), 5, 0.3 + 0.02 * seed)
    np.testing.assert_array_equal(compelled(matrix), np.logical_and.reduce(equivalent_graphs(matrix)))


def test_a_chain_leaves_everything_open_and_a_collider_nothing():
    chain = Dag.from_edges([("a", "b"), ("b", "c")])
    assert chain.cpdag().arrows == []
    assert chain.cpdag() == Dag.from_edges([("c", "b"), ("b", "a")]).cpdag()
    collider = Dag.from_edges([("a", "b"), ("c", "b")])
    assert collider.cpdag().lines == []


@pytest.mark.parametrize("seed", range(20))
def test_separation_is_that_of_networkx(seed):
    rng = np.random.default_rng(seed)
    matrix = random_graph(rng, 7)
    graph = nx.DiGraph(matrix.astype(int))
    for _ in range(20):
        first, second, *given = (int(v) for v in rng.permutation(7)[: rng.integers(2, 6)])
        assert separated(matrix, [first], [second], given) == nx.is_d_separator(graph, {first}, {second}, set(given))


def test_an_empty_graph_and_unknown_names():
    assert compelled(np.zeros((0, 0), bool)).shape == (0, 0)
    with pytest.raises((KeyError, ValueError), match="z"):
        Dag.from_edges([("a", "b")]).d_separated(["a"], ["z"])

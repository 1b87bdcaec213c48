from __future__ import annotations

import copy
import itertools
import json
import pickle

import networkx as nx
import numpy as np
import pandas as pd
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy import sparse

from sartre.graph.dag import Dag
from sartre.graph.formats import CONVENTION

RAIN = Dag.from_edges([("rain", "wet"), ("sprinkler", "wet"), ("wet", "slippery")])


@st.composite
def dags(draw, max_size: int = 6) -> Dag:
    """Draw an upper triangle, then shuffle it, so that the causal order is not the column order."""
    d = draw(st.integers(0, max_size))
    bits = draw(st.lists(st.booleans(), min_size=d * d, max_size=d * d))
    triangle = np.triu(np.array(bits, dtype=bool).reshape(d, d), 1)
    rows = draw(st.permutations(range(d)))
    names = draw(st.lists(st.text(max_size=4), min_size=d, max_size=d, unique=True))
    return Dag(triangle[np.ix_(rows, rows)], names)


def test_row_is_the_cause_and_column_the_effect():
    dag = Dag([[0, 1], [0, 0]], ["cause", "effect"])
    assert dag.edges == [("cause", "effect")]
    assert dag.parents("effect") == ["cause"]
    assert dag.children("cause") == ["effect"]
    assert dag.parents("cause") == dag.children("effect") == []


def test_names_default_to_x0_x1_and_any_number_but_zero_is_an_edge():
    dag = Dag([[0, -0.5, 0], [0, 0, 0], [0, 2, 0]])
    assert dag.names == ["x0", "x1", "x2"]
    assert dag.edges == [("x0", "x1"), ("x2", "x1")]
    assert dag.adjacency.dtype == np.uint8
    assert dag.adjacency.tolist() == [[0, 1, 0], [0, 0, 0], [0, 1, 0]]


def test_the_graph_is_its_own_copy_and_read_only():
    matrix = np.array([[0, 1], [0, 0]], dtype=np.uint8)
    dag = Dag(matrix)
    matrix[0, 1] = 0
    assert dag.n_edges == 1
    with pytest.raises(ValueError, match="read-only"):
        dag.adjacency[0, 1] = 0
    dag.names.append("intruder")
    assert dag.names == ["x0", "x1"]


def test_more_than_255_edges_are_counted():
    dag = Dag(np.triu(np.ones((40, 40)), 1))
    assert dag.n_edges == len(dag.edges) == 780


@given(dags())
def test_every_form_gives_the_same_graph_back(dag):
    for twin in (
        Dag(dag.adjacency, dag.names),
        Dag.from_edges(dag.edges, dag.names),
        Dag.from_networkx(dag.to_networkx()),
        Dag.from_dict(json.loads(json.dumps(dag.to_dict()))),
        pickle.loads(pickle.dumps(dag)),  # noqa: S301
        copy.deepcopy(dag),
    ):
        assert twin == dag
        assert hash(twin) == hash(dag)
        assert twin.names == dag.names
        assert np.array_equal(twin.adjacency, dag.adjacency)


@given(dags())
def test_parents_and_children_are_the_edges(dag):
    assert [(parent, name) for name in dag.names for parent in dag.parents(name)] == sorted(
        dag.edges, key=lambda edge: (dag.names.index(edge[1]), dag.names.index(edge[0]))
    )
    assert [(name, child) for name in dag.names for child in dag.children(name)] == dag.edges
    assert dag.n_edges == len(dag.edges)
    assert len(dag) == len(dag.names)


@given(dags())
def test_causes_come_before_effects_in_the_topological_order(dag):
    order = dag.topological_order()
    assert sorted(order) == sorted(dag.names)
    assert all(order.index(source) < order.index(target) for source, target in dag.edges)


@given(dags(), st.randoms(use_true_random=False))
def test_reindexing_moves_the_columns_and_keeps_the_graph(dag, random):
    names = random.sample(dag.names, len(dag))
    moved = dag.reindex(names)
    assert moved.names == names
    assert moved == dag
    assert hash(moved) == hash(dag)
    assert moved.reindex(dag.names).adjacency.tolist() == dag.adjacency.tolist()


@given(dags())
def test_a_graph_with_one_edge_reversed_is_another_graph_or_has_a_cycle(dag):
    for source, target in dag.edges:
        edges = [edge for edge in dag.edges if edge != (source, target)]
        assert Dag.from_edges(edges, dag.names) != dag
        try:
            assert Dag.from_edges([*edges, (target, source)], dag.names) != dag
        except ValueError as error:
            assert "must have no cycle" in str(error)  # noqa: PT017 - both outcomes are right


def test_equality_looks_at_names_and_edges_only():
    assert Dag.from_edges([("a", "b")]) == Dag([[0, 0], [1, 0]], ["b", "a"])
    assert Dag.from_edges([("a", "b")]) != Dag.from_edges([("a", "b")], ["a", "b", "c"])
    assert Dag.from_edges([("a", "b")]) != Dag.from_edges([("a", "c")])
    assert Dag.from_edges([("a", "b")]) != "a -> b"


def test_networkx_agrees_on_direction_and_keeps_lone_nodes():
    graph = nx.DiGraph([(1, 2)])
    graph.add_node("lone")
    dag = Dag.from_networkx(graph)
    assert dag.names == ["1", "2", "lone"]
    assert dag.edges == [("1", "2")]
    assert list(dag.to_networkx().successors("1")) == ["2"]
    assert nx.to_numpy_array(dag.to_networkx()).tolist() == dag.adjacency.tolist()


def test_the_stored_form_spells_the_direction():
    assert RAIN.to_dict() == {
        "convention": "source -> target",
        "nodes": ["rain", "wet", "sprinkler", "slippery"],
        "edges": [
            {"source": "rain", "target": "wet"},
            {"source": "wet", "target": "slippery"},
            {"source": "sprinkler", "target": "wet"},
        ],
    }


def test_the_repr_shows_a_dozen_edges_and_counts_the_rest():
    assert repr(Dag([[0]])) == "Dag: 1 variables, 0 edges"
    lines = repr(Dag(np.triu(np.ones((6, 6)), 1))).splitlines()
    assert lines[:2] == ["Dag: 6 variables, 15 edges", "  x0 -> x1"]
    assert len(lines) == 14
    assert lines[-1] == "  ... and 3 more"


@pytest.mark.parametrize(
    ("make", "kind", "message"),
    [
        (lambda: Dag(np.zeros((2, 3))), ValueError, r"must be square.*Got shape \(2, 3\)"),
        (lambda: Dag([0, 1]), ValueError, r"must be square.*Got shape \(2,\)"),
        (lambda: Dag([[0, np.nan], [0, 0]]), ValueError, "0 or 1 for every pair. Got NaN in row 0, column 1"),
        (lambda: Dag([["0", "1"], ["0", "0"]]), TypeError, "dense array of numbers. Got list of dtype <U1"),
        (lambda: Dag(sparse.csr_array((2, 2))), TypeError, "dense array of numbers. Got csr_array"),
        (lambda: Dag(np.zeros((2, 2)), ["a"]), ValueError, "graph of 2 variables must have 2 names. Got 1"),
        (lambda: Dag(np.zeros((3, 3)), ["a", "b", "a"]), ValueError, "Repeated: a. Rename them"),
        (lambda: Dag([[1]]), ValueError, "must have no cycle. Got x0 -> x0"),
        (lambda: Dag.from_edges([("a", "b"), ("b", "a")]), ValueError, "Got (a -> b -> a|b -> a -> b)"),
        (lambda: Dag.from_edges([("a", "b")], ["a", "c"]), ValueError, "edge a -> b names 'b', which is not a var"),
        (lambda: Dag.from_edges([], ["a", "a"]), ValueError, "Repeated: a. Rename them"),
        (lambda: Dag.from_networkx(nx.Graph([(1, 2)])), TypeError, "directed networkx graph .* Got an undirected"),
        (lambda: Dag.from_networkx(nx.DiGraph([(1, "1")])), ValueError, "Repeated: 1. Rename them"),
        (lambda: Dag.from_dict({"nodes": [], "edges": []}), ValueError, "state the convention .* Got None"),
        (lambda: Dag.from_dict({"convention": "target -> source"}), ValueError, "Got 'target -> source'"),
        (lambda: Dag.from_dict({"direction": CONVENTION, "nodes": []}), ValueError, "must have the key 'edges'"),
        (lambda: RAIN.parents("snow"), ValueError, "'snow' is not a variable of this graph. Its variables are"),
        (lambda: RAIN.children("snow"), ValueError, "'snow' is not a variable"),
        (
            lambda: RAIN.reindex(["rain", "wet", "snow", "sprinkler"]),
            ValueError,
            r"one of them: \['slippery', 'snow'\]",
        ),
        (lambda: RAIN.reindex([*RAIN.names, "wet"]), ValueError, "Repeated: wet"),
    ],
)
def test_anything_but_a_dag_is_refused_by_name(make, kind, message):
    with pytest.raises(kind, match=message):
        make()


def test_a_cycle_is_reported_in_the_direction_of_its_edges():
    with pytest.raises(ValueError, match="no cycle") as caught:
        Dag.from_edges([("a", "b"), ("b", "c"), ("c", "a"), ("c", "d")])
    cycle = str(caught.value).split("Got ")[1].split(".")[0].split(" -> ")
    assert cycle[0] == cycle[-1]
    assert set(itertools.pairwise(cycle)) == {("a", "b"), ("b", "c"), ("c", "a")}


def test_names_that_are_not_strings_become_strings():
    assert Dag.from_edges([(1, 2)], [2, 1]).edges == [("1", "2")]
    assert Dag(np.zeros((2, 2)), (0, 1)).names == ["0", "1"]


def test_a_graph_without_variables_is_a_graph():
    dag = Dag(np.zeros((0, 0)))
    assert len(dag) == dag.n_edges == 0
    assert dag.topological_order() == []


def test_a_graph_that_was_stored_under_the_old_key_is_read():
    stored = Dag.from_edges([("a", "b")], ["a", "b", "c"]).to_dict()
    old = {"direction": stored.pop("convention"), **stored}
    assert Dag.from_dict(old).edges == [("a", "b")]


def test_a_labelled_frame_keeps_its_labels_whatever_the_order_of_its_axes():
    frame = pd.DataFrame(RAIN.adjacency, index=RAIN.names, columns=RAIN.names)
    mixed = frame.loc[RAIN.names[::-1], sorted(RAIN.names)]
    assert Dag(mixed) == RAIN
    assert Dag(mixed).names == RAIN.names[::-1]
    assert Dag(mixed, RAIN.names).names == RAIN.names
    assert Dag.from_lingam(mixed.T) == RAIN
    with pytest.raises(ValueError, match=r"'names' must be the labels of 'adjacency', in any order\. Got a, b, c, d"):
        Dag(mixed, ["a", "b", "c", "d"])

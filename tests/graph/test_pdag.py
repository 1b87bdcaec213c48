import copy
import json
import pickle

import networkx as nx
import numpy as np
import pytest

from sartre import Dag, Pdag
from sartre.metrics import edge_f1, edge_precision, edge_recall, shd, sid


@pytest.fixture
def graph():
    return Pdag(["a", "b", "c", "d"], arrows=[("b", "c"), ("a", "d")], lines=[("b", "a")])


def test_a_line_has_no_direction(graph):
    assert graph == Pdag(["b", "a", "d", "c"], arrows=[("a", "d"), ("b", "c")], lines=[("a", "b")])
    assert hash(graph) == hash(graph.reindex(["d", "c", "b", "a"]))
    assert graph != Dag.from_edges([("a", "b"), ("b", "c"), ("a", "d")]).with_lines([])
    assert graph == Dag.from_edges([("a", "b"), ("b", "c"), ("a", "d")]).with_lines([("a", "b")])
    assert "b -- a" in repr(graph)
    assert "b -> c" in repr(graph)


def test_a_line_must_be_an_edge_of_the_graph():
    with pytest.raises(ValueError, match="Got a -> c, which it does not have"):
        Dag.from_edges([("a", "b")], ["a", "b", "c"]).with_lines([("a", "c")])


@pytest.mark.parametrize(
    ("arrows", "lines", "complaint"),
    [
        ([("a", "z")], [], "must join two variables"),
        ([], [("a", "a")], "must join two variables"),
        ([("a", "b")], [("b", "a")], "one edge at most. Got several for a and b"),
        ([("a", "b"), ("b", "c"), ("c", "a")], [], "no cycle"),
    ],
)
def test_what_is_no_partially_directed_graph_is_refused(arrows, lines, complaint):
    with pytest.raises(ValueError, match=complaint):
        Pdag(["a", "b", "c"], arrows, lines)


def test_plain_data_and_back(graph):
    assert Pdag.from_dict(json.loads(json.dumps(graph.to_dict()))) == graph
    with pytest.raises(ValueError, match="must have the key 'lines'"):
        Pdag.from_dict({"nodes": [], "arrows": []})


def test_metrics_compare_arrows_with_arrows_and_lines_with_lines(graph):
    truth = Dag.from_edges([("a", "b"), ("b", "c"), ("a", "d")])
    assert shd(graph, truth) == shd(truth, graph) == 1
    assert shd(graph, graph) == 0
    assert edge_precision(truth, graph) == edge_recall(graph, truth) == edge_f1(graph, truth) == 2 / 3
    assert shd(truth.cpdag(), graph) == 2
    with pytest.raises(TypeError, match="only shd and shares of edges"):
        sid(truth, graph)


def test_exports_say_which_edges_have_no_direction(graph):
    a, b = graph.names.index("a"), graph.names.index("b")
    assert graph.adjacency[a, b] == graph.adjacency[b, a] == 1
    network = graph.to_networkx()
    assert network.has_edge("a", "b")
    assert network.has_edge("b", "a")
    assert not network.has_edge("c", "b")
    assert '"b" -> "a" [dir=none];' in graph.to_dot()
    assert graph.to_dagitty().startswith("pdag {")
    assert '"b" -- "a";' in graph.to_dagitty()
    assert len(nx.parse_graphml(graph.to_graphml()).edges) == len(network.edges)
    assert set(nx.parse_gml(graph.to_gml()).edges) == set(network.edges)


def test_without_lines_the_exports_are_those_of_the_graph():
    dag = Dag.from_edges([("a", "b")])
    assert dag.with_lines([]).to_dagitty() == dag.to_dagitty()
    assert dag.with_lines([]).to_dot() == dag.to_dot()
    np.testing.assert_array_equal(dag.with_lines([]).adjacency, dag.adjacency)


def test_edges_may_be_lists_and_names_are_text(graph):
    same = Pdag(["a", "b", "c", "d"], arrows=[["b", "c"], ["a", "d"]], lines=[["b", "a"]])
    assert same == graph
    assert hash(same) == hash(graph)
    assert Pdag([1, 2], [[1, 2]]) == Pdag(["1", "2"], [("1", "2")])


def test_a_matrix_and_back(graph):
    assert Pdag.from_matrix(graph.adjacency, graph.names) == graph
    assert Pdag.from_matrix([[0, 1], [1, 0]]).lines == [("x0", "x1")]
    with pytest.raises(ValueError, match=r"'matrix' must be square.* Got shape \(1, 2\)"):
        Pdag.from_matrix([[0, 1]])
    cpdag = graph.adjacency
    with pytest.raises(ValueError, match=r"If 1 both ways round means a line, pass Pdag.from_matrix"):
        shd(cpdag, cpdag)


def test_a_single_name_is_a_set_of_one():
    dag = Dag.from_edges([("rain", "wet"), ("spr", "wet")])
    assert dag.d_separated("rain", "spr")
    assert not dag.d_separated("rain", "spr", "wet")


def test_marks_are_no_edges_and_are_asked_for_once(graph):
    calls = []

    def found():
        calls.append(1)
        return [("b", "c"), ("c", "d")]

    marked = graph.with_hidden(found)
    assert marked == graph
    assert hash(marked) == hash(graph)
    assert repr(marked) == repr(graph)
    np.testing.assert_array_equal(marked.adjacency, graph.adjacency)
    assert not calls
    assert marked.hidden == marked.hidden == {("b", "c"), ("c", "d")}
    assert len(calls) == 1
    assert marked.reindex(["d", "c", "b", "a"]).hidden == marked.hidden
    assert Pdag.from_dict(json.loads(json.dumps(marked.to_dict()))).hidden == marked.hidden
    assert '"c" <-> "d";' in marked.to_dagitty()
    assert graph.hidden == set()
    with pytest.raises(ValueError, match="Got 'a' and 'z'"):
        graph.with_hidden([("a", "z")])


def test_marks_come_back_from_dagitty_and_a_pair_is_marked_once(tmp_path):
    marked = Pdag(["a", "b", "c"], arrows=[("a", "b")], hidden=[("b", "c"), ("c", "b")])
    assert marked.hidden == {("b", "c")}
    path = tmp_path / "marked.dagitty"
    path.write_text(marked.to_dagitty(), encoding="utf-8")
    assert Pdag.read(path).hidden == {("b", "c")}
    with pytest.raises(TypeError, match="pairs of names"):
        Pdag(["a", "b"], hidden=["ab"])


def test_a_pickle_holds_marks_and_not_what_computes_them():
    graph = Pdag(["a", "b"], hidden=lambda: [("a", "b")])
    assert copy.deepcopy(graph).hidden == {("a", "b")}
    assert b"lambda" not in pickle.dumps(graph)

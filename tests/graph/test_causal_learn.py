"""Graphs go to causal-learn as its functions take them, and come back; without it, a stand-in has its interface."""

from __future__ import annotations

import enum
import importlib.util
import sys
from types import ModuleType, SimpleNamespace

import numpy as np
import pandas as pd
import pytest
from hypothesis import given
from hypothesis import strategies as st

from sartre import Dag, Pdag

RAIN = Dag.from_edges([("rain", "wet"), ("sprinkler", "wet"), ("wet", "slippery")])


class Node:
    """A variable, with the methods of causal-learn's GraphNode."""

    def __init__(self, name):
        self.name = name

    def get_name(self):
        return self.name


class Graph:
    """Nodes and a matrix of endpoints, as causal-learn's GeneralGraph has them."""

    def __init__(self, nodes):
        self.nodes, self.graph = nodes, np.zeros((len(nodes), len(nodes)), dtype=int)

    def get_nodes(self):
        return self.nodes

    def add_directed_edge(self, first, second):
        i, j = self.nodes.index(first), self.nodes.index(second)
        self.graph[i, j], self.graph[j, i] = -1, 1

    def add_edge(self, edge):
        first, second, *ends = edge
        i, j = self.nodes.index(first), self.nodes.index(second)
        self.graph[i, j], self.graph[j, i] = (end.value for end in ends)


class AcyclicGraph(Graph):
    """Causal-learn's Dag is a GeneralGraph, too."""


@pytest.fixture
def causal_learn(monkeypatch):
    """Put the stand-in where causal-learn is not installed."""
    if importlib.util.find_spec("causallearn") is not None:
        return
    contents = {
        "GraphNode": Node,
        "GeneralGraph": Graph,
        "Dag": AcyclicGraph,
        "Edge": lambda *parts: parts,
        "Endpoint": enum.Enum("Endpoint", {"TAIL": -1, "ARROW": 1}),
    }
    for name in ("causallearn", "causallearn.graph"):
        monkeypatch.setitem(sys.modules, name, ModuleType(name))
    for name, content in contents.items():
        module = ModuleType(f"causallearn.graph.{name}")
        setattr(module, name, content)
        monkeypatch.setitem(sys.modules, module.__name__, module)


@pytest.mark.usefixtures("causal_learn")
def test_a_dag_becomes_their_graph_with_tails_at_causes_and_comes_back():
    graph = RAIN.to_causal_learn()
    assert [node.get_name() for node in graph.get_nodes()] == RAIN.names
    i, j = RAIN.names.index("rain"), RAIN.names.index("wet")
    assert (graph.graph[i, j], graph.graph[j, i]) == (-1, 1)
    assert Dag.from_causal_learn(graph) == RAIN
    assert Dag.from_causal_learn(graph.graph, graph.get_nodes()) == RAIN
    assert Dag.from_causal_learn(SimpleNamespace(G=graph)) == RAIN  # `pc` returns a CausalGraph, which has one
    assert Dag.from_causal_learn(graph, ["a", "b", "c", "d"]).edges[0] == ("a", "b")


@pytest.mark.usefixtures("causal_learn")
def test_lines_have_two_tails_and_only_a_pdag_reads_them():
    given = RAIN.with_lines([("wet", "slippery")])
    graph = given.to_causal_learn()
    i, j = RAIN.names.index("wet"), RAIN.names.index("slippery")
    assert graph.graph[i, j] == graph.graph[j, i] == -1
    assert Pdag.from_causal_learn(graph) == given
    with pytest.raises(ValueError, match="or read a Pdag, which has lines"):
        Dag.from_causal_learn(graph)


@given(st.lists(st.booleans(), min_size=25, max_size=25))
def test_every_matrix_of_endpoints_gives_its_graph_back(bits):
    dag = Dag(np.triu(np.array(bits).reshape(5, 5), 1), list("edcba"))
    ends = dag.adjacency.T.astype(int) - dag.adjacency
    assert Dag.from_causal_learn(ends, dag.names) == dag
    labelled = pd.DataFrame(ends, index=dag.names, columns=dag.names)
    assert Dag.from_causal_learn(labelled.loc[:, sorted(dag.names)]) == dag
    assert Pdag.from_causal_learn(ends, dag.names) == dag.with_lines([])


def test_circles_are_refused_and_a_missing_package_is_named(monkeypatch):
    with pytest.raises(ValueError, match=r"a line \(-1 twice\). Got 2 at \[0, 1\] and 1 at \[1, 0\]"):
        Pdag.from_causal_learn([[0, 2], [1, 0]])
    monkeypatch.setitem(sys.modules, "causallearn.graph.Dag", None)
    monkeypatch.setitem(sys.modules, "causallearn", None)
    with pytest.raises(ImportError, match="pip install causal-learn"):
        RAIN.to_causal_learn()

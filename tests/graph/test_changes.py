"""Edges are added and removed with checks, and two graphs are compared edge by edge."""

from __future__ import annotations

import matplotlib.pyplot as plt
import networkx as nx
import pytest
from hypothesis import given
from hypothesis import strategies as st

from sartre import Dag

CHAIN = Dag.from_edges([("a", "b"), ("b", "c")], ["c", "b", "a", "lone"])
NAMES = list("abcde")
PAIRS = [(a, b) for i, a in enumerate(NAMES) for b in NAMES[i + 1 :]]
GRAPHS = st.sets(st.sampled_from(PAIRS)).map(lambda edges: Dag.from_edges(edges, NAMES))


@given(GRAPHS)
def test_ancestors_and_descendants_are_those_of_networkx(dag):
    graph = dag.to_networkx()
    for name in dag.names:
        assert set(dag.ancestors(name)) == nx.ancestors(graph, name)
        assert set(dag.descendants(name)) == nx.descendants(graph, name)


def test_ancestors_are_in_column_order_and_an_unknown_name_is_refused():
    assert CHAIN.ancestors("c") == ["b", "a"]
    assert CHAIN.descendants("lone") == []
    with pytest.raises(ValueError, match="'z' is not a variable of this graph"):
        CHAIN.ancestors("z")


def test_an_edge_is_added_and_removed_in_a_new_graph():
    more = CHAIN.add_edge("a", "c")
    assert ("a", "c") in more.edges
    assert ("a", "c") not in CHAIN.edges
    assert more.names == CHAIN.names
    assert more.remove_edge("a", "c") == CHAIN


@pytest.mark.parametrize(
    ("change", "message"),
    [
        (lambda: CHAIN.add_edge("a", "b"), "already has the edge a -> b"),
        (lambda: CHAIN.remove_edge("b", "a"), "does not have the edge b -> a"),
        (lambda: CHAIN.add_edge("c", "a"), "must have no cycle"),
        (lambda: CHAIN.add_edge("a", "a"), "must have no cycle"),
        (lambda: CHAIN.add_edge("a", "z"), "'z' is not a variable"),
        (lambda: CHAIN.difference(Dag.from_edges([("a", "b")])), "must have the same variables"),
    ],
)
def test_a_change_that_cannot_be_is_refused_in_one_sentence(change, message):
    with pytest.raises(ValueError, match=message):
        change()


@given(GRAPHS, GRAPHS, st.permutations(NAMES))
def test_a_difference_leads_from_one_graph_to_the_other(first, other, names):
    flipped = dict(zip(NAMES, names, strict=True))
    second = Dag.from_edges([(flipped[a], flipped[b]) for a, b in other.edges], names)
    found = first.difference(second)
    turned = {(b, a) for a, b in found.reversed}
    assert (set(first.edges) - {*found.removed, *found.reversed}) | {*found.added} | turned == set(second.edges)
    assert not {*found.added} & {*turned, *first.edges}
    assert not {*found.removed} & {*found.reversed, *second.edges}
    assert bool(found) == (first != second)


def test_a_difference_is_read_at_a_glance():
    found = CHAIN.difference(CHAIN.remove_edge("a", "b").add_edge("b", "a").add_edge("lone", "c"))
    assert repr(found).splitlines() == [
        "GraphDifference: 1 added, 0 removed, 1 reversed",
        "  + lone -> c",
        "  a -> b is b -> a",
    ]
    with pytest.raises(TypeError, match=r"'other' must be a Dag\. Got str"):
        CHAIN.difference("a -> b")


def test_a_graph_is_plotted_on_the_axes_given():
    plt.switch_backend("Agg")
    ax = plt.subplots()[1]
    assert CHAIN.plot(ax=ax) is ax
    assert {text.get_text() for text in ax.texts} == set(CHAIN.names)
    plt.close("all")

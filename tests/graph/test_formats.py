"""A graph that is exported to another tool can be read back unchanged, whatever the names."""

from __future__ import annotations

import contextlib

import networkx as nx
import numpy as np
import pandas as pd
import pytest
from hypothesis import given
from hypothesis import strategies as st

from sartre.graph.dag import Dag
from sartre.graph.formats import CONVENTION

HOSTILE = [
    'quo"te',
    "back\\slash",
    'back\\"quote',
    "two words",
    "new\nline",
    "naïve 変数 🙂",
    "<script>alert(1)</script>",
    "a -> b",
    "graph",
    "edge",
    "a; b, c // d",
    "&amp; [x] {y}",
    "12",
    "-",
    "",
]
NAMES = st.lists(st.text(max_size=5) | st.sampled_from(HOSTILE), min_size=0, max_size=6, unique=True)


@st.composite
def dags(draw) -> Dag:
    names = draw(NAMES)
    d = len(names)
    bits = np.array(draw(st.lists(st.booleans(), min_size=d * d, max_size=d * d)), dtype=bool)
    return Dag(np.triu(bits.reshape(d, d), 1), names)


def hostile(names=HOSTILE) -> Dag:
    return Dag.from_edges([(names[i], names[j]) for j in range(len(names)) for i in range(0, j, 3)], names)


def same(dag: Dag, twin: Dag) -> bool:
    return twin.names == dag.names and twin.edges == dag.edges


@given(dags())
def test_gml_and_dot_give_every_graph_back(dag):
    assert same(dag, Dag.from_gml(dag.to_gml()))
    assert same(dag, Dag.from_dot(dag.to_dot()))


@pytest.mark.parametrize(("write", "read"), [(Dag.to_graphml, Dag.from_graphml), (Dag.to_dagitty, Dag.from_dagitty)])
@given(dag=dags())
def test_graphml_and_dagitty_give_every_graph_back_or_say_which_name_they_cannot_write(write, read, dag):
    try:
        text = write(dag)
    except ValueError as error:
        assert "cannot write the name" in str(error)  # noqa: PT017 - both outcomes are right
        assert not all(name.isprintable() and name.isalnum() for name in dag.names)
    else:
        assert same(dag, read(text))


@given(dags())
def test_matrices_and_tables_give_every_graph_back(dag):
    assert same(dag, Dag.from_lingam(dag.to_lingam(), dag.names))
    assert same(dag, Dag.from_frame(dag.to_frame(), dag.names))


def test_hostile_names_survive_every_text():
    assert same(hostile(), Dag.from_gml(hostile().to_gml()))
    assert same(hostile(), Dag.from_graphml(hostile().to_graphml()))
    assert same(hostile(), Dag.from_dot(hostile().to_dot()))
    one_line = hostile([name for name in HOSTILE if "\n" not in name])
    assert same(one_line, Dag.from_dagitty(one_line.to_dagitty()))


def test_each_border_spells_its_direction():
    dag = Dag.from_edges([("cause", "effect")])
    assert f'convention "{CONVENTION}"' in dag.to_gml()
    assert "directed 1" in dag.to_gml()
    assert "source -&gt; target" in dag.to_graphml()
    assert 'edgedefault="directed"' in dag.to_graphml()
    assert f"// {CONVENTION}" in dag.to_dot()
    for text in (dag.to_dot(), dag.to_dagitty()):
        assert '"cause" -> "effect"' in text
    assert dag.to_frame().to_dict("records") == [{"source": "cause", "target": "effect"}]
    assert dag.to_lingam().tolist() == [[0, 0], [1, 0]]  # the row is the effect, the column the cause
    assert dag.to_networkx().graph == {"convention": CONVENTION}


def test_other_tools_read_our_files_in_the_same_direction():
    dag = hostile()
    assert set(nx.parse_gml(dag.to_gml()).edges) == set(dag.edges)
    assert set(nx.parse_graphml(dag.to_graphml()).edges) == set(dag.edges)


def test_graphml_has_the_names_as_ids_and_as_the_attribute_that_igraph_reads_and_older_files_are_read():
    text = hostile().to_graphml()
    graph = nx.parse_graphml(text)
    assert list(graph.nodes) == hostile().names
    assert [data.get("name", "") for _, data in graph.nodes(data=True)] == hostile().names
    older = nx.DiGraph([("n0", "n1")], convention=CONVENTION)
    nx.set_node_attributes(older, {"n0": "two words", "n1": "effect"}, "name")
    assert Dag.from_graphml("\n".join(nx.generate_graphml(older))).edges == [("two words", "effect")]


def test_dowhy_gets_a_graph_whose_variables_are_all_observed():
    graph = Dag.from_edges([("a", "b")], ["a", "b", "lone"]).to_dowhy()
    assert list(graph.edges) == [("a", "b")]
    assert set(dict(graph.nodes(data="observed")).values()) == {"yes"}


def test_what_people_write_by_hand_is_read():
    text = """strict digraph G { rankdir=LR; node [shape=box]  # no comment here
      /* the garden */ rain -> wet -> slippery [color="red", label="[x]"];
      wet <- sprinkler // turned around
      "lone one" [pos="0,1"]
    }"""
    dag = Dag.from_dot(text.replace("  # no comment here", "\n# a comment"))
    assert dag.names == ["rain", "wet", "slippery", "sprinkler", "lone one"]
    assert set(dag.edges) == {("rain", "wet"), ("wet", "slippery"), ("sprinkler", "wet")}
    assert Dag.from_dagitty('dag{\nbb="0,0,1,1"\nX [exposure,pos="0,0"]\nY [outcome]\nX -> Y\n}').edges == [("X", "Y")]
    assert Dag.from_graphml(nx_graphml([("a", "b")])).edges == [("a", "b")]


def nx_graphml(edges) -> str:
    return "\n".join(nx.generate_graphml(nx.DiGraph(edges)))


PIECES = ["digraph", "dag", "{", "}", "[", "]", "=", "->", "<-", "--", "<->", "a", "b", '"c d"', ";", "node", "?", '"']


@given(st.lists(st.sampled_from(PIECES), max_size=9), st.sampled_from(["", "digraph {", "dag {"]))
def test_a_broken_text_is_refused_and_never_breaks_the_reader(pieces, opening):
    text = " ".join([opening, *pieces, "}" if opening else ""])
    for read in (Dag.from_dot, Dag.from_dagitty):
        with contextlib.suppress(ValueError):
            assert all(name in text for name in read(text).names)


@pytest.mark.parametrize(
    ("make", "message"),
    [
        (lambda: Dag.from_dot("graph { a -- b }"), "must be written as 'digraph { ... }'. Got 'graph { a -- b }'"),
        (lambda: Dag.from_dot("digraph { a -> b"), "must be written as 'digraph"),
        (lambda: Dag.from_dot("digraph }"), "must be written as 'digraph"),
        (lambda: Dag.from_dot(""), "must be written as 'digraph"),
        (lambda: Dag.from_dot("digraph { a -- b }"), "must be '->' or '<-'. Got 'a --'"),
        (lambda: Dag.from_dagitty("dag { a <-> b }"), "must be '->' or '<-'. Got 'a <->'"),
        (lambda: Dag.from_dagitty("pdag { a -> b }"), "must be written as 'dag"),
        (lambda: Dag.from_dot("digraph { {a b} -> c }"), "names and arrows. Got '{' for a name"),
        (lambda: Dag.from_dot("digraph { a -> }"), "Got '}' for a name"),
        (lambda: Dag.from_dot("digraph { a -> ? }"), r"This is not DOT: '\? }'"),
        (lambda: Dag.from_dot("digraph { a -> b -> a }"), "must have no cycle"),
        (lambda: Dag.from_dot("digraph { a [x }"), "'\\[' without"),
        (lambda: Dag(np.zeros((1, 1)), ["end\\"]).to_dagitty(), "DAGitty cannot write the name"),
        (lambda: Dag(np.zeros((1, 1)), ["bell\x07"]).to_graphml(), "GraphML cannot write the name"),
        (lambda: Dag.from_frame(pd.DataFrame({"from": [1]})), "Missing: \\['source', 'target'\\]"),
        (lambda: Dag.from_causal_learn([[0, -1], [-1, 0]]), r"Got -1 at \[0, 1\] and -1 at \[1, 0\]"),
    ],
)
def test_anything_but_a_dag_is_refused_in_one_sentence(make, message):
    with pytest.raises(ValueError, match=message):
        make()


@pytest.mark.parametrize("end", [".csv", ".tsv", ".json", ".dot", ".gml", ".dagitty"])
def test_a_file_gives_back_the_graph_it_was_written_from(tmp_path, end):
    dag = Dag.from_edges([("a, b", 'c "quoted"'), ('c "quoted"', "d")])
    dag.write(tmp_path / f"graph{end}")
    assert Dag.read(tmp_path / f"graph{end}") == dag


@pytest.mark.parametrize("end", [".csv", ".tsv", ".json", ".dot"])
def test_a_carriage_return_in_a_name_is_kept_in_a_file(tmp_path, end):
    dag = Dag.from_edges([("a\rb", "c")])
    dag.write(tmp_path / f"graph{end}")
    assert Dag.read(tmp_path / f"graph{end}") == dag


@pytest.mark.parametrize(
    ("content", "message"),
    [
        ('{"nodes": 3, "edges": []}', r"a list of 'nodes'\. Got 3\."),
        ('{"nodes": null, "edges": []}', r"a list of 'nodes'\. Got None\."),
        ('{"nodes": ["a", null], "edges": []}', r"a list of 'nodes'\. Got null in the list\."),
        ('{"nodes": ["a"], "edges": null}', r"a list of 'edges'\. Got None\."),
        ('{"nodes": ["a"], "edges": [["a", "b"]]}', "'edges' with a source and a target each"),
    ],
)
def test_anything_but_a_stored_graph_is_refused_in_our_words(tmp_path, content, message):
    (tmp_path / "graph.json").write_text('{"convention": "source -> target", ' + content[1:])
    with pytest.raises(ValueError, match=f"A stored graph must have {message}"):
        Dag.read(tmp_path / "graph.json")


@pytest.mark.parametrize("end", [".csv", ".tsv"])
def test_no_name_in_a_table_of_edges_begins_like_a_formula_and_every_name_is_read_back(tmp_path, end):
    names = ["=1+1", "+1", "-1", "@SUM", "'=1", "''-x", "'quoted'", "plain", "\t=1", "\r=1"]
    dag = Dag.from_edges([(name, "effect") for name in names])
    dag.write(tmp_path / f"graph{end}")
    assert Dag.read(tmp_path / f"graph{end}") == dag
    written = pd.read_csv(tmp_path / f"graph{end}", sep="," if end == ".csv" else "\t")["source"]
    assert not written.str.startswith(("=", "+", "-", "@", "\t", "\r")).any()

from __future__ import annotations

import json
import signal
import subprocess
import sys

import numpy as np
import pandas as pd
import pytest
from command_line import edges_in, names_in, run

from sartre import CausalDiscovery, Dag, Pdag, metrics, order, prune
from sartre.cli import _evaluate
from sartre.data.read_file import read_table
from sartre.order import FixedOrder
from sartre.simulate import random_dag, simulate

# Prune


@pytest.mark.parametrize("way", ["names", "lines", "document"])
def test_a_given_order_is_obeyed_however_it_is_given(table, folder, way):
    given = ["river", "flood", "rain"]
    (folder / "order.txt").write_text("river\n\n flood\nrain\n")
    (folder / "order.json").write_text(json.dumps({"order": given}))
    option = {"names": ["--order-of", "river, flood,rain"], "lines": ["--order-file", "order.txt"]}
    arguments = option.get(way, ["--order-file", "order.json"])
    assert run("prune", table, *arguments, "--out", "out").exit_code == 0
    document = json.loads((folder / "out" / "graph.json").read_text())
    model = CausalDiscovery(FixedOrder(given), random_state=0).fit(pd.read_csv(table)[given])
    assert document["order"] == given
    assert Dag.from_dict(document) == model.graph_


def test_columns_outside_a_given_order_take_no_part(table, folder):
    assert run("prune", table, "--order-of", "rain,river").exit_code == 0
    assert json.loads((folder / "graph.json").read_text())["nodes"] == ["rain", "river"]


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ([], "Give the order by exactly one of --order-of and --order-file."),
        (["--order-of", "rain,river", "--order-file", "water.csv"], "Give the order by exactly one of --order-of"),
        (["--order-of", "rain,snow"], "'water.csv' has no column 'snow'; its columns are flood, rain, river."),
        (["--order-file", "nope.txt"], "There is no file 'nope.txt'; check its name and folder."),
        (["--order-file", "bad.json"], "'bad.json' does not hold an order; write one name per line, or"),
        (["--order-file", "deep.json"], "'deep.json' does not hold an order; write one name per line, or"),
    ],
)
def test_a_bad_order_is_refused_in_one_sentence(table, folder, arguments, message):
    (folder / "bad.json").write_text('{"nodes": ["rain"]}')
    (folder / "deep.json").write_text("[" * 100_000)
    result = run("prune", table, *arguments)
    assert result.exit_code == 2
    assert result.stderr.splitlines()[-1].startswith(f"Error: {message}")
    assert names_in(folder) == ["bad.json", "deep.json", table]


# Evaluate


@pytest.fixture
def graphs(folder):
    """Write a true graph and a guess in every format, and return the two."""
    truth = Dag.from_edges([("a", "b"), ("b", "c"), ("a", "d")], names=["a", "b", "c", "d", "alone"])
    guess = Dag.from_edges([("b", "a"), ("b", "c")], names=["alone", "d", "c", "b", "a"])
    for name, graph in (("truth", truth), ("guess", guess)):
        (folder / f"{name}.json").write_text(json.dumps(graph.to_dict()))
        graph.to_frame().to_csv(f"{name}.csv", index=False)
        for form in ("dot", "gml", "graphml", "dagitty"):
            (folder / f"{name}.{form}").write_text(getattr(graph, f"to_{form}")())
    return truth, guess


@pytest.mark.parametrize("form", ["json", "csv", "dot", "gml", "graphml", "dagitty"])
def test_graphs_of_any_form_are_measured_as_the_library_does(graphs, form):
    for files in (("truth.json", f"guess.{form}"), (f"truth.{form}", "guess.json")):
        result = run("evaluate", *files, "--json")
        assert result.exit_code == 0, result.stderr
        measured = json.loads(result.stdout)
        assert (measured["variables"], measured["true_edges"], measured["guessed_edges"]) == (5, 3, 2)
        for name in (
            "shd",
            "sid",
            "parent_aid",
            "ancestor_aid",
            "oset_aid",
            "edge_precision",
            "edge_recall",
            "edge_f1",
        ):
            assert measured[name] == getattr(metrics, name)(*graphs), name


LINES = """{"convention": "source -> target", "nodes": ["a", "b", "c"], "edges": [
    {"source": "a", "target": "b", "direction": "undecided"},
    {"source": "b", "target": "c", "direction": "decided"}]}"""


def test_lines_stay_lines_where_the_format_has_them(folder):
    (folder / "graph.json").write_text(LINES)
    for name, text in (("x.dot", '"a" -> "b" [dir=none];'), ("x.dagitty", '"a" -- "b";'), ("x.json", '"undecided"')):
        result = run("convert", "graph.json", name)
        assert result.exit_code == 0
        assert "Warning" not in result.stderr
        assert text in (folder / name).read_text()
    assert Pdag.read(folder / "x.json") == Pdag(["a", "b", "c"], [("b", "c")], [("a", "b")])
    result = run("convert", "graph.json", "x.gml")
    assert "1 edges have no decided direction" in result.stderr
    assert "written as drawn: a -> b. Use .json" in result.stderr


def test_edges_without_a_direction_are_counted_as_drawn_and_said_to_be(folder):
    (folder / "graph.json").write_text(LINES)
    (folder / "truth.csv").write_text("source,target\na,b\nb,c\n")
    result = run("evaluate", "truth.csv", "graph.json", "--json")
    assert json.loads(result.stdout)["shd"] == 0
    assert "The directions of 1 edges of 'graph.json' are not decided; they are counted as arrows" in result.stderr


def test_two_edge_lists_have_the_variables_of_both(graphs):  # noqa: ARG001
    assert json.loads(run("evaluate", "truth.csv", "guess.csv", "--json").stdout)["variables"] == 4


def test_an_evaluation_is_printed_with_its_meaning(graphs):  # noqa: ARG001
    text = run("evaluate", "truth.json", "guess.json").stdout
    assert "5 variables, 2 edges guessed, 3 true" in text
    assert "│ SHD          │ 2     │ edges that are missing, extra or reversed" in text
    assert "│ precision    │ 0.500 │" in text


@pytest.mark.parametrize(
    ("name", "content", "message"),
    [
        ("nope.json", None, "There is no file 'nope.json'"),
        ("guess.txt", "a -> b", "The name of a graph file must end in one of .json, .csv, .tsv, .dot"),
        ("guess.json", "", "'guess.json': "),
        ("guess.json", "[1]", "'guess.json' does not hold a graph in the .json format"),
        (
            "guess.json",
            '{"direction": "source -> target", "nodes": ["a"], "edges": [{}]}',
            "'guess.json': A stored graph must have 'edges' with a source and a target each. Got {}.",
        ),
        ("guess.json", '{"nodes": [], "edges": []}', "'guess.json': A stored graph must state the convention"),
        ("guess.gml", "graph [", "'guess.gml' does not hold a graph in the .gml format"),
        ("guess.graphml", "<graphml", "'guess.graphml' does not hold a graph in the .graphml format"),
        ("guess.dot", "digraph {", "'guess.dot': "),
        ("guess.csv", "from,to\na,b\n", "'guess.csv': A table of edges must have the columns source and target."),
        ("guess.csv", "source,target\na,strange\n", "'guess.csv' has an edge with 'strange', which is not a"),
        ("guess.csv", "", "'guess.csv': it is empty"),
        ("guess.json", "[" * 100_000, "'guess.json': A stored graph must have few brackets within brackets."),
        ("guess.gml", "graph [\n" * 2000 + "]\n" * 2000, "'guess.gml': A GML graph must have few brackets within"),
    ],
)
def test_anything_but_a_graph_is_refused_in_one_sentence(graphs, folder, name, content, message):  # noqa: ARG001
    if content is not None:
        (folder / name).write_text(content)
    result = run("evaluate", "truth.json", name)
    assert result.exit_code == 2
    first, error = result.stderr.splitlines()
    assert first == f"Reading truth.json and {name}"
    assert error.startswith(f"Error: {message}")


def test_a_measure_that_would_take_hours_is_left_out_and_the_user_is_told(graphs, monkeypatch):  # noqa: ARG001
    assert _evaluate._affordable(chain(200), chain(200)) == list(_evaluate._MEASURES)
    with pytest.warns(
        UserWarning, match="4,498,500 pairs of a variable and a descendant, .* 8,998 variables and edges"
    ):
        assert "oset_aid" not in _evaluate._affordable(chain(3000), chain(3000))
    monkeypatch.setattr(_evaluate, "MOST_OSET_STEPS", 0)
    result = run("evaluate", "truth.json", "guess.json", "--json")
    assert json.loads(result.stdout)["oset_aid"] is None
    assert "Warning: The oset AID was left out, because it would take minutes or hours: " in result.stderr
    assert "│ oset AID     │ -     │" in run("evaluate", "truth.json", "guess.json").stdout


def chain(length: int) -> Dag:
    return Dag(np.eye(length, k=1))


def test_a_comparison_in_another_process_gives_the_same_numbers(graphs, monkeypatch):  # noqa: ARG001
    here = run("evaluate", "truth.json", "guess.json", "--json").stdout
    monkeypatch.setattr(_evaluate, "QUICK_TO_COMPARE", 1)
    assert run("evaluate", "truth.json", "guess.json", "--json").stdout == here


def test_ctrl_c_stops_a_long_comparison(folder):
    full = Dag(np.triu(np.ones((200, 200)), 1))  # its oset AID takes two minutes
    full.write(folder / "full.json")
    code = (
        "from sartre.cli import _evaluate, main\n"
        "from sartre.compute import progress\n"
        "progress.SECONDS_BETWEEN_LINES, _evaluate.MOST_OSET_STEPS = 0.05, 1e99\n"
        "main()"
    )
    command = [sys.executable, "-c", code, "evaluate", "full.json", "full.json"]
    with subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True) as process:  # noqa: S603
        assert process.stderr is not None
        assert any(line.startswith("Comparing the graphs") for line in process.stderr)
        process.send_signal(signal.SIGINT)
        printed, complaint = process.communicate(timeout=60)
    assert process.returncode == 130
    assert printed == ""
    assert complaint.splitlines()[-1] == "Stopped."


# Simulate


def test_a_simulation_is_the_library_with_the_same_seed(folder):
    arguments = ("--nodes", "4", "--edges", "3", "--samples", "50", "--mechanism", "linear", "--noise", "laplace")
    result = run("simulate", *arguments, "--seed", "7", "--out", "new")
    assert result.exit_code == 0
    assert result.stdout == "Wrote new/data.csv and new/truth.json: 3 edges\n"
    dag = random_dag(4, 3, random_state=7)
    expected = simulate(dag, 50, "linear", "laplace", random_state=7).X
    written = read_table("new/data.csv")
    np.testing.assert_array_equal(written.to_numpy(), expected.to_numpy())
    assert written.columns.tolist() == dag.names
    assert Dag.from_dict(json.loads((folder / "new" / "truth.json").read_text())) == dag


def test_a_simulated_experiment_is_the_library_s_and_says_where_each_row_belongs(folder):
    (folder / "targets.csv").write_text("environment,target\n1,x2\n7,x0\n1,x3\n")
    arguments = ("--nodes", "4", "--edges", "3", "--samples", "50", "--interventions", "targets.csv")
    assert run("simulate", *arguments, "--intervened", "20", "--seed", "7").exit_code == 0
    acted = {"1": ["x2", "x3"], "7": ["x0"]}
    dag = random_dag(4, 3, random_state=7)
    expected = simulate(dag, 50, random_state=7, interventions=acted, n_intervened=20)
    written = read_table("data.csv")
    assert written.columns.tolist() == [*dag.names, "environment"]
    np.testing.assert_array_equal(written[dag.names].to_numpy(), expected.X.to_numpy())
    assert written["environment"].tolist() == expected.environment.tolist()
    assert json.loads((folder / "truth.json").read_text())["run"]["interventions"] == acted


@pytest.mark.parametrize(
    ("text", "complaint"),
    [
        (
            "batch,target\n1,x2\n",
            "the columns environment and target. Got no environment; the columns are batch, target.",
        ),
        ("environment,target\n1,rain\n", "acts on rain in '1', but the graph has no such variable. Choose from x0,"),
        (None, "targets.csv"),
    ],
)
def test_targets_that_cannot_be_read_leave_nothing(folder, text, complaint):
    if text is not None:
        (folder / "targets.csv").write_text(text)
    result = run("simulate", "--nodes", "4", "--edges", "3", "--interventions", "targets.csv", "--out", "new")
    assert result.exit_code == 2
    assert complaint in result.stderr.splitlines()[-1]
    assert not (folder / "new").exists()


@pytest.mark.parametrize("arguments", [["--mechanism", "magic"], ["--edges", "99"], ["--samples", "0"]])
def test_what_cannot_be_simulated_leaves_nothing(folder, arguments):
    result = run("simulate", *arguments, "--out", "new")
    assert result.exit_code == 2
    assert result.stderr.splitlines()[-1].startswith(f"Error: The '{'n_' * (arguments[0] != '--mechanism')}")
    assert names_in(folder) == []


def test_what_was_simulated_can_be_learnt_and_evaluated(folder):
    assert run("simulate", "--nodes", "3", "--edges", "2", "--samples", "300").exit_code == 0
    assert run("discover", "data.csv", "--order", "R2Sort").exit_code == 0
    assert run("evaluate", "truth.json", "edges.csv").exit_code == 0
    assert names_in(folder) == [
        "data.csv",
        "edges.csv",
        "graph.json",
        "knowledge-template.toml",
        "model.sartre",
        "truth.json",
    ]


# Methods


def test_every_method_is_listed_with_what_it_does_and_where_it_comes_from():
    listed = json.loads(run("methods", "--json").stdout)
    steps = {name for module in (order, prune) for name in module.__all__ if hasattr(getattr(module, name), "fit")}
    assert {method["name"] for method in listed} == steps - {"FixedOrder"}
    assert [method["name"] for method in listed if method["default"]] == ["OrderSearch", "SARTRE"]
    assert all(method["summary"].endswith(".") for method in listed)
    score = next(method for method in listed if method["name"] == "SCORE")
    assert score["reference"].startswith("Rolland et al., ")
    text = run("methods").stdout
    assert all(method["summary"] in text and method["reference"] in text for method in listed)


@pytest.mark.parametrize(
    ("option", "name"),
    [
        *(("--order", name) for name in order.__all__ if name not in {"DiffAN", "FixedOrder", "parent_score"}),
        *(("--prune", name) for name in prune.__all__ if name != "Embedding"),
    ],
)
def test_every_method_works_by_its_name(table, folder, option, name):
    chosen = {"--order": "R2Sort", "--prune": "CAMPruning", option: name.lower()}
    result = run("discover", table, *(text for pair in chosen.items() for text in pair))
    assert result.exit_code == 0, result.stderr
    document = json.loads((folder / "graph.json").read_text())
    assert document["run"][option.strip("-")]["method"] == name
    assert Dag.from_dict(document).names == ["flood", "rain", "river"]


def test_an_edge_without_a_number_is_printed_with_a_dash(table, folder):
    pd.read_csv(table).assign(flat=1.0).to_csv("flat.csv", index=False)
    (folder / "known.json").write_text('{"required": [["flat", "rain"]]}')
    result = run("discover", "flat.csv", "--knowledge", "known.json", "--prune", "CAMPruning", "--order", "R2Sort")
    assert result.exit_code == 0, result.stderr
    assert ["flat", "->", "rain", "-", "known"] in edges_in(result.stdout)


def test_the_defaults_that_are_listed_are_those_of_the_library(table):
    assert edges_in(run("discover", table).stdout) == edges_in(
        run("discover", table, "--order", "OrderSearch", "--prune", "SARTRE").stdout
    )
    model = CausalDiscovery(random_state=0).fit(pd.read_csv(table))
    assert [type(model.order_step_).__name__, type(model.prune_step_).__name__] == ["OrderSearch", "SARTRE"]


def test_names_of_an_edge_list_are_read_as_they_stand(folder):
    (folder / "truth.csv").write_text("source,target\n01,NA\nNA,nan\n")
    (folder / "guess.csv").write_text("source,target\n01,NA\n")
    result = run("evaluate", "truth.csv", "guess.csv", "--json")
    assert result.exit_code == 0, result.stderr
    assert json.loads(result.stdout)["shd"] == 1
    (folder / "blank.csv").write_text("source,target\na,\n")
    result = run("evaluate", "truth.csv", "blank.csv")
    assert result.exit_code == 2
    assert "without a source or a target" in result.stderr

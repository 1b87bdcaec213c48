"""Third-party orderers, pruners and formats on the command line."""

from __future__ import annotations

import json
import sys

import pandas as pd
import pytest
from command_line import edges_in, names_in, run

from sartre import Dag

MODULE = '''
import numpy as np
import pandas as pd
from sklearn.base import BaseEstimator

from sartre.graph.formats import GraphFormat, Parsed
from sartre.steps import StepTags


class MyOrderer(BaseEstimator):
    def __init__(self, backwards=False):
        self.backwards = backwards

    def fit(self, X, before=None):
        numbers = np.arange(np.shape(X)[1])
        self.order_ = numbers[::-1] if self.backwards else numbers
        self.variances_ = np.var(np.asarray(X), axis=0)
        return self


class MyPruner(BaseEstimator):
    """Each variable causes the next one."""

    def __init__(self, strength=0.25):
        self.strength = strength

    def fit(self, X, order, candidates=None, required=None):
        d = len(order)
        self.adjacency_matrix_ = np.zeros((d, d), dtype=np.uint8)
        self.adjacency_matrix_[order[:-1], order[1:]] = 1
        if candidates is not None:
            self.adjacency_matrix_ *= candidates
        if required is not None:
            self.adjacency_matrix_ |= required
        names = X.names
        edges = [(names[i], names[j], self.strength, np.nan, np.nan) for i, j in np.argwhere(self.adjacency_matrix_)]
        self.edges_ = pd.DataFrame(edges, columns=["source", "target", "strength", "margin", "p_value"])
        return self


class InUnits(MyOrderer):
    step_tags = StepTags(needs_units=True)


class Odd(MyOrderer):
    """JSON has no word for its settings."""

    def __init__(self, backwards=False, most=float("inf"), count=np.int64(3), dtype=np.float32):
        super().__init__(backwards)
        self.most, self.count, self.dtype = most, count, dtype


class Demanding(BaseEstimator):
    def __init__(self, order):
        self.order = order

    def fit(self, X, before=None):
        return self


class Plain:
    """No estimator: it has neither a fit nor settings."""


class Bare:
    """No estimator either: it has no settings that can be asked for."""

    def fit(self, X):
        return self


def function():
    """No class at all."""


def _write(names, edges):
    number = {name: str(k) for k, name in enumerate(names, 1)}
    lines = [f"{number[name]} {name}" for name in names]
    return "\\n".join([*lines, "#", *(f"{number[a]} {number[b]}" for a, b in edges), ""])


def _read(text):
    nodes, edges = (part.splitlines() for part in text.split("#\\n"))
    name = dict(line.split(" ", 1) for line in nodes)
    return Parsed(list(name.values()), [tuple(name[end] for end in line.split()) for line in edges])


TGF = GraphFormat(_write, _read)
'''


@pytest.fixture(autouse=True)
def my_steps(folder, monkeypatch):
    """Write a module to the current folder, which only the command line puts on the path; unload it afterwards."""
    (folder / "my_steps.py").write_text(MODULE)
    monkeypatch.setattr(sys, "path", sys.path[:])
    monkeypatch.setattr(sys, "dont_write_bytecode", True)
    before = set(sys.modules)
    yield "my_steps"
    for name in set(sys.modules) - before:
        if name.startswith(("my_steps", "broken")):
            del sys.modules[name]


def error_of(*arguments):
    """Return the message of a refused command: one line after the announced work, with exit code 2."""
    result = run(*arguments)
    assert result.exit_code == 2, result.stderr
    assert result.stdout == ""
    *_, last = lines = result.stderr.splitlines()
    assert sum(line.startswith("Error: ") for line in lines) == 1
    assert len(lines) <= 2
    assert last.startswith("Error: ")
    assert last.endswith(".")
    return last.removeprefix("Error: ")


# Steps


def test_custom_steps_are_used_and_named(table, folder):
    result = run("discover", table, "--order", "my_steps:MyOrderer", "--prune", "my_steps:MyPruner")
    assert result.exit_code == 0, result.stderr
    document = json.loads((folder / "graph.json").read_text())
    assert Dag.from_dict(document) == Dag.from_edges([("flood", "rain"), ("rain", "river")])
    assert document["order"] == ["flood", "rain", "river"]
    assert document["run"]["order"] == {"method": "MyOrderer", "backwards": False}
    assert document["run"]["prune"] == {"method": "MyPruner", "strength": 0.25}
    assert document["run"]["standardized"] is False
    assert "interactions" not in document
    assert [[*row[:1], *row[2:4]] for row in edges_in(result.stdout)] == [
        ["flood", "rain", "0.250"],
        ["rain", "river", "0.250"],
    ]
    assert names_in(folder) == [
        "edges.csv",
        "graph.json",
        "knowledge-template.toml",
        "model.sartre",
        "my_steps.py",
        table,
    ]


def test_settings_of_custom_steps_are_set_like_ours(table, folder):
    steps = ("--order", "my_steps:MyOrderer", "--prune", "my_steps:MyPruner")
    result = run("discover", table, *steps, "--set", "order.backwards=true", "--set", "prune.strength=0.5")
    assert result.exit_code == 0, result.stderr
    document = json.loads((folder / "graph.json").read_text())
    assert document["order"] == ["river", "rain", "flood"]
    assert {edge["strength"] for edge in document["edges"]} == {0.5}
    message = error_of("discover", table, *steps, "--set", "prune.alpha=1")
    assert message == "MyPruner has no setting 'alpha'; its settings are strength."
    message = error_of("discover", table, *steps, "--level", "0.1")
    assert message.startswith("--level is a setting of SARTRE, which MyPruner does not have.")


def test_a_custom_step_can_be_combined_with_ours(table, folder):
    assert run("discover", table, "--order", "my_steps:MyOrderer").exit_code == 0
    assert json.loads((folder / "graph.json").read_text())["run"]["prune"]["method"] == "SARTRE"
    assert run("prune", table, "--order-of", "rain,river,flood", "--prune", "my_steps:MyPruner").exit_code == 0
    graph = Dag.read(folder / "graph.json")
    assert graph == Dag.from_edges([("rain", "river"), ("river", "flood")])


def test_knowledge_is_obeyed_or_the_step_is_named(table, folder):
    (folder / "known.toml").write_text('forbidden = [["flood", "rain"]]\n')
    steps = ("--order", "my_steps:MyOrderer", "--prune", "my_steps:MyPruner", "--knowledge", "known.toml")
    assert run("discover", table, *steps).exit_code == 0
    assert Dag.read(folder / "graph.json").edges == [("rain", "river")]
    (folder / "known.toml").write_text('required = [["river", "flood"]]\n')
    assert "MyOrderer" in error_of("discover", table, *steps)


def test_a_custom_tag_is_used(table, folder):
    result = run("discover", table, "--order", "my_steps:InUnits", "--prune", "my_steps:MyPruner")
    assert result.exit_code == 0, result.stderr
    assert json.loads((folder / "graph.json").read_text())["run"]["standardized"] is True
    assert "3 columns, standardised;" in result.stdout


def test_any_setting_can_be_stored(table, folder):
    result = run("discover", table, "--order", "my_steps:Odd", "--prune", "my_steps:MyPruner")
    assert result.exit_code == 0, result.stderr
    settings = json.loads((folder / "graph.json").read_text())["run"]["order"]
    assert list(settings) == ["method", "backwards", "count", "dtype", "most"]


def test_a_plan_does_not_know_what_they_cost(table):
    result = run("plan", table, "--order", "my_steps:MyOrderer", "--prune", "my_steps:MyPruner")
    assert result.exit_code == 0, result.stderr
    lines = {line.split()[0]: line for line in result.stdout.splitlines()}
    assert lines["order"].split()[1] == "MyOrderer"
    assert lines["pruning"].split()[1] == "MyPruner"
    for step in ("order", "pruning", "total"):
        assert lines[step].count("not known") == 3
    assert "MyOrderer has not been measured" in result.stdout
    document = json.loads(run("plan", table, "--order", "my_steps:MyOrderer", "--json").stdout)
    unknown = {step["name"] for step in document["steps"] if step["seconds"] is None}
    assert unknown == {"order", "total"}
    assert {"reading", "pruning", "directions", "start-up"} <= {step["name"] for step in document["steps"]} - unknown


def test_a_report_is_written_for_them(table, folder):
    steps = ("--order", "my_steps:MyOrderer", "--prune", "my_steps:MyPruner")
    result = run("discover", table, *steps, "--report", "report.html")
    assert result.exit_code == 0, result.stderr
    assert "MyPruner(strength=0.25)" in (folder / "report.html").read_text(encoding="utf-8")


@pytest.mark.parametrize("option", ["--order", "--prune"])
@pytest.mark.parametrize(
    ("place", "message"),
    [
        (
            "nowhere:Step",
            "{option} nowhere:Step cannot be imported: No module named 'nowhere'. Write package.module:name",
        ),
        (
            "my_steps:Nothing",
            "{option} my_steps:Nothing cannot be imported: module 'my_steps' has no attribute 'Nothing'",
        ),
        ("my_steps:", "{option} my_steps: cannot be imported: "),
        (":MyOrderer", "{option} :MyOrderer cannot be imported: Empty module name"),
        ("my_steps:Plain", "{option} must be a scikit-learn estimator with a 'fit' method. my_steps:Plain is not one."),
        ("my_steps:Bare", "{option} must be a scikit-learn estimator with a 'fit' method. my_steps:Bare is not one."),
        ("my_steps:function", "{option} must be a scikit-learn estimator with a 'fit' method. my_steps:function"),
        ("my_steps:TGF", "{option} must be a scikit-learn estimator with a 'fit' method. my_steps:TGF is not one."),
        (
            "my_steps:Demanding",
            "{option} must be a class whose settings all have defaults. my_steps:Demanding has some without.",
        ),
        ("my_steps.MyOrderer", "There is no method 'my_steps.MyOrderer' for {option}; choose one of "),
    ],
    ids=lambda text: text if len(text) < 20 else "",
)
def test_anything_but_a_step_is_refused_in_one_sentence(table, folder, option, place, message):
    for command in ("discover", "plan"):
        assert error_of(command, table, option, place).startswith(message.format(option=option))
    assert names_in(folder) == ["my_steps.py", table]


def test_a_module_that_needs_another_is_told_which(table, folder):
    (folder / "broken.py").write_text("import not_installed\n")
    message = error_of("discover", table, "--order", "broken:Step")
    assert message.startswith("--order broken:Step cannot be imported: No module named 'not_installed'.")


# Formats


LONE = Dag.from_edges(
    [("wet", "größe"), ("a b", "wet"), ('say "hi"', "größe")], ["a b", "wet", "größe", 'say "hi"', "lone"]
)


def written(folder, name="graph.json"):
    (folder / name).write_text(json.dumps(LONE.to_dict()), encoding="utf-8")
    return name


@pytest.mark.parametrize("suffix", ["dot", "gv", "gml", "graphml", "dagitty", "json"])
def test_a_graph_in_another_form_and_back_is_the_same_graph(folder, suffix):
    result = run("convert", written(folder), f"other.{suffix}")
    assert result.exit_code == 0, result.stderr
    assert result.stdout == f"Wrote other.{suffix}: 5 variables, 3 edges\n"
    assert Dag.read(folder / f"other.{suffix}") == LONE
    assert run("convert", f"other.{suffix}", "back.json").exit_code == 0
    back = Dag.read(folder / "back.json")
    assert back == LONE
    assert back.names == LONE.names


@pytest.mark.parametrize("suffix", ["csv", "tsv"])
def test_a_list_of_edges_and_back_has_the_same_edges(folder, suffix):
    assert run("convert", written(folder), f"edges.{suffix}").exit_code == 0
    assert run("convert", f"edges.{suffix}", "back.json").exit_code == 0
    back = Dag.read(folder / "back.json")
    assert set(back.edges) == set(LONE.edges)
    assert set(back.names) == set(LONE.names) - {"lone"}  # a list of edges does not name other variables


def test_what_was_learnt_is_converted_with_its_edges(table, folder):
    assert run("discover", table, "--order", "my_steps:MyOrderer", "--prune", "my_steps:MyPruner").exit_code == 0
    for source in ("graph.json", "edges.csv"):
        assert run("convert", source, "graph.dot").exit_code == 0
        assert Dag.read(folder / "graph.dot") == Dag.from_edges([("flood", "rain"), ("rain", "river")])


def test_the_included_data_set_has_a_graph_to_convert(folder):
    result = run("convert", "sachs", "sachs.gml")
    assert result.stdout == "Wrote sachs.gml: 11 variables, 17 edges\n"
    assert Dag.read(folder / "sachs.gml").n_edges == 17


def test_a_custom_format_is_written(folder):
    result = run("convert", written(folder), "graph.tgf", "--format", "my_steps:TGF")
    assert result.exit_code == 0, result.stderr
    text = (folder / "graph.tgf").read_text(encoding="utf-8")
    assert text == '1 a b\n2 wet\n3 größe\n4 say "hi"\n5 lone\n#\n1 2\n2 3\n4 3\n'
    assert Dag.read(folder / "graph.tgf", sys.modules["my_steps"].TGF) == LONE


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["graph.json", "graph.xyz"], "The name of a graph file must end in one of .json, .csv, .tsv, .dot, .gv, .gml"),
        (["graph.json", "graph"], "The name of a graph file must end in one of .json, "),
        (["graph.xyz", "graph.dot"], "The name of a graph file must end in one of .json, "),
        (["nowhere.json", "graph.dot"], "There is no file 'nowhere.json'; check its name and folder."),
        (["graph.json", "no/graph.dot"], "There is no folder 'no' to write 'graph.dot' in; create it first."),
        (["graph.json", "graph.json"], "'graph.json' is the input file; name another file or folder for the result."),
        (
            ["graph.json", "a.tgf", "--format", "my_steps:MyOrderer"],
            "--format must be a GraphFormat. Got my_steps:MyOrderer",
        ),
        (
            ["graph.json", "a.tgf", "--format", "my_steps:function"],
            "--format must be a GraphFormat. Got my_steps:function",
        ),
        (["graph.json", "a.tgf", "--format", "my_steps:None_"], "--format my_steps:None_ cannot be imported: "),
        (
            ["graph.json", "a.tgf", "--format", "nowhere:TGF"],
            "--format nowhere:TGF cannot be imported: No module named",
        ),
        (["graph.json", "a.tgf", "--format", "tgf"], "--format tgf cannot be imported: "),
        (["cycle.csv", "graph.dot"], "'cycle.csv': The graph must have no cycle."),
    ],
    ids=lambda value: " ".join(value) if isinstance(value, list) else "",
)
def test_what_cannot_be_converted_is_refused_in_one_sentence(folder, arguments, message):
    written(folder)
    (folder / "graph.xyz").write_text("a b\n")
    pd.DataFrame({"source": ["a", "b"], "target": ["b", "a"]}).to_csv("cycle.csv", index=False)
    before = names_in(folder)
    assert error_of("convert", *arguments).startswith(message)
    assert names_in(folder) == before
    assert (folder / "graph.xyz").read_text() == "a b\n"
    assert Dag.read(folder / "graph.json") == LONE

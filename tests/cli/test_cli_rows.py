"""On the command line, environments, interventions and groups mean what they mean in Python."""

from __future__ import annotations

import json

import numpy as np
import pandas as pd
import pytest
from command_line import edges_in, names_in, run

from sartre import CausalDiscovery, Dag, certify, stability
from sartre.cli._rows import read_targets

TARGETS = {"drug": ["river"]}


@pytest.fixture
def cells(folder):
    """Write a chain, rain -> river -> flood, where drug sets river and site shifts flood."""
    rng = np.random.default_rng(0)
    condition = np.repeat(["control", "drug", "site"], 100)
    rain, river, flood = rng.normal(size=(3, 300))
    river = np.where(condition == "drug", river, np.sin(2 * rain) + river / 2)
    flood = river**2 / 2 + flood / 2 + 3 * (condition == "site")
    columns = {"flood": flood, "condition": condition, "rain": rain, "river": river}
    frame = pd.DataFrame(columns).assign(patient=[f"patient {k // 2}" for k in range(300)])
    frame.to_csv(folder / "cells.csv", index=False)
    (folder / "targets.csv").write_text("environment,target\ndrug,river\n")
    return "cells.csv"


def document_of(folder):
    return json.loads((folder / "graph.json").read_text())


def test_the_three_options_are_those_of_fit_and_their_columns_are_no_variables(cells, folder):
    options = ["--environment", "condition", "--interventions", "targets.csv", "--groups", "patient"]
    result = run("discover", cells, *options)
    assert result.exit_code == 0, result.stderr
    frame, document = pd.read_csv(cells), document_of(folder)
    model = CausalDiscovery(random_state=0).fit(frame, environment="condition", interventions=TARGETS, groups="patient")
    assert Dag.from_dict(document) == model.graph_ == Dag.read(folder / "graph.json")
    assert document["nodes"] == ["flood", "rain", "river"]
    assert document["environment"] == {
        "column": "condition",
        "reference": "control",
        "rows": {"control": 100, "drug": 100, "site": 100},
    }
    assert document["interventions"] == [{"environment": "drug", "target": "river", "kind": "perfect"}]
    assert document["groups"] == {"column": "patient", "number": 150}
    shown = [(each["environment"], each["variable"]) for each in document["environment_effects"]]
    assert shown == list(model.environment_effects_[["environment", "variable"]].itertuples(index=False, name=None))
    assert ("site", "flood") in shown
    after = result.stdout.split("What environments act on directly")[1]
    assert "│ site        │ flood    │" in after
    assert len(edges_in(result.stdout)) == model.graph_.n_edges  # the second table does not look like the first


def test_columns_about_rows_need_not_be_listed_among_the_columns(cells, folder):
    for columns in ("river,rain", "condition,river,patient,rain"):
        options = ["--columns", columns, "--environment", "condition", "--groups", "patient"]
        result = run("discover", cells, *options, "--order", "OrderSearch")
        assert result.exit_code == 0, result.stderr
        assert document_of(folder)["nodes"] == ["river", "rain"]
        assert "interventions" not in document_of(folder)


def test_a_given_order_takes_the_same_options(cells, folder):
    options = ["--environment", "condition", "--interventions", "targets.csv"]
    result = run("prune", cells, "--order-of", "rain,river,flood", *options)
    assert result.exit_code == 0, result.stderr
    document = document_of(folder)
    assert {(edge["source"], edge["target"]) for edge in document["edges"]} == {("rain", "river"), ("river", "flood")}
    assert document["environment"]["reference"] == "control"
    assert "groups" not in document


def test_without_the_options_nothing_is_written_about_rows(table, folder):
    result = run("discover", table)
    assert "What environments act on" not in result.stdout
    assert not {"environment", "interventions", "groups", "environment_effects"} & set(document_of(folder))


def test_a_changed_effect_is_printed_in_words(folder):
    rng = np.random.default_rng(0)
    a, b = rng.normal(size=(2, 400))
    site = np.repeat(["north", "south"], 200)
    b = np.where(site == "north", 2.0, -2.0) * a + b / 3
    pd.DataFrame({"a": a, "b": b, "site": site}).to_csv("sites.csv", index=False)
    result = run("prune", "sites.csv", "--order-of", "a,b", "--environment", "site")
    assert result.exit_code == 0, result.stderr
    assert "changes the effect of a" in result.stdout
    changed = [each for each in document_of(folder)["environment_effects"] if each["changes"]]
    assert [(each["variable"], each["strength"]) for each in changed] == [("b", None)]


def test_targets_may_be_shifted_and_environments_may_be_numbers(folder):
    (folder / "targets.csv").write_text("environment,target,kind\n1,a,soft\n2.0,b,perfect\n2.0,c,\n1,a,soft\n")
    assert read_targets(folder / "targets.csv") == {"1": ("soft", ["a"]), "2": ["b", "c"]}


def test_soft_targets_are_required_effects(cells, folder):
    (folder / "targets.csv").write_text("environment,target,kind\nsite,rain,soft\n")
    options = ["--environment", "condition", "--interventions", "targets.csv"]
    assert run("prune", cells, "--order-of", "rain,river,flood", *options).exit_code == 0
    document = document_of(folder)
    assert document["interventions"] == [{"environment": "site", "target": "rain", "kind": "soft"}]
    assert ("site", "rain") in {(each["environment"], each["variable"]) for each in document["environment_effects"]}


@pytest.mark.parametrize(
    ("text", "complaint"),
    [
        ("batch,target\ndrug,river\n", "must have the columns environment and target. Got no environment"),
        ("environment,target\nplacebo,river\n", "No row has the environment 'placebo' of 'interventions'."),
        ("environment,target\ndrug,snow\n", "acts on snow in 'drug', which are no columns of the table."),
        ("environment,target\ndrug,condition\n", "acts on condition in 'drug', which are no columns of the table."),
        ("environment,target\ndrug,\n", "Line 2 of 'targets.csv' lacks an environment or a target."),
        ("environment,target,kind\ndrug,river,hard\n", "must hold perfect or soft. Got 'hard'."),
        ("environment,target,kind\ndrug,river,soft\ndrug,rain,\n", "gives both kinds for the environment 'drug'."),
        ("environment,target\ndrug,rain\nsite,rain\ncontrol,rain\n", "Every row acts on rain"),
        (None, "There is no file 'targets.csv'"),
    ],
)
def test_targets_that_make_no_sense_are_one_sentence_and_leave_nothing(cells, folder, text, complaint):
    (folder / "targets.csv").unlink() if text is None else (folder / "targets.csv").write_text(text)
    before = names_in(folder)
    options = ["--environment", "condition", "--interventions", "targets.csv", "--groups", "patient"]
    result = run("discover", cells, *options, "--out", "new")
    assert result.exit_code == 2
    assert complaint in result.stderr.splitlines()[-1]
    assert names_in(folder) == before


@pytest.mark.parametrize(
    ("options", "complaint"),
    [
        (["--interventions", "targets.csv"], "--interventions needs --environment"),
        (["--interventions", "targets.csv", "--groups", "patient"], "--interventions needs --environment"),
        (["--environment", "batch"], "no column 'batch'; its columns are flood, condition, rain, river, patient."),
        (["--groups", "person"], "no column 'person'; its columns are flood, condition, rain, river, patient."),
        (["--environment", "patient"], "Every environment needs at least 10 rows."),
        (["--groups", "condition", "--columns", "rain,river"], "At least 20 groups are needed"),
        (["--environment", "condition", "--groups", "patient", "--order", "R2Sort"], "R2Sort would ignore them"),
        (["--environment", "condition", "--interventions", "edges.csv"], "'edges.csv' is the input file"),
    ],
)
def test_options_that_make_no_sense_are_one_sentence_and_leave_nothing(cells, folder, options, complaint):
    if "edges.csv" in options:
        (folder / "targets.csv").rename(folder / "edges.csv")
    before = names_in(folder)
    result = run("discover", cells, *options)
    assert result.exit_code == 2
    assert complaint in result.stderr.splitlines()[-1]
    assert names_in(folder) == before


@pytest.mark.parametrize("option", ["--environment", "--groups", "--interventions"])
def test_batches_refuse_what_is_said_about_rows_by_name(cells, folder, option):
    pytest.importorskip("pyarrow")
    (folder / "parts").mkdir()
    pd.read_csv(cells).to_parquet(folder / "parts" / "a.parquet")
    value = {"--environment": "condition", "--groups": "patient", "--interventions": "targets.csv"}[option]
    options = ["--environment", "condition", option, value] if option == "--interventions" else [option, value]
    result = run("discover", "parts", *options, "--out", "new")
    assert result.exit_code == 2
    told = result.stderr.splitlines()[-1]
    assert option in told
    assert "cannot be used with 'parts', which is read in batches" in told
    assert not (folder / "new").exists()


def test_halves_and_certificates_take_what_is_said_about_rows(cells, folder):
    options = ["--environment", "condition", "--interventions", "targets.csv", "--groups", "patient"]
    result = run("discover", cells, *options, "--stability", "1", "--certify", "0.1")
    assert result.exit_code == 0, result.stderr
    document = document_of(folder)
    said = {"environment": "condition", "interventions": TARGETS, "groups": "patient"}
    frame, alone = pd.read_csv(cells), CausalDiscovery(random_state=0)
    halves = stability(alone, frame, n_pairs=1, random_state=0, **said)
    proof = certify(alone, frame, 0.1, random_state=0, **said)
    assert document["stability"]["frequencies"] == halves.frequencies.to_dict("records")
    assert [each["certified"] for each in document["certificates"]["statements"]] == proof.edges["certified"].tolist()
    assert document["certificates"]["order"] == proof.order

"""Real tables on the command line: their problems, the options about columns, and where results go."""

from __future__ import annotations

import gzip
import json
import re
import shlex

import numpy as np
import pandas as pd
import pytest
from command_line import names_in, run, typed

from sartre import CausalDiscovery
from sartre.cli import _learning
from sartre.data import read_arrow
from sartre.evidence import stability as evidence_stability
from sartre.order import FixedOrder

N = 60
RESULT = ["edges.csv", "graph.json", "knowledge-template.toml", "model.sartre"]


def ugly_table():
    """Return a table with every problem that a column can have."""
    rng = np.random.default_rng(0)
    rain = rng.normal(size=N)
    return pd.DataFrame(
        {
            "id": [f"P{k:03}" for k in range(N)],
            "visit_date": pd.date_range("2024-01-01", periods=N).astype(str),
            "rain": np.where(np.arange(N) % 7 == 0, np.nan, rain),
            "river": np.sin(2 * rain) + rng.normal(size=N) / 2,
            "notes": [f"the patient felt well on day {k}" for k in range(N)],
            "site": 1,
            "copy, of river": 0.0,
            "number": range(1, N + 1),
            "price": [f"${1000 + k:,}.50" for k in rng.permutation(N)],
        }
    ).assign(**{"copy, of river": lambda frame: frame["river"]})


# All problems at once, and a command that works


def test_all_problems_are_listed_with_a_command_that_works(folder):
    ugly_table().to_csv("ugly.csv", index=False)
    result = typed("discover", "ugly.csv", "--seed", "1")
    assert result.exit_code == 2
    assert result.stdout == ""
    first, warning, head, *problems, remedy = result.stderr.splitlines()
    assert first == "Reading ugly.csv"
    assert "price ('$1,0" in warning
    assert head == "Error: 'ugly.csv' has 7 problems:"
    assert len(problems) == 7
    for name, line in zip(["id", "visit_date", "notes", "site", "number", "copy, of river"], problems, strict=False):
        assert line.startswith(f"- Column '{name}' ")
    assert problems[-1].startswith("- There are missing values. Counts per column: 'rain' 9. Leave out their rows with")
    assert remedy.startswith("This would work: sartre discover ugly.csv --seed 1 --exclude ")
    assert remedy.endswith(" --missing impute")
    assert names_in(folder) == ["ugly.csv"]
    command = shlex.split(remedy.removeprefix("This would work: sartre "))
    assert typed(*command, "--order", "R2Sort").exit_code == 0
    assert json.loads((folder / "ugly-sartre" / "graph.json").read_text())["nodes"] == ["rain", "river", "price"]


def test_a_single_problem_is_a_sentence_with_a_command_that_works(table, folder):
    frame = pd.read_csv(table)
    frame.assign(when=pd.date_range("2024", periods=len(frame)).astype(str)).to_csv("dated.csv", index=False)
    result = typed("discover", "dated.csv", "--order", "R2Sort")
    _, error = result.stderr.splitlines()
    assert error == (
        "Error: Column 'when' holds dates written as text, such as '2024-01-01' in row 0 (the first row is 0). Convert "
        "them to numbers (days since a start date, for example) or leave the column out. This would work: sartre "
        "discover dated.csv --order R2Sort --exclude when"
    )
    assert typed(*shlex.split(error.partition("work: sartre ")[2])).exit_code == 0
    assert names_in(folder / "dated-sartre") == RESULT


def test_the_command_keeps_what_was_asked_for(table):
    frame = pd.read_csv(table).assign(bad=[f"x{k}" for k in range(200)], worse=[f"y{k}" for k in range(200)])
    frame.assign(level=np.arange(200) % 3).to_csv("odd.csv", index=False)
    result = typed(
        *("discover", "odd.csv", "--set", "prune.level=0.1", "--set", "order.effort=fast", "--json"),
        *("--exclude", "rain", "--categorical", "level,worse", "--jobs", "1", "--no-data", "--report", "a b.html"),
    )
    assert result.stderr.splitlines()[-1] == (
        "This would work: sartre discover odd.csv --exclude rain,bad,worse --categorical level --set prune.level=0.1 "
        "--set order.effort=fast --jobs 1 --report 'a b.html' --no-data --json"
    )
    pruned = typed("prune", "odd.csv", "--order-of", "rain,bad,river")
    assert pruned.stderr.endswith("This would work: sartre prune odd.csv --order-of rain,bad,river --exclude bad\n")
    assert typed("prune", "odd.csv", "--order-of", "rain,bad,river", "--exclude", "bad").exit_code == 0


def test_missing_values_are_dropped_where_certificates_allow_no_others(table):
    frame = pd.read_csv(table)
    frame.loc[::20, "rain"] = None
    frame.to_csv("holes.csv", index=False)
    result = typed("discover", "holes.csv", "--certify", "0.1")
    assert result.stderr.endswith("sartre discover holes.csv --certify 0.1 --missing drop\n")


def test_a_table_with_nothing_left_has_no_command(folder):
    pd.DataFrame({"a": range(20), "b": [f"x{k}" for k in range(20)]}).to_csv("thin.csv", index=False)
    result = typed("discover", "thin.csv")
    assert result.exit_code == 2
    assert len(result.stderr.splitlines()) == 2
    assert "would work" not in result.stderr
    assert names_in(folder) == ["thin.csv"]


def test_columns_about_rows_are_no_variables_with_problems(table):
    frame = pd.read_csv(table).assign(patient=[f"p{k}" for k in range(200)], code=[f"c{k}" for k in range(200)])
    frame.to_csv("groups.csv", index=False)
    result = typed("discover", "groups.csv", "--groups", "patient")
    assert result.exit_code == 2
    assert "'patient'" not in result.stderr
    assert result.stderr.endswith("sartre discover groups.csv --groups patient --exclude code\n")


def test_columns_may_be_called_by_numbers(table, folder):
    pd.read_csv(table).set_axis(["2", "0", "x"], axis=1).to_csv("numbers.csv", index=False)
    assert typed("discover", "numbers.csv").exit_code == 0
    assert json.loads((folder / "numbers-sartre" / "graph.json").read_text())["order"] == ["0", "x", "2"]


def test_the_command_does_not_leave_too_few_rows(table):
    frame = pd.read_csv(table)[:20].assign(bad=[f"x{k}" for k in range(20)])
    frame.loc[5:, "rain"] = None
    frame.to_csv("few.csv", index=False)
    result = typed("discover", "few.csv", "--missing", "drop")
    assert result.stderr.endswith("This would work: sartre discover few.csv --missing impute --exclude bad\n")
    for missing in ("drop", "error"):
        result = typed("discover", "few.csv", "--missing", missing, "--certify", "0.1")
        assert result.exit_code == 2
        assert "would work" not in result.stderr


def test_a_column_that_numbers_the_rows_is_named_in_a_warning(table):
    pd.read_csv(table).assign(row=range(200)).to_csv("numbered.csv", index=False)
    result = run("discover", "numbered.csv", "--order", "R2Sort")
    assert result.exit_code == 0
    assert "Warning: Column 'row' grows by one from row to row, like a row number. Leave it out" in result.stderr
    assert "Use --exclude row." in result.stderr


# --exclude, --categorical, --log, --sheet


def test_excluded_columns_take_no_part(table, folder):
    assert run("discover", table, "--exclude", "flood").exit_code == 0
    document = json.loads((folder / "graph.json").read_text())
    assert document["nodes"] == ["rain", "river"]
    assert document["run"]["exclude"] == ["flood"]
    assert run("discover", table, "--columns", "rain,river,flood", "--exclude", "flood").exit_code == 0
    assert json.loads((folder / "graph.json").read_text())["nodes"] == ["rain", "river"]
    assert run("plan", table, "--exclude", "flood").stdout.startswith("200 rows, 2 variables")


def test_a_categorical_column_of_numbers_has_levels(table, folder):
    rng = np.random.default_rng(1)
    level = rng.integers(0, 3, size=300)
    y = np.array([0.0, 2.0, -1.0])[level] + rng.normal(size=300) / 2
    frame = pd.DataFrame(
        {"wine_class": np.where(rng.random(300) < 0.02, np.nan, level), "y": y, "z": rng.normal(size=300)}
    )
    frame.to_csv("wine.csv", index=False)
    result = run(
        "prune", "wine.csv", "--order-of", "wine_class,y,z", "--categorical", "wine_class", "--missing", "drop"
    )
    assert result.exit_code == 0, result.stderr
    document = json.loads((folder / "graph.json").read_text())
    assert document["run"]["categorical"] == ["wine_class"]
    levels = frame.dropna()
    levels = levels.assign(wine_class=levels["wine_class"].map({0: "nought", 1: "one", 2: "two"}))
    expected = CausalDiscovery(FixedOrder(list(frame.columns)), random_state=0).fit(levels)
    assert expected.graph_.edges == [("wine_class", "y")]
    assert document["edges"][0]["strength"] == pytest.approx(expected.edges_["strength"][0])
    many = run("discover", table, "--categorical", "rain")
    assert many.exit_code == 2
    assert "Error: Column 'rain' has 200 levels in 200 rows, such as " in many.stderr


def test_logarithms_are_taken_of_positive_numbers_only(table, folder):
    frame = pd.read_csv(table)
    positive = frame.assign(rain=np.exp(frame["rain"]))
    positive.to_csv("positive.csv", index=False)
    assert run("discover", "positive.csv", "--log", "rain").exit_code == 0
    document = json.loads((folder / "graph.json").read_text())
    assert document["run"]["log"] == ["rain"]
    assert run("discover", table).exit_code == 0
    plain = json.loads((folder / "graph.json").read_text())
    assert [(edge["source"], edge["target"]) for edge in document["edges"]] == [
        (edge["source"], edge["target"]) for edge in plain["edges"]
    ]
    for edge, other in zip(document["edges"], plain["edges"], strict=True):
        assert edge["strength"] == pytest.approx(other["strength"], rel=1e-6)


@pytest.mark.parametrize(
    ("options", "message"),
    [
        (
            ["--log", "river"],
            r"--log needs positive numbers\. Column 'river' holds -.* in row \d+ \(the first row is 0\)",
        ),
        (["--log", "snow"], "has no column 'snow'"),
        (["--log", "word"], "--log needs numbers. Column 'word' holds 'x'; leave it out of --log"),
        (["--log", "rain", "--categorical", "rain"], "--log and --categorical both name 'rain'"),
        (["--log", "rain", "--exclude", "rain"], "--exclude and --log both name 'rain'"),
        (["--log", "rain", "--columns", "river,flood"], "--log names 'rain', which --columns leaves out"),
        (["--exclude", "rian"], r"has no column 'rian'; its columns are .*\. Did you mean 'rain'\?"),
        (["--exclude", "word", "--groups", "word"], "--exclude and --environment or --groups both name 'word'"),
        (["--categorical", "snow"], "has no column 'snow'"),
        (["--exclude", "rain,river,flood"], "At least 2 columns are needed. Got 1: word"),
        (["--sheet", "2"], "Only spreadsheets"),
    ],
)
def test_options_about_columns_that_make_no_sense_are_one_sentence(table, folder, options, message):
    pd.read_csv(table).assign(word="x").to_csv(table, index=False)
    result = typed("discover", table, *options)
    assert result.exit_code == 2
    assert re.search(message, result.stderr)
    assert len([line for line in result.stderr.splitlines() if not line.startswith("Warning")]) == 2
    assert names_in(folder) == [table]


def test_a_sheet_is_chosen_on_the_command_line(table, folder):
    pytest.importorskip("openpyxl")
    frame = pd.read_csv(table)
    with pd.ExcelWriter("water.xlsx") as writer:
        frame[:20].to_excel(writer, sheet_name="few", index=False)
        frame.to_excel(writer, sheet_name="all", index=False)
    for sheet in ("all", "2"):
        result = run("discover", "water.xlsx", "--sheet", sheet, "--order", "R2Sort")
        assert "water.xlsx: 200 rows, 3 columns" in result.stdout
    assert run("plan", "water.xlsx", "--sheet", "2").stdout.startswith("200 rows, 3 variables")
    result = typed("discover", "water.xlsx", "--sheet", "al")
    assert result.exit_code == 2
    assert "Did you mean 'all'?" in result.stderr
    assert names_in(folder) == [*RESULT, "water.csv", "water.xlsx"]


# Where results go


@pytest.mark.parametrize(
    ("command", "place"),
    [(["discover", "data/water.csv.gz"], "water-sartre"), (["prune", "-", "--order-of", "rain,river"], "table-sartre")],
)
def test_results_go_into_a_folder_named_after_the_table(table, folder, command, place):
    content = (folder / table).read_bytes()
    (folder / "data").mkdir()
    (folder / "data" / "water.csv.gz").write_bytes(gzip.compress(content))
    result = typed(
        *command,
        "--order" if command[0] == "discover" else "--level",
        "R2Sort" if command[0] == "discover" else "0.1",
        "--report",
        "r.html",
        stdin=content,
    )
    assert result.exit_code == 0, result.stderr
    assert names_in(folder) == sorted(["data", "r.html", table, place])
    assert names_in(folder / place) == RESULT
    assert result.stdout.splitlines()[-1] == (
        f"Wrote {place}/graph.json, {place}/edges.csv, {place}/model.sartre, {place}/knowledge-template.toml and r.html"
    )


def test_an_earlier_result_is_replaced_only_if_told(table, folder, monkeypatch):
    assert typed("discover", table, "--report", "r.html").exit_code == 0
    before = {path: path.read_bytes() for path in folder.rglob("*") if path.is_file()}
    with monkeypatch.context() as patched:
        patched.setattr(CausalDiscovery, "fit", None)  # nothing is learnt
        result = typed("discover", table, "--seed", "7")
        assert result.exit_code == 2
        assert result.stderr.splitlines()[-1] == (
            "Error: 'water-sartre' has an earlier result (graph.json, edges.csv, model.sartre). Add --overwrite to "
            "replace it, or name another folder with --out."
        )
        result = typed("discover", table, "--out", "other", "--report", "r.html")
        assert result.exit_code == 2
        assert "Error: 'r.html' exists. Add --overwrite to replace it, or choose another name" in result.stderr
    assert {path: path.read_bytes() for path in folder.rglob("*") if path.is_file()} == before
    result = typed("discover", table, "--seed", "7", "--overwrite", "--report", "r.html")
    assert result.exit_code == 0
    assert json.loads((folder / "water-sartre" / "graph.json").read_text())["run"]["seed"] == 7


def test_an_interrupted_stability_selection_resumes_in_its_folder(table, folder, monkeypatch):
    original, numbers = evidence_stability._run, []

    def stopped(shared, seed, number):
        numbers.append(number)
        if numbers == [0, 1]:
            raise KeyboardInterrupt
        return original(shared, seed, number)

    monkeypatch.setattr(evidence_stability, "_run", stopped)
    command = ("discover", table, "--stability", "1", "--order", "R2Sort")
    assert typed(*command).exit_code == 130
    assert names_in(folder / "water-sartre") == ["stability.checkpoint.json"]
    assert typed(*command).exit_code == 0
    assert numbers == [0, 1, 1]
    assert names_in(folder / "water-sartre") == RESULT


# Large text files


def test_a_large_text_streams_by_itself_and_gives_the_same_graph(table, folder, monkeypatch):
    assert run("discover", table).exit_code == 0
    whole = json.loads((folder / "graph.json").read_text())
    monkeypatch.setattr(read_arrow, "_LARGE", 1000)
    monkeypatch.setattr(_learning, "load", None)  # the file is never read as a whole
    (folder / "water.csv.gz").write_bytes(gzip.compress((folder / table).read_bytes()))
    for source in (table, "water.csv.gz"):
        assert run("discover", source).exit_code == 0
        assert json.loads((folder / "graph.json").read_text())["edges"] == whole["edges"]
    assert run("discover", table, "--exclude", "flood").exit_code == 0
    assert json.loads((folder / "graph.json").read_text())["nodes"] == ["rain", "river"]


def test_a_large_text_that_needs_all_rows_is_read_as_a_whole(table, folder, monkeypatch):
    monkeypatch.setattr(read_arrow, "_LARGE", 1000)
    frame = pd.read_csv(table).assign(kind=["a", "b"] * 100, patient=np.arange(200) // 2)
    frame.to_csv(table, index=False)
    assert run("discover", table, "--order", "R2Sort").exit_code == 0  # the column of text is a category
    assert json.loads((folder / "graph.json").read_text())["nodes"][-2:] == ["kind", "patient"]
    options = (["--groups", "patient"], ["--categorical", "patient"], ["--missing", "impute"])
    for option in options:
        result = run("discover", table, "--exclude", "kind", "--order", "R2Sort", *option)
        assert "read in batches" not in result.stderr


# Spelling


@pytest.mark.parametrize(
    ("arguments", "meant"),
    [
        (["discover", "water.csv", "--colums", "rain"], "--columns"),
        (["discover", "water.csv", "--reprt", "r.html"], "--report"),
        (["plan", "water.csv", "--prnue", "DAS"], "--prune"),
        (["discvoer", "water.csv"], "discover"),
        (["discover", "watr.csv"], "water.csv"),
        (["discover", "schs"], "sachs"),
        (["discover", "water.csv", "--columns", "Rain,river"], "rain"),
        (["prune", "water.csv", "--order-of", "rian,river"], "rain"),
        (["discover", "water.csv", "--environment", "flod"], "flood"),
        (["discover", "water.csv", "--order", "SCOR"], "SCORE"),
        (["discover", "water.csv", "--prune", "sarte"], "SARTRE"),
        (["discover", "water.csv", "--set", "prune.penlty=1"], "penalty"),
    ],
)
def test_what_is_misspelt_is_answered_by_what_was_meant(table, folder, arguments, meant):
    result = typed(*arguments)
    assert result.exit_code == 2
    assert result.stderr.splitlines()[-1].endswith(f"Did you mean '{meant}'?")
    assert names_in(folder) == [table]


def test_what_resembles_nothing_has_no_suggestion(table):
    for arguments in (["--nope"], ["--columns", "snow"], ["--order", "magic"]):
        assert "Did you mean" not in typed("discover", table, *arguments).stderr

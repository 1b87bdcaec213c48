from __future__ import annotations

import json

import pandas as pd
import pytest
from command_line import names_in, run
from joblib import cpu_count

from sartre.data import read_file
from sartre.plan import estimate


def test_a_plan_names_the_steps_and_writes_nothing(table, folder):
    result = run("plan", table, "--order", "score", "--prune", "CAMPruning")
    assert result.exit_code == 0
    lines = result.stdout.splitlines()
    assert lines[0] == "200 rows, 3 variables, 1 thread"
    assert [line.split()[:2] for line in lines[2:5]] == [
        ["reading", table],
        ["order", "SCORE"],
        ["pruning", "CAMPruning"],
    ]
    names = [line.split()[0] for line in lines[5:]]
    assert [name for name in names if name != "compiling"] == ["directions", "start-up", "total"]
    assert names_in(folder) == [table]


def test_the_start_and_the_compilation_count_where_they_are_still_to_come(table, monkeypatch):
    totals = {}
    for share in (0.0, 0.5, 1.0):
        monkeypatch.setattr(estimate, "compilation_left", lambda _, share=share: share)
        steps = json.loads(run("plan", table, "--json").stdout)["steps"]
        seconds = {step["name"]: step["seconds"] for step in steps}
        assert 0.1 < seconds["start-up"] < 60
        assert ("compiling" in seconds) == (share > 0)
        others = sum(value for name, value in seconds.items() if name != "total")
        assert seconds["total"] == pytest.approx(others)
        totals[share] = seconds.get("compiling", 0.0)
    assert totals[1.0] == pytest.approx(2 * totals[0.5], rel=0.01)


def test_settings_and_columns_count(table):
    arguments = (
        "--json",
        "--columns",
        "rain,river",
        "--set",
        "order.max_samples=50",
        "--penalty",
        "0.1",
        "--jobs",
        "2",
    )
    document = json.loads(run("plan", table, "--order", "SCORE", *arguments).stdout)
    assert (document["rows"], document["variables"], document["threads"]) == (200, 2, min(2, cpu_count()))
    whole = json.loads(run("plan", table, "--order", "SCORE", "--json").stdout)
    assert document["steps"][1]["seconds"] < whole["steps"][1]["seconds"]


def test_what_is_not_known_is_null(table):
    document = json.loads(run("plan", table, "--json", "--order", "SCORE", "--set", "order.device=cuda").stdout)
    assert document["steps"][1]["seconds"] is None
    assert document["advice"]


def test_only_the_beginning_of_a_long_file_is_read(table, monkeypatch):
    monkeypatch.setattr(read_file, "_HEAD", 3000)
    frame, n = read_file.peek(table)
    assert len(frame) < 100
    assert n == pytest.approx(200, rel=0.1)
    assert list(frame.columns) == ["flood", "rain", "river"]


def test_parquet_files_state_their_number_of_rows(folder):
    pytest.importorskip("pyarrow")
    pd.DataFrame({"a": range(500), "b": range(500)}).to_parquet(folder / "long.parquet")
    frame, n = read_file.peek(folder / "long.parquet")
    assert (n, list(frame.columns)) == (500, ["a", "b"])
    assert run("plan", "long.parquet").stdout.startswith("500 rows, 2 variables")


@pytest.mark.usefixtures("table")
@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["nope.csv"], "There is no file 'nope.csv'"),
        (["water.csv", "--columns", "snow"], "'water.csv' has no column 'snow'"),
        (["water.csv", "--order", "magic"], "There is no method 'magic' for --order"),
        (["water.csv", "--set", "order.speed=9"], "OrderSearch has no setting 'speed'"),
    ],
)
def test_what_cannot_be_planned_is_refused_in_one_sentence(arguments, message):
    result = run("plan", *arguments)
    assert result.exit_code == 2
    assert result.stderr.splitlines()[-1].startswith(f"Error: {message}")


def test_a_table_without_rows_has_no_plan(folder):
    pytest.importorskip("pyarrow")
    pd.DataFrame({"a": [1.0], "b": [2.0]})[:0].to_parquet(folder / "empty.parquet")
    result = run("plan", "empty.parquet")
    assert result.exit_code == 2
    assert "A plan needs a table" in result.stderr

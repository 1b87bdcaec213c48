"""On the command line, a folder of Parquet files is read in batches and gives the same result as one file."""

from __future__ import annotations

import json

import pandas as pd
import pytest
from command_line import names_in, run

from sartre import Dag
from sartre.data import read_arrow
from sartre.data import table as tables

pytest.importorskip("pyarrow")


@pytest.fixture
def parts(table, folder):
    """Write the table of `water.csv` in two files."""
    frame = pd.read_csv(folder / table)
    (folder / "water").mkdir()
    frame[:120].to_parquet(folder / "water" / "a.parquet")
    frame[120:].to_parquet(folder / "water" / "b.parquet")
    frame.to_parquet(folder / "whole.parquet")
    return "water"


@pytest.mark.parametrize(
    ("options", "additive"), [([], 200), (["--penalty", "0.1"], 100), (["--columns", "rain,river"], 200)]
)
def test_a_folder_gives_what_a_file_gives(parts, folder, monkeypatch, options, additive):
    monkeypatch.setattr(tables, "SAMPLE_ROWS", 100)
    graphs = []
    for source in (parts, "whole.parquet"):
        result = run("discover", source, *options, "--out", f"of-{source}")
        assert result.exit_code == 0, result.stderr
        assert f"Rows seen: order 100, additive {additive}" in result.stdout
        document = json.loads((folder / f"of-{source}" / "graph.json").read_text())
        assert document["run"]["rows_seen"]["additive"] == additive
        graphs.append((Dag.from_dict(document), document["edges"]))
    assert graphs[0] == graphs[1]


def test_a_large_file_is_read_in_batches(parts, folder, monkeypatch):
    assert parts in names_in(folder)
    assert read_arrow.in_batches(folder / parts)
    assert not read_arrow.in_batches(folder / "whole.parquet")
    monkeypatch.setattr(read_arrow, "_LARGE", 1000)
    assert read_arrow.in_batches(folder / "whole.parquet")
    assert run("discover", "whole.parquet").exit_code == 0


def test_a_folder_has_the_plan_of_all_its_files(parts):
    result = run("plan", parts)
    assert result.exit_code == 0, result.stderr
    assert result.stdout.startswith("200 rows, 3 variables")


@pytest.mark.parametrize(
    ("options", "message"),
    [
        (["--stability", "2"], "--stability needs all rows in memory"),
        (["--certify", "0.1"], "--certify needs all rows in memory"),
        (["--missing", "bin"], "must be 'error' or 'drop'"),
        (["--columns", "snow"], "There is no column 'snow'"),
        (["--prune", "CAMPruning"], "must be a pruner with the tag 'takes_row_source'"),
    ],
)
def test_what_batches_cannot_do_is_refused(parts, options, message):
    result = run("discover", parts, *options)
    assert result.exit_code == 2
    assert message in " ".join(result.stderr.split())

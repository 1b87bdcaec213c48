from __future__ import annotations

import json
import re

import pandas as pd
import pytest
from command_line import edges_in, names_in, run

from sartre import CausalDiscovery, Dag, Knowledge, __version__
from sartre.cli import _learning, _tables
from sartre.cli._learning import CHECKPOINT
from sartre.plan import estimate
from sartre.prune import SARTRE

# Output and files of a run


def test_a_report_is_written_beside_the_graph_in_the_units_of_the_file(table, folder):
    result = run("discover", table, "--report", "report.html", "--level", "0.01")
    assert result.exit_code == 0, result.stderr
    assert "Wrote graph.json, edges.csv, model.sartre, knowledge-template.toml and report.html" in result.stdout
    page = (folder / "report.html").read_text(encoding="utf-8")
    assert "<title>water.csv</title>" in page
    assert '"command":"sartre discover water.csv --report report.html --level 0.01 --out . --overwrite"' in page
    data = json.loads(page.split('id="data">')[1].split("</script>")[0])
    assert data["names"] == ["flood", "rain", "river"]
    river = next(edge for edge in data["edges"] if edge["source"] == 2)
    assert river["shape"]["high"] > 1000
    assert len(data["columns"]["2"]) == 200
    result = run("discover", table, "--report", "report.html", "--no-data")
    assert result.exit_code == 0
    assert "contains no samples" in (folder / "report.html").read_text(encoding="utf-8")


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["--no-data"], "--no-data applies to a report only; add --report FILE."),
        (["--report", "nowhere/report.html"], "There is no folder 'nowhere'"),
        (["--report", "graph.json"], "'graph.json' is another file of this run"),
        (["--report", "water.csv"], "'water.csv' is the input file"),
        (["--report", "new"], "'new' is a folder; name a file to write."),
    ],
)
def test_a_report_that_cannot_be_written_is_reported_before_the_work(table, folder, arguments, message):
    result = run("discover", table, *arguments, "--out", "new" if "new" in arguments else ".")
    assert result.exit_code == 2
    assert message in result.stderr
    assert names_in(folder) == ["water.csv"]


def test_discover_prints_the_edges_and_writes_the_graph(table, folder):
    result = run("discover", table)
    assert result.exit_code == 0
    assert result.stderr == "Reading water.csv\n"
    document = json.loads((folder / "graph.json").read_text())
    graph = Dag.from_dict(document)
    assert graph.names == ["flood", "rain", "river"]
    assert graph == Dag.from_edges([("rain", "river"), ("river", "flood")])
    assert document["convention"] == "source -> target"
    assert document["order"] == ["rain", "river", "flood"]
    assert document["run"] == {
        "version": __version__,
        "source": table,
        "standardized": False,
        "missing": "error",
        "seed": 0,
        "order": {"method": "OrderSearch"} | document["run"]["order"],
        "prune": {"method": "SARTRE", "penalty": "auto", "random_state": 0} | document["run"]["prune"],
    }
    printed = edges_in(result.stdout)
    assert [(source, target) for source, _, target, _, _ in printed] == [
        (edge["source"], edge["target"]) for edge in document["edges"]
    ]
    for (_, arrow, _, strength, confidence), edge in zip(printed, document["edges"], strict=True):
        assert (arrow, edge["direction"]) == ("->", "decided")
        assert float(strength) == pytest.approx(edge["strength"], abs=6e-4)
        assert float(confidence) == pytest.approx(edge["direction_confidence"], abs=6e-3)
        assert edge["p_value"] < 1e-6  # in the file, beside the table that people read
    assert document["interactions"] == []
    strengths = [edge["strength"] for edge in document["edges"]]
    assert strengths == sorted(strengths, reverse=True)
    assert "water.csv: 200 rows, 3 columns; 2 edges in " in result.stdout
    assert "Order: rain, river, flood\n" in result.stdout
    assert result.stdout.endswith("Wrote graph.json, edges.csv, model.sartre and knowledge-template.toml\n")


def test_a_knowledge_file_to_fill_in_is_written_once_and_never_overwritten(table, folder):
    assert run("discover", table).exit_code == 0
    file = folder / "knowledge-template.toml"
    assert Knowledge.read(file) == Knowledge()
    text = file.read_text(encoding="utf-8")
    assert '["flood", "rain", "river"]' in text
    assert 'these have none: "rain".' in text
    file.write_text('roots = ["river"]\n', encoding="utf-8")
    result = run("discover", table, "--knowledge", file.name)
    assert result.exit_code == 0, result.stderr
    assert "Left knowledge-template.toml as it is\nWrote graph.json, edges.csv and model.sartre\n" in result.stdout
    assert file.read_text(encoding="utf-8") == 'roots = ["river"]\n'
    assert Dag.read(folder / "graph.json").parents("river") == []
    assert run("discover", table, "--report", file.name).exit_code == 2


def test_the_command_line_is_the_library_on_standardised_columns(table, folder):
    assert run("discover", table, "--penalty", "0.05", "--seed", "3", "--jobs", "2", "--out", "g").exit_code == 0
    document = json.loads((folder / "g" / "graph.json").read_text())
    X = pd.read_csv(table)
    model = CausalDiscovery(random_state=3, prune=SARTRE(penalty=0.05)).fit((X - X.mean()) / X.std(ddof=0))
    expected = model.edges_[["source", "target", "strength", "margin"]].to_dict("records")
    assert [(edge["source"], edge["target"]) for edge in document["edges"]] == [
        (edge["source"], edge["target"]) for edge in expected
    ]
    for edge, other in zip(document["edges"], expected, strict=True):
        assert edge["strength"] == pytest.approx(other["strength"], rel=1e-4)
    assert document["run"]["seed"] == document["run"]["prune"]["random_state"] == 3
    assert document["run"]["prune"]["penalty"] == 0.05
    assert all(edge["p_value"] is None for edge in document["edges"])
    assert document["run"]["standardized"] is True
    assert names_in(folder) == ["g", "water.csv"]
    assert names_in(folder / "g") == ["edges.csv", "graph.json", "knowledge-template.toml", "model.sartre"]


def test_the_same_seed_writes_the_same_file(table, folder):
    texts = []
    for jobs in ("1", "1", "2"):
        assert run("discover", table, "--jobs", jobs).exit_code == 0
        texts.append((folder / "graph.json").read_text().replace('"n_jobs": 2', '"n_jobs": 1'))
    assert texts[0] == texts[1] == texts[2]


def test_sachs_is_compared_with_its_known_graph(folder):
    result = run("discover", "sachs")
    assert result.exit_code == 0
    assert "sachs: 853 rows, 11 columns; " in result.stdout
    assert "against the 17 known edges" in result.stdout
    rows = {line.split("│")[1].strip(): line.split("│")[2:6] for line in result.stdout.splitlines() if "│" in line}
    assert [cell.strip() for cell in rows["graph without edges"]] == ["17", "53", "-", "0.00"]
    shd, sid, precision, recall = (float(cell) for cell in rows["learnt graph"])
    assert 0 < shd <= 55
    assert 0 < sid <= 110
    document = json.loads((folder / "graph.json").read_text())
    kept = len(document["edges"])
    assert precision * kept == pytest.approx(recall * 17, abs=0.3)  # both are the number of true edges found


def test_a_file_wins_over_a_data_set_of_the_same_name_and_a_folder_does_not(table, folder):
    (folder / "sachs").mkdir()
    frame, truth = _learning.load("sachs")
    assert frame.shape == (853, 11)
    assert truth is not None
    (folder / "sachs").rmdir()
    (folder / table).rename(folder / "sachs")
    frame, truth = _learning.load("sachs")
    assert frame.shape == (200, 3)
    assert truth is None


def test_a_graph_without_edges_says_what_to_change(table, folder):
    result = run("discover", table, "--penalty", "100")
    assert result.exit_code == 0
    assert "0 edges in" in result.stdout
    assert "No edges were kept; with SARTRE, raise --level (or lower --penalty) to keep more." in result.stdout
    assert json.loads((folder / "graph.json").read_text())["edges"] == []


def test_only_the_strongest_edges_of_a_large_graph_are_printed(table, folder, monkeypatch):
    monkeypatch.setattr(_tables, "SHOWN_EDGES", 1)
    result = run("discover", table)
    assert len(edges_in(result.stdout)) == 1
    assert "... and 1 weaker edges, in graph.json" in result.stdout
    assert len(json.loads((folder / "graph.json").read_text())["edges"]) == 2


def test_names_are_printed_as_they_are_and_whole(table, folder, monkeypatch):
    monkeypatch.setenv("COLUMNS", "60")
    long = "a long name " * 6 + "end"
    X = pd.read_csv(table).set_axis(["[red]flood[/red]", ":smile:", long], axis=1)
    X.to_csv("odd.csv", index=False)
    result = run("discover", "odd.csv")
    assert "[red]flood[/red]" in result.stdout
    assert ":smile:" in result.stdout
    order = next(line for line in result.stdout.splitlines() if line.startswith("Order: "))
    assert order == f"Order: :smile:, {long}, [red]flood[/red]"
    assert long in json.loads((folder / "graph.json").read_text())["nodes"]


# Warnings, errors, interruption


def test_a_warning_is_one_line(table, folder):
    X = pd.read_csv(table).assign(flat=1.0, copy=lambda frame: frame["rain"])
    X.to_csv("odd.csv", index=False)
    result = run("discover", "odd.csv")
    assert result.exit_code == 0
    _, first, second = result.stderr.splitlines()
    assert first == "Warning: Constant columns can be neither causes nor effects: flat. Leave them out."
    assert second.startswith("Warning: Duplicated columns cannot be told apart by the data: copy = rain. ")
    assert (folder / "graph.json").exists()


@pytest.mark.parametrize(
    ("content", "message"),
    [
        (None, "Error: There is no file 'bad.csv', and no data set of that name (the only one is sachs); check"),
        ("", "Error: 'bad.csv' is empty; "),
        ("<html>\n", "Error: 'bad.csv' looks like HTML, XML or JSON, not a table; "),
        (",a,b\n" + "0,1,2\n" * 20, "Error: The first column of 'bad.csv' has no name and looks like a row index; "),
        ("a,b\n" + "1,2\n" * 5 + "1,2,3\n", "Error: Line 7 of 'bad.csv' has 3 values, but the first line has 2; "),
        ("a,b\n" + "1,2\n" * 5 + "1,?\n", "Error: Column 'b' holds '?' in row 5 (the first row is 0), but a number"),
        ("a,b\n" + "".join(f"{j},id{j}\n" for j in range(20)), "Error: Column 'b' has 20 levels in 20 rows, such as"),
        (b"PK\x03\x04\x14\x00,\n", "Error: 'bad.csv' holds binary data "),
        ("a,b,a\n" + "1,2,3\n" * 20, "Error: The header of 'bad.csv' repeats 'a'; "),
        (b"a," * 2_000_000 + b"b\n", "Error: 'bad.csv' has too many columns: 2,000,001 or more, and at most 100,000"),
        (
            "a,b\n" + "1,2\n3,5\n" * 5 + "1,\n",
            "Error: There are missing values. Counts per column: 'b' 1. Leave out their rows with --missing drop, ",
        ),
        ("a,b\n1,2\n3,5\n7,6\n", "Error: At least 10 rows are needed. Got 3. "),
    ],
)
def test_bad_data_ends_in_one_sentence_and_nothing_is_written(folder, content, message):
    if content is not None:
        (folder / "bad.csv").write_bytes(content if isinstance(content, bytes) else content.encode())
    result = run("discover", "bad.csv", "--out", "new/folder")
    assert result.exit_code == 2
    assert result.stdout == ""
    first, error = result.stderr.splitlines()
    assert first == "Reading bad.csv"
    assert error.startswith(message)
    assert names_in(folder) == ([] if content is None else ["bad.csv"])


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["--out", "water.csv"], "Error: 'water.csv' is a file; name a folder to write in."),
        (["--out", "water.csv/below"], "Error: Not a directory: 'water.csv/below'; check its name and folder."),
        (["--out", "/proc/nope"], "Error: No such file or directory: '/proc/nope'; check its name and folder."),
        (["--columns", "rain,snow"], "Error: 'water.csv' has no column 'snow'; its columns are flood, rain, river."),
        (["--columns", "rain"], "Error: At least 2 columns are needed. Got 1: rain."),
        (["--columns", "rain,river,rain"], "Error: Every variable must have a unique name. Repeated: rain."),
        (
            ["--order", "magic"],
            "Error: There is no method 'magic' for --order; choose one of CAM, CaPS, DiffAN, NoGAM, Ord",
        ),
        (["--order", "FixedOrder"], "Error: There is no method 'FixedOrder' for --order; "),
        (["--prune", "magic"], "Error: There is no method 'magic' for --prune; choose one of CAMPruning, CaPSPruning"),
        (
            ["--prune", "DAS", "--level", "0.1"],
            "Error: --level is a setting of SARTRE, which DAS does not have. Use --set prune.NAME=VALUE",
        ),
        (
            ["--order", "CAM", "--prune", "CAMPruning", "--effort", "fast"],
            "Error: --effort is a setting of OrderSearch and SARTRE, which CAM and CAMPruning do not have.",
        ),
        (
            ["--set", "prune.lambda=1"],
            "Error: SARTRE has no setting 'lambda'; its settings are device, embedding, interactions",
        ),
        (["--set", "penalty=1"], "Error: --set must be order.NAME=VALUE or prune.NAME=VALUE. Got 'penalty=1' instead."),
        (["--knowledge", "no.toml"], "Error: There is no file 'no.toml'; check its name and folder."),
        (["--penalty", "-1"], "Error: The 'penalty' parameter of SARTRE must be a float in the range (0.0, inf). Got"),
        (["--penalty", "nan"], "Error: The 'penalty' parameter of SARTRE must be"),
        (["--seed", "-1"], "Error: The 'random_state' parameter of "),
        (["--jobs", "0"], "Error: --jobs must be a number of threads, or -1 for one per core. Got 0."),
    ],
)
def test_a_bad_setting_ends_in_one_sentence_and_nothing_is_written(table, folder, arguments, message):
    before = (folder / table).read_bytes()
    result = run("discover", table, *arguments)
    assert result.exit_code == 2
    assert result.stdout == ""
    first, error = result.stderr.splitlines()
    assert first == "Reading water.csv"
    assert error.startswith(message)
    assert names_in(folder) == [table]
    assert (folder / table).read_bytes() == before


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["discover"], "Missing argument 'FILE'"),
        (["discover", "sachs", "--penalty", "much"], "--penalty"),
        (["discover", "sachs", "--nope"], "No such option"),
        (["discover", "sachs", "--stability", "0"], "--stability"),
        (["discover", "sachs", "--missing", "what"], "--missing"),
        (["nope"], "No such command 'nope'"),
    ],
)
def test_a_misspelt_command_ends_in_an_error_too(folder, arguments, message):
    result = run(*arguments)
    assert result.exit_code == 2
    assert result.stderr.splitlines()[-1].startswith("Error: ")
    assert message in result.stderr.splitlines()[-1]
    assert names_in(folder) == []


@pytest.mark.parametrize(
    ("failure", "code", "message"),
    [
        (KeyboardInterrupt(), 130, "Stopped.\n"),
        (ValueError("two\n  lines"), 2, "Error: two lines\n"),
        (KeyError("x"), 1, "Error: Unexpected KeyError: 'x'; run again with --debug to see where.\n"),
        (MemoryError(), 2, "Error: There is not enough memory for this; use fewer rows or columns."),
        (PermissionError(13, "Permission denied", "data.csv"), 2, "Error: Permission denied: 'data.csv'; ask for"),
    ],
)
def test_a_run_that_fails_keeps_the_old_graph(table, folder, monkeypatch, failure, code, message):
    def fail(*_):
        raise failure

    (folder / "graph.json").write_text("old")
    monkeypatch.setattr(CausalDiscovery, "fit", fail)
    result = run("discover", table)
    assert result.exit_code == code
    assert result.stderr.splitlines()[-1].startswith(message.strip())
    assert (folder / "graph.json").read_text() == "old"
    assert names_in(folder) == ["graph.json", table]


def test_debug_shows_the_traceback_and_the_same_exit_code(folder):
    result = run("discover", "nope.csv", "--debug")
    assert result.exit_code == 2
    assert "Traceback (most recent call last)" in result.stderr
    assert result.stderr.splitlines()[-1].startswith("Error: There is no file 'nope.csv'")
    assert names_in(folder) == []


def test_an_order_of_many_columns_is_printed_in_part_and_written_in_full(folder, monkeypatch):
    monkeypatch.setattr(_tables, "SHOWN_NAMES", 3)
    names = list("abcde")
    rows = "\n".join(",".join(str((7 * i + 3 * i * j + j**2) % 11) for j in range(5)) for i in range(30))
    (folder / "many.csv").write_text(",".join(names) + "\n" + rows + "\n")
    result = run("prune", "many.csv", "--order-of", ",".join(names), "--penalty", "5")
    assert result.exit_code == 0, result.stderr
    assert "Order: a, b, c and 2 more, in graph.json\n" in result.stdout
    assert json.loads((folder / "graph.json").read_text())["order"] == names


# Files that a run reads are not replaced by its results


@pytest.mark.parametrize(
    ("arguments", "file", "content"),
    [
        (["discover", "--knowledge", "out/graph.json"], "graph.json", "{}"),
        (["discover", "--knowledge", "out/known.json", "--report", "out/known.json"], "known.json", "{}"),
        (["discover", "--knowledge", f"out/{CHECKPOINT}", "--stability", "1"], CHECKPOINT, "{}"),
        (["prune", "--order-file", "out/edges.csv"], "edges.csv", "rain\nriver\n"),
        (["prune", "--order-file", "out/graph.json"], "graph.json", '{"order": ["rain", "river"]}'),
    ],
)
def test_no_file_that_a_run_reads_is_replaced(table, folder, arguments, file, content):
    (folder / "out").mkdir()
    (folder / "out" / file).write_text(content)
    result = run(*arguments, table, "--out", "out")
    assert result.exit_code == 2
    assert f"'out/{file}' is the input file; name another file or folder for the result." in result.stderr
    assert (folder / "out" / file).read_text() == content
    assert names_in(folder / "out") == [file]


def test_a_report_replaces_no_file_of_a_folder_that_is_read(folder):
    pytest.importorskip("pyarrow")
    (folder / "rows").mkdir()
    pd.DataFrame({"a": range(20), "b": range(20)}).to_parquet(folder / "rows" / "one.parquet")
    before = (folder / "rows" / "one.parquet").read_bytes()
    result = run("discover", "rows", "--report", "rows/one.parquet")
    assert result.exit_code == 2
    assert "'rows/one.parquet' is the input file" in result.stderr
    assert (folder / "rows" / "one.parquet").read_bytes() == before


def test_edges_whose_names_begin_like_formulas_are_written_escaped_and_read_back(table, folder):
    pd.read_csv(table).rename(columns={"rain": "=rain", "river": "@river", "flood": "-flood"}).to_csv(
        "odd.csv", index=False
    )
    assert run("discover", "odd.csv").exit_code == 0
    written = pd.read_csv(folder / "edges.csv")
    assert set(written["source"]) | set(written["target"]) == {"'=rain", "'@river", "'-flood"}
    assert Dag.read(folder / "edges.csv") == Dag.read(folder / "graph.json")


def test_a_run_for_which_there_is_too_little_memory_starts_only_if_told(table, folder, monkeypatch):
    monkeypatch.setattr(estimate, "_memory_size", lambda: 1000.0)
    result = run("discover", table)
    assert result.exit_code == 2
    assert re.search(
        r"Error: .* of memory is needed, but this machine has 1 kB\. The run would take about .*add --yes to start",
        result.stderr,
    )
    assert names_in(folder) == [table]
    assert run("discover", table, "--yes").exit_code == 0


@pytest.mark.parametrize("effort", ["fast", "auto", "thorough"])
def test_one_knob_says_how_much_to_search(table, folder, effort):
    result = run("discover", table, "--effort", effort)
    assert result.exit_code == 0, result.stderr
    assert json.loads((folder / "graph.json").read_text(encoding="utf-8"))["run"]["order"]["effort"] == effort

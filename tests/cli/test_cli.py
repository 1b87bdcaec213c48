from __future__ import annotations

import json
import logging
import signal
import subprocess
import sys
import warnings

import numpy as np
import pandas as pd
import pytest
from threadpoolctl import threadpool_limits
from typer.testing import CliRunner

from sartre import CausalDiscovery, Dag, __version__, cli
from sartre.cli import app
from sartre.prune import SARTRE

RUN = [sys.executable, "-c", "from sartre.cli import main; main()"]


@pytest.fixture(autouse=True)
def folder(tmp_path, monkeypatch):
    """Work in an empty folder, on a wide terminal, without progress lines, on one core (as other tests run too)."""
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("COLUMNS", "200")
    monkeypatch.setattr(cli, "_SECONDS_BETWEEN_LINES", np.inf)
    monkeypatch.setenv("OPENBLAS_NUM_THREADS", "1")  # of the processes that a test starts
    with threadpool_limits(1):
        yield tmp_path


@pytest.fixture
def table(folder):
    """Write a chain, rain -> river -> flood, and return the file's name."""
    rng = np.random.default_rng(0)
    rain = rng.normal(size=200)
    river = np.sin(2 * rain) + rng.normal(size=200) / 2
    flood = river**2 / 2 + rng.normal(size=200) / 2
    pd.DataFrame({"flood": flood, "rain": rain, "river": 1000 * river}).to_csv(folder / "water.csv", index=False)
    return "water.csv"


def run(*arguments: str):
    """Run the command line in this process; an unexpected exception fails the test that called."""
    result = CliRunner().invoke(app, list(arguments))
    if result.exception is not None and not isinstance(result.exception, SystemExit):
        raise result.exception
    return result


def names_in(folder) -> list[str]:
    return sorted(entry.name for entry in folder.iterdir())


def edges_in(text: str) -> list[list[str]]:
    """Return the cells of the printed table of edges."""
    lines = [[cell.strip() for cell in line.strip("│").split("│")] for line in text.splitlines() if line[:1] == "│"]
    return [cells for cells in lines if len(cells) == 4]


# What a run prints and writes


def test_a_report_is_written_beside_the_graph_in_the_units_of_the_file(table, folder):
    result = run("discover", table, "--report", "report.html", "--level", "0.01")
    assert result.exit_code == 0, result.stderr
    assert "Wrote graph.json and report.html" in result.stdout
    page = (folder / "report.html").read_text(encoding="utf-8")
    data = json.loads(page.split('id="data">')[1].split("</script>")[0])
    assert data["names"] == ["flood", "rain", "river"]
    river = next(edge for edge in data["edges"] if edge["source"] == 2)
    assert river["shape"]["high"] > 1000
    assert len(data["columns"]["2"]) == 200
    result = run("discover", table, "--report", "report.html", "--no-data")
    assert result.exit_code == 0
    assert "holds no sample" in (folder / "report.html").read_text(encoding="utf-8")


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["--no-data"], "--no-data says what goes into a report; add --report FILE."),
        (["--report", "nowhere/report.html"], "There is no folder 'nowhere'"),
        (["--report", "graph.json"], "cannot both go to 'graph.json'"),
        (["--report", "water.csv"], "'water.csv' is the data itself"),
    ],
)
def test_a_report_that_cannot_be_written_is_told_before_the_work(table, folder, arguments, message):
    result = run("discover", table, *arguments)
    assert result.exit_code == 2
    assert message in result.stderr
    assert names_in(folder) == ["water.csv"]


def test_discover_prints_the_edges_and_writes_the_graph(table, folder):
    result = run("discover", table)
    assert result.exit_code == 0
    assert result.stderr == ""
    document = json.loads((folder / "graph.json").read_text())
    graph = Dag.from_dict(document)
    assert graph.names == ["flood", "rain", "river"]
    assert graph == Dag.from_edges([("rain", "river"), ("river", "flood")])
    assert document["direction"] == "source -> target"
    assert document["order"] == ["rain", "river", "flood"]
    assert document["run"] == {
        "version": __version__,
        "source": table,
        "standardized": True,
        "seed": 0,
        "order": {"method": "SCORE"} | document["run"]["order"],
        "prune": {"method": "SARTRE", "penalty": "auto", "random_state": 0} | document["run"]["prune"],
    }
    printed = edges_in(result.stdout)
    assert [(source, target) for source, target, _, _ in printed] == [
        (edge["source"], edge["target"]) for edge in document["edges"]
    ]
    for (_, _, strength, p_value), edge in zip(printed, document["edges"], strict=True):
        assert float(strength) == pytest.approx(edge["strength"], abs=6e-4)
        assert float(p_value) == pytest.approx(edge["p_value"], rel=0.06)
    assert document["interactions"] == []
    strengths = [edge["strength"] for edge in document["edges"]]
    assert strengths == sorted(strengths, reverse=True)
    assert "water.csv: 200 rows, 3 columns, standardised; 2 edges in " in result.stdout
    assert "Order: rain, river, flood\n" in result.stdout
    assert result.stdout.endswith("Wrote graph.json\n")


def test_the_command_line_is_the_library_on_standardised_columns(table, folder):
    assert run("discover", table, "--penalty", "0.05", "--seed", "3", "--jobs", "2", "--out", "g.json").exit_code == 0
    document = json.loads((folder / "g.json").read_text())
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
    assert names_in(folder) == ["g.json", "water.csv"]


def test_the_same_seed_writes_the_same_file(table, folder):
    texts = []
    for jobs in ("1", "1", "2"):
        assert run("discover", table, "--jobs", jobs).exit_code == 0
        texts.append((folder / "graph.json").read_text().replace('"n_jobs": 2', '"n_jobs": 1'))
    assert texts[0] == texts[1] == texts[2]


def test_sachs_is_compared_with_its_known_graph(folder):
    result = run("discover", "sachs")
    assert result.exit_code == 0
    assert "sachs: 853 rows, 11 columns, standardised; " in result.stdout
    assert "against the 17 known edges" in result.stdout
    rows = {line.split("│")[1].strip(): line.split("│")[2:6] for line in result.stdout.splitlines() if "│" in line}
    assert [cell.strip() for cell in rows["graph without edges"]] == ["17", "53", "-", "0.00"]
    shd, sid, precision, recall = (float(cell) for cell in rows["learnt graph"])
    assert 0 < shd <= 55
    assert 0 < sid <= 110
    document = json.loads((folder / "graph.json").read_text())
    kept = len(document["edges"])
    assert precision * kept == pytest.approx(recall * 17, abs=0.3)  # both are the number of edges found


def test_a_file_wins_over_a_data_set_of_the_same_name_and_a_folder_does_not(table, folder):
    (folder / "sachs").mkdir()
    frame, truth = cli._load("sachs")
    assert frame.shape == (853, 11)
    assert truth is not None
    (folder / "sachs").rmdir()
    (folder / table).rename(folder / "sachs")
    frame, truth = cli._load("sachs")
    assert frame.shape == (200, 3)
    assert truth is None


def test_a_graph_without_edges_says_what_to_change(table, folder):
    result = run("discover", table, "--penalty", "100")
    assert result.exit_code == 0
    assert "0 edges in" in result.stdout
    assert "No edge is worth its price; raise --level (or lower --penalty) to keep more." in result.stdout
    assert json.loads((folder / "graph.json").read_text())["edges"] == []


def test_only_the_strongest_edges_of_a_large_graph_are_printed(table, folder, monkeypatch):
    monkeypatch.setattr(cli, "_SHOWN_EDGES", 1)
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
    first, second = result.stderr.splitlines()
    assert first == "Warning: Constant columns can be neither cause nor effect: flat."
    assert second.startswith("Warning: Duplicated columns: copy = rain. ")
    assert (folder / "graph.json").exists()


@pytest.mark.parametrize(
    ("content", "message"),
    [
        (None, "Error: There is no file 'bad.csv', nor a data set of that name (there is sachs); check its name"),
        ("", "Error: 'bad.csv' is empty; "),
        ("<html>\n", "Error: 'bad.csv' looks like HTML, XML or JSON, not a table; "),
        (",a,b\n" + "0,1,2\n" * 20, "Error: The first column of 'bad.csv' has no name and looks like a row index; "),
        ("a,b\n" + "1,2\n" * 5 + "1,2,3\n", "Error: Line 7 of 'bad.csv' has 3 values where the first line has 2; "),
        ("a,b\n" + "1,2\n" * 5 + "1,?\n", "Error: Column 'b' holds '?' in row 5 (the first row is 0). A number"),
        ("a,b\n" + "1,2\n" * 5 + "1,\n", "Error: Missing values (NaN) by column: 'b' 1; the first is in row 5 "),
        ("a,b\n1,2\n3,5\n7,6\n", "Error: At least 10 rows are needed. Got 3. "),
    ],
)
def test_bad_data_ends_in_one_sentence_and_nothing_is_written(folder, content, message):
    if content is not None:
        (folder / "bad.csv").write_text(content)
    result = run("discover", "bad.csv")
    assert result.exit_code == 2
    assert result.stdout == ""
    assert result.stderr.startswith(message)
    assert result.stderr.count("\n") == 1
    assert names_in(folder) == ([] if content is None else ["bad.csv"])


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["--out", "nope/graph.json"], "Error: There is no folder 'nope' to write 'graph.json' in; make it first."),
        (["--out", "."], "Error: '.' is a folder; name a file to write."),
        (["--out", "water.csv"], "Error: 'water.csv' is the data itself; name another file to write."),
        (["--penalty", "-1"], "Error: The 'penalty' parameter of SARTRE must be a float in the range (0.0, inf). Got"),
        (["--penalty", "nan"], "Error: The 'penalty' parameter of SARTRE must be"),
        (["--seed", "-1"], "Error: "),
    ],
)
def test_a_bad_setting_ends_in_one_sentence_and_nothing_is_written(table, folder, arguments, message):
    before = (folder / table).read_bytes()
    result = run("discover", table, *arguments)
    assert result.exit_code == 2
    assert result.stdout == ""
    assert result.stderr.startswith(message)
    assert result.stderr.count("\n") == 1
    assert names_in(folder) == [table]
    assert (folder / table).read_bytes() == before


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["discover"], "Missing argument 'SOURCE'"),
        (["discover", "sachs", "--penalty", "much"], "--penalty"),
        (["discover", "sachs", "--nope"], "No such option"),
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
        (KeyError("x"), 2, "Error: Unexpected KeyError: 'x'; run again with --debug to see where.\n"),
        (PermissionError(13, "Permission denied", "data.csv"), 2, "Error: Permission denied: 'data.csv'.\n"),
    ],
)
def test_a_run_that_fails_keeps_the_old_graph(table, folder, monkeypatch, failure, code, message):
    def fail(*_):
        raise failure

    (folder / "graph.json").write_text("old")
    monkeypatch.setattr(CausalDiscovery, "fit", fail)
    result = run("discover", table)
    assert result.exit_code == code
    assert result.stderr == message
    assert (folder / "graph.json").read_text() == "old"
    assert names_in(folder) == ["graph.json", table]


def test_debug_shows_the_traceback(folder):
    result = CliRunner().invoke(app, ["discover", "nope.csv", "--debug"])
    assert isinstance(result.exception, FileNotFoundError)
    assert names_in(folder) == []


# Progress


@pytest.fixture
def chatty(monkeypatch):
    """Let the library say how far it is, and warn, in the middle of a run."""
    fit = CausalDiscovery.fit

    def talk(self, X):
        logging.getLogger("sartre.order.score").info("order: %d of %d [b]leaves[/b]", 1, 3)
        warnings.warn("odd\ndata", UserWarning, stacklevel=1)
        return fit(self, X)

    monkeypatch.setattr(CausalDiscovery, "fit", talk)


def test_without_a_terminal_progress_is_a_plain_line_now_and_then(table, chatty, monkeypatch):  # noqa: ARG001
    assert run("discover", table).stderr == "Warning: odd data\n"
    monkeypatch.setattr(cli, "_SECONDS_BETWEEN_LINES", 0)
    lines = run("discover", table).stderr.splitlines()
    assert lines[:2] == ["order: 1 of 3 [b]leaves[/b]", "Warning: odd data"]


def test_on_a_terminal_progress_is_a_spinner_that_leaves_nothing_behind(table, chatty, monkeypatch):  # noqa: ARG001
    monkeypatch.setattr(cli, "err", cli.Console(stderr=True, force_terminal=True, markup=False, highlight=False))
    result = run("discover", table)
    assert result.exit_code == 0
    assert "order: 1 of 3 [b]leaves[/b]" in result.stderr
    assert "Warning: odd data\n" in result.stderr
    assert result.stderr.rstrip().endswith("\x1b[2K")  # the line is cleared
    assert "\x1b" not in result.stdout


def test_a_run_leaves_the_logger_as_it_was(table, caplog):
    caplog.set_level(logging.ERROR, "sartre")
    logger = logging.getLogger("sartre")
    handlers = list(logger.handlers)
    assert run("discover", table).exit_code == 0
    assert (logger.level, logger.handlers) == (logging.ERROR, handlers)


# Help, version, real processes


def test_help_says_what_it_does_and_gives_an_example():
    result = run("--help")
    assert result.exit_code == 0
    assert "Learn a causal graph from a table of observations." in result.stdout
    assert "sartre discover sachs" in result.stdout
    options = run("discover", "--help").stdout
    assert all(f"--{name}" in options for name in ("out", "seed", "level", "penalty", "jobs", "debug"))
    assert "Example: sartre discover " in options
    assert run("--version").stdout == f"sartre {__version__}\n"


def test_help_does_not_wait_for_the_heavy_libraries():
    code = "import sys, sartre.cli; print({'pandas', 'numba', 'sklearn', 'scipy'} & set(sys.modules))"
    result = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)  # noqa: S603
    assert result.stdout == "set()\n"


def test_the_command_works_as_a_process_of_its_own(table, folder):
    result = subprocess.run([*RUN, "discover", table], capture_output=True, text=True, check=False)  # noqa: S603
    assert result.returncode == 0
    assert all(line.startswith(("order: ", "prune: ")) for line in result.stderr.splitlines())  # on a slow machine
    assert [cells[:2] for cells in edges_in(result.stdout)] == [["rain", "river"], ["river", "flood"]]
    assert len(Dag.from_dict(json.loads((folder / "graph.json").read_text()))) == 3
    assert names_in(folder) == ["graph.json", table]


def test_ctrl_c_stops_a_process_with_130_and_writes_nothing(folder):
    pd.DataFrame(np.random.default_rng(0).normal(size=(1500, 20))).add_prefix("v").to_csv("big.csv", index=False)
    code = "from sartre import cli; cli._SECONDS_BETWEEN_LINES = 0; cli.main()"
    command = [sys.executable, "-c", code, "discover", "big.csv"]
    with subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True) as process:  # noqa: S603
        assert process.stderr is not None
        assert process.stderr.readline().startswith("order: 1 of 20")  # it is in the middle of its work
        process.send_signal(signal.SIGINT)
        printed, complaint = process.communicate(timeout=60)
    assert process.returncode == 130
    assert printed == ""
    assert complaint.splitlines()[-1] == "Stopped."
    assert "Traceback" not in complaint
    assert names_in(folder) == ["big.csv"]

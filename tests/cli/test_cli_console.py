from __future__ import annotations

import importlib
import json
import logging
import os
import signal
import subprocess
import sys
import time
import warnings
from pathlib import Path

import numpy as np
import pandas as pd
import pytest
import typer
from command_line import RUN, edges_in, names_in, run
from rich.console import Console

from sartre import CausalDiscovery, Dag, __version__
from sartre.cli import _console
from sartre.compute import progress
from sartre.compute.progress import Bar, Clock, ProgressHandler

# Progress


@pytest.fixture
def chatty(monkeypatch):
    """Make the library report progress and warn in the middle of a run."""
    fit = CausalDiscovery.fit

    def talk(self, X):
        logging.getLogger("sartre.order.score").info("order: %d of %d [b]leaves[/b]", 1, 3)
        time.sleep(0.1)
        warnings.warn("odd\ndata", UserWarning, stacklevel=1)
        return fit(self, X)

    monkeypatch.setattr(CausalDiscovery, "fit", talk)


def test_without_a_terminal_progress_is_a_plain_line_now_and_then(table, chatty, monkeypatch):  # noqa: ARG001
    assert run("discover", table).stderr == "Reading water.csv\nWarning: odd data\n"
    monkeypatch.setattr(progress, "SECONDS_BETWEEN_LINES", 0.01)
    lines = run("discover", table).stderr.splitlines()
    assert lines[0] == "Reading water.csv"
    assert "order: 1 of 3 [b]leaves[/b] (0 s)" in lines
    assert "Warning: odd data" in lines


def test_on_a_terminal_progress_is_a_bar_that_leaves_nothing_behind(table, chatty, monkeypatch):  # noqa: ARG001
    console = Console(stderr=True, force_terminal=True, markup=False, highlight=False, width=120)
    monkeypatch.setattr(_console, "err", console)
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
    assert all(f"--{name}" in options for name in ("out", "seed", "level", "penalty", "jobs", "json", "debug"))
    assert "Example: sartre discover " in options
    for command in ("discover", "prune", "evaluate", "simulate", "methods"):
        text = " ".join(run(command, "--help").stdout.split())
        assert "Exit codes: 0 success, 1 unexpected failure, 2 bad input or settings, 130 interrupted." in text
    assert run("--version").stdout == f"sartre {__version__}\n"


def test_help_does_not_wait_for_the_heavy_libraries():
    code = "import sys, sartre.cli; print({'numpy', 'pandas', 'numba', 'sklearn', 'scipy'} & set(sys.modules))"
    result = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)  # noqa: S603
    assert result.stdout == "set()\n"


def test_the_command_works_as_a_process_of_its_own(table, folder):
    result = subprocess.run([*RUN, "discover", table], capture_output=True, text=True, check=False)  # noqa: S603
    assert result.returncode == 0
    assert result.stderr.startswith("Reading water.csv\n")
    assert [cells[:3] for cells in edges_in(result.stdout)] == [["rain", "->", "river"], ["river", "->", "flood"]]
    assert names_in(folder) == ["water-sartre", table]
    assert names_in(folder / "water-sartre") == ["edges.csv", "graph.json", "knowledge-template.toml", "model.sartre"]
    assert len(Dag.from_dict(json.loads((folder / "water-sartre" / "graph.json").read_text()))) == 3


def test_ctrl_c_stops_a_process_with_130_and_writes_nothing(folder):
    pd.DataFrame(np.random.default_rng(0).normal(size=(1500, 20))).add_prefix("v").to_csv("big.csv", index=False)
    code = (
        "from sartre.cli import main\nfrom sartre.compute import progress\n"
        "progress.SECONDS_BETWEEN_LINES = 0.05\nmain()"
    )
    command = [sys.executable, "-c", code, "discover", "big.csv", "--out", "new"]
    with subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True) as process:  # noqa: S603
        assert process.stderr is not None
        assert any(line.startswith("order: ") for line in process.stderr)  # it is in the middle of its work
        process.send_signal(signal.SIGINT)
        printed, complaint = process.communicate(timeout=60)
    assert process.returncode == 130
    assert printed == ""
    assert complaint.splitlines()[-1] == "Stopped."
    assert "Traceback" not in complaint
    assert names_in(folder) == ["big.csv"]


@pytest.mark.skipif(not Path("/dev/full").exists(), reason="no /dev/full here")
@pytest.mark.parametrize("arguments", [["methods"], ["methods", "--json"]])
def test_standard_output_on_a_full_disk_is_one_sentence(arguments):
    with Path("/dev/full").open("w") as full:
        result = subprocess.run([*RUN, *arguments], stdout=full, stderr=subprocess.PIPE, text=True, check=False)  # noqa: S603
    assert result.returncode == 2
    assert result.stderr.splitlines()[-1] == (
        "Error: No space left on device: standard output; free some space, or choose another disk."
    )


@pytest.mark.skipif(sys.platform == "win32", reason="a POSIX shell")
@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ("methods >&-", "Standard output is closed; redirect it to a file, or to /dev/null to discard it."),
        ("--version >&-", "Standard output is closed; redirect it to a file, or to /dev/null to discard it."),
        ("discover - <&-", "Standard input is closed, so '-' cannot be read; pipe a table into it, or name a file."),
    ],
)
def test_a_closed_stream_is_one_sentence(folder, arguments, message):
    command = ["sh", "-c", f'"$@" {arguments}', "sh", *RUN]
    result = subprocess.run(command, capture_output=True, text=True, check=False)  # noqa: S603
    assert result.returncode == 2
    assert result.stderr.splitlines()[-1] == f"Error: {message}"
    assert names_in(folder) == []


@pytest.mark.parametrize("arguments", [["methods"], ["methods", "--json"]])
def test_a_reader_that_ends_first_is_one_sentence(arguments):
    reader, writer = os.pipe()
    os.close(reader)
    result = subprocess.run([*RUN, *arguments], stdout=writer, stderr=subprocess.PIPE, text=True, check=False)  # noqa: S603
    os.close(writer)
    assert result.returncode == 2
    assert result.stderr.splitlines()[-1] == (
        "Error: Broken pipe: standard output; its reader must not end first, or redirect it to a file."
    )


def test_a_damaged_cache_of_compiled_code_is_named(tmp_path, monkeypatch, capsys):
    (tmp_path / "twice.py").write_text("from numba import njit\n@njit(cache=True)\ndef twice(x): return 2 * x\n")
    monkeypatch.syspath_prepend(tmp_path)
    twice = importlib.import_module("twice").twice
    assert twice(3) == 6
    cache = Path(twice.stats.cache_path)
    for file in cache.glob("twice*.nbi"):
        file.write_bytes(file.read_bytes()[:-20])
    del sys.modules["twice"]
    with pytest.raises(typer.Exit) as caught, _console.guarded(debug=False):
        importlib.import_module("twice").twice(3)
    del sys.modules["twice"]
    assert caught.value.exit_code == 2
    assert capsys.readouterr().err == (
        f"Error: The compiled code in '{cache}' is damaged; delete that folder, and it is compiled again.\n"
    )


def test_a_pipe_brings_the_table(table, folder):
    command = [*RUN, "discover", "-", "--json", "--order", "R2Sort"]
    with (folder / table).open("rb") as file:
        result = subprocess.run(command, stdin=file, capture_output=True, check=False)  # noqa: S603
    assert result.returncode == 0, result.stderr
    assert json.loads(result.stdout)["run"]["source"] == "-"


def test_a_stability_selection_shows_only_its_own_messages():
    shown = []

    class View:
        show = shown.append

    handler = ProgressHandler(View())
    for name, text in [
        ("order.score", "a"),
        ("evidence.stability", "b"),
        ("order.score", "c"),
        ("evidence.stability", "d"),
    ]:
        handler.emit(logging.LogRecord(f"sartre.{name}", logging.INFO, "", 0, text, (), None))
    handler.begin("e")
    handler.emit(logging.LogRecord("sartre.report", logging.INFO, "", 0, "f", (), None))
    assert shown == ["a", "b", "d", "e", "f"]


def test_a_bar_follows_the_counts_of_the_messages_and_restarts_for_every_stage():
    bar = Bar(Console(stderr=True))
    for text, expected in [("Reading a.csv", (0, None)), ("order: 3 of 20 leaves", (3, 20)), ("prune: 1 of 9", (1, 9))]:
        bar.show(text)
        (task,) = bar._bar.tasks
        assert (task.description, (task.completed, task.total)) == (text, expected)


def test_while_loops_are_compiled_only_that_is_told(capsys, monkeypatch):
    monkeypatch.setattr(progress, "SECONDS_BETWEEN_LINES", 0.02)
    compiler, pruner = logging.getLogger("sartre.compute.compiling"), logging.getLogger("sartre.prune")
    with _console.progress("Reading a.csv"):
        compiler.info("Compiling for this machine, once (about 20 s)")
        pruner.info("prune: %d of %d targets fitted", 1, 11)
        time.sleep(0.2)
        compiler.info("")
        time.sleep(0.2)
    first, *lines = capsys.readouterr().err.splitlines()
    assert first == "Reading a.csv"
    assert lines[0] == "Compiling for this machine, once (about 20 s) (0 s)"
    kinds = [line.partition(" ")[0] for line in lines]
    assert {"Compiling", "prune:"} == set(kinds)
    assert kinds == sorted(kinds)  # first the compiler, then the pruner
    bar = Bar(Console(stderr=True))
    bar.show("prune: 1 of 11 targets fitted")
    bar.compile("Compiling")
    assert (bar._bar.tasks[0].description, bar._bar.tasks[0].total) == ("Compiling", None)
    bar.compile("")
    assert (bar._bar.tasks[0].description, bar._bar.tasks[0].total) == ("prune: 1 of 11 targets fitted", 11)


def test_times_say_which_has_passed_and_which_is_left(monkeypatch):
    now = [100.0]
    monkeypatch.setattr(time, "monotonic", lambda: now[0])
    clock = Clock()
    clock.show("Reading a.csv")
    now[0] += 29
    assert clock.times(" elapsed") == "29 s elapsed"  # nothing is known of the rest
    clock.show("prune: 1 of 11 targets fitted")
    now[0] += 10
    assert clock.times() == "39 s"
    clock.show("prune: 3 of 11 targets fitted")
    assert clock.times(" elapsed") == "39 s elapsed, this step ends in 40 s"
    clock.compile("Compiling")
    now[0] += 60
    assert clock.times() == "1 min 39 s"
    clock.compile("")
    assert clock.times() == "1 min 39 s, this step ends in 40 s"  # compilation says nothing about the speed
    clock.show("directions: 0 of 4 edges weighed")
    assert clock.times() == "1 min 39 s"


@pytest.mark.skipif(not Path("/proc/self/mem").exists(), reason="no file here that opens and cannot be read")
@pytest.mark.parametrize(
    "arguments",
    [
        ["discover", "link.csv"],
        ["discover", "water.csv", "--knowledge", "link.json"],
        ["prune", "water.csv", "--order-file", "link.txt"],
        ["convert", "link.dot", "new.json"],
    ],
)
def test_a_read_error_is_blamed_on_the_file(table, folder, arguments):  # noqa: ARG001
    file = next(argument for argument in arguments if argument.startswith("link"))
    (folder / file).symlink_to("/proc/self/mem")
    result = run(*arguments)
    assert result.exit_code == 2
    assert result.stderr.splitlines()[-1] == f"Error: Input/output error: '{file}'; check its name and folder."


# Control characters


def test_control_characters_in_names_are_shown_escaped(folder):
    pytest.importorskip("pyarrow")
    rng = np.random.default_rng(0)
    rain = rng.normal(size=200)
    names = ["\x1b[31mrain\x07\u202e", "ri\x9bver\nOrder: none"]
    frame = pd.DataFrame({names[0]: rain, names[1]: np.sin(2 * rain) + rng.normal(size=200) / 2, "flat\x1b[2J": 1.0})
    frame.to_parquet(folder / "names.parquet")
    result = run("discover", "names.parquet")
    assert result.exit_code == 0, result.stderr
    assert not any(sign in result.stdout + result.stderr for sign in ("\x1b", "\x07", "\x9b", "\u202e"))
    assert "\\x1b[31mrain\\x07\\u202e" in result.stdout
    assert "Constant columns can be neither causes nor effects: flat\\x1b[2J." in result.stderr
    assert sum(line.startswith("Order: ") for line in result.stdout.splitlines()) == 1
    assert Dag.read(folder / "graph.json").names == list(frame.columns)


def test_control_characters_in_errors_and_progress_are_shown_escaped(folder):
    nodes = ["a\x1b[2J", "b"]
    document = Dag.from_edges([], nodes).to_dict() | {"edges": [{"source": "a\x1b[2J", "target": "c"}]}
    (folder / "graph.json").write_text(json.dumps(document))
    result = run("convert", "graph.json", "graph.dot", "--debug")
    assert result.exit_code == 2
    assert "The edge a\\x1b[2J -> c names 'c'" in result.stderr
    assert "\x1b" not in result.stderr
    bar = Bar(Console(stderr=True))
    bar.show("Reading \x1b[2J.csv")
    assert bar._bar.tasks[0].description == "Reading \\x1b[2J.csv"

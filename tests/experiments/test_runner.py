from __future__ import annotations

import csv
import json
import re
import signal
import subprocess
import sys
import threading
import time
from pathlib import Path

import numpy as np
import pytest

from experiments import methods, page, peers, runner
from experiments.study import FAMILIES, SETTINGS, Cell, Data, Study
from sartre.metrics import shd, sid

ROOT = Path(__file__).parents[2]
FULL = False
FAST = (methods.SCORES, methods.paper()), ("", methods.EMPTY)


def a_study(*families: str, name: str = "little") -> Study:
    def cells(_: bool) -> list[Cell]:
        return [Cell(Data(family, 10, 60), *method) for family in families for method in FAST]

    return Study(name, "", "", cells, axis="nodes", measures=("shd",))


def rows_of(file: Path) -> list[dict[str, str]]:
    with file.open(encoding="utf-8", newline="") as lines:
        return list(csv.DictReader(lines))


def without_times(file: Path) -> list[dict[str, str]]:
    return [{name: value for name, value in row.items() if "seconds" not in name} for row in rows_of(file)]


def test_a_row_says_what_the_metrics_say(tmp_path):
    file = runner.run(a_study("ER1"), tmp_path, trials=2, jobs=1, quick=False)
    rows = rows_of(file)
    assert [(row["prune"], row["trial"]) for row in rows] == [
        *((methods.paper(), str(k)) for k in range(2)),
        *((methods.EMPTY, str(k)) for k in range(2)),
    ]
    X, dag = Data("ER1", 10, 60).draw(1)
    order, _ = methods.learn_order(methods.SCORES, X, dag, 8001)
    adjacency, _ = methods.learn_edges(methods.paper(), X, order, 8001)
    assert int(rows[1]["shd"]) == shd(dag, adjacency)
    assert int(rows[1]["sid"]) == sid(dag, adjacency)
    assert int(rows[1]["sid_swapped"]) == sid(adjacency, dag)
    assert int(rows[3]["shd"]) == dag.n_edges


def test_a_deleted_file_is_created_again_with_the_same_numbers(tmp_path):
    study = a_study("ER1", "SF1")
    file = runner.run(study, tmp_path / "a", trials=2, jobs=1, quick=False)
    again = runner.run(study, tmp_path / "b", trials=2, jobs=2, quick=False)
    assert without_times(file) == without_times(again)
    before = file.read_bytes()
    file.unlink()
    assert without_times(runner.run(study, tmp_path / "a", trials=2, jobs=1, quick=False)) == without_times(again)
    file.write_bytes(before)
    assert runner.run(study, tmp_path / "a", trials=2, jobs=1, quick=False).read_bytes() == before


def test_more_trials_leave_those_that_are_there_as_they_are(tmp_path):
    study = a_study("ER1")
    first = rows_of(runner.run(study, tmp_path, trials=1, jobs=1, quick=False))
    more = rows_of(runner.run(study, tmp_path, trials=3, jobs=1, quick=False))
    assert [row for row in more if row["trial"] == "0"] == first
    assert len(more) == 3 * len(first)
    assert rows_of(runner.run(study, tmp_path, trials=1, jobs=1, quick=False)) == more


def test_rows_of_a_killed_run_are_not_computed_again(tmp_path):
    study = a_study("ER1")
    results = runner.Results(tmp_path, study.name)
    marked = {**next(iter(study.cells(FULL))).settings(), "trial": "0", **dict.fromkeys(runner.MEASURES, "7")}
    results.add(marked)
    todo = runner.missing(study, runner.Results(tmp_path, study.name), 1, quick=False)
    assert [cell.prune for _, _, cells in todo for cell in cells] == [methods.EMPTY]
    rows = rows_of(runner.run(study, tmp_path, trials=1, jobs=1, quick=False))
    assert rows[0] == marked
    assert [path.name for path in tmp_path.iterdir() if path.name == ".little"] == []


def test_a_method_that_was_killed_has_no_row_and_runs_again_but_one_that_failed_has(tmp_path, monkeypatch):
    def ends(error):
        def learn(name, X, order, seed):
            if name == methods.paper():
                raise error
            return methods.learn_edges(name, X, order, seed)

        monkeypatch.setattr(runner, "learn_edges", learn)
        return [row["shd"] for row in rows_of(runner.run(study, tmp_path, trials=1, jobs=1, quick=False))]

    study = a_study("ER1")
    _, dag = Data("ER1", 10, 60).draw(0)
    assert ends(peers.KilledError("killed by signal 9")) == [str(dag.n_edges)]
    assert ends(methods.PeerFailedError("too slow")) == ["", str(dag.n_edges)]
    assert runner.missing(study, runner.Results(tmp_path, study.name), 1, quick=False) == []


@pytest.mark.skipif(sys.platform == "win32", reason="locks")
def test_two_runs_of_a_study_at_once_lose_no_row_and_compute_none_twice(tmp_path, monkeypatch):
    study, computed = a_study("ER1", "SF1"), []
    second_has_a_row, first_is_over = threading.Event(), threading.Event()
    second = threading.Thread(target=lambda: runner.run(study, tmp_path, trials=1, jobs=1, quick=False))

    def run_data_set(results, _, trial, cells):
        if second.ident is None:  # the second run begins in the middle of the first
            second.start()
            second_has_a_row.wait(0.5)
        for cell in cells:
            computed.append(cell)
            results.add({**cell.settings(), "trial": str(trial), **dict.fromkeys(runner.MEASURES, "7")})
        if threading.current_thread() is second:
            second_has_a_row.set()
            first_is_over.wait(10)

    monkeypatch.setattr(runner, "_run_data_set", run_data_set)
    file = runner.run(study, tmp_path, trials=1, jobs=1, quick=False)
    first_is_over.set()
    second.join()
    assert len(rows_of(file)) == 4
    assert computed == study.cells(FULL)


def some_results(folder: Path, *, count: int = 2) -> tuple[Study, Path]:
    """Write the CSV file of a study whose cells all have results."""
    study = a_study("ER1")
    results = runner.Results(folder, study.name)
    for cell in study.cells(FULL):
        for trial in range(count):
            results.add({**cell.settings(), "trial": str(trial), **dict.fromkeys(runner.MEASURES, "0.125")})
    results.collect(study.cells(FULL))
    return study, results.file


def test_files_that_a_killed_run_left_do_not_stop_the_next(tmp_path):
    study, file = some_results(tmp_path)
    parts = tmp_path / f".{study.name}"
    parts.mkdir()
    (parts / ".0123.tmp").write_text('{"family": "ER')
    (parts / "0123.json").write_text("")  # the machine stopped before the content was on the disk
    before = file.read_bytes()
    assert runner.run(study, tmp_path, trials=2, jobs=1, quick=False).read_bytes() == before
    assert not (parts / ".0123.tmp").exists()


@pytest.mark.parametrize(
    ("old", "new", "message"),
    [
        (
            "0.125\n$",
            "0.1",
            r"The last line of '.*little\.csv' must be whole\. Got '.*0\.1' without a line end\. Restore",
        ),
        (",0.125\n$", "\n", r"Line 5 of '.*little\.csv' must have 22 values\. Got 21\. Restore the file, or delete"),
        ("0.125\n$", "0.125,1\n", r"Line 5 .* must have 22 values\. Got 23\. "),
        ("0.125\n$", "many\n", r"Line 5 .* must have a number for recall\. Got 'many'\. Restore the file"),
        ("0.125\n$", "\n", r"Line 5 .* must have a number for recall\. Got ''\. "),
        ("0.125\n$", "nan\n", r"Line 5 .* must have a number for recall\. Got 'nan'\. "),
        (
            "^family,nodes",
            "family",
            r"The first line .* must hold the 22 names from family to recall\. Got 'family,sam",
        ),
    ],
)
def test_a_damaged_file_is_refused_with_the_line_and_the_value(tmp_path, old, new, message):
    study, file = some_results(tmp_path)
    damaged, count = re.subn(old.replace("$", r"\Z"), new, file.read_text())
    assert count == 1
    file.write_text(damaged)
    with pytest.raises(ValueError, match=message):
        runner.run(study, tmp_path, trials=2, jobs=1, quick=False)
    with pytest.raises(ValueError, match=message):
        page.read(file)
    assert file.read_text() == damaged


@pytest.mark.parametrize("family", [*FAMILIES, "sachs", "sachs-full", "fmri"])
def test_the_same_trial_is_the_same_table_and_another_is_another(family):
    data = Data(family, 10, 80, columns="standardised")
    (X, dag), (again, _), (other, _) = data.draw(0), data.draw(0), data.draw(1)
    assert X.equals(again)
    assert not X.equals(other)
    assert list(X.columns) == dag.names
    assert np.allclose(X.std(ddof=0), 1)


def test_hidden_causes_leave_the_truth_and_the_names_as_they_are():
    plain, hidden = Data("ER1", 10, 500).draw(0), Data("ER1", 10, 500, hidden=4).draw(0)
    assert plain.dag == hidden.dag
    assert list(plain.X.columns) == list(hidden.X.columns)
    changed = [name for name in plain.X if not plain.X[name].equals(hidden.X[name])]
    assert changed


def test_discrete_columns_have_five_values():
    X, _ = Data("ER1", 10, 200, columns="discrete").draw(0)
    assert (X.nunique() == 5).all()
    assert X.isin(range(1, 6)).all(axis=None)


def test_every_setting_is_in_a_row():
    cell = Cell(Data("ER4", 20, 1000, noise="t3", hidden=2), "SCORE", "DAS")
    assert list(cell.settings()) == list(SETTINGS)
    assert cell.settings()["noise"] == "t3"
    assert cell.settings()["prune"] == "DAS"


@pytest.mark.skipif(sys.platform == "win32", reason="signals")
def test_the_command_continues_after_it_was_killed(tmp_path):
    (tmp_path / "experiments").symlink_to(ROOT / "experiments")
    folder = tmp_path / "results"
    script = (
        "import sys; sys.path.insert(0, sys.argv[1])\n"
        "from pathlib import Path\n"
        "from experiments import runner, figure_sensitivity\n"
        "runner.run(figure_sensitivity.STUDY, Path(sys.argv[2]), trials=2, jobs=1, quick=True)\n"
    )
    command = [sys.executable, "-c", script, str(ROOT), str(folder)]
    parts = folder / ".figure-sensitivity"
    process = subprocess.Popen(command)  # noqa: S603
    while process.poll() is None and len(list(parts.glob("*.json"))) < 3:
        time.sleep(0.01)
    process.send_signal(signal.SIGKILL)
    process.wait()
    done = {path: path.read_text(encoding="utf-8") for path in parts.glob("*.json")}
    assert done, "it was over before it could be killed"
    subprocess.run(command, check=True)  # noqa: S603
    rows = [json.dumps(row) for row in rows_of(folder / "figure-sensitivity.csv")]
    assert set(done.values()) <= set(rows)
    assert len(rows) == 2 * 4 * 5

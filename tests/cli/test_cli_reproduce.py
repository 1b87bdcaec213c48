from __future__ import annotations

import subprocess
from pathlib import Path

import pytest
from command_line import RUN, names_in, run

CLONE = Path(__file__).parents[2]


def test_outside_a_clone_one_sentence_says_where_the_experiments_are(folder):
    result = run("reproduce", "all", "--quick")
    assert result.exit_code == 2
    assert result.stderr == (
        "Error: The experiments are not part of the package. Clone the repository and run this command in its folder, "
        "which contains experiments/reproduce.py.\n"
    )
    assert names_in(folder) == []


def test_an_unknown_study_is_refused_by_name(monkeypatch):
    monkeypatch.chdir(CLONE)
    result = run("reproduce", "figure-9", "--quick")
    assert result.exit_code == 2
    assert "There is no study 'figure-9'; choose from figure-variables, table-baselines, " in result.stderr


@pytest.fixture
def clone(tmp_path):
    """Create a clone that contains only the experiments, without results."""
    (tmp_path / "experiments").mkdir()
    for path in (CLONE / "experiments").iterdir():
        if path.name not in ("results", "__pycache__"):
            (tmp_path / "experiments" / path.name).symlink_to(path)
    return tmp_path


def test_a_study_is_run_where_the_command_is_given_and_the_second_time_there_is_nothing_to_do(clone):
    command = [*RUN, "reproduce", "figure-sensitivity", "--quick", "--jobs", "1"]
    first, second = (
        subprocess.run(command, cwd=clone, capture_output=True, text=True, check=True)  # noqa: S603
        for _ in range(2)
    )
    assert first.stderr.startswith("4 data sets to do, about ")
    assert second.stderr.startswith("0 data sets to do, about 0 seconds")
    assert first.stdout == second.stdout
    assert first.stdout.splitlines() == [
        f"Wrote experiments/results/quick/{name}"
        for name in (*(f"figure-sensitivity.{kind}" for kind in ("csv", "png", "svg")), "reproduction.md")
    ]
    assert (clone / "experiments" / "results" / "quick" / "figure-sensitivity.csv").is_file()

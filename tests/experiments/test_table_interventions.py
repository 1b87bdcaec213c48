from __future__ import annotations

import csv
import json
import signal
import subprocess
import sys
import time
from pathlib import Path

import numpy as np
import pandas as pd
import pytest

from experiments import claims, methods, page, peers, reproduce, runner, table_interventions
from experiments.environments import EXPERIMENTS, SACHS, draw_experiment
from experiments.study import FIRST_SEED, Cell, Data
from experiments.table_interventions import KNOWN, NAMES, PUBLISHED, STUDY
from sartre import Dag
from sartre.datasets import load_sachs
from sartre.metrics import shd
from sartre.simulate import Experiment

ROOT = Path(__file__).parents[2]
QUICK, FULL = True, False


def rows_of(file: Path) -> list[dict[str, str]]:
    with file.open(encoding="utf-8", newline="") as lines:
        return list(csv.DictReader(lines))


@pytest.mark.parametrize("family", EXPERIMENTS)
def test_the_same_trial_is_the_same_experiment_and_another_is_another(family):
    data = Data(family, 6, 100)
    first, again, other = data.draw(0), data.draw(0), data.draw(1)
    assert isinstance(first, Experiment)
    assert isinstance(again, Experiment)
    assert first.X.equals(again.X)
    assert first.environment.equals(again.environment)
    assert first.interventions == again.interventions
    assert not first.X.equals(other.X)


def test_full_sizes_are_those_of_the_benchmark():
    half = draw_experiment("sdcd-80-half", 20, 10_000, 0)
    assert half.dag.n_edges == 80
    assert half.environment.value_counts().tolist() == [10_000] + [500] * 10
    small = draw_experiment("linear-ER1-set", 20, 1000, 0)
    assert small.dag.n_edges == 20
    assert small.environment.value_counts().tolist() == [1000] + [50] * 20
    for experiment, deviation in ((half, 0.1), (small, 1.0)):
        for name, (target,) in experiment.interventions.items():
            values = experiment.X.loc[experiment.environment == name, target]
            assert values.std() == pytest.approx(deviation, rel=0.4)
    assert {cell.data.samples for cell in STUDY.cells(FULL) if cell.data.family == SACHS} == {7466, 3733}


def test_all_rows_of_sachs_are_the_logarithms_in_another_order():
    whole, drawn = load_sachs("full"), draw_experiment(SACHS, 11, 7466, 0)
    np.testing.assert_allclose(np.sort(np.exp(drawn.X), axis=0), np.sort(whole.X, axis=0))
    for condition in range(1, 10):
        mine, other = (one.X[one.environment == condition].sum() for one in (drawn._replace(X=np.exp(drawn.X)), whole))
        np.testing.assert_allclose(mine, other)


def test_sachs_full_of_the_papers_table_is_still_a_plain_table():
    assert not isinstance(Data("sachs-full", 11, 50).draw(0), Experiment)


def test_methods_are_told_what_their_names_say(monkeypatch):
    told = {}

    class Fake:
        def __init__(self, **settings):
            assert settings == {"directions": False, "random_state": 3}

        def fit(self, X, **words):
            told[name] = set(words)
            self.graph_ = Dag(np.zeros((X.shape[1],) * 2))
            return self

    monkeypatch.setattr(methods, "CausalDiscovery", Fake)
    experiment = draw_experiment("sdcd-40-all", 4, 50, 0)
    for name in (methods.KNOWN, methods.UNKNOWN, methods.POOLED):
        methods.learn_from_experiment(name, experiment, 3)
    assert told == {
        methods.KNOWN: {"environment", "interventions"},
        methods.UNKNOWN: {"environment"},
        methods.POOLED: set(),
    }


def test_gies_gets_every_row_once_with_what_was_set_in_it(monkeypatch):
    experiment = draw_experiment(SACHS, 11, 200, 0)
    given = []

    def run(name, X, _, timeout, environments, candidates):
        assert (timeout, candidates) == (methods.TIMEOUT, None)
        given.append((name, X, environments))
        return peers.Outcome(np.zeros((11, 11), dtype=np.uint8), 1.5, "")

    monkeypatch.setattr(peers, "run", run)
    adjacency, seconds = methods.learn_from_experiment(peers.GIES, experiment, 0)
    assert (adjacency.sum(), seconds) == (0, 1.5)
    ((name, X, environments),) = given
    assert name == "GIES"
    np.testing.assert_array_equal(X, experiment.X)
    assert sorted(row for rows, _ in environments for row in rows) == list(range(200))
    for rows, targets in environments:
        (condition,) = set(experiment.environment.to_numpy()[rows])
        assert [experiment.X.columns[j] for j in targets] == experiment.interventions.get(condition, [])


def test_a_line_of_gies_is_right_where_the_truth_has_an_edge():
    truth = Dag.from_edges([("c", "b"), ("b", "a")], ["a", "b", "c", "d"])
    lines = np.zeros((4, 4), dtype=np.uint8)
    lines[0, 1] = lines[1, 0] = lines[1, 2] = lines[2, 1] = 1
    assert shd(truth, methods.with_lines_directed(lines, truth)) == 0
    lines[0, 3] = 1  # arrows stay
    lines[1, 2] = 0
    assert methods.with_lines_directed(lines, truth).tolist() == [[0, 0, 0, 1], [1, 0, 0, 0], [0, 1, 0, 0], [0] * 4]
    lines[1, 2], lines[2, 1] = 1, 0
    assert shd(truth, methods.with_lines_directed(lines, truth)) == 2  # a reversed arrow and a false one


def test_a_margin_is_added_to_the_other_mean():
    a, b = ("", "A"), ("", "B")
    rows = [("ER1", a, 4), ("ER1", b, 2), ("ER4", a, 5), ("ER4", b, 2)]
    frame = pd.DataFrame(
        [{"study_data": x, "trial": 0, "order": m[0], "prune": m[1], "shd": shd} for x, m, shd in rows]
    )
    assert claims.no_more("shd", a, b, margin=2)(frame) == [True, False]


def test_the_quick_study_has_a_row_per_cell_and_says_what_the_metrics_say(tmp_path):
    small = ("linear-ER1-set", "sdcd-40-all")
    study = STUDY._replace(cells=lambda quick: [cell for cell in STUDY.cells(quick) if cell.data.family in small])
    rows = rows_of(runner.run(study, tmp_path, trials=1, jobs=1, quick=True))
    assert {row["family"] for row in rows} == set(small)
    assert len(rows) == 2 * 4  # GIES needs the peers' environment
    data = Data("linear-ER1-set", 6, 200)
    drawn = data.draw(0)
    assert isinstance(drawn, Experiment)
    adjacency, _ = methods.learn_from_experiment(methods.KNOWN, drawn, FIRST_SEED)
    mine = next(row for row in rows if row["family"] == data.family and row["prune"] == methods.KNOWN)
    assert int(mine["shd"]) == shd(drawn.dag, adjacency)
    assert (mine["order"], mine["order_seconds"], mine["order_divergence"]) == ("", "0", "")


def test_published_numbers_are_marked_and_seconds_have_one_column(tmp_path):
    rows = [cell.settings() | {"trial": "0", **dict.fromkeys(runner.MEASURES, "1")} for cell in STUDY.cells(FULL)]
    pd.DataFrame(rows).to_csv(tmp_path / "one.csv", index=False)
    text = page.section(STUDY, page.read(tmp_path / "one.csv"), "")
    assert "| data | method | SHD | SID | edges | CPU seconds |" in text
    table, after = text.split("**Published elsewhere, not run here:**")
    for family, (sdcd, dcdi) in PUBLISHED.items():
        assert f"| {NAMES[family]} | {sdcd} | {dcdi} |" in after
        assert table.count(f"| {NAMES[family]}, d = 20, n = 10000 |") == 5
    assert table.count(f"| {NAMES[SACHS]}, d = 11, n = ") == 10
    assert "Not run yet" not in text


def test_a_study_without_results_is_named_on_the_page():
    assert STUDY.title in page.page(reproduce.STUDIES, {}, "").split("## Not run yet")[1]


def test_every_kind_of_experiment_has_a_name_and_known_targets_are_run_on_it():
    assert set(NAMES) == set(EXPERIMENTS)
    for quick in (QUICK, FULL):
        chosen = STUDY.cells(quick)
        assert {cell.data.family for cell in chosen} == set(EXPERIMENTS)
        assert all(Cell(cell.data, *KNOWN) in chosen for cell in chosen)


@pytest.mark.skipif(sys.platform == "win32", reason="signals")
def test_a_killed_run_continues(tmp_path):
    script = (
        "import sys; sys.path.insert(0, sys.argv[1])\n"
        "from pathlib import Path\n"
        "from experiments import runner\n"
        "from experiments.table_interventions import STUDY\n"
        "study = STUDY._replace(cells=lambda quick: [c for c in STUDY.cells(quick) if 'ER1' in c.data.family])\n"
        "runner.run(study, Path(sys.argv[2]), trials=2, jobs=1, quick=True)\n"
    )
    command = [sys.executable, "-c", script, str(ROOT), str(tmp_path)]
    parts = tmp_path / f".{STUDY.name}"
    process = subprocess.Popen(command)  # noqa: S603
    while process.poll() is None and len(list(parts.glob("*.json"))) < 2:
        time.sleep(0.01)
    process.send_signal(signal.SIGKILL)
    process.wait()
    done = {path.read_text(encoding="utf-8") for path in parts.glob("*.json")}
    assert done, "it was over before it could be killed"
    subprocess.run(command, check=True)  # noqa: S603
    rows = [json.dumps(row) for row in rows_of(tmp_path / f"{STUDY.name}.csv")]
    assert done <= set(rows)
    assert len(rows) == 2 * 4
    assert table_interventions.STUDY is reproduce.STUDIES["table-interventions"]

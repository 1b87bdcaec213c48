from __future__ import annotations

import importlib.util
import json
import stat
import sys
from pathlib import Path

import numpy as np
import pandas as pd
import pytest

from experiments import methods, peers
from sartre import Dag

ROOT = Path(__file__).parents[2]
X = np.zeros((4, 2))

# A fake Python that creates an environment whose own fake Python records its calls and fails on request.
MAKER = """#!/bin/sh
[ "$2" = venv ] || exit 9
mkdir -p "$3/bin"
cp "{folder}/inner" "$3/bin/python"
"""
INNER = """#!/bin/sh
echo "$@" >> "{folder}/calls"
if [ "$2" = pip ]; then
  [ -e "{folder}/offline" ] || exit 0
  echo "ERROR: No matching distribution found for gcastle" >&2
  exit 1
fi
. "{folder}/worker"
"""


def load(path):
    spec = importlib.util.spec_from_file_location(path.stem, path)
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


@pytest.fixture
def gcastle(tmp_path, monkeypatch):
    """Return the module with an environment in a temporary folder and interpreters without packages."""
    for name, text in (("maker", MAKER), ("inner", INNER)):
        script = tmp_path / name
        script.write_text(text.format(folder=tmp_path))
        script.chmod(script.stat().st_mode | stat.S_IXUSR)
    (tmp_path / "requirements.txt").write_text("gcastle\n")
    module = load(ROOT / "experiments" / "peers.py")
    monkeypatch.setattr(module, "ENVIRONMENT", tmp_path / ".venv-peers")
    monkeypatch.setattr(module, "REQUIREMENTS", tmp_path / "requirements.txt")
    monkeypatch.setattr(sys, "executable", str(tmp_path / "maker"))
    return module


def calls(folder):
    return (folder / "calls").read_text().splitlines()


def test_the_environment_is_made_once(gcastle, tmp_path):
    assert gcastle.environment() == gcastle.environment() == tmp_path / ".venv-peers" / "bin" / "python"
    assert len(calls(tmp_path)) == 1
    assert calls(tmp_path)[0].endswith(f"-r {tmp_path / 'requirements.txt'}")


def test_other_requirements_make_another_environment(gcastle, tmp_path):
    gcastle.environment()
    left_over = tmp_path / ".venv-peers" / "left-over"
    left_over.touch()
    (tmp_path / "requirements.txt").write_text("gcastle==1.0.4\n")
    gcastle.environment()
    assert len(calls(tmp_path)) == 2
    assert not left_over.exists()


def test_an_installation_that_was_killed_is_repeated(gcastle, tmp_path):
    half_made = tmp_path / ".venv-peers" / "bin" / "half-made"
    half_made.parent.mkdir(parents=True)
    half_made.touch()
    gcastle.environment()
    assert not half_made.exists()


def test_with_no_network_one_sentence_says_so_and_the_next_call_tries_again(gcastle, tmp_path):
    (tmp_path / "offline").touch()
    with pytest.raises(gcastle.UnavailableError, match=r"left out, as \.venv-peers .*\(ERROR: No matching") as caught:
        gcastle.environment()
    assert "\n" not in str(caught.value)
    assert "environment() first" in gcastle.run("NOTEARS", X, 0, 10).reason
    (tmp_path / "offline").unlink()
    gcastle.environment()


def run(gcastle, tmp_path, worker, timeout=10.0):
    """Run the module with a shell script as the worker; $3 is the folder of the task."""
    (tmp_path / "worker").write_text(worker)
    gcastle.environment()
    return gcastle.run("GraN-DAG", X, 7, timeout)


def test_the_graph_and_the_seconds_are_the_workers(gcastle, tmp_path):
    result = json.dumps({"adjacency": [[0, 1], [0, 0]], "seconds": 2.5})
    adjacency, seconds, reason = run(gcastle, tmp_path, f"echo '{result}' > $3/result.json")
    np.testing.assert_array_equal(adjacency, [[0, 1], [0, 0]])
    assert (adjacency.dtype, seconds, reason) == (np.uint8, 2.5, "")


def test_the_worker_is_told_the_data_the_method_and_the_seed_and_has_one_thread(gcastle, tmp_path):
    copy = f'cp "$3"/* {tmp_path}; echo $OMP_NUM_THREADS > {tmp_path}/threads; exit 1'
    run(gcastle, tmp_path, copy)
    np.testing.assert_array_equal(np.load(tmp_path / "data.npy"), X)
    task = json.loads((tmp_path / "task.json").read_text())
    assert task == {"method": "GraN-DAG", "seed": 7, "settings": gcastle.SETTINGS["GraN-DAG"]}
    assert (tmp_path / "threads").read_text().strip() == "1"


def test_a_method_that_is_not_done_in_time_is_a_missing_value(gcastle, tmp_path):
    adjacency, seconds, reason = run(gcastle, tmp_path, "exec sleep 60", timeout=0.2)
    assert adjacency is None
    assert np.isnan(seconds)
    assert reason == "not done after 0.2 seconds"


def test_a_method_that_fails_is_a_missing_value_with_its_last_words(gcastle, tmp_path):
    adjacency, seconds, reason = run(gcastle, tmp_path, "echo 'Trace\n\nValueError: d > 64\n' >&2; exit 3")
    assert adjacency is None
    assert np.isnan(seconds)
    assert reason == "failed with exit status 3: ValueError: d > 64"


def test_a_worker_that_is_killed_is_an_error_not_a_result(gcastle, tmp_path):
    with pytest.raises(gcastle.KilledError, match="killed by signal 9"):
        run(gcastle, tmp_path, "kill -9 $$")


def test_a_worker_that_crashes_is_a_missing_value(gcastle, tmp_path):
    assert run(gcastle, tmp_path, "kill -SEGV $$").reason == "failed with exit status -11: no message"


def test_an_unknown_method_is_refused_by_name(gcastle):
    with pytest.raises(
        ValueError, match=r"'method' parameter of run must be one of CAM-pruning by pyGAM, .*BOSS, NOTEARS, .*Got 'PC'"
    ):
        gcastle.run("PC", X, 0, 10)


def test_candidates_reach_the_worker_and_are_for_pygam_only(gcastle, tmp_path):
    (tmp_path / "worker").write_text(f'cp "$3"/* {tmp_path}; exit 1')
    gcastle.environment()
    gcastle.run(gcastle.PYGAM_LOOSE, X, 0, 10, candidates=np.array([[False, True], [False, False]]))
    task = json.loads((tmp_path / "task.json").read_text())
    assert task["candidates"] == [[0, 1], [0, 0]]
    assert task["settings"] == {"alpha": 0.05, "n_splines": 10}
    with pytest.raises(ValueError, match=r"'candidates' .* is for CAM-pruning by pyGAM only\. Got it with 'NOTEARS'"):
        gcastle.run("NOTEARS", X, 0, 10, candidates=np.ones((2, 2)))


def test_das_filters_before_pygam_decides_whatever_the_order_of_the_columns(monkeypatch):
    rng = np.random.default_rng(0)
    table = pd.DataFrame(rng.normal(size=(300, 8)), columns=list("abcdefgh"))
    table["a"] += 2 * np.sin(2 * table["h"])  # in the order h, ..., a, whose last column is the first
    told = {}

    def run(name, values, seed, timeout, *, environments, candidates):  # noqa: ARG001
        told.update(name=name, first=values[:, 0], candidates=candidates)
        return peers.Outcome(np.triu(np.ones((8, 8), dtype=np.uint8), 1) * candidates, 1.0, "")

    monkeypatch.setattr(peers, "run", run)
    adjacency, seconds = methods.learn_edges(methods.DAS_LOOSE, table, list(range(8))[::-1], 0)
    assert told["name"] == peers.PYGAM_LOOSE
    np.testing.assert_array_equal(told["first"], table["h"])
    assert not np.tril(told["candidates"]).any()
    assert told["candidates"].sum() < 28
    assert adjacency[7, 0] == 1
    assert not np.triu(adjacency).any()
    assert seconds >= 1.0


def test_the_last_iteration_of_corl_is_one_at_which_gcastle_keeps_the_best_order(gcastle):
    settings = gcastle.SETTINGS["CORL order"]
    assert settings["iteration"] % settings["lambda_iter_num"] == 0


@pytest.fixture
def worker():
    """Return the worker module, which imports the packages of its environment only when needed."""
    return load(ROOT / "experiments" / "peers_environment" / "worker.py")


@pytest.mark.parametrize("seed", range(20))
def test_a_cycle_is_broken_by_the_lowest_threshold_that_does(worker, seed):
    rng = np.random.default_rng(seed)
    adjacency = (rng.random((6, 6)) < 0.3) & ~np.eye(6, dtype=bool)
    weights = rng.random((6, 6))
    kept = worker.without_cycles(adjacency, weights)
    Dag(kept)  # which has no cycle
    dropped = np.sort(weights[adjacency & ~kept])
    assert not dropped.size or dropped[-1] < weights[kept].min(initial=1.0)
    if dropped.size:
        with pytest.raises(ValueError, match="cycle"):
            Dag(adjacency & (weights >= dropped[-1]))


@pytest.mark.skipif(not load(ROOT / "experiments" / "peers.py").is_ready(), reason="there is no peers' environment")
def test_pygam_prunes_the_order_of_the_columns():
    rng = np.random.default_rng(0)
    table = rng.normal(size=(300, 3))
    table[:, 2] += 2 * np.sin(2 * table[:, 0])
    module = load(ROOT / "experiments" / "peers.py")
    adjacency, seconds, reason = module.run("CAM-pruning by pyGAM", table, 0, 300)
    assert reason == ""
    assert seconds > 0
    np.testing.assert_array_equal(adjacency, [[0, 0, 1], [0, 0, 0], [0, 0, 0]])
    allowed = np.array([[0, 1, 0], [0, 0, 1], [0, 0, 0]])
    assert not module.run("CAM-pruning by pyGAM", table, 0, 300, candidates=allowed).adjacency[0, 2]


def has_gcastle():
    return load(ROOT / "experiments" / "peers.py").is_ready()


@pytest.mark.skipif(not has_gcastle(), reason="the peers' environment has not been made")
@pytest.mark.parametrize("method", ["NOTEARS", "CORL order"])
def test_a_linear_chain_has_the_right_direction(method, monkeypatch):
    module = load(ROOT / "experiments" / "peers.py")
    few = module.SETTINGS["CORL order"] | {"iteration": 1, "lambda_iter_num": 1}  # it tries 64 orders; only six exist
    monkeypatch.setitem(module.SETTINGS, "CORL order", few)
    rng = np.random.default_rng(0)
    middle, first, last = 0, 1, 2
    chain = rng.normal(size=(500, 3))
    chain[:, middle] += 2 * chain[:, first]
    chain[:, last] += 2 * chain[:, middle]
    adjacency, seconds, reason = module.run(method, chain, 0, 300)
    assert reason == ""
    assert seconds > 0
    all_pairs = {(first, last)} if method == "CORL order" else set()
    assert {(i, j) for i, j in np.argwhere(adjacency)} == {(first, middle), (middle, last)} | all_pairs


@pytest.mark.skipif(not has_gcastle(), reason="the peers' environment has not been made")
def test_boss_leaves_the_arrows_of_a_linear_chain_open():
    rng = np.random.default_rng(0)
    chain = np.cumsum(rng.normal(size=(500, 3)), axis=1)
    adjacency, seconds, reason = load(ROOT / "experiments" / "peers.py").run("BOSS", chain, 0, 300)
    assert reason == ""
    assert seconds > 0
    np.testing.assert_array_equal(adjacency, [[0, 1, 0], [1, 0, 1], [0, 1, 0]])


def test_only_gies_is_told_what_was_set(gcastle):
    with pytest.raises(ValueError, match=r"'environments' parameter of run is for GIES only\. Got it with 'BOSS'"):
        gcastle.run("BOSS", X, 0, 10, environments=[(range(4), [])])


def test_the_environments_reach_the_worker(gcastle, tmp_path):
    (tmp_path / "worker").write_text(f'cp "$3"/* {tmp_path}; exit 1')
    gcastle.environment()
    gcastle.run("GIES", X, 0, 10, environments=[(np.arange(3), []), ([3], np.array([1]))])
    task = json.loads((tmp_path / "task.json").read_text())
    assert task["environments"] == [[[0, 1, 2], []], [[3], [1]]]


@pytest.mark.skipif(not has_gcastle(), reason="the peers' environment has not been made")
def test_gies_finds_the_arrows_that_an_intervention_decides():
    rng = np.random.default_rng(0)
    noise = rng.normal(size=(1000, 3))
    chain = np.cumsum(noise, axis=1)
    acted = np.arange(500, 1000)
    chain[acted, 1] = 3 * rng.normal(size=500)  # the middle one is set
    chain[acted, 2] = chain[acted, 1] + noise[acted, 2]
    module = load(ROOT / "experiments" / "peers.py")
    alone, seconds, reason = module.run("GIES", chain[:500], 0, 300)
    assert reason == ""
    assert seconds > 0
    np.testing.assert_array_equal(alone, [[0, 1, 0], [1, 0, 1], [0, 1, 0]])
    both, _, _ = module.run("GIES", chain, 0, 300, environments=[(range(500), []), (acted, [1])])
    np.testing.assert_array_equal(both, [[0, 1, 0], [0, 0, 1], [0, 0, 0]])

"""Many machines: a real cluster of worker processes gives the same result as this process, whichever worker dies."""

from __future__ import annotations

import os
import signal
from dataclasses import dataclass, field
from pathlib import Path

import joblib
import numpy as np
import pandas as pd
import pytest

from sartre import CausalDiscovery
from sartre.data import row_source_dask
from sartre.data import table as tables
from sartre.data.row_sample import smallest
from sartre.data.row_source import survey
from sartre.data.table import Table
from sartre.evidence.stability import stability
from sartre.order import FixedOrder
from sartre.prune import SARTRE, CAMPruning

dask = pytest.importorskip("dask")
distributed = pytest.importorskip("distributed")
dd = pytest.importorskip("dask.dataframe")
NAMES = ["a", "b", "c", "d", "e"]
QUIET = {"n_workers": 3, "processes": True, "threads_per_worker": 1, "dashboard_address": None}
SOON = {"distributed.comm.timeouts.connect": "5s"}  # time until a dead worker is given up; half a minute by default


def many_rows(n, seed):
    """Return rows of a -> b -> d in which c and a act jointly on e, so that pairs are needed."""
    rng = np.random.default_rng(seed)
    a, c = rng.normal(size=(2, n))
    b = np.sin(2 * a) + rng.normal(size=n) / 2
    d = b**2 / 2 + rng.normal(size=n) / 2
    return pd.DataFrame({"a": a, "b": b, "c": c, "d": d, "e": a * c + rng.normal(size=n) / 2})


def die_once(folder, name):
    """Kill this worker process on the first call; a file in the folder records that this has happened."""
    try:
        (Path(folder) / name).touch(exist_ok=False)
    except FileExistsError:
        return
    os.kill(os.getpid(), signal.SIGKILL)


def same(one, other):
    np.testing.assert_array_equal(one.adjacency_matrix_, other.adjacency_matrix_)
    shared = [name for name in one.edges_ if name in other.edges_]  # a pruner says nothing about directions
    pd.testing.assert_frame_equal(one.edges_[shared], other.edges_[shared], rtol=1e-9, atol=0)


@pytest.fixture(scope="module")
def client():
    with (
        dask.config.set(SOON),
        distributed.LocalCluster(**QUIET) as cluster,
        distributed.Client(cluster) as client,
    ):
        yield client


@pytest.fixture(autouse=True)
def few(monkeypatch):
    """Make the sample so small that the test tables count as having many rows."""
    monkeypatch.setattr(tables, "SAMPLE_ROWS", 1000)


# Rows are counted where they are


@pytest.mark.usefixtures("client")
@pytest.mark.parametrize("prune", [SARTRE(), SARTRE(penalty=0.1)])
def test_partitions_batches_and_memory_give_the_same_graph(prune):
    frame = many_rows(3000, seed=1)
    model = CausalDiscovery(FixedOrder(NAMES), prune, random_state=0)
    memory = CausalDiscovery(FixedOrder(NAMES), prune, random_state=0).fit(frame)
    batches = CausalDiscovery(FixedOrder(NAMES), prune, random_state=0).fit_batches([frame[:700], frame[700:]])
    same(batches, memory)
    same(model.fit_batches(dd.from_pandas(frame, npartitions=12)), memory)
    assert model.rows_seen_ == memory.rows_seen_
    with joblib.parallel_config("dask"):
        same(model.fit_batches(dd.from_pandas(frame, npartitions=3)), memory)


@pytest.mark.usefixtures("client")
def test_a_worker_that_dies_while_rows_are_counted_changes_nothing(tmp_path):
    frame = many_rows(3000, seed=2)

    def deadly(part):  # rows are checked, drawn and counted, and are read again for each
        if 1500 in part.index:
            (tmp_path / f"read-{os.urandom(8).hex()}").touch()
            if len(list(tmp_path.glob("read-*"))) == 3:
                die_once(tmp_path, "killed")
        return part

    parts = dd.from_pandas(frame, npartitions=10).map_partitions(deadly, meta=frame[:0])
    model = SARTRE(random_state=0).fit_batches(parts, NAMES)
    assert (tmp_path / "killed").exists()
    same(model, SARTRE(random_state=0).fit(frame, NAMES))


@pytest.mark.usefixtures("client")
@pytest.mark.parametrize("deviations", [10, -10])
def test_the_rows_drawn_are_those_of_memory_even_if_the_first_draw_has_too_few(deviations, monkeypatch):
    monkeypatch.setattr(row_source_dask, "DEVIATIONS", deviations)
    frame = many_rows(2500, seed=3)
    found = survey(dd.from_pandas(frame, npartitions=7), seed=4)
    expected = frame.to_numpy()[smallest(np.arange(2500), 4, 1000)]
    np.testing.assert_array_equal(found.sample.values, expected)
    pruner = SARTRE(0.1, random_state=0).fit(found.standardized(), NAMES)
    same(pruner, SARTRE(0.1, random_state=0).fit(survey([frame], seed=4).standardized(), NAMES))


@pytest.mark.usefixtures("client")
def test_partitions_without_rows_and_rows_with_holes_are_as_in_memory():
    frame = many_rows(2500, seed=5)
    frame.loc[3, "b"] = np.nan
    frame.loc[500:999, "b"] = np.nan  # all rows of a partition
    parts = dd.from_pandas(frame, npartitions=5)
    parts = dd.concat([parts, parts[parts["a"] > 1e9]])  # the last five are empty
    with pytest.raises(ValueError, match=r"In partition [01] of the Dask data frame.*column 'b'"):
        CausalDiscovery(random_state=0).fit_batches(parts)
    with pytest.warns(UserWarning, match="501 of 2500 rows were left out"):
        dropped = CausalDiscovery(FixedOrder(NAMES), missing="drop", random_state=0).fit_batches(parts)
    same(dropped, SARTRE(random_state=0).fit(frame.dropna(), NAMES))
    with pytest.raises(ValueError, match="must have at least one batch"):
        survey(parts[parts["a"] > 1e9], seed=0)


def test_without_a_cluster_threads_are_used():
    frame = many_rows(2000, seed=6)
    parts = dd.from_pandas(frame, npartitions=4)
    with joblib.parallel_config("threading", n_jobs=2):
        same(SARTRE(0.1, random_state=0).fit_batches(parts, NAMES), SARTRE(0.1, random_state=0).fit(frame, NAMES))


# Targets and half-samples: joblib's Dask backend


@pytest.mark.usefixtures("client")
@pytest.mark.parametrize("prune", [SARTRE(), SARTRE(0.1), CAMPruning()])
def test_targets_are_tasks_if_joblib_is_told_so(prune):
    frame = many_rows(600, seed=7)
    frame.loc[:40, "d"] = np.nan
    model = CausalDiscovery(FixedOrder(NAMES), prune, missing="bin", random_state=0)
    here = model.fit(frame).edges_
    with joblib.parallel_config("dask"):
        pd.testing.assert_frame_equal(model.fit(frame).edges_, here, rtol=1e-9, atol=0)


@pytest.mark.usefixtures("client")
def test_workers_find_the_same_joint_effects():
    X = np.random.default_rng(0).normal(size=(400, 5))
    X[:, 4] += 3 * np.tanh(2 * X[:, 0]) * np.tanh(2 * X[:, 1]) * np.tanh(2 * X[:, 2])
    here = SARTRE(joint=True).fit(X, range(5))
    with joblib.parallel_config("dask"):
        there = SARTRE(joint=True).fit(X, range(5))
    assert here.joint_terms_["parents"].tolist() == [["x0", "x1", "x2"]]
    pd.testing.assert_frame_equal(there.joint_terms_, here.joint_terms_)
    same(there, here)


@dataclass(frozen=True)
class DeadlyTable(Table):
    """A table that kills the first workers that access columns 1 and 2, which therefore hold the shared data."""

    folder: str = field(default="")
    home: int = field(default_factory=os.getpid)

    def responses(self, j):
        if os.getpid() != self.home and j in {1, 2}:
            die_once(self.folder, f"killed-{j}")
        return super().responses(j)


@pytest.mark.usefixtures("client")
def test_workers_that_die_while_targets_are_fitted_change_nothing(tmp_path):
    frame = many_rows(800, seed=8)
    table = DeadlyTable(np.asfortranarray(frame.to_numpy()), tuple(NAMES), folder=str(tmp_path))
    with joblib.parallel_config("dask"):
        model = SARTRE(random_state=0).fit(table, NAMES)
    assert len(list(tmp_path.iterdir())) == 2
    same(model, SARTRE(random_state=0).fit(frame, NAMES))


@pytest.mark.usefixtures("client")
def test_half_samples_are_tasks():
    frame = many_rows(400, seed=9)
    model = CausalDiscovery(FixedOrder(NAMES))
    here = stability(model, frame, n_pairs=3, random_state=0)
    with joblib.parallel_config("dask"):
        there = stability(model, frame, n_pairs=3, random_state=0)
    np.testing.assert_array_equal(there.edge_frequency, here.edge_frequency)
    np.testing.assert_array_equal(there.order_frequency, here.order_frequency)

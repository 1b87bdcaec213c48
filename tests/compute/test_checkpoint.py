"""Checkpoints: a killed or interrupted run resumes where it stopped, and never uses the file of another run."""

from __future__ import annotations

import json
import logging
import os
import signal
import subprocess
import sys
import textwrap

import numpy as np
import pandas as pd
import pytest

import sartre
from sartre import CausalDiscovery, Knowledge, stability
from sartre.compute.checkpoint import Checkpoint, describe_settings
from sartre.evidence import stability as evidence_stability
from sartre.order import SCORE, FixedOrder
from sartre.prune import DAS, SARTRE

MODEL = CausalDiscovery(order=SCORE(), prune=SARTRE())


@pytest.fixture(scope="module")
def table():
    return pd.DataFrame(np.random.default_rng(0).normal(size=(120, 4)).cumsum(axis=1), columns=list("abcd"))


@pytest.fixture(scope="module")
def whole(table):
    return stability(MODEL, table, n_pairs=6, random_state=1)


def assert_same(one, other):
    np.testing.assert_array_equal(one.edge_frequency, other.edge_frequency)
    np.testing.assert_array_equal(one.order_frequency, other.order_frequency)


def test_settings_are_distinguished_at_any_depth():
    told = {
        describe_settings(model)
        for model in (
            MODEL,
            CausalDiscovery(),
            CausalDiscovery(prune=DAS(prune=SARTRE(penalty=0.2))),
            CausalDiscovery(prune=DAS(prune=SARTRE(penalty=0.3))),
            CausalDiscovery(order=FixedOrder(["a", "b"])),
            CausalDiscovery(order=FixedOrder(["b", "a"])),
            CausalDiscovery(order=FixedOrder([1, 0])),
            CausalDiscovery(knowledge=Knowledge(roots=["a"])),
        )
    }
    assert len(told) == 8
    assert describe_settings(FixedOrder(np.array([1, 0]))) == describe_settings(
        FixedOrder(np.array([1, 0], dtype=np.int8))
    )


KILLED = """
    import logging, os, signal
    import pandas as pd  # noqa: PLC0415 - a graph does not need it
    from sartre import CausalDiscovery, stability  # noqa: E402
    from sartre.order import SCORE  # noqa: E402
    from sartre.prune import SARTRE  # noqa: PLC0415 - the threads of BLAS are set before

    class Killer(logging.Handler):
        def emit(self, record):
            if record.name == "sartre.evidence.stability" and record.args[0] == 5:
                os.kill(os.getpid(), signal.SIGKILL)

    logging.getLogger("sartre").setLevel(logging.INFO)
    logging.getLogger("sartre").addHandler(Killer())
    model = CausalDiscovery(order=SCORE(), prune=SARTRE())
    table = pd.read_csv("table.csv", float_precision="round_trip")
    stability(model, table, n_pairs=6, random_state=1, checkpoint="runs.json")
"""


@pytest.mark.parametrize("n_jobs", [1, 2])
def test_a_killed_process_is_resumed_where_it_stopped(table, whole, tmp_path, n_jobs, caplog):
    table.to_csv(tmp_path / "table.csv", index=False)
    code = [sys.executable, "-c", textwrap.dedent(KILLED)]
    child = subprocess.run(code, cwd=tmp_path, env=os.environ, capture_output=True, check=False, text=True)  # noqa: S603
    assert child.returncode == -signal.SIGKILL, child.stderr
    assert [path.name for path in tmp_path.glob("*.json")] == ["runs.json"]
    with caplog.at_level(logging.INFO, logger="sartre.evidence.stability"):
        again = stability(MODEL, table, n_pairs=6, n_jobs=n_jobs, random_state=1, checkpoint=tmp_path / "runs.json")
    assert caplog.messages[0] == "stability: 5 of 12 half-samples"
    assert_same(whole, again)


class Interrupter(logging.Handler):
    def emit(self, record):
        if record.name == "sartre.evidence.stability" and record.args[0] == 4:
            raise KeyboardInterrupt


@pytest.mark.parametrize("n_jobs", [1, 2])
def test_an_interruption_loses_no_finished_work(table, whole, tmp_path, n_jobs):
    path = tmp_path / "runs.json"
    logger = logging.getLogger("sartre.evidence.stability")
    handler, level = Interrupter(), logger.level
    logger.addHandler(handler)
    logger.setLevel(logging.INFO)
    try:
        with pytest.raises(KeyboardInterrupt):
            stability(MODEL, table, n_pairs=6, n_jobs=n_jobs, random_state=1, checkpoint=path)
    finally:
        logger.removeHandler(handler)
        logger.setLevel(level)
    assert len(json.loads(path.read_text())["content"]["results"]) == 4
    assert_same(whole, stability(MODEL, table, n_pairs=6, n_jobs=n_jobs, random_state=1, checkpoint=path))


@pytest.mark.parametrize("n_jobs", [1, 2])
def test_a_model_that_fails_on_a_half_says_so_and_loses_no_finished_work(table, tmp_path, n_jobs):
    path = tmp_path / "runs.json"

    class Fails(CausalDiscovery):
        def fit(self, X):
            if path.exists() and len(json.loads(path.read_text())["content"]["results"]) >= 3:
                raise RuntimeError("the disk is full")
            return super().fit(X)

    with pytest.raises(RuntimeError, match="the disk is full"):
        stability(Fails(), table, n_pairs=6, n_jobs=n_jobs, random_state=1, checkpoint=path)
    assert len(json.loads(path.read_text())["content"]["results"]) >= 3


def test_a_finished_checkpoint_is_only_read(table, whole, tmp_path, monkeypatch):
    path = tmp_path / "runs.json"
    stability(MODEL, table, n_pairs=6, random_state=1, checkpoint=path)
    monkeypatch.setattr(evidence_stability, "_run", None)
    assert_same(whole, stability(MODEL, table, n_pairs=6, random_state=1, checkpoint=path))


@pytest.fixture
def checkpoint(table, tmp_path):
    path = tmp_path / "runs.json"
    stability(MODEL, table, n_pairs=1, random_state=1, checkpoint=path)
    return path


def test_a_checkpoint_of_anything_else_is_refused(table, checkpoint, monkeypatch):
    text = checkpoint.read_text()
    changed = table.copy()
    changed.iloc[3, 2] += 1e-9
    renamed, moved = table.rename(columns={"a": "z"}), table[list("bacd")]
    for other in (changed, renamed, moved, table.iloc[:-1]):
        with pytest.raises(ValueError, match=r"runs.json' belongs to different data .* Name another file, or delete"):
            stability(MODEL, other, n_pairs=1, random_state=1, checkpoint=checkpoint)
    for other in (
        CausalDiscovery(order=SCORE(), prune=SARTRE(penalty=0.2)),
        CausalDiscovery(order=SCORE(), prune=SARTRE(), knowledge=Knowledge(roots=["a"])),
        CausalDiscovery(order=FixedOrder(list("abcd")), prune=SARTRE()),
    ):
        with pytest.raises(ValueError, match=r"different settings: .*CausalDiscovery\(.*penalty='auto'"):
            stability(other, table, n_pairs=1, random_state=1, checkpoint=checkpoint)
    with pytest.raises(ValueError, match=r"belongs to random_state 1. Got 2"):
        stability(MODEL, table, n_pairs=1, random_state=2, checkpoint=checkpoint)
    monkeypatch.setattr(sartre, "__version__", "9.9")
    with pytest.raises(ValueError, match=r"written by version .* but this is 9.9"):
        stability(MODEL, table, n_pairs=1, random_state=1, checkpoint=checkpoint)
    assert checkpoint.read_text() == text


@pytest.mark.parametrize("model", [CausalDiscovery(), MODEL, CausalDiscovery(SCORE(device="cpu"), directions=False)])
def test_a_checkpoint_from_before_a_setting_existed_is_resumed(model, table, tmp_path):
    path = tmp_path / "runs.json"
    stability(model, table, n_pairs=1, random_state=1, checkpoint=path)
    found = Checkpoint.open(path, json.loads(path.read_text())["content"]["identity"])
    settings = found.identity["settings"]
    found.identity["settings"] = (
        settings.replace("directions=True, ", "")
        .replace("directions=False, ", "")
        .replace("SARTRE(device='cpu', ", "SARTRE(")
    )
    assert found.identity["settings"] != settings
    found.write()
    again = stability(model, table, n_pairs=2, random_state=1, checkpoint=path)
    assert_same(again, stability(model, table, n_pairs=2, random_state=1))


def test_the_device_is_a_setting_unless_it_is_the_default(table, checkpoint):
    with pytest.raises(ValueError, match="different settings"):
        stability(CausalDiscovery(SCORE(device="cuda"), SARTRE()), table, n_pairs=1, checkpoint=checkpoint)


def test_the_number_of_jobs_is_not_a_setting(table, checkpoint):
    model = CausalDiscovery(order=SCORE(n_jobs=2), prune=SARTRE(), n_jobs=1)
    assert_same(
        stability(model, table, n_pairs=1, checkpoint=checkpoint), stability(MODEL, table, n_pairs=1, random_state=1)
    )


@pytest.mark.parametrize(
    "damage",
    [
        lambda text: text[: len(text) // 2],
        lambda text: text.replace('"order":[', '"order":[3,', 1),
        lambda text: text.replace("sartre checkpoint 1", "sartre checkpoint 0"),
        lambda _: "",
        lambda _: '{"nodes": []}',
        lambda _: "[1, 2]",
        lambda _: "[" * 100_000,
    ],
)
def test_a_damaged_checkpoint_is_refused(table, checkpoint, damage):
    checkpoint.write_text(damage(checkpoint.read_text()))
    with pytest.raises(ValueError, match=r"runs.json' is damaged, or is not a checkpoint. Name another file"):
        stability(MODEL, table, n_pairs=1, random_state=1, checkpoint=checkpoint)


def test_data_that_a_checkpoint_cannot_keep_are_reported_before_any_work(table, tmp_path, monkeypatch):
    monkeypatch.setattr(evidence_stability, "_run", None)
    path = tmp_path / "runs.json"
    generator = np.random.default_rng(0)
    with pytest.raises(TypeError, match="'random_state' parameter of stability must be an int or None"):
        stability(MODEL, table, random_state=generator, checkpoint=path)
    with pytest.raises(TypeError, match="A checkpoint cannot record a setting of type Generator"):
        stability(CausalDiscovery(random_state=generator), table, checkpoint=path)
    with pytest.raises(FileNotFoundError, match="There is no folder"):
        stability(MODEL, table, checkpoint=tmp_path / "nowhere" / "runs.json")

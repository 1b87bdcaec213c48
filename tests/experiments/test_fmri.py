from __future__ import annotations

import hashlib
import runpy
from pathlib import Path

import numpy as np
import pytest

from sartre.metrics import shd, sid

EXPERIMENTS = Path(__file__).parents[2] / "experiments"


@pytest.fixture(scope="module")
def fmri():
    return runpy.run_path(str(EXPERIMENTS / "fmri.py"))["load_fmri"]()


def test_the_table_holds_the_ten_regions_and_not_the_subject(fmri):
    X, dag = fmri
    assert X.shape == (10_000, 10)
    assert list(X.columns) == dag.names == [f"N{k}" for k in range(1, 11)]
    assert np.isfinite(X.to_numpy()).all()


def test_every_subject_is_two_hundred_rows_of_mean_zero(fmri):
    means = fmri.X.to_numpy().reshape(50, 200, 10).mean(axis=1)
    assert np.abs(means).max() < 1e-5
    assert np.abs(fmri.X.to_numpy()[:100].mean(axis=0)).max() > 1e-2


def test_the_empty_guess_has_the_known_distances(fmri):
    nothing = np.zeros((10, 10))
    assert (shd(fmri.dag, nothing), sid(fmri.dag, nothing)) == (11, 47)


def test_the_readme_states_the_checksum_of_every_file():
    readme = (EXPERIMENTS / "data" / "README.md").read_text(encoding="utf-8")
    stored = list((EXPERIMENTS / "data").glob("*.csv*"))
    assert len(stored) == 2
    for file in stored:
        assert hashlib.sha256(file.read_bytes()).hexdigest() in readme

from __future__ import annotations

import numpy as np
import pandas as pd
import pytest
from threadpoolctl import threadpool_limits

from sartre.compute import progress


@pytest.fixture(autouse=True)
def folder(tmp_path, monkeypatch):
    """Work in an empty folder, on a wide terminal, without progress lines, on one core (other tests run too)."""
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("COLUMNS", "200")
    monkeypatch.setattr(progress, "SECONDS_BETWEEN_LINES", 600)
    monkeypatch.setenv("OPENBLAS_NUM_THREADS", "1")  # for the processes that a test starts
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

from __future__ import annotations

import numpy as np
import pandas as pd
import pytest
from app_process import Program


@pytest.fixture(scope="session")
def water(tmp_path_factory):
    """Write a chain, rain -> river -> flood, and return the file."""
    rng = np.random.default_rng(0)
    rain = rng.normal(size=200)
    river = np.sin(2 * rain) + rng.normal(size=200) / 2
    flood = river**2 / 2 + rng.normal(size=200) / 2
    path = tmp_path_factory.mktemp("tables") / "water.csv"
    pd.DataFrame({"flood": flood, "rain": rain, "river": river}).to_csv(path, index=False)
    return path


@pytest.fixture(scope="session")
def program(water, tmp_path_factory):
    """Start the program with a table; all tests of the server share it."""
    started = Program(water, folder=tmp_path_factory.mktemp("app"))
    started.table()
    yield started
    started.end()

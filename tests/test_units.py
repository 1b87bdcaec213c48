"""Units are arbitrary: rescaling or shifting a column does not change the graph that the defaults learn."""

from __future__ import annotations

import numpy as np
import pandas as pd
import pytest

from sartre import CausalDiscovery
from sartre.prune import DAS, SARTRE, CAMPruning


def table(seed, n=400):
    rng = np.random.default_rng([seed, 91])
    X = rng.normal(size=(n, 6))
    X[:, 2] += 2 * np.sin(2 * X[:, 0])
    X[:, 3] += X[:, 1] * X[:, 2]
    X[:, 4] += 0.5 * X[:, 3] + rng.exponential(size=n)
    X[:, 5] += np.abs(X[:, 0])
    return pd.DataFrame(X, columns=list("abcdef"))


@pytest.mark.parametrize("pruner", [SARTRE(random_state=0), CAMPruning(), DAS(min_parents=1)], ids=repr)
@pytest.mark.parametrize("seed", range(4))
def test_units_and_offsets_change_no_graph(pruner, seed):
    data = table(seed)
    rng = np.random.default_rng(seed)
    scaled = data * np.exp(rng.normal(size=6, scale=5)) + rng.normal(size=6, scale=100)
    plain, moved = (pruner.fit(X, list("abcdef")).edges_ for X in (data, scaled))
    assert len(plain) >= 3
    pd.testing.assert_frame_equal(plain, moved, rtol=1e-4)


@pytest.mark.parametrize("seed", range(4))
def test_units_and_offsets_change_nothing_of_what_the_defaults_learn(seed):
    data = table(seed)
    rng = np.random.default_rng(seed)
    scaled = data * np.exp(rng.normal(size=6, scale=5)) + rng.normal(size=6, scale=100)
    plain, moved = (CausalDiscovery(random_state=0).fit(X) for X in (data, scaled))
    np.testing.assert_array_equal(plain.order_, moved.order_)
    pd.testing.assert_frame_equal(plain.edges_, moved.edges_, rtol=1e-4)

"""An effect between variables with a known common cause is kept where experiments show it."""

import numpy as np
import pandas as pd
import pytest

from sartre import CausalDiscovery, Knowledge


@pytest.mark.parametrize("effect", [1.5, 0.0])
def test_rows_in_which_the_cause_was_set_speak_for_an_edge_beside_a_known_hidden_cause(effect):
    rng = np.random.default_rng(0)
    n = 300
    u, w, first, second = rng.normal(size=(4, n))
    where = np.where(np.arange(n) < n // 2, "randomised", "observed")
    x = np.where(where == "randomised", rng.normal(size=n), u + first / 2)
    y = effect * np.sin(2 * x) + u + np.sin(2 * w) + second / 3
    table = pd.DataFrame({"w": w, "x": x, "y": y})
    knowledge = Knowledge(confounded=[("x", "y")], before=[("x", "y")])
    model = CausalDiscovery(knowledge=knowledge, random_state=0)
    model.fit(table, environment=where, interventions={"randomised": ["x"]})
    assert (("x", "y") in model.graph_.edges) == (effect > 0)

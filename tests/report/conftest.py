"""Small fitted models for the plots, the report and the browser."""

from __future__ import annotations

import numpy as np
import pandas as pd
import pytest

from sartre import CausalDiscovery, stability
from sartre.order import FixedOrder
from sartre.prune import SARTRE
from sartre.simulate import random_dag

HOSTILE = ["<script>alert(1)</script>", '"><img src=x onerror=alert(1)>', "{{js}}</script>", "$x^2$ & \n\\u003c 変数"]


def together(n: int = 600, seed: int = 0, names=("a", "b", "c", "d", "lone")) -> pd.DataFrame:
    """Return a model of a -> b in which c and b act jointly on d."""
    rng = np.random.default_rng(seed)
    a, c, lone = rng.normal(size=(3, n))
    b = np.sin(2 * a) + rng.normal(size=n) / 2
    d = c * b + rng.normal(size=n) / 3
    return pd.DataFrame(dict(zip(names, (a, b, c, d, lone), strict=True)))


@pytest.fixture(scope="session")
def table():
    return together()


@pytest.fixture(scope="session")
def model(table):
    return CausalDiscovery(order=FixedOrder(["a", "c", "b", "d", "lone"]), random_state=0).fit(table)


@pytest.fixture(scope="session")
def found(model, table):
    return stability(model, table, n_pairs=3, random_state=0)


@pytest.fixture(scope="session")
def hostile():
    """Return a table with hostile names, and a model of it."""
    X = together(names=(*HOSTILE, "lone"))
    order = [HOSTILE[0], HOSTILE[2], HOSTILE[1], HOSTILE[3], "lone"]
    return X, CausalDiscovery(order=FixedOrder(order), random_state=0).fit(X)


@pytest.fixture(scope="session")
def large():
    """Return a table of 500 columns, and a model of it with about 500 edges."""
    dag = random_dag(500, 600, random_state=0)
    rng = np.random.default_rng(0)
    order = dag.topological_order()
    X = pd.DataFrame(rng.normal(size=(400, 500)), columns=[f"gene {j}" for j in range(500)])
    rename = dict(zip(dag.names, X.columns, strict=True))
    for name in order:
        for parent in dag.parents(name):
            X[rename[name]] += 2 * np.tanh(X[rename[parent]])
    prune = SARTRE(penalty=0.3)
    X = (X - X.mean()) / X.std()
    return X, CausalDiscovery(FixedOrder([rename[name] for name in order]), prune, random_state=0).fit(X)


@pytest.fixture(scope="session")
def experiments():
    """Return a table of three experiments, and a model of it: b was set, c was shifted, and a differs unannounced."""
    rng = np.random.default_rng(0)
    environment = np.repeat(["<i>usual</i>", "b set", "c shifted"], [500, 200, 200])
    a, b, c = rng.normal(size=(3, 900))
    a += 2 * (environment == "c shifted")
    b = np.where(environment == "b set", 3 + b / 2, 1.5 * a + b)
    c += 3 * (environment == "c shifted") - b
    order = rng.permutation(900)
    X = pd.DataFrame({"a": a, "b": b, "c": c}).iloc[order].reset_index(drop=True) * 123.456789
    actions = {"b set": ["b"], "c shifted": ("soft", ["c"])}
    model = CausalDiscovery(FixedOrder(["a", "b", "c"]), random_state=0)
    return X, model.fit(X, environment=environment[order], interventions=actions)

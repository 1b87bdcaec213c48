"""The shape of an edge is that of the function that made the data, and categories have none."""

from __future__ import annotations

import numpy as np
import pandas as pd
import pytest
from hypothesis import given
from hypothesis import strategies as st

from sartre import CausalDiscovery
from sartre.additive.mechanism import Curve
from sartre.evidence.shapes import shape_of
from sartre.order import FixedOrder
from sartre.prune import SARTRE

X = np.linspace(-2, 2, 41)
SHAPES = {
    "rising": [lambda x: x, np.exp, np.tanh],
    "falling": [lambda x: -x, lambda x: -(x**3)],
    "U-shaped": [np.square, np.abs],
    "inverted U": [lambda x: -(x**2), np.cos],
    "wavy": [lambda x: np.sin(2.5 * x)],
}
CASES = [(shape, function) for shape, functions in SHAPES.items() for function in functions]


@pytest.mark.parametrize(("shape", "function"), CASES)
@given(scale=st.floats(1e-6, 1e6), shift=st.floats(-1e3, 1e3))
def test_units_do_not_matter_and_a_mirror_turns_the_shape(shape, function, scale, shift):
    values = scale * function(X)
    std = np.full(41, 1e-4 * scale)
    assert shape_of(Curve(values + scale * shift, std)) == shape
    turned = {"rising": "falling", "falling": "rising", "U-shaped": "inverted U", "inverted U": "U-shaped"}
    assert shape_of(Curve(-values, std)) == turned.get(shape, shape)
    sideways = {"rising": "falling", "falling": "rising"}
    assert shape_of(Curve(values[::-1], std)) == sideways.get(shape, shape)


def test_what_the_errors_cover_is_not_seen():
    assert shape_of(Curve(np.sin(2.5 * X), np.full(41, 2.0))) == "unclear"
    hook = X + np.where(X > 1.7, -0.3 * (X - 1.7), 0) * 3
    assert shape_of(Curve(hook, np.full(41, 0.3))) == "rising"


@pytest.mark.parametrize(("shape", "function"), CASES)
def test_a_model_tells_the_shapes_of_its_edges(shape, function):
    rng = np.random.default_rng(len(shape))
    x = rng.uniform(-2, 2, size=600)
    y = function(x) / function(x).std() + rng.normal(size=600) / 2
    model = CausalDiscovery(FixedOrder([0, 1]), SARTRE(joint=False), random_state=0).fit(np.column_stack([x, y]))
    assert model.edges_["shape"].tolist() == [shape]


def test_categories_go_by_level_and_causes_that_only_act_together_are_joint():
    rng = np.random.default_rng(0)
    soil, a, b = rng.choice(["clay", "loam", "sand"], size=600), *rng.normal(size=(2, 600))
    water = pd.Series(soil).map({"clay": 1.0, "loam": 0.0, "sand": -1.0}).to_numpy() + rng.normal(size=600) / 3
    table = pd.DataFrame({"soil": soil, "a": a, "b": b, "water": water, "product": a * b + rng.normal(size=600) / 4})
    model = CausalDiscovery(FixedOrder(list(table)), SARTRE(joint=False), random_state=0).fit(table)
    shapes = model.edges_.set_index(["source", "target"])["shape"]
    assert shapes["soil", "water"] == "by level"
    assert shapes["a", "product"] == shapes["b", "product"] == "joint"


def test_shapes_wait_until_edges_are_asked_for(monkeypatch):
    rng = np.random.default_rng(0)
    a, b = rng.normal(size=(2, 200))
    model = CausalDiscovery(FixedOrder([0, 1]), SARTRE(joint=False), random_state=0)
    with monkeypatch.context() as patched:
        patched.setattr("sartre.discovery.edge_shapes", None)
        patched.setattr("sartre.discovery.fit_mechanisms", None)
        model.fit(np.column_stack([a, a + b]))
    assert list(model.edges_.columns)[-1] == "shape"
    assert model.edges_ is model.edges_


def test_a_graph_without_edges_has_the_column_too():
    table = np.random.default_rng(0).normal(size=(200, 3))
    model = CausalDiscovery(FixedOrder([0, 1, 2]), SARTRE(joint=False, level=1e-6), random_state=0).fit(table)
    assert len(model.edges_) == 0
    assert "shape" in model.edges_

"""Pictures for notebooks: every variable and edge is there, everything is escaped, and nothing runs."""

from __future__ import annotations

import xml.etree.ElementTree as ET

import numpy as np
import pandas as pd
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from sklearn import config_context
from sklearn.pipeline import Pipeline
from sklearn.preprocessing import StandardScaler

from sartre import CausalDiscovery, Dag, Pdag, StructuralModel, stability
from sartre.evidence.diagnostics import Diagnostics
from sartre.order import FixedOrder
from sartre.prune import SARTRE
from sartre.report.svg import MOST_DRAWN

SVG = "{http://www.w3.org/2000/svg}"
HOSTILE = ["<script>alert(1)</script>", "\"quoted\" & 'so'", "=1+1", "bell\x07\x00", "two\nlines", "変数", "x" * 60]
GRAPH = Dag.from_edges([("a", "b"), ("b", "c"), ("a", "c"), ("d", "c")], [*"abcd", "lone"])


def drawn(picture):
    """Return the texts of the boxes, and the number of edges, heads and dashed edges, of a well-formed picture."""
    root = ET.fromstring(picture)  # noqa: S314 - our own
    paths = list(root.iter(f"{SVG}path"))
    dashed = sum("stroke-dasharray" in path.attrib for path in paths)
    return [text.text for text in root.iter(f"{SVG}text")], len(paths), len(list(root.iter(f"{SVG}polygon"))), dashed


def test_a_dag_has_a_box_per_variable_and_an_arrow_per_edge():
    assert drawn(GRAPH._repr_svg_()) == (GRAPH.names, 4, 4, 0)
    assert GRAPH._repr_svg_() in GRAPH._repr_html_()
    assert "Dag: 5 variables, 4 edges" in GRAPH._repr_html_()


def test_edges_without_a_direction_are_dashed_lines():
    pdag = Pdag(["a", "b", "c"], arrows=[("c", "a")], lines=[("a", "b"), ("b", "c")])
    assert drawn(pdag._repr_svg_()) == (["a", "b", "c"], 3, 1, 2)
    assert "1 arrows, 2 lines" in pdag._repr_html_()


@given(st.integers(1, 7), st.randoms(use_true_random=False))
@settings(max_examples=20)
def test_boxes_lie_within_the_picture_and_not_on_each_other(d, random):
    pairs = [(i, j) for j in range(d) for i in range(j) if random.random() < 0.5]
    dag = Dag.from_edges([(f"v{i}", f"v{j}") for i, j in pairs], [f"v{i}" for i in range(d)])
    root = ET.fromstring(dag._repr_svg_())  # noqa: S314 - our own
    width, height = (float(root.attrib[side]) for side in ("width", "height"))
    boxes = [[float(box.attrib[key]) for key in ("x", "y", "width", "height")] for box in root.iter(f"{SVG}rect")]
    assert len(boxes) == d
    for k, (x, y, w, h) in enumerate(boxes):
        assert 0 <= x <= x + w <= width + 1
        assert 0 <= y <= y + h <= height + 1
        for a, b, v, u in boxes[:k]:
            assert x + w <= a or a + v <= x or y + h <= b or b + u <= y


def test_hostile_names_are_text_in_every_picture_and_table():
    dag = Dag.from_edges([(HOSTILE[0], name) for name in HOSTILE[1:]], HOSTILE)
    rng = np.random.default_rng(0)
    table = pd.DataFrame(rng.normal(size=(60, len(HOSTILE))), columns=HOSTILE)
    found = stability(CausalDiscovery(FixedOrder(HOSTILE), SARTRE(joint=False)), table, n_pairs=1, random_state=0)
    nodes = pd.DataFrame({"n": [1.0]}, index=pd.Index([HOSTILE[0]], name="variable"))
    told = Diagnostics((f"Look at {HOSTILE[0]}.",), nodes, 0.5, 0.5, (), 1.0)
    shown = [dag, dag.with_lines(dag.edges[:1]), found, told, StructuralModel.fit(table, dag)]
    for page in (thing._repr_html_() for thing in shown):
        assert "<script" not in page
        assert "&lt;script&gt;alert(1)" in page or thing_has_no_edges(page)
    assert len(drawn(dag._repr_svg_())[0]) == len(HOSTILE)


def thing_has_no_edges(page):
    return "Stability" in page and "&lt;" not in page


def test_a_large_graph_is_named_and_not_drawn():
    dag = Dag.from_edges([("v0", "v1")], [f"v{j}" for j in range(MOST_DRAWN + 1)])
    texts, n_paths, _, _ = drawn(dag._repr_svg_())
    assert n_paths == 0
    assert f"more than {MOST_DRAWN} variables are not drawn here" in texts[0]


@pytest.fixture(scope="module")
def model():
    rng = np.random.default_rng(0)
    a = rng.normal(size=300)
    table = pd.DataFrame({"a": a, "b": a + rng.normal(size=300)})
    return CausalDiscovery(prune=SARTRE(joint=False), random_state=0).fit(table)


def test_a_fitted_model_shows_its_graph_and_an_unfitted_one_its_settings(model):
    page = model._repr_html_()
    assert model._repr_svg_() in page
    assert drawn(model._repr_svg_())[0] == ["a", "b"]
    assert drawn(model._repr_svg_())[3] == len(model.pdag_.lines) == 1
    assert "1 without a decided direction (dashed)" in page
    assert model._repr_mimebundle_() == {"text/plain": repr(model), "text/html": page}
    assert "sk-" in CausalDiscovery()._repr_html_()
    assert CausalDiscovery()._repr_svg_() is None
    assert set(CausalDiscovery()._repr_mimebundle_()) == {"text/plain", "text/html"}
    with config_context(display="text"):
        assert not hasattr(model, "_repr_html_")
        assert set(model._repr_mimebundle_()) == {"text/plain"}


def test_a_pipeline_learns_the_same_graph_with_names_and_shows_itself(model):
    rng = np.random.default_rng(0)
    a = rng.normal(size=300)
    table = pd.DataFrame({"a": a, "b": a + rng.normal(size=300)})
    steps = [("scale", StandardScaler().set_output(transform="pandas")), ("graph", model.__class__(random_state=0))]
    pipeline = Pipeline(steps).set_params(graph__prune=SARTRE(joint=False))
    fitted = pipeline.fit(table, np.zeros(300)).named_steps["graph"]
    assert fitted.graph_.names == ["a", "b"]
    assert fitted.graph_ == model.graph_
    assert "sk-" in pipeline._repr_html_()


def test_tables_have_a_row_per_variable(model):
    page = model.scm_._repr_html_()
    assert page.count("<tr") == 3
    assert "noise (standard deviation)" in page
    assert "set to 1.0" in model.scm_.do({"a": 1.0})._repr_html_()
    assert model.diagnostics_._repr_html_().count("<li>") == max(1, len(model.diagnostics_.messages))


def test_asking_for_the_names_computes_nothing():
    fresh = CausalDiscovery(FixedOrder([0, 1]), SARTRE(joint=False), random_state=0)
    assert {"fit", "scm_", "edges_"} <= set(dir(fresh.fit(np.random.default_rng(0).normal(size=(50, 2)))))
    assert not {"scm_", "diagnostics_", "edges_"} & set(vars(fresh))

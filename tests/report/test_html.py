from __future__ import annotations

import json
from copy import copy
from html.parser import HTMLParser
from types import SimpleNamespace

import numpy as np
import pandas as pd
import pytest

from sartre import CausalDiscovery, Knowledge, __version__
from sartre.additive import AdditiveRegressor
from sartre.order import FixedOrder
from sartre.prune import CAMPruning
from sartre.report import write_report
from sartre.report.content import MAX_ROWS

SAMPLED = 3000


class Page(HTMLParser):
    """The tags of a page, the text of its scripts and styles, and everything that could load a resource."""

    def __init__(self, text: str) -> None:
        super().__init__()
        self.tags, self.raw, self.loads, self._open = [], {}, [], None
        self.feed(text)

    def handle_starttag(self, tag, attrs):
        self.tags.append(tag)
        self.loads += [value for name, value in attrs if name in {"src", "href", "srcset", "action", "background"}]
        self._open = (tag, dict(attrs).get("id")) if tag in {"script", "style"} else None

    def handle_data(self, data):
        if self._open:
            self.raw[self._open] = self.raw.get(self._open, "") + data


def report(tmp_path, model, X, **settings):
    path = tmp_path / "report.html"
    write_report(model, X, path, **settings)
    text = path.read_text(encoding="utf-8")
    return text, json.loads(Page(text).raw["script", "data"])


def test_the_page_tells_the_model(tmp_path, model, table, found):
    text, data = report(tmp_path, model, table, stability=found)
    names = data["names"]
    assert names == list(table.columns)
    told = [(names[edge["source"]], names[edge["target"]]) for edge in data["edges"]]
    assert sorted(told) == sorted(model.graph_.edges)
    assert [edge["strength"] for edge in data["edges"]] == pytest.approx(model.edges_["strength"], rel=1e-3)
    assert [names[j] for j in data["order"]] == ["a", "c", "b", "d", "lone"]
    pair = model.prune_step_.interactions_.iloc[0]
    assert [names[data["interactions"][0][key]] for key in ("first", "second", "target")] == list(pair[:3])
    assert all(0 <= edge["frequency"] <= 1 for edge in data["edges"])
    run = dict(data["run"])
    assert run["Seed"] == "0"
    assert run["Half-samples"] == "6"
    assert run["Order"].startswith("FixedOrder(")
    assert "penalty='auto'" in run["Pruning"]
    assert "AAAI" in text
    assert "Kanamori" in text


def test_the_page_loads_nothing_and_runs_nothing_but_its_own_script(tmp_path, model, table):
    text, _ = report(tmp_path, model, table)
    page = Page(text)
    assert page.loads == []
    assert page.tags.count("script") == 2
    assert "default-src 'none'" in text
    assert "unsafe" not in text


def test_hostile_names_are_data_and_nothing_else(tmp_path, hostile):
    X, fitted = hostile
    text, data = report(tmp_path, fitted, X)
    page = Page(text)
    assert "<" not in page.raw["script", "data"]
    assert page.tags.count("script") == 2
    assert "img" not in page.tags
    assert data["names"] == list(X.columns)
    assert fitted.graph_.n_edges > 0


def test_without_data_no_sample_is_in_the_page(tmp_path):
    rng = np.random.default_rng(0)
    x = rng.normal(size=300)
    X = pd.DataFrame({"x": x, "y": x**2 + rng.normal(size=300) / 9}) * 1234.56789
    fitted = CausalDiscovery(FixedOrder(["x", "y"]), random_state=0).fit((X - X.mean()) / X.std())
    told, data = report(tmp_path, fitted, X)
    untold, without = report(tmp_path, fitted, X, include_data=False)
    digits = [f"{value:.1f}" for value in np.abs(X.to_numpy().ravel()) if value >= 100]
    assert sum(text in told for text in digits) > 200  # with data they are in the page
    assert len(data["columns"]["0"]) == len(data["residuals"]["1"]) == 300
    assert sum(text in untold for text in digits) <= 3  # a number on a curve may equal one by chance
    assert without["columns"] == without["residuals"] == {}
    assert without["sample"] is None
    assert any("contains no samples" in note for note in without["notes"])
    assert any("contains values of 300 samples" in note for note in data["notes"])


def test_many_rows_are_sampled_and_the_page_says_so(tmp_path):
    rng = np.random.default_rng(0)
    x = rng.normal(size=SAMPLED)
    X = np.column_stack([x, np.sin(x) + rng.normal(size=SAMPLED) / 9])
    fitted = CausalDiscovery(FixedOrder([0, 1]), random_state=0).fit(X)
    text, data = report(tmp_path, fitted, X)
    assert len(data["columns"]["0"]) == MAX_ROWS
    assert f"{MAX_ROWS} of the {SAMPLED} samples, drawn at random" in data["sample"]
    again, _ = report(tmp_path, fitted, X)
    assert Page(again).raw["script", "data"].split('"run"')[0] == Page(text).raw["script", "data"].split('"run"')[0]


def test_points_and_curve_are_a_fit_of_the_target(tmp_path, model, table):
    _, data = report(tmp_path, model, table)
    edge = next(edge for edge in data["edges"] if (edge["source"], edge["target"]) == (0, 1))
    shape = edge["shape"]
    x = np.linspace(shape["low"], shape["high"], len(shape["values"]))
    smooth = AdditiveRegressor().fit(table[["a"]], table["b"]).shape_function("a", x, return_std=True)
    assert shape["values"] == pytest.approx(smooth.values, abs=1e-3)
    assert shape["std"] == pytest.approx(smooth.std, abs=1e-3)
    partial = np.interp(data["columns"]["0"], x, shape["values"]) + np.array(data["residuals"]["1"])
    assert (
        np.abs(partial - (table["b"] - table["b"].mean()))[table["a"].abs() < 2].max() < 0.02
    )  # linear between the points


def test_units_change_the_axes_and_nothing_else(tmp_path, model, table):
    _, data = report(tmp_path, model, table)
    _, scaled = report(tmp_path, model, 10 * table + 500)
    here, there = data["interactions"][0], scaled["interactions"][0]
    assert there["x"][0] > 400
    assert np.array(there["effect"]) == pytest.approx(np.array(here["effect"]), abs=0.1)
    assert np.ptp(scaled["edges"][0]["shape"]["values"]) == pytest.approx(
        10 * np.ptp(data["edges"][0]["shape"]["values"]), rel=0.1
    )


def test_500_variables_stay_small_and_are_not_drawn_at_once(tmp_path, large):
    X, fitted = large
    text, data = report(tmp_path, fitted, X)
    assert fitted.graph_.n_edges > 400
    assert data["positions"] is None
    assert all("shape" in edge for edge in data["edges"])
    assert len(text) < 4e6


def test_a_model_without_tests_or_edges_has_a_report_too(tmp_path):
    X = np.random.default_rng(0).normal(size=(50, 3))
    fitted = CausalDiscovery(FixedOrder([0, 1, 2]), random_state=0).fit(X)
    assert fitted.graph_.n_edges == 0
    _, data = report(tmp_path, fitted, X)
    assert data["edges"] == data["interactions"] == []


def test_other_pruners_and_what_was_known_are_told_too(tmp_path, table):
    known = Knowledge(required=[("lone", "d")])
    fitted = CausalDiscovery(FixedOrder(["lone", "a", "c", "b", "d"]), CAMPruning(), knowledge=known).fit(table)
    _, data = report(tmp_path, fitted, table)
    assert len(data["edges"]) == fitted.graph_.n_edges > 1
    assert (4, 3) in {(edge["source"], edge["target"]) for edge in data["edges"]}
    assert all("shape" in edge for edge in data["edges"])
    assert "lone" in dict(data["run"])["Knowledge"]


def test_a_required_parent_that_is_constant_has_a_flat_function(tmp_path):
    x = np.random.default_rng(0).normal(size=60)
    X = pd.DataFrame({"still": np.full(60, 5.0), "x": x})
    with pytest.warns(UserWarning, match="Constant columns"):
        fitted = CausalDiscovery(
            FixedOrder(["still", "x"]), random_state=0, knowledge=Knowledge(required=[("still", "x")])
        ).fit(X)
    with pytest.warns(UserWarning, match="Constant columns"):
        _, data = report(tmp_path, fitted, X)
    (edge,) = data["edges"]
    assert edge["strength"] is None
    assert set(edge["shape"]["values"]) == {0.0}
    assert edge["shape"]["low"] < 5 < edge["shape"]["high"]


def test_what_diagnostics_say_comes_first(tmp_path, table):
    fitted = CausalDiscovery(FixedOrder(list(table.columns)), random_state=0).fit(table)

    class Said:
        messages = ("Column a looks linear.",)

    fitted.diagnostics_ = Said()
    _, data = report(tmp_path, fitted, table)
    assert data["notes"][0] == "Column a looks linear."


def test_the_page_is_named_after_its_file_and_repeats_the_command(tmp_path, model, table):
    title, command = "<b>cells</b> {{data}}.csv", "sartre discover '<b>cells</b> {{js}}.csv' --report report.html"
    text, data = report(tmp_path, model, table, title=title, command=command)
    assert (data["title"], data["command"]) == (title, command)
    assert "<title>&lt;b&gt;cells&lt;/b&gt; {{data}}.csv</title>" in text
    about = dict(data["about"])
    assert (about["Rows"], about["Columns"], about["Version"]) == ("600", "5", f"sartre {__version__}")
    assert about["Written"].endswith("UTC")
    text, data = report(tmp_path, model, table)
    assert data["title"] is data["command"] is None
    assert "<title>Causal graph</title>" in text


def test_causes_that_act_jointly_are_marked(tmp_path, model, table):
    _, data = report(tmp_path, model, table)
    first, second, target = model.prune_step_.interactions_.iloc[0, :3]
    joint = {(data["names"][edge["source"]], data["names"][edge["target"]]) for edge in data["edges"] if edge["joint"]}
    assert joint == {(first, target), (second, target)}


def test_a_possible_hidden_cause_is_marked_on_its_edge_in_either_direction(tmp_path, model, table):
    told = clone_of(model)
    frame = pd.DataFrame(
        [("b", "a", 3.0, 0.25, True), ("c", "d", 9.0, 1e-9, False)],
        columns=["first", "second", "statistic", "p_value", "mark"],
    )
    told._hidden = SimpleNamespace(frame=frame)
    _, data = report(tmp_path, told, table)
    hidden = {(edge["source"], edge["target"]): edge["hidden_p_value"] for edge in data["edges"] if edge["hidden"]}
    assert hidden == {(0, 1): 0.25}


def test_the_shape_of_an_edge_is_told_in_a_word(tmp_path, model, table):
    told = clone_of(model)
    told.edges_ = model.edges_.assign(shape=["rising", "falling", "U-shaped"])
    _, data = report(tmp_path, told, table)
    assert [edge["trend"] for edge in data["edges"]] == ["rising", "falling", "U-shaped"]
    assert all(set(edge["shape"]) == {"low", "high", "values", "std"} for edge in data["edges"])


def clone_of(model):
    """Return a copy of a fitted model whose results can be replaced."""
    told = copy(model)
    told.__dict__ = dict(vars(model))
    return told


def test_the_model_writes_its_report_itself(tmp_path, model, table):
    model.report(tmp_path / "own.html", table, include_data=False)
    assert "contains no samples" in (tmp_path / "own.html").read_text(encoding="utf-8")


def test_another_table_is_refused_by_name(tmp_path, model, table):
    with pytest.raises(ValueError, match=r"must have the columns a, b, c, d, lone. Got x0"):
        write_report(model, table.to_numpy(), tmp_path / "report.html")
    with pytest.raises(FileNotFoundError, match="no folder"):
        write_report(model, table, tmp_path / "none" / "report.html")
    assert list(tmp_path.iterdir()) == []


@pytest.mark.filterwarnings("ignore:Orderers assume continuous noise")
def test_categories_and_missing_values_can_be_shown(tmp_path):
    rng = np.random.default_rng(0)
    kind = rng.integers(0, 3, size=300)
    frame = pd.DataFrame({"kind": np.array(["red", "green", "blue"])[kind], "x": rng.normal(size=300)})
    frame["y"] = 2.0 * (kind == 1) + frame["x"] * (kind - 1) + rng.normal(size=300) / 3
    frame.loc[:9, "x"] = np.nan
    fitted = CausalDiscovery(FixedOrder(["kind", "x", "y"]), missing="bin", random_state=0).fit(frame)
    assert set(fitted.edges_["source"]) == {"kind", "x"}
    fitted.report(tmp_path / "report.html")
    text = (tmp_path / "report.html").read_text()
    assert "Levels of categories are drawn at scores" in text
    assert "10 missing values were imputed" in text


def test_environments_are_told_one_by_one(tmp_path, experiments):
    X, fitted = experiments
    _, data = report(tmp_path, fitted, X)
    usual, b_set, c_shifted = data["environments"]
    assert [(row["name"], row["rows"], row["reference"]) for row in (usual, b_set, c_shifted)] == [
        ("<i>usual</i>", 500, True),
        ("b set", 200, False),
        ("c shifted", 200, False),
    ]
    assert [(row["set"], row["shifted"]) for row in (usual, b_set, c_shifted)] == [([], []), (["b"], []), ([], ["c"])]
    assert usual["effects"] == b_set["effects"] == []
    assert [(effect["variable"], effect["changes"]) for effect in c_shifted["effects"]] == [("a", None)]
    strength = fitted.environment_effects_.set_index("variable").loc["a", "strength"]
    assert c_shifted["effects"][0]["strength"] == pytest.approx(strength, rel=1e-3)
    seen = fitted.seen_interventions_.set_index("variable")["z"]
    assert b_set["contradiction"]["variable"] == seen.abs().idxmax()
    assert b_set["contradiction"]["z"] == pytest.approx(seen[seen.abs().idxmax()], rel=0.01)
    assert usual["contradiction"] is c_shifted["contradiction"] is None


def test_a_model_without_environments_has_no_panel(tmp_path, model, table):
    text, data = report(tmp_path, model, table)
    assert data["environments"] == []
    assert 'id="environments" aria-labelledby="environments-title" hidden' in text


def test_environments_without_data_tell_no_row(tmp_path, experiments):
    X, fitted = experiments
    told, without = (report(tmp_path, fitted, X, include_data=yes)[1] for yes in (True, False))
    assert without["environments"] == told["environments"] != []
    digits = {f"{value:.1f}" for value in np.abs(X.to_numpy().ravel()) if value >= 100}
    rest = {key: value for key, value in without.items() if key != "edges"}  # these have fitted functions
    assert not [text for text in digits if text in json.dumps(rest)]
    assert len([text for text in digits if text in json.dumps(told["columns"])]) > 200


@pytest.mark.filterwarnings("ignore:Orderers assume continuous noise")
def test_environments_of_a_table_with_categories_are_told_without_a_comparison(tmp_path):
    rng = np.random.default_rng(0)
    kind, x = rng.integers(0, 3, size=300), rng.normal(size=300)
    frame = pd.DataFrame({"kind": np.array(["red", "green", "blue"])[kind], "x": x, "y": x + rng.normal(size=300)})
    where = np.repeat(["usual", "x set"], 150)[rng.permutation(300)]
    fitted = CausalDiscovery(FixedOrder(["kind", "x", "y"]), random_state=0)
    fitted.fit(frame, environment=where, interventions={"x set": ["x"]})
    _, data = report(tmp_path, fitted, frame)
    assert [row["set"] for row in data["environments"]] == [[], ["x"]]
    assert [row["contradiction"] for row in data["environments"]] == [None, None]

"""Edges that a hidden common cause may explain are named in print, kept in the files, and exported."""

from __future__ import annotations

import json

import numpy as np
import pandas as pd
import pytest
from command_line import run

from sartre import Dag, Knowledge, Pdag
from sartre.simulate import random_dag, simulate

SENTENCE = "x -> y: a hidden common cause would explain this as well or better"


@pytest.fixture
def confounded(folder):
    """Write a table: z causes x, w causes y, and something else both x and y. Return what learns it."""
    z, w, u, e, f = np.random.default_rng(0).normal(size=(5, 500))
    x, y = np.sin(2 * z) + u + e / 2, np.sin(2 * w) + u + f / 2
    pd.DataFrame({"z": z, "w": w, "x": x, "y": y}).to_csv(folder / "table.csv", index=False)
    return ["prune", "table.csv", "--order-of", "z,w,x,y"]


def test_a_mark_is_printed_written_and_exported(confounded, folder):
    shown = run(*confounded).output
    assert SENTENCE in shown
    assert shown.count("hidden common cause would") == 1
    document = json.loads((folder / "graph.json").read_text(encoding="utf-8"))
    (mark,) = document["hidden_causes"]
    assert list(mark) == ["first", "second", "statistic", "p_value", "mark"]
    assert (mark["first"], mark["second"], mark["mark"]) == ("x", "y", True)
    assert Pdag.read(folder / "graph.json").hidden == {("x", "y")}
    run("convert", "graph.json", "graph.dagitty")
    text = (folder / "graph.dagitty").read_text(encoding="utf-8")
    assert '"x" <-> "y";' in text
    run("convert", "graph.json", "graph.dot")
    assert Dag.read(folder / "graph.dot").edges == Dag.read(folder / "graph.json").edges


def test_what_is_known_to_be_confounded_makes_no_edge(confounded, folder):
    (folder / "known.toml").write_text('confounded = [["y", "x"]]\n', encoding="utf-8")
    assert Knowledge.read(folder / "known.toml") == Knowledge(confounded=[("x", "y")])
    shown = run(*confounded, "--knowledge", "known.toml").output
    assert SENTENCE not in shown
    assert ("x", "y") not in Dag.read(folder / "graph.json").edges
    document = json.loads((folder / "graph.json").read_text(encoding="utf-8"))
    assert document["run"]["knowledge"] == {"confounded": [["x", "y"]]}


def test_a_simulation_with_hidden_causes_is_the_library_with_the_same_seed(folder):
    run("simulate", "--nodes", "5", "--edges", "4", "--samples", "30", "--hidden", "2", "--hidden-effect", "linear")
    data = simulate(random_dag(5, 4, random_state=0), 30, hidden=2, hidden_effect="linear", random_state=0)
    np.testing.assert_allclose(pd.read_csv(folder / "data.csv"), data.X)
    truth = json.loads((folder / "truth.json").read_text(encoding="utf-8"))
    assert {tuple(pair) for pair in truth["confounded"]} == data.confounded

from __future__ import annotations

import hashlib
from importlib.resources import files

import numpy as np
import pytest

from sartre.data.row_design import read_design
from sartre.datasets import _sachs, load_sachs
from sartre.metrics import shd, sid
from sartre.simulate import Experiment

FOLDER = files("sartre.datasets") / "data"
PROTEINS = ["Raf", "Mek", "Plcg", "PIP2", "PIP3", "Erk", "Akt", "PKA", "PKC", "P38", "Jnk"]


@pytest.mark.parametrize(("subset", "cells"), [("observational", 853), ("full", 7466)])
@pytest.mark.parametrize(("graph", "edges"), [("17", 17), ("20", 20)])
def test_both_tables_go_with_both_graphs(subset, cells, graph, edges):
    X, dag = load_sachs(subset, graph)
    assert X.shape == (cells, 11)
    assert dag.n_edges == edges
    assert list(X.columns) == dag.names == PROTEINS
    assert (X.dtypes == np.float64).all()
    assert X.notna().all(axis=None)
    assert (X >= 1).all(axis=None)


def test_the_first_condition_of_the_full_table_is_the_observational_one():
    observational, full = load_sachs("observational").X, load_sachs("full").X
    assert full.head(853).equals(observational)


def test_the_full_table_says_which_condition_acts_on_what():
    experiment, observational = load_sachs("full"), load_sachs()
    assert isinstance(experiment, Experiment)
    assert not isinstance(observational, Experiment)
    cells = [853, 902, 911, 723, 810, 799, 848, 913, 707]  # as published
    assert experiment.environment.tolist() == np.repeat(range(1, 10), cells).tolist()
    inhibited = {3: ["Akt"], 4: ["PKC"], 5: ["PIP2"], 6: ["Mek"], 7: ["PIP3"]}
    assert experiment.interventions == inhibited | {8: ["PKC"], 9: ["PKA"]}
    design = read_design(experiment.X.to_numpy(), PROTEINS, experiment.environment, experiment.interventions)
    assert design.reference == "2"  # the larger of the two in which nothing was acted on
    assert design.acted.sum(axis=0)[PROTEINS.index("PKC")] == 723 + 913


def test_every_table_has_targets_of_its_own():
    load_sachs("full").interventions[3].append("Raf")
    assert load_sachs("full").interventions[3] == ["Akt"]


@pytest.mark.parametrize(("graph", "distances"), [("17", (17, 53)), ("20", (20, 94))])
def test_the_empty_guess_has_the_known_distances(graph, distances):
    dag = load_sachs(graph=graph).dag
    nothing = np.zeros((11, 11))
    assert (shd(dag, nothing), sid(dag, nothing)) == distances


def test_the_two_graphs_differ_as_documented():
    consensus, variant = set(load_sachs(graph="17").dag.edges), set(load_sachs(graph="20").dag.edges)
    assert variant - consensus == {("PIP2", "PKC"), ("PIP3", "Akt"), ("Plcg", "PKC"), ("PIP3", "Plcg")}
    assert consensus - variant == {("Plcg", "PIP3")}


def test_the_readme_states_the_checksum_of_every_file():
    readme = (FOLDER / "README.md").read_text(encoding="utf-8")
    stored = [entry for entry in FOLDER.iterdir() if entry.name != "README.md"]
    assert len(stored) == 4
    for file in stored:
        assert f"| `{file.name}` |" in readme
        assert hashlib.sha256(file.read_bytes()).hexdigest() in readme


def test_the_compressed_table_carries_no_time_stamp():
    header = (FOLDER / "sachs_full.csv.gz").read_bytes()[:10]
    assert header[3] == 0  # no file name either
    assert header[4:8] == bytes(4)


@pytest.mark.parametrize("table", ["SAMPLES", "GRAPHS"])
def test_a_file_that_was_changed_is_refused(table, monkeypatch):
    damaged = {key: (name, "0" * 64) for key, (name, _) in getattr(_sachs, table).items()}
    monkeypatch.setattr(_sachs, table, damaged)
    with pytest.raises(OSError, match=r"'sachs_\w+\.csv' is not the one .* must be 0{64}\. Got [0-9a-f]{64} instead"):
        load_sachs()


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (
            {"subset": "all"},
            "The 'subset' parameter of load_sachs must be 'observational' or 'full'. Got 'all' instead.",
        ),
        ({"graph": 17}, "The 'graph' parameter of load_sachs must be '17' or '20'. Got 17 instead."),
    ],
)
def test_an_unknown_choice_is_refused_by_name(arguments, message):
    with pytest.raises(ValueError, match="load_sachs") as caught:
        load_sachs(**arguments)
    assert str(caught.value) == message

"""`sartre effect` answers from the model that a run has saved, without its rows."""

from __future__ import annotations

import json

import numpy as np
import pandas as pd
import pytest
from command_line import names_in, run

import sartre
from sartre import Dag


@pytest.fixture
def learnt(folder):
    """Learn dose -> marker -> outcome and dose -> outcome by a known order."""
    rng = np.random.default_rng(0)
    dose = rng.normal(size=400)
    marker = 2 * dose + rng.normal(size=400)
    outcome = dose - 3 * marker + rng.normal(size=400)
    pd.DataFrame({"dose": dose, "marker": marker, "=outcome": outcome}).to_csv(folder / "trial.csv", index=False)
    steps = ("--order-of", "dose,marker,=outcome", "--effort", "fast")
    assert run("prune", "trial.csv", *steps, "--out", "trial").exit_code == 0
    return folder / "trial"


def test_the_total_and_the_direct_effect_are_told_with_intervals(learnt):
    result = run("effect", "trial/model.sartre", "dose", "=outcome", "--samples", "20")
    assert result.exit_code == 0, result.stderr
    assert result.stdout.startswith("Raising dose from ")
    numbers = json.loads(run("effect", "trial/model.sartre", "dose", "=outcome", "--samples", "20", "--json").stdout)
    total, direct = numbers["effects"]
    step = total["end"] - total["start"]
    assert (total["kind"], direct["kind"]) == ("total", "direct")
    assert total["effect"] == pytest.approx(-5 * step, rel=0.15)
    assert direct["effect"] == pytest.approx(step, rel=0.4)
    assert total["low"] < total["effect"] < total["high"]
    for kind, number in (("total", total["effect"]), ("direct", direct["effect"])):
        assert any(
            line.split()[:3] == ["│", kind, "│"] and f"{number:.4g}" in line for line in result.stdout.splitlines()
        )
    assert "model.sartre" in names_in(learnt)


def test_the_saved_model_is_the_graph_that_was_written_and_holds_no_rows(learnt):
    model = sartre.load(learnt / "model.sartre")
    assert model.graph_ == Dag.read(learnt / "graph.json")
    assert model.edges_["shape"].tolist() == pd.read_csv(learnt / "edges.csv")["shape"].tolist()
    assert sorted(Dag.read(learnt / "edges.csv").edges) == sorted(
        tuple(edge) for edge in model.edges_[["source", "target"]].to_numpy()
    )
    with pytest.raises(ValueError, match="needs the rows"):
        _ = model.scm_.residuals


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (("none.sartre", "dose", "marker"), "There is no file 'none.sartre'; check its name and folder."),
        (("trial.csv", "dose", "marker"), "'trial.csv' is not a model that sartre saved: it is no archive."),
        (
            ("trial/model.sartre", "dosis", "marker"),
            "'dosis' is not a variable here. Choose one of dose, marker, =outcome.",
        ),
        (
            ("trial/model.sartre", "dose", "dose"),
            "The cause and the outcome of an effect must be different. Got 'dose' for both.",
        ),
        (
            ("trial/model.sartre", "dose", "marker", "--level", "2"),
            "The 'level' parameter of average_effect must be a float",
        ),
    ],
)
@pytest.mark.usefixtures("learnt")
def test_what_cannot_be_answered_is_said_in_one_sentence(arguments, message):
    result = run("effect", *arguments)
    assert result.exit_code == 2
    assert result.stderr.splitlines()[-1].startswith(f"Error: {message}")
    assert result.stdout == ""


def test_standardised_columns_are_mentioned(folder, learnt):  # noqa: ARG001
    assert run("discover", "trial.csv", "--order", "VarianceSort", "--penalty", "0.1", "--out", "units").exit_code == 0
    result = run("effect", "units/model.sartre", "dose", "marker", "--samples", "5")
    assert "- The columns were standardised: effects are in standard deviations." in result.stdout.splitlines()

"""The script that a run leaves behind: it repeats the run, whatever was chosen."""

from __future__ import annotations

import sys

import numpy as np
import pandas as pd
import pytest

from sartre import Dag
from sartre.app.script import code_of, script
from sartre.app.tasks import learn_graph
from sartre.knowledge.knowledge import Knowledge
from sartre.knowledge.text import knowledge_text
from sartre.order import SCORE, OrderSearch
from sartre.prune import DAS, SARTRE


@pytest.fixture
def table(tmp_path):
    """Write a table with codes of categories and missing values."""
    rng = np.random.default_rng(0)
    site = rng.integers(1, 4, size=240)
    dose = np.array([0.0, 2.0, -1.0])[site - 1] + rng.normal(size=240)
    answer = np.tanh(dose) + rng.normal(size=240) / 3
    weight = rng.normal(size=240)
    frame = pd.DataFrame({"site": site + 1_234_560, "dose": dose, "answer": answer, "weight": weight}).round(3)
    frame.loc[::17, "weight"] = np.nan
    frame.to_csv(tmp_path / "trial.csv", index=False)
    return tmp_path / "trial.csv"


@pytest.mark.filterwarnings("ignore::UserWarning")
@pytest.mark.parametrize(
    "changes",
    [
        {"missing": "impute", "categorical": ["site"], "knowledge": {"roots": ["site"]}},
        {"missing": "drop", "order": "SCORE", "columns": ["dose", "answer", "weight"]},  # standardised
    ],
)
def test_it_gives_the_same_graph(table, tmp_path, monkeypatch, changes):
    request = {"order": "OrderSearch", "prune": "SARTRE", "effort": "fast", "seed": 3, "knowledge": {}}
    request |= {"columns": ["site", "dose", "answer", "weight"], "categorical": None, "stability": None} | changes
    run = tmp_path / "run"
    run.mkdir()
    (run / "knowledge.toml").write_text(knowledge_text(Knowledge(**request["knowledge"])))
    asked = {key: value for key, value in request.items() if key != "knowledge"}
    learnt = learn_graph({**asked, "run": str(run), "source": str(table)}, lambda _: None)
    assert learnt["edges"] > 0
    text = script({**request, "table": str(table)}, learnt, [])
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr(sys, "argv", ["repeat.py"])
    exec(compile(text, "repeat.py", "exec"), {})  # noqa: S102 - our own
    assert Dag.read(tmp_path / "graph.json") == Dag.read(run / "graph.json")


def test_the_code_of_a_step_makes_it_again():
    names = {"SARTRE": SARTRE, "DAS": DAS, "SCORE": SCORE, "OrderSearch": OrderSearch}
    for step in (
        SARTRE(),
        SARTRE(level=0.001, joint=False),
        DAS(prune=SARTRE(penalty=0.1)),
        OrderSearch(effort="fast"),
    ):
        assert repr(eval(code_of(step), names)) == repr(step)  # noqa: S307 - our own

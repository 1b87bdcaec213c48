"""What the page asks for, each done by the functions of the command line and of Python; results are plain for JSON.

A task gets its arguments, and a function that begins a stage of progress. Files are named relative to the session's
folder, in which the process works.
"""

from __future__ import annotations

import json
import pickle
from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from sartre.app.columns import described_table
from sartre.app.script import code_of
from sartre.cli._learning import Asked, learn, load
from sartre.cli._methods import build_model, listed_methods
from sartre.graph.paths import transitive_closure
from sartre.plan.estimate import plan
from sartre.plan.text import duration
from sartre.report.content import report_content
from sartre.report.html import write_report

if TYPE_CHECKING:
    from sartre import CausalDiscovery, Dag

MODEL, CONTENT = "model.pickle", "content.json"  # what a run keeps beside its graph
_loaded: dict[str, dict[str, Any]] = {}  # the run that was asked last

Begin = Callable[[str], None]


def look(arguments: dict[str, Any], begin: Begin) -> dict[str, Any]:
    """Read a table and describe its columns; list the methods that can learn from it."""
    begin("Reading the table")
    frame, _ = load(arguments["source"])
    begin("Looking at the columns")
    return {**described_table(frame), "methods": listed_methods()}


def estimate(arguments: dict[str, Any], begin: Begin) -> dict[str, Any]:
    """Estimate the time and memory of a run."""
    begin("Estimating the time")
    found = plan(build_model(_asked(arguments)), (arguments["rows"], len(arguments["columns"])))
    total = found.total
    known = not np.isnan(total.seconds)  # nothing is known about some methods
    return {
        "seconds": total.seconds if known else None,
        "range": f"{duration(total.low)} to {duration(total.high)}" if known else "not known",
        "text": str(found),
        "advice": [text for text in (found.shortage(), *found.advice) if text is not None],
    }


def learn_graph(arguments: dict[str, Any], begin: Begin) -> dict[str, Any]:
    """Learn a graph as `sartre discover` does, and keep the model and all that the page shows of it."""
    begin("Reading the table")
    asked = _asked(arguments)
    learnt = learn(asked, begin)
    begin("Drawing the graph")
    model, found = learnt.model, learnt.stability
    table = model._table if learnt.original is None else learnt.original  # noqa: SLF001 - as `model.report` does
    content = report_content(model, table, found, include_data=True)
    folder = asked.out_folder
    (folder / CONTENT).write_text(json.dumps(content, allow_nan=False, separators=(",", ":")), encoding="utf-8")
    kept = {"model": model, "table": table, "stability": found}
    (folder / MODEL).write_bytes(pickle.dumps(kept))
    return {
        "rows": learnt.shape[0],
        "columns": learnt.shape[1],
        "edges": model.graph_.n_edges,
        "standardized": learnt.document["run"]["standardized"],
        "order": code_of(model.order),
        "prune": code_of(model.prune),
    }


def effect(arguments: dict[str, Any], begin: Begin) -> dict[str, Any]:
    """Say what an outcome would be if a cause were set to a value, and through which edges."""
    begin("Fitting the structural model")
    model: CausalDiscovery = _kept(arguments["run"])["model"]
    cause, outcome, seed = arguments["cause"], arguments["outcome"], arguments["seed"]
    found = model.scm_.effect(cause, outcome, at=arguments["at"], random_state=seed)
    column = model.scm_.table.values[:, model.graph_.names.index(cause)]
    return {
        "values": found.to_dict("records"),
        "edges": _between(model.graph_, cause, outcome),
        "observed": [float(column.min()), float(column.max())],
    }


def report(arguments: dict[str, Any], begin: Begin) -> dict[str, Any]:
    """Write the report of a run, with or without rows of the table."""
    begin("Writing the report")
    kept = _kept(arguments["run"])
    path = Path(arguments["run"]) / arguments["file"]
    write_report(
        kept["model"], kept["table"], path, stability=kept["stability"], include_data=arguments["include_data"]
    )
    return {"file": path.name}


TASKS: dict[str, Callable[[dict[str, Any], Begin], dict[str, Any]]] = {
    "look": look,
    "estimate": estimate,
    "learn": learn_graph,
    "effect": effect,
    "report": report,
}


def _asked(arguments: dict[str, Any]) -> Asked:
    """Return the request as the command line would make it."""
    folder = Path(arguments["run"]) if "run" in arguments else Path()
    return Asked.of(
        {key: value for key, value in arguments.items() if value is not None},
        knowledge=folder / "knowledge.toml" if "run" in arguments else None,
        out_folder=folder,
    )


def _kept(run: str) -> dict[str, Any]:
    """Return what a run kept; the last one stays in memory."""
    if run not in _loaded:
        _loaded.clear()
        _loaded[run] = pickle.loads((Path(run) / MODEL).read_bytes())  # noqa: S301 - this program wrote it
    return _loaded[run]


def _between(graph: Dag, cause: str, outcome: str) -> list[list[str]]:
    """Return the edges of all directed paths from a cause to an outcome."""
    reached = transitive_closure(graph.adjacency.astype(bool)) | np.eye(len(graph), dtype=bool)
    place = {name: j for j, name in enumerate(graph.names)}
    first, last = place[cause], place[outcome]
    return [[a, b] for a, b in graph.edges if reached[first, place[a]] and reached[place[b], last]]

"""What the page asks for, each done by the functions of the command line and of Python; results are plain for JSON.

A task gets its arguments, and a function that begins a stage of progress. Files are named relative to the session's
folder, in which the process works.
"""

from __future__ import annotations

import json
import warnings
from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from sartre.app.columns import described_table
from sartre.app.script import code_of
from sartre.cli._learning import Asked, learn, load
from sartre.cli._methods import build_model, listed_methods
from sartre.data.checks import MIN_ROWS
from sartre.graph.paths import transitive_closure
from sartre.plan.estimate import plan, starting_steps
from sartre.plan.text import duration
from sartre.report.content import report_content
from sartre.report.html import write_report
from sartre.saving import load as load_model
from sartre.steps import for_resamples

if TYPE_CHECKING:
    from sartre import CausalDiscovery, Dag

KNOWLEDGE, MODEL, CONTENT = "knowledge.toml", "model.sartre", "content.json"  # what a run keeps beside its graph
REPORT, SHARED_REPORT = "report.html", "report-without-rows.html"
_loaded: dict[str, CausalDiscovery] = {}  # the run that was asked last

Begin = Callable[[str], None]


def look(arguments: dict[str, Any], begin: Begin) -> dict[str, Any]:
    """Read a table and describe its columns; list the methods that can learn from it."""
    begin("Reading the table")
    frame, _ = load(arguments["source"])
    begin("Looking at the columns")
    return {**described_table(frame), "methods": listed_methods()}


def estimate(arguments: dict[str, Any], begin: Begin) -> dict[str, Any]:
    """Estimate the time and memory of a run, the half-samples included."""
    begin("Estimating the time")
    asked, shape = _asked(arguments), (arguments["rows"], len(arguments["columns"]))
    model = build_model(asked)
    _, *compiling = starting_steps()  # the program has started
    found = plan(model, shape, starting=compiling)
    plans = [found]
    if asked.stability is not None:
        plans += 2 * asked.stability * [plan(for_resamples(model), (max(MIN_ROWS, shape[0] // 2), shape[1]))]
    seconds, low, high = (sum(getattr(each.total, name) for each in plans) for name in ("seconds", "low", "high"))
    known = not np.isnan(seconds)  # nothing is known about some methods
    return {
        "about": duration(max(1.0, seconds)) if known else None,
        "range": f"{duration(low)} to {duration(high)}" if known else "not known",
        "text": str(found),
        "advice": [text for text in (found.shortage(), *found.advice) if text is not None],
    }


def learn_graph(arguments: dict[str, Any], begin: Begin) -> dict[str, Any]:
    """Learn a graph as `sartre discover` does, and keep the model and all that the page shows of it."""
    begin("Reading the table")
    asked = _asked(arguments)
    learnt = learn(asked, begin)
    begin("Drawing the graph")
    model, found, folder = learnt.model, learnt.stability, asked.out_folder
    table = model._table if learnt.original is None else learnt.original  # noqa: SLF001 - as `model.report` does
    content = report_content(model, table, found, include_data=True)
    (folder / CONTENT).write_text(json.dumps(content, allow_nan=False, separators=(",", ":")), encoding="utf-8")
    write_report(
        model, table, folder / SHARED_REPORT, stability=found, include_data=False, title=Path(asked.source).name
    )
    model.save(folder / MODEL, include_rows=True)
    return {
        "rows": learnt.shape[0],
        "columns": learnt.shape[1],
        "edges": model.graph_.n_edges,
        "standardized": learnt.document["run"]["standardized"],
        "order": code_of(model.order),
        "prune": code_of(model.prune),
    }


def effect(arguments: dict[str, Any], begin: Begin) -> dict[str, Any]:
    """Say what an outcome would be if a cause were set to a value or, without one, to several; and by which edges."""
    begin("Fitting the structural model")
    scm = _model(arguments["run"]).scm_
    ends, seed = (arguments["cause"], arguments["outcome"]), arguments["seed"]
    found = scm.effect(*ends, at=arguments["at"], random_state=seed)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # what there is to say, `effect` has said
        ways = (False, True) if arguments["at"] is None else ()
        averages = [str(scm.average_effect(*ends, direct=direct, random_state=seed)) for direct in ways]
    return {"values": found.to_dict("records"), "averages": averages, "edges": _between(scm.graph, *ends)}


TASKS: dict[str, Callable[[dict[str, Any], Begin], dict[str, Any]]] = {
    "look": look,
    "estimate": estimate,
    "learn": learn_graph,
    "effect": effect,
}


def _asked(arguments: dict[str, Any]) -> Asked:
    """Return the request as the command line would make it."""
    folder = Path(arguments.get("run", ""))
    files = {"knowledge": folder / KNOWLEDGE, "report": folder / REPORT} if "run" in arguments else {}
    return Asked.of({key: value for key, value in arguments.items() if value is not None}, out_folder=folder, **files)


def _model(run: str) -> CausalDiscovery:
    """Return the model of a run; the last one stays in memory."""
    if run not in _loaded:
        _loaded.clear()
        _loaded[run] = load_model(Path(run) / MODEL)
    return _loaded[run]


def _between(graph: Dag, cause: str, outcome: str) -> list[list[str]]:
    """Return the edges of all directed paths from a cause to an outcome."""
    reached = transitive_closure(graph.adjacency.astype(bool)) | np.eye(len(graph), dtype=bool)
    place = {name: j for j, name in enumerate(graph.names)}
    first, last = place[cause], place[outcome]
    return [[a, b] for a, b in graph.edges if reached[first, place[a]] and reached[place[b], last]]

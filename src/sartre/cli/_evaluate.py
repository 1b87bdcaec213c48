"""``sartre evaluate``: how far a graph is from the true one."""

from __future__ import annotations

import json
import multiprocessing
import signal
import warnings
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer
from rich.table import Table

from sartre.cli import _options as option  # noqa: TC001 - typer reads the types
from sartre.cli._console import guarded, out, progress
from sartre.cli._convert import lines_of, read_graph

if TYPE_CHECKING:
    from sartre import Dag

_MEASURES = {  # name in JSON: heading, meaning
    "shd": ("SHD", "edges that are missing, extra or reversed"),
    "sid": ("SID", "pairs whose causal effect is estimated wrongly with the parents in the guess"),
    "parent_aid": ("parent AID", "the same mistakes, counted by adjustment for parents (gadjid)"),
    "ancestor_aid": ("ancestor AID", "... by adjustment for ancestors"),
    "oset_aid": ("oset AID", "... by optimal adjustment"),
    "edge_precision": ("precision", "share of the guessed edges that are true"),
    "edge_recall": ("recall", "share of the true edges that are found"),
    "edge_f1": ("F1", "harmonic mean of the two"),
}
QUICK_TO_COMPARE = 50  # variables: graphs of at most this size are compared in a tenth of a second, however dense
MOST_OSET_STEPS = 2e8  # about half a minute; a chain of 3000 variables has 4e10


def evaluate(
    truth: Annotated[
        str,
        typer.Argument(
            metavar="TRUTH",
            help="The true graph: graph.json, an edge list (.csv or .tsv with columns source and target), .dot, .gml, "
            ".graphml or .dagitty; or sachs, the included data set.",
        ),
    ],
    guess: Annotated[str, typer.Argument(metavar="GUESS", help="The graph to compare, in any of these formats.")],
    *,
    as_json: option.Json = False,
    debug: option.Debug = False,
) -> None:
    """Compare a graph with the true one.

    An edge list does not name variables without an edge; they are taken from the other graph.

    Example: sartre evaluate truth.json graph.json
    """
    with guarded(debug=debug):
        with progress(f"Reading {truth} and {guess}") as begin:
            graphs = _read_both(truth, guess)
            _tell_lines(truth, guess)
            names = _affordable(*graphs)
            begin("Comparing the graphs")
            result = _measured(*graphs, names) if len(graphs[0]) <= QUICK_TO_COMPARE else _elsewhere(*graphs, names)
        if as_json:
            typer.echo(json.dumps(result, indent=2))
        else:
            _print(result)


def _tell_lines(*sources: str) -> None:
    """Say if edges without a direction are counted as arrows."""
    for source in sources:
        n_lines = len(lines_of(source))
        if n_lines:
            warnings.warn(
                f"The directions of {n_lines} edges of '{source}' are not decided; they are counted as arrows, as "
                "drawn. sartre.metrics.shd compares lines, too: give it Pdag.read(...).",
                stacklevel=1,
            )


def _affordable(truth: Dag, guess: Dag) -> list[str]:
    """Return the measures to compute: all, or, with a warning, all but the slow one if the graphs are large."""
    from sartre.graph.paths import transitive_closure

    pairs = int(transitive_closure(guess.adjacency.astype(bool)).sum())
    size = len(guess) + guess.n_edges + truth.n_edges
    if pairs * size <= MOST_OSET_STEPS:
        return list(_MEASURES)
    warnings.warn(
        f"The oset AID was left out, because it would take minutes or hours: the guess has {pairs:,} pairs of a "
        f"variable and a descendant, and the graphs have {size:,} variables and edges. Call sartre.metrics.oset_aid to "
        "compute it.",
        stacklevel=1,
    )
    return [name for name in _MEASURES if name != "oset_aid"]


def _measured(truth: Dag, guess: Dag, names: list[str]) -> dict[str, Any]:
    from sartre import metrics

    sizes = {"variables": len(truth), "true_edges": truth.n_edges, "guessed_edges": guess.n_edges}
    values = {name: getattr(metrics, name)(truth, guess) for name in names}
    return sizes | {name: values.get(name) for name in _MEASURES}


def _elsewhere(truth: Dag, guess: Dag, names: list[str]) -> dict[str, Any]:
    """Measure in another process: compiled code does not react to Ctrl-C, but its process can be ended."""
    ignored = (signal.SIGINT, signal.SIG_IGN)  # by the other process, which this one ends in any case
    with multiprocessing.get_context("spawn").Pool(1, initializer=signal.signal, initargs=ignored) as pool:
        return pool.apply(_measured, (truth, guess, names))


def _print(result: dict[str, Any]) -> None:
    edges = f"{result['guessed_edges']} edges guessed, {result['true_edges']} true"
    out.print(f"{result['variables']} variables, {edges}", soft_wrap=True)
    table = Table("measure", "value", "meaning")
    for name, (heading, meaning) in _MEASURES.items():
        value = result[name]
        shown = "-" if value is None else f"{value:.3f}" if isinstance(value, float) else str(value)
        table.add_row(heading, shown, meaning)
    out.print(table)


def _read_both(truth: str, guess: str) -> tuple[Dag, Dag]:
    """Read two graphs; edge lists borrow the variables of the other graph."""
    from sartre import Dag

    graphs = {source: read_graph(source) for source in (truth, guess)}
    whole = [graph.names for source, graph in graphs.items() if not _is_edge_list(source)]
    names = whole[0] if whole else list(dict.fromkeys(graphs[truth].names + graphs[guess].names))
    for source, graph in graphs.items():
        strange = [name for name in graph.names if name not in names]
        if strange and _is_edge_list(source):
            raise ValueError(f"'{source}' has an edge with '{strange[0]}', which is not a variable of the other graph.")
        if _is_edge_list(source):
            graphs[source] = Dag.from_edges(graph.edges, names)
    return graphs[truth], graphs[guess]


def _is_edge_list(source: str) -> bool:
    from sartre.graph.formats import FORMATS

    fmt = FORMATS.get(Path(source).suffix.lower())
    return fmt is not None and not fmt.lists_all

"""``sartre convert``: write a graph in another format."""

from __future__ import annotations

import warnings
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from sartre.cli import _options as option  # noqa: TC001 - typer reads the types
from sartre.cli._console import guarded, out, progress
from sartre.cli._learning import DATASETS
from sartre.cli._methods import imported

if TYPE_CHECKING:
    from sartre import Dag


def convert(
    source: Annotated[
        str,
        typer.Argument(
            metavar="GRAPH",
            help="graph.json, an edge list (.csv or .tsv with columns source and target), .dot, .gml, .graphml or "
            ".dagitty; or sachs, the included data set.",
        ),
    ],
    target: Annotated[Path, typer.Argument(metavar="FILE", help="The file to write; its extension sets the format.")],
    *,
    fmt: Annotated[
        str | None, typer.Option("--format", metavar="NAME", help="A format of your own, as package.module:FORMAT.")
    ] = None,
    debug: option.Debug = False,
) -> None:
    """Write a graph in another format.

    Edges whose direction is neither decided nor known are written as lines, if the format has lines.

    Example: sartre convert graph.json graph.dot
    """
    with guarded(debug=debug):
        with progress(f"Reading {source}"):
            from sartre.compute.files import check_destination, write_text_atomically
            from sartre.graph.formats import GraphFormat, format_of
            from sartre.settings import listed

            own: Any = format_of(target) if fmt is None else imported(fmt, "format")
            if not isinstance(own, GraphFormat):
                raise ValueError(  # noqa: TRY004 - the option is wrong
                    f"--format must be a GraphFormat. Got {fmt}, which is of type {type(own).__name__}."
                )
            check_destination(target, source)
            graph, lines, hidden = read_graph(source), lines_of(source), hidden_of(source)
            if hidden and own.write_hidden is not None:
                arrows = [edge for edge in graph.edges if edge not in lines]
                write_text_atomically(target, own.write_hidden(graph.names, arrows, lines, hidden))
            elif lines and own.write_lines is not None:
                arrows = [edge for edge in graph.edges if edge not in lines]
                write_text_atomically(target, own.write_lines(graph.names, arrows, lines))
            else:
                graph.write(target, own)
            if lines and own.write_lines is None:
                warnings.warn(
                    f"{len(lines)} edges have no decided direction. This format has only arrows, so they are written "
                    f"as drawn: {listed(f'{a} -> {b}' for a, b in lines)}. Use .json, .dot or .dagitty to keep lines.",
                    stacklevel=1,
                )
            lone = [name for name in graph.names if not (graph.parents(name) or graph.children(name))]
            if lone and not own.lists_all:
                warnings.warn(
                    f"A list of edges cannot name variables without an edge, so these are left out: {listed(lone)}. "
                    "Use another format to keep them.",
                    stacklevel=1,
                )
        out.print(f"Wrote {target}: {len(graph)} variables, {graph.n_edges} edges", soft_wrap=True)


def lines_of(source: str) -> list[tuple[str, str]]:
    """Return the edges of a graph file whose directions are neither decided nor known, as they are drawn."""
    from sartre import Pdag

    return Pdag.read(source).lines if Path(source).is_file() else []


def hidden_of(source: str) -> list[tuple[str, str]]:
    """Return the pairs of a graph file that a hidden common cause may act on."""
    from sartre import Pdag

    return sorted(Pdag.read(source).hidden) if Path(source).is_file() else []


def read_graph(source: str) -> Dag:
    """Read a graph from a file, or take that of a data set; a file has priority over a data set of the same name."""
    from sartre import Dag

    path = Path(source)
    if source in DATASETS and not path.is_file():
        from sartre.datasets import load_sachs

        return load_sachs().dag
    if not path.is_file():
        raise FileNotFoundError(f"There is no file '{source}'; check its name and folder.")
    return Dag.read(path)

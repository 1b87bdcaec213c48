"""``sartre discover`` and ``sartre prune``: learn a graph, with a learnt order or a given one."""

from __future__ import annotations

import json
from pathlib import Path  # noqa: TC003 - typer reads the types
from typing import Annotated

import typer

from sartre.cli import _options as option  # noqa: TC001 - typer reads the types
from sartre.cli._console import guarded, out, progress
from sartre.cli._learning import Asked, Learnt, learn, split_names
from sartre.cli._tables import print_summary
from sartre.cli._typed import typed


def discover(  # noqa: PLR0913 - one argument per option
    context: typer.Context,
    source: option.Source,
    *,
    columns: option.Columns = None,
    exclude: option.Exclude = None,
    categorical: option.Categorical = None,
    log: option.Log = None,
    sheet: option.Sheet = None,
    order: option.Order = "OrderSearch",
    prune: option.Prune = "SARTRE",
    effort: option.Effort = None,
    settings: option.Settings = None,
    level: option.Level = None,
    penalty: option.Penalty = None,
    knowledge: option.Knowledge = None,
    environment: option.Environment = None,
    interventions: option.Interventions = None,
    groups: option.Groups = None,
    missing: option.Missing = "error",
    stability: option.Stability = None,
    certify: option.Certify = None,
    seed: option.Seed = 0,
    jobs: option.Jobs = 1,
    out_folder: option.ResultFolder = None,
    overwrite: option.Overwrite = False,
    report: option.Report = None,
    no_data: option.NoData = False,
    yes: option.Yes = False,
    as_json: option.Json = False,
    debug: option.Debug = False,
) -> None:
    """Learn the causal graph of a table's columns.

    The edges are printed, strongest first. The whole graph is written to graph.json, and the edges alone to edges.csv,
    in a folder named after the table. What you know about the columns can be entered in knowledge-template.toml,
    written beside them, for --knowledge.

    Text columns are treated as categories. A table that cannot be used is refused with a list of all its problems and a
    command that would work.

    Columns keep their units, since the default methods do not depend on them. With --penalty or --order SCORE, which
    do, they are standardised first (mean 0, variance 1).

    Rows of several experiments are told apart by --environment and --interventions, and rows that belong together by
    --groups.

    Example: sartre discover cells.csv --exclude id --stability 50 --report cells.html
    """
    options = locals()
    with guarded(debug=debug):
        asked = Asked.of(options, typed=typed(context))
    _run(asked, as_json=as_json, debug=debug)


def prune(  # noqa: PLR0913 - one argument per option
    context: typer.Context,
    source: option.Source,
    *,
    order_of: Annotated[
        str | None, typer.Option(metavar="A,B,...", help="The order: column names, causes before effects.")
    ] = None,
    order_file: Annotated[
        Path | None, typer.Option(metavar="FILE", help="The order, one name per line, or the graph.json of a run.")
    ] = None,
    exclude: option.Exclude = None,
    categorical: option.Categorical = None,
    log: option.Log = None,
    sheet: option.Sheet = None,
    prune: option.Prune = "SARTRE",
    effort: option.Effort = None,
    settings: option.Settings = None,
    level: option.Level = None,
    penalty: option.Penalty = None,
    knowledge: option.Knowledge = None,
    environment: option.Environment = None,
    interventions: option.Interventions = None,
    groups: option.Groups = None,
    missing: option.Missing = "error",
    stability: option.Stability = None,
    certify: option.Certify = None,
    seed: option.Seed = 0,
    jobs: option.Jobs = 1,
    out_folder: option.ResultFolder = None,
    overwrite: option.Overwrite = False,
    report: option.Report = None,
    no_data: option.NoData = False,
    yes: option.Yes = False,
    as_json: option.Json = False,
    debug: option.Debug = False,
) -> None:
    """Learn the causal graph for a known order of the columns.

    Only the columns in the order are used. Everything else is as in `sartre discover`.

    Example: sartre prune water.csv --order-of rain,river,flood
    """
    options = locals()
    with guarded(debug=debug):
        names = _given_order(order_of, order_file)
        left_out = [] if exclude is None else split_names(exclude)
        order = [name for name in names if name not in left_out]
        asked = Asked.of(options, columns=names, order=order, typed=typed(context))
    _run(asked, as_json=as_json, debug=debug)


def _run(asked: Asked, *, as_json: bool, debug: bool) -> None:
    with guarded(debug=debug):
        with progress(f"Reading {'standard input' if asked.source == '-' else asked.source}") as begin:
            learnt: Learnt = learn(asked, begin)
        if as_json:
            typer.echo(json.dumps(learnt.document, indent=2, allow_nan=False))  # plain ASCII, for any pipe
        else:
            print_summary(learnt, out)


def _given_order(names: str | None, file: Path | None) -> list[str]:
    from sartre.compute.files import reading

    if names is not None and file is None:
        return split_names(names)
    if names is not None or file is None:
        raise ValueError("Give the order by exactly one of --order-of and --order-file.")
    if not file.is_file():
        raise FileNotFoundError(f"There is no file '{file}'; check its name and folder.")
    try:
        with reading(file):
            text = file.read_text(encoding="utf-8-sig")
        if file.suffix.lower() != ".json":
            return [line.strip() for line in text.splitlines() if line.strip()]
        return [str(name) for name in json.loads(text)["order"]]
    except (ValueError, TypeError, KeyError, RecursionError):  # the last: brackets in brackets, too deep for a parser
        raise ValueError(
            f"'{file}' does not hold an order; write one name per line, or give the graph.json of a run."
        ) from None

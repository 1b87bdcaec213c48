"""The command line: ``sartre discover`` parses, calls the library and prints.

The library is imported inside the commands, so that ``sartre --help`` answers at once.
"""

from __future__ import annotations

import io
import json
import logging
import sys
import time
import warnings
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer
from rich.console import Console
from rich.table import Table
from rich.text import Text

if TYPE_CHECKING:
    from collections.abc import Iterator

    import pandas as pd
    from rich.status import Status

    from sartre import CausalDiscovery, Dag
    from sartre.validation import Table as Data

DATASETS = ("sachs",)
_SHOWN_EDGES = 100
_SECONDS_BETWEEN_LINES = 2.0

app = typer.Typer(no_args_is_help=True, add_completion=False, rich_markup_mode=None, pretty_exceptions_enable=False)
out = Console(markup=False, highlight=False, emoji=False)
err = Console(markup=False, highlight=False, emoji=False, stderr=True)


def main() -> None:
    """Run the command line."""
    for stream in (sys.stdout, sys.stderr):
        if isinstance(stream, io.TextIOWrapper):
            stream.reconfigure(errors="replace")  # a name that the terminal cannot show is no reason to fail
    app(prog_name="sartre")


def _print_version(wanted: bool) -> None:
    if wanted:
        from sartre import __version__  # noqa: PLC0415

        out.print(f"sartre {__version__}")
        raise typer.Exit


@app.callback()
def sartre(
    *,
    _version: Annotated[
        bool, typer.Option("--version", callback=_print_version, is_eager=True, help="Show the version and exit.")
    ] = False,
) -> None:
    """Learn a causal graph from a table of observations.

    First an order of the variables, causes before effects; then every edge that the data does not need is dropped.

    Try it on the protein data that comes along: sartre discover sachs
    """


@app.command()
def discover(
    source: Annotated[
        str,
        typer.Argument(
            metavar="SOURCE", help="A CSV or TSV file, one row a sample, or a data set that comes along: sachs."
        ),
    ],
    *,
    out_file: Annotated[Path, typer.Option("--out", help="Where the graph goes, as JSON.")] = Path("graph.json"),
    report: Annotated[
        Path | None, typer.Option(help="Also write a report to look at in a browser: one HTML file.")
    ] = None,
    no_data: Annotated[
        bool, typer.Option("--no-data", help="Put no row of the table into the report, so that it can be shared.")
    ] = False,
    level: Annotated[
        float | None, typer.Option(help="False parents a variable, where nothing has an effect: 0.01 if not given.")
    ] = None,
    penalty: Annotated[
        float | None, typer.Option(help="The paper's penalty, above 0, instead of tests: the higher, the fewer edges.")
    ] = None,
    seed: Annotated[int, typer.Option(help="Same seed, same graph.")] = 0,
    jobs: Annotated[int, typer.Option(help="Threads; -1 for one a core. The graph does not depend on it.")] = 1,
    debug: Annotated[bool, typer.Option("--debug", help="Show the traceback of an error.")] = False,
) -> None:
    """Learn the causal graph of a table's columns.

    Its edges are printed, strongest first, and the graph is written to a file. The columns are standardised before
    (mean 0, variance 1), so that units do not matter.

    Example: sartre discover cells.csv --out graph.json --level 0.001
    """
    with _errors_in_one_sentence(debug=debug), _warnings_in_one_line():
        from sartre.files import check_destination, write_text_atomically  # noqa: PLC0415
        from sartre.validation import as_table  # noqa: PLC0415

        check_destination(out_file, source)
        _check_report(report, source, out_file, no_data=no_data)
        frame, truth = _load(source)
        data = as_table(frame)
        table = data.standardized()
        start = time.perf_counter()
        model = _fit(table, penalty=penalty, level=level, seed=seed, jobs=jobs)
        seconds = time.perf_counter() - start
        comparison = None if truth is None else _comparison(truth, model.graph_)
        write_text_atomically(out_file, _as_json(model, source))
        if report is not None:
            with _progress():
                model.report(report, data, include_data=not no_data)
        rows, columns = table.shape
        n_edges = model.graph_.n_edges
        summary = f"{rows} rows, {columns} columns, standardised; {n_edges} edges in {seconds:.1f} s"
        out.print(f"{source}: {summary}", soft_wrap=True)
        _print_edges(model.edges_, out_file)
        out.print("Order: " + ", ".join(_ordered_names(model)), soft_wrap=True)
        if comparison is not None:
            out.print(comparison, "SHD counts wrong edges, SID wrong causal effects: lower is better.", sep="\n")
        out.print(f"Wrote {out_file}" + ("" if report is None else f" and {report}"), soft_wrap=True)


def _check_report(report: Path | None, source: str, out_file: Path, *, no_data: bool) -> None:
    """Refuse what would fail after a long run, before it."""
    if report is None:
        if no_data:
            raise ValueError("--no-data says what goes into a report; add --report FILE.")
        return
    from sartre.files import check_destination  # noqa: PLC0415
    from sartre.report.layout import require_igraph  # noqa: PLC0415

    check_destination(report, source)
    if report.resolve() == out_file.resolve():
        raise ValueError(f"Graph and report cannot both go to '{report}'; name two files.")
    require_igraph()


def _load(source: str) -> tuple[pd.DataFrame, Dag | None]:
    """Return a table and, where it is known, its true graph; a file wins over a data set of the same name."""
    from sartre.files import read_table  # noqa: PLC0415

    if source in DATASETS and not Path(source).is_file():
        from sartre.datasets import load_sachs  # noqa: PLC0415

        data = load_sachs()
        return data.X, data.dag
    if not Path(source).exists():
        raise FileNotFoundError(
            f"There is no file '{source}', nor a data set of that name (there is {', '.join(DATASETS)}); "
            "check its name and folder."
        )
    return read_table(source), None


def _fit(table: Data, *, penalty: float | None, level: float | None, seed: int, jobs: int) -> CausalDiscovery:
    from sartre import CausalDiscovery  # noqa: PLC0415
    from sartre.prune import SARTRE  # noqa: PLC0415

    with _progress():
        prune = SARTRE(penalty="auto" if penalty is None else penalty, level=level)
        return CausalDiscovery(prune=prune, n_jobs=jobs, random_state=seed).fit(table)


def _ordered_names(model: CausalDiscovery) -> list[str]:
    return [model.graph_.names[j] for j in model.order_]


def _as_json(model: CausalDiscovery, source: str) -> str:
    """Return the graph with all that was run to learn it; `Dag.from_dict` reads the graph back."""
    from sartre import __version__  # noqa: PLC0415

    edges = _records(model.edges_)
    pairs = getattr(model.prune_step_, "interactions_", None)
    interactions = {} if pairs is None else {"interactions": _records(pairs)}
    run = {
        "version": __version__,
        "source": source,
        "standardized": True,
        "seed": model.random_state,
        "order": {"method": type(model.order_step_).__name__, **model.order_step_.get_params()},
        "prune": {"method": type(model.prune_step_).__name__, **model.prune_step_.get_params()},
    }
    document = {**model.graph_.to_dict(), "edges": edges, **interactions, "order": _ordered_names(model), "run": run}
    return json.dumps(document, indent=2, ensure_ascii=False, allow_nan=False) + "\n"


def _records(frame: pd.DataFrame) -> list[dict[str, object]]:
    """Return the rows of a table as JSON knows them: no number is null."""
    return frame.astype(object).where(frame.notna(), None).to_dict("records")


def _print_edges(edges: pd.DataFrame, out_file: Path) -> None:
    if edges.empty:
        out.print("No edge is worth its price; raise --level (or lower --penalty) to keep more.")
        return
    tested = edges["p_value"].notna().any()
    table = Table()
    for name in ("source", "target"):
        table.add_column(name, overflow="fold")
    for name in ("strength", "p-value" if tested else "margin"):
        table.add_column(name, justify="right", no_wrap=True)
    for edge in edges.head(_SHOWN_EDGES).itertuples():
        evidence = f"{edge.p_value:.1e}" if tested else f"{edge.margin:.2f}"
        table.add_row(edge.source, edge.target, f"{edge.strength:.3f}", evidence)
    out.print(table)
    if len(edges) > _SHOWN_EDGES:
        out.print(f"... and {len(edges) - _SHOWN_EDGES} weaker edges, in {out_file}", soft_wrap=True)
    out.print("strength: share of the target's variance that is lost without the source")
    if tested:
        out.print(
            "p-value: of the test that kept the edge; the model was chosen on the same rows, so it ranks edges only"
        )
    else:
        out.print("margin: pull of the source over the penalty; at 1 the edge is just kept")


def _comparison(truth: Dag, learnt: Dag) -> Table:
    """Return a table that sets the learnt graph, and a graph without edges, against the true one."""
    from sartre import Dag, metrics  # noqa: PLC0415

    table = Table()
    table.add_column(f"against the {truth.n_edges} known edges")
    for name in ("SHD", "SID", "precision", "recall"):
        table.add_column(name, justify="right")
    table.add_row(
        "learnt graph",
        str(metrics.shd(truth, learnt)),
        str(metrics.sid(truth, learnt)),
        f"{metrics.edge_precision(truth, learnt):.2f}",
        f"{metrics.edge_recall(truth, learnt):.2f}",
    )
    empty = Dag.from_edges([], truth.names)
    table.add_row("graph without edges", str(metrics.shd(truth, empty)), str(metrics.sid(truth, empty)), "-", "0.00")
    return table


@contextmanager
def _errors_in_one_sentence(*, debug: bool) -> Iterator[None]:
    try:
        yield
    except KeyboardInterrupt:
        err.print("Stopped.")
        raise typer.Exit(130) from None
    except Exception as error:
        if debug:
            raise
        err.print(f"Error: {_sentence(error)}", soft_wrap=True)
        raise typer.Exit(2) from None


def _sentence(error: Exception) -> str:
    if isinstance(error, OSError) and error.strerror:
        return f"{error.strerror}: '{error.filename}'."
    text = " ".join(str(error).split())
    if isinstance(error, (ValueError, TypeError, OSError, ImportError)):
        return text
    return f"Unexpected {type(error).__name__}: {text}; run again with --debug to see where."


@contextmanager
def _warnings_in_one_line() -> Iterator[None]:
    def show(message: Warning | str, *_: object, **__: object) -> None:
        err.print(f"Warning: {' '.join(str(message).split())}", soft_wrap=True)

    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        for category in (UserWarning, RuntimeWarning):
            warnings.simplefilter("default", category)
        warnings.showwarning = show
        yield


class _ProgressHandler(logging.Handler):
    """Show log messages in a spinner, or, without a terminal, as a line every few seconds."""

    def __init__(self, status: Status | None) -> None:
        super().__init__(logging.INFO)
        self._status = status
        self._last = time.monotonic()

    def emit(self, record: logging.LogRecord) -> None:
        if self._status is not None:
            self._status.update(Text(record.getMessage()))
        elif time.monotonic() - self._last >= _SECONDS_BETWEEN_LINES:
            self._last = time.monotonic()
            err.print(record.getMessage(), soft_wrap=True)


@contextmanager
def _progress() -> Iterator[None]:
    status = err.status("Learning the graph") if err.is_terminal else None
    handler = _ProgressHandler(status)
    logger = logging.getLogger("sartre")
    level = logger.level
    logger.addHandler(handler)
    logger.setLevel(logging.INFO)
    try:
        if status is not None:
            status.start()
        yield
    finally:
        if status is not None:
            status.stop()
        logger.setLevel(level)
        logger.removeHandler(handler)

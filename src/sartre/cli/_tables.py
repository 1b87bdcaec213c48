"""What is printed about a learnt graph."""

from __future__ import annotations

from typing import TYPE_CHECKING

from rich.table import Table

if TYPE_CHECKING:
    import pandas as pd
    from rich.console import Console

    from sartre import Dag
    from sartre.cli._learning import Learnt

SHOWN_EDGES = SHOWN_NAMES = 100


def print_summary(learnt: Learnt, out: Console) -> None:
    """Print the edges, the order, how they compare with what is known, and what was written."""
    asked, model = learnt.asked, learnt.model
    rows, columns = learnt.shape
    units = ", standardised" if learnt.document["run"]["standardized"] else ""
    size = f"{rows} rows, {columns} columns{units}"
    out.print(f"{asked.source}: {size}; {model.graph_.n_edges} edges in {model.fit_seconds_:.1f} s", soft_wrap=True)
    if "rows_seen" in learnt.document["run"]:
        seen = ", ".join(f"{name} {count:,}" for name, count in model.rows_seen_.items())
        out.print(f"Rows seen: {seen}", soft_wrap=True)
    _print_edges(learnt.edges, str(asked.graph_file), out)
    if asked.stability is not None:
        bound = learnt.document["stability"]["false_edges_bound"]
        out.print(f"At most {bound:.2g} edges with a frequency of 0.6 or more are expected by chance", soft_wrap=True)
    order = learnt.document["order"]
    rest = f" and {len(order) - SHOWN_NAMES} more, in {asked.graph_file}" if len(order) > SHOWN_NAMES else ""
    out.print(f"Order: {', '.join(map(_in_one_line, order[:SHOWN_NAMES]))}{rest}", soft_wrap=True)
    if learnt.truth is not None:
        out.print(_comparison(learnt.truth, model.graph_))
        out.print("SHD counts wrong edges, SID wrong causal effects: lower is better.")
    written = [asked.graph_file, asked.out_folder / "edges.csv", *([] if asked.report is None else [asked.report])]
    out.print(f"Wrote {', '.join(map(str, written[:-1]))} and {written[-1]}", soft_wrap=True)


def _print_edges(edges: pd.DataFrame, file: str, out: Console) -> None:
    if edges.empty:
        remedy = "with SARTRE, raise --level (or lower --penalty) to keep more."
        out.print(f"No edges were kept; {remedy}", soft_wrap=True)
        return
    from pandas import isna

    evidence, notes = _evidence(edges)
    table = Table()
    for name in ("source", "target"):
        table.add_column(name, overflow="fold")
    for name in evidence:
        table.add_column(name, justify="right", no_wrap=True)
    for edge in edges.head(SHOWN_EDGES).to_dict("records"):
        cells = ["-" if isna(edge[column]) else f"{edge[column]:{form}}" for column, form in evidence.values()]
        table.add_row(_in_one_line(edge["source"]), _in_one_line(edge["target"]), *cells)
    out.print(table)
    if len(edges) > SHOWN_EDGES:
        out.print(f"... and {len(edges) - SHOWN_EDGES} weaker edges, in {file}", soft_wrap=True)
    for note in notes:
        out.print(note, soft_wrap=True)


def _in_one_line(name: str) -> str:
    """Show the line ends and tabs of a name as escapes; the console does so for other control characters."""
    return name.replace("\n", "\\n").replace("\t", "\\t")


def _evidence(edges: pd.DataFrame) -> tuple[dict[str, tuple[str, str]], list[str]]:
    """Return the columns with evidence about the edges, by heading, and what they mean."""
    shown = {"strength": ("strength", ".3f")}
    notes = ["strength: share of the target's variance that is lost without the source"]
    if edges["p_value"].notna().any():
        shown["p-value"] = ("p_value", ".1e")
        notes.append(
            "p-value: of the test that kept the edge; the model was chosen on the same rows, so it only ranks edges"
        )
    elif edges["margin"].notna().any():
        shown["margin"] = ("margin", ".2f")
        notes.append("margin: gradient of the source divided by the penalty; at 1 the edge is only just kept")
    if "frequency" in edges:
        shown |= {"frequency": ("frequency", ".2f"), "before": ("before", ".2f")}
        notes.append(
            "frequency, before: share of the half-samples that have the edge, and that order the source before the "
            "target"
        )
    return shown, notes


def _comparison(truth: Dag, learnt: Dag) -> Table:
    """Return a table that compares the learnt graph, and a graph without edges, with the true one."""
    from sartre import Dag, metrics

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

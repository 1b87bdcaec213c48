"""What is printed about a learnt graph."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from rich.table import Table

if TYPE_CHECKING:
    import pandas as pd
    from rich.console import Console

    from sartre import Dag
    from sartre.cli._learning import Asked, Learnt

SHOWN_EDGES = SHOWN_NAMES = 100


def print_summary(learnt: Learnt, out: Console) -> None:
    """Print the edges, the order, how they compare with what is known, and what was written."""
    from sartre.cli._certificates import certified_marks
    from sartre.evidence.diagnostics import NONE_FAILED
    from sartre.evidence.graph_checks import VAGUE_SHARE
    from sartre.evidence.stability import THRESHOLD
    from sartre.steps import findings_of

    asked, model = learnt.asked, learnt.model
    rows, columns = learnt.shape
    units = ", standardised" if learnt.document["run"]["standardized"] else ""
    size = f"{rows} rows, {columns} columns{units}"
    out.print(f"{asked.source}: {size}; {model.graph_.n_edges} edges in {model.fit_seconds_:.1f} s", soft_wrap=True)
    if "rows_seen" in learnt.document["run"]:
        seen = ", ".join(f"{name} {count:,}" for name, count in model.rows_seen_.items())
        out.print(f"Rows seen: {seen}", soft_wrap=True)
    edges = learnt.edges
    if asked.certify is not None:
        edges = edges.assign(certified=certified_marks(edges, learnt.document["certificates"]))
    _print_edges(edges, str(asked.graph_file), out)
    _print_environments(model.environment_effects_, str(asked.graph_file), out)
    _print_hidden(model.hidden_causes_, out)
    for note in [*findings_of(model.prune_step_).notes, *learnt.document["diagnostics"]]:
        out.print(f"- {note}", soft_wrap=True)
    if not learnt.document["diagnostics"]:
        out.print(f"Diagnostics: {NONE_FAILED}", soft_wrap=True)
    if asked.stability is not None:
        bound = learnt.document["stability"]["false_edges_bound"]
        n_frequent = int((learnt.edges["frequency"] >= THRESHOLD).sum())
        vague = f"; with {n_frequent} such edges, this says nothing" if bound > VAGUE_SHARE * n_frequent else ""
        out.print(
            f"At most {bound:.2g} edges with a frequency of {THRESHOLD} or more are expected by chance{vague}",
            soft_wrap=True,
        )
        joint = getattr(model.prune_step_, "joint_terms_", None)
        if joint is not None and len(joint) and model.prune_step_.joint is not True:
            out.print(
                "Half-samples do not look for joint effects (--effort thorough does), so that edges to "
                f"{', '.join(map(_in_one_line, joint['target']))} may look less stable than they are",
                soft_wrap=True,
            )
    if asked.certify is not None:
        _print_promise(learnt.document["certificates"], asked, order=learnt.document["order"], out=out)
    order = learnt.document["order"]
    rest = f" and {len(order) - SHOWN_NAMES} more, in {asked.graph_file}" if len(order) > SHOWN_NAMES else ""
    out.print(f"Order: {', '.join(map(_in_one_line, order[:SHOWN_NAMES]))}{rest}", soft_wrap=True)
    if learnt.truth is not None:
        out.print(_comparison(learnt.truth, model.graph_))
        out.print("SHD counts wrong edges, SID wrong causal effects: lower is better.")
    written = [
        asked.graph_file,
        asked.edges_file,
        asked.model_file,
        *([asked.template_file] if learnt.wrote_template else []),
    ]
    written += [] if asked.report is None else [asked.report]
    if not learnt.wrote_template:
        out.print(f"Left {asked.template_file} as it is", soft_wrap=True)
    out.print(f"Wrote {', '.join(map(str, written[:-1]))} and {written[-1]}", soft_wrap=True)


def _print_promise(certificates: dict[str, Any], asked: Asked, order: list[str], out: Console) -> None:
    """Print what is promised about certified edges, and the order that it refers to if it is not that of the graph."""
    out.print(certificates["promise"], soft_wrap=True)
    if not any(each["certified"] for each in certificates["statements"]):
        return
    if asked.order_file is not None:
        out.print(f"This is void if the order in {asked.order_file} was learnt from these rows", soft_wrap=True)
    if certificates["order"] != order:
        names = certificates["order"][:SHOWN_NAMES]
        out.print(
            "They refer to the order learnt on a third of the rows, since statements are tested on others; edges that "
            f"it turns round are marked as turned: {', '.join(map(_in_one_line, names))}",
            soft_wrap=True,
        )


def _print_edges(edges: pd.DataFrame, file: str, out: Console) -> None:
    if edges.empty:
        remedy = "with SARTRE, raise --level (or lower --penalty) to keep more."
        out.print(f"No edges were kept; {remedy}", soft_wrap=True)
        return
    from pandas import isna

    evidence, notes = _evidence(edges)
    table = Table()
    table.add_column("source", overflow="fold")
    table.add_column("", no_wrap=True)
    table.add_column("target", overflow="fold")
    for name in evidence:
        table.add_column(name, justify="right", no_wrap=True)
    for edge in edges.head(SHOWN_EDGES).to_dict("records"):
        known = {"direction_confidence"} if edge["direction"] == "known" else set()
        cells = [
            "known" if column in known else "-" if isna(edge[column]) else f"{edge[column]:{form}}"
            for column, form in evidence.values()
        ]
        arrow = "->" if edge["direction"] in ("decided", "known") else "--"
        table.add_row(_in_one_line(edge["source"]), arrow, _in_one_line(edge["target"]), *cells)
    out.print(table)
    if len(edges) > SHOWN_EDGES:
        out.print(f"... and {len(edges) - SHOWN_EDGES} weaker edges, in {file}", soft_wrap=True)
    for note in notes:
        out.print(note, soft_wrap=True)


def _print_environments(effects: pd.DataFrame | None, file: str, out: Console) -> None:
    """Print which variables each environment shifts itself, and which effects it changes."""
    if effects is None or effects.empty:
        return
    out.print("What environments act on directly:")
    table = Table()
    for name in ("environment", "variable"):
        table.add_column(name, overflow="fold")
    table.add_column("strength", justify="right")
    for effect in effects.head(SHOWN_EDGES).to_dict("records"):
        strength = f"changes the effect of {effect['changes']}" if effect["changes"] else f"{effect['strength']:.3f}"
        table.add_row(*(_in_one_line(text) for text in (effect["environment"], effect["variable"], strength)))
    out.print(table)
    if len(effects) > SHOWN_EDGES:
        out.print(f"... and {len(effects) - SHOWN_EDGES} more, in {file}", soft_wrap=True)


def _print_hidden(found: pd.DataFrame, out: Console) -> None:
    """Print for which edges a hidden common cause is as good an explanation."""
    from sartre.evidence.hidden_causes import marked_pairs, sentences

    for line in sentences(marked_pairs(found)):
        out.print(_in_one_line(line), soft_wrap=True)


def _in_one_line(name: str) -> str:
    """Show the line ends and tabs of a name as escapes; the console does so for other control characters."""
    return name.replace("\n", "\\n").replace("\t", "\\t")


def _evidence(edges: pd.DataFrame) -> tuple[dict[str, tuple[str, str]], list[str]]:
    """Return the columns with evidence about the edges, by heading, and what they mean."""
    shown = {"strength": ("strength", ".3f")}
    notes = ["strength: share of the target's variance that is lost without the source, the other causes fitted again"]
    if edges["direction_confidence"].notna().any():
        shown["confidence"] = ("direction_confidence", ".2f")
        notes.append(
            "confidence: how likely the direction is to be right, if the model holds; known where knowledge or a given "
            "order settles it"
        )
    states = set(edges["direction"])
    if "undecided" in states:
        notes.append("--: the data do not decide the direction; below 0.5 they favour the other one")
    if "unchecked" in states:
        notes.append("-- without a confidence: the direction was not checked, for the reason given below")
    if edges["p_value"].isna().all() and edges["margin"].notna().any():
        shown["margin"] = ("margin", ".2f")
        notes.append("margin: gradient of the source divided by the penalty; at 1 the edge is only just kept")
    if "frequency" in edges:
        shown |= {"frequency": ("frequency", ".2f"), "before": ("before", ".2f")}
        notes.append(
            "frequency, before: share of the half-samples that have the edge, and that order the source before the "
            "target"
        )
    if "certified" in edges:
        shown["certified"] = ("certified", "s")
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

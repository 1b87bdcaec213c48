"""Checks of a learnt graph: arrows that no data can decide, causes of age or sex, and a bound that says nothing."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

import numpy as np

from sartre.evidence.directions import MOST_COLUMNS_WEIGHED, unweighable
from sartre.evidence.table_checks import FEW_VALUES
from sartre.knowledge.template import TEMPLATE_NAME, likely_roots
from sartre.prune.mechanisms import parent_columns
from sartre.settings import listed
from sartre.steps import findings_of

if TYPE_CHECKING:
    import pandas as pd
    from numpy.typing import NDArray

    from sartre.data.table import Table
    from sartre.graph.dag import Dag
    from sartre.steps import Mechanism

STRAIGHT = 0.98  # squared correlation of a curve with its line
LITTLE_EVIDENCE = 2.0  # nats: with more, an undecided edge does not look the same in both directions
PERHAPS_NORMAL = 0.01  # p-value of the test of normal noise
VAGUE_SHARE = 1 / 3  # of the edges that may be false before the bound says nothing


def about_lines(model: Any, table: Table, mechanisms: Mapping[str, Mechanism], nodes: pd.DataFrame) -> list[str]:
    """Name the edges that are straight lines with normal noise at both ends, and look the same in both directions."""
    edges = getattr(model, "edges_", None)
    if edges is None or "direction" not in edges:
        return []
    normal = nodes["normality"] > PERHAPS_NORMAL
    shown = []
    alike = (edges["direction"] == "undecided") & (edges["direction_evidence"].abs() <= LITTLE_EVIDENCE)
    for source, target in edges.loc[alike, ["source", "target"]].itertuples(index=False):
        if normal[source] and normal[target] and _is_line(table, model.graph_, mechanisms[target], source, target):
            shown.append(f"{source} -- {target}")
    if not shown:
        return []
    message = (
        f"Some relations look like straight lines with normal noise: {listed(shown)}. Such relations are the same in "
        "both directions, so that more rows would hardly decide these arrows. State directions that you know in "
        "'knowledge', or read the graph without them ('pdag_')."
    )
    return [message]


def about_unchecked(model: Any, table: Table) -> list[str]:
    """Say how many directions were not checked, and why."""
    edges = getattr(model, "edges_", None)
    if edges is None or "direction" not in edges or not (edges["direction"] == "unchecked").any():
        return []
    unchecked = edges[edges["direction"] == "unchecked"]
    odd = {table.names[j] for j in unweighable(table)}
    named = sorted(odd & {*unchecked["source"], *unchecked["target"]}, key=table.names.index)
    others = ~(unchecked["source"].isin(odd) | unchecked["target"].isin(odd))
    if not getattr(model, "directions", True):
        reasons = ["'directions' is False"]
    elif len(table.names) > MOST_COLUMNS_WEIGHED:
        reasons = [f"there are more than {MOST_COLUMNS_WEIGHED} columns"]
    else:
        few = f"there are categories, missing values or fewer than {FEW_VALUES} distinct values in {listed(named)}"
        reasons = [*([few] if named else []), *(["the weighing was interrupted"] if others.any() else [])]
    message = (
        f"The directions of {len(unchecked)} of {len(edges)} edges were not checked, because {' and '.join(reasons)}. "
        "Read these edges as lines ('pdag_'), or state directions that you know in 'knowledge'."
    )
    return [message]


def _is_line(table: Table, graph: Dag, mechanism: Mechanism, source: str, target: str) -> bool:
    """Return whether a parent acts on its own, and by a straight line over its values."""
    columns = parent_columns(graph, target)
    j = table.names.index(source)
    place = columns.index(j)
    if any(place in pair for pair in mechanism.pairs):
        return False
    x: NDArray[np.float64] = table.values[~table.missing[:, j], j]
    curve = mechanism.curve(place, x).values
    if not np.ptp(curve) > 0:
        return False
    return float(np.corrcoef(x, curve)[0, 1]) ** 2 > STRAIGHT


def about_roots(model: Any) -> list[str]:
    """Name columns such as age and sex that have a cause in the graph, unless it was known."""
    graph, edges = model.graph_, getattr(model, "edges_", None)
    said: dict[tuple[str, str], str] = {}
    if edges is not None and "direction" in edges:
        said = dict(zip(zip(edges["source"], edges["target"], strict=True), edges["direction"], strict=True))
    roots = set(likely_roots(graph.names))
    wrong = [
        f"{a} {'--' if said.get((a, b)) in ('undecided', 'unchecked') else '->'} {b}"
        for a, b in graph.edges
        if b in roots and a not in roots and said.get((a, b)) != "known"
    ]
    if not wrong:
        return []
    message = (
        "In the learnt order, something comes before what is settled at birth or by the calendar, and acts on it: "
        f"{listed(wrong)}. This is hardly right, and other arrows may be wrong because of it. Say so in 'knowledge', "
        f"as roots or in the first tier ({TEMPLATE_NAME}, which the command line writes, is a start)."
    )
    return [message]


def about_bound(model: Any) -> list[str]:
    """Say if the expected number of false edges is so large that it says nothing about those that were found."""
    bound, n_edges = findings_of(getattr(model, "prune_step_", None)).false_edges_bound, model.graph_.n_edges
    if bound is None or not n_edges or not bound > VAGUE_SHARE * n_edges:  # NaN where nothing bounds it
        return []
    message = (
        f"{n_edges} edges were found, and about {bound:.2g} would be found if no column depended on another: that is "
        "more than a third of them, so this bound says nothing here. Lower the 'level' of the tests, or use "
        "'certify'."
    )
    return [message]

"""The edges of a report, each with its numbers, its marks and its function, and the pairs that act together."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, NamedTuple

from sartre.prune.mechanisms import parent_columns
from sartre.report.rounding import number, rounded, short
from sartre.steps import findings_of

if TYPE_CHECKING:
    from sartre.discovery import CausalDiscovery
    from sartre.evidence.stability import Stability
    from sartre.graph.dag import Dag
    from sartre.report.layout import Layout
    from sartre.report.mechanisms import Drawing, DrawnMechanism

MAX_SHAPES = 3000  # only this many of the strongest edges have their function on the page
HEAT_MAP = 24  # cells along each side


def edge_rows(
    model: CausalDiscovery, found: dict[int, DrawnMechanism], layout: Layout | None, stability: Stability | None
) -> list[dict[str, Any]]:
    """Return the edges, strongest first, each with its numbers, its marks, its route in the drawing and its function.

    ``hidden`` says that a hidden common cause would explain the edge as well or better (``hidden_p_value`` is the
    p-value of that test), ``joint`` that the source acts jointly with other causes, and ``trend`` how the target
    follows it, in a word.
    """
    dag = model.graph_
    index = {name: j for j, name in enumerate(dag.names)}
    routes = {} if layout is None else dict(zip(dag.edges, layout.routes, strict=True))
    hidden = _hidden_causes(model)
    joint = {(parent, pair.target) for pair in _surfaces(model, dag) for parent in (pair.first, pair.second)}
    edges = []
    for rank, row in enumerate(model.edges_.to_dict("records")):
        source, target = index[row["source"]], index[row["target"]]
        edge: dict[str, Any] = {"source": source, "target": target}
        edge |= {key: number(row.get(key)) for key in ("strength", "margin")}
        edge |= {"direction": row["direction"], "confidence": number(row["direction_confidence"])}
        edge |= {"trend": row.get("shape"), "joint": (source, target) in joint}
        edge["hidden"] = frozenset((row["source"], row["target"])) in hidden
        edge["hidden_p_value"] = hidden.get(frozenset((row["source"], row["target"])))
        if stability is not None:
            edge["frequency"] = number(stability.edge_frequency[source, target])
            edge["before"] = number(stability.order_frequency[source, target])
        if routes:
            edge["route"] = rounded(routes[row["source"], row["target"]], 3)
        if rank < MAX_SHAPES:
            curve = next(curve for curve in found[target].curves if curve.parent == source)
            low, high = float(curve.x[0]), float(curve.x[-1])
            edge["shape"] = {"low": low, "high": high, "values": short(curve.values), "std": short(curve.std)}
        edges.append(edge)
    return edges


def _hidden_causes(model: CausalDiscovery) -> dict[frozenset[str], float | None]:
    """Return the p-values of the pairs whose link a hidden common cause would explain as well or better."""
    rows = model.hidden_causes_.to_dict("records")
    return {frozenset((row["first"], row["second"])): number(row["p_value"]) for row in rows if row["mark"]}


class _Surface(NamedTuple):
    """Two parents that act together on a target, the others that act with them, and the p-value of a tested pair."""

    first: int
    second: int
    target: int
    others: list[int]
    p_value: float | None


def _surfaces(model: CausalDiscovery, dag: Dag) -> list[_Surface]:
    """Return the pairs that the pruner found, and of each process the two parents with most weight in it."""
    index = {name: j for j, name in enumerate(dag.names)}
    findings = findings_of(model.prune_step_)
    p_values = [] if findings.interactions is None else findings.interactions["p_value"].tolist()
    found = []
    for names, p_value in zip(findings.pairs(), p_values, strict=True):
        first, second, target = (index[name] for name in names)
        found.append(_Surface(first, second, target, [], p_value))
    for name, mechanism in findings.mechanisms.items():
        columns, known = parent_columns(dag, name), {(*sorted(each[:2]), each.target) for each in found}
        for first, second in mechanism.pairs:
            if (*sorted((columns[first], columns[second])), index[name]) in known:
                continue
            others = [column for k, column in enumerate(columns) if k not in {first, second}]
            found.append(_Surface(columns[first], columns[second], index[name], others, None))
    return found


def interaction_rows(model: CausalDiscovery, drawing: Drawing) -> list[dict[str, Any]]:
    """Return the pairs of causes that act jointly, each with its joint effect on a grid; none of categories."""
    found = []
    for surface in _surfaces(model, drawing.dag):
        pair = surface.first, surface.second
        if {*pair} & drawing.table.nominal:
            continue  # levels have no order to draw them in
        x, y, effect = drawing.surface(surface.target, pair, HEAT_MAP)
        found.append(
            {
                **surface._asdict(),
                "p_value": number(surface.p_value),
                "x": [float(x[0]), float(x[-1])],
                "y": [float(y[0]), float(y[-1])],
                "effect": [short(line) for line in effect],
            }
        )
    return found

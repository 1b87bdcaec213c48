"""The report: one self-contained HTML file, for a browser without a network."""

from __future__ import annotations

import base64
import hashlib
import json
import platform
from datetime import UTC, datetime
from importlib.metadata import version
from importlib.resources import files
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np
from numpy.typing import NDArray
from sklearn.utils.validation import check_is_fitted

from sartre.compute.files import check_destination, write_text_atomically
from sartre.data.checks import as_table
from sartre.prune.mechanisms import mechanisms_of, parent_columns
from sartre.report.environments import environment_rows
from sartre.report.layout import layered
from sartre.report.mechanisms import Drawing
from sartre.steps import findings_of

if TYPE_CHECKING:
    from pathlib import Path

    from sartre.data.table import Table
    from sartre.discovery import CausalDiscovery
    from sartre.evidence.stability import Stability
    from sartre.graph.dag import Dag
    from sartre.report.layout import Layout
    from sartre.report.mechanisms import DrawnMechanism

MAX_DRAWN = 60  # variables in one drawing; of more, the page shows one variable and its neighbours at a time
MAX_ROWS = 2000  # samples on the page
MAX_CELLS = 200_000  # numbers of the table on the page: a wide table shows fewer samples
MAX_SHAPES = 3000  # only this many of the strongest edges have their function on the page
HEAT_MAP = 24  # cells along each side
SAMPLE_SEED = 0
_PACKAGES = ("numpy", "scipy", "scikit-learn", "numba", "pandas")
_COLUMN_NOTES = [
    ("strength", "share of the target's variance that is lost without the source, the other causes fitted again"),
    ("direction", "whether the data decide it, or knowledge or a given order settles it"),
    ("confidence", "how likely the direction is to be right, if the model holds; below 0.5 the data favour the other"),
    ("margin", "gradient of the source divided by the penalty; at 1 the edge is only just kept"),
    ("frequency", "share of the half-samples on which the edge was found"),
    ("before", "share of the half-samples whose order has the source before the target"),
    ("acts with", "other causes that change the effect of this one"),
]
_ASSUMPTIONS = (
    "The arrows are causal only as far as the assumptions hold: there is no hidden common cause of two variables and "
    "no feedback, and each variable is a function of its causes plus noise that is independent of them."
)
_MISSING = "A missing edge may be too weak to find with this many samples; check important ones by other means."


def write_report(
    model: CausalDiscovery,
    X: Any,
    path: str | Path,
    *,
    stability: Stability | None = None,
    include_data: bool = True,
) -> None:
    """Write a report of a fitted model: the graph, the effect and evidence of each edge, and what was run.

    After a fit with an environment, a table says what each environment acts on, and whether the model agrees with it.

    It is one file that needs no network, with a light and a dark theme, for screens, phones and paper.

    Parameters
    ----------
    model : CausalDiscovery
        A fitted model.
    X : array of shape (n, d) or data frame
        The table that the model was fitted to. Its columns may be in other units (shifted and scaled), such as the
        original units of a standardised table.
    path : str or Path
        Where to write the page.
    stability : Stability, optional
        The result of `sartre.stability`, for the selection frequencies of the edges.
    include_data : bool
        Whether points are drawn with the functions: up to 2000 samples of the table are then on the page. Without them,
        the page holds only names, functions and counts, and can be given to people who may not see rows.

    Examples
    --------
    >>> import tempfile, os
    >>> from sartre import CausalDiscovery
    >>> from sartre.order import FixedOrder
    >>> x = np.linspace(-1, 1, 100)
    >>> X = np.column_stack([x, x**2 + np.random.default_rng(0).normal(size=100) / 10])
    >>> model = CausalDiscovery(order=FixedOrder([0, 1]), random_state=0).fit(X)
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     write_report(model, X, os.path.join(folder, "report.html"))
    ...     os.listdir(folder)
    ['report.html']
    """
    check_is_fitted(model, "graph_")
    check_destination(path)
    table = as_table(X, categories=True, missing=True).reordered(model.graph_.names)
    write_text_atomically(path, _page(_content(model, table, stability, include_data=include_data)))


def _page(content: dict[str, Any]) -> str:
    """Return the page; only the script and the style of this package may run in it, whatever else it contains."""
    read = {kind: files("sartre.report").joinpath(f"page.{kind}").read_text("utf-8") for kind in ("html", "css", "js")}
    digest = {kind: base64.b64encode(hashlib.sha256(read[kind].encode()).digest()).decode() for kind in ("css", "js")}
    policy = f"default-src 'none'; style-src 'sha256-{digest['css']}'; script-src 'sha256-{digest['js']}'"
    data = json.dumps(content, allow_nan=False, separators=(",", ":")).replace("<", "\\u003c")
    page = read["html"].replace("{{policy}}", policy).replace("{{css}}", read["css"]).replace("{{js}}", read["js"])
    return page.replace("{{data}}", data)  # this comes last, since a name may look like a placeholder


def _content(
    model: CausalDiscovery, table: Table, stability: Stability | None, *, include_data: bool
) -> dict[str, Any]:
    dag = model.graph_
    drawing = Drawing.of(dag, table, mechanisms_of(model, table))
    layout = layered(dag) if len(dag) <= MAX_DRAWN else None
    found = {j: drawing.mechanism(j) for j, name in enumerate(dag.names) if dag.parents(name)}
    edges = _edges(model, found, layout, stability)
    rows = _sample(table.shape) if include_data else np.empty(0, np.intp)
    causes = {edge["source"] for edge in edges}
    return {
        "summary": f"{len(dag)} variables, {dag.n_edges} edges, learnt from {table.shape[0]} samples by "
        f"{type(model.order_step_).__name__} and {type(model.prune_step_).__name__}",
        "names": dag.names,
        "edges": edges,
        "positions": None if layout is None else _rounded(layout.positions, 3),
        "interactions": _interactions(model, drawing),
        "frequencies": stability is not None,
        "columns": {j: _short(drawing.numbers.values[rows, j]) for j in causes} if include_data else {},
        "residuals": {j: _short(drawn.residual[rows]) for j, drawn in found.items()} if include_data else {},
        "sample": _said_of(rows, table.shape[0]) if include_data else None,
        "order": [int(j) for j in model.order_],
        "environments": environment_rows(model, table),
        "notes": _notes(model, table, include_data=include_data),
        "run": _run(model, stability),
        "column_notes": _COLUMN_NOTES,
    }


def _edges(
    model: CausalDiscovery, found: dict[int, DrawnMechanism], layout: Layout | None, stability: Stability | None
) -> list[dict[str, Any]]:
    """Return the edges, strongest first, each with its numbers, its route in the drawing and its function."""
    dag = model.graph_
    index = {name: j for j, name in enumerate(dag.names)}
    routes = {} if layout is None else dict(zip(dag.edges, layout.routes, strict=True))
    edges = []
    for rank, row in enumerate(model.edges_.to_dict("records")):
        source, target = index[row["source"]], index[row["target"]]
        edge: dict[str, Any] = {"source": source, "target": target}
        edge |= {key: _number(row.get(key)) for key in ("strength", "margin")}
        edge |= {"direction": row["direction"], "confidence": _number(row["direction_confidence"])}
        if stability is not None:
            edge["frequency"] = _number(stability.edge_frequency[source, target])
            edge["before"] = _number(stability.order_frequency[source, target])
        if routes:
            edge["route"] = _rounded(routes[row["source"], row["target"]], 3)
        if rank < MAX_SHAPES:
            curve = next(curve for curve in found[target].curves if curve.parent == source)
            low, high = float(curve.x[0]), float(curve.x[-1])
            edge["shape"] = {"low": low, "high": high, "values": _short(curve.values), "std": _short(curve.std)}
        edges.append(edge)
    return edges


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


def _interactions(model: CausalDiscovery, drawing: Drawing) -> list[dict[str, Any]]:
    found = []
    for surface in _surfaces(model, drawing.dag):
        pair = surface.first, surface.second
        if {*pair} & drawing.table.nominal:
            continue  # levels have no order to draw them in
        x, y, effect = drawing.surface(surface.target, pair, HEAT_MAP)
        found.append(
            {
                **surface._asdict(),
                "p_value": _number(surface.p_value),
                "x": [float(x[0]), float(x[-1])],
                "y": [float(y[0]), float(y[-1])],
                "effect": [_short(line) for line in effect],
            }
        )
    return found


def _sample(shape: tuple[int, int]) -> NDArray[np.intp]:
    """Return the samples that the page shows: all, or a random subset."""
    n, d = shape
    most = min(MAX_ROWS, max(1, MAX_CELLS // d))
    if n <= most:
        return np.arange(n)
    return np.sort(np.random.default_rng(SAMPLE_SEED).choice(n, most, replace=False))


def _said_of(rows: NDArray[np.intp], n: int) -> str:
    which = f"all {n} samples" if len(rows) == n else f"{len(rows)} of the {n} samples, drawn at random"
    return (
        "Line: the fitted effect, with other causes held fixed. Band: plus and minus two standard errors. "
        f"Points: {which}, with the effects of other causes removed; the outermost 1 % lie outside the frame."
    )


def _notes(model: CausalDiscovery, table: Table, *, include_data: bool) -> list[str]:
    notes = [str(text) for text in model.diagnostics_.messages]
    notes += [_ASSUMPTIONS, _MISSING]
    if table.nominal:
        notes.append("Levels of categories are drawn at scores along the main direction of the data, not by name.")
    if table.missing.any():
        notes.append(f"In the plots only, {table.missing.sum()} missing values were imputed.")
    findings = findings_of(model.prune_step_)
    notes += findings.notes
    bound = findings.false_edges_bound
    if bound is not None and not np.isnan(bound):
        notes.append(f"If no variable depended on another, about {bound:.2g} edges would be found on average.")
    if findings.robust_targets:
        notes.append(
            "Because of heavy tails or uneven noise, the tests of these variables use ranks and robust variances: "
            f"{', '.join(findings.robust_targets)}."
        )
    if include_data:
        count = len(_sample(table.shape))
        notes.append(f"This page contains values of {count} samples: share it only as you would share the table.")
    else:
        notes.append("This page contains no samples of the table, only names, fitted functions and counts.")
    return notes


def _run(model: CausalDiscovery, stability: Stability | None) -> list[tuple[str, str]]:
    from sartre import __version__  # noqa: PLC0415 - it exists once the package is imported

    knowledge = [("Knowledge", str(model.knowledge))] if model.knowledge is not None else []
    halves = [("Half-samples", str(2 * stability.n_pairs))] if stability is not None else []
    packages = ", ".join(f"{name} {version(name)}" for name in _PACKAGES)
    return [
        ("Order", _settings(model.order_step_)),
        ("Pruning", _settings(model.prune_step_)),
        *knowledge,
        *halves,
        ("Seed", str(model.random_state)),
        ("Time to fit", f"{model.fit_seconds_:.1f} s"),
        ("Report written", datetime.now(UTC).strftime("%Y-%m-%d %H:%M UTC")),
        ("Versions", f"sartre {__version__}, Python {platform.python_version()}, {packages}"),
    ]


def _settings(step: Any) -> str:
    given = {name: value for name, value in step.get_params(deep=False).items() if value is not None}
    settings = ", ".join(f"{name}={value!r}" for name, value in given.items())
    return f"{type(step).__name__}({settings})"


def _number(value: Any) -> float | None:
    return None if value is None or not np.isfinite(value) else float(f"{value:.4g}")


def _rounded(values: NDArray[np.float64], digits: int) -> list[Any]:
    return np.round(values, digits).tolist()


def _short(values: NDArray[np.float64]) -> list[Any]:
    """Return numbers to a ten-thousandth of their range: more digits cannot be seen."""
    spread = float(np.ptp(values)) if len(values) else 0.0
    if spread == 0.0:
        return [float(f"{value:.6g}") for value in values]
    return _rounded(values, int(4 - np.floor(np.log10(spread))))

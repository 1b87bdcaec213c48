"""What a report says of a fitted model, as plain data: names, numbers and text for a page."""

from __future__ import annotations

import platform
from datetime import UTC, datetime
from importlib.metadata import version
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from sartre.prune.mechanisms import mechanisms_of
from sartre.report.content_edges import edge_rows, interaction_rows
from sartre.report.environments import environment_rows
from sartre.report.layout import layered
from sartre.report.mechanisms import Drawing
from sartre.report.rounding import rounded, short
from sartre.steps import findings_of

if TYPE_CHECKING:
    from sartre.data.table import Table
    from sartre.discovery import CausalDiscovery
    from sartre.evidence.stability import Stability

MAX_DRAWN = 60  # variables in one drawing; of more, the page shows one variable and its neighbours at a time
MAX_ROWS = 2000  # samples on the page
MAX_CELLS = 200_000  # numbers of the table on the page: a wide table shows fewer samples
SAMPLE_SEED = 0
_PACKAGES = ("numpy", "scipy", "scikit-learn", "numba", "pandas")
_COLUMN_NOTES = [
    ("strength", "share of the target's variance that is lost without the source, the other causes fitted again"),
    ("shape", "how the target follows the source, the other causes held fixed"),
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


def report_content(
    model: CausalDiscovery, table: Table, stability: Stability | None, *, include_data: bool
) -> dict[str, Any]:
    """Return what the page of a report shows, for JSON.

    Parameters
    ----------
    model : CausalDiscovery
        A fitted model.
    table : Table
        The checked table that it was fitted to, with the columns in the order of ``model.graph_.names``.
    stability : Stability or None
        For the selection frequencies of the edges.
    include_data : bool
        Whether samples of the table are among it.

    Examples
    --------
    >>> from sartre import CausalDiscovery
    >>> from sartre.data.checks import as_table
    >>> from sartre.order import FixedOrder
    >>> x = np.linspace(-1, 1, 100)
    >>> X = np.column_stack([x, x**2 + np.random.default_rng(0).normal(size=100) / 10])
    >>> model = CausalDiscovery(order=FixedOrder([0, 1]), random_state=0).fit(X)
    >>> content = report_content(model, as_table(X), None, include_data=False)
    >>> content["names"], [(edge["source"], edge["target"], edge["direction"]) for edge in content["edges"]]
    (['x0', 'x1'], [(0, 1, 'known')])
    """
    dag = model.graph_
    drawing = Drawing.of(dag, table, mechanisms_of(model, table))
    layout = layered(dag) if len(dag) <= MAX_DRAWN else None
    found = {j: drawing.mechanism(j) for j, name in enumerate(dag.names) if dag.parents(name)}
    edges = edge_rows(model, found, layout, stability)
    rows = _sample(table.shape) if include_data else np.empty(0, np.intp)
    causes = {edge["source"] for edge in edges}
    return {
        "summary": f"{len(dag)} variables, {dag.n_edges} edges, learnt from {table.shape[0]} samples by "
        f"{type(model.order_step_).__name__} and {type(model.prune_step_).__name__}",
        "names": dag.names,
        "edges": edges,
        "positions": None if layout is None else rounded(layout.positions, 3),
        "interactions": interaction_rows(model, drawing),
        "frequencies": stability is not None,
        "columns": {j: short(drawing.numbers.values[rows, j]) for j in causes} if include_data else {},
        "residuals": {j: short(drawn.residual[rows]) for j, drawn in found.items()} if include_data else {},
        "sample": _said_of(rows, table.shape[0]) if include_data else None,
        "order": [int(j) for j in model.order_],
        "environments": environment_rows(model, table),
        "diagnostics": len(model.diagnostics_.messages),
        "notes": _notes(model, table, include_data=include_data),
        "run": _run(model, stability),
        "about": _about(model, table),
        "column_notes": _COLUMN_NOTES,
    }


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


def _about(model: CausalDiscovery, table: Table) -> list[tuple[str, str]]:
    from sartre import __version__  # noqa: PLC0415 - it exists once the package is imported

    rows = max([table.shape[0], *model.rows_seen_.values()])  # the table may be a sample of rows in batches
    return [
        ("Rows", f"{rows:,}"),
        ("Columns", f"{len(model.graph_):,}"),
        ("Written", datetime.now(UTC).strftime("%Y-%m-%d %H:%M UTC")),
        ("Version", f"sartre {__version__}"),
    ]


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
        ("Versions", f"sartre {__version__}, Python {platform.python_version()}, {packages}"),
    ]


def _settings(step: Any) -> str:
    given = {name: value for name, value in step.get_params(deep=False).items() if value is not None}
    settings = ", ".join(f"{name}={value!r}" for name, value in given.items())
    return f"{type(step).__name__}({settings})"

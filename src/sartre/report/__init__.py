"""Views of what was learnt: plots, and a report in one HTML file.

Every plot takes and returns Axes. The report needs no network and no server; `write_report` writes it.
"""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from sartre.report.graph_plots import plot_graph, plot_order
    from sartre.report.html import write_report
    from sartre.report.method_plots import plot_embedding, plot_overview
    from sartre.report.plots import (
        plot_confidence,
        plot_interaction,
        plot_path,
        plot_shape_functions,
    )

__all__ = [
    "plot_confidence",
    "plot_embedding",
    "plot_graph",
    "plot_interaction",
    "plot_order",
    "plot_overview",
    "plot_path",
    "plot_shape_functions",
    "write_report",
]

_ELSEWHERE = {
    "plot_graph": "sartre.report.graph_plots",
    "plot_order": "sartre.report.graph_plots",
    "write_report": "sartre.report.html",
    "plot_embedding": "sartre.report.method_plots",
    "plot_overview": "sartre.report.method_plots",
}


def __getattr__(name: str) -> Any:
    if name not in __all__:
        raise AttributeError(f"module 'sartre.report' has no attribute '{name}'")
    return getattr(import_module(_ELSEWHERE.get(name, "sartre.report.plots")), name)

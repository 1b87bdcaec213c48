"""The report: one self-contained HTML file, for a browser without a network."""

from __future__ import annotations

import base64
import hashlib
import json
import re
from html import escape
from typing import TYPE_CHECKING, Any

from sklearn.utils.validation import check_is_fitted

from sartre.compute.files import check_destination, write_text_atomically
from sartre.data.checks import as_table
from sartre.report.assets import page_script, page_style, template
from sartre.report.content import report_content

if TYPE_CHECKING:
    from pathlib import Path

    from sartre.discovery import CausalDiscovery
    from sartre.evidence.stability import Stability


def write_report(
    model: CausalDiscovery,
    X: Any,
    path: str | Path,
    *,
    stability: Stability | None = None,
    include_data: bool = True,
    title: str | None = None,
    command: str | None = None,
) -> None:
    """Write a report of a fitted model: what to know first, the graph, the effect and evidence of each edge.

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
    title : str, optional
        What the page is called, such as the name of the file.
    command : str, optional
        The command, or the line of Python, that made it; the page repeats it.

    Examples
    --------
    >>> import tempfile, os
    >>> import numpy as np
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
    content = report_content(model, table, stability, include_data=include_data)
    write_text_atomically(path, page_of({"title": title, "command": command, **content}))


def page_of(content: dict[str, Any]) -> str:
    """Return the page; only the script and the style of this package may run in it, whatever else it contains."""
    style, script = page_style(), page_script()
    parts = {
        "policy": f"default-src 'none'; style-src '{_digest(style)}'; script-src '{_digest(script)}'",
        "css": style,
        "js": script,
        "title": escape(" ".join((content["title"] or "Causal graph").split())),
        "data": json.dumps(content, allow_nan=False, separators=(",", ":")).replace("<", "\\u003c"),
    }
    # One pass: a name may look like a placeholder, and must stay as it is.
    return re.sub(r"\{\{(policy|css|js|title|data)\}\}", lambda found: parts[found[1]], template())


def _digest(text: str) -> str:
    return "sha256-" + base64.b64encode(hashlib.sha256(text.encode()).digest()).decode()

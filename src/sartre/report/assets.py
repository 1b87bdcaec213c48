"""The scripts and styles of the report's page, which the app uses too."""

from __future__ import annotations

from importlib.resources import files

GRAPH_SCRIPTS = (
    "elements.js",
    "graph_shapes.js",
    "graph_camera.js",
    "graph_export.js",
    "graph_controls.js",
    "graph.js",
)
PANEL_SCRIPTS = ("charts.js", "panel.js")
PAGE_SCRIPTS = (*GRAPH_SCRIPTS, *PANEL_SCRIPTS, "tables.js", "page.js")
PAGE_STYLES = ("graph.css", "page.css")


def graph_script() -> str:
    """Return the drawn graph as one script, which defines the function ``SartreGraph`` of a browser.

    Examples
    --------
    >>> "function SartreGraph(" in graph_script()
    True
    """
    return _joined(GRAPH_SCRIPTS)


def graph_style() -> str:
    """Return the style of the drawn graph, with the colours of the light, the dark and the printed page.

    Examples
    --------
    >>> "--accent" in graph_style()
    True
    """
    return _joined(("graph.css",))


def panel_script() -> str:
    """Return what is said of a chosen edge or variable as one script, which defines ``SartrePanel``.

    Examples
    --------
    >>> "const SartrePanel" in panel_script()
    True
    """
    return _joined(PANEL_SCRIPTS)


def page_script() -> str:
    """Return all scripts of the report's page as one."""
    return _joined(PAGE_SCRIPTS)


def page_style() -> str:
    """Return the style of the report's page, that of the graph included."""
    return _joined(PAGE_STYLES)


def template() -> str:
    """Return the page without its contents."""
    return _joined(("page.html",))


def _joined(names: tuple[str, ...]) -> str:
    return "".join(files("sartre.report").joinpath(name).read_text("utf-8") for name in names)

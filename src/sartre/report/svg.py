"""Graphs as static pictures (SVG), for notebooks and web pages: layers, causes above effects.

Everything in a picture is drawn by elements of its own, so that several of them can stand on one page. All names are
escaped.
"""

from __future__ import annotations

import re
from collections.abc import Collection, Mapping
from graphlib import TopologicalSorter
from html import escape
from itertools import pairwise
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from sartre.graph.dag import Dag
from sartre.report._drawing import GREY, PALE, RIM, short, strengths
from sartre.report.graph_plots import HEIGHT, placed

if TYPE_CHECKING:
    from sartre.graph.pdag import Pdag

MOST_DRAWN = 150  # variables of a picture in a notebook; the report draws more
_POINTS = 72.0  # per inch
_INK = "#1b2540"
_ARROWHEAD = 7.0, 3.2  # length and half the width of an arrowhead, in points
_UNSHOWN = re.compile("[^\t\n\r\x20-\ud7ff\ue000-\ufffd\U00010000-\U0010ffff]")


def dag_svg(dag: Dag) -> str:
    """Return a picture of a graph.

    Examples
    --------
    >>> picture = dag_svg(Dag.from_edges([("rain", "<wet>")]))
    >>> picture[:4], "<wet>" in picture, "&lt;wet&gt;" in picture
    ('<svg', False, True)
    """
    return _picture(dag, lines=(), strength={})


def pdag_svg(pdag: Pdag) -> str:
    """Return a picture of a graph in which edges without a direction are dashed and have no arrowhead.

    Examples
    --------
    >>> from sartre import Pdag
    >>> "stroke-dasharray" in pdag_svg(Pdag(["a", "b"], lines=[("a", "b")]))
    True
    """
    causes: dict[str, list[str]] = {name: [] for name in pdag.names}
    for a, b in pdag.arrows:
        causes[b].append(a)
    place = {name: k for k, name in enumerate(TopologicalSorter(causes).static_order())}
    lines = [(a, b) if place[a] < place[b] else (b, a) for a, b in pdag.lines]
    return _picture(Dag.from_edges([*pdag.arrows, *lines], pdag.names), set(lines), {})


def model_svg(model: Any) -> str:
    """Return a picture of what a fitted model learnt: a stronger edge is thicker, an undecided one is dashed."""
    lines = {*model.pdag_.lines, *((b, a) for a, b in model.pdag_.lines)}
    return _picture(model.graph_, lines, strengths(model.edges_))


def model_html(model: Any) -> str:
    """Return the picture of a fitted model as a notebook shows it."""
    n_lines = len(model.pdag_.lines)
    lines = f", {n_lines} without a decided direction (dashed)" if n_lines else ""
    return in_page(model_svg(model), f"{model.graph_.n_edges} edges{lines}, learnt by {model!r}")


def in_page(picture: str, caption: str) -> str:
    """Return a picture and its caption as HTML that scrolls where the page is too narrow.

    Examples
    --------
    >>> in_page("<svg/>", "a & b")
    '<div style="overflow-x:auto"><svg/></div><div>a &amp; b</div>'
    """
    return f'<div style="overflow-x:auto">{picture}</div><div>{_text(caption)}</div>'


def _picture(dag: Dag, lines: Collection[tuple[str, str]], strength: Mapping[tuple[str, str], float]) -> str:
    if len(dag) > MOST_DRAWN:
        return _too_large(dag)
    drawn = placed(dag)
    size = _POINTS * (drawn.high - drawn.low)
    corner = np.array([drawn.low[0], drawn.high[1]])
    turned = _POINTS * np.array([1.0, -1.0])
    parts = []
    for edge, route in zip(dag.edges, drawn.routes, strict=True):
        width = 1.0 + 3.0 * strength.get(edge, 0.05) ** 0.5
        parts.append(_edge(edge, (route - corner) * turned, width, arrow=edge not in lines))
    boxes = np.array([drawn.width - 0.08, HEIGHT - 0.02]) * _POINTS
    parts += [_box(name, place, boxes) for name, place in zip(dag.names, (drawn.places - corner) * turned, strict=True)]
    return (
        f'<svg xmlns="http://www.w3.org/2000/svg" width="{size[0]:.0f}" height="{size[1]:.0f}" '
        f'viewBox="0 0 {size[0]:.1f} {size[1]:.1f}" role="img" font-family="sans-serif" font-size="11">'
        f"<title>{_text(_caption(dag))}</title>{''.join(parts)}</svg>"
    )


def _edge(edge: tuple[str, str], route: NDArray[np.float64], width: float, *, arrow: bool) -> str:
    """Return a smooth path through the points, vertical at each of them, and its arrowhead."""
    length, half = _ARROWHEAD
    end = route[-1].copy()
    if arrow:
        route = route.copy()
        route[-1, 1] -= length - 1.0  # the line ends within the head
    steps = [f"M{route[0, 0]:.1f} {route[0, 1]:.1f}"]
    for (x0, y0), (x1, y1) in pairwise(route.tolist()):
        middle = (y0 + y1) / 2
        steps.append(f"C{x0:.1f} {middle:.1f} {x1:.1f} {middle:.1f} {x1:.1f} {y1:.1f}")
    dashes = "" if arrow else ' stroke-dasharray="5 4"'
    sign = "→" if arrow else "—"
    title = f"<title>{_text(edge[0])} {sign} {_text(edge[1])}</title>"
    path = f'<path d="{"".join(steps)}" fill="none" stroke="{GREY}" stroke-width="{width:.1f}"{dashes}>{title}</path>'
    if not arrow:
        return path
    x, y = end.tolist()
    half = max(half, width)
    points = f"{x:.1f},{y:.1f} {x - half:.1f},{y - length:.1f} {x + half:.1f},{y - length:.1f}"
    return f'{path}<polygon points="{points}" fill="{GREY}"/>'


def _box(name: str, place: NDArray[np.float64], size: NDArray[np.float64]) -> str:
    (x, y), (width, height) = place.tolist(), size.tolist()
    return (
        f'<g><title>{_text(name)}</title><rect x="{x - width / 2:.1f}" y="{y - height / 2:.1f}" width="{width:.1f}" '
        f'height="{height:.1f}" rx="6" fill="{PALE}" stroke="{RIM}"/><text x="{x:.1f}" y="{y + 4:.1f}" '
        f'text-anchor="middle" fill="{_INK}">{_text(short(name))}</text></g>'
    )


def _too_large(dag: Dag) -> str:
    said = f"{_caption(dag)}: more than {MOST_DRAWN} variables are not drawn here; 'report' draws them."
    return (
        '<svg xmlns="http://www.w3.org/2000/svg" width="640" height="24" viewBox="0 0 640 24" role="img" '
        f'font-family="sans-serif" font-size="12"><text x="4" y="16" fill="{GREY}">{_text(said)}</text></svg>'
    )


def _caption(dag: Dag) -> str:
    return f"{len(dag)} variables, {dag.n_edges} edges"


def _text(text: str) -> str:
    return escape(_UNSHOWN.sub("\ufffd", text))

"""Colours and small functions that the plots share."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import matplotlib.pyplot as plt
from matplotlib.patches import FancyArrowPatch

if TYPE_CHECKING:
    import pandas as pd
    from matplotlib.axes import Axes
    from matplotlib.path import Path

BLUE, GREY, ORANGE = "#2457c5", "#8793aa", "#c95c1a"
PALE, RIM = "#eef2fb", "#b9c6e6"
PLAIN: dict[str, Any] = {"parse_math": False}  # a name with dollar signs is not a formula
LONGEST = 18  # letters of a name that a drawing shows


def new_axes(ax: Axes | None, size: tuple[float, float]) -> Axes:
    """Return the given Axes or, for None, those of a new figure with this size in inches."""
    return plt.subplots(figsize=size, layout="constrained")[1] if ax is None else ax


def bare(ax: Axes) -> None:
    """Remove the top and right sides of the frame."""
    ax.spines[["top", "right"]].set_visible(False)


def short(name: str) -> str:
    """Return a name on one line, shortened if it is long.

    Examples
    --------
    >>> short("a name of very many letters")
    'a name of very ma…'
    """
    flat = " ".join(name.split())
    return flat if len(flat) <= LONGEST else flat[: LONGEST - 1] + "…"


def strengths(edges: pd.DataFrame | None) -> dict[tuple[str, str], float]:
    """Return the strengths of the edges that have one, by source and target."""
    if edges is None:
        return {}
    known = edges[edges["strength"].notna()]
    return dict(zip(zip(known["source"], known["target"], strict=True), known["strength"].clip(0, 1), strict=True))


def undecided(edges: pd.DataFrame | None) -> set[tuple[str, str]]:
    """Return the edges whose direction is neither decided nor known."""
    if edges is None or "direction" not in edges:
        return set()
    loose = edges[~edges["direction"].isin(["decided", "known"])]
    return set(zip(loose["source"], loose["target"], strict=True))


def draw_edge(ax: Axes, path: Path, strength: float | None, *, arrow: bool) -> None:
    """Draw an edge along a path, thicker if stronger; without an arrow it is dashed."""
    width = 1.0 + 3.0 * (0.05 if strength is None else strength) ** 0.5
    style, dashes = ("-|>", "solid") if arrow else ("-", (0, (4, 2)))
    patch = FancyArrowPatch(path=path, arrowstyle=style, mutation_scale=11, lw=width, color=GREY, capstyle="butt")
    patch.set_linestyle(dashes)
    ax.add_patch(patch)

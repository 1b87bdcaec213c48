"""The figures: a line and a band a method, one row of panels a measure."""

from __future__ import annotations

from typing import TYPE_CHECKING

import matplotlib as mpl
from matplotlib.backends.backend_agg import FigureCanvasAgg
from matplotlib.figure import Figure

from experiments.figure_breaks import CHANGES, change_of
from experiments.page import LABELS, OURS

if TYPE_CHECKING:
    from pathlib import Path

    import pandas as pd
    from matplotlib.axes import Axes

    from experiments.study import Study

COLOURS = ("#4477aa", "#66ccee", "#228833", "#ccbb44", "#ee6677", "#aa3377", "#bbbbbb", "#999933", "#882255")
AXES = {"nodes": "variables", "samples": "samples"}
SWEEP = {"nodes": ("samples", 2000), "samples": ("nodes", 20)}  # what stands still while the other changes


def draw(study: Study, frame: pd.DataFrame, folder: Path) -> list[Path]:
    """Draw a study's figure as PNG and SVG; a table has none."""
    if not study.axis:
        return []
    sweeps = ("nodes", "samples") if study.axis == "both" else (study.axis,)
    panels = [(family, axis) for axis in sweeps for family in frame["family"].unique()]
    figure = Figure(
        figsize=(
            width := (5.0 if study.axis == "change" else 2.9) * len(panels) + 0.5,
            2.4 * len(study.measures) + 0.8,
        ),
        layout="constrained",
    )
    FigureCanvasAgg(figure)
    grid = figure.subplots(len(study.measures), len(panels), squeeze=False)
    colours: dict[str, str] = dict(zip(_methods(frame), COLOURS, strict=False))
    for column, (family, axis) in enumerate(panels):
        part = frame[frame["family"] == family]
        if len(sweeps) == 2 and (still := SWEEP[axis])[1] in part[still[0]].to_numpy():
            part = part[part[still[0]] == still[1]]
        for row, measure in enumerate(study.measures):
            _panel(grid[row, column], part, axis, measure, colours)
            grid[row, column].set_ylabel(LABELS[measure].split(",")[0] if column == 0 else "")
        grid[0, column].set_title(family)
        grid[-1, column].set_xlabel(AXES.get(axis, ""))
    handles, labels = grid[0, 0].get_legend_handles_labels()
    figure.legend(handles, labels, loc="outside lower center", ncols=max(1, int(width / 2.9)), frameon=False)
    return _saved(figure, folder, study.name)


def _methods(frame: pd.DataFrame) -> list[str]:
    """Return the methods, ours first: it keeps its colour in all figures."""
    found = list(frame["method"].unique())
    return [*(name for name in found if name == OURS), *(name for name in found if name != OURS)]


def _panel(axes: Axes, part: pd.DataFrame, axis: str, measure: str, colours: dict[str, str]) -> None:
    """Draw one measure of all methods: lines over numbers, points over changes."""
    if axis == "change":
        places = {name: k for k, name in enumerate(CHANGES)}
        part = part.assign(change=[places[change_of(row)] for row in part.itertuples()])
        axes.set_xticks(list(places.values()), list(places), rotation=30, ha="right", fontsize=7)
    for k, (method, colour) in enumerate(colours.items()):
        values = part[part["method"] == method].groupby(axis)[measure].agg(["mean", lambda x: x.std(ddof=0)])
        if values["mean"].isna().all():
            continue
        x, mean, deviation = values.index.to_numpy(dtype=float), values["mean"], values.iloc[:, 1]
        if axis == "change":
            shift = (k - len(colours) / 2) * 0.12
            axes.errorbar(x + shift, mean, deviation, fmt="o", ms=3, lw=1, color=colour, label=method)
        else:
            axes.plot(x, mean, marker="o", ms=3, lw=2.4 if method == OURS else 1.2, color=colour, label=method)
            axes.fill_between(x, mean - deviation, mean + deviation, color=colour, alpha=0.15, lw=0)
    if measure == "seconds":
        axes.set_yscale("log")
    if axis == "nodes" and part["nodes"].max() > 100:
        axes.set_xscale("log", base=2)
    axes.spines[["top", "right"]].set_visible(False)


def _saved(figure: Figure, folder: Path, name: str) -> list[Path]:
    """Write both files; the same results give the same bytes."""
    folder.mkdir(parents=True, exist_ok=True)
    files = [folder / f"{name}.{kind}" for kind in ("png", "svg")]
    with mpl.rc_context({"svg.hashsalt": "sartre", "svg.fonttype": "none"}):
        figure.savefig(files[0], dpi=110, metadata={"Software": None})
        figure.savefig(files[1], metadata={"Date": None, "Creator": None})
    return files

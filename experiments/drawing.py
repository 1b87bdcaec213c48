"""Draw the figures: one line and one band per method, one row of panels per measure."""

from __future__ import annotations

from itertools import product
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

COLOURS = {  # each method, or its pruner, has the same colour in all figures
    OURS: "#4477aa",
    "CORL + CAM-pruning": "#999933",
    "SARTRE": "#66ccee",
    "CAM-pruning": "#228833",
    "CAM-pruning by pyGAM": "#ccbb44",
    "CAM-pruning by pyGAM at 0.05": "#dddd77",
    "DAS": "#ee6677",
    "DAS with pyGAM at 0.05": "#ffbbaa",
    "SARTRE(0.1)": "#aa3377",
    "SARTRE(0.15)": "#cc6677",
    "SARTRE(0.2)": "#ddaa33",
    "SARTRE(0.25)": "#88aa66",
    "SARTRE(0.3)": "#777777",
    "NOTEARS": "#bbbbbb",
    "NOTEARS-MLP": "#777777",
    "GraN-DAG": "#882255",
}
AXES = {"nodes": "variables", "samples": "samples"}
SWEEP = {"nodes": ("samples", 2000), "samples": ("nodes", 20)}  # the setting that is fixed while the other changes


def draw(study: Study, frame: pd.DataFrame, folder: Path) -> list[Path]:
    """Draw a study's figure as PNG and SVG, one column per family, one row per measure; a table has no figure."""
    if not study.axis:
        return []
    sweeps = ("nodes", "samples") if study.axis == "both" else (study.axis,)
    rows = [(axis, measure) for axis in sweeps for measure in study.measures]
    families = list(frame["family"].unique())
    width = (5.0 if study.axis == "change" else 2.9) * len(families) + 0.5
    figure = Figure(figsize=(width, 2.4 * len(rows) + 0.8), layout="constrained")
    FigureCanvasAgg(figure)
    grid = figure.subplots(len(rows), len(families), squeeze=False)
    colours = _colours(frame)
    for (row, (axis, measure)), (column, family) in product(enumerate(rows), enumerate(families)):
        part = frame[frame["family"] == family]
        if len(sweeps) == 2 and (still := SWEEP[axis])[1] in part[still[0]].to_numpy():
            part = part[part[still[0]] == still[1]]
        axes = grid[row, column]
        _panel(axes, part, axis, measure, colours)
        axes.set_ylabel(LABELS[measure].split(",")[0] if column == 0 else "")
        axes.set_title(family if measure == study.measures[0] else "")
        axes.set_xlabel(AXES.get(axis, "") if measure == study.measures[-1] else "")
    handles, labels = grid[0, 0].get_legend_handles_labels()
    figure.legend(handles, labels, loc="outside lower center", ncols=max(1, int(width / 2.9)), frameon=False)
    return _saved(figure, folder, study.name)


def _colours(frame: pd.DataFrame) -> dict[str, str]:
    """Return the methods, ours first, and their colours."""
    pruners = dict(zip(frame["method"], frame["prune"], strict=True))
    found = sorted(pruners, key=lambda method: method != OURS)
    return {method: COLOURS.get(method) or COLOURS[pruners[method]] for method in found}


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
        axes.set_xticks(sizes := sorted(part["nodes"].unique()), [str(size) for size in sizes])
    axes.spines[["top", "right"]].set_visible(False)


def _saved(figure: Figure, folder: Path, name: str) -> list[Path]:
    """Write both files; the same results always give the same bytes."""
    folder.mkdir(parents=True, exist_ok=True)
    files = [folder / f"{name}.{kind}" for kind in ("png", "svg")]
    with mpl.rc_context({"svg.hashsalt": "sartre", "svg.fonttype": "none"}):
        figure.savefig(files[0], dpi=110, metadata={"Software": None})
        figure.savefig(files[1], metadata={"Date": None, "Creator": None})
    return files

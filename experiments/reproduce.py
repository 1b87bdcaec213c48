"""Run, draw and report all studies, by name."""

from __future__ import annotations

import logging
import warnings
from pathlib import Path
from typing import TYPE_CHECKING

from experiments import (
    ablations,
    figure_breaks,
    figure_hidden,
    figure_highdim,
    figure_mixed,
    figure_samples,
    figure_sensitivity,
    figure_variables,
    page,
    peers,
    runner,
    table_baselines,
    table_interventions,
    table_real,
)
from experiments.drawing import draw
from experiments.methods import needs_peers
from sartre.compute.files import write_text_atomically

if TYPE_CHECKING:
    from collections.abc import Sequence

    from experiments.study import Cell, Study

HERE = Path(__file__).parent
RESULTS, PAGE = HERE / "results", HERE.parent / "docs" / "reproduction.md"
FIGURES = HERE.parent / "docs" / "reproduction"
STUDIES: dict[str, Study] = {
    module.STUDY.name: module.STUDY
    for module in (
        *(figure_variables, table_baselines, figure_samples, figure_highdim, table_real, figure_mixed),
        figure_sensitivity,
        *(ablations, figure_breaks, table_interventions, figure_hidden),
    )
}
logger = logging.getLogger("sartre.reproduce")


def folder_of(*, quick: bool) -> Path:
    """Return the folder for the CSV files."""
    return RESULTS / "quick" if quick else RESULTS


def estimate(names: Sequence[str], trials: int, jobs: int, *, quick: bool) -> tuple[int, float]:
    """Return the number of data sets that remain, and the approximate number of seconds that they take."""
    data_sets, seconds = 0, 0.0
    for name in names:
        todo = runner.missing(STUDIES[name], runner.Results(folder_of(quick=quick), name), trials, quick=quick)
        data_sets += len(todo)
        seconds += runner.expected(todo, jobs)
    return data_sets, seconds


def _left(name: str, trials: int) -> list[Cell]:
    """Return the cells of a study of which some trials are missing."""
    todo = runner.missing(STUDIES[name], runner.Results(RESULTS, name), trials, quick=False)
    return [cell for _, _, cells in todo for cell in cells]


def _set_up_peers() -> None:
    """Create the environment of the peers; if this fails, warn and leave the cells that need them for another run."""
    logger.info("Setting up pyGAM, GIES, CAMUV and gCastle")
    try:
        peers.environment()
    except peers.UnavailableError as error:
        warnings.warn(str(error), UserWarning, stacklevel=3)


def reproduce(names: Sequence[str], trials: int, jobs: int, *, quick: bool) -> list[Path]:
    """Run the missing cells of the studies, draw their figures and write the page; return the files written."""
    if not quick and any(needs_peers(cell) for name in names for cell in _left(name, trials)):
        _set_up_peers()
    written = [runner.run(STUDIES[name], folder_of(quick=quick), trials, jobs, quick=quick) for name in names]
    return [*written, *tell(names, quick=quick)]


def tell(names: Sequence[str], *, quick: bool) -> list[Path]:
    """Draw the figures of some studies, and write the page with all studies that have results."""
    folder, written = folder_of(quick=quick), []
    frames = {name: page.read(file) for name in STUDIES if (file := folder / f"{name}.csv").exists()}
    figures, text_file = (folder, folder / "reproduction.md") if quick else (FIGURES, PAGE)
    for name in names:
        logger.info("Drawing %s", name)
        written += draw(STUDIES[name], frames[name], figures)
    link = "" if quick else f"{FIGURES.name}/"
    write_text_atomically(text_file, page.page(STUDIES, frames, link))
    return [*written, text_file]

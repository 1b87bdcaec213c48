"""``sartre reproduce``: the experiments of a clone, which are not part of the package itself."""

from __future__ import annotations

import importlib
import sys
from pathlib import Path
from typing import Annotated, Any

import typer

from sartre.cli import _options as option  # noqa: TC001 - typer reads the types
from sartre.cli._console import err, guarded, out, progress

MARK = Path("experiments", "reproduce.py")


def reproduce(
    studies: Annotated[
        list[str] | None,
        typer.Argument(
            metavar="STUDY...",
            help="figure-variables, table-baselines, figure-samples, figure-highdim, table-real, figure-mixed, "
            "figure-sensitivity, ablations, figure-breaks, table-interventions, figure-hidden, or all.",
        ),
    ] = None,
    *,
    trials: Annotated[
        int | None,
        typer.Option(
            min=1, help="Data sets per setting; 10 by default, or 1 with --quick. Finished ones are not repeated."
        ),
    ] = None,
    quick: Annotated[
        bool, typer.Option("--quick", help="Use small sizes, and leave out the methods of other libraries.")
    ] = False,
    jobs: Annotated[
        int, typer.Option(help="Number of processes; -1 for one per core. The results do not depend on it.")
    ] = -1,
    debug: option.Debug = False,
) -> None:
    """Rerun the experiments of the paper and write their numbers, figures and page.

    The current folder must be a clone of the repository. Results are written to experiments/results (with --quick, to
    experiments/results/quick), figures and the page to docs. An interrupted run resumes where it stopped.

    Example: sartre reproduce figure-variables --trials 3
    """
    with guarded(debug=debug):
        from sartre.compute.parallel import workers

        experiments = _experiments()
        names = _named(studies or ["all"], list(experiments.STUDIES))
        count, jobs = trials or (1 if quick else 10), workers(jobs)
        remaining, seconds = experiments.estimate(names, count, jobs, quick=quick)
        err.print(f"{remaining} data sets to do, about {_duration(seconds)} in {jobs} processes.", soft_wrap=True)
        with progress("Starting"):
            written = experiments.reproduce(names, count, jobs, quick=quick)
        for file in written:
            out.print(f"Wrote {file.relative_to(Path.cwd())}", soft_wrap=True)


def _experiments() -> Any:
    """Import the experiments of the current folder."""
    if not MARK.is_file():
        raise ValueError(
            "The experiments are not part of the package. Clone the repository and run this command in its folder, "
            f"which contains {MARK.as_posix()}."
        )
    sys.path.insert(0, str(Path.cwd()))
    return importlib.import_module("experiments.reproduce")


def _named(asked: list[str], known: list[str]) -> list[str]:
    """Return the requested studies, in their standard order."""
    from sartre.settings import suggestion

    unknown = [name for name in asked if name not in (*known, "all")]
    if unknown:
        raise ValueError(
            f"There is no study '{unknown[0]}'; choose from {', '.join(known)} and all.{suggestion(unknown[0], known)}"
        )
    return known if "all" in asked else [name for name in known if name in asked]


def _duration(seconds: float) -> str:
    for unit, size in (("hours", 3600), ("minutes", 60)):
        if seconds >= 2 * size:
            return f"{seconds / size:.0f} {unit}"
    return f"{seconds:.0f} seconds"

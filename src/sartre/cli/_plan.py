"""``sartre plan``: the time and memory that `sartre discover` would take."""

from __future__ import annotations

import json
from pathlib import Path
from typing import TYPE_CHECKING, Any

import typer

from sartre.cli import _options as option  # noqa: TC001 - typer reads the types
from sartre.cli._console import guarded, out, progress
from sartre.cli._learning import Asked, load

if TYPE_CHECKING:
    import pandas as pd

    from sartre.plan.estimate import Plan


def plan(  # noqa: PLR0913 - one argument per option
    source: option.Source,
    *,
    columns: option.Columns = None,
    exclude: option.Exclude = None,
    categorical: option.Categorical = None,
    log: option.Log = None,
    sheet: option.Sheet = None,
    order: option.Order = "OrderSearch",
    prune: option.Prune = "SARTRE",
    effort: option.Effort = None,
    settings: option.Settings = None,
    level: option.Level = None,
    penalty: option.Penalty = None,
    jobs: option.Jobs = 1,
    as_json: option.Json = False,
    debug: option.Debug = False,
) -> None:
    """Estimate the time and memory of `sartre discover`, step by step, without running it.

    The start of the program counts, and so does the compilation of its loops, unless they are cached on this machine.
    Only the beginning of a long text file is read, and its number of rows is estimated. The range covers graphs of
    different density. The estimates are based on measurements and are scaled to the speed of this machine. They do not
    count environments, interventions and groups.

    Example: sartre plan cells.csv --order SCORE --jobs 4
    """
    options = locals()
    with guarded(debug=debug):
        asked = Asked.of(options)
        with progress(f"Looking at {'standard input' if source == '-' else source}"):
            found = _planned(asked)
        if as_json:
            typer.echo(json.dumps(_document(found), indent=2, allow_nan=False))
        else:
            out.print(str(found), soft_wrap=True)


def _planned(asked: Asked) -> Plan:
    from sartre.cli._methods import build_model
    from sartre.cli._reading import chosen
    from sartre.plan.estimate import plan as planned
    from sartre.plan.estimate import reading_step, shape_of, starting_steps

    model = build_model(asked)
    frame, n = _beginning(asked.source, asked.sheet)
    shape = shape_of((n, chosen(frame, asked).shape[1]))
    return planned(model, shape, reading_step(asked.source, n, frame.shape[1]), starting_steps())


def _beginning(source: str, sheet: str | None) -> tuple[pd.DataFrame, int]:
    from sartre.data.read_file import peek

    if Path(source).exists():
        return peek(source, sheet=sheet)
    frame, _ = load(source, sheet)
    return frame, len(frame)


def _document(found: Plan) -> dict[str, Any]:
    """Return the plan for JSON, with null in place of NaN."""
    steps = [
        {name: None if value != value else value for name, value in step._asdict().items()}  # noqa: PLR0124 - NaN
        for step in (*found.steps, found.total)
    ]
    return {
        "rows": found.n_rows,
        "variables": found.n_variables,
        "threads": found.n_jobs,
        "steps": steps,
        "advice": list(found.advice),
    }

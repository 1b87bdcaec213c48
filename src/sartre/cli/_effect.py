"""``sartre effect``: what raising one variable does to another, from the model that a run has saved."""

from __future__ import annotations

import json
from dataclasses import asdict
from pathlib import Path  # noqa: TC003 - typer reads the types
from typing import TYPE_CHECKING, Annotated, Any

import typer
from rich.table import Table

from sartre.cli import _options as option  # noqa: TC001 - typer reads the types
from sartre.cli._console import guarded, out, progress

if TYPE_CHECKING:
    from sartre.scm.average import AverageEffect


def effect(
    model: Annotated[
        Path, typer.Argument(metavar="MODEL", help="The model.sartre of `sartre discover`, or what model.save wrote.")
    ],
    cause: Annotated[str, typer.Argument(metavar="CAUSE", help="The variable that is raised.")],
    outcome: Annotated[str, typer.Argument(metavar="EFFECT", help="The variable that may change.")],
    *,
    level: Annotated[float, typer.Option(help="Level of the intervals.")] = 0.9,
    samples: Annotated[int, typer.Option(help="Number of draws, or of bootstrap samples, for the intervals.")] = 100,
    seed: option.Seed = 0,
    as_json: option.Json = False,
    debug: option.Debug = False,
) -> None:
    """Say what raising one variable does to another on average.

    The variable is set to its first and to its third quartile, and the mean of the other one is compared: in total,
    through all paths, and directly, with the other causes as they are. The answer holds if the graph does.

    Example: sartre effect model.sartre dose outcome
    """
    with guarded(debug=debug):
        with progress(f"Reading {model}"):
            import sartre

            learnt = sartre.load(model)
            settings: dict[str, Any] = {"level": level, "n_bootstrap": samples, "random_state": seed}
            found = [learnt.scm_.average_effect(cause, outcome, direct=direct, **settings) for direct in (False, True)]
        if as_json:
            effects = [{name: _number(value) for name, value in asdict(each).items()} for each in found]
            typer.echo(json.dumps({"effects": effects, "remarks": list(learnt.remarks_)}, indent=2, allow_nan=False))
        else:
            _print(found, learnt.remarks_)


def _print(found: list[AverageEffect], remarks: tuple[str, ...]) -> None:
    total, direct = found
    out.print(f"{total}.", soft_wrap=True)
    table = Table()
    for name in ("effect", "mean", "low", "high", "lowest", "highest"):
        table.add_column(name, justify="left" if name == "effect" else "right")
    for each in (total, direct):
        numbers = (each.effect, each.low, each.high, each.lowest, each.highest)
        table.add_row(each.kind, *("-" if _number(number) is None else f"{number:.4g}" for number in numbers))
    out.print(table)
    out.print(
        f"low, high: the {total.level:.0%} interval, if the graph is right; lowest, highest: over the graphs that "
        "undecided arrows allow",
        soft_wrap=True,
    )
    for remark in remarks:
        out.print(f"- {remark}", soft_wrap=True)


def _number(value: Any) -> Any:
    """Return a value for JSON, with None in place of NaN."""
    return None if isinstance(value, float) and value != value else value  # noqa: PLR0124 - NaN differs from itself

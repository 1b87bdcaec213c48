"""The options that several commands have, each described once."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated, Literal, TypeAlias

import typer

Source: TypeAlias = Annotated[
    str,
    typer.Argument(
        metavar="FILE",
        help="A CSV, TSV, Parquet or Feather file, one row a sample; a folder of Parquet files, read in batches; - for "
        "CSV on standard input; or a data set that comes along: sachs.",
    ),
]
Columns: TypeAlias = Annotated[
    str | None, typer.Option(metavar="A,B,...", help="Use these columns only; all if not given.")
]
Order: TypeAlias = Annotated[
    str,
    typer.Option(
        metavar="NAME",
        help="How the order is found: a name that `sartre methods` lists, or your own class as package.module:Class.",
    ),
]
Prune: TypeAlias = Annotated[
    str,
    typer.Option(
        metavar="NAME",
        help="How edges are dropped: a name that `sartre methods` lists, or your own class as package.module:Class.",
    ),
]
Settings: TypeAlias = Annotated[
    list[str] | None,
    typer.Option("--set", metavar="NAME=VALUE", help="A setting of a step, such as prune.alpha=0.01; may be repeated."),
]
Level: TypeAlias = Annotated[
    float | None,
    typer.Option(
        help="Of SARTRE: false parents a variable, in the mean, where nothing has an effect; 0.01 if not given."
    ),
]
Penalty: TypeAlias = Annotated[
    float | None,
    typer.Option(help="Of SARTRE: the paper's penalty, above 0, instead of tests; the higher, the fewer edges."),
]
Knowledge: TypeAlias = Annotated[
    Path | None,
    typer.Option(
        metavar="FILE", help="What is known, as TOML or JSON: required, forbidden, before, tiers, roots, leaves."
    ),
]
Missing: TypeAlias = Annotated[
    Literal["error", "drop", "bin", "impute"],
    typer.Option(
        help="Missing values: refuse them, leave out their rows, take them for a value of its own, or fill them in."
    ),
]
Stability: TypeAlias = Annotated[
    int | None,
    typer.Option(
        metavar="N",
        min=1,
        help="Learn again on N pairs of half-samples, and say how often each edge is found. A run that was stopped "
        "goes on where it was.",
    ),
]
Seed: TypeAlias = Annotated[int, typer.Option(help="Same seed, same result.")]
Jobs: TypeAlias = Annotated[int, typer.Option(help="Threads; -1 for one a core. The result does not depend on it.")]
Out: TypeAlias = Annotated[Path, typer.Option("--out", metavar="DIR", help="The folder that the results go to.")]
Report: TypeAlias = Annotated[
    Path | None, typer.Option(metavar="FILE", help="Also write a report to look at in a browser: one HTML file.")
]
NoData: TypeAlias = Annotated[
    bool, typer.Option("--no-data", help="Put no row of the table into the report, so that it can be shared.")
]
Json: TypeAlias = Annotated[bool, typer.Option("--json", help="Print the result as JSON, and nothing else.")]
Debug: TypeAlias = Annotated[bool, typer.Option("--debug", help="Show the traceback of an error.")]

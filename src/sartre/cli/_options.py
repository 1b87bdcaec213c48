"""Options that several commands share, each described once."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated, Literal, TypeAlias

import typer

Source: TypeAlias = Annotated[
    str,
    typer.Argument(
        metavar="FILE",
        help="A table with one row per sample: CSV or TSV (also .gz or .zst), Excel, Parquet, Feather, SAS, Stata or "
        "SPSS; a folder of Parquet files, which is read in batches; - for CSV on standard input; or sachs, the "
        "included data set.",
    ),
]
Columns: TypeAlias = Annotated[
    str | None, typer.Option(metavar="A,B,...", help="Use only these columns; all by default.")
]
Exclude: TypeAlias = Annotated[
    str | None, typer.Option(metavar="A,B,...", help="Leave these columns out, such as ids, dates and free text.")
]
Categorical: TypeAlias = Annotated[
    str | None,
    typer.Option(metavar="A,B,...", help="Treat these columns of numbers as categories, which have no order."),
]
Log: TypeAlias = Annotated[
    str | None, typer.Option(metavar="A,B,...", help="Take the logarithm of these columns, which must be positive.")
]
Sheet: TypeAlias = Annotated[
    str | None,
    typer.Option(metavar="NAME", help="The sheet of a spreadsheet, by its name or its number; the first by default."),
]
Environment: TypeAlias = Annotated[
    str | None,
    typer.Option(
        metavar="COLUMN",
        help="The column that names the experiment, batch, site or period of each row. It is not a variable; what its "
        "values act on is printed.",
    ),
]
Interventions: TypeAlias = Annotated[
    Path | None,
    typer.Option(
        metavar="FILE",
        help="What was acted on: a table with the columns environment and target, one line per target, and optionally "
        "kind (perfect: the target was set; soft: it was shifted; perfect by default). Needs --environment.",
    ),
]
Groups: TypeAlias = Annotated[
    str | None,
    typer.Option(
        metavar="COLUMN",
        help="The column that says which rows belong together (patients, plots) and are not independent. It is not a "
        "variable.",
    ),
]
Order: TypeAlias = Annotated[
    str,
    typer.Option(
        metavar="NAME",
        help="Method that finds the order: a name from `sartre methods`, or your own class as package.module:Class.",
    ),
]
Prune: TypeAlias = Annotated[
    str,
    typer.Option(
        metavar="NAME",
        help="Method that drops edges: a name from `sartre methods`, or your own class as package.module:Class.",
    ),
]
Settings: TypeAlias = Annotated[
    list[str] | None,
    typer.Option("--set", metavar="NAME=VALUE", help="A setting of a step, such as prune.alpha=0.01; may be repeated."),
]
Effort: TypeAlias = Annotated[
    Literal["fast", "auto", "thorough"] | None,
    typer.Option(
        help="How long OrderSearch looks for a better order, and SARTRE for parents that act jointly; auto by default. "
        "With thorough, the joint effects of 20 columns took 29 s in a sparse graph and 131 s in a dense one."
    ),
]
Level: TypeAlias = Annotated[
    float | None,
    typer.Option(
        help="SARTRE only: expected number of false parents per variable if nothing has an effect; 0.01 by default."
    ),
]
Penalty: TypeAlias = Annotated[
    float | None,
    typer.Option(help="SARTRE only: the paper's penalty, above 0, instead of tests; a higher one keeps fewer edges."),
]
Knowledge: TypeAlias = Annotated[
    Path | None,
    typer.Option(
        metavar="FILE", help="Prior knowledge, as TOML or JSON: required, forbidden, before, tiers, roots, leaves."
    ),
]
Missing: TypeAlias = Annotated[
    Literal["error", "drop", "bin", "impute"],
    typer.Option(
        help="Missing values: refuse them, leave out their rows, treat missing as a value of its own, or impute them."
    ),
]
Stability: TypeAlias = Annotated[
    int | None,
    typer.Option(
        metavar="N",
        min=1,
        help="Learn again on N pairs of half-samples, and report how often each edge is found. An interrupted run "
        "resumes where it stopped.",
    ),
]
Certify: TypeAlias = Annotated[
    float | None,
    typer.Option(
        metavar="RATE",
        help="Certify edges on rows that were held out, so that at most this share of the certified ones is false in "
        "expectation, as statements about prediction in the order; 0.1 is common.",
    ),
]
Seed: TypeAlias = Annotated[int, typer.Option(help="Random seed; the same seed gives the same result.")]
Jobs: TypeAlias = Annotated[
    int,
    typer.Option(
        help="Number of threads, at most one per core; -1 for one per core. They share out the targets of the pruning "
        "and the rows of large tables, and pay only where there are many. With --stability and --certify they are "
        "processes over the half-samples. The result does not depend on it."
    ),
]
Out: TypeAlias = Annotated[Path, typer.Option("--out", metavar="DIR", help="The folder for the results.")]
ResultFolder: TypeAlias = Annotated[
    Path | None,
    typer.Option(
        "--out",
        metavar="DIR",
        help="The folder for the results; by default one named after the table, such as cells-sartre for cells.csv, in "
        "the current folder.",
    ),
]
Overwrite: TypeAlias = Annotated[
    bool, typer.Option("--overwrite", help="Replace an earlier result; without it, the run is refused.")
]
Report: TypeAlias = Annotated[
    Path | None,
    typer.Option(
        metavar="FILE",
        help="Also write a report for a browser, as one HTML file; the path is relative to the current folder.",
    ),
]
NoData: TypeAlias = Annotated[
    bool, typer.Option("--no-data", help="Leave the rows of the table out of the report, so that it can be shared.")
]
Yes: TypeAlias = Annotated[
    bool, typer.Option("--yes", help="Start even if this machine seems to have far too little memory for the run.")
]
Json: TypeAlias = Annotated[bool, typer.Option("--json", help="Print only the result, as JSON.")]
Debug: TypeAlias = Annotated[bool, typer.Option("--debug", help="Show the traceback of an error.")]

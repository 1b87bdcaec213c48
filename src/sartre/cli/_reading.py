"""The table that was asked for: its columns as the options say, or the list of all that is wrong with it."""

from __future__ import annotations

import csv
import io
import shlex
import warnings
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    import pandas as pd

    from sartre.cli._learning import Asked
    from sartre.data.problems import Problem, Repair
    from sartre.data.table import Table

_NEEDS_ROWS = ("stability", "certify", "environment", "groups", "interventions", "categorical", "log")
SHOWN_PROBLEMS = 30


def streams(asked: Asked) -> bool:
    """Return whether a table is read in batches: a folder, or a large file of which no option needs all rows at once.

    A large text is only if all columns that are used hold numbers.
    """
    from sartre.data.file_names import is_text
    from sartre.data.read_file import in_batches, peek

    if not in_batches(asked.source) or not is_text(Path(asked.source)):
        return in_batches(asked.source)
    if any(getattr(asked, name) is not None for name in _NEEDS_ROWS) or asked.missing not in ("error", "drop"):
        return False
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # they are given when the file is read
        beginning = chosen(peek(asked.source)[0], asked)
    return beginning.shape[1] == beginning.select_dtypes("number").shape[1]


def column_names(asked: Asked) -> list[str] | None:
    """Return the columns to read in batches; None for all."""
    from sartre.data.read_file import peek

    if asked.exclude is None:
        return asked.columns
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        return [str(name) for name in chosen(peek(asked.source)[0], asked).columns]


def chosen(frame: pd.DataFrame, asked: Asked) -> pd.DataFrame:
    """Return the requested columns, and those that say how rows differ."""
    about_rows = [name for name in (asked.environment, asked.groups) if name is not None]
    options = {"columns": asked.columns, "exclude": asked.exclude, "categorical": asked.categorical, "log": asked.log}
    for name in (*(name for names in options.values() for name in names or []), *about_rows):
        _check_name(frame, name, asked.source)
    excluded = asked.exclude or []
    for option, names in {**options, "environment or --groups": about_rows}.items():
        both = [name for name in names or [] if name in excluded]
        if both and option not in ("columns", "exclude"):
            raise ValueError(f"--exclude and --{option} both name '{both[0]}'; leave it out of one of them.")
    names = [str(name) for name in frame.columns] if asked.columns is None else asked.columns
    kept = [name for name in names if name not in excluded]
    if asked.columns is None:
        return frame[kept] if excluded else frame
    return frame[[*kept, *(name for name in dict.fromkeys(about_rows) if name not in kept)]]


def prepared(frame: pd.DataFrame, asked: Asked) -> pd.DataFrame:
    """Return the requested columns, some of them as categories or on a logarithmic scale."""
    import numpy as np

    frame = chosen(frame, asked).copy(deep=False)
    for name in asked.categorical or []:
        _check_used(frame, name, "categorical")
        frame[name] = frame[name].map(_as_level, na_action="ignore").astype("category")
    for name in asked.log or []:
        _check_used(frame, name, "log")
        if name in (asked.categorical or []):
            raise ValueError(f"--log and --categorical both name '{name}'; leave it out of one of them.")
        frame[name] = np.log(_positive(frame[name], name))
    return frame


def problems_in(frame: pd.DataFrame, asked: Asked) -> list[Problem]:
    """Return all problems of the variables of a table."""
    from sartre.data.problems import problems_of

    return problems_of(_variables(frame, asked), missing=asked.missing)


def refused(frame: pd.DataFrame, asked: Asked, problems: Sequence[Problem]) -> Exception:
    """Return the error that lists all problems of a table and, if there is one, a command line that works."""
    from sartre.data.problems import lines_of, repair_of
    from sartre.data.refusals import refusal

    repair = repair_of(_variables(frame, asked), problems)
    told = problems if repair is not None else [problem for problem in problems if problem.fatal]
    lines = [_with_options(line) for line in lines_of(told)]
    changes = None if repair is None else _changes(frame, asked, repair)
    remedy = [] if changes is None else [f"This would work: {command_line(asked, changes)}"]
    if len(lines) == 1:
        return refusal(problems, text=" ".join([*lines, *remedy]))
    rest = [f"... and {len(lines) - SHOWN_PROBLEMS} more."] if len(lines) > SHOWN_PROBLEMS else []
    shown = [f"- {line}" for line in (*lines[:SHOWN_PROBLEMS], *rest)]
    return refusal(problems, text="\n".join([f"'{asked.source}' has {len(lines)} problems:", *shown, *remedy]))


def _changes(frame: pd.DataFrame, asked: Asked, repair: Repair) -> dict[str, tuple[str, ...]] | None:
    """Return the words of the options that repair a table; None if too few rows would be left."""
    from sartre.data.checks import MIN_ROWS

    changes: dict[str, tuple[str, ...]] = {}
    if repair.exclude:
        changes["exclude"] = ("--exclude", joined_names([*(asked.exclude or []), *repair.exclude]))
    for option in ("categorical", "log"):
        names = getattr(asked, option) or []
        kept = [name for name in names if name not in repair.exclude]
        if kept != names:
            changes[option] = (f"--{option}", joined_names(kept)) if kept else ()
    missing = asked.missing if repair.missing == "error" else repair.missing
    if asked.certify is not None and missing == "impute":
        missing = "drop"  # certificates allow no imputed values
    rest = _variables(frame, asked).drop(columns=list(repair.exclude))
    if missing == "drop" and int(rest.notna().all(axis=1).sum()) < MIN_ROWS:
        if asked.certify is not None:
            return None
        missing = "impute"
    if missing != asked.missing:
        changes["missing"] = ("--missing", missing)
    return changes


def warn_of_row_numbers(table: Table) -> None:
    """Say which columns seem to number the rows."""
    from sartre.data.problems import row_numbers

    for problem in row_numbers(table):
        warnings.warn(f"{problem} Use --exclude {joined_names([problem.column or ''])}.", UserWarning, stacklevel=2)


def command_line(asked: Asked, changes: Mapping[str, Sequence[str]]) -> str:
    """Return the command that was typed, with the words of some options changed or added."""
    words = {**(dict(asked.typed) or {"command": ("sartre", "discover", asked.source)}), **changes}
    return shlex.join(word for group in words.values() for word in group)


def joined_names(names: Sequence[str]) -> str:
    """Return names as `split_names` takes them.

    Examples
    --------
    >>> joined_names(["height", "weight, kg"])
    'height,"weight, kg"'
    """
    text = io.StringIO()
    csv.writer(text, lineterminator="").writerow(names)
    return text.getvalue()


def _check_name(frame: pd.DataFrame, name: str, source: str) -> None:
    from sartre.settings import suggestion

    names = [str(each) for each in frame.columns]
    if name not in names:
        shown = ", ".join(names[:20]) + (", ..." if len(names) > 20 else "")
        raise ValueError(f"'{source}' has no column '{name}'; its columns are {shown}.{suggestion(name, names)}")


def _check_used(frame: pd.DataFrame, name: str, option: str) -> None:
    if name not in frame.columns:
        raise ValueError(f"--{option} names '{name}', which --columns leaves out; add it there, or leave it out here.")


def _variables(frame: pd.DataFrame, asked: Asked) -> pd.DataFrame:
    return frame.drop(columns=[name for name in (asked.environment, asked.groups) if name is not None])


def _as_level(value: Any) -> str:
    """Return the name of a level; that of 3.0 is 3."""
    return str(int(value) if isinstance(value, float) and value.is_integer() else value)


def _positive(column: pd.Series, name: str) -> Any:
    """Return the numbers of a column of which the logarithm can be taken."""
    import pandas as pd

    if not pd.api.types.is_numeric_dtype(column.dtype) or pd.api.types.is_bool_dtype(column.dtype):
        raise ValueError(f"--log needs numbers. Column '{name}' holds {_example(column)}; leave it out of --log.")
    numbers = column.astype("float64").to_numpy()
    low = numbers <= 0
    if low.any():
        row = int(low.argmax())
        raise ValueError(
            f"--log needs positive numbers. Column '{name}' holds {numbers[row]:g} in row {row} (the first row is 0), "
            f"and {int(low.sum())} such values in all; correct them, or leave the column out of --log."
        )
    return numbers


def _example(column: pd.Series) -> str:
    known = column.dropna()
    return f"'{str(known.iloc[0])[:40]}'" if len(known) else "no values"


def _with_options(line: str) -> str:
    """Return a sentence about missing values that names the options of the command line."""
    return line.replace(
        "Leave out such rows, impute the values, or treat missing as a value of its own.",
        "Leave out their rows with --missing drop, impute them with --missing impute, or treat missing as a value of "
        "its own with --missing bin.",
    )

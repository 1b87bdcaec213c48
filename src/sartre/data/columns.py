"""Convert one column of user data to numbers, or to the levels of a category."""

from __future__ import annotations

import datetime as dt
import re
from decimal import Decimal
from numbers import Real
from typing import Any, NamedTuple

import narwhals as nw
import numpy as np
import pandas as pd
from numpy.typing import NDArray

from sartre.data.number_text import numbers_in, warn_of_numbers
from sartre.data.refusals import Kind, Problem, refusal

SAMPLES_PER_LEVEL = 10  # on average; a column with fewer is an id or free text
FEW_LEVELS, MOST_LEVELS = 5, 100  # up to FEW_LEVELS are always allowed; more than MOST_LEVELS never are
_DATE = re.compile(r"\d{4}[-/.]\d{1,2}[-/.]\d{1,2}([ T].*)?|\d{1,2}[-/.]\d{1,2}[-/.](\d{2}|\d{4})([ T].*)?")
_FROM_DATES = "Convert them to numbers (days since a start date, for example) or leave the column out."
_PLAIN = re.compile(r"[+-]?(\d+\.?\d*|\.\d+)([eE][+-]?\d+)?", re.ASCII)  # what every reader takes for a number


class Column(NamedTuple):
    """The values of a column, NaN where missing; for a category, the positions of its levels, which are sorted."""

    values: NDArray[np.float64]
    levels: tuple[str, ...] | None = None


def read_series(column: nw.Series[Any], name: str, *, categories: bool) -> Column:
    """Read a column of a data frame.

    Numbers and booleans are used as numbers, and so is text such as ``$1,562.50`` (`sartre.data.number_text`). With
    `categories`, an ordered pandas categorical is used as a number, by its position in the order; other categoricals,
    enums and text are categories (see `as_category`).
    """
    kind = column.dtype
    if kind.is_numeric() or kind == nw.Boolean:
        return Column(column.cast(nw.Float64).to_numpy().astype(np.float64))
    if kind.is_temporal():
        raise _refused("date", name, "holds dates or times, but numbers are needed.", _FROM_DATES)
    if categories and isinstance(kind, (nw.Categorical, nw.Enum)):
        native: Any = column.to_native()
        if hasattr(native, "cat") and getattr(native.cat, "ordered", False):
            codes = np.asarray(native.cat.codes, dtype=np.float64)
            return Column(np.where(codes < 0, np.nan, codes))
        return as_category(np.array(column.to_list(), dtype=object), name)
    if isinstance(kind, (nw.String, nw.Object, nw.Unknown)):
        return read_objects(column.to_numpy(), name, categories=categories)
    raise _refused(
        "type", name, f"is of type {kind}, but numbers are needed.", "Code it as numbers or leave the column out."
    )


def read_objects(values: NDArray[Any], name: str, *, categories: bool) -> Column:
    """Read a column of Python objects: all numbers or, with `categories`, all text that does not read as a number."""
    wrong = [
        row
        for row, value in enumerate(values)
        if not (is_missing(value) or isinstance(value, (Real, Decimal, np.bool_)))
    ]
    if not wrong:
        numbers = [np.nan if is_missing(value) else _as_float(value) for value in values]
        return Column(np.array(numbers, dtype=np.float64))
    read = numbers_in(values)
    if read is not None:
        warn_of_numbers({name: (values, read)})
        return Column(read)
    texts = [row for row in wrong if not _reads_as_number(values[row])]
    if categories and len(texts) == sum(not is_missing(value) for value in values) and _all_text(values[texts]):
        if all(_DATE.fullmatch(text.strip()) for text in values[texts]):
            found = f"holds dates written as text, such as '{values[texts[0]]}' {_row(texts[0])}."
            raise _refused("date", name, found, _FROM_DATES)
        return as_category(values, name)
    if not texts:
        odd = next((row for row in wrong if not _PLAIN.fullmatch(str(values[row]))), wrong[0])  # what made it text
        found = f"holds numbers written as text, such as '{values[odd]}' {_row(odd)}."
        raise _refused("number", name, found, "Convert them to numbers first.")
    found = f"holds '{str(values[texts[0]])[:40]}' {_row(texts[0])}, but a number is needed."
    if all(isinstance(values[row], (dt.date, dt.time, dt.timedelta)) for row in texts):
        raise _refused("date", name, found, _FROM_DATES)
    raise _refused("value", name, found, "Correct the value, drop the row, or leave the column out.")


def as_category(values: NDArray[Any], name: str) -> Column:
    """Convert a category to numbers: the positions of its levels among their sorted names.

    At most min(n / 10, 100) levels are allowed (five always are). More are refused, since nothing can be learnt from
    levels with one or two samples.

    Examples
    --------
    >>> as_category(np.array(["no", "yes", None, "no"], dtype=object), "smokes")
    Column(values=array([ 0.,  1., nan,  0.]), levels=('no', 'yes'))
    """
    missing = np.array([is_missing(value) for value in values], dtype=bool)
    texts = [str(value) for value in values[~missing]]
    levels = sorted(set(texts))
    most = max(FEW_LEVELS, min(MOST_LEVELS, len(values) // SAMPLES_PER_LEVEL))
    if len(levels) > most:
        kind, likeness = _likeness(levels, texts)
        found = (
            f"has {len(levels)} levels in {len(values)} rows, such as '{texts[0][:40]}', so it looks like {likeness}."
        )
        if kind == "id" or len(levels) == len(texts):
            raise _refused(kind, name, found, "Leave the column out.")
        found += f" With this many rows, at most {most} levels are allowed."
        raise _refused(kind, name, found, "Merge rare levels, or leave the column out.")
    place = {level: code for code, level in enumerate(levels)}
    codes = np.full(len(values), np.nan)
    codes[~missing] = [place[text] for text in texts]
    return Column(codes, tuple(levels))


def _likeness(levels: list[str], texts: list[str]) -> tuple[Kind, str]:
    """Return what a text column with too many levels seems to be."""
    if sum(len(level.split()) > 2 for level in levels) > len(levels) / 2:
        return "text", "free text"
    return ("id", "an id") if len(levels) == len(texts) else ("text", "an id or free text")


def _refused(kind: Kind, name: str, found: str, remedy: str) -> Exception:
    return refusal([Problem(kind, name, f"Column '{name}' {found}", remedy)])


def _row(number: int) -> str:
    return f"in row {number} (the first row is 0)"


def is_missing(value: object) -> bool:
    """Return whether a value is missing."""
    return value is None or value is pd.NA or bool(isinstance(value, float) and np.isnan(value))


def _all_text(values: NDArray[Any]) -> bool:
    return all(isinstance(value, str) for value in values)


def _as_float(value: Any) -> float:
    try:
        return float(value)
    except OverflowError:  # an int beyond the largest double is refused later, by column and row
        return np.inf


def _reads_as_number(value: object) -> bool:
    if not isinstance(value, (str, bytes)):
        return False
    try:
        return bool(np.isfinite(float(value)))
    except ValueError:
        return False

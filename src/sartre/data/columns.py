"""One column of user data becomes numbers, or the levels of a category."""

from __future__ import annotations

import re
from decimal import Decimal
from numbers import Real
from typing import Any, NamedTuple

import narwhals as nw
import numpy as np
import pandas as pd
from numpy.typing import NDArray

SAMPLES_A_LEVEL = 10  # on average: more levels are an id or free text
FEW_LEVELS, MOST_LEVELS = 5, 100  # so many are always allowed; more never are
_DATE = re.compile(r"\d{4}[-/.]\d{1,2}[-/.]\d{1,2}([ T].*)?|\d{1,2}[-/.]\d{1,2}[-/.](\d{2}|\d{4})([ T].*)?")


class Column(NamedTuple):
    """The values of a column, NaN where missing; of a category, the positions of its levels, which are sorted."""

    values: NDArray[np.float64]
    levels: tuple[str, ...] | None = None


def read_series(column: nw.Series[Any], name: str, *, categories: bool) -> Column:
    """Read a column of a data frame.

    Numbers and booleans are numbers. With `categories`, so is an ordered pandas categorical, by its position in the
    order; other categoricals, enums and text are categories (see `as_category`).
    """
    kind = column.dtype
    if kind.is_numeric() or kind == nw.Boolean:
        return Column(column.cast(nw.Float64).to_numpy().astype(np.float64))
    if kind.is_temporal():
        raise TypeError(
            f"Column '{name}' holds dates or times. A number is needed: "
            "turn it into one (days since a start, say) or leave the column out."
        )
    if categories and isinstance(kind, (nw.Categorical, nw.Enum)):
        native: Any = column.to_native()
        if hasattr(native, "cat") and getattr(native.cat, "ordered", False):
            codes = np.asarray(native.cat.codes, dtype=np.float64)
            return Column(np.where(codes < 0, np.nan, codes))
        return as_category(np.array(column.to_list(), dtype=object), name)
    if isinstance(kind, (nw.String, nw.Object, nw.Unknown)):
        return read_objects(column.to_numpy(), name, categories=categories)
    raise TypeError(f"Column '{name}' is of type {kind}. A number is needed: code it as one or leave the column out.")


def read_objects(values: NDArray[Any], name: str, *, categories: bool) -> Column:
    """Read a column of Python objects: numbers all, or, with `categories`, text of which nothing reads as a number."""
    wrong = [
        row
        for row, value in enumerate(values)
        if not (is_missing(value) or isinstance(value, (Real, Decimal, np.bool_)))
    ]
    if not wrong:
        numbers = [np.nan if is_missing(value) else _as_float(value) for value in values]
        return Column(np.array(numbers, dtype=np.float64))
    texts = [row for row in wrong if not _reads_as_number(values[row])]
    if categories and len(texts) == sum(not is_missing(value) for value in values) and _all_text(values[texts]):
        if all(_DATE.fullmatch(text.strip()) for text in values[texts]):
            raise ValueError(
                f"Column '{name}' holds dates written as text, such as '{values[texts[0]]}' in row {texts[0]} (the "
                "first row is 0). Turn them into numbers (days since a start, say) or leave the column out."
            )
        return as_category(values, name)
    if not texts:
        raise ValueError(
            f"Column '{name}' holds numbers written as text, such as '{values[wrong[0]]}' in row {wrong[0]} "
            "(the first row is 0). Turn them into numbers first."
        )
    raise ValueError(
        f"Column '{name}' holds '{str(values[texts[0]])[:40]}' in row {texts[0]} (the first row is 0). A number is "
        "needed: correct the value, drop the row, or leave the column out."
    )


def as_category(values: NDArray[Any], name: str) -> Column:
    """Turn a category into numbers: the positions of its levels in their sorted names.

    At most n / 10 levels, and 100, are allowed (five always are): more are refused, for there is nothing to learn from
    levels with a sample or two.

    Examples
    --------
    >>> as_category(np.array(["no", "yes", None, "no"], dtype=object), "smokes")
    Column(values=array([ 0.,  1., nan,  0.]), levels=('no', 'yes'))
    """
    missing = np.array([is_missing(value) for value in values], dtype=bool)
    texts = [str(value) for value in values[~missing]]
    levels = sorted(set(texts))
    most = max(FEW_LEVELS, min(MOST_LEVELS, len(values) // SAMPLES_A_LEVEL))
    if len(levels) > most:
        raise ValueError(
            f"Column '{name}' has {len(levels)} levels in {len(values)} rows, '{texts[0][:40]}' for one: an id or free "
            f"text rather than a category. At most {most} are allowed here; merge the rare ones, or leave the column "
            "out."
        )
    place = {level: code for code, level in enumerate(levels)}
    codes = np.full(len(values), np.nan)
    codes[~missing] = [place[text] for text in texts]
    return Column(codes, tuple(levels))


def is_missing(value: object) -> bool:
    """Return whether a value stands for none."""
    return value is None or value is pd.NA or bool(isinstance(value, float) and np.isnan(value))


def _all_text(values: NDArray[Any]) -> bool:
    return all(isinstance(value, str) for value in values)


def _as_float(value: Any) -> float:
    try:
        return float(value)
    except OverflowError:  # an int past the largest double, refused later by column and row
        return np.inf


def _reads_as_number(value: object) -> bool:
    if not isinstance(value, (str, bytes)):
        return False
    try:
        return bool(np.isfinite(float(value)))
    except ValueError:
        return False

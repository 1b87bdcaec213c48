"""Numbers as people write them: ``$1,562.50``, ``12 %``, ``1 234,5``, ``(300)``."""

from __future__ import annotations

import re
import warnings
from collections.abc import Mapping, Sequence
from typing import Any, NamedTuple

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from sartre.settings import listed

_SPACES = "\u00a0\u2009\u202f\u2007"  # no-break, thin, narrow no-break and figure space
_SYMBOL = r"[$€£¥₹₽₩₺₪₫฿₴₦¢]|(?:R|US|A|C|NZ|HK)\$|USD|EUR|GBP|CHF|JPY|CNY|INR|CAD|AUD|SEK|NOK|DKK|PLN|CZK|BRL|kr\.?|zł"
_WRITTEN = re.compile(
    rf"(?P<open>\()?\s*(?P<sign>[-+])?\s*(?P<before>{_SYMBOL})?\s*(?P<inner>(?<![-+])[-+])?"
    r"(?P<number>[\d., ']*\d[.,]?(?:[eE][-+]?\d+)?)"
    rf"\s*(?P<percent>%)?\s*(?P<after>{_SYMBOL})?\s*(?P<close>\))?",
    re.ASCII,
)
_ENOUGH = 20  # values that are tried before a column of text is looked at as a whole
_PLAIN_NUMBER = re.compile(r"\d+(\.\d*)?|\.\d+", re.ASCII)


class Convention(NamedTuple):
    """The mark between groups of digits, which may be none, and the decimal mark."""

    group: str
    decimal: str

    def pattern(self) -> re.Pattern[str]:
        """Return what a number without a sign looks like."""
        group, decimal = re.escape(self.group), re.escape(self.decimal)
        grouped = rf"[1-9]\d{{0,2}}(?:{group}\d{{3}})+|" if self.group else ""
        grouped += r"[1-9]\d?(?:,\d{2})+,\d{3}|" if self.group == "," else ""  # lakhs and crores
        exponent = r"(?:[eE][-+]?\d+)?"
        return re.compile(rf"(?:{grouped}\d+)(?:{decimal}\d*)?{exponent}|{decimal}\d+{exponent}", re.ASCII)


CONVENTIONS = [Convention(group, decimal) for decimal in ".," for group in ("", " ", "'", ".", ",") if group != decimal]
_PATTERNS = {convention: convention.pattern() for convention in CONVENTIONS}


def numbers_in(values: Sequence[object] | NDArray[Any], decimal: str | None = None) -> NDArray[np.float64] | None:
    """Return the numbers that a column of text holds, NaN where a value is missing; None unless all can be read.

    A sign of a currency, a percent sign and a separator of thousands are left out; parentheses mean a minus. All values
    must have the same currency, all or none must have a percent sign, and there must be only one way to read the
    commas and points of all of them together; with a currency, three digits after a mark are thousands. Plain numbers
    alone are None, since it is not known why they are text.

    Parameters
    ----------
    values : sequence of objects
    decimal : "." or ",", optional
        The decimal mark, where it is known from other columns. It settles how ``1,234`` is read.

    Examples
    --------
    >>> numbers_in(["$1,562.50", "$70", None]).tolist()
    [1562.5, 70.0, nan]
    >>> numbers_in(["12 %", "3.5%"]).tolist(), numbers_in(["1 234,5", "-7"]).tolist()
    ([12.0, 3.5], [1234.5, -7.0])
    >>> numbers_in(["1,234"]) is None, numbers_in(["1,234"], decimal=".").tolist()
    (True, [1234.0])
    """
    texts = [None if _absent(value) else value for value in values]
    known = [text for text in texts if isinstance(text, str)]
    if not known or len(known) < len(texts) - texts.count(None):
        return None
    if not all(_WRITTEN.fullmatch(_tidy(text)) for text in known[:_ENOUGH]):
        return None
    levels = dict.fromkeys(known)
    found = _read(list(levels), decimal)
    if found is None:
        return None
    number = dict(zip(levels, found, strict=True))
    return np.array([number[text] if isinstance(text, str) else np.nan for text in texts])


def with_numbers(frame: pd.DataFrame, decimal: str | None = None, *, quiet: bool = False) -> pd.DataFrame:
    """Return a table in which columns of text that hold numbers are numbers; unless `quiet`, a warning says how.

    Examples
    --------
    >>> import warnings
    >>> with warnings.catch_warnings(record=True) as caught:
    ...     warnings.simplefilter("always")
    ...     table = with_numbers(pd.DataFrame({"price": ["$1,562.50", "$70"], "shop": ["a", "b"]}))
    >>> table["price"].tolist(), str(caught[0].message)
    ([1562.5, 70.0], "Numbers written with signs were read without them: price ('$1,562.50' is 1562.5).")
    """
    changed = {}
    for name in frame.columns:
        column = frame[name]
        if column.dtype != object and not pd.api.types.is_string_dtype(column.dtype):
            continue
        texts = column.to_numpy(dtype=object)
        numbers = numbers_in(texts, decimal)
        if numbers is not None:
            changed[name] = texts, numbers
    if changed:
        if not quiet:
            warn_of_numbers(changed)
        frame = frame.copy(deep=False)
        for name, (_, numbers) in changed.items():
            frame[name] = numbers
    return frame


def warn_of_numbers(columns: Mapping[str, tuple[NDArray[Any], NDArray[np.float64]]]) -> None:
    """Say how columns of text, given by their names with their numbers, were read."""
    said = []
    for name, (texts, numbers) in columns.items():
        row = next(row for row, text in enumerate(texts) if not _absent(text) and not _PLAIN_NUMBER.fullmatch(text))
        said.append(f"{name} ('{' '.join(texts[row].split())}' is {numbers[row]:.15g})")
    text = f"Numbers written with signs were read without them: {listed(said)}."
    warnings.warn(text, UserWarning, stacklevel=5)


def _read(texts: list[str], decimal: str | None) -> list[float] | None:
    """Return the number of each text, or None unless all of them agree."""
    found = [_WRITTEN.fullmatch(_tidy(text)) for text in texts]
    matches = [match for match in found if match is not None]
    if len(matches) < len(texts) or not all(map(_is_sound, matches)):
        return None
    if all(_PLAIN_NUMBER.fullmatch(_tidy(text).lstrip("+-")) for text in texts):
        return None
    symbols = {symbol for match in matches for symbol in (match["before"], match["after"]) if symbol}
    percents = {match["percent"] is not None for match in matches if match["number"].strip("0.,")}
    if len(symbols) > 1 or len(percents) > 1:
        return None
    cores = [match["number"] for match in matches]
    fitting = [each for each in CONVENTIONS if all(_PATTERNS[each].fullmatch(core) for core in cores)]
    if decimal is not None and any(each.decimal == decimal for each in fitting):
        fitting = [each for each in fitting if each.decimal == decimal]
    elif symbols:  # prices have no three decimals
        fitting = [each for each in fitting if not any(re.search(rf"\{each.decimal}\d{{3}}$", core) for core in cores)]
    readings = {tuple(_value(core, each) for core in cores): each for each in fitting}
    if len(readings) != 1:
        return None
    (values,) = readings
    signs = [_sign(match) for match in matches]
    return [sign * value for sign, value in zip(signs, values, strict=True)]


def _is_sound(match: re.Match[str]) -> bool:
    """Return whether both parentheses are given or none, with no sign beside them, and at most one sign.

    A plus before groups that are separated by spaces is that of a telephone number.
    """
    signs = [mark for mark in (match["sign"], match["inner"], match["open"]) if mark]
    return (
        (match["open"] is None) == (match["close"] is None)
        and len(signs) <= 1
        and not ("+" in signs and " " in match["number"])
    )


def _value(core: str, convention: Convention) -> float:
    plain = core.replace(convention.group, "") if convention.group else core
    return float(plain.replace(convention.decimal, "."))


def _sign(match: re.Match[str]) -> float:
    marks = [match["sign"] == "-", match["inner"] == "-", match["open"] is not None]
    return -1.0 if sum(marks) % 2 else 1.0


def _tidy(text: str) -> str:
    """Return a text with plain spaces and signs."""
    text = text.strip().replace("\u2212", "-").replace("\u2019", "'")
    return re.sub(f"[{_SPACES}]", " ", text)


def _absent(value: object) -> bool:
    return value is None or value is pd.NA or value is pd.NaT or (isinstance(value, float) and np.isnan(value))

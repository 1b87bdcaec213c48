"""Durations, amounts of memory and a plain table, as a plan prints them."""

from __future__ import annotations

from math import isnan, log10

_UNITS = (("s", 1.0), ("min", 60.0), ("h", 3600.0), ("days", 86400.0), ("years", 365.25 * 86400.0))
_BYTES = ("kB", "MB", "GB", "TB", "PB")


def duration(seconds: float) -> str:
    """Return a time with two digits, in the largest unit of which there are at least two.

    Examples
    --------
    >>> duration(0.0312), duration(95), duration(150), duration(40_000), duration(9e5), duration(float("nan"))
    ('0.03 s', '95 s', '2.5 min', '11 h', '10 days', 'not known')
    """
    if isnan(seconds):
        return "not known"
    unit, size = [(unit, size) for unit, size in _UNITS if seconds >= 2 * size or size == 1.0][-1]
    value = seconds / size
    if value < 0.01:
        return f"under 0.01 {unit}"
    digits = max(0, min(2, 1 - int(log10(value)) if value >= 1 else 2))
    text = f"{float(f'{value:.2g}'):,.{digits}f}"
    return f"{text.rstrip('0').rstrip('.') if '.' in text else text} {unit}"


def amount(n_bytes: float) -> str:
    """Return an amount of memory with two digits.

    Examples
    --------
    >>> amount(2_345_678), amount(8e11), amount(float("nan"))
    ('2.3 MB', '800 GB', 'not known')
    """
    if isnan(n_bytes):
        return "not known"
    value, unit = n_bytes / 1e3, 0
    while value >= 1000 and unit < len(_BYTES) - 1:
        value, unit = value / 1000, unit + 1
    return f"{float(f'{value:.2g}'):,g} {_BYTES[unit]}"


def table_of(rows: list[list[str]]) -> list[str]:
    """Return lines in which the cells of each column are aligned.

    Examples
    --------
    >>> table_of([["step", "time"], ["order", "2 s"]])
    ['step   time', 'order  2 s']
    """
    widths = [max(len(row[k]) for row in rows) for k in range(len(rows[0]))]
    return ["  ".join(cell.ljust(width) for cell, width in zip(row, widths, strict=True)).rstrip() for row in rows]

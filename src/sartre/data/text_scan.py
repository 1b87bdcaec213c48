"""One look at every line of a text table: its number of values, and the decimal mark of its numbers."""

from __future__ import annotations

import csv
import io
import re
import warnings
from collections.abc import Iterator

import numpy as np

_AT_ONCE = 2**24  # bytes whose separators are counted at a time
_DECIMAL_COMMA = re.compile(r"\s*[+-]?\d*,\d+([eE][+-]?\d+)?\s*")
_THOUSANDS = re.compile(r"\s*[+-]?[1-9]\d{0,2},\d{3}\s*")
_COMMA_FIELD = re.compile(rb"(?:^|;)[ \t]*([+-]?\d*,\d+(?:[eE][+-]?\d+)?)[ \t]*(?=;|\r?$)", re.MULTILINE)


def checked_widths(source: str, content: bytes, encoding: str, separator: str, width: int, n_before: int = 0) -> str:
    r"""Refuse a line with another number of values than the first, and return the decimal mark.

    Parameters
    ----------
    source : str
        The name of the text in messages.
    content : bytes
        Whole lines.
    encoding, separator : str
    width : int
        The number of values of each line; blank lines do not count.
    n_before : int
        The number of lines before these.

    Examples
    --------
    >>> checked_widths("a.csv", b"a;b\n1,5;2\n", "utf-8", ";", 2)
    ','
    """
    plain = b'"' not in content and content.count(b"\r") == content.count(b"\r\n")
    if plain:
        _check_plain_widths(source, content, separator, width, n_before)
        fields = _plain_commas(content) if separator == ";" else iter(())
    else:
        fields = _quoted_commas(source, content, encoding, separator, width, n_before)
    decimal, unclear = ".", None  # the first number whose comma may separate thousands
    for field, place in fields:
        if decimal == "." and not _THOUSANDS.fullmatch(field):
            decimal = ","
            if plain:
                break  # the lines have been checked
        elif unclear is None:
            unclear = field.strip(), place
    if unclear is not None and decimal == ".":
        decimal = ","
        field, place = unclear
        _warn_about_commas(source, field, content.count(b"\n", 0, place) + 1 if plain else place)
    return decimal


def has_odd_quotes(content: bytes) -> bool:
    """Return whether a text ends inside of quotes.

    Examples
    --------
    >>> has_odd_quotes(b'a,"b'), has_odd_quotes(b'a,"b"')
    (True, False)
    """
    return content.count(b'"') % 2 == 1


def _check_plain_widths(source: str, content: bytes, separator: str, width: int, n_before: int) -> None:
    """Count the separators of lines without quotes, many at a time."""
    mark, start, n_lines = ord(separator), 0, n_before
    while start < len(content):
        end = content.find(b"\n", min(start + _AT_ONCE, len(content)) - 1) + 1 or len(content)
        block = np.frombuffer(content, dtype=np.uint8, count=end - start, offset=start)
        ends = np.flatnonzero(block == ord("\n"))
        ends = ends if len(ends) and ends[-1] == len(block) - 1 else np.append(ends, len(block))
        marks = np.diff(np.searchsorted(np.flatnonzero(block == mark), ends), prepend=0)
        for line in np.flatnonzero(marks != width - 1).tolist():
            begin = start + (int(ends[line - 1]) + 1 if line else 0)
            if marks[line] or content[begin : start + int(ends[line])].strip(b" \t\r\n\xef\xbb\xbf"):
                raise _uneven(source, n_lines + line + 1, int(marks[line]) + 1, width)
        n_lines += len(ends)
        start = end


def _plain_commas(content: bytes) -> Iterator[tuple[str, int]]:
    """Yield the numbers with a comma in lines without quotes, and where they begin."""
    return ((found[1].decode(), found.start(1)) for found in _COMMA_FIELD.finditer(content))


def _quoted_commas(
    source: str, content: bytes, encoding: str, separator: str, width: int, n_before: int
) -> Iterator[tuple[str, int]]:
    """Read every record, refuse rows of a different length, and yield the numbers with a comma between semicolons."""
    with io.TextIOWrapper(io.BytesIO(content), encoding=encoding, newline="") as file:
        records = csv.reader(file, delimiter=separator, skipinitialspace=True, strict=True)
        try:
            for record in records:
                if len(record) != width and (len(record) > 1 or "".join(record).strip()):
                    raise _uneven(source, n_before + records.line_num, len(record), width)
                if separator == ";":
                    line = n_before + records.line_num
                    yield from ((field, line) for field in record if _DECIMAL_COMMA.fullmatch(field))
        except csv.Error as error:
            line = n_before + records.line_num
            raise ValueError(f"Line {line} of '{source}': {error}; check the quotes there.") from None


def _uneven(source: str, line: int, found: int, width: int) -> ValueError:
    return ValueError(
        f"Line {line} of '{source}' has {found} values, but the first line has {width}; correct that line, or write "
        "the file without row names."
    )


def _warn_about_commas(source: str, field: str, line: int) -> None:
    warnings.warn(
        f"The commas in the numbers of '{source}' may be decimal commas or separate thousands. They were read as "
        f"decimal commas: '{field}' in line {line} is {field.replace(',', '.')}, not {field.replace(',', '')}. If they "
        "separate thousands, remove them from the file.",
        UserWarning,
        stacklevel=7,
    )

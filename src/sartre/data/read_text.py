"""Text tables are read correctly, or refused in one sentence."""

from __future__ import annotations

import csv
import io
import re
import warnings
from collections import Counter
from collections.abc import Iterator, Sequence
from typing import Any, BinaryIO, NamedTuple

import pandas as pd

from sartre.data.checks import default_names
from sartre.data.number_text import with_numbers
from sartre.data.spreadsheet import unescaped_table
from sartre.data.text_scan import checked_widths, has_odd_quotes
from sartre.settings import listed

MAX_COLUMNS = 100_000
_LONGEST_HEADER = 2**25  # bytes: up to about two million names can be counted before they are refused
_BLOCK = 2**26  # bytes of a long text that are read at a time
_OLD_PANDAS = tuple(map(int, pd.__version__.split(".")[:2])) < (3, 1)
_EXACT: dict[str, Any] = {"float_precision": "round_trip"} if _OLD_PANDAS else {}  # pandas 3.1 reads floats exactly
_SEPARATORS = ";\t|,"  # the comma comes last because it is also a decimal mark
_CONTROL = re.compile(rb"[\x00-\x08\x0b\x0c\x0e-\x1f]")
_MARKUP = re.compile(r"""\s*(<[!?]|<(html|head|body|table|div)\b|\{\s*["}]|\[\s*[\[{"])""", re.IGNORECASE)
_QUOTED = re.compile(r'"[^"]*"')


class _Layout(NamedTuple):
    """How a text is to be read: found from its beginning, and from all numbers if it has been read as a whole."""

    source: str
    encoding: str
    separator: str
    decimal: str
    names: list[str]
    has_names: bool


def _read_text(source: str, file: BinaryIO) -> pd.DataFrame:
    """Read a whole text, once."""
    first = file.readline(_LONGEST_HEADER)
    _check_first_line(source, first)  # before a large file is read to its end
    content = first + file.read()
    return _parsed(content, _layout(source, content))


def _text_blocks(source: str, file: BinaryIO) -> Iterator[pd.DataFrame]:
    """Read a long text in blocks of lines; how it is to be read is decided by the first."""
    first = file.readline(_LONGEST_HEADER)
    _check_first_line(source, first)
    layout, rest, n_lines = None, first, 0
    while True:
        read = file.read(_BLOCK)
        content, rest = _cut(rest + read) if read else (rest, b"")
        if content:
            n_first = n_lines
            n_lines += content.count(b"\n")
            if layout is None:
                layout = _layout(source, content)
                yield _parsed(content, layout)
            else:
                yield _parsed(content, layout, n_first)
        if not read:
            return


def _cut(content: bytes) -> tuple[bytes, bytes]:
    """Cut a text after the last line that is complete, outside of quotes."""
    end = content.rfind(b"\n") + 1
    while end and has_odd_quotes(content[:end]):
        end = content.rfind(b"\n", 0, end - 1) + 1
    return content[:end], content[end:]


def _layout(source: str, content: bytes) -> _Layout:
    encoding = _encoding(source, content)
    separator = _separator(_first_lines(source, content, encoding))
    header = _header(source, content, encoding, separator)
    decimal = checked_widths(source, content, encoding, separator, len(header))
    numbered = [field.strip() for field in header] == [str(j) for j in range(len(header))]  # pandas' default names
    has_names = numbered or not all(_is_number(field, decimal) for field in header)
    names = checked_names(header, source) if has_names else default_names(len(header))
    if not has_names:
        warn_of_no_header(source, names)
    return _Layout(source, encoding, separator, decimal, names, has_names)


def _parsed(content: bytes, layout: _Layout, n_before: int = 0) -> pd.DataFrame:
    """Read lines of a text; if `n_before` lines came before them, they are read as those were."""
    later = n_before > 0
    if later:
        _check_text(layout.source, content)
    try:
        if later:
            checked_widths(layout.source, content, layout.encoding, layout.separator, len(layout.names), n_before)
        frame = pd.read_csv(
            io.BytesIO(content),
            sep=layout.separator,
            decimal=layout.decimal,
            header=0 if layout.has_names and not later else None,
            names=layout.names,
            index_col=False,
            encoding=layout.encoding,
            skipinitialspace=True,
            **_EXACT,
            low_memory=False,  # a column's type comes from the whole column
        )
    except UnicodeDecodeError:
        raise ValueError(f"'{layout.source}' is in UTF-8 at its beginning only; save all of it in UTF-8.") from None
    return with_numbers(unescaped_table(frame), _known_mark(frame, layout), quiet=later)


def _known_mark(frame: pd.DataFrame, layout: _Layout) -> str | None:
    """Return the decimal mark if it is known: that of other columns, or a point where commas separate values."""
    if layout.decimal == "," or layout.separator == ",":
        return "," if layout.decimal == "," else "."
    floats = frame.select_dtypes("float")
    return "." if ((floats % 1).fillna(0) != 0).any(axis=None) else None


def _encoding(source: str, content: bytes) -> str:
    _check_text(source, content)
    if content.isascii():
        return "utf-8-sig"
    try:
        content.decode("utf-8-sig")
    except UnicodeDecodeError:
        pass
    else:
        return "utf-8-sig"
    try:
        content.decode("cp1252")
    except UnicodeDecodeError:
        raise not_text(source) from None
    warnings.warn(
        f"'{source}' is not in UTF-8, so it was read as Windows-1252. Save it in UTF-8 if names look wrong.",
        UserWarning,
        stacklevel=5,
    )
    return "cp1252"


def _check_text(source: str, content: bytes) -> None:
    if _CONTROL.search(content):
        raise not_text(source)


def not_text(source: str) -> ValueError:
    """Return the error for bytes that are no text."""
    return ValueError(
        f"'{source}' holds binary data (such as a spreadsheet, an archive or UTF-16), not a text table; "
        "export it as a CSV file in UTF-8."
    )


def _first_lines(source: str, content: bytes, encoding: str) -> list[str]:
    """Return the first two lines that are not blank: the header and, if there is one, a sample."""
    lines: list[str] = []
    with io.TextIOWrapper(io.BytesIO(content), encoding=encoding, newline="") as file:
        while len(lines) < 2 and (line := file.readline(_LONGEST_HEADER)):
            if line.strip():
                lines.append(line)
    if not lines:
        raise ValueError(f"'{source}' is empty; a table needs one line of names, then one line per sample.")
    if _MARKUP.match("".join(lines)):
        raise ValueError(f"'{source}' looks like HTML, XML or JSON, not a table; export the data as a CSV file.")
    return lines


def _check_first_line(source: str, first: bytes) -> None:
    """Refuse what the first line alone rules out."""
    line = re.split(rb"[\r\n]", first, maxsplit=1)[0]
    if _CONTROL.search(line):
        raise not_text(source)
    bare = _QUOTED.sub("", line.decode("latin-1"))
    width = 1 + max(map(bare.count, _SEPARATORS))
    if width > MAX_COLUMNS or len(line) == _LONGEST_HEADER:
        raise too_wide(source, width)


def too_wide(source: object, width: int) -> ValueError:
    """Return the error for a table with too many columns."""
    return ValueError(
        f"'{source}' has too many columns: {width:,} or more, and at most {MAX_COLUMNS:,} can be read. Keep fewer, or "
        "transpose the table if its rows are the variables."
    )


def _separator(lines: list[str]) -> str:
    """Return the separator that splits the header and the first sample alike, else the most frequent in the header."""
    bare = _QUOTED.sub("", "".join(lines)).rstrip("\r\n").splitlines() or [""]  # a quoted name may span lines
    counts = {mark: [line.count(mark) for line in bare] for mark in _SEPARATORS}
    agreeing = [mark for mark, count in counts.items() if min(count) == max(count) > 0]
    return agreeing[0] if agreeing else max(counts, key=lambda mark: counts[mark][0])


def _header(source: str, content: bytes, encoding: str, separator: str) -> list[str]:
    """Return the fields of the first line that is not blank."""
    with io.TextIOWrapper(io.BytesIO(content), encoding=encoding, newline="") as file:
        records = csv.reader(file, delimiter=separator, skipinitialspace=True, strict=True)
        try:
            header = next((record for record in records if len(record) > 1 or "".join(record).strip()), [])
        except csv.Error as error:
            raise ValueError(f"Line {records.line_num} of '{source}': {error}; check the quotes there.") from None
    if len(header) > MAX_COLUMNS:
        raise too_wide(source, len(header))
    if len(header) == 1:
        shown = header[0].strip()[:40]
        raise ValueError(
            f"'{source}' is not a table of several columns: its first line, '{shown}', has no comma, semicolon, tab or "
            "pipe between values; start the file with a line of names."
        )
    return header


def _is_number(field: str, decimal: str) -> bool:
    try:
        float(field.replace(decimal, "."))
    except ValueError:
        return field.strip() == "NA"
    return True


def warn_of_no_header(source: str, names: Sequence[str]) -> None:
    """Say that the first line holds only numbers, so that it was read as data."""
    warnings.warn(
        f"'{source}' has no header, since its first line holds only numbers. That line was read as data, and the "
        f"columns are named {names[0]} to {names[-1]}. If it holds names, put a letter in each.",
        UserWarning,
        stacklevel=5,
    )


def checked_names(header: Sequence[str], source: object) -> list[str]:
    """Return the names of columns with single spaces; one that is missing or repeated is refused."""
    names = [" ".join(name.split()) for name in header]
    if not names[0] or names[0].startswith("Unnamed:"):
        raise ValueError(
            f"The first column of '{source}' has no name and looks like a row index; "
            "name it, or write the file without the index."
        )
    if "" in names:
        raise ValueError(f"Column {names.index('') + 1} of '{source}' has no name; name it or remove it.")
    check_not_repeated(names, source)
    return names


def check_not_repeated(names: Sequence[str], source: object) -> None:
    """Refuse a name that two columns have."""
    repeated = [name for name, count in Counter(names).items() if count > 1]
    if repeated:
        raise ValueError(
            f"The header of '{source}' repeats {listed(map(repr, repeated))}; give every column a unique name."
        )

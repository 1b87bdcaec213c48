"""Text tables are read correctly, or refused in one sentence."""

from __future__ import annotations

import csv
import io
import re
import warnings
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, BinaryIO

import pandas as pd

from sartre.data.checks import default_names
from sartre.data.spreadsheet import unescaped_table
from sartre.settings import listed

if TYPE_CHECKING:
    from pathlib import Path


MAX_COLUMNS = 100_000
_LONGEST_HEADER = 2**25  # bytes: up to about two million names can be counted before they are refused
_BLOCK = 2**20
_OLD_PANDAS = tuple(map(int, pd.__version__.split(".")[:2])) < (3, 1)
_EXACT: dict[str, Any] = {"float_precision": "round_trip"} if _OLD_PANDAS else {}  # pandas 3.1 reads floats exactly
_SEPARATORS = ";\t|,"  # the comma comes last because it is also a decimal mark
_CONTROL = re.compile(r"[\x00-\x08\x0b\x0c\x0e-\x1f]")
_MARKUP = re.compile(r"""\s*(<[!?]|<(html|head|body|table|div)\b|\{\s*["}]|\[\s*[\[{"])""", re.IGNORECASE)
_QUOTED = re.compile(r'"[^"]*"')
_DECIMAL_COMMA = re.compile(r"\s*[+-]?\d*,\d+([eE][+-]?\d+)?\s*")
_THOUSANDS = re.compile(r"\s*[+-]?[1-9]\d{0,2},\d{3}\s*")


@dataclass(frozen=True)
class _Text:
    """Bytes that should be a text table, and the name that messages use for them."""

    name: str
    content: Path | bytes

    def binary(self) -> BinaryIO:
        return io.BytesIO(self.content) if isinstance(self.content, bytes) else self.content.open("rb")

    def open(self, encoding: str) -> io.TextIOWrapper:
        return io.TextIOWrapper(self.binary(), encoding=encoding, newline="")

    def __str__(self) -> str:
        return self.name


def _read_text(text: _Text) -> pd.DataFrame:
    _check_first_line(text)
    encoding = _encoding(text)
    separator = _separator(_first_lines(text, encoding))
    header, decimal = _scan(text, encoding, separator)
    numbered = [field.strip() for field in header] == [str(j) for j in range(len(header))]  # pandas' default names
    has_names = numbered or not all(_is_number(field, decimal) for field in header)
    names = _checked_names(header, text) if has_names else default_names(len(header))
    if not has_names:
        warnings.warn(
            f"'{text}' has no header, since its first line holds only numbers. That line was read as data, and the "
            f"columns are named {names[0]} to {names[-1]}. If it holds names, put a letter in each.",
            UserWarning,
            stacklevel=3,
        )
    with text.binary() as file:
        frame = pd.read_csv(
            file,
            sep=separator,
            decimal=decimal,
            header=0 if has_names else None,
            names=names,
            index_col=False,
            encoding=encoding,
            skipinitialspace=True,
            **_EXACT,
            low_memory=False,  # a column's type comes from the whole column
        )
    return unescaped_table(frame)


def _encoding(text: _Text) -> str:
    for encoding in ("utf-8-sig", "cp1252"):
        try:
            with text.open(encoding) as file:
                while block := file.read(_BLOCK):
                    if _CONTROL.search(block):
                        raise _not_text(text)
        except UnicodeDecodeError:
            continue
        if encoding == "cp1252":
            warnings.warn(
                f"'{text}' is not in UTF-8, so it was read as Windows-1252. Save it in UTF-8 if names look wrong.",
                UserWarning,
                stacklevel=4,
            )
        return encoding
    raise _not_text(text)


def _not_text(text: _Text) -> ValueError:
    return ValueError(
        f"'{text}' holds binary data (such as a spreadsheet, an archive or UTF-16), not a text table; "
        "export it as a CSV file in UTF-8."
    )


def _first_lines(text: _Text, encoding: str) -> list[str]:
    """Return the first two lines that are not blank: the header and, if there is one, a sample."""
    lines: list[str] = []
    with text.open(encoding) as file:
        while len(lines) < 2 and (line := file.readline(_LONGEST_HEADER)):
            if line.strip():
                lines.append(line)
    if not lines:
        raise ValueError(f"'{text}' is empty; a table needs one line of names, then one line per sample.")
    if _MARKUP.match("".join(lines)):
        raise ValueError(f"'{text}' looks like HTML, XML or JSON, not a table; export the data as a CSV file.")
    return lines


def _check_first_line(text: _Text) -> None:
    """Refuse what the first line alone rules out, before a large file is read to its end."""
    with text.binary() as file:
        line = re.split(rb"[\r\n]", file.readline(_LONGEST_HEADER), maxsplit=1)[0].decode("latin-1")
    if _CONTROL.search(line):
        raise _not_text(text)
    bare = _QUOTED.sub("", line)
    width = 1 + max(map(bare.count, _SEPARATORS))
    if width > MAX_COLUMNS or len(line) == _LONGEST_HEADER:
        raise _too_wide(text, width)


def _too_wide(source: object, width: int) -> ValueError:
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


def _scan(text: _Text, encoding: str, separator: str) -> tuple[list[str], str]:
    """Read every record once: return the header and the decimal mark, and refuse rows of a different length."""
    header: list[str] = []
    decimal = "."
    unclear, line = "", 0  # the first number whose comma may separate thousands
    with text.open(encoding) as file:
        records = csv.reader(file, delimiter=separator, skipinitialspace=True, strict=True)
        try:
            for record in records:
                if len(record) < 2 and not "".join(record).strip():
                    continue  # a blank line; pandas skips it too
                if not header:
                    _check_width(record, text)
                    header = record
                if len(record) != len(header):
                    raise ValueError(
                        f"Line {records.line_num} of '{text}' has {len(record)} values, but the first line has "
                        f"{len(header)}; correct that line, or write the file without row names."
                    )
                if separator == ";" and decimal == ".":
                    numbers = [field for field in record if _DECIMAL_COMMA.fullmatch(field)]
                    if not all(map(_THOUSANDS.fullmatch, numbers)):
                        decimal = ","
                    elif numbers and not unclear:
                        unclear, line = numbers[0].strip(), records.line_num
        except csv.Error as error:
            raise ValueError(f"Line {records.line_num} of '{text}': {error}; check the quotes there.") from None
    if unclear and decimal == ".":
        decimal = ","
        _warn_about_commas(text, unclear, line)
    return header, decimal


def _warn_about_commas(text: _Text, field: str, line: int) -> None:
    warnings.warn(
        f"The commas in the numbers of '{text}' may be decimal commas or separate thousands. They were read as decimal "
        f"commas: '{field}' in line {line} is {field.replace(',', '.')}, not {field.replace(',', '')}. If they "
        "separate thousands, remove them from the file.",
        UserWarning,
        stacklevel=5,
    )


def _check_width(header: Sequence[str], text: _Text) -> None:
    if len(header) > MAX_COLUMNS:
        raise _too_wide(text, len(header))
    if len(header) == 1:
        shown = header[0].strip()[:40]
        raise ValueError(
            f"'{text}' is not a table of several columns: its first line, '{shown}', has no comma, semicolon, tab or "
            "pipe between values; start the file with a line of names."
        )


def _is_number(field: str, decimal: str) -> bool:
    try:
        float(field.replace(decimal, "."))
    except ValueError:
        return field.strip() == "NA"
    return True


def _checked_names(header: Sequence[str], text: _Text) -> list[str]:
    names = [" ".join(name.split()) for name in header]
    if not names[0] or names[0].startswith("Unnamed:"):
        raise ValueError(
            f"The first column of '{text}' has no name and looks like a row index; "
            "name it, or write the file without the index."
        )
    if "" in names:
        raise ValueError(f"Column {names.index('') + 1} of '{text}' has no name; name it or remove it.")
    _check_not_repeated(names, text)
    return names


def _check_not_repeated(names: Sequence[str], source: object) -> None:
    repeated = [name for name, count in Counter(names).items() if count > 1]
    if repeated:
        raise ValueError(
            f"The header of '{source}' repeats {listed(map(repr, repeated))}; give every column a unique name."
        )

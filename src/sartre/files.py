"""Tables read from disk and results written to it: a file is read right or refused in one sentence."""

from __future__ import annotations

import csv
import os
import re
import uuid
import warnings
from collections import Counter
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pandas as pd

from sartre.validation import default_names

if TYPE_CHECKING:
    from collections.abc import Sequence

MAX_COLUMNS = 100_000
_LONGEST_HEADER = 2**24  # characters
_BLOCK = 2**20
_OLD_PANDAS = tuple(map(int, pd.__version__.split(".")[:2])) < (3, 1)
_EXACT: dict[str, Any] = {"float_precision": "round_trip"} if _OLD_PANDAS else {}  # since 3.1 floats are read exactly
_SEPARATORS = ";\t|,"  # the comma last: it is also a decimal mark
_CONTROL = re.compile(r"[\x00-\x08\x0b\x0c\x0e-\x1f]")
_MARKUP = re.compile(r"""\s*(<[!?a-zA-Z]|\{\s*["}]|\[\s*[\[{"])""")
_QUOTED = re.compile(r'"[^"]*"')
_DECIMAL_COMMA = re.compile(r"\s*[+-]?\d*,\d+([eE][+-]?\d+)?\s*")


def read_table(path: str | Path) -> pd.DataFrame:
    """Read a table from a text file: one line of names, then one line a sample.

    Commas, semicolons, tabs or pipes separate the values; a file with semicolons may have decimal commas. Text and
    missing values stay in the table: `sartre.validation.as_table` refuses them by column and row.

    Parameters
    ----------
    path : str or Path
        A CSV or TSV file in UTF-8 (a byte order mark is fine) or, with a warning, Windows-1252.

    Returns
    -------
    pandas.DataFrame
        The columns under their names. Where the first line holds numbers only it is a row of data, the columns are
        named ``x0, x1, ...``, and a warning says so.
    """
    path = Path(path)
    _check_is_file(path)
    encoding = _encoding(path)
    separator = _separator(_first_lines(path, encoding))
    header, decimal = _scan(path, encoding, separator)
    numbered = [field.strip() for field in header] == [str(j) for j in range(len(header))]  # pandas' default names
    has_names = numbered or not all(_is_number(field, decimal) for field in header)
    names = _checked_names(header, path) if has_names else default_names(len(header))
    if not has_names:
        warnings.warn(
            f"'{path}' has no header, as its first line holds numbers only: the columns are named {names[0]} to "
            f"{names[-1]}. If that line holds names, put a letter in each.",
            UserWarning,
            stacklevel=2,
        )
    return pd.read_csv(
        path,
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


def check_destination(path: str | Path, source: str | Path | None = None) -> None:
    """Refuse a path that cannot be written, or is the data itself, so that a long run does not fail at its end."""
    path = Path(path)
    folder = path.resolve().parent
    if path.is_dir():
        raise IsADirectoryError(f"'{path}' is a folder; name a file to write.")
    if path.exists() and not path.is_file():
        raise ValueError(f"'{path}' is not a regular file; name a file to write.")
    if source is not None and path.exists() and Path(source).exists() and path.samefile(source):
        raise ValueError(f"'{path}' is the data itself; name another file to write.")
    if not folder.is_dir():
        raise FileNotFoundError(f"There is no folder '{path.parent}' to write '{path.name}' in; make it first.")
    if not os.access(folder, os.W_OK):
        raise PermissionError(f"The folder '{path.parent}' cannot be written; choose another.")


def write_text_atomically(path: str | Path, text: str) -> None:
    """Write a file whole or not at all: whatever happens, no half-written file is left and no old one is damaged."""
    check_destination(path)
    target = Path(path).resolve()  # through a link, so that the link stays one
    temporary = target.with_name(f".{uuid.uuid4().hex}.tmp")
    try:
        temporary.write_text(text, encoding="utf-8", newline="\n")
        temporary.replace(target)
    finally:
        temporary.unlink(missing_ok=True)


def _check_is_file(path: Path) -> None:
    if not path.exists():
        raise FileNotFoundError(f"There is no file '{path}'; check its name and folder.")
    if path.is_dir():
        raise IsADirectoryError(f"'{path}' is a folder; name a CSV file in it.")
    if not path.is_file():
        raise ValueError(f"'{path}' is not a regular file; save its content as a CSV file first.")


def _encoding(path: Path) -> str:
    for encoding in ("utf-8-sig", "cp1252"):
        try:
            with path.open(encoding=encoding, newline="") as file:
                while block := file.read(_BLOCK):
                    if _CONTROL.search(block):
                        raise _not_text(path)
        except UnicodeDecodeError:
            continue
        if encoding == "cp1252":
            warnings.warn(
                f"'{path}' is not in UTF-8: its text was read as Windows-1252. Save it in UTF-8 if names look wrong.",
                UserWarning,
                stacklevel=3,
            )
        return encoding
    raise _not_text(path)


def _not_text(path: Path) -> ValueError:
    return ValueError(
        f"'{path}' holds binary data (a spreadsheet, an archive or UTF-16, say), not a text table; "
        "export it as a CSV file in UTF-8."
    )


def _first_lines(path: Path, encoding: str) -> list[str]:
    """Return the first two lines that are not blank: the header and, where there is one, a sample."""
    lines: list[str] = []
    with path.open(encoding=encoding, newline="") as file:
        while len(lines) < 2 and (line := file.readline(_LONGEST_HEADER)):
            if line.strip():
                lines.append(line)
    if not lines:
        raise ValueError(f"'{path}' is empty; a table has one line of names, then one line a sample.")
    if _MARKUP.match("".join(lines)):
        raise ValueError(f"'{path}' looks like HTML, XML or JSON, not a table; export the data as a CSV file.")
    if len(lines[0]) == _LONGEST_HEADER:
        raise _too_wide(path)
    return lines


def _too_wide(path: Path) -> ValueError:
    return ValueError(
        f"The first line of '{path}' is too long: at most {MAX_COLUMNS:,} columns are read; keep fewer, or transpose "
        "the table if its rows are the variables."
    )


def _separator(lines: list[str]) -> str:
    """Return the separator that cuts header and first sample alike; else the most frequent one of the header."""
    bare = _QUOTED.sub("", "".join(lines)).rstrip("\r\n").splitlines() or [""]  # a quoted name may span lines
    counts = {mark: [line.count(mark) for line in bare] for mark in _SEPARATORS}
    agreeing = [mark for mark, count in counts.items() if min(count) == max(count) > 0]
    return agreeing[0] if agreeing else max(counts, key=lambda mark: counts[mark][0])


def _scan(path: Path, encoding: str, separator: str) -> tuple[list[str], str]:
    """Read every record once: return the header and the decimal mark, and refuse rows of another length."""
    header: list[str] = []
    decimal = "."
    with path.open(encoding=encoding, newline="") as file:
        records = csv.reader(file, delimiter=separator, skipinitialspace=True, strict=True)
        try:
            for record in records:
                if len(record) < 2 and not "".join(record).strip():
                    continue  # a blank line; pandas skips it too
                if not header:
                    _check_width(record, path)
                    header = record
                if len(record) != len(header):
                    raise ValueError(
                        f"Line {records.line_num} of '{path}' has {len(record)} values where the first line has "
                        f"{len(header)}; correct that line, or write the file without row names."
                    )
                if separator == ";" and decimal == "." and any(map(_DECIMAL_COMMA.fullmatch, record)):
                    decimal = ","
        except csv.Error as error:
            raise ValueError(f"Line {records.line_num} of '{path}': {error}; check the quotes there.") from None
    return header, decimal


def _check_width(header: Sequence[str], path: Path) -> None:
    if len(header) > MAX_COLUMNS:
        raise _too_wide(path)
    if len(header) == 1:
        shown = header[0].strip()[:40]
        raise ValueError(
            f"'{path}' is not a table of several columns: its first line, '{shown}', has no comma, semicolon, tab or "
            "pipe between values; start the file with a line of names."
        )


def _is_number(field: str, decimal: str) -> bool:
    try:
        float(field.replace(decimal, "."))
    except ValueError:
        return field.strip() == "NA"
    return True


def _checked_names(header: Sequence[str], path: Path) -> list[str]:
    names = [" ".join(name.split()) for name in header]
    if not names[0] or names[0].startswith("Unnamed:"):
        raise ValueError(
            f"The first column of '{path}' has no name and looks like a row index; "
            "name it, or write the file without the index."
        )
    if "" in names:
        raise ValueError(f"Column {names.index('') + 1} of '{path}' has no name; name it or remove it.")
    repeated = [name for name, count in Counter(names).items() if count > 1]
    if repeated:
        shown = ", ".join(repr(name) for name in repeated[:5])
        raise ValueError(f"The header of '{path}' repeats {shown}; give every column a name of its own.")
    return names

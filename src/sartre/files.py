"""Tables read from disk and results written to it: a file is read right or refused in one sentence."""

from __future__ import annotations

import csv
import io
import os
import re
import uuid
import warnings
from collections import Counter
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any, BinaryIO

import pandas as pd

from sartre.validation import default_names

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence

MAX_COLUMNS = 100_000
_LONGEST_HEADER = 2**25  # bytes: two million names are counted before they are refused
_ARROW = {".parquet": "Parquet", ".pq": "Parquet", ".feather": "Feather", ".arrow": "Feather"}
_BLOCK = 2**20
_LARGE = 2**30  # bytes of a table in memory
_HEAD = 2**24  # bytes: a longer text is judged by so much of it
_OLD_PANDAS = tuple(map(int, pd.__version__.split(".")[:2])) < (3, 1)
_EXACT: dict[str, Any] = {"float_precision": "round_trip"} if _OLD_PANDAS else {}  # since 3.1 floats are read exactly
_SEPARATORS = ";\t|,"  # the comma last: it is also a decimal mark
_CONTROL = re.compile(r"[\x00-\x08\x0b\x0c\x0e-\x1f]")
_MARKUP = re.compile(r"""\s*(<[!?]|<(html|head|body|table|div)\b|\{\s*["}]|\[\s*[\[{"])""", re.IGNORECASE)
_QUOTED = re.compile(r'"[^"]*"')
_DECIMAL_COMMA = re.compile(r"\s*[+-]?\d*,\d+([eE][+-]?\d+)?\s*")


@dataclass(frozen=True)
class _Text:
    """Bytes that should be a text table, under the name that messages give them."""

    name: str
    content: Path | bytes

    def binary(self) -> BinaryIO:
        return io.BytesIO(self.content) if isinstance(self.content, bytes) else self.content.open("rb")

    def open(self, encoding: str) -> io.TextIOWrapper:
        return io.TextIOWrapper(self.binary(), encoding=encoding, newline="")

    def __str__(self) -> str:
        return self.name


def read_table(source: str | Path | BinaryIO) -> pd.DataFrame:
    r"""Read a table from a file: text with one line of names, then one line a sample; or Parquet or Feather.

    Commas, semicolons, tabs or pipes separate the values; a file with semicolons may have decimal commas. Text and
    missing values stay in the table: `sartre.validation.as_table` refuses them by column and row.

    Parameters
    ----------
    source : str, Path or binary file object
        A CSV or TSV file in UTF-8 (a byte order mark is fine) or, with a warning, Windows-1252; or, by the end of its
        name, Parquet (.parquet, .pq) or Feather (.feather, .arrow), which need pyarrow. A file object, such as standard
        input, holds text.

    Returns
    -------
    pandas.DataFrame
        The columns under their names. Where the first line holds numbers only it is a row of data, the columns are
        named ``x0, x1, ...``, and a warning says so.

    Examples
    --------
    >>> read_table(io.BytesIO(b"a;b\n1,5;2\n"))
         a  b
    0  1.5  2
    """
    if isinstance(source, (str, Path)):
        path = Path(source)
        _check_is_file(path)
        if path.suffix.lower() in _ARROW:
            return _read_arrow(path, _ARROW[path.suffix.lower()])
        return _read_text(_Text(str(path), path))
    return _read_text(_Text(str(getattr(source, "name", "the data")), source.read()))


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
            f"'{text}' has no header, as its first line holds numbers only: the columns are named {names[0]} to "
            f"{names[-1]}. If that line holds names, put a letter in each.",
            UserWarning,
            stacklevel=3,
        )
    with text.binary() as file:
        return pd.read_csv(
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


def in_batches(path: str | Path) -> bool:
    """Return whether a table is read batch by batch: a folder, or a Parquet file of more than a gigabyte."""
    path = Path(path)
    if path.is_dir():
        return True
    if _ARROW.get(path.suffix.lower()) != "Parquet" or not path.is_file() or path.stat().st_size < _LARGE // 100:
        return False
    from pyarrow import ArrowException, parquet  # noqa: PLC0415 - an extra

    try:
        found = parquet.read_metadata(path)
    except (ArrowException, OSError):
        return False  # refused when it is read
    return found.num_rows * found.num_columns * 8 > _LARGE


def parquet_batches(path: Path, size: int) -> Iterator[Any]:
    """Read a Parquet file, or all in a folder and in those below it by the order of their paths, so many rows a time.

    What pandas keeps as an index in a file is no column, and neither are the names of folders.
    """
    try:
        import pyarrow as pa  # noqa: PLC0415 - an extra
        from pyarrow import parquet  # noqa: PLC0415
    except ImportError:
        raise ImportError(f"Reading '{path}' needs pyarrow; install it with: pip install \"sartre[arrow]\".") from None
    if not path.exists():
        raise FileNotFoundError(f"There is no file or folder '{path}'; check its name.")
    file, files = path, _parquet_files(path) if path.is_dir() else [path]
    try:
        for file in files:
            with parquet.ParquetFile(file) as opened:
                schema = opened.schema_arrow
                index = (schema.pandas_metadata or {}).get("index_columns", [])
                columns = [name for name in schema.names if name not in index]
                yield from opened.iter_batches(batch_size=size, columns=columns)
    except (pa.ArrowException, OSError):
        raise ValueError(
            f"'{file}' is not a whole Parquet file; write it again. Other kinds of files are not read in batches."
        ) from None


def _parquet_files(folder: Path) -> list[Path]:
    ends = tuple(end for end, kind in _ARROW.items() if kind == "Parquet")
    files = sorted(file for file in folder.rglob("*") if file.suffix.lower() in ends and file.is_file())
    if not files:
        raise FileNotFoundError(f"There is no file that ends in {' or '.join(ends)} in the folder '{folder}'.")
    return files


def _read_arrow(path: Path, kind: str, first: int | None = None) -> pd.DataFrame:
    """Read a Parquet or Feather file, or its first rows; what pandas keeps as an index in it is no column."""
    try:
        import pyarrow as pa  # noqa: PLC0415 - an extra
        from pyarrow import feather, parquet  # noqa: PLC0415
    except ImportError:
        raise ImportError(
            f"Reading '{path}' needs pyarrow; install it with: pip install \"sartre[arrow]\", or export a CSV file."
        ) from None
    try:
        width = len(parquet.read_schema(path)) if kind == "Parquet" else 0
        if width > MAX_COLUMNS:
            raise _too_wide(path, width)
        if first is not None:
            return next(parquet.ParquetFile(path).iter_batches(first), pa.RecordBatch.from_pylist([])).to_pandas()
        return pd.read_parquet(path) if kind == "Parquet" else feather.read_feather(path)
    except (pa.ArrowException, OSError):
        raise ValueError(f"'{path}' is not a whole {kind} file; write it again, or export a CSV file.") from None


def peek(source: str | Path) -> tuple[pd.DataFrame, int]:
    """Read the beginning of a file, and tell about how many rows it has: exactly for Parquet and short texts.

    Parameters
    ----------
    source : str or Path
        As for `read_table`, or a folder of Parquet files.

    Returns
    -------
    DataFrame, int
        The first rows (all of a text of up to 16 MB), and the number of all.

    Examples
    --------
    >>> from importlib.resources import files
    >>> frame, n = peek(str(files("sartre.datasets") / "data" / "sachs_edges.csv"))
    >>> list(frame.columns), n
    (['source', 'target'], 17)
    """
    path = Path(source)
    if path.is_dir():
        parts = [peek(file) for file in _parquet_files(path)]
        return parts[0][0], sum(n for _, n in parts)
    _check_is_file(path)
    kind = _ARROW.get(path.suffix.lower())
    if kind == "Parquet":
        frame = _read_arrow(path, kind, first=1)
        from pyarrow import parquet  # noqa: PLC0415 - an extra; it is there, for it has just been used

        return frame, parquet.read_metadata(path).num_rows
    size = path.stat().st_size
    if kind is not None or size <= _HEAD:
        frame = read_table(path)
        return frame, len(frame)
    with path.open("rb") as file:
        content = file.read(_HEAD)
    head = content[: content.rfind(b"\n") + 1]
    frame = _read_text(_Text(str(path), head or content))
    return frame, round(len(frame) * size / len(head or content))


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


@contextmanager
def made_folder(path: str | Path) -> Iterator[None]:
    """Make a folder that results go to, and its parents; if the work inside fails, those left empty are removed."""
    folder = Path(path)
    if folder.exists() and not folder.is_dir():
        raise NotADirectoryError(f"'{folder}' is a file; name a folder to write in.")
    missing = [place for place in (folder, *folder.parents) if not place.exists()]
    try:
        folder.mkdir(parents=True, exist_ok=True)
        yield
    finally:
        for place in missing:
            if place.is_dir() and not any(place.iterdir()):
                place.rmdir()


def write_text_atomically(path: str | Path, text: str) -> None:
    """Write a file whole or not at all: whatever happens, no half-written file is left and no old one is damaged."""
    write_texts_atomically({path: text})


def write_texts_atomically(texts: Mapping[Any, str]) -> None:
    """Write several files, given by path, in this way; none is replaced before all are on the disk."""
    temporaries: dict[Path, Path] = {}
    path: Any = None
    try:
        for path, text in texts.items():
            check_destination(path)
            target = Path(path).resolve()  # through a link, so that the link stays one
            temporaries[target] = target.with_name(f".{uuid.uuid4().hex}.tmp")
            temporaries[target].write_text(text, encoding="utf-8", newline="\n")
        for path, temporary in temporaries.items():
            temporary.replace(path)
    except OSError as error:
        if error.errno is not None:
            error.filename, error.filename2 = str(path), None  # what was asked for, not the temporary file
        raise
    finally:
        for temporary in temporaries.values():
            temporary.unlink(missing_ok=True)


def _check_is_file(path: Path) -> None:
    if not path.exists():
        raise FileNotFoundError(f"There is no file '{path}'; check its name and folder.")
    if path.is_dir():
        raise IsADirectoryError(f"'{path}' is a folder; name a CSV file in it.")
    if not path.is_file():
        raise ValueError(f"'{path}' is not a regular file; save its content as a CSV file first.")


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
                f"'{text}' is not in UTF-8: its text was read as Windows-1252. Save it in UTF-8 if names look wrong.",
                UserWarning,
                stacklevel=4,
            )
        return encoding
    raise _not_text(text)


def _not_text(text: _Text) -> ValueError:
    return ValueError(
        f"'{text}' holds binary data (a spreadsheet, an archive or UTF-16, say), not a text table; "
        "export it as a CSV file in UTF-8."
    )


def _first_lines(text: _Text, encoding: str) -> list[str]:
    """Return the first two lines that are not blank: the header and, where there is one, a sample."""
    lines: list[str] = []
    with text.open(encoding) as file:
        while len(lines) < 2 and (line := file.readline(_LONGEST_HEADER)):
            if line.strip():
                lines.append(line)
    if not lines:
        raise ValueError(f"'{text}' is empty; a table has one line of names, then one line a sample.")
    if _MARKUP.match("".join(lines)):
        raise ValueError(f"'{text}' looks like HTML, XML or JSON, not a table; export the data as a CSV file.")
    return lines


def _check_first_line(text: _Text) -> None:
    """Refuse what a glance at the first line tells, before a large file is read to its end."""
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
        f"'{source}' has too many columns, {width:,} or more: at most {MAX_COLUMNS:,} are read; keep fewer, or "
        "transpose the table if its rows are the variables."
    )


def _separator(lines: list[str]) -> str:
    """Return the separator that cuts header and first sample alike; else the most frequent one of the header."""
    bare = _QUOTED.sub("", "".join(lines)).rstrip("\r\n").splitlines() or [""]  # a quoted name may span lines
    counts = {mark: [line.count(mark) for line in bare] for mark in _SEPARATORS}
    agreeing = [mark for mark, count in counts.items() if min(count) == max(count) > 0]
    return agreeing[0] if agreeing else max(counts, key=lambda mark: counts[mark][0])


def _scan(text: _Text, encoding: str, separator: str) -> tuple[list[str], str]:
    """Read every record once: return the header and the decimal mark, and refuse rows of another length."""
    header: list[str] = []
    decimal = "."
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
                        f"Line {records.line_num} of '{text}' has {len(record)} values where the first line has "
                        f"{len(header)}; correct that line, or write the file without row names."
                    )
                if separator == ";" and decimal == "." and any(map(_DECIMAL_COMMA.fullmatch, record)):
                    decimal = ","
        except csv.Error as error:
            raise ValueError(f"Line {records.line_num} of '{text}': {error}; check the quotes there.") from None
    return header, decimal


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
    repeated = [name for name, count in Counter(names).items() if count > 1]
    if repeated:
        shown = ", ".join(repr(name) for name in repeated[:5])
        raise ValueError(f"The header of '{text}' repeats {shown}; give every column a name of its own.")
    return names

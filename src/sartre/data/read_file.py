"""Read a table from a file of any supported type, or only its beginning, or batch by batch."""

from __future__ import annotations

import io
from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING, Any, BinaryIO

from sartre.compute.files import reading
from sartre.data import read_arrow
from sartre.data.compression import opened, peeked, unpacked_size
from sartre.data.file_names import ARROW, SHEETS, STATISTICS, is_text
from sartre.data.number_text import with_numbers
from sartre.data.read_arrow import _read_arrow, parquet_batches, parquet_files
from sartre.data.read_excel import read_sheet
from sartre.data.read_statistics import read_statistics
from sartre.data.read_text import _read_text, _text_blocks

if TYPE_CHECKING:
    import pandas as pd

_HEAD = 2**24  # bytes; of a longer text only this much is read


def read_table(source: str | Path | BinaryIO, *, sheet: str | int | None = None) -> pd.DataFrame:
    r"""Read a table from a file: text with one line of names, then one line per sample, or one of many other types.

    Commas, semicolons, tabs or pipes separate the values; a file with semicolons may have decimal commas. Columns of
    numbers as people write them (``$1,562.50``, ``12 %``, ``1 234,5``) become numbers, and a warning says so. Other
    text and missing values stay in the table: `sartre.data.checks.as_table` refuses them, naming the column and the
    row.

    Parameters
    ----------
    source : str, Path or binary file object
        A CSV or TSV file in UTF-8 (a byte order mark is allowed) or, with a warning, Windows-1252, which may be
        compressed (.gz, .bz2, .xz, .zst); or, judged by its extension, Parquet (.parquet, .pq), Feather (.feather,
        .arrow), a spreadsheet (.xlsx, .xls, .ods), SAS (.sas7bdat, .xpt), Stata (.dta) or SPSS (.sav). A file object,
        such as standard input, must hold text.
    sheet : str or int, optional
        The sheet of a spreadsheet, by its name or its number from 1 on; the first by default.

    Returns
    -------
    pandas.DataFrame
        The columns under their names. If the first line holds only numbers, it is read as data, the columns are named
        ``x0, x1, ...``, and a warning says so.

    Examples
    --------
    >>> read_table(io.BytesIO(b"a;b\n1,5;2\n"))
         a  b
    0  1.5  2
    """
    if not isinstance(source, (str, Path)):
        name = str(getattr(source, "name", "the data"))
        with reading(name):
            return _read_text(name, source)
    path = Path(source)
    _check_is_file(path)
    kind = path.suffix.lower()
    if sheet is not None and kind not in SHEETS:
        raise ValueError(f"Only spreadsheets ({', '.join(SHEETS)}) have sheets. Got sheet {sheet!r} of '{path}'.")
    with reading(path):
        if kind in SHEETS:
            return read_sheet(path, sheet)
        if kind in STATISTICS:
            return read_statistics(path)
        if kind in ARROW:
            return with_numbers(_read_arrow(path, ARROW[kind]))
        with opened(path) as file:
            return _read_text(str(path), file)


def peek(source: str | Path, *, sheet: str | int | None = None) -> tuple[pd.DataFrame, int]:
    """Read the beginning of a file, and estimate its number of rows; the number is exact for Parquet and short texts.

    Parameters
    ----------
    source : str or Path
        As for `read_table`, or a folder of Parquet files.
    sheet : str or int, optional

    Returns
    -------
    DataFrame, int
        The first rows (all rows of a text of up to 16 MB), and the total number of rows.

    Examples
    --------
    >>> from importlib.resources import files
    >>> frame, n = peek(str(files("sartre.datasets") / "data" / "sachs_edges.csv"))
    >>> list(frame.columns), n
    (['source', 'target'], 17)
    """
    path = Path(source)
    if path.is_dir():
        parts = [peek(file) for file in parquet_files(path)]
        return parts[0][0], sum(n for _, n in parts)
    _check_is_file(path)
    kind = ARROW.get(path.suffix.lower())
    if kind == "Parquet":
        frame = _read_arrow(path, kind, first=1)
        from pyarrow import parquet  # noqa: PLC0415 - an extra; it is installed, since it has just been used

        return frame, parquet.read_metadata(path).num_rows
    if not is_text(path) or sheet is not None:
        frame = read_table(path, sheet=sheet)
        return frame, len(frame)
    with reading(path):
        content, share = peeked(path, _HEAD)
    if share == 1.0:
        frame = read_table(path)
        return frame, len(frame)
    head = content[: content.rfind(b"\n") + 1] or content
    frame = _read_text(str(path), io.BytesIO(head))
    return frame, round(len(frame) * len(content) / len(head) / share)


def in_batches(source: str | Path) -> bool:
    """Return whether a table is read batch by batch: a folder, or Parquet or text of more than a gigabyte.

    Text is only if all of its columns hold numbers; otherwise it is read as a whole.
    """
    path = Path(source)
    if not is_text(path):
        return read_arrow.in_batches(path)
    return path.is_file() and read_arrow.is_large(unpacked_size(path))


def batches_of(source: str | Path, size: int) -> Iterator[Any]:
    """Read a table batch by batch: text in blocks of lines; Parquet, `size` rows at a time."""
    path = Path(source)
    if path.exists() and is_text(path):
        with reading(path), opened(path) as file:
            yield from _text_blocks(str(path), file)
    else:
        yield from parquet_batches(path, size)


def _check_is_file(path: Path) -> None:
    if not path.exists():
        raise FileNotFoundError(f"There is no file '{path}'; check its name and folder.")
    if path.is_dir():
        raise IsADirectoryError(f"'{path}' is a folder; name a CSV file in it.")
    if not path.is_file():
        raise ValueError(f"'{path}' is not a regular file; save its content as a CSV file first.")

"""Read a table from a file of any supported type, or only its beginning."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, BinaryIO

from sartre.compute.files import reading
from sartre.data.read_arrow import _ARROW, _read_arrow, parquet_files
from sartre.data.read_text import _read_text, _Text

if TYPE_CHECKING:
    import pandas as pd

_HEAD = 2**24  # bytes; of a longer text only this much is read


def read_table(source: str | Path | BinaryIO) -> pd.DataFrame:
    r"""Read a table from a file: text with one line of names, then one line per sample; or Parquet or Feather.

    Commas, semicolons, tabs or pipes separate the values; a file with semicolons may have decimal commas. Text and
    missing values stay in the table: `sartre.data.checks.as_table` refuses them, naming the column and the row.

    Parameters
    ----------
    source : str, Path or binary file object
        A CSV or TSV file in UTF-8 (a byte order mark is allowed) or, with a warning, Windows-1252; or, judged by its
        extension, Parquet (.parquet, .pq) or Feather (.feather, .arrow), which need pyarrow. A file object, such as
        standard input, must hold text.

    Returns
    -------
    pandas.DataFrame
        The columns under their names. If the first line holds only numbers, it is read as data, the columns are named
        ``x0, x1, ...``, and a warning says so.

    Examples
    --------
    >>> import io
    >>> read_table(io.BytesIO(b"a;b\n1,5;2\n"))
         a  b
    0  1.5  2
    """
    if isinstance(source, (str, Path)):
        path = Path(source)
        _check_is_file(path)
        if path.suffix.lower() in _ARROW:
            return _read_arrow(path, _ARROW[path.suffix.lower()])
        with reading(path):
            return _read_text(_Text(str(path), path))
    name = str(getattr(source, "name", "the data"))
    with reading(name):
        return _read_text(_Text(name, source.read()))


def peek(source: str | Path) -> tuple[pd.DataFrame, int]:
    """Read the beginning of a file, and estimate its number of rows; the number is exact for Parquet and short texts.

    Parameters
    ----------
    source : str or Path
        As for `read_table`, or a folder of Parquet files.

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
    kind = _ARROW.get(path.suffix.lower())
    if kind == "Parquet":
        frame = _read_arrow(path, kind, first=1)
        from pyarrow import parquet  # noqa: PLC0415 - an extra; it is installed, since it has just been used

        return frame, parquet.read_metadata(path).num_rows
    size = path.stat().st_size
    if kind is not None or size <= _HEAD:
        frame = read_table(path)
        return frame, len(frame)
    with reading(path), path.open("rb") as file:
        content = file.read(_HEAD)
    head = content[: content.rfind(b"\n") + 1]
    frame = _read_text(_Text(str(path), head or content))
    return frame, round(len(frame) * size / len(head or content))


def _check_is_file(path: Path) -> None:
    if not path.exists():
        raise FileNotFoundError(f"There is no file '{path}'; check its name and folder.")
    if path.is_dir():
        raise IsADirectoryError(f"'{path}' is a folder; name a CSV file in it.")
    if not path.is_file():
        raise ValueError(f"'{path}' is not a regular file; save its content as a CSV file first.")

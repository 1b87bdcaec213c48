"""Parquet and Feather files, whole or batch by batch."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pandas as pd

from sartre.data.file_names import ARROW
from sartre.data.read_text import MAX_COLUMNS, check_not_repeated, too_wide

_LARGE = 2**30  # bytes in memory; a larger table is read in batches


def in_batches(path: str | Path) -> bool:
    """Return whether a table is read batch by batch: a folder, or a Parquet file of more than a gigabyte."""
    path = Path(path)
    if path.is_dir():
        return True
    if ARROW.get(path.suffix.lower()) != "Parquet" or not path.is_file() or path.stat().st_size < _LARGE // 100:
        return False
    from pyarrow import ArrowException, parquet  # noqa: PLC0415 - an extra

    try:
        found = parquet.read_metadata(path)
    except (ArrowException, OSError):
        return False  # the file is refused later, when it is read
    return is_large(found.num_rows * found.num_columns * 8)


def is_large(n_bytes: int) -> bool:
    """Return whether a table of this size is read in batches."""
    return n_bytes > _LARGE


def parquet_batches(path: Path, size: int) -> Iterator[Any]:
    """Read a Parquet file, or all files in a folder and its subfolders, ordered by path, `size` rows at a time.

    An index that pandas stored in a file is not a column, and neither are the names of folders.
    """
    try:
        import pyarrow as pa  # noqa: PLC0415 - an extra
        from pyarrow import parquet  # noqa: PLC0415 - an extra
    except ImportError:
        raise ImportError(f"Reading '{path}' needs pyarrow; install it with: pip install \"sartre[arrow]\".") from None
    if not path.exists():
        raise FileNotFoundError(f"There is no file or folder '{path}'; check its name.")
    file, files = path, parquet_files(path) if path.is_dir() else [path]
    try:
        for file in files:
            with parquet.ParquetFile(file) as opened:
                schema = opened.schema_arrow
                check_not_repeated(schema.names, file)
                index = (schema.pandas_metadata or {}).get("index_columns", [])
                columns = [name for name in schema.names if name not in index]
                yield from opened.iter_batches(batch_size=size, columns=columns)
    except (pa.ArrowException, OSError):
        raise ValueError(
            f"'{file}' is not a complete Parquet file; write it again. Other file types cannot be read in batches."
        ) from None


def parquet_files(folder: Path) -> list[Path]:
    """Return the Parquet files in a folder and its subfolders, ordered by path."""
    ends = tuple(end for end, kind in ARROW.items() if kind == "Parquet")
    files = sorted(file for file in folder.rglob("*") if file.suffix.lower() in ends and file.is_file())
    if not files:
        raise FileNotFoundError(f"There is no {' or '.join(ends)} file in the folder '{folder}'; check its name.")
    return files


def _read_arrow(path: Path, kind: str, first: int | None = None) -> pd.DataFrame:
    """Read a Parquet or Feather file, or its first rows; an index that pandas stored in it is not a column."""
    try:
        import pyarrow as pa  # noqa: PLC0415 - an extra
        from pyarrow import feather, parquet  # noqa: PLC0415
    except ImportError:
        raise ImportError(
            f"Reading '{path}' needs pyarrow; install it with: pip install \"sartre[arrow]\", or export a CSV file."
        ) from None
    try:
        names = parquet.read_schema(path).names if kind == "Parquet" else []
        if len(names) > MAX_COLUMNS:
            raise too_wide(path, len(names))
        check_not_repeated(names, path)
        if first is not None:
            return next(parquet.ParquetFile(path).iter_batches(first), pa.RecordBatch.from_pylist([])).to_pandas()
        return pd.read_parquet(path) if kind == "Parquet" else feather.read_feather(path)
    except (pa.ArrowException, OSError):
        raise ValueError(f"'{path}' is not a complete {kind} file; write it again, or export a CSV file.") from None

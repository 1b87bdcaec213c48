"""Spreadsheets: one sheet of an Excel or OpenDocument file, as a table."""

from __future__ import annotations

import warnings
import zipfile
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import pandas as pd

from sartre.data.checks import default_names
from sartre.data.file_names import SHEETS
from sartre.data.number_text import with_numbers
from sartre.data.read_text import MAX_COLUMNS, checked_names, too_wide, warn_of_no_header
from sartre.settings import listed, suggestion

if TYPE_CHECKING:
    from pathlib import Path


def read_sheet(path: Path, sheet: str | int | None = None) -> pd.DataFrame:
    """Read a sheet: one row of names, then one row per sample; rows and columns that are empty are left out.

    Parameters
    ----------
    path : Path
    sheet : str or int, optional
        Its name, or its number from 1 on. Without it the first is read, and a warning names the others.
    """
    engine: Any = SHEETS[path.suffix.lower()]
    try:
        with pd.ExcelFile(path, engine=engine) as book:
            name = _chosen(path, [str(each) for each in book.sheet_names], sheet)
            cells = pd.read_excel(book, sheet_name=name, header=None)
    except ImportError:
        extra = '"sartre[excel]"' if engine == "openpyxl" else {"odf": "odfpy"}.get(engine, engine)
        raise ImportError(
            f"Reading '{path}' needs another package; install it with: pip install {extra}, or export a CSV file."
        ) from None
    except (zipfile.BadZipFile, KeyError, OSError, EOFError) as error:
        if isinstance(error, OSError) and error.errno is not None:
            raise
        raise _damaged(path) from None
    except Exception as error:  # readers of spreadsheets raise errors of their own
        if isinstance(error, ValueError) and str(path) in str(error):
            raise
        raise _damaged(path) from None
    return _table(path, name, cells)


def _chosen(path: Path, names: Sequence[str], sheet: str | int | None) -> str:
    """Return the name of the sheet to read."""
    if sheet is None:
        if len(names) > 1:
            warnings.warn(
                f"'{path}' has {len(names)} sheets, and '{names[0]}' was read, the first of {listed(names)}. Choose "
                "another by --sheet NAME, or sheet= in Python.",
                UserWarning,
                stacklevel=5,
            )
        return names[0]
    if sheet in names:
        return str(sheet)
    if str(sheet).isdecimal() and 1 <= int(sheet) <= len(names):
        return names[int(sheet) - 1]
    raise ValueError(
        f"'{path}' has no sheet '{sheet}'; its sheets are {listed(names, 20)}, numbered from 1."
        f"{suggestion(str(sheet), names)}"
    )


def _table(path: Path, sheet: str, cells: pd.DataFrame) -> pd.DataFrame:
    """Return the table in the cells of a sheet."""
    source = f"{path}, sheet {sheet}"
    cells = cells.dropna(how="all").dropna(how="all", axis=1)
    if cells.empty:
        raise ValueError(f"'{source}' is empty; a table needs one row of names, then one row per sample.")
    if cells.shape[1] > MAX_COLUMNS:
        raise too_wide(source, cells.shape[1])
    if cells.shape[1] == 1:
        raise ValueError(f"'{source}' is not a table of several columns; put each variable into a column of its own.")
    header = cells.iloc[0].tolist()
    if all(isinstance(value, (int, float)) for value in header):
        names = default_names(len(header))
        warn_of_no_header(source, names)
    else:
        names = checked_names(["" if pd.isna(value) else str(value) for value in header], source)
        cells = cells.iloc[1:]
    frame = cells.set_axis(names, axis=1).reset_index(drop=True)
    return with_numbers(frame.infer_objects())


def _damaged(path: Path) -> ValueError:
    return ValueError(
        f"'{path}' is not a complete spreadsheet without a password; save it again, or export a CSV file."
    )

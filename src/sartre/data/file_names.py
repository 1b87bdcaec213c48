"""What the name of a file says: its type, whether it is compressed, and the name of its table."""

from __future__ import annotations

from pathlib import Path

ARROW = {".parquet": "Parquet", ".pq": "Parquet", ".feather": "Feather", ".arrow": "Feather"}
SHEETS = {".xlsx": "openpyxl", ".xlsm": "openpyxl", ".xls": "xlrd", ".ods": "odf"}  # and what pandas reads them with
STATISTICS = {".sas7bdat": "SAS", ".xpt": "SAS", ".dta": "Stata", ".sav": "SPSS", ".zsav": "SPSS"}
COMPRESSED = {".gz": "gzip", ".bz2": "bz2", ".xz": "lzma", ".zst": "zstandard"}  # and the modules that open them
TEXT = {".csv", ".tsv", ".tab", ".txt", ".dat", ".data"}


def is_text(path: Path) -> bool:
    """Return whether a path is read as text: a file is, unless its extension says otherwise; a folder is not.

    Examples
    --------
    >>> is_text(Path("cells.csv.gz")), is_text(Path("cells")), is_text(Path("cells.xlsx"))
    (True, True, False)
    """
    return not path.is_dir() and path.suffix.lower() not in {*ARROW, *SHEETS, *STATISTICS}


def stem(source: str) -> str:
    """Return the name of a table without its folder and its extensions.

    Examples
    --------
    >>> stem("data/cells.csv.gz"), stem("parts/"), stem("sachs"), stem("v1.2.parquet")
    ('cells', 'parts', 'sachs', 'v1.2')
    """
    path = Path(source)
    known = {*ARROW, *SHEETS, *STATISTICS, *COMPRESSED, *TEXT}
    while path.suffix.lower() in known:
        path = path.with_suffix("")
    name = path.name or Path(source).resolve().name  # "." and ".." name no folder of their own
    return name.lstrip(".") or "table"

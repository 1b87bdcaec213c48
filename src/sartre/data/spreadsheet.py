"""Text that a spreadsheet would run as a formula, in the CSV files that are written and read here.

An apostrophe is put before such a text, as spreadsheets do themselves, and taken off again when it is read.
"""

from __future__ import annotations

import csv
import re
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    import pandas as pd

NUMBERS = "biufcmM"  # kinds of columns that hold no text
_FORMULA = re.compile(r"'*[=+\-@\t\r]")  # a spreadsheet runs a cell that begins with one of these signs


def escaped(text: str) -> str:
    """Put an apostrophe before a text that a spreadsheet would run as a formula.

    Examples
    --------
    >>> escaped("=1+1"), escaped("'=1+1"), escaped("rain")
    ("'=1+1", "''=1+1", 'rain')
    """
    return "'" + text if _FORMULA.match(text) else text


def unescaped(text: str) -> str:
    """Take the apostrophe off again.

    Examples
    --------
    >>> unescaped("'=1+1"), unescaped("''=1+1"), unescaped("'rain'"), unescaped("-5")
    ('=1+1', "'=1+1", "'rain'", '-5')
    """
    return text[1:] if text.startswith("'") and _FORMULA.match(text) else text


def csv_text(frame: pd.DataFrame) -> str:
    r"""Return a table as the text of a CSV file in which no name and no other text is a formula.

    Examples
    --------
    >>> import pandas as pd
    >>> csv_text(pd.DataFrame({"=a": [-1.5], "b": ["@x"]}))
    "'=a,b\n-1.5,'@x\n"
    """
    texts = {name: frame[name].map(_escaped_cell) for name in frame.columns if frame[name].dtype.kind not in NUMBERS}
    safe = frame.assign(**texts).rename(columns=_escaped_cell)
    text = safe.to_csv(index=False, lineterminator="\n")
    return safe.to_csv(index=False, lineterminator="\n", quoting=csv.QUOTE_ALL) if "\r" in text else text


def unescaped_table(frame: pd.DataFrame) -> pd.DataFrame:
    """Return a table as it was before `csv_text`.

    Examples
    --------
    >>> import pandas as pd
    >>> unescaped_table(pd.DataFrame({"'=a": [1], "b": ["'@x"]})).to_dict("list")
    {'=a': [1], 'b': ['@x']}
    """
    frame = frame.rename(columns=_unescaped_cell)
    for place, kind in enumerate(frame.dtypes):
        if kind.kind not in NUMBERS:
            column = frame.iloc[:, place]
            if column.map(lambda value: isinstance(value, str) and value.startswith("'")).any():
                frame = frame.assign(**{str(frame.columns[place]): column.map(_unescaped_cell)})
    return frame


def _escaped_cell(value: Any) -> Any:
    return escaped(value) if isinstance(value, str) else value


def _unescaped_cell(value: Any) -> Any:
    return unescaped(value) if isinstance(value, str) else value

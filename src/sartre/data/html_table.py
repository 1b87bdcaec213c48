"""Tables as a notebook shows them; all text is escaped."""

from __future__ import annotations

from collections.abc import Iterable
from html import escape
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    import pandas as pd

MOST_SHOWN = 60  # rows of a table; the frame itself has the others


def html_section(title: str, messages: Iterable[str], frame: pd.DataFrame) -> str:
    """Return a title, a list of messages and a table as HTML.

    Examples
    --------
    >>> import pandas as pd
    >>> page = html_section("<u>", ["a & b"], pd.DataFrame({"<i>": [0.123456]}))
    >>> "<u>" in page or "<i>" in page, "&lt;u&gt;" in page, "<li>a &amp; b</li>" in page, "0.1235" in page
    (False, True, True, True)
    """
    points = "".join(f"<li>{escape(message)}</li>" for message in messages)
    table = frame.to_html(
        escape=True,
        index=not _is_numbered(frame),
        max_rows=MOST_SHOWN,
        float_format="{:.4g}".format,
        border=0,
        na_rep="-",
    )
    return f"<p><b>{escape(title)}</b></p>{f'<ul>{points}</ul>' if points else ''}{table}"


def _is_numbered(frame: pd.DataFrame) -> bool:
    return frame.index.name is None

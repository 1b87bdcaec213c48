"""``sartre app``: the whole loop in a browser."""

from __future__ import annotations

import threading
import webbrowser
from pathlib import Path
from typing import Annotated

import typer

from sartre.cli import _options as option  # noqa: TC001 - typer reads the types
from sartre.cli._console import err, guarded


def app(
    table: Annotated[
        str | None,
        typer.Argument(metavar="TABLE", help="A table to begin with, as for `sartre discover`; others can be dropped."),
    ] = None,
    *,
    port: Annotated[int, typer.Option(min=0, max=65535, help="Where to listen; 0 for any free port.")] = 0,
    browser: Annotated[bool, typer.Option("--browser/--no-browser", help="Open the page in the browser.")] = True,
    debug: option.Debug = False,
) -> None:
    """Open a page in the browser: look at a table, say what you know, run, look, ask, take away.

    The address that is printed is for this machine and this user only; the token in it is the key. Nothing leaves the
    machine. Ctrl-C ends it.

    Example: sartre app cells.csv
    """
    with guarded(debug=debug):
        try:
            from sartre.app.serving import serve
        except ImportError as error:
            if error.name not in {"starlette", "uvicorn"}:
                raise
            raise ImportError(
                'The page needs Starlette and uvicorn; install them with `pip install "sartre[app]"`.'
            ) from None
        if table is not None:
            _check_table(table)
        serve(table, port, lambda address: _tell(address, browser=browser))


def _check_table(table: str) -> None:
    """Refuse a table that is not there before the page opens."""
    from sartre.cli._learning import DATASETS

    if table not in DATASETS and not Path(table).exists():
        raise FileNotFoundError(f"There is no file '{table}'; check its name and folder.")


def _tell(address: str, *, browser: bool) -> None:
    """Print the address alone on a line of standard output, and open it."""
    typer.echo(address)
    err.print("The page is at the address above. Ctrl-C ends it.", soft_wrap=True)
    if browser:
        threading.Thread(target=webbrowser.open, args=(address,), daemon=True).start()

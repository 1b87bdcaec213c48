"""The command line: each command parses, calls the library and prints.

The library is imported inside the commands, so that ``sartre --help`` answers at once.
"""

from __future__ import annotations

import io
import sys
from typing import Annotated

import typer

from sartre.cli._app import app as app_command
from sartre.cli._command_line import RememberingGroup
from sartre.cli._console import BAD_INPUT, EXIT_CODES, err, out
from sartre.cli._convert import convert
from sartre.cli._discover import discover, prune
from sartre.cli._effect import effect
from sartre.cli._evaluate import evaluate
from sartre.cli._methods import methods
from sartre.cli._plan import plan
from sartre.cli._reproduce import reproduce
from sartre.cli._simulate import simulate
from sartre.cli._spelling import SpellingCommand

app = typer.Typer(
    cls=RememberingGroup,
    no_args_is_help=True,
    add_completion=False,
    rich_markup_mode=None,
    pretty_exceptions_enable=False,
)
for command in (discover, prune, effect, plan, evaluate, convert, simulate, methods, app_command, reproduce):
    app.command(epilog=EXIT_CODES, cls=SpellingCommand)(command)


def main() -> None:
    """Run the command line."""
    if sys.stdout is None:  # the shell closed it
        err.print(
            "Error: Standard output is closed; redirect it to a file, or to /dev/null to discard it.", soft_wrap=True
        )
        sys.exit(BAD_INPUT)
    for stream in (sys.stdout, sys.stderr):
        if isinstance(stream, io.TextIOWrapper):
            stream.reconfigure(errors="replace")  # a name that the terminal cannot show must not cause a failure
    app(prog_name="sartre")


def _print_version(wanted: bool) -> None:
    if wanted:
        from sartre import __version__

        out.print(f"sartre {__version__}")
        raise typer.Exit


@app.callback(epilog=EXIT_CODES)
def sartre(
    *,
    _version: Annotated[
        bool, typer.Option("--version", callback=_print_version, is_eager=True, help="Show the version and exit.")
    ] = False,
) -> None:
    """Learn a causal graph from a table of observations.

    It first learns an order of the variables, causes before effects, and then drops every edge that the data do not
    need.

    Try it on the included protein data: sartre discover sachs
    """

"""Helpers that run the command line in the tests."""

from __future__ import annotations

import sys

from typer.testing import CliRunner

from sartre.cli import app

RUN = [sys.executable, "-c", "from sartre.cli import main; main()"]


def run(*arguments: str, stdin: bytes | None = None):
    """Run the command line as `typed` does, but with results in the current folder, where they replace earlier ones."""
    learns = arguments[:1] in (("discover",), ("prune",)) and "--help" not in arguments
    here = ("--out", ".", "--overwrite") if learns and "--out" not in arguments else ()
    return typed(*arguments, *here, stdin=stdin)


def typed(*arguments: str, stdin: bytes | None = None):
    """Run the command line in this process; an unexpected exception fails the calling test."""
    result = CliRunner().invoke(app, list(arguments), input=stdin)
    if result.exception is not None and not isinstance(result.exception, SystemExit):
        raise result.exception
    return result


def names_in(folder) -> list[str]:
    return sorted(entry.name for entry in folder.iterdir())


def edges_in(text: str) -> list[list[str]]:
    """Return the cells of the printed table of edges: source, arrow, target, strength and direction."""
    lines = [[cell.strip() for cell in line.strip("│").split("│")] for line in text.splitlines() if line[:1] == "│"]
    return [cells for cells in lines if len(cells) == 5]

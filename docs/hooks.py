"""Pages that are made from the code when the documentation is built."""

from __future__ import annotations

import subprocess
import sys
from typing import TYPE_CHECKING

from mkdocs.structure.files import File

if TYPE_CHECKING:
    from mkdocs.config.defaults import MkDocsConfig
    from mkdocs.structure.files import Files


def on_files(files: Files, config: MkDocsConfig) -> Files:
    """Add cli.md: every command with its help, as typer writes it."""
    command = [sys.executable, "-m", "typer", "sartre.cli", "utils", "docs", "--name", "sartre"]
    page = subprocess.run(command, capture_output=True, text=True, check=True).stdout  # noqa: S603
    if "**Commands**" not in page:
        raise RuntimeError(f"typer found no command in sartre.cli, which must have 'app'. It wrote: {page!r}")
    files.append(File.generated(config, "cli.md", content=page.replace("# `sartre`", "# Command line", 1)))
    return files

"""What is made when the documentation is built: commands from the code, tables from README.md, formulas as MathML."""

from __future__ import annotations

import html
import re
import subprocess
import sys
from pathlib import Path
from typing import TYPE_CHECKING

from latex2mathml.converter import convert
from mkdocs.structure.files import File

if TYPE_CHECKING:
    from mkdocs.config.defaults import MkDocsConfig
    from mkdocs.structure.files import Files
    from mkdocs.structure.pages import Page

README = Path(__file__).parent.parent / "README.md"
_MARK = re.compile(r"<!-- README: (.+) -->")  # stands for that section of README.md: numbers stand in one place only
_FORMULA = re.compile(r'<(span|div) class="arithmatex">\\[(\[](.*?)\\[)\]]</\1>', flags=re.DOTALL)


def on_files(files: Files, config: MkDocsConfig) -> Files:
    """Add cli.md: every command with its help, as typer writes it."""
    command = [sys.executable, "-m", "typer", "sartre.cli", "utils", "docs", "--name", "sartre"]
    page = subprocess.run(command, capture_output=True, text=True, check=True).stdout  # noqa: S603
    if "**Commands**" not in page:
        raise RuntimeError(f"typer found no command in sartre.cli, which must have 'app'. It wrote: {page!r}")
    files.append(File.generated(config, "cli.md", content=page.replace("# `sartre`", "# Command line", 1)))
    return files


def on_page_markdown(markdown: str, page: Page, config: MkDocsConfig, files: Files) -> str:  # noqa: ARG001 - by name
    """Put sections of README.md where a page asks for them."""
    return _MARK.sub(lambda mark: section(README.read_text(encoding="utf-8"), mark[1]), markdown)


def on_page_content(page_html: str, /, page: Page, config: MkDocsConfig, files: Files) -> str:  # noqa: ARG001
    """Turn formulas into MathML, which browsers draw by themselves."""
    return _FORMULA.sub(lambda found: mathml(html.unescape(found[2]), block=found[1] == "div"), page_html)


def mathml(formula: str, *, block: bool) -> str:
    """Return a TeX formula as MathML."""
    drawn = convert(formula.strip(), display="block" if block else "inline")
    unknown = re.search(r"\\[a-zA-Z]+", drawn)
    if unknown:
        raise ValueError(f"latex2mathml does not know {unknown[0]}, in {formula.strip()}; write it in another way.")
    return drawn


def section(text: str, heading: str) -> str:
    """Return what stands under a heading of the second level."""
    found = re.search(rf"^## {re.escape(heading)}\n(.*?)(?=^## |\Z)", text, flags=re.MULTILINE | re.DOTALL)
    if found is None:
        raise ValueError(f"README.md must have the section '## {heading}', which the documentation shows.")
    return found[1].strip()

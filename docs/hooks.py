"""Generate parts of the documentation when it is built: the command line, worked examples, and formulas as MathML."""

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

sys.path.insert(0, str(Path(__file__).parent))
import worked_examples  # the hook is not in a package

_FORMULA = re.compile(r'<(span|div) class="arithmatex">\\[(\[](.*?)\\[)\]]</\1>', flags=re.DOTALL)


def on_files(files: Files, config: MkDocsConfig) -> Files:
    """Add cli.md, which shows the help of every command as typer writes it, and run the worked examples."""
    command = [sys.executable, "-m", "typer", "sartre.cli", "utils", "docs", "--name", "sartre"]
    page = subprocess.run(command, capture_output=True, text=True, check=True).stdout  # noqa: S603
    if "**Commands**" not in page:
        raise RuntimeError(f"typer found no command in sartre.cli, which must have 'app'. It wrote: {page!r}")
    files.append(File.generated(config, "cli.md", content=page.replace("# `sartre`", "# Command line", 1)))
    for source in [file for file in files if file.src_uri.startswith("examples/") and file.src_uri.endswith(".md")]:
        files.remove(source)
        folder, name = Path(source.src_uri).parent.as_posix(), Path(source.src_uri).stem
        text, figures = worked_examples.page_with_outputs(source.content_string, name)
        files.append(File.generated(config, source.src_uri, content=text))
        for file, figure in figures.items():
            files.append(File.generated(config, f"{folder}/{file}", content=figure))
    return files


def on_page_content(page_html: str, /, page: Page, config: MkDocsConfig, files: Files) -> str:  # noqa: ARG001
    """Convert formulas to MathML, which browsers display without a script."""
    return _FORMULA.sub(lambda found: mathml(html.unescape(found[2]), block=found[1] == "div"), page_html)


def mathml(formula: str, *, block: bool) -> str:
    """Return a TeX formula as MathML."""
    drawn = convert(formula.strip(), display="block" if block else "inline")
    unknown = re.search(r"\\[a-zA-Z]+", drawn)
    if unknown:
        raise ValueError(f"latex2mathml does not know {unknown[0]}, in {formula.strip()}; write it in another way.")
    return drawn

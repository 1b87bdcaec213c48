"""Run the worked examples when the documentation is built, and write them as notebooks.

The pages in docs/examples are the only source. Each block of Python is a cell, run one after the other; what a cell
prints, the value of its last line, its warnings and its figures are inserted below it. Notebooks have the same cells
without their output; `python docs/worked_examples.py` writes them, and a test compares them with the pages.
"""

from __future__ import annotations

import ast
import io
import json
import re
import textwrap
import warnings
from contextlib import redirect_stdout
from functools import cache
from pathlib import Path
from typing import Any, Literal, NamedTuple

import matplotlib as mpl
import matplotlib.pyplot as plt
import pandas as pd

FOLDER = Path(__file__).parent / "examples"
_BLOCK = re.compile(r"^```python\n(.*?)^```\n", flags=re.MULTILINE | re.DOTALL)
_STYLE = {"svg.fonttype": "none", "svg.hashsalt": "sartre", "font.family": "sans-serif", "figure.dpi": 100}
_TABLES = ("display.width", 88, "display.max_columns", 20, "display.precision", 3)
_PROSE = re.compile(r"^(\s*- |\w*Warning: )")  # lines of an output that are sentences
_LINE = 84  # characters that a page shows side by side


class Cell(NamedTuple):
    """Text or code of a page."""

    kind: Literal["text", "code"]
    source: str

    @property
    def is_code(self) -> bool:
        """Whether the cell runs."""
        return self.kind == "code"


class Output(NamedTuple):
    """What a cell of code printed, and its figures as SVG."""

    text: str
    figures: tuple[str, ...]


def cells(page: str) -> list[Cell]:
    """Split a page into text and blocks of Python."""
    found, end = [], 0
    for block in _BLOCK.finditer(page):
        found += [Cell("text", page[end : block.start()].strip()), Cell("code", block[1].rstrip())]
        end = block.end()
    found.append(Cell("text", page[end:].strip()))
    return [cell for cell in found if cell.source]


@cache
def run(page: str) -> tuple[Output, ...]:
    """Run the code of a page and return one output per cell of code; an exception ends the build."""
    names: dict[str, Any] = {"__name__": "__main__"}
    code = [cell.source for cell in cells(page) if cell.is_code]
    with mpl.rc_context({**_STYLE, "backend": "svg"}), pd.option_context(*_TABLES):
        plt.close("all")
        return tuple(_run_cell(source, names) for source in code)


def page_with_outputs(page: str, name: str) -> tuple[str, dict[str, str]]:
    """Return a page with the outputs of its cells, and its figures by the names of their files."""
    outputs, parts, figures = iter(run(page)), [], {}
    for cell in cells(page):
        if not cell.is_code:
            parts.append(cell.source)
            continue
        output = next(outputs)
        parts.append(f"```python\n{cell.source}\n```")
        if output.text:
            parts.append(f"```text\n{output.text}\n```")
        for figure in output.figures:
            file = f"{name}-{len(figures) + 1}.svg"
            figures[file] = figure
            parts.append(f"![What the code above draws]({file})")
    return "\n\n".join(parts) + "\n", figures


def notebook(page: str) -> str:
    """Return a page as a Jupyter notebook without outputs."""
    made = []
    for number, cell in enumerate(cells(page), start=1):
        kind: dict[str, Any] = {"cell_type": "markdown"}
        if cell.is_code:
            kind = {"cell_type": "code", "execution_count": None, "outputs": []}
        lines = cell.source.splitlines(keepends=True)
        made.append({**kind, "id": f"cell-{number}", "metadata": {}, "source": lines})
    python = {"display_name": "Python 3", "language": "python", "name": "python3"}
    whole = {"cells": made, "metadata": {"kernelspec": python}, "nbformat": 4, "nbformat_minor": 5}
    return json.dumps(whole, indent=1, ensure_ascii=False, sort_keys=True) + "\n"


def _run_cell(source: str, names: dict[str, Any]) -> Output:
    """Run a cell as a notebook does: the value of a last expression is shown, unless it is None."""
    tree = ast.parse(source)
    last = ast.Expression(tree.body.pop().value) if isinstance(tree.body[-1], ast.Expr) else None
    printed = io.StringIO()
    with redirect_stdout(printed), warnings.catch_warnings(record=True) as heard:
        warnings.simplefilter("always", UserWarning)
        exec(compile(tree, "example", "exec"), names)  # noqa: S102 - our own pages
        value = None if last is None else eval(compile(last, "example", "eval"), names)  # noqa: S307
        if value is not None and not hasattr(value, "figure"):
            print(value)  # noqa: T201 - into the page
    told = [f"{one.category.__name__}: {one.message}" for one in heard if issubclass(one.category, UserWarning)]
    figures = tuple(_drawn(number) for number in plt.get_fignums())
    plt.close("all")
    lines = [*printed.getvalue().rstrip().splitlines(), *dict.fromkeys(told)]
    return Output("\n".join(map(_folded, lines)).strip("\n"), figures)


def _folded(line: str) -> str:
    """Fold a long sentence; tables stay as they are."""
    begin = _PROSE.match(line)
    if begin is None or len(line) <= _LINE:
        return line
    indent = " " * (len(begin[0]) if "-" in begin[0] else 4)
    return textwrap.fill(line, _LINE, subsequent_indent=indent, break_on_hyphens=False, break_long_words=False)


def _drawn(number: int) -> str:
    """Return an open figure as SVG."""
    buffer = io.StringIO()
    plt.figure(number).savefig(buffer, format="svg", bbox_inches="tight", metadata={"Date": None})
    return buffer.getvalue()


if __name__ == "__main__":
    for source in sorted(FOLDER.glob("*.md")):
        source.with_suffix(".ipynb").write_text(notebook(source.read_text(encoding="utf-8")), encoding="utf-8")

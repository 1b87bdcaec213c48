"""Every example of the documentation runs, and prints what the page says it prints."""

from __future__ import annotations

import io
import re
from contextlib import redirect_stdout
from pathlib import Path

import matplotlib.pyplot as plt
import pytest

DOCS = Path(__file__).parents[2] / "docs"
BLOCK = re.compile(r"^```(\w+)\n(.*?)^```$", flags=re.MULTILINE | re.DOTALL)


def examples(text):
    """Yield the Python blocks of a page: line, code, and the text block that follows at once, if any."""
    blocks = list(BLOCK.finditer(text))
    for k, block in enumerate(blocks):
        if block[1] == "python":
            after = next((b for b in blocks[k + 1 : k + 2] if b[1] == "text"), None)
            follows = after is not None and not text[block.end() : after.start()].strip()
            yield text[: block.start()].count("\n") + 1, block[2], after[2] if follows else None


PAGES = {page.name: list(examples(page.read_text(encoding="utf-8"))) for page in sorted(DOCS.glob("*.md"))}


def test_the_pages_that_must_have_examples_have_some():
    assert {"index.md", "extending.md", "knowledge.md", "data.md", "report.md"} <= {p for p in PAGES if PAGES[p]}


@pytest.mark.parametrize("page", [page for page in PAGES if PAGES[page]])
def test_examples_run_and_print_what_the_page_says(page, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    plt.switch_backend("Agg")
    names = {"__name__": page}
    for line, code, expected in PAGES[page]:
        printed = io.StringIO()
        with redirect_stdout(printed):
            exec(compile("\n" * line + code, str(DOCS / page), "exec"), names)  # noqa: S102 - our own pages
        assert expected is None or printed.getvalue() == expected, f"{page}, line {line}"
    plt.close("all")

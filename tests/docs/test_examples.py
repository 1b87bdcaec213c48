"""Every example in the documentation runs and prints the output that the page shows."""

from __future__ import annotations

import io
import re
import shlex
import subprocess
import sys
from contextlib import redirect_stdout
from pathlib import Path

import matplotlib.pyplot as plt
import pytest

DOCS = Path(__file__).parents[2] / "docs"
BLOCK = re.compile(r'^```(\w+)(?: title="([^"]+)")?\n(.*?)^```$', flags=re.MULTILINE | re.DOTALL)
WITH_COMMANDS = {"extending.md"}  # commands run only on pages that create the files they need
SARTRE = [sys.executable, "-c", "from sartre.cli import main; main()"]


def examples(text):
    """Yield the blocks of a page that run: line, language, file, code, and the text block that follows, if any."""
    blocks = list(BLOCK.finditer(text))
    for k, block in enumerate(blocks):
        if block[1] in ("python", "console"):
            after = next((b for b in blocks[k + 1 : k + 2] if b[1] == "text"), None)
            follows = after is not None and not text[block.end() : after.start()].strip()
            line = text[: block.start()].count("\n") + 1
            yield line, block[1], block[2], block[3], after[3] if follows else None


PAGES = {page.name: list(examples(page.read_text(encoding="utf-8"))) for page in sorted(DOCS.glob("*.md"))}
for name in PAGES.keys() - WITH_COMMANDS:
    PAGES[name] = [example for example in PAGES[name] if example[1] == "python"]


def test_the_pages_that_must_have_examples_have_some():
    assert sum(example[1] == "console" for example in PAGES["extending.md"]) == 3
    assert {"index.md", "extending.md", "knowledge.md", "data.md", "report.md"} <= {p for p in PAGES if PAGES[p]}


@pytest.mark.parametrize("page", [page for page in PAGES if PAGES[page]])
def test_examples_run_and_print_what_the_page_says(page, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    plt.switch_backend("Agg")
    names = {"__name__": page}
    for line, language, file, code, expected in PAGES[page]:
        if language == "console":
            for command in (text[2:] for text in code.splitlines() if text.startswith("$ sartre ")):
                run = [*SARTRE, *shlex.split(command)[1:]]
                done = subprocess.run(run, capture_output=True, text=True, check=False)  # noqa: S603 - our own pages
                assert done.returncode == 0, f"{page}, line {line}: {done.stderr}"
            continue
        if file is not None:
            Path(file).write_text(code, encoding="utf-8")
        printed = io.StringIO()
        with redirect_stdout(printed):
            exec(compile("\n" * line + code, str(DOCS / page), "exec"), names)  # noqa: S102 - our own pages
        assert expected is None or printed.getvalue() == expected, f"{page}, line {line}"
    plt.close("all")

"""Every snippet of the README and the documentation runs, and prints what the page shows.

Blocks of Python and the commands of `sartre` run, page by page, in one folder. Where output stands below a command,
or in a text block after Python, it is compared; in the output of commands "..." stands for anything. Commands that
take minutes or install something are checked only for what they name: scripts and their options, targets of the
Makefile, extras. The worked examples have a test of their own.
"""

from __future__ import annotations

import ast
import doctest
import io
import os
import re
import shlex
import subprocess
import sys
import tomllib
import warnings
from contextlib import redirect_stdout
from itertools import zip_longest
from pathlib import Path
from typing import NamedTuple

import matplotlib.pyplot as plt
import pandas as pd
import pytest

from sartre.simulate import random_dag, simulate

ROOT = Path(__file__).parents[2]
DOCS = ROOT / "docs"
BLOCK = re.compile(r'^```(\w+)(?: title="([^"]+)")?\n(.*?)^```$', flags=re.MULTILINE | re.DOTALL)
SARTRE = [sys.executable, "-c", "from sartre.cli import main; main()"]
WITH_CODE = {
    "README",
    "choosing",
    "data",
    "effects",
    "experiments",
    "extending",
    "index",
    "knowledge",
    "migrating",
    "orders",
}
WITH_CODE |= {"report", "scale", "trust"}
WARNINGS = {"README.md": "The effect of 'bmi' on 'target' depends on arrows"}  # which the page mentions
LANGUAGES = {"python", "py", "console", "sh", "text", "toml", "r"}
PAGES = {
    page.relative_to(ROOT).as_posix(): page.read_text(encoding="utf-8")
    for page in [ROOT / "README.md", ROOT / "CONTRIBUTING.md", *sorted(DOCS.rglob("*.md"))]
    if page.parent != DOCS / "examples"
}


class Block(NamedTuple):
    line: int
    language: str
    file: str | None
    code: str
    shown: str | None  # the text block that follows, if any


def blocks(text):
    """Return the fenced blocks of a page."""
    found = list(BLOCK.finditer(text))
    made = []
    for block, after in zip_longest(found, found[1:]):
        follows = after is not None and after[1] == "text" and not text[block.end() : after.start()].strip()
        line = text[: block.start()].count("\n") + 1
        made.append(Block(line, block[1], block[2], block[3], after[3] if follows else None))
    return made


def commands(code):
    """Return the commands of a console block, each with the output that stands below it."""
    parts = re.split(r"^\$ ", code, flags=re.MULTILINE)[1:]
    return [(part.split("\n", 1)[0], part.split("\n", 1)[1]) for part in parts]


def lines_of_shell():
    """Return every command that is not run: page, words."""
    found = []
    for page, text in PAGES.items():
        for block in blocks(text):
            if block.language == "sh":
                found += [(page, line) for line in block.code.replace("\\\n", " ").splitlines() if line.strip()]
            elif block.language == "console":
                found += [(page, command) for command, _ in commands(block.code) if not command.startswith("sartre ")]
        found += [(page, line.strip()) for line in re.findall(r"^    (make .+|\.venv.+)$", text, flags=re.MULTILINE)]
    return [(page, shlex.split(line, comments=True)) for page, line in found]


COMPARED = {command for block in blocks(PAGES["README.md"]) for command, shown in commands(block.code) if shown}


@pytest.fixture
def folder(tmp_path, monkeypatch):
    """Return a folder with the tables that pages speak of."""
    data = simulate(random_dag(5, 5, random_state=0), 120, random_state=0,
                    interventions={"knockdown": ["x1"], "diet": ("soft", ["x3"])}, n_intervened=40)  # fmt: skip
    rows = pd.DataFrame(data.X).assign(
        condition=data.environment.to_numpy(), patient=[k // 4 for k in range(len(data.X))]
    )
    rows.to_csv(tmp_path / "visits.csv", index=False)
    data.X.to_csv(tmp_path / "cells.csv", index=False)
    monkeypatch.chdir(tmp_path)
    return tmp_path


def test_the_pages_that_must_have_examples_have_some():
    having = {Path(page).stem for page, text in PAGES.items() if any(b.language == "python" for b in blocks(text))}
    assert having >= WITH_CODE
    assert sum(block.language == "console" for block in blocks(PAGES["docs/extending.md"])) == 3


def test_every_block_is_in_a_language_that_is_checked():
    used = {(page, block.language) for page, text in PAGES.items() for block in blocks(text)}
    assert {one for one in used if one[1] not in LANGUAGES} == set()


def test_every_fence_is_closed_and_understood():
    for page, text in PAGES.items():
        assert len(re.findall(r"^\s*```", text, flags=re.MULTILINE)) == 2 * len(blocks(text)), page


@pytest.mark.parametrize("page", [page for page, text in PAGES.items() if blocks(text)])
def test_snippets_run_and_print_what_the_page_says(page, folder):  # noqa: ARG001 - it is the current folder
    plt.switch_backend("Agg")
    names = {"__name__": page}
    for block in blocks(PAGES[page]):
        if block.language == "console":
            for command, shown in commands(block.code):
                if command.startswith("sartre ") and (shown or command not in COMPARED or page == "README.md"):
                    _run(command, shown, f"{page}, line {block.line}")
        elif block.language == "py":
            ast.parse(block.code)  # another library, or other machines
        elif block.language == "python":
            if block.file is not None:
                Path(block.file).write_text(block.code, encoding="utf-8")
            printed = io.StringIO()
            with redirect_stdout(printed), warnings.catch_warnings():
                if page in WARNINGS:
                    warnings.filterwarnings("ignore", message=WARNINGS[page])
                exec(compile("\n" * block.line + block.code, page, "exec"), names)  # noqa: S102 - our own pages
            assert block.shown is None or printed.getvalue() == block.shown, f"{page}, line {block.line}"
        elif block.file is not None:  # a file that a later command reads
            Path(block.file).write_text(block.code, encoding="utf-8")
    plt.close("all")


def _run(command, shown, place):
    environment = {**os.environ, "COLUMNS": "120", "NO_COLOR": "1"}
    run = [*SARTRE, *shlex.split(command, comments=True)[1:]]
    done = subprocess.run(run, capture_output=True, text=True, check=False, env=environment)  # noqa: S603 - our own pages
    assert done.returncode == 0, f"{place}: {done.stderr}"
    if shown.strip():
        flags = doctest.ELLIPSIS | doctest.NORMALIZE_WHITESPACE
        assert doctest.OutputChecker().check_output(shown, done.stdout, flags), f"{place}:\n{done.stdout}"


@pytest.mark.parametrize(("page", "words"), lines_of_shell(), ids=lambda one: one if isinstance(one, str) else one[-1])
def test_commands_that_are_not_run_name_what_exists(page, words):
    if words[0] == "make":
        assert re.search(rf"^{words[1]}:", (ROOT / "Makefile").read_text(encoding="utf-8"), flags=re.MULTILINE), page
    elif words[:2] == ["pip", "install"]:
        extras = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"][
            "optional-dependencies"
        ]
        asked = re.findall(r"\[(.+)\]", words[-1])
        assert all(extra in extras for named in asked for extra in named.split(",")), page
    elif words[1].endswith(".py"):
        script = ROOT / words[1]
        assert script.is_file(), page
        text = script.read_text(encoding="utf-8") + "".join(
            part.read_text(encoding="utf-8") for part in script.parent.glob("_*.py")
        )
        options = [word for word in words if word.startswith("--")]
        assert [option for option in options if f'"{option}"' not in text] == [], page
    else:
        assert Path(words[0]).name == "sartre", f"{page}: {shlex.join(words)}"  # in a clone; run elsewhere on the page

"""The worked examples run, end in a decision, and are the same as pages and as notebooks."""

from __future__ import annotations

import importlib.util
import json
import re
import sys
from pathlib import Path

import pytest

DOCS = Path(__file__).parents[2] / "docs"


def load():
    name = "worked_examples"
    spec = importlib.util.spec_from_file_location(name, DOCS / f"{name}.py")
    sys.modules[name] = module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


worked = load()
PAGES = {page.stem: page.read_text(encoding="utf-8") for page in sorted(worked.FOLDER.glob("*.md"))}
DECISIONS = {"diabetes": "Decision: try it", "plant": "Decision: turn up the reflux", "sachs": "Decision: hit Mek"}
SEEN = {  # what the text around the outputs relies on
    "diabetes": (r"bmi +age +undecided", r"leave these columns out: bmi", r"'bmi', 'bp', 'hdl'"),
    "plant": (r"\(1500, 60\)", r"'feed', 'reactor_2', 'column_3'", r"turn up: steam, catalyst"),
    "sachs": (r"Neighbouring rows are correlated", r"\d+ effects that the targets do not", r"Akt +undecided"),
}


@pytest.mark.parametrize("name", DECISIONS)
def test_an_example_runs_shows_what_its_text_says_and_ends_in_a_decision(name):
    shown, figures = worked.page_with_outputs(PAGES[name], name)
    assert [text for text in SEEN[name] if not re.search(text, shown)] == []
    assert shown.rindex("\n## ") == shown.index("\n## Decision")
    assert DECISIONS[name] in shown[shown.index("\n## Decision") :]
    assert all(f"({file})" in shown and text.count("<svg") == 1 for file, text in figures.items())


def test_the_correlations_of_the_plant_choose_another_lever_than_the_graph():
    source = next(cell.source for cell in worked.cells(PAGES["plant"]) if cell.is_code)
    names = {}
    exec(source, names)  # noqa: S102 - our own page
    assert names["table"][names["levers"]].corrwith(names["table"]["yield"]).idxmax() == "steam"


def test_every_example_is_tested_and_in_the_menu():
    menu = (DOCS.parent / "mkdocs.yml").read_text(encoding="utf-8")
    assert set(DECISIONS) == set(PAGES)
    assert [name for name in PAGES if f"examples/{name}.md" not in menu] == []


@pytest.mark.parametrize("name", DECISIONS)
def test_the_notebook_is_that_of_the_page(name):
    file = worked.FOLDER / f"{name}.ipynb"
    assert file.read_text(encoding="utf-8") == worked.notebook(PAGES[name]), "run: python docs/worked_examples.py"


def test_a_notebook_has_the_cells_of_its_page_and_no_output():
    page = "# Title\n\nText.\n\n```python\nx = 1\nx\n```\n\nMore.\n"
    made = json.loads(worked.notebook(page))
    kinds = [cell["cell_type"] for cell in made["cells"]]
    assert kinds == ["markdown", "code", "markdown"]
    assert "".join(made["cells"][1]["source"]) == "x = 1\nx"
    assert made["cells"][1]["outputs"] == []


def test_a_cell_shows_what_it_prints_its_last_value_and_its_warnings():
    cell = 'import warnings\n\nwarnings.warn("beware", stacklevel=1)\nprint(1)\n2\n'
    page = f"```python\n{cell}```\n\n```python\nx = 3\n```\n"
    shown, figures = worked.page_with_outputs(page, "page")
    assert "```text\n1\n2\nUserWarning: beware\n```" in shown
    assert shown.count("```text") == 1
    assert figures == {}


def test_an_error_in_an_example_ends_the_build():
    with pytest.raises(NameError, match="unknown"):
        worked.page_with_outputs("```python\nunknown\n```\n", "page")

"""Statements about the package agree in all places."""

from __future__ import annotations

import re
import tomllib
from pathlib import Path

import sartre

ROOT = Path(__file__).parents[2]


def test_citation_and_changelog_are_of_this_version():
    cited = re.search(r"^version: (.+)$", (ROOT / "CITATION.cff").read_text(encoding="utf-8"), flags=re.MULTILINE)
    latest = re.search(r"^## \[(.+?)\]", (ROOT / "CHANGELOG.md").read_text(encoding="utf-8"), flags=re.MULTILINE)
    assert cited is not None
    assert latest is not None
    assert cited[1] == latest[1] == sartre.__version__


def test_the_changelog_has_an_entry_per_version():
    entries = re.findall(r"^## \[(.+?)\]", (ROOT / "CHANGELOG.md").read_text(encoding="utf-8"), flags=re.MULTILINE)
    assert entries == ["0.2.0", "0.1.0"]


def test_the_workflow_tests_every_version_of_python_that_the_package_names():
    project = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]
    named = [one.rsplit(" ", 1)[1] for one in project["classifiers"] if re.search(r"Python :: 3\.\d", one)]
    matrix = re.search(r"python: \[(.+)\]", (ROOT / ".github/workflows/tests.yml").read_text(encoding="utf-8"))
    assert matrix is not None
    assert re.findall(r"[\d.]+", matrix[1]) == named == ["3.11", "3.12", "3.13", "3.14"]


def test_every_action_is_pinned_by_a_hash():
    used = [
        line.split("uses: ")[1]
        for file in (ROOT / ".github/workflows").glob("*.yml")
        for line in file.read_text(encoding="utf-8").splitlines()
        if "uses: " in line
    ]
    assert used
    assert [one for one in used if not re.search(r"@[0-9a-f]{40} # v\d", one)] == []


def test_no_page_and_no_title_stands_twice_in_the_menu():
    menu = (ROOT / "mkdocs.yml").read_text(encoding="utf-8").split("\nnav:\n")[1].split("\n\n")[0]
    entries = re.findall(r"- (.+?): *(\S+\.md)?$", menu, flags=re.MULTILINE)
    titles, pages = [title for title, _ in entries], [page for _, page in entries if page]
    assert len(set(titles)) == len(titles) > 20
    assert len(set(pages)) == len(pages)


def test_the_readme_is_short_and_says_how_to_begin_from_a_clone():
    text = (ROOT / "README.md").read_text(encoding="utf-8")
    assert len(text.splitlines()) <= 120
    assert {"make demo", "make test"} <= set(re.findall(r"make \w+", text))


def test_every_orderer_and_pruner_is_named_in_the_documentation():
    pages = "".join((ROOT / "docs" / page).read_text(encoding="utf-8") for page in ("orders.md", "choosing.md"))
    pages += (ROOT / "CHANGELOG.md").read_text(encoding="utf-8")
    steps = [name for module in ("order", "prune") for name in _classes(module)]
    assert [name for name in steps if f"`{name}" not in pages] == []


def _classes(module):
    package = __import__(f"sartre.{module}", fromlist=["__all__"])
    return [name for name in package.__all__ if hasattr(getattr(package, name), "fit")]

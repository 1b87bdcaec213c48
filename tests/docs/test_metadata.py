"""Statements about the package agree in all places."""

from __future__ import annotations

import re
from pathlib import Path

import sartre

ROOT = Path(__file__).parents[2]


def test_citation_and_changelog_are_of_this_version():
    cited = re.search(r"^version: (.+)$", (ROOT / "CITATION.cff").read_text(encoding="utf-8"), flags=re.MULTILINE)
    latest = re.search(r"^## \[(.+?)\]", (ROOT / "CHANGELOG.md").read_text(encoding="utf-8"), flags=re.MULTILINE)
    assert cited is not None
    assert latest is not None
    assert cited[1] == latest[1] == sartre.__version__


def test_every_orderer_and_pruner_is_named_in_the_documentation():
    pages = "".join((ROOT / "docs" / page).read_text(encoding="utf-8") for page in ("orders.md", "choosing.md"))
    pages += (ROOT / "CHANGELOG.md").read_text(encoding="utf-8")
    steps = [name for module in ("order", "prune") for name in _classes(module)]
    assert [name for name in steps if f"`{name}" not in pages] == []


def _classes(module):
    package = __import__(f"sartre.{module}", fromlist=["__all__"])
    return [name for name in package.__all__ if hasattr(getattr(package, name), "fit")]

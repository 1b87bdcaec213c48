"""The file of knowledge to fill in constrains nothing as it stands, and all that it suggests can be used."""

from __future__ import annotations

import re

import pytest

from sartre import Knowledge
from sartre.knowledge.template import likely_roots, template

ODD = [
    "age",
    'a "quoted" name',
    "two\nlines",
    "back\\slash",
    "tab\there",
    "hash # here",
    "\x7f",
    "ä, ö",
    "sex",
    "[x]",
    "🜁",
]


def used(text):
    """Return the text with the suggestions switched on, except those that name no columns of the table."""
    examples = re.compile(r"# (required|forbidden|before|leaves|confounded)")
    return "\n".join(re.sub(r"^# ", "", line) for line in text.split("\n") if not examples.match(line))


def read(tmp_path, text):
    path = tmp_path / "knowledge-template.toml"
    path.write_text(text, encoding="utf-8", newline="\n")
    return Knowledge.read(path)


@pytest.mark.parametrize("names", [ODD, ["x0", "x1"], [f"column {j}" for j in range(300)]])
def test_it_is_valid_and_says_nothing_until_a_line_is_switched_on(tmp_path, names):
    text = template(names, names[:40])
    assert read(tmp_path, text) == Knowledge()
    known = read(tmp_path, used(text))
    roots = [name for name in names if name in {"age", "sex"}]
    others = tuple(sorted(set(names) - set(roots)))
    assert known.tiers == ((*((tuple(roots),) if roots else ()), others))
    assert known.roots == tuple(roots)
    known.resolve(names)


def test_ten_thousand_columns_are_all_listed_once():
    names = [f"gene{j}" for j in range(10_000)]
    text = template(names, names)
    assert text.count('"gene9999"') == 1
    assert len(text) < 160_000
    assert "and 9970 more" in text


def test_names_of_first_causes_are_whole_words():
    names = ["AGE", "age_at_baseline", "patientAge", "year of birth", "Sex", "is_male", "DOB", "page", "usage", "Essex"]
    assert likely_roots([*names, "birth weight", "stage", "age of onset", "sex hormone", ""]) == names[:7]


def test_indicators_and_the_calendar_are_first_causes_and_numbers_of_races_are_not():
    roots = ["sex_M", "gender_female", "Sex_1", "race_white", "year", "Date", "calendar_year", "year_month"]
    assert likely_roots([*roots, "race_number", "date of admission", "years", "update"]) == roots

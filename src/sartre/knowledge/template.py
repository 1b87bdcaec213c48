"""A file of prior knowledge to be filled in: all columns, with guesses about the first causes, all commented out."""

from __future__ import annotations

import json
import re
import textwrap
from collections.abc import Iterable, Sequence

TEMPLATE_NAME = "knowledge-template.toml"
ROOT_WORDS = {"age", "sex", "gender", "birth", "born", "birthday", "birthdate", "birthyear", "dob"}
ROOT_WORDS |= {"ethnicity", "ancestry", "race", "male", "female"}
CALENDAR_WORDS = {"year", "date", "month", "weekday", "calendar"}  # a name of nothing but these is a root, too
WORDS_BESIDE = {"a", "the", "of", "in", "at", "is", "date", "day", "month", "year", "years", "yr", "yrs", "y", "months"}
WORDS_BESIDE |= {"patient", "person", "subject", "participant", "baseline", "group", "code"}
WORDS_BESIDE |= {"m", "f", "man", "woman", "white", "black", "asian", "hispanic", "other", "unknown"}  # as in sex_M
# With any other word beside them, as in "birth weight", a name is something else.
SHOWN_WITHOUT_CAUSE = 30  # columns
LINE_WIDTH = 100
EXPLAINED = """
## What is known about the columns, for `--knowledge` and `Knowledge.read`. Lines with ## explain. To use a line with
## one #, remove the # and change what follows. This file is never overwritten.
##
## tiers: no column is a cause, direct or indirect, of one in an earlier tier (by time, for example). Columns may be
## moved or left out; those in no tier may come anywhere, and a warning names them.
"""
OTHERS = """
## required, forbidden: edges that must, or must not, be in the graph, each from cause to effect.
# required = [["cause", "effect"]]
# forbidden = [["cause", "effect"]]

## before: pairs of which the second is no cause, direct or indirect, of the first. leaves: columns without effects.
# before = [["earlier", "later"]]
# leaves = ["result"]

## confounded: pairs of columns with a common cause that is not in the table.
# confounded = [["one", "other"]]
"""


def likely_roots(names: Iterable[str]) -> list[str]:
    """Return the names of columns that nothing else in a table is likely to cause, such as age, sex and year.

    Examples
    --------
    >>> likely_roots(["Age (years)", "birth_weight", "yearOfBirth", "stage", "sex_M", "Date"])
    ['Age (years)', 'yearOfBirth', 'sex_M', 'Date']
    """
    found = []
    for name in names:
        words = set(re.findall(r"[a-z]+", re.sub(r"(?<=[a-z])(?=[A-Z])", " ", name).lower()))
        is_calendar = bool(words) and words <= CALENDAR_WORDS
        if is_calendar or (words & ROOT_WORDS and words <= ROOT_WORDS | WORDS_BESIDE):
            found.append(name)
    return found


def template(names: Sequence[str], without_cause: Sequence[str] = ()) -> str:
    """Return the text of a TOML file that `Knowledge.read` accepts as it stands, and that constrains nothing.

    Parameters
    ----------
    names : sequence of str
        All columns.
    without_cause : sequence of str
        Those that have no cause in a learnt graph.

    Examples
    --------
    >>> [line for line in template(["age", "dose"]).splitlines() if line.startswith("# ")][:4]
    ['# tiers = [', '#     ["age"],', '#     ["dose"],', '# ]']
    """
    roots = likely_roots(names)
    others = [name for name in names if name not in set(roots)]
    tiers = "".join(f"{_commented(tier)},\n" for tier in (roots, others) if tier)
    lines = [f"{EXPLAINED.lstrip()}# tiers = [\n{tiers}# ]\n"]
    lines.append("\n## roots: columns without causes.")
    if without_cause:
        more = len(without_cause) - SHOWN_WITHOUT_CAUSE
        shown = ", ".join(map(quoted, without_cause[:SHOWN_WITHOUT_CAUSE])) + (f" and {more} more" if more > 0 else "")
        lines.append(_wrapped(f"In the learnt graph, which may be wrong, these have none: {shown}.", "## "))
    lines.append(f"# roots = [{', '.join(map(quoted, roots))}]\n{OTHERS}")
    return "\n".join(lines)


def quoted(name: str) -> str:
    r"""Return a name as a string of TOML.

    Examples
    --------
    >>> print(quoted('5" pipe'), quoted("two\nlines"))
    "5\" pipe" "two\nlines"
    """
    return json.dumps(name, ensure_ascii=False).replace("\x7f", "\\u007f")


def _commented(tier: Sequence[str]) -> str:
    """Return a list of names in lines that are commented out; no name is broken in two."""
    lines, line = [], "#     ["
    for k, name in enumerate(tier):
        text = quoted(name) + ("," if k + 1 < len(tier) else "]")
        if len(line) + len(text) > LINE_WIDTH and not line.endswith(("[", "     ")):
            lines.append(line.rstrip())
            line = "#      "
        line += text + (" " if text.endswith(",") else "")
    return "\n".join([*lines, line])


def _wrapped(text: str, mark: str) -> str:
    return textwrap.fill(
        text, LINE_WIDTH, initial_indent=mark, subsequent_indent=mark, break_long_words=False, break_on_hyphens=False
    )

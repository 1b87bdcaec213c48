"""What is wrong with a table, as data: each problem names a column, says what was found, and what to do."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Literal

from sartre.settings import listed

Kind = Literal[
    "name",  # no name, or the name of another column, too
    "id",  # a name or number of each row
    "date",  # dates or times, of any type
    "text",  # free text, or far too many levels
    "number",  # numbers written as text that cannot be read for certain
    "value",  # a value that is not a number, or that is out of range
    "type",  # a column of lists, bytes and the like
    "empty",  # no value at all
    "missing",  # some values are missing
    "constant",  # a single value
    "duplicate",  # equal to an earlier column
    "size",  # too few rows or columns
]
Action = Literal["exclude", "impute", "none"]


@dataclass(frozen=True)
class Problem:
    """One problem of a table.

    Attributes
    ----------
    kind : str
        What is wrong: one of the words of `Kind`, such as "id" or "missing".
    column : str or None
        The name of the column; None for a problem of the whole table.
    sentence, remedy : str
        What was found, and what to do about it, each in whole sentences.
    action : "exclude", "impute" or "none"
        What would make the table usable at once: leaving the column out, or filling in its missing values.
    fatal : bool
        Whether nothing can be learnt before it is solved.
    count : int
        The number of missing values, for the kind "missing".

    Examples
    --------
    >>> print(Problem("constant", "site", "Column 'site' has a single value, 3.", "Leave it out.", "exclude", False))
    Column 'site' has a single value, 3. Leave it out.
    """

    kind: Kind
    column: str | None
    sentence: str
    remedy: str
    action: Action = "exclude"
    fatal: bool = True
    count: int = 0

    def __str__(self) -> str:
        """Return both sentences, in one line."""
        return " ".join(f"{self.sentence} {self.remedy}".split())


class BadTableError(ValueError):
    """Raised for a table that cannot be used; `problems` has what is wrong with it."""

    def __init__(self, *problems: Problem, text: str | None = None) -> None:
        super().__init__(as_text(problems) if text is None else text)
        self.problems = problems


class BadTypeError(BadTableError, TypeError):
    """The same for columns of the wrong type."""


def refusal(problems: Sequence[Problem], *, text: str | None = None) -> BadTableError:
    """Return the error that refuses a table for these problems."""
    wrong_type = all(problem.kind in ("type", "date") for problem in problems)
    return (BadTypeError if wrong_type else BadTableError)(*problems, text=text)


def as_text(problems: Sequence[Problem]) -> str:
    """Return problems as one sentence or, if there are several, as a list with one line for each.

    Missing values of several columns are one line.

    Examples
    --------
    >>> holes = [Problem("missing", name, "It has holes.", "Drop them.", "impute", count=2) for name in "ab"]
    >>> print(as_text(holes))
    There are missing values. Counts per column: 'a' 2, 'b' 2. Drop them.
    """
    lines = lines_of(problems)
    return lines[0] if len(lines) == 1 else "\n- ".join([f"This table has {len(lines)} problems:", *lines])


def lines_of(problems: Sequence[Problem]) -> list[str]:
    """Return one line per problem, and one for the missing values of all columns.

    Examples
    --------
    >>> flat = Problem("constant", "site", "Column 'site' is 3.", "Leave it out.")
    >>> lines_of([Problem("missing", "a", "It has holes.", "Drop them.", "impute", count=2), flat])
    ["Column 'site' is 3. Leave it out.", "There are missing values. Counts per column: 'a' 2. Drop them."]
    """
    holes = [problem for problem in problems if problem.kind == "missing"]
    lines = [str(problem) for problem in problems if problem.kind != "missing"]
    if holes:
        counts = listed(f"'{problem.column}' {problem.count}" for problem in holes)
        lines.append(" ".join(f"There are missing values. Counts per column: {counts}. {holes[0].remedy}".split()))
    return lines

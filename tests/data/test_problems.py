"""All problems of a table are found at once, and what repairs them does."""

from __future__ import annotations

import datetime as dt

import numpy as np
import pandas as pd
import polars as pl
import pytest

from sartre.data.checks import as_table
from sartre.data.problems import as_text, problems_of, repair_of, row_numbers
from sartre.data.refusals import BadTableError

N = 40


@pytest.fixture
def good():
    rng = np.random.default_rng(0)
    return pd.DataFrame(rng.normal(size=(N, 3)), columns=["a", "b", "c"])


UGLY = {  # what a column holds, and the kind of problem that it is
    "visit_date": (pd.date_range("2024", periods=N), "date"),
    "day": ([f"{k % 28 + 1}.3.2024" for k in range(N)], "date"),
    "birthday": ([dt.date(1980, 1, 1 + k % 28) for k in range(N)], "date"),
    "code": ([f"P{k:04}" for k in range(N)], "id"),
    "notes": ([f"the {k}th patient felt well" for k in range(N)], "text"),
    "city": ([f"city {k // 2}" for k in range(N)], "text"),
    "dose": (["?", *map(float, range(N - 1))], "value"),
    "count": ([str(k) for k in range(N)], "number"),
    "blank": ([np.nan] * N, "empty"),
    "far": ([1e18, *map(float, range(N - 1))], "value"),
    "infinite": ([np.inf, *map(float, range(N - 1))], "value"),
    "holes": ([None, *map(float, range(N - 1))], "missing"),
}
ODD = {
    "flat": ([3] * N, "constant"),
    "same": (list("xy") * (N // 2), "constant"),
    "number": (list(range(1, N + 1)), "id"),
    "patient_id": ([(7 * k) % 1009 for k in range(N)], "id"),
}


@pytest.mark.parametrize("name", UGLY)
def test_a_bad_column_is_one_problem_whose_sentence_names_it(good, name):
    values, kind = UGLY[name]
    (problem,) = problems_of(good.assign(**{name: values}))
    assert (problem.kind, problem.column, problem.fatal) == (kind, name, True)
    assert f"'{name}'" in problem.sentence
    assert problem.sentence.endswith(".")
    assert problem.remedy.endswith(".")


def test_all_problems_are_reported_at_once_and_their_repair_works(good):
    columns = {name: values for name, (values, _) in (UGLY | ODD).items()}
    columns["same"] = good["a"]
    ugly = good.assign(**columns)
    found = problems_of(ugly)
    fatal = {problem.column: problem.kind for problem in found if problem.fatal}
    assert fatal == {name: kind for name, (_, kind) in UGLY.items()}
    assert {problem.column: problem.kind for problem in found if not problem.fatal} == {
        "flat": "constant",
        "number": "id",
        "patient_id": "id",
        "same": "duplicate",
    }
    assert [problem.fatal for problem in found] == sorted((problem.fatal for problem in found), reverse=True)
    repair = repair_of(ugly, found)
    assert repair is not None
    assert repair.missing == "impute"
    assert set(repair.exclude) == {problem.column for problem in found} - {"holes"}
    assert problems_of(ugly.drop(columns=[*repair.exclude]), missing=repair.missing) == []


def test_a_good_table_has_no_problems_and_nothing_to_repair(good):
    assert problems_of(good) == []
    assert problems_of(good.to_numpy()) == []
    assert problems_of(as_table(good)) == []
    repair = repair_of(good, [])
    assert repair is not None
    assert (repair.exclude, repair.missing) == ((), "error")


def test_other_frames_have_the_same_problems(good):
    frame = good.assign(code=UGLY["code"][0], holes=UGLY["holes"][0], flat=3)
    kinds = [(problem.kind, problem.column) for problem in problems_of(frame)]
    assert kinds == [("id", "code"), ("missing", "holes"), ("constant", "flat")]
    assert [(problem.kind, problem.column) for problem in problems_of(pl.DataFrame(frame.to_dict("list")))] == kinds


def test_holes_are_no_problem_where_they_are_treated(good):
    holes = good.assign(holes=UGLY["holes"][0])
    for missing in ("drop", "impute", "bin"):
        assert problems_of(holes, missing=missing) == []


def test_what_cannot_be_repaired_by_an_option_has_no_repair(good):
    short = good[:5]
    assert [problem.kind for problem in problems_of(short)] == ["size"]
    assert repair_of(short, problems_of(short)) is None
    narrow = good[["a"]].assign(code=UGLY["code"][0])
    assert repair_of(narrow, problems_of(narrow)) is None
    twice = pd.DataFrame(np.ones((N, 2)), columns=["a", "a"])
    assert [problem.kind for problem in problems_of(twice)] == ["name"]


def test_the_library_refuses_all_bad_columns_at_once(good):
    with pytest.raises(BadTableError, match="This table has 2 problems:") as caught:
        as_table(good.assign(code=UGLY["code"][0], visit_date=UGLY["visit_date"][0]), categories=True)
    head, *lines = str(caught.value).splitlines()
    assert len(lines) == 2
    assert all(line.startswith("- Column '") for line in lines)
    assert [problem.column for problem in caught.value.problems] == ["code", "visit_date"]
    assert head + "\n" + "\n".join(lines) == as_text(caught.value.problems)


def test_measured_whole_numbers_are_no_row_numbers(good):
    rng = np.random.default_rng(0)
    counts = good.assign(
        counts=rng.poisson(3, N), shuffled=rng.permutation(N), id=rng.integers(0, 5, N), valid=np.arange(N) * 2 % 81
    )
    assert row_numbers(as_table(counts)) == []

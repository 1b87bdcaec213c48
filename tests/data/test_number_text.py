"""Numbers as people write them are read as they are meant, or not at all."""

from __future__ import annotations

import numpy as np
import pandas as pd
import polars as pl
import pytest
from hypothesis import given
from hypothesis import strategies as st

from sartre.data.checks import as_table
from sartre.data.number_text import numbers_in
from sartre.data.read_file import read_table


@pytest.mark.parametrize(
    ("texts", "numbers"),
    [
        (["0,379", "0,5"], [0.379, 0.5]),
        (["$1,562.50", "$3"], [1562.5, 3]),
        (["$1,562", "$900"], [1562, 900]),
        (["1.562 €", "5 €"], [1562, 5]),
        (["1.234,50 €", "2 €"], [1234.5, 2]),
        (["EUR 12", "EUR -3"], [12, -3]),
        (["12 %", "3.5%", "0"], [12, 3.5, 0]),
        (["1 234,5", "12"], [1234.5, 12]),
        (["1\u00a0234,5", "12"], [1234.5, 12]),
        (["1\u202f234,5", "1\u2009000"], [1234.5, 1000]),
        (["1'234.5", "1\u2019000"], [1234.5, 1000]),
        (["1,234,567", "1,000"], [1234567, 1000]),
        (["12,34,567", "1,000"], [1234567, 1000]),
        (["1,5", "2,25"], [1.5, 2.25]),
        (["(300)", "$200"], [-300, 200]),
        (["-$5", "$-5", "\u2212$5"], [-5, -5, -5]),
        ([" $5 ", None, "$6"], [5, np.nan, 6]),
    ],
    ids=str,
)
def test_numbers_with_signs_are_numbers(texts, numbers):
    found = numbers_in(texts)
    assert found is not None
    np.testing.assert_array_equal(found, numbers)


@pytest.mark.parametrize(
    "texts",
    [
        ["5", "7.5"],  # it is not known why they are text
        ["1,234", "5,678"],  # thousands or decimals
        ["12 %", "0.5"],
        ["$5", "€5"],
        ["$5", "five"],
        ["$5", "(5"],
        ["--5 €"],
        ["10-20"],
        ["1/2"],
        ["3 kg"],
        ["12:30"],
        ["2024-01-02"],
        ["1.3.2024"],
        ["1,2,3"],
        ["1.5", "2,5"],
        ["192.168.0.1"],
        ["$"],
        ["%"],
        ["", "$5"],
        [5, "$5"],
        [None],
        [],
    ],
    ids=str,
)
def test_what_can_be_read_in_two_ways_or_in_none_stays_text(texts):
    assert numbers_in(texts) is None


def test_a_known_decimal_mark_settles_what_a_comma_is():
    assert numbers_in(["1,234", "5,678"], decimal=".").tolist() == [1234, 5678]
    assert numbers_in(["1,234", "5,678"], decimal=",").tolist() == [1.234, 5.678]


@given(
    st.lists(st.integers(-(10**9), 10**9), min_size=1, max_size=20),
    st.sampled_from([("${:,}", ","), ("{:,} €", "."), ("{:,} €", " "), ("{:,} USD", "'")]),
)
def test_formatted_prices_come_back(values, form):
    pattern, group = form
    found = numbers_in([pattern.format(value).replace(",", group) for value in values])
    assert found is not None
    assert found.tolist() == values


def test_a_file_with_such_numbers_is_read_with_a_warning_that_says_how(tmp_path):
    rows = "".join(f'"$1,{k:03}.50",{k} %,1 {k:03},{k}\n' for k in range(20))
    (tmp_path / "prices.csv").write_text("price,share,weight,count\n" + rows)
    with pytest.warns(UserWarning, match=r"price \('\$1,000\.50' is 1000\.5\), share \('0 %' is 0\), weight") as caught:
        table = read_table(tmp_path / "prices.csv")
    assert len(caught) == 1
    assert table.dtypes.map(lambda kind: kind.kind).isin(["f", "i"]).all()
    assert table["price"].tolist() == [1000.5 + k for k in range(20)]
    assert table["weight"].tolist() == [1000 + k for k in range(20)]


def test_commas_in_quotes_of_a_file_with_commas_separate_thousands(tmp_path):
    (tmp_path / "a.csv").write_text('a,b\n"1,234",1\n"5,678",2\n')
    with pytest.warns(UserWarning, match=r"a \('1,234' is 1234\)"):
        assert read_table(tmp_path / "a.csv")["a"].tolist() == [1234, 5678]


def test_frames_are_read_alike():
    texts = [f"${k},000" for k in range(1, 13)]
    for frame in (pd.DataFrame({"a": range(12), "b": texts}), pl.DataFrame({"a": range(12), "b": texts})):
        with pytest.warns(UserWarning, match=r"b \('\$1,000' is 1000\)"):
            assert as_table(frame).values[:, 1].tolist() == [1000.0 * k for k in range(1, 13)]


@pytest.mark.parametrize("texts", [["(-3.98)", "$2"], ["+49 30 100 200"], ["1.10.100", "2.10.300"]], ids=str)
def test_what_may_be_no_number_is_left_as_text(texts):
    assert numbers_in(texts) is None


def test_a_known_decimal_mark_settles_prices_of_three_decimals():
    np.testing.assert_array_equal(numbers_in(["$3.976", "$3.459"], decimal="."), [3.976, 3.459])

"""No cell of a written table begins like a formula, and every table is read back as it was."""

from __future__ import annotations

import csv
import io

import numpy as np
import pandas as pd
from hypothesis import given
from hypothesis import strategies as st

from sartre.data.read_file import read_table
from sartre.data.spreadsheet import csv_text, escaped, unescaped, unescaped_table

TEXT = st.text(alphabet="'=+-@ab1\t\r", max_size=6)


@given(TEXT)
def test_every_text_comes_back_and_none_begins_like_a_formula(text):
    assert unescaped(escaped(text)) == text
    assert not escaped(text).startswith(("=", "+", "-", "@", "\t", "\r"))


def test_a_table_comes_back_with_its_names_and_texts():
    names = ["=a", "'=a", "''+b", "'quoted'", "plain", "\t=c", "\r=d"]
    frame = pd.DataFrame([names, names[::-1]], columns=names)
    rows = list(csv.reader(io.StringIO(csv_text(frame), newline="")))
    assert not any(cell.startswith(("=", "+", "-", "@", "\t", "\r")) for row in rows for cell in row)
    again = unescaped_table(pd.DataFrame(rows[1:], columns=rows[0]))
    assert list(again.columns) == names
    assert again.to_numpy().tolist() == frame.to_numpy().tolist()


def test_a_file_with_formulas_is_read_as_it_was_and_negative_numbers_stay_numbers(tmp_path):
    table = pd.DataFrame({"=churn": [-1.5, 2.0], "@group": ["+a", "plain"], "n": [-3, 4]})
    (tmp_path / "table.csv").write_text(csv_text(table), encoding="utf-8")
    assert not any(
        cell[0] in "=+@" for line in (tmp_path / "table.csv").read_text().splitlines() for cell in line.split(",")
    )
    again = read_table(tmp_path / "table.csv")
    assert again.columns.tolist() == table.columns.tolist()
    assert again["@group"].tolist() == ["+a", "plain"]
    np.testing.assert_array_equal(again[["=churn", "n"]], table[["=churn", "n"]])

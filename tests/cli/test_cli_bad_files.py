"""The table of bad files: one sentence or one list, exit code 2, and nothing half-written."""

from __future__ import annotations

import bz2
import gzip
import io
import random
import re
import shlex

import numpy as np
import pandas as pd
import pytest
from command_line import names_in, typed

GOOD = pd.DataFrame({"a": np.arange(20.0) % 7, "b": np.arange(20.0) ** 2 % 11})


def text(**columns) -> bytes:
    """Return the bytes of a CSV file with two good columns and others."""
    return GOOD.assign(**columns).to_csv(index=False).encode()


def sheet(rows) -> bytes:
    """Return the bytes of a spreadsheet."""
    pytest.importorskip("openpyxl")
    buffer = io.BytesIO()
    pd.DataFrame(rows).to_excel(buffer, header=False, index=False)
    return buffer.getvalue()


def stata(frame) -> bytes:
    buffer = io.BytesIO()
    frame.to_stata(buffer, write_index=False)
    return buffer.getvalue()


def noise(n: int) -> bytes:
    return random.Random(0).randbytes(n)  # noqa: S311 - not a secret


DAYS = pd.date_range("2024-01-01", periods=20)
BAD = {  # name of the file, its content (a function where it takes a package), and the sentence or the head of the list
    "empty.csv": (b"", "'empty.csv' is empty"),
    "blank.csv": (b"\n \n\r\n", "'blank.csv' is empty"),
    "noise.csv": (noise(3000), "'noise.csv' has too many columns|'noise.csv' holds binary data"),
    "utf16.csv": (GOOD.to_csv(index=False).encode("utf-16"), "'utf16.csv' holds binary data"),
    "page.csv": (b"<!DOCTYPE html>\n<table><tr><td>1</td></tr></table>\n", "'page.csv' looks like HTML, XML or JSON"),
    "data.json": (b'[{"a": 1, "b": 2}]', "'data.json' looks like HTML, XML or JSON"),
    "one.csv": (b"a\n1\n2\n", "'one.csv' is not a table of several columns"),
    "short.csv": (b"a,b\n1,2\n3,4\n", "At least 10 rows are needed. Got 2"),
    "header.csv": (b"a,b\n", "At least 10 rows are needed. Got 0"),
    "ragged.csv": (
        b"a,b\n" + b"1,2\n" * 20 + b"1,2,3\n",
        "Line 22 of 'ragged.csv' has 3 values, but the first line has 2",
    ),
    "quotes.csv": (b'a,b\n"1,2\n3,4\n', "'quotes.csv'.*check the quotes there"),
    "twice.csv": (b"a,a\n" + b"1,2\n" * 20, "The header of 'twice.csv' repeats 'a'"),
    "index.csv": (GOOD.to_csv().encode(), "The first column of 'index.csv' has no name and looks like a row index"),
    "semicolons.csv": (b"a;b\n1;2\n3;4;5\n", "Line 3 of 'semicolons.csv' has 3 values"),
    "wide.csv": (b"a," * 200_000 + b"b\n", "'wide.csv' has too many columns: 200,001 or more"),
    "text.csv": (text(c=["?", *range(19)]), r"Column 'c' holds '\?' in row 0 .*This would work: .* --exclude c"),
    "ids.csv": (text(c=[f"p{k}" for k in range(20)]), "Column 'c' has 20 levels in 20 rows.*looks like an id"),
    "notes.csv": (text(c=[f"felt well on day {k}" for k in range(20)]), "looks like free text"),
    "dates.csv": (
        text(c=DAYS.astype(str)),
        "Column 'c' holds dates written as text, such as '2024-01-01'.*Convert them",
    ),
    "times.csv": (text(c=DAYS.strftime("%d.%m.%Y %H:%M")), "Column 'c' holds dates written as text"),
    "holes.csv": (
        text(c=[np.nan, *range(19)]),
        "There are missing values.*'c' 1.*This would work: .* --missing impute",
    ),
    "nothing.csv": (text(c=np.nan), "Column 'c' has no values. Leave it out. This would work: .* --exclude c"),
    "infinite.csv": (text(c=[np.inf, *range(19)]), "Column 'c' holds infinity in row 0"),
    "code.csv": (
        text(c=[1e18, *range(19)]),
        "Column 'c' holds 1e[+]18 in row 0 .*looks like a code for missing values",
    ),
    "mixed.csv": (text(c=["$5", "€6"] * 10, d=range(20), e=["1,5", "2.5"] * 10), None),
    "many.csv": (text(c=[f"p{k}" for k in range(20)], d=DAYS.astype(str), e=1, f=[np.nan, *range(19)]), "4 problems:"),
    "cut.csv.gz": (gzip.compress(text())[:-9], "'cut.csv.gz' is not a complete .gz file"),
    "no.csv.gz": (text(), "'no.csv.gz' is not a complete .gz file"),
    "no.csv.bz2": (text(), "'no.csv.bz2' is not a complete .bz2 file"),
    "no.csv.xz": (text(), "'no.csv.xz' is not a complete .xz file"),
    "no.csv.zst": (text(), "'no.csv.zst' (is not a complete .zst file|needs zstandard)"),
    "odd.csv.gz": (gzip.compress(noise(500)), "'odd.csv.gz' (holds binary data|has too many columns)"),
    "ids.csv.bz2": (bz2.compress(text(c=[f"p{k}" for k in range(20)])), "Column 'c' has 20 levels"),
    "no.xlsx": (text(), "'no.xlsx' (is not a complete spreadsheet|needs another package)"),
    "no.xls": (noise(3000), "'no.xls' (is not a complete spreadsheet|needs another package)"),
    "no.ods": (b"PK\x03\x04", "'no.ods' (is not a complete spreadsheet|needs another package)"),
    "title.xlsx": (
        lambda: sheet([["My table", None], ["a", "b"], *GOOD.to_numpy().tolist()]),
        "Column 2 of .* has no name",
    ),
    "days.xlsx": (
        lambda: sheet([["a", "b", "c"], *([k, k % 7, DAYS[k]] for k in range(20))]),
        "Column 'c' holds dates or times.*This would work: .* --exclude a,c|2 problems:|Column 'c' holds dates",
    ),
    "no.parquet": (text(), "'no.parquet' is not a complete Parquet file"),
    "no.feather": (b"", "'no.feather' is not a complete Feather file"),
    "no.dta": (text(), "'no.dta' is not a complete Stata file"),
    "days.dta": (lambda: stata(GOOD.assign(c=DAYS)), "Column 'c' holds dates or times"),
    "no.sas7bdat": (noise(3000), "'no.sas7bdat' is not a complete SAS file"),
    "no.xpt": (noise(3000), "'no.xpt' is not a complete SAS file"),
    "no.sav": (noise(3000), "'no.sav' (is not a complete SPSS file|needs pyreadstat)"),
}


@pytest.mark.parametrize("name", BAD)
def test_a_bad_file_is_one_sentence_or_one_list_and_leaves_nothing(folder, name):
    content, message = BAD[name]
    if name.endswith(("parquet", "feather")):
        pytest.importorskip("pyarrow")
    (folder / name).write_bytes(content() if callable(content) else content)
    result = typed("discover", name)
    assert result.exit_code == 2
    assert result.stdout == ""
    lines = [line for line in result.stderr.splitlines() if not line.startswith("Warning: ")]
    assert lines[0] == f"Reading {name}"
    assert lines[1].startswith("Error: ")
    if lines[1].endswith("problems:"):
        *problems, last = lines[2:]
        assert all(line.startswith("- ") and line.endswith(".") for line in problems)
        assert last.startswith(("This would work: sartre discover ", "- "))
    else:
        assert len(lines) == 2
    assert message is None or re.search(message, result.stderr, re.DOTALL), result.stderr
    assert names_in(folder) == [name]
    assert sum(line.startswith("Error") for line in lines) == 1


@pytest.mark.parametrize(
    "name", ["ids.csv", "many.csv", "dates.csv", "holes.csv", "nothing.csv", "text.csv", "code.csv"]
)
def test_the_command_in_the_message_works(folder, name):
    (folder / name).write_bytes(BAD[name][0])
    command = typed("discover", name).stderr.strip().partition("This would work: sartre ")[2]
    result = typed(*shlex.split(command), "--order", "RandomOrder", "--prune", "CAMPruning")
    assert result.exit_code == 0, result.stderr


@pytest.mark.parametrize("command", [["discover"], ["prune", "--order-of", "a,b"], ["plan"]])
def test_garbage_of_any_kind_is_never_an_unexpected_failure(folder, command):
    rng = random.Random(0)  # noqa: S311
    for trial, suffix in enumerate(
        ["csv", "tsv", "csv.gz", "csv.xz", "dta", "sas7bdat", "xlsx", "parquet", "feather", "dat"] * 2
    ):
        if suffix in ("parquet", "feather"):
            pytest.importorskip("pyarrow")
        if suffix == "xlsx":
            pytest.importorskip("openpyxl")
        path = folder / f"garbage{trial}.{suffix}"
        alphabet = b'0123456789,;\t\n"$%.-eE ab' if trial % 2 else bytes(range(256))
        path.write_bytes(bytes(rng.choices(alphabet, k=rng.randrange(2000))))
        result = typed(*command, path.name)
        assert result.exit_code == 2, (suffix, result.stderr)
        path.unlink()
        assert names_in(folder) == []

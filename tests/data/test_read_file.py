from __future__ import annotations

import errno
import io
import stat
import sys
from pathlib import Path

import numpy as np
import pandas as pd
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from sartre.compute.files import check_destination, made_folder, write_text_atomically, write_texts_atomically
from sartre.data import read_text
from sartre.data.batches import Batches
from sartre.data.checks import as_table
from sartre.data.read_file import read_table

ROWS = [[1.5, -2.0], [3.0, 4e-3]]


@pytest.fixture
def file(tmp_path):
    """Write bytes or text to a file and return its path."""

    def write(content: str | bytes, name: str = "data.csv") -> Path:
        path = tmp_path / name
        path.write_bytes(content if isinstance(content, bytes) else content.encode())
        return path

    return write


@pytest.mark.parametrize(
    "content",
    [
        pytest.param("a,b\n1.5,-2\n3,4e-3\n", id="commas"),
        pytest.param("a;b\n1.5;-2\n3;4e-3\n", id="semicolons"),
        pytest.param("a\tb\n1.5\t-2\n3\t4e-3\n", id="tabs"),
        pytest.param("a|b\n1.5|-2\n3|4e-3\n", id="pipes"),
        pytest.param("a;b\n1,5;-2\n3;4e-3\n", id="decimal commas"),
        pytest.param("a;b\n1,5;-2,0\n3,0;4,0e-3\n", id="decimal commas as frequent as semicolons"),
        pytest.param(b"\xef\xbb\xbfa,b\n1.5,-2\n3,4e-3\n", id="byte order mark"),
        pytest.param(b'\xef\xbb\xbf"a",b\n1.5,-2\n3,4e-3\n', id="byte order mark before a quote"),
        pytest.param("a,b\r\n1.5,-2\r\n3,4e-3\r\n", id="Windows line ends"),
        pytest.param("a,b\r1.5,-2\r3,4e-3\r", id="old Mac line ends"),
        pytest.param("a,b\n1.5,-2\n3,4e-3", id="no last line end"),
        pytest.param('"a","b"\n"1.5","-2"\n"3","4e-3"\n', id="all quoted"),
        pytest.param('a, "b"\n1.5, -2\n3, "4e-3"\n', id="spaces after commas"),
        pytest.param("\n \na,b\n\n1.5,-2\n   \n3,4e-3\n\n\n", id="blank lines"),
    ],
)
def test_every_common_layout_gives_the_same_table(file, content):
    pd.testing.assert_frame_equal(read_table(file(content)), pd.DataFrame(ROWS, columns=["a", "b"]))


@pytest.mark.parametrize(
    ("header", "names"),
    [
        ('"weight, kg",height\n', ["weight, kg", "height"]),
        ('"a;b;c",d\n', ["a;b;c", "d"]),
        ("sp|P1|X,sp|P2|Y\n", ["sp|P1|X", "sp|P2|Y"]),
        ('"two\nlines",b\n', ["two lines", "b"]),
        (' a , "b ""c"""\n', ["a", 'b "c"']),
        ("[Na+],<5um\n", ["[Na+]", "<5um"]),
        ("größe,Δt\n", ["größe", "Δt"]),
        ("2019,b\n", ["2019", "b"]),
    ],
)
def test_names_are_read_as_they_are_meant(file, header, names):
    table = read_table(file(header + "1,2\n3,4\n"))
    assert list(table.columns) == names
    assert table.to_numpy().tolist() == [[1, 2], [3, 4]]


def test_commas_in_unquoted_names_of_a_semicolon_file_are_not_separators(file):
    table = read_table(file("weight, kg, net;height, cm\n1,5;2,5\n"))
    assert list(table.columns) == ["weight, kg, net", "height, cm"]
    assert table.to_numpy().tolist() == [[1.5, 2.5]]


def test_a_comma_in_a_tab_file_is_never_taken_for_a_decimal_mark(file):
    assert read_table(file("a\tb\n1,234\t5\n")).loc[0, "a"] == "1,234"


@pytest.mark.parametrize(
    "content", ["1,2.5\n3,4\n", "1;2,5\n3;4\n", "1;2,5\n3;4,0\n", "1\t2.5\n3\t4\n", "\n1,+2.50e0\n3,4\n"], ids=repr
)
def test_without_a_header_no_row_is_lost_and_a_warning_says_so(file, content):
    with pytest.warns(UserWarning, match=r"data\.csv' has no header.*named x0 to x1"):
        table = read_table(file(content))
    pd.testing.assert_frame_equal(table, pd.DataFrame({"x0": [1, 3], "x1": [2.5, 4.0]}))


@pytest.mark.parametrize("first", ["1,nan", "NA,2", "-inf,2"])
def test_a_missing_value_in_the_first_line_does_not_make_it_a_header(file, first):
    with pytest.warns(UserWarning, match="has no header"):
        assert read_table(file(f"{first}\n3,4\n")).shape == (2, 2)


def test_windows_1252_is_read_with_a_warning(file):
    with pytest.warns(UserWarning, match="not in UTF-8, so it was read as Windows-1252"):
        table = read_table(file("größe,preis €\n1,2\n".encode("cp1252")))
    assert list(table.columns) == ["größe", "preis €"]


@pytest.mark.parametrize(
    ("content", "message"),
    [
        (
            "a,b,a,c,b\n1,2,3,4,5\n",
            r"The header of '.*data\.csv' repeats 'a', 'b'; give every column a unique name",
        ),
        ("a, a\n1,2\n", r"repeats 'a'"),
        (",a,b\n0,1,2\n", r"first column of '.*' has no name and looks like a row index; name it, or write the file"),
        ('"",a,b\n0,1,2\n', r"first column of '.*' has no name"),
        ("Unnamed: 0,a,b\n0,1,2\n", r"first column of '.*' has no name"),
        (",0,1\n0,1,2\n", r"first column of '.*' has no name"),
        ("a,,b\n0,1,2\n", r"Column 2 of '.*' has no name; name it or remove it"),
        ("a,b,\n1,2,\n", r"Column 3 of '.*' has no name"),
        ("a,b\n1,2\n3,4,5\n6,7\n", r"Line 3 of '.*' has 3 values, but the first line has 2; correct that line"),
        ("a,b,c\n1,2,3\n\n4,5\n", r"Line 4 of '.*' has 2 values, but the first line has 3"),
        ("a,b\nr1,1,2\nr2,3,4\n", r"Line 2 of '.*' has 3 values, .* without row names"),
        ('a,b\n1,"2\n3,4\n', r"Line 3 of '.*': .*; check the quotes there"),
        ('a,b\n1,"2"x\n3,4\n', r"Line 2 of '.*': .*; check the quotes there"),
        ("", r"'.*data\.csv' is empty; a table needs one line of names"),
        (b"\xef\xbb\xbf", r"is empty"),
        (" \n\r\n\t\n", r"is empty"),
        (b"a,b\n1,2\n\x00\x00", r"holds binary data .* export it as a CSV file in UTF-8"),
        (b"PK\x03\x04\x14\x00,\n", r"holds binary data"),
        (b"\x89PNG\r\n\x1a\n,\n", r"holds binary data"),
        (b"a,\x81\n1,2\n", r"holds binary data"),
        ("a,b\n1,2\n".encode("utf-16"), r"holds binary data .*UTF-16"),
        ("<!DOCTYPE html>\n<html><body>1,2</body></html>\n", r"looks like HTML, XML or JSON, not a table; export"),
        ('<?xml version="1.0"?><a>1,2</a>\n', r"looks like HTML, XML or JSON"),
        ('{"a": [1, 2], "b": [3, 4]}', r"looks like HTML, XML or JSON"),
        ('[\n  {"a": 1, "b": 2}\n]', r"looks like HTML, XML or JSON"),
        ("[[1, 2], [3, 4]]", r"looks like HTML, XML or JSON"),
        ("just a letter\nto you\n", r"its first line, 'just a letter', has no comma, semicolon, tab or pipe"),
        ("a\n1\n2\n", r"not a table of several columns"),
        ('"a"', r"its first line, 'a', has no comma"),
        ("x" * 200_000, r"Line 1 of '.*': field larger than field limit"),
    ],
    ids=lambda value: repr(value)[:30],
)
def test_anything_but_a_table_is_refused_in_one_sentence(file, content, message):
    with pytest.raises(ValueError, match=message) as caught:
        read_table(file(content))
    assert "\n" not in str(caught.value)
    assert "data.csv" in str(caught.value)
    assert str(caught.value).endswith(".")


@pytest.mark.parametrize("n_columns", [read_text.MAX_COLUMNS + 1, 2_000_000])
def test_an_absurd_number_of_columns_is_refused(file, n_columns):
    path = file(",".join(f"c{j}" for j in range(n_columns)) + "\n")
    with pytest.raises(ValueError, match=rf"has too many columns: {n_columns:,} or more, and at most 100,000"):
        read_table(path)


def test_a_first_line_without_end_is_refused_before_it_is_read(file, monkeypatch):
    monkeypatch.setattr(read_text, "_LONGEST_HEADER", 100)
    with pytest.raises(ValueError, match="too many columns"):
        read_table(file("a," * 60 + "b\n"))
    assert read_table(file("a,b\n" + "1,2\n" * 60)).shape == (60, 2)


def test_a_missing_file_and_a_folder_are_refused_by_name(tmp_path):
    with pytest.raises(FileNotFoundError, match=r"There is no file '.*nope\.csv'; check its name and folder"):
        read_table(tmp_path / "nope.csv")
    with pytest.raises(IsADirectoryError, match="is a folder; name a CSV file in it"):
        read_table(str(tmp_path))
    with pytest.raises(ValueError, match="'/dev/null' is not a regular file"):
        read_table("/dev/null")


@pytest.mark.parametrize(
    ("content", "message"),
    [
        ("a,b\n1,2\n3,?\n", r"Column 'b' holds '\?' in row 1 \(the first row is 0\), but a number is needed"),
        ("a;b\n1,5;2\n3;?\n", r"Column 'b' holds '\?' in row 1"),
        ("a;b\n1,5;2.5\n3;4\n", r"Column 'b' holds numbers written as text, such as '2\.5' in row 0"),
        ("day,b\n2024-01-02,2\n2024-01-03,4\n", r"Column 'day' holds '2024-01-02' in row 0"),
        ("a,b\n1,2\n3,\n", r"Missing values \(NaN\) are not allowed here\. Counts per column: 'b' 1; the first is"),
        ("a,b\n1,2\nNA,4\n", r"Missing values \(NaN\) are not allowed here\. Counts per column: 'a' 1; the first is"),
        ("a,b\n1,2\n3,-inf\n", r"Column 'b' holds infinity in row 1"),
        ("a,b\n1,2\n1e200,4\n", r"Column 'a' holds 1e\+200 \(its square overflows\) in row 1"),
        ("a,b\n1,2\n" + "9" * 400 + ",4\n", r"Column 'a' holds (infinity|'9{40}') in row 1"),
        ("a,b\n", r"At least 1 rows are needed\. Got 0"),
    ],
)
def test_a_bad_value_in_a_file_is_named_by_column_and_row(file, content, message):
    with pytest.raises(ValueError, match=message):
        as_table(read_table(file(content)))


finite = st.floats(-1e100, 1e100)


@settings(max_examples=60, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(
    rows=st.lists(st.tuples(finite, finite, finite), min_size=1, max_size=5),
    names=st.lists(
        st.text(st.characters(exclude_categories=("C", "Z")), min_size=1).map("n".__add__),
        min_size=3,
        max_size=3,
        unique=True,
    ),
    separator=st.sampled_from(",;\t|"),
    decimal_comma=st.booleans(),
    line_end=st.sampled_from(["\n", "\r\n"]),
)
def test_a_table_that_pandas_wrote_comes_back(tmp_path, rows, names, separator, decimal_comma, line_end):
    frame = pd.DataFrame(rows, columns=names, dtype=float)
    decimal = "," if separator == ";" and decimal_comma else "."
    path = tmp_path / "round.csv"
    frame.to_csv(path, sep=separator, decimal=decimal, lineterminator=line_end, index=False)
    table = read_table(path)
    assert list(table.columns) == names
    np.testing.assert_allclose(table.to_numpy(dtype=float), frame.to_numpy(), rtol=1e-15)


def test_writing_replaces_the_file_and_leaves_nothing_else(tmp_path):
    path = tmp_path / "graph.json"
    write_text_atomically(path, "old")
    write_text_atomically(str(path), "größe\n")
    assert path.read_bytes() == "größe\n".encode()
    assert [entry.name for entry in tmp_path.iterdir()] == ["graph.json"]
    ordinary = tmp_path / "ordinary"
    ordinary.touch()
    assert stat.S_IMODE(path.stat().st_mode) == stat.S_IMODE(ordinary.stat().st_mode)


@pytest.mark.parametrize("step", ["write_text", "replace"])
@pytest.mark.parametrize("failure", [OSError("disk full"), KeyboardInterrupt()])
def test_a_failed_write_keeps_the_old_file_and_leaves_nothing(tmp_path, monkeypatch, step, failure):
    path = tmp_path / "graph.json"
    path.write_text("old")
    original = getattr(Path, step)

    def fail(self, *args, **options):
        if step == "write_text":
            original(self, *args, **options)  # the file exists when this fails
        raise failure

    monkeypatch.setattr(Path, step, fail)
    with pytest.raises(type(failure)):
        write_text_atomically(path, "new")
    monkeypatch.undo()
    assert path.read_text() == "old"
    assert [entry.name for entry in tmp_path.iterdir()] == ["graph.json"]


def test_writing_through_a_link_keeps_the_link(tmp_path):
    target, link = tmp_path / "target.json", tmp_path / "link.json"
    target.write_text("old")
    link.symlink_to(target)
    write_text_atomically(link, "new")
    assert link.is_symlink()
    assert target.read_text() == "new"


def test_a_place_that_cannot_be_written_is_refused_beforehand(tmp_path, monkeypatch):
    with pytest.raises(IsADirectoryError, match="is a folder; name a file to write"):
        check_destination(tmp_path)
    with pytest.raises(FileNotFoundError, match=r"no folder '.*nope' to write 'graph\.json' in; create it first"):
        check_destination(tmp_path / "nope" / "graph.json")
    with pytest.raises(ValueError, match="not a regular file"):
        check_destination("/dev/null")
    data = tmp_path / "data.csv"
    data.touch()
    with pytest.raises(ValueError, match="is the input file; name another file"):
        check_destination(tmp_path / "." / "data.csv", data)
    check_destination(tmp_path / "graph.json", data)
    monkeypatch.setattr("os.access", lambda *_: False)
    with pytest.raises(PermissionError, match="is not writable; choose another"):
        check_destination(tmp_path / "graph.json")


def test_pandas_default_names_are_a_header(tmp_path):
    file = tmp_path / "numbered.csv"
    pd.DataFrame(np.arange(6.0).reshape(2, 3)).to_csv(file, index=False)
    table = read_table(file)
    assert table.columns.tolist() == ["0", "1", "2"]
    assert len(table) == 2


# Streams, Parquet and Feather, folders, several files at once


class Named(io.BytesIO):
    name = "<stdin>"


def test_a_stream_is_read_as_a_file_is_and_named_in_messages():
    stream = Named(b"a,b\n1.5,-2\n3,4e-3\n")
    pd.testing.assert_frame_equal(read_table(stream), pd.DataFrame(ROWS, columns=["a", "b"]))
    with pytest.raises(ValueError, match="'<stdin>' is empty; "):
        read_table(Named(b""))


@pytest.mark.parametrize(("suffix", "write"), [("parquet", "to_parquet"), ("feather", "to_feather")])
def test_parquet_and_feather_come_back_and_a_damaged_one_is_refused(tmp_path, suffix, write):
    frame = pd.DataFrame({"a": [1.5, np.nan], "b": ["x", "y"]})
    path = tmp_path / f"data.{suffix}"
    getattr(frame, write)(path)
    pd.testing.assert_frame_equal(read_table(path), frame)
    path.write_bytes(path.read_bytes()[:-9])
    with pytest.raises(ValueError, match=rf"data\.{suffix}' is not a complete {suffix.title()} file; write it again"):
        read_table(path)
    path.write_bytes(b"")
    with pytest.raises(ValueError, match="is not a complete"):
        read_table(path)


def test_without_pyarrow_the_remedy_is_stated(tmp_path, monkeypatch):
    (tmp_path / "data.parquet").touch()
    monkeypatch.setitem(sys.modules, "pyarrow", None)
    with pytest.raises(ImportError, match=r'needs pyarrow; install it with: pip install "sartre\[arrow\]"'):
        read_table(tmp_path / "data.parquet")


def test_a_header_that_is_too_wide_is_refused_before_the_rest_is_read(file):
    path = file(b"a," * read_text.MAX_COLUMNS + b"b\n\x00\x81\n")  # the rest would be refused for other reasons
    with pytest.raises(ValueError, match="too many columns: 100,001 or more"):
        read_table(path)


def test_a_folder_made_for_results_is_removed_if_there_are_none(tmp_path):
    with pytest.raises(ValueError, match="no result"), made_folder(tmp_path / "a" / "b"):
        raise ValueError(f"no result in {next((tmp_path / 'a').iterdir())}")
    assert not (tmp_path / "a").exists()
    with made_folder(tmp_path / "a" / "b"):
        (tmp_path / "a" / "b" / "result").touch()
    assert (tmp_path / "a" / "b" / "result").exists()
    with pytest.raises(NotADirectoryError, match="is a file; name a folder"), made_folder(tmp_path / "a/b/result"):
        pass


def test_none_of_several_files_is_replaced_if_one_fails(tmp_path, monkeypatch):
    for name in ("one", "two"):
        (tmp_path / name).write_text("old")
    original = Path.write_text

    def fill_up(self, text, **options):
        original(self, text[:1], **options)
        if text == "second":
            raise OSError(errno.ENOSPC, "No space left on device")

    monkeypatch.setattr(Path, "write_text", fill_up)
    with pytest.raises(OSError, match=r"No space left on device: '.*two'"):
        write_texts_atomically({tmp_path / "one": "first", tmp_path / "two": "second"})
    assert {path.name: path.read_text() for path in tmp_path.iterdir()} == {"one": "old", "two": "old"}


def test_commas_that_may_separate_thousands_give_a_warning_with_both_readings(file):
    with pytest.warns(UserWarning, match=r"'1,966' in line 3 is 1\.966, not 1966\. If they separate thousands, remove"):
        table = read_table(file("a;b\n950;1\n1,966;2\n12,500;3\n"))
    assert table["a"].tolist() == [950.0, 1.966, 12.5]


@pytest.mark.parametrize("value", ["1,5", "0,966", "1,9660", "1234,567", ",966"])
def test_one_comma_that_cannot_separate_thousands_settles_all(file, value):
    table = read_table(file(f"a;b\n1,966;{value}\n2,966;1\n"))  # a warning would be an error
    assert table["a"].tolist() == [1.966, 2.966]


@pytest.mark.parametrize("suffix", ["parquet", "folder"])
def test_parquet_with_repeated_names_is_refused_for_its_names(tmp_path, suffix):
    pa = pytest.importorskip("pyarrow")
    from pyarrow import parquet  # noqa: PLC0415 - an extra

    repeated = pa.table([[1.0, 2.0], [3.0, 4.0]], names=["a", "a"])
    parquet.write_table(repeated, tmp_path / "data.parquet")
    with pytest.raises(
        ValueError, match=r"The header of '.*data\.parquet' repeats 'a'; give every column a unique name"
    ):
        read_table(tmp_path / "data.parquet") if suffix == "parquet" else list(Batches(tmp_path))


def test_a_read_error_names_what_was_read():
    class Broken(io.BytesIO):
        name = "broken.csv"

        def read(self, *_):
            raise OSError(errno.EIO, "Input/output error")

    with pytest.raises(OSError, match=r"Input/output error: 'broken\.csv'"):
        read_table(Broken())

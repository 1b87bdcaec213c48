"""Every kind of file gives the same table, and a damaged one is refused in one sentence."""

from __future__ import annotations

import bz2
import gzip
import lzma
import sys
from pathlib import Path

import numpy as np
import pandas as pd
import pytest

from sartre.data import compression, read_arrow, read_text
from sartre.data.batches import Batches
from sartre.data.file_names import stem
from sartre.data.read_file import in_batches, peek, read_table


@pytest.fixture
def frame():
    rng = np.random.default_rng(0)
    return pd.DataFrame({"a": rng.normal(size=30), "b": rng.integers(0, 9, 30), "c": ["x", "y", "z"] * 10})


def zstd(content: bytes) -> bytes:
    return pytest.importorskip("zstandard").compress(content)


# Compressed text


@pytest.mark.parametrize(
    ("suffix", "pack"), [("gz", gzip.compress), ("bz2", bz2.compress), ("xz", lzma.compress), ("zst", zstd)]
)
def test_compressed_text_is_text_and_a_damaged_file_is_named(tmp_path, frame, suffix, pack):
    content = frame.to_csv(index=False).encode()
    path = tmp_path / f"cells.csv.{suffix}"
    path.write_bytes(pack(content))
    pd.testing.assert_frame_equal(read_table(path), frame)
    head, n = peek(path)
    assert (list(head.columns), n) == (["a", "b", "c"], 30)
    path.write_bytes(pack(content[:100]) + pack(content[100:]))  # several parts, one after the other
    pd.testing.assert_frame_equal(read_table(path), frame)
    for damaged in (pack(content)[:-20], pack(content) + pack(content)[:30], b"a,b\n1,2\n"):
        path.write_bytes(damaged)
        with pytest.raises(
            ValueError, match=rf"cells\.csv\.{suffix}' is not a complete \.{suffix} file; compress it again"
        ):
            read_table(path)


def test_without_zstandard_the_remedy_is_stated(tmp_path, monkeypatch):
    (tmp_path / "a.csv.zst").write_bytes(b"")
    for name in ("zstandard", "compression.zstd"):
        monkeypatch.setitem(sys.modules, name, None)
    with pytest.raises(ImportError, match=r'needs zstandard; install it with: pip install "sartre\[zstd\]"'):
        read_table(tmp_path / "a.csv.zst")


def test_a_text_is_opened_once(tmp_path, frame, monkeypatch):
    path = tmp_path / "cells.csv"
    frame.to_csv(path, index=False)
    original, opened = Path.open, []

    def counted(self, *args, **options):
        opened.append(self)
        return original(self, *args, **options)

    monkeypatch.setattr(Path, "open", counted)
    pd.testing.assert_frame_equal(read_table(path), frame)
    assert opened == [path]


# Spreadsheets


@pytest.fixture
def book(tmp_path, frame):
    pytest.importorskip("openpyxl")
    path = tmp_path / "book.xlsx"
    with pd.ExcelWriter(path) as writer:
        frame.to_excel(writer, sheet_name="cells", index=False)
        frame[["b", "a"]].to_excel(writer, sheet_name="others", index=False, startrow=2, startcol=1)
    return path


def test_a_sheet_is_chosen_by_name_or_number(book, frame):
    with pytest.warns(UserWarning, match=r"book\.xlsx' has 2 sheets, and 'cells' was read, the first of cells, others"):
        pd.testing.assert_frame_equal(read_table(book), frame)
    for sheet in ("others", 2, "2"):
        pd.testing.assert_frame_equal(read_table(book, sheet=sheet), frame[["b", "a"]])
    for sheet in ("oters", 3, 0, "-1"):
        with pytest.raises(ValueError, match=rf"has no sheet '{sheet}'; its sheets are cells, others, numbered from 1"):
            read_table(book, sheet=sheet)
    with pytest.raises(ValueError, match=r"Did you mean 'others'\?"):
        read_table(book, sheet="oters")
    with pytest.raises(ValueError, match="Only spreadsheets"):
        read_table(__file__, sheet="cells")


def sheet_of(rows, folder):
    pytest.importorskip("openpyxl")
    path = folder / "odd.xlsx"
    pd.DataFrame(rows).to_excel(path, header=False, index=False)
    return path


@pytest.mark.parametrize(
    ("rows", "message"),
    [
        ([], "is empty"),
        ([["a"], [1], [2]], "not a table of several columns"),
        ([["a", None], [1, 2], [3, 4]], "Column 2 of '.*odd.xlsx, sheet Sheet1' has no name"),
        ([[None, "a"], [1, 2], [3, 4]], "The first column of '.*' has no name and looks like a row index"),
        ([["a", "a"], [1, 2], [3, 4]], "repeats 'a'"),
    ],
)
def test_a_sheet_that_is_no_table_is_refused(tmp_path, rows, message):
    with pytest.raises(ValueError, match=message):
        read_table(sheet_of(rows, tmp_path))


def test_a_sheet_without_names_and_with_empty_rows_is_read(tmp_path):
    with pytest.warns(UserWarning, match="has no header"):
        table = read_table(sheet_of([[1, 2.5], [None, None], [3, 4.5]], tmp_path))
    pd.testing.assert_frame_equal(table, pd.DataFrame({"x0": [1.0, 3.0], "x1": [2.5, 4.5]}))


def test_numbers_and_dates_of_a_sheet_keep_their_types(tmp_path):
    rows = [["price", "day", "n"], *([f"${k},100", pd.Timestamp(2024, 1, k), k] for k in range(1, 13))]
    with pytest.warns(UserWarning, match="price"):
        table = read_table(sheet_of(rows, tmp_path))
    assert [kind.kind for kind in table.dtypes] == ["f", "M", "i"]


@pytest.mark.parametrize("suffix", ["xlsx", "xlsm"])
@pytest.mark.parametrize("content", [b"", b"a,b\n1,2\n", b"PK\x03\x04 no more"])
def test_a_damaged_spreadsheet_is_refused(tmp_path, suffix, content):
    pytest.importorskip("openpyxl")
    path = tmp_path / f"book.{suffix}"
    path.write_bytes(content)
    with pytest.raises(ValueError, match="is not a complete spreadsheet without a password"):
        read_table(path)


def test_without_a_reader_of_spreadsheets_the_remedy_is_stated(tmp_path, monkeypatch):
    (tmp_path / "book.xlsx").write_bytes(b"PK")
    monkeypatch.setitem(sys.modules, "openpyxl", None)
    with pytest.raises(ImportError, match=r'install it with: pip install "sartre\[excel\]", or export a CSV file'):
        read_table(tmp_path / "book.xlsx")


# SAS, Stata, SPSS


def test_stata_files_come_back_with_labels_as_categories(tmp_path, frame):
    path = tmp_path / "cells.dta"
    frame.assign(d=pd.Categorical(frame["c"])).to_stata(path, write_index=False)
    table = read_table(path)
    np.testing.assert_allclose(table["a"], frame["a"])
    assert table["c"].tolist() == frame["c"].tolist()
    assert table["d"].tolist() == frame["c"].tolist()
    assert not table["d"].cat.ordered


def test_stata_values_of_which_only_some_have_labels_stay_numbers(tmp_path, frame):
    path = tmp_path / "cells.dta"
    labels = {"b": {8: "not known"}}
    frame[["a", "b"]].assign(b=frame["b"].astype("int32")).to_stata(path, write_index=False, value_labels=labels)
    assert read_table(path)["b"].tolist() == frame["b"].tolist()


def test_spss_files_come_back(tmp_path, frame):
    pyreadstat = pytest.importorskip("pyreadstat")
    pyreadstat.write_sav(frame, tmp_path / "cells.sav")
    table = read_table(tmp_path / "cells.sav")
    np.testing.assert_allclose(table["a"], frame["a"])
    assert table["c"].tolist() == frame["c"].tolist()


@pytest.mark.parametrize(("suffix", "kind"), [("dta", "Stata"), ("sas7bdat", "SAS"), ("xpt", "SAS"), ("sav", "SPSS")])
@pytest.mark.parametrize("content", [b"", b"a,b\n1,2\n", bytes(range(256)) * 20])
def test_a_damaged_file_of_a_statistics_program_is_refused(tmp_path, suffix, kind, content):
    if suffix == "sav":
        pytest.importorskip("pyreadstat")
    path = tmp_path / f"cells.{suffix}"
    path.write_bytes(content)
    with pytest.raises(ValueError, match=rf"cells\.{suffix}' is not a complete {kind} file; write it again, or export"):
        read_table(path)


# Text in blocks


@pytest.fixture
def small_blocks(monkeypatch):
    monkeypatch.setattr(read_text, "_BLOCK", 100)


@pytest.mark.usefixtures("small_blocks")
@pytest.mark.parametrize("suffix", ["csv", "csv.gz"])
def test_blocks_of_a_text_are_its_rows(tmp_path, frame, suffix):
    path = tmp_path / f"cells.{suffix}"
    frame[["a", "b"]].to_csv(path, index=False)
    batches = Batches(path)
    for _ in range(2):
        blocks = list(batches)
        assert len(blocks) > 5
        np.testing.assert_array_equal(np.vstack(blocks), frame[["a", "b"]])
    assert batches.names == ("a", "b")


@pytest.mark.usefixtures("small_blocks")
@pytest.mark.parametrize(
    ("rows", "message"),
    [
        (["1,2"] * 90 + ["1,2,3"], r"Line 92 of '.*long\.csv' has 3 values, but the first line has 2"),
        (["1,2"] * 90 + ['"1","2'], r"Line 92 of '.*long\.csv': .*check the quotes"),
        (["1,2"] * 90 + ["1,x"], r"Column 'b' holds|Column 'b' has"),
        (["1,2"] * 90 + ["1,\x00"], "holds binary data"),
        (["1,2"] * 90 + ["1,"], r"In the batch that starts at row .*column 'b'"),
    ],
    ids=lambda value: value[-10:] if isinstance(value, str) else "rows",
)
def test_a_bad_line_far_down_is_refused_with_its_place(tmp_path, rows, message):
    (tmp_path / "long.csv").write_text("a,b\n" + "\n".join(rows) + "\n")
    with pytest.raises(ValueError, match=message):
        list(Batches(tmp_path / "long.csv"))


@pytest.mark.usefixtures("small_blocks")
def test_line_ends_in_quotes_do_not_end_a_block(tmp_path):
    rows = "".join(f'"{k}\n",{k}\n' for k in range(60))
    (tmp_path / "quotes.csv").write_text('"a\nname",b\n' + rows)
    values = np.vstack(list(Batches(tmp_path / "quotes.csv")))
    assert values[:, 1].tolist() == list(range(60))
    assert values[:, 0].tolist() == list(range(60))


def test_only_large_texts_are_read_in_batches(tmp_path, frame, monkeypatch):
    for name in ("cells.csv", "cells.csv.gz", "cells"):
        frame[["a", "b"]].to_csv(tmp_path / name, index=False)
        assert not in_batches(tmp_path / name)
    monkeypatch.setattr(read_arrow, "_LARGE", 400)
    assert all(in_batches(tmp_path / name) for name in ("cells.csv", "cells.csv.gz", "cells"))
    assert not in_batches(tmp_path / "nowhere.csv")


def test_a_long_compressed_text_has_an_estimated_number_of_rows(tmp_path, monkeypatch):
    rng = np.random.default_rng(0)
    pd.DataFrame(rng.normal(size=(2000, 3)), columns=list("abc")).to_csv(tmp_path / "long.csv.gz", index=False)
    monkeypatch.setattr("sartre.data.read_file._HEAD", 3000)
    frame, n = peek(tmp_path / "long.csv.gz")
    assert len(frame) < 100
    assert 1000 < n < 6000
    assert compression.is_compressed(tmp_path / "long.csv.gz")


@pytest.mark.parametrize(
    ("source", "name"),
    [
        ("cells.csv", "cells"),
        ("a/b/cells.CSV.GZ", "cells"),
        ("cells.sas7bdat", "cells"),
        ("cells", "cells"),
        ("parts/", "parts"),
        ("v1.2.csv", "v1.2"),
        (".csv", "csv"),
        ("C-reactive protein.xlsx", "C-reactive protein"),
    ],
)
def test_results_are_named_after_the_table(source, name):
    assert stem(source) == name

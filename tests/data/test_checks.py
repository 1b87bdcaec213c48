from __future__ import annotations

import datetime as dt
import warnings
from decimal import Decimal
from fractions import Fraction

import narwhals as nw
import numpy as np
import pandas as pd
import polars as pl
import pytest
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra import numpy as hnp
from scipy import sparse

from sartre.data.checks import as_table, check_unique, default_names, read_columns
from sartre.data.table import Table
from sartre.knowledge.masks import check_edges, check_order
from sartre.settings import check_choice, check_number, seed_of

VALUES = [[1.0, 0.0], [2.5, 1.0], [3.0, 0.0]]
NAMES = ["a", "b", "c"]
COLUMNS = {"a": [1.0, 2.5, 3.0], "b": [0, 1, 0]}
DAY = dt.date(2024, 1, 2)

tables = hnp.arrays(
    np.float64, hnp.array_shapes(min_dims=2, max_dims=2, max_side=6), elements=st.floats(-1e6, 1e6).map(round)
)


def quiet(X, **options) -> Table:
    """Check a table, ignoring warnings about constant or duplicated columns."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", UserWarning)
        return as_table(X, **options)


def column(values, dtype=None) -> pd.DataFrame:
    """Put a column 'b' next to a good one."""
    return pd.DataFrame({"a": np.arange(len(values)) ** 2.0, "b": pd.Series(values, dtype=dtype)})


# Tables that are read


@pytest.mark.parametrize(
    "X",
    [
        pytest.param(pd.DataFrame(COLUMNS), id="pandas"),
        pytest.param(pd.DataFrame(COLUMNS, index=["u", "v", "u"]), id="pandas with any index"),
        pytest.param(pd.DataFrame(COLUMNS).astype("float32"), id="single precision"),
        pytest.param(pd.DataFrame(COLUMNS).astype({"a": "Float64", "b": "Int64"}), id="nullable"),
        pytest.param(pd.DataFrame(COLUMNS).astype({"b": "boolean"}), id="nullable booleans"),
        pytest.param(pd.DataFrame(COLUMNS).astype({"b": bool}), id="booleans"),
        pytest.param(pd.DataFrame(COLUMNS).astype(object), id="objects"),
        pytest.param(pd.DataFrame(COLUMNS).astype({"b": pd.SparseDtype("int", 0)}), id="sparse column"),
        pytest.param(pd.DataFrame({"a": [Decimal(1), Decimal("2.5"), 3], "b": [0, Fraction(1), False]}), id="decimals"),
        pytest.param(pl.DataFrame(COLUMNS), id="polars"),
        pytest.param(pl.DataFrame(COLUMNS).with_columns(pl.col("b").cast(pl.Boolean)), id="polars booleans"),
        pytest.param(pl.DataFrame(COLUMNS).with_columns(pl.col("a").cast(pl.Decimal(5, 1))), id="polars decimals"),
        pytest.param(pl.DataFrame(COLUMNS).with_columns(pl.col("b").cast(pl.UInt8)), id="polars small integers"),
    ],
)
def test_any_data_frame_gives_the_same_table_and_keeps_its_names(X):
    table = as_table(X)
    assert table.names == ("a", "b")
    assert table.values.tolist() == VALUES
    assert table.values.dtype == np.float64
    assert table.values.flags.f_contiguous


def test_arrow_columns_and_arrow_tables_are_read():
    pa = pytest.importorskip("pyarrow")
    frame = pd.DataFrame(COLUMNS)
    for X in (frame.convert_dtypes(dtype_backend="pyarrow"), pa.table(COLUMNS), pa.table({"a": [1, 2], "b": [1, 2]})):
        assert quiet(X).names == ("a", "b")
    with pytest.raises(ValueError, match=r"the first is in row 1 .*column 'a'"):
        as_table(pa.table({"a": [1, None], "b": [1, 3]}))


@pytest.mark.parametrize(
    "X",
    [
        VALUES,
        tuple(map(tuple, VALUES)),
        np.array(VALUES),
        np.array(VALUES, dtype=np.float16),
        np.array(VALUES, dtype=object),
        np.asfortranarray(VALUES),
        np.array(VALUES)[::-1][::-1],
        np.ma.array(VALUES),
    ],
)
def test_a_plain_array_or_list_gets_names(X):
    table = as_table(X)
    assert table.names == ("x0", "x1")
    assert table.values.tolist() == VALUES
    assert table.values.flags.f_contiguous


@pytest.mark.parametrize("dtype", ["float64", "float32", "int8", "uint16", "bool"])
def test_the_table_is_a_copy(dtype):
    X = np.asfortranarray(np.eye(3, 2), dtype=dtype)
    table = as_table(X)
    X[0, 0] = 0
    assert table.values[0, 0] == 1.0


def test_names_become_strings():
    assert as_table(pd.DataFrame(VALUES)).names == ("0", "1")
    assert as_table(pd.DataFrame(VALUES, columns=[3, "x"])).names == ("3", "x")


def test_a_table_is_returned_unchanged_and_without_a_second_warning():
    table = quiet([[1.0, 1.0, 7.0], [2.0, 2.0, 7.0]])
    assert as_table(table) is table
    with pytest.raises(ValueError, match=r"At least 10 rows are needed. Got 2"):
        as_table(table, min_rows=10)


@given(tables)
def test_a_frame_and_an_array_give_the_same_values(X):
    names = default_names(X.shape[1])
    from_array, from_frame = quiet(X), quiet(pd.DataFrame(X, columns=names))
    assert from_array.names == from_frame.names == tuple(names)
    assert np.array_equal(from_array.values, X)
    assert np.array_equal(from_frame.values, X)


# Tables that are refused


@pytest.mark.parametrize(
    ("X", "kind", "message"),
    [
        (column([1, "?", 3]), ValueError, r"Column 'b' holds '\?' in row 1 .*number is needed. Correct the value"),
        (column(["1", "2", "x"]), ValueError, r"Column 'b' holds 'x' in row 2 .*leave the column out"),
        (column(["1", "2", "3"]), ValueError, r"Column 'b' holds numbers written as text, such as '1' in .*Convert"),
        (column([4, "5", 6], object), ValueError, r"written as text, such as '5' in row 1"),
        (column([DAY] * 3), ValueError, r"Column 'b' holds '2024-01-02' in row 0 .*but a number is needed"),
        (column([1, pd.NaT, 3], object), ValueError, r"Column 'b' holds 'NaT' in row 1 .*but a number is needed"),
        (column([1j, 2, 3]), ValueError, r"Column 'b' holds '1j' in row 0 .*but a number is needed"),
        (column([1, [2], 3]), ValueError, r"Column 'b' holds '\[2\]' in row 1"),
        (column(pd.date_range("2024", periods=3)), TypeError, "Column 'b' holds dates or times.*Convert them"),
        (column(pd.to_timedelta([1, 2, 4], unit="D")), TypeError, "Column 'b' holds dates or times"),
        (column(["u", "v", "u"], "category"), TypeError, "Column 'b' is of type Categorical.*Code it as numbers"),
        (pl.DataFrame({"a": ["1", "?"], "b": [1, 2]}), ValueError, r"Column 'a' holds '\?' in row 1"),
        (pl.DataFrame({"a": [DAY, DAY], "b": [1, 2]}), TypeError, "Column 'a' holds dates or times"),
        (pl.DataFrame({"a": [[1], [2]], "b": [1, 2]}), TypeError, r"Column 'a' is of type List.*leave the column out"),
        ([["u", 2], [3, 4]], ValueError, "Column 'x0' holds 'u' in row 0"),
        (np.array([[b"u", b"2"]]), ValueError, "Column 'x0' holds 'b'u'' in row 0"),
        ([[1, 2], [3]], ValueError, "Every row of a table must have the same number of values"),
        ([1, 2, 3], ValueError, "two dimensions, rows and columns. Got 1. Reshape it"),
        (np.zeros((2, 2, 2)), ValueError, "two dimensions, rows and columns. Got 3. Reshape it"),
        (np.ones((3, 2)) * 1j, TypeError, "table of real numbers is needed. Got an array of dtype complex128"),
        (np.zeros((3, 2), dtype="M8[D]"), TypeError, r"Got an array of dtype datetime64\[D\]"),
        (sparse.csr_array(np.eye(3)), TypeError, r"Got a sparse matrix; pass X.toarray\(\)"),
        (pl.LazyFrame({"a": [1.0], "b": [2.0]}), TypeError, "an eager data frame. Got LazyFrame"),
        (None, TypeError, "A table is needed.*Got NoneType"),
        ("data.csv", TypeError, "A table is needed.*Got str"),
        ({"a": [1, 2]}, TypeError, "A table is needed.*Got dict"),
        (pd.DataFrame(VALUES, columns=["a", "a"]), ValueError, "Repeated: a. Rename them"),
        (pd.DataFrame(VALUES, columns=[1, "1"]), ValueError, "Repeated: 1. Rename them"),
    ],
    ids=lambda value: None if isinstance(value, str) else type(value).__name__,
)
def test_anything_but_a_table_of_numbers_is_refused_with_place_and_remedy(X, kind, message):
    with pytest.raises(kind, match=message):
        as_table(X)


@pytest.mark.parametrize(
    "X",
    [
        column([1, np.nan, 3]),
        column([1, None, 3], object),
        column([1, pd.NA, 3], object),
        column([1, None, 3], "Int64"),
        column([True, None, False], "boolean"),
        pl.DataFrame({"a": [1, 2, 4], "b": [1, None, 3]}),
        pl.DataFrame({"a": [1, 2, 4], "b": [True, None, False]}),
    ],
)
def test_a_missing_value_of_any_kind_is_named_by_column_and_row(X):
    message = (
        r"NaN\) are not allowed here. Counts per column: 'b' 1; the first is in row 1 \(the first row is 0\), "
        "column 'b'. Drop those rows or impute"
    )
    with pytest.raises(ValueError, match=message):
        as_table(X)


def test_a_masked_value_is_missing():
    with pytest.raises(ValueError, match=r"'x1' 1; the first is in row 1 .*, column 'x1'"):
        as_table(np.ma.array([[1, 2], [3, 4]], mask=[[0, 0], [0, 1]]))


def test_missing_values_are_counted_by_column():
    X = np.ones((4, 7))
    X[1:, [0, 2, 3, 4, 5, 6]] = np.nan
    with pytest.raises(ValueError, match="'x0' 3, 'x2' 3, 'x3' 3, 'x4' 3, 'x5' 3 and 1 more; the first is in row 1"):
        as_table(X)


@pytest.mark.parametrize(
    ("value", "what"),
    [
        (np.inf, "infinity"),
        (-np.inf, "infinity"),
        (1e151, r"1e\+151 \(its square overflows\)"),
        (-1e300, r"-1e\+300 \(its square overflows\)"),
        (10**400, "infinity"),
    ],
)
def test_a_value_past_the_range_is_named_by_column_and_row(value, what):
    X = pd.DataFrame({"a": [1.0, 2.0, 4.0], "b": pd.Series([0, 1, value], dtype=object)})
    message = rf"Column 'b' holds {what} in row 2 \(the first row is 0\)\. Correct the value or rescale the column"
    with pytest.raises(ValueError, match=message):
        as_table(X)


def test_a_column_whose_variance_would_vanish_is_refused():
    with pytest.raises(ValueError, match=r"Column 'x1' varies by only 1e-200.*Rescale the column"):
        as_table([[1.0, 1e-200], [3.0, 2e-200]])


def test_values_at_the_edge_of_the_range_are_taken():
    table = as_table([[1e150, 0.0], [-1e150, 1e-150]])
    assert table.standardized().values.tolist() == [[1.0, -1.0], [-1.0, 1.0]]


def test_too_few_rows_or_columns_are_refused():
    with pytest.raises(ValueError, match=r"At least 4 rows are needed. Got 3. Provide more samples"):
        as_table(VALUES, min_rows=4)
    with pytest.raises(ValueError, match=r"At least 3 columns are needed. Got 2: x0, x1. Provide more variables"):
        as_table(VALUES, min_columns=3)
    with pytest.raises(ValueError, match=r"At least 1 columns are needed. Got 0: none"):
        as_table(pd.DataFrame(index=range(3)))
    with pytest.raises(ValueError, match=r"At least 1 rows are needed. Got 0"):
        as_table(pd.DataFrame({"a": [], "b": []}))
    assert as_table(VALUES, min_rows=3, min_columns=2).shape == (3, 2)


# Warnings


def test_constant_columns_work_with_one_warning():
    X = pd.DataFrame({"a": [1.0, 2.0], "flat": [3.0, 3.0], "level": [0.1, 0.1]})
    with pytest.warns(UserWarning, match="neither causes nor effects: flat, level") as caught:
        table = as_table(X)
    assert len(caught) == 1
    assert table.constant.tolist() == [False, True, True]


def test_duplicated_columns_work_with_one_warning():
    X = pd.DataFrame({"a": [0.0, 2.0], "b": [-0.0, 2.0], "c": [0.0, 3.0], "d": [0.0, 2.0]})
    with pytest.warns(UserWarning, match="Duplicated columns .*: b = a, d = a. .*Keep one of each") as caught:
        as_table(X)
    assert len(caught) == 1


def test_a_warning_points_at_the_caller_of_fit():
    def fit():
        as_table([[1.0, 3.0], [2.0, 3.0]])

    with pytest.warns(UserWarning, match="Constant") as caught:
        fit()
    assert caught[0].filename == __file__
    assert caught[0].lineno > fit.__code__.co_firstlineno + 1  # the line that calls fit, not a line inside it


# The table


@given(tables)
def test_standardized_columns_have_mean_zero_and_variance_one(X):
    table = quiet(X)
    standard = table.standardized()
    assert standard.names == table.names
    varies = ~table.constant
    scale = np.abs(X).max(initial=1.0)
    varies &= np.ptp(X, axis=0) > 1e-6 * scale  # otherwise the rounding error of the mean dominates
    assert np.allclose(standard.values[:, varies].mean(axis=0), 0, atol=1e-6)
    assert np.allclose(standard.values[:, varies].std(axis=0), 1, atol=1e-6)
    assert (standard.values[:, table.constant] == 0).all()


def test_standardizing_forgets_offset_and_scale():
    X = np.random.default_rng(0).normal(size=(50, 3))
    moved = as_table(X * [2.0, 1e-3, 1e5] + [1e6, 0.0, -3.0]).standardized().values
    np.testing.assert_allclose(moved, as_table(X).standardized().values, atol=1e-8)
    again = Table(moved, ("a", "b", "c")).standardized().values
    np.testing.assert_allclose(again, moved, atol=1e-12)


def test_numpy_sees_the_values():
    table = as_table(VALUES)
    assert np.asarray(table) is table.values
    assert np.array(table, copy=True) is not table.values
    assert np.asarray(table, dtype=np.float32).dtype == np.float32
    assert np.mean(table) == np.mean(VALUES)


# Orders, masks, settings


@given(st.permutations(["a", "b", "c", "d"]), st.data())
def test_names_and_numbers_give_the_same_order(order, data):
    names = ["a", "b", "c", "d"]
    numbers = [names.index(name) for name in order]
    mixed = [data.draw(st.sampled_from([name, number])) for name, number in zip(order, numbers, strict=True)]
    for form in (order, numbers, mixed, np.array(order), np.array(numbers, dtype=np.int16), iter(numbers)):
        checked = check_order(form, names)
        assert checked.tolist() == numbers
        assert checked.dtype == np.intp


@pytest.mark.parametrize(
    ("order", "message"),
    [
        (["a", "b"], "every column exactly once. Missing or repeated: c"),
        (["a", "b", "b"], "Missing or repeated: b, c"),
        ([0, 1, 2, 0], "Missing or repeated: a"),
        (["a", 0, "b"], "Missing or repeated: a, c"),
        ([], "Missing or repeated: a, b, c"),
        ([0, 1, 3], "column names, or numbers from 0 to 2. Got 3 instead. The columns are a, b, c"),
        ([0, 1, -1], "Got -1"),
        (["a", "b", "z"], "Got 'z' instead. The columns are a, b, c"),
        ([0.0, 1.0, 2.0], "Got 0.0"),
        ([True, False, 2], "Got True"),
        (np.eye(3, dtype=int), "Got array"),
    ],
)
def test_an_order_that_is_not_a_permutation_is_refused(order, message):
    with pytest.raises(ValueError, match=message):
        check_order(order, ["a", "b", "c"])


def test_candidates_are_the_pairs_that_order_and_mask_allow():
    order = np.array([2, 0, 1])
    assert check_edges(order, None, None, NAMES).allowed.tolist() == [
        [False, True, False],
        [False] * 3,
        [True, True, False],
    ]
    mask = np.zeros((3, 3), dtype=int)
    mask[2, 1] = mask[1, 2] = mask[0, 0] = 1
    allowed = check_edges(order, mask, None, NAMES).allowed
    assert np.argwhere(allowed).tolist() == [[2, 1]]
    assert check_edges(order, mask.tolist(), None, NAMES).allowed.tolist() == allowed.tolist()
    assert check_edges(order, mask.astype(bool), None, NAMES).allowed.tolist() == allowed.tolist()


@pytest.mark.parametrize("mask", [np.ones((2, 2)), np.ones(9), np.full((3, 3), 2), np.full((3, 3), np.nan)])
def test_a_mask_of_another_shape_or_kind_is_refused(mask):
    with pytest.raises(ValueError, match=r"'candidates' must be a \(3, 3\) matrix of booleans, \[parent, child\]. Got"):
        check_edges(np.arange(3), mask, None, NAMES)


@pytest.mark.parametrize("value", [0.1, 1, 5, np.float32(0.5), np.int8(2), Fraction(1, 2)])
def test_a_number_in_range_passes(value):
    check_number("Lasso", "alpha", value, low=0, high=5, open_low=True)


@pytest.mark.parametrize(
    ("value", "kind"),
    [
        *((value, ValueError) for value in (0, -1, 5.1, np.inf, np.nan)),
        *((value, TypeError) for value in ("1", None, True, np.True_, 1j)),
    ],
)
def test_a_number_out_of_range_is_refused_in_one_grammar(value, kind):
    message = r"The 'alpha' parameter of Lasso must be a float in the range \(0, 5\]\. Got .* instead\."
    with pytest.raises(kind, match=message):
        check_number("Lasso", "alpha", value, low=0, high=5, open_low=True)


def test_an_integer_setting_refuses_fractions_and_infinity_is_outside_an_open_range():
    check_number("Lasso", "alpha", 1, low=1, integer=True)
    with pytest.raises(TypeError, match=r"must be an int in the range \[1, inf\)\. Got 2.0 instead"):
        check_number("Lasso", "alpha", 2.0, low=1, integer=True)
    with pytest.raises(ValueError, match=r"Got inf instead"):
        check_number("Lasso", "alpha", np.inf, low=0)


def test_a_choice_is_one_of_the_words():
    check_choice("Lasso", "alpha", "gap", ["gap", "steps"])
    with pytest.raises(ValueError, match=r"The 'alpha' parameter of Lasso must be 'gap' or 'steps'. Got 'x' instead"):
        check_choice("Lasso", "alpha", "x", ["gap", "steps"])


def test_names_must_differ():
    check_unique(["a", "b"])
    with pytest.raises(ValueError, match=r"Repeated: a, b. Rename them"):
        check_unique(["a", "b", "a", "b", "c"])


def test_seeds_of_every_kind_are_understood_and_wrong_ones_refused():
    assert seed_of("f", 3) == seed_of("f", np.int64(3)) == 3
    assert seed_of("f", None) != seed_of("f", None)
    assert seed_of("f", np.random.default_rng(0)) == seed_of("f", np.random.default_rng(0))
    assert seed_of("f", np.random.RandomState(0)) == seed_of("f", np.random.RandomState(0))
    with pytest.raises(ValueError, match=r"The 'random_state' parameter of f must be an int in the range \[0, inf\)"):
        seed_of("f", -1)
    for wrong in ("0", 1.5, True):
        with pytest.raises(TypeError, match="random_state"):
            seed_of("f", wrong)


def test_a_labelled_mask_goes_by_its_labels():
    mask = pd.DataFrame(np.eye(3, k=1, dtype=bool), index=NAMES, columns=NAMES)  # a -> b, b -> c
    shuffled = mask.loc[["c", "a", "b"], ["b", "c", "a"]]
    for labelled in (mask, shuffled):
        assert np.argwhere(check_edges(np.arange(3), labelled, None, NAMES).allowed).tolist() == [[0, 1], [1, 2]]
    with pytest.raises(ValueError, match="names on both axes"):
        check_edges(np.arange(3), mask.rename(columns={"a": "z"}), None, NAMES)


def test_numbers_that_could_be_labels_or_positions_are_refused():
    assert check_order([2, 0, 1], ["0", "1", "2"]).tolist() == [2, 0, 1]
    with pytest.raises(ValueError, match="A number in an order is a position, but a column at another position"):
        check_order([2, 1, 0], ["2", "1", "0"])
    assert check_order(["2", "1", "0"], ["2", "1", "0"]).tolist() == [0, 1, 2]
    assert check_order(np.array([2, 1, 0]), ["2", "1", "0"]).tolist() == [2, 1, 0]  # as steps pass it on


@pytest.mark.parametrize("order", [{0, 1, 2}, "abc"])
def test_an_unordered_collection_is_not_an_order(order):
    with pytest.raises(TypeError, match="An order must be a sequence of columns"):
        check_order(order, NAMES)


@pytest.mark.parametrize("name", ["Unnamed: 0", ""])
def test_an_unnamed_index_column_is_refused(name):
    with pytest.raises(ValueError, match="looks like a row index"):
        as_table(pd.DataFrame({name: [0, 1, 2], "a": [1.0, 2.0, 4.0]}))


def test_a_column_that_varies_in_its_last_digit_only_is_constant():
    column = np.full(20, 0.1)
    column[3] = np.nextafter(0.1, 1)
    with pytest.warns(UserWarning, match="Constant columns"):
        table = as_table(pd.DataFrame({"a": column, "b": np.arange(20.0)}))
    assert table.constant.tolist() == [True, False]
    assert not table.standardized().values[:, 0].any()


@pytest.mark.parametrize("code", [1e18, -(2.0**63), 3.4028234663852886e38])
def test_a_value_that_hides_all_others_is_refused_with_its_column_and_row(code):
    X = np.random.default_rng(0).normal(size=(50, 2))
    X[7, 1] = code
    with pytest.raises(ValueError, match=r"Column 'x1' holds .*e\+\d\d in row 7 .* code for missing") as caught:
        as_table(X)
    assert f"{code:.15g}" in str(caught.value)


@pytest.mark.parametrize("factor", [1.0, 1e9])
def test_large_values_among_others_of_their_size_are_no_reason_to_refuse(factor):
    rng = np.random.default_rng(0)
    X = factor * np.column_stack([rng.standard_cauchy(500), np.exp(5 * rng.normal(size=500)), np.arange(500) == 9])
    assert as_table(X).shape == (500, 3)


def test_a_record_batch_keeps_its_names():
    pa = pytest.importorskip("pyarrow")
    table = as_table(pa.RecordBatch.from_pydict({"a": [1.0, 2.0, 4.0], "b": [3, 1, 2]}))
    assert table.names == ("a", "b")
    assert table.values.tolist() == [[1, 3], [2, 1], [4, 2]]


def test_a_dask_frame_is_not_pulled_into_memory():
    dd = pytest.importorskip("dask.dataframe")
    frame = dd.from_pandas(pd.DataFrame({"a": [1.0, 2.0], "b": [3.0, 1.0]}), npartitions=2)
    with pytest.raises(TypeError, match=r"Got a Dask data frame\. Pass it to CausalDiscovery\.fit_batches"):
        as_table(frame)


def test_the_names_of_a_frame_are_not_listed_again_for_every_column(monkeypatch):
    listings = []
    names = nw.DataFrame.columns.fget

    def counted(frame):
        listings.append(frame)
        return names(frame)

    monkeypatch.setattr(nw.DataFrame, "columns", property(counted))
    counts = []
    for d in (2, 50):
        listings.clear()
        read_columns(pd.DataFrame(np.ones((3, d))).add_prefix("v"))
        counts.append(len(listings))
    assert counts[0] == counts[1]


def test_numbers_written_as_text_are_shown_by_the_value_that_made_them_text():
    with pytest.raises(ValueError, match=r"numbers written as text, such as '1_000' in row 2 "):
        as_table(pd.DataFrame({"a": ["1.5", "-2e3", "1_000", "4"], "b": [1.0, 2, 3, 4]}))

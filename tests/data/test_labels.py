"""Square matrices with labels go by label, whatever the order of their axes."""

from __future__ import annotations

import numpy as np
import pandas as pd
import pytest

from sartre.data.labels import by_label

MATRIX = np.arange(9).reshape(3, 3)


def test_the_columns_of_a_frame_are_put_in_the_order_of_its_rows():
    frame = pd.DataFrame(MATRIX, index=list("abc"), columns=list("abc"))
    matrix, names = by_label("truth", frame.loc[["c", "a", "b"], ["b", "c", "a"]])
    assert names == ["c", "a", "b"]
    assert matrix.tolist() == MATRIX[np.ix_([2, 0, 1], [2, 0, 1])].tolist()


@pytest.mark.parametrize("matrix", [MATRIX, MATRIX.tolist(), pd.DataFrame(MATRIX)], ids=["array", "list", "frame"])
def test_what_has_no_labels_goes_by_position(matrix):
    values, names = by_label("truth", matrix)
    assert names is None
    assert values.tolist() == MATRIX.tolist()


def test_a_polars_frame_labels_its_columns_only():
    polars = pytest.importorskip("polars")
    matrix, names = by_label("truth", polars.DataFrame(MATRIX, schema=["b", "a", "c"]))
    assert names == ["b", "a", "c"]
    assert matrix.tolist() == MATRIX.tolist()


@pytest.mark.parametrize("index", [None, ["a", "b", "d"], ["a", "a", "b"]])
def test_axes_with_different_labels_are_refused(index):
    with pytest.raises(
        ValueError, match=r"'truth', given as a data frame, must .* Got the rows .* truth\.to_numpy\(\)"
    ):
        by_label("truth", pd.DataFrame(MATRIX, index=index, columns=["a", "b", "c"]))

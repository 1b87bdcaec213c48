"""Dirty tables are fitted or refused with the column's name; no linear algebra fails inside."""

import warnings

import numpy as np
from hypothesis import example, given, settings
from hypothesis import strategies as st

from sartre import CausalDiscovery

CODES = [99.0, -999.0, 99999999.0, 1e9, 1e12, 1e15, -(2.0**63), 3.4e38]


@st.composite
def dirty_tables(draw):
    """Draw a small table with outliers, codes for missing values, flags, counts, ties, near copies and constants."""
    rng = np.random.default_rng(draw(st.integers(0, 2**32 - 1)))
    n, d = draw(st.integers(10, 60)), draw(st.integers(2, 6))
    X = rng.normal(size=(n, d))
    for j in range(d):
        kind = draw(st.sampled_from(["clean", "outlier", "code", "flag", "counts", "ties", "copy", "unit", "constant"]))
        if kind == "outlier":
            X[rng.integers(n), j] *= 10.0 ** draw(st.integers(2, 9))
        elif kind == "code":
            X[rng.random(n) < draw(st.sampled_from([1 / n, 0.2])), j] = draw(st.sampled_from(CODES))
        elif kind == "flag":
            X[:, j] = rng.random(n) < draw(st.sampled_from([0.05, 0.5]))
        elif kind == "counts":
            X[:, j] = rng.poisson(0.3, size=n)
        elif kind == "ties":
            X[:, j] = np.round(X[:, j])
        elif kind == "copy" and j:
            X[:, j] = X[:, j - 1] + draw(st.sampled_from([1e-12, 1e-6])) * X[:, j]
        elif kind == "unit":
            X[:, j] *= 10.0 ** draw(st.integers(-60, 60))
        elif kind == "constant":
            X[:, j] = 3.0
    return X


def a_table_without_residual_degrees_of_freedom():
    """Return ten rows, a flag among them, on which a model of two columns may use up all degrees of freedom."""
    first = [0.66769456, 0.25275054, -0.15310421, -1.20434544, -0.89905834]
    first += [-0.47253921, 1.13961786, 0.94818538, -0.23475039, -0.12788193]
    flag = [0, 0, 0, 1, 1, 0, 0, 0, 0, 0]
    last = [0.49111077, 0.31148989, -0.12979726, 0.57475557, 0.30998063]
    last += [-1.5127412, -0.80627228, 0.01731978, 1.99568111, 0.56047113]
    return np.column_stack([first, flag, last])


@settings(max_examples=60, deadline=None)
@given(X=dirty_tables())
@example(X=a_table_without_residual_degrees_of_freedom())
def test_a_dirty_table_is_fitted_or_refused_with_its_column(X):
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", UserWarning)
        try:
            edges = CausalDiscovery(random_state=0).fit(X).edges_
        except ValueError as error:
            if "Column 'x" not in str(error):
                raise
            return
    assert np.isfinite(edges[["strength", "p_value"]].to_numpy(float)).all()

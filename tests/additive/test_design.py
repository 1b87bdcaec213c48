"""Preparation: the rotation is exact for any basis."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from sartre.additive.bases.trees import random_intervals
from sartre.additive.design import Basis, code_type, encode, prepare


@settings(max_examples=50, deadline=None)
@given(n=st.integers(2, 60), levels=st.integers(1, 30), trees=st.integers(1, 6), seed=st.integers(0, 10**6))
def test_rotated_functions_are_centred_orthogonal_and_span_the_basis(n, levels, trees, seed):
    rng = np.random.default_rng(seed)
    column = rng.integers(0, levels, size=n).astype(float)
    basis = random_intervals(column, trees, 8, rng)
    design = prepare(column[:, None], [basis])
    rotated = design.table(0)[design.codes[0]]
    original = basis.table[encode(column, basis.edges)]
    np.testing.assert_allclose(rotated.sum(axis=0), 0, atol=1e-9)
    np.testing.assert_allclose(rotated.T @ rotated / n, np.diag(design.eigenvalues(0)), atol=1e-12)
    centred = original - original.mean(axis=0)
    np.testing.assert_allclose(rotated @ rotated.T, centred @ centred.T, atol=1e-9)  # block norms are preserved
    assert (np.diff(design.eigenvalues(0)) <= 0).all()


def test_variables_of_different_sizes_share_one_design():
    rng = np.random.default_rng(0)
    X = np.column_stack([rng.normal(size=100), np.ones(100), rng.integers(0, 2, 100)])
    design = prepare(X, [random_intervals(column, 5, 8, rng) for column in X.T])
    assert design.rank.tolist() == [design.table(0).shape[1], 0, 1]
    for j in (0, 2):
        functions = design.table(j)[design.codes[j]]
        np.testing.assert_allclose(functions.T @ functions / 100, np.diag(design.eigenvalues(j)), atol=1e-12)


def test_codes_grow_beyond_256_bins():
    column = np.arange(1000.0)
    edges = np.arange(0.5, 999)
    design = prepare(column[:, None], [Basis(edges, np.eye(1000))])
    assert design.codes.dtype == np.uint16
    np.testing.assert_array_equal(design.codes[0], np.arange(1000))
    assert code_type(256) is np.uint8
    with pytest.raises(ValueError, match="65,536 bins"):
        code_type(70_000)

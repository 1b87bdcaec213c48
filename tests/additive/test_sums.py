"""Totals over rows are exact, and do not depend on how the rows are split."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.interpolate import CubicSpline

from sartre.additive.smooth_sums import SmoothCounter


def mixed_table(n, seed):
    """Return a smooth, a heavy-tailed, a discrete and a constant column."""
    rng = np.random.default_rng(seed)
    x = rng.normal(size=n)
    return np.column_stack([x, np.exp(x + rng.normal(size=n)), rng.integers(0, 3, n), np.full(n, 7.0)])


def arrays(totals):
    return {name: value for name, value in vars(totals).items() if isinstance(value, np.ndarray)}


@settings(max_examples=15, deadline=None)
@given(cuts=st.lists(st.integers(0, 3000), max_size=6), seed=st.integers(0, 1000))
def test_totals_are_the_same_to_the_last_bit_however_the_rows_are_cut(cuts, seed):
    X = mixed_table(3000, seed)
    counter = SmoothCounter.of(X[:500])
    whole = counter.count(X)
    parts = [counter.count(part) for part in np.split(X, sorted(cuts))]
    np.random.default_rng(seed).shuffle(parts)
    total = parts[0]
    for part in parts[1:]:
        total = total + part
    assert total.n == whole.n == 3000
    for name, value in arrays(whole).items():
        np.testing.assert_array_equal(getattr(total, name), value, err_msg=name)


def hats(column, nodes):
    """Return the hat functions of a column, evaluated at its values."""
    return np.column_stack([np.interp(column, nodes, unit) for unit in np.eye(len(nodes))])


@settings(max_examples=10, deadline=None)
@given(n=st.integers(2, 400), seed=st.integers(0, 1000))
def test_smooth_totals_are_the_products_of_the_hats_and_the_columns(n, seed):
    X = mixed_table(n, seed)
    counter = SmoothCounter.of(X[: max(2, n // 2)])
    totals = counter.count(X)
    functions = [hats(column, nodes) for column, nodes in zip(X.T, counter.nodes, strict=True)]
    Z = np.clip((X - counter.centre) / counter.scale, -32, 32)
    for j in range(4):
        for k in range(4):
            np.testing.assert_allclose(
                counter._hats(totals, j, k), functions[j].T @ functions[k] / n, atol=1e-3
            )  # the weights are rounded to multiples of 1 / 4096
        np.testing.assert_allclose(counter._sums(totals, j), functions[j].T @ Z / n, atol=1e-2)
    np.testing.assert_allclose(totals.line_products[1:, 1:] / 2.0**32, Z.T @ Z, rtol=1e-3, atol=1e-3 * n)


@pytest.mark.parametrize("n_splines", [8, 40])
def test_smooths_from_hats_are_those_of_the_rows_and_orthonormal_over_all(n_splines):
    X = mixed_table(5000, seed=3)
    X[:, 1] = np.log(X[:, 1])
    counter = SmoothCounter.of(X[:1000])
    products = counter.gram(counter.count(X), n_splines, np.array([1, 0, 2]))
    start, rank = products.start, products.rank
    np.testing.assert_array_equal(rank, [n_splines - 1, n_splines - 1, 2])
    for j in range(3):
        block = products.matrix[start[j] : start[j] + rank[j]][:, start[j] : start[j] + rank[j]]
        np.testing.assert_allclose(block, np.eye(rank[j]), atol=1e-9)
    np.testing.assert_allclose(products.cross[start], np.corrcoef(X[:, [1, 0, 2]].T), atol=1e-4)
    lines = X[:, [1, 0]] - X[:, [1, 0]].mean(axis=0)
    spaces = []
    for j in (1, 0):
        nodes = counter.nodes[j]
        z = (nodes - counter.centre[j]) / counter.scale[j]
        knots = np.quantile(z, np.linspace(0, 1, n_splines))
        table = hats(X[:, j], nodes) @ CubicSpline(knots, np.eye(n_splines), bc_type="natural")(z)
        whole = np.column_stack([lines[:, 1 - j], table - table.mean(axis=0)])
        left, size, _ = np.linalg.svd(whole, full_matrices=False)
        spaces.append(left[:, size > 1e-2 * size[0]])
    cosines = products.matrix[start[0] : start[0] + rank[0], start[1] : start[1] + rank[1]]
    largest = np.linalg.svd(spaces[0].T @ spaces[1])[1][0]
    np.testing.assert_allclose(np.linalg.svd(cosines)[1][0], largest, atol=2e-2)  # the canonical correlation


def test_columns_that_stop_varying_have_no_function():
    rng = np.random.default_rng(0)
    X = rng.normal(size=(500, 2))
    counter = SmoothCounter.of(X)
    products = counter.gram(counter.count(np.column_stack([X[:, 0], np.zeros(500)])), 5)
    assert products.rank.tolist() == [4, 0]
    assert not products.cross[:, 1].any()


def test_the_tables_of_many_columns_stay_small():
    X = np.random.default_rng(0).normal(size=(300, 300))
    counter = SmoothCounter.of(X)
    assert counter.count(X[:2]).pairs.nbytes <= 2**29
    assert SmoothCounter.of(X[:, :50]).n_nodes.tolist() == [64] * 50


def test_values_far_beyond_the_sample_do_not_overflow():
    values = np.random.default_rng(0).normal(size=(20_000, 2))
    values[:5000, 0] = 1e6
    counter = SmoothCounter((np.array([-1.0, 1.0]),) * 2, np.zeros(2), np.ones(2), np.ones(2, dtype=bool))
    totals = counter.count(values[:9000]) + counter.count(values[9000:])
    mean, square = totals.line_products[0, 1:] / 2.0**32 / 20_000, np.diag(totals.line_products)[1:] / 2.0**32 / 20_000
    np.testing.assert_allclose(square - mean**2, np.clip(values, -32, 32).var(axis=0), rtol=1e-4)
    many = counter.count(np.full((60_000, 2), 1e6))
    for _ in range(4):
        many += many
    with pytest.raises(ValueError, match="too many rows, or values far larger"):
        _ = many + many

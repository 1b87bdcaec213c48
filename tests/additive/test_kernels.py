"""Every kernel agrees with a slow version in NumPy or SciPy."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.optimize import minimize

from sartre.additive.bases.trees import random_intervals
from sartre.additive.design import prepare
from sartre.additive.kernels import compilation
from sartre.additive.kernels import lasso as kernels
from sartre.additive.lasso import gradient_norms


def make(n, seed):
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(n, 2))
    return prepare(X, [random_intervals(column, 3, 6, rng) for column in X.T]), rng.normal(size=n), rng


@pytest.mark.parametrize("n", [5, 6, 7, 8, 101])
def test_bin_sums_correlation_and_subtraction_are_matrix_products(n):
    design, residual, rng = make(n, n)
    for j in range(2):
        phi = design.table(j)[design.codes[j]]
        sums = np.empty((4, design.n_bins[j]))
        kernels.bin_sums(design.codes[j], residual, sums)
        np.testing.assert_allclose(sums[0], np.bincount(design.codes[j], residual, design.n_bins[j]), atol=1e-12)
        c = np.empty(design.rank[j])
        kernels.correlation(design, j, residual, sums, c)
        np.testing.assert_allclose(c, phi.T @ residual / n, atol=1e-12)
        g, left = rng.normal(size=design.rank[j]), residual.copy()
        kernels.subtract(design, j, g, np.empty(design.n_bins[j]), left)
        np.testing.assert_allclose(left, residual - phi @ g, atol=1e-10)


@settings(max_examples=60, deadline=None)
@given(size=st.integers(1, 6), penalty=st.floats(1e-3, 2), seed=st.integers(0, 10**6))
def test_a_block_update_is_the_minimum_of_its_block(size, penalty, seed):
    rng = np.random.default_rng(seed)
    c, spectrum, g = rng.normal(size=size), np.sort(rng.uniform(1e-3, 2, size=size))[::-1].copy(), np.empty(size)
    kernels.shrink(c, spectrum, penalty, g)

    def value(v):
        return v @ (spectrum * v) / 2 - c @ v + penalty * np.linalg.norm(v)

    if np.linalg.norm(c) <= penalty:
        assert not g.any()
    else:
        assert g.any()
        np.testing.assert_allclose(spectrum * g - c + penalty * g / np.linalg.norm(g), 0, atol=1e-9)
    best = minimize(value, g + 0.1 * rng.normal(size=size), method="Powell").fun
    assert value(g) <= best + 1e-9


@pytest.mark.parametrize("ratio", [1 + 1e-12, 1e3, 1e8, 1e200])
def test_a_block_update_survives_extreme_scales(ratio):
    spectrum = np.array([1.0, 1e-9])
    c = np.array([0.8, 0.6])
    g = np.empty(2)
    kernels.shrink(c, spectrum, 1 / ratio, g)
    np.testing.assert_allclose(spectrum * g + g / np.linalg.norm(g) / ratio, c, rtol=1e-6)


def test_kernels_compile_where_there_is_no_folder_for_the_cache(monkeypatch):
    def no_folder(**options):
        if options.pop("cache", False):
            raise RuntimeError("cannot cache function: no locator available")
        return lambda function: function

    monkeypatch.setattr(compilation, "njit", no_folder)
    assert compilation.compiled()(len)([1, 2]) == 2


def test_an_unpenalised_block_is_least_squares():
    g = np.empty(2)
    kernels.shrink(np.array([-2.0, 1.0]), np.array([4.0, 0.5]), 0.0, g)
    np.testing.assert_array_equal(g, [-0.5, 2.0])


def test_the_gap_is_zero_at_the_optimum_of_one_orthogonal_group_and_positive_elsewhere():
    design, y, _ = make(50, 0)
    y -= y.mean()
    c = np.empty(design.rank[0])
    kernels.correlation(design, 0, y, np.empty((4, design.n_bins[0])), c)
    worst = np.linalg.norm(c) / 10.0  # the penalty is above the largest useful one, so zero is optimal
    primal, gap = kernels.duality_gap(y, y, worst, 0.0)
    assert primal == pytest.approx(y @ y / 100)
    assert gap == pytest.approx(0, abs=1e-15)
    _, gap = kernels.duality_gap(y, y, 2.0, 0.0)
    assert gap > 0


def test_gradient_norms_are_those_of_the_functions_over_the_samples():
    rng = np.random.default_rng(0)
    X = np.column_stack([rng.normal(size=(80, 3)), np.ones(80)])
    design = prepare(X, [random_intervals(column, 5, 8, rng) for column in X.T])
    residual = rng.normal(size=80)
    found = gradient_norms(design, residual, np.array([3, 0, 2]))
    centred = residual - residual.mean()
    expected = [np.linalg.norm(design.table(j)[design.codes[j]].T @ centred) / 80 for j in (3, 0, 2)]
    np.testing.assert_allclose(found, expected, rtol=1e-10)

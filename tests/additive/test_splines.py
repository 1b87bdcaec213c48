"""Splines on bins are natural and cardinal, their curvature is exact, and the rotation makes them orthonormal."""

from __future__ import annotations

import numpy as np
import pytest
from scipy.integrate import quad
from scipy.interpolate import CubicSpline

from sartre.additive.bases.splines import MAX_BINS, spline
from sartre.additive.design import encode, prepare, rotate


def test_functions_are_one_at_their_knot_and_add_up_to_one_everywhere():
    smooth = spline(np.random.default_rng(0).normal(size=800), 10)
    at_knots = smooth.shift + smooth.scale * smooth.knots
    np.testing.assert_allclose(smooth(at_knots), np.eye(10), atol=1e-12)
    np.testing.assert_allclose(smooth(np.linspace(-9, 9, 50)).sum(axis=1), 1, atol=1e-10)


@pytest.mark.parametrize("n_splines", [2, 3, 10])
def test_functions_are_the_natural_cubic_splines_of_scipy(n_splines):
    smooth = spline(np.random.default_rng(0).lognormal(size=800), n_splines)
    cubic = CubicSpline(smooth.knots, np.eye(n_splines), bc_type="natural")
    z = np.linspace(smooth.knots[0] - 1, smooth.knots[-1] + 1, 300)
    inside = np.clip(z, smooth.knots[0], smooth.knots[-1])
    expected = cubic(inside) + (z - inside)[:, None] * cubic(inside, 1)
    np.testing.assert_allclose(smooth(smooth.shift + smooth.scale * z), expected, atol=1e-10)


def test_beyond_the_knots_functions_go_on_straight():
    smooth = spline(np.random.default_rng(0).normal(size=800), 6)
    far = smooth(np.array([10.0, 20.0, 30.0]))
    np.testing.assert_allclose(far[2] - far[1], far[1] - far[0], rtol=1e-9)


def test_the_penalty_is_the_integral_of_squared_second_derivatives():
    smooth = spline(np.random.default_rng(1).exponential(size=500), 7)
    values = np.random.default_rng(2).normal(size=7)
    cubic = CubicSpline(smooth.knots, values, bc_type="natural")
    pieces = zip(smooth.knots[:-1], smooth.knots[1:], strict=True)
    integral = sum(quad(lambda t: float(cubic(t, 2)) ** 2, a, b)[0] for a, b in pieces)
    assert values @ smooth.basis().penalty @ values == pytest.approx(integral, rel=1e-8)


@pytest.mark.parametrize("levels", [2, 3, 5, 200, 10**9])
def test_bins_cover_all_values_and_hold_their_means(levels):
    column = np.random.default_rng(0).integers(0, levels, size=9000).astype(float)
    smooth = spline(column, 10)
    codes = encode(column, smooth.edges)
    assert len(smooth.centres) == min(len(np.unique(column)), MAX_BINS)
    assert codes.max() == len(smooth.centres) - 1
    means = np.bincount(codes, weights=column) / np.bincount(codes)
    np.testing.assert_allclose(smooth.centres, means)
    if levels > MAX_BINS:
        assert np.bincount(codes).max() < 3 * len(column) / MAX_BINS


def test_rotated_splines_are_orthonormal_with_the_line_first_and_rougher_ones_after():
    column = np.random.default_rng(0).normal(size=700)
    design = prepare(column[:, None], [spline(column, 10).basis()])
    functions = design.table(0)[design.codes[0]]
    assert design.rank.tolist() == [9]
    np.testing.assert_allclose(functions.T @ functions / 700, np.eye(9), atol=1e-9)
    np.testing.assert_allclose(functions.sum(axis=0), 0, atol=1e-8)
    assert abs(np.corrcoef(functions[:, 0], column)[0, 1]) == pytest.approx(1)
    assert design.roughness[0] == 0
    assert design.roughness[1] == 1
    assert (np.diff(design.roughness) > 0).all()


def test_roughness_is_the_penalty_of_the_rotated_functions():
    column = np.random.default_rng(0).normal(size=400)
    basis = spline(column, 8).basis()
    share = np.bincount(encode(column, basis.edges), minlength=len(basis.table)) / 400
    rotation = rotate(basis, share)
    turned = rotation.vectors.T @ basis.penalty @ rotation.vectors
    np.testing.assert_allclose(turned, np.diag(rotation.roughness) * turned[1, 1], atol=1e-7 * turned.max())


@pytest.mark.parametrize(("column", "rank"), [([1.0] * 20, 0), ([0.0, 1.0] * 10, 1), ([0.0, 1.0, 5.0, 1.0] * 5, 2)])
def test_columns_with_few_values_get_few_functions(column, rank):
    column = np.array(column)
    design = prepare(column[:, None], [spline(column, 10).basis()])
    assert design.rank.tolist() == [rank]
    assert design.roughness.tolist() == ([0.0, 1.0])[:rank]


@pytest.mark.parametrize(("factor", "shift"), [(1e-8, 0.0), (1e6, 0.0), (1.0, 1e6), (-3.0, 7.0)])
def test_units_do_not_matter(factor, shift):
    column = np.random.default_rng(0).normal(size=300)
    plain, moved = (prepare(x[:, None], [spline(x, 10).basis()]) for x in (column, factor * column + shift))
    fits = [design.table(0)[design.codes[0]] for design in (plain, moved)]
    np.testing.assert_allclose(fits[0] @ fits[0].T, fits[1] @ fits[1].T, atol=1e-5)


def test_values_that_differ_by_rounding_only_share_a_knot():
    x = np.concatenate([1 + np.finfo(float).eps * np.arange(40), [1e3]])
    smooth = spline(x, 10)
    assert len(smooth.knots) == 2
    assert np.isfinite(smooth.basis().table).all()

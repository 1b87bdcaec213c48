from __future__ import annotations

import numpy as np
import pytest
from scipy.linalg import LinAlgError
from scipy.spatial.distance import cdist

from sartre.simulate import mechanisms
from sartre.simulate.mechanisms import (
    additive,
    choose_mechanism,
    gp_exact,
    gp_fourier,
    linear,
    neural,
    sigmoid,
)

POINTS = np.array([[0.0, 0.0], [0.5, 0.0], [0.0, 1.0], [1.0, -1.0], [2.0, 2.0]])


def rbf(points, bandwidth=1.0):
    return np.exp(-cdist(points, points, "sqeuclidean") / (2 * bandwidth**2))


def covariance(mechanism, n_draws):
    """Return the mean product of two values over independent draws, with standard error at most sqrt(2 / n_draws) K."""
    rng = np.random.default_rng(0)
    draws = np.array([mechanism(POINTS, rng) for _ in range(n_draws)])
    return draws.T @ draws / n_draws


@pytest.mark.parametrize(("draw", "n_draws"), [(gp_exact, 20_000), (gp_fourier, 5_000)])
def test_the_covariance_of_a_joint_draw_is_the_unit_bandwidth_kernel(draw, n_draws):
    found, tolerance = covariance(draw, n_draws), 4 * np.sqrt(2 / n_draws)
    assert np.abs(found - rbf(POINTS)).max() < tolerance
    # With the same tolerance, other bandwidths and additive draws are rejected, so the test is informative.
    for wrong in (rbf(POINTS, 0.8), rbf(POINTS, 1.25), (rbf(POINTS[:, :1]) + rbf(POINTS[:, 1:])) / 2):
        assert np.abs(found - wrong).max() > tolerance


def test_the_covariance_of_an_additive_draw_is_the_sum_of_one_dimensional_kernels():
    found = covariance(lambda points, rng: additive(gp_exact, points, rng), 10_000)
    tolerance = 4 * 2 * np.sqrt(2 / 10_000)  # the variances are two here
    assert np.abs(found - rbf(POINTS[:, :1]) - rbf(POINTS[:, 1:])).max() < tolerance
    assert np.abs(found - 2 * rbf(POINTS)).max() > tolerance


def test_a_gaussian_process_is_smooth_even_where_the_points_coincide():
    x = np.repeat(np.linspace(-3, 3, 200), 2)[:, None]
    for draw in (gp_exact, gp_fourier):
        f = draw(x, np.random.default_rng(0))
        assert f.std() > 0.1
        assert np.abs(f[::2] - f[1::2]).max() < 1e-4
        assert np.abs(np.diff(f[::2])).max() < 0.2


def test_the_jitter_grows_until_the_kernel_can_be_factorised(monkeypatch):
    x = np.linspace(-1, 1, 300)[:, None]
    expected = gp_exact(x, np.random.default_rng(0))
    monkeypatch.setattr(mechanisms, "JITTERS", (0.0,))
    with pytest.raises(LinAlgError, match="cannot be factorised"):
        gp_exact(x, np.random.default_rng(0))
    monkeypatch.setattr(mechanisms, "JITTERS", (0.0, 1e-10))
    assert np.array_equal(gp_exact(x, np.random.default_rng(0)), expected)


@pytest.mark.parametrize("name", ["gp", "gp-additive"])
def test_the_size_decides_between_exact_and_approximate_draws(name, monkeypatch):
    monkeypatch.setattr(mechanisms, "EXACT_LIMIT", 3 * 10**3)
    x = np.random.default_rng(0).normal(size=(10, 1))
    draws = {n_draws: choose_mechanism(name, n_draws, 10)(x, np.random.default_rng(1)) for n_draws in (3, 4)}
    assert np.array_equal(draws[3], gp_exact(x, np.random.default_rng(1)))
    assert np.array_equal(draws[4], gp_fourier(x, np.random.default_rng(1)))


def test_linear_is_linear_with_weights_between_one_half_and_three_halves():
    weights = linear(np.eye(2000), np.random.default_rng(0))
    size = np.abs(weights)
    assert (size.min(), size.max()) == pytest.approx((0.5, 1.5), abs=0.01)
    assert np.mean(weights > 0) == pytest.approx(0.5, abs=4 * np.sqrt(1 / 8000))
    x = np.random.default_rng(1).normal(size=(5, 3))
    once, twice, summed = (linear(v, np.random.default_rng(0)) for v in (x, 2 * x, x + 1))
    assert np.allclose(twice, 2 * once)
    assert np.allclose(summed - once, linear(np.ones((1, 3)), np.random.default_rng(0)))


def test_a_network_has_the_stated_variance_and_saturates():
    origin = np.array([neural(np.zeros((1, 2)), np.random.default_rng(s))[0] for s in range(2000)])
    far = np.array([neural(np.full((1, 1), 1e6), np.random.default_rng(s))[0] for s in range(2000)])
    for values, variance in ((origin, 0.7), (far, 4.0)):
        assert values.var() == pytest.approx(variance, rel=0.15)
        assert abs(values.mean()) < 4 * np.sqrt(variance / 2000)
    rng = np.random.default_rng(0)
    near, further = neural(np.array([[1e6], [2e6]]), rng)
    assert near == pytest.approx(further)


def test_a_network_is_neither_linear_nor_additive():
    rng = np.random.default_rng(0)
    a, b = 0.0, 2.0
    corners = np.array([[a, a], [a, b], [b, a], [b, b]])
    interactions = [np.dot([1, -1, -1, 1], neural(corners, rng)) for _ in range(200)]
    assert np.std(interactions) > 0.2


def test_a_soft_step_is_monotone_bounded_and_passes_zero_between_minus_two_and_two():
    grid = np.linspace(-5, 5, 1001)
    heights, slopes = [], []
    for seed in range(300):
        f = sigmoid(grid[:, None], np.random.default_rng(seed))
        low, high = sigmoid(np.array([[-1e9], [1e9]]), np.random.default_rng(seed))
        steps = np.diff(f) * np.sign(high)
        assert (steps > 0).all()
        assert low == pytest.approx(-high)
        heights.append(abs(high))
        slopes.append(steps.max() / abs(high) / 0.01)
        assert -2.01 <= grid[np.abs(f).argmin()] <= 2.01
    assert min(heights) > 1
    assert np.mean(heights) == pytest.approx(1.25, abs=0.06)
    assert 0.45 < min(slopes) < 0.6
    assert 1.85 < max(slopes) < 2.0


@pytest.mark.parametrize("name", ["gp-additive", "sigmoid"])
def test_an_additive_mechanism_has_no_interaction(name):
    rng = np.random.default_rng(0)
    corners = np.array([[0.0, 0.0], [0.0, 2.0], [2.0, 0.0], [2.0, 2.0]])
    values = choose_mechanism(name, 1, 4)(corners, rng)
    assert np.ptp(values) > 0.1
    assert values @ [1, -1, -1, 1] == pytest.approx(0, abs=1e-3)  # the bound is the square root of the jitter

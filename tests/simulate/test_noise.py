from __future__ import annotations

import numpy as np
import pytest
from scipy import stats

from sartre.simulate.noise import parent_spread, unit_noise

ROOT = np.empty((20_000, 0))
DISTRIBUTIONS = {
    "gaussian": stats.norm(),
    "laplace": stats.laplace(scale=np.sqrt(1 / 2)),
    "uniform": stats.uniform(-np.sqrt(3), 2 * np.sqrt(3)),
    "t3": stats.t(3, scale=1 / np.sqrt(3)),
    "heteroscedastic": stats.norm(),  # without parents
}


@pytest.mark.parametrize("kind", DISTRIBUTIONS)
def test_every_noise_has_mean_zero_variance_one_and_its_own_shape(kind):
    noise = unit_noise(kind, ROOT, np.random.default_rng(0))
    for name, distribution in DISTRIBUTIONS.items():
        assert (distribution.mean(), distribution.var()) == pytest.approx((0, 1))
        pvalue = stats.kstest(noise, distribution.cdf).pvalue
        if distribution.dist.name == DISTRIBUTIONS[kind].dist.name:
            assert pvalue > 0.001, name
        else:
            assert pvalue < 1e-6, name


def test_heteroscedastic_noise_is_gaussian_times_a_spread_of_mean_square_one():
    parents = np.random.default_rng(1).standard_t(3, size=(50_000, 3))
    rng = np.random.default_rng(0)
    gaussian = rng.standard_normal(len(parents))
    spread = parent_spread(parents, rng)
    assert np.mean(spread**2) == pytest.approx(1)
    assert np.array_equal(unit_noise("heteroscedastic", parents, np.random.default_rng(0)), gaussian * spread)


@pytest.mark.parametrize("seed", range(5))
def test_the_spread_follows_the_parents_smoothly_and_within_bounds(seed):
    parents = np.sort(np.random.default_rng(1).normal(size=2000))[:, None]
    spread = parent_spread(parents, np.random.default_rng(seed))
    steps = np.diff(spread)
    assert (steps >= 0).all() or (steps <= 0).all()
    assert 2 < spread.max() / spread.min() <= np.sqrt(11)


def test_the_spread_ignores_the_parents_units():
    parents = np.random.default_rng(1).normal(size=(100, 2))
    spread, rescaled = (parent_spread(x, np.random.default_rng(0)) for x in (parents, parents * [1000, 0.01] + 7))
    assert np.allclose(spread, rescaled)

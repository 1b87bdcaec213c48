"""Densities of residuals: what they gain, where they gain nothing, and whose residuals they are."""

from __future__ import annotations

import numpy as np
import pytest
from scipy.stats import norm

from sartre.additive.kernels.density import legendre_means, log_density_gain
from sartre.order import OrderSearch
from sartre.order.search import noise
from sartre.order.search.blocks import PAIR, block_functions, block_products
from sartre.order.search.local_scores import LocalScores
from sartre.order.search.noise import NoiseDensities


def standardised(X):
    return np.asfortranarray((X - X.mean(axis=0)) / X.std(axis=0))


def densities(X):
    functions = block_functions(X)
    blocks = block_products(X, functions)
    return NoiseDensities(X, functions, blocks), blocks


def gain(x):
    """Return the gain of a sample's own density over the normal one, in nats per sample."""
    density, _ = densities(standardised(np.column_stack([x, np.random.default_rng(9).normal(size=len(x))])))
    return density._gain(0, ())


@pytest.mark.parametrize(
    ("draw", "negentropy"),
    [
        (lambda rng, n: rng.normal(size=n), 0.0),
        (lambda rng, n: rng.uniform(size=n), 0.5 * np.log(2 * np.pi * np.e / 12)),
        (lambda rng, n: rng.laplace(size=n), 0.5 * np.log(np.pi / np.e)),
    ],
)
def test_the_gain_is_a_share_of_the_negentropy(draw, negentropy):
    found = gain(draw(np.random.default_rng(0), 4000))
    assert 0.25 * negentropy <= found <= negentropy + 0.01


def test_the_fitted_density_has_the_means_of_the_sample():
    """The gain is the largest value of theta' m - psi(theta), so no other theta has more."""
    x = np.random.default_rng(1).gamma(2.0, size=1000)
    mean = np.empty(4)
    legendre_means(x, mean)
    u = 2 * norm.cdf((x - x.mean()) / x.std()) - 1
    legendre = [np.polynomial.Legendre.basis(k)(u) * np.sqrt(2 * k + 1) for k in range(1, 5)]
    np.testing.assert_allclose(mean, np.mean(legendre, axis=1), atol=1e-12)
    places, weights = np.polynomial.legendre.leggauss(64)
    nodes = np.polynomial.legendre.legvander(places, 4)[:, 1:] * np.sqrt(2 * np.arange(1, 5) + 1)
    best = log_density_gain(mean, nodes, weights / 2)
    rng = np.random.default_rng(0)
    for scale in (0.01, 0.1, 1.0):
        for theta in rng.normal(scale=scale, size=(200, 4)):
            assert theta @ mean - np.log(weights / 2 @ np.exp(nodes @ theta)) <= best + 1e-9


def test_normal_noise_changes_no_score():
    rng = np.random.default_rng(0)
    X = standardised(rng.normal(size=(1000, 30)))
    density, _ = densities(X)
    assert [density(v, ()) for v in range(30)] == [0.0] * 30


def test_a_column_with_one_common_value_has_no_density():
    rng = np.random.default_rng(0)
    X = np.column_stack([rng.integers(0, 2, 500), np.maximum(rng.normal(size=500), 0), rng.uniform(size=500)])
    density, _ = densities(standardised(X))
    assert density(0, ()) == density(1, ()) == 0.0
    assert density(2, ()) < 0


def test_the_residual_is_that_of_the_blocks(monkeypatch):
    rng = np.random.default_rng(0)
    a, b, c = rng.normal(size=(3, 800))
    X = standardised(np.column_stack([a, b, np.sin(a) + a * b + c**3 / 4]))
    density, blocks = densities(X)
    local = LocalScores(blocks)(2, 0b011)
    assert PAIR in blocks.kind[list(local.blocks)]
    seen = []
    monkeypatch.setattr(noise, "legendre_means", lambda residual, mean: seen.append(residual) or mean.fill(0.0))
    density(2, local.blocks)
    assert seen[0].var() == pytest.approx(local.variance, rel=1e-3)  # there is a small ridge


def test_many_rows_are_sampled(monkeypatch):
    monkeypatch.setattr(noise, "DENSITY_ROWS", 300)
    X = standardised(np.random.default_rng(0).uniform(size=(3000, 2)))
    density, _ = densities(X)
    assert density._targets.shape == (2, 300)
    monkeypatch.setattr(noise, "DENSITY_ROWS", 5000)
    assert densities(X)[0](0, ()) == pytest.approx(density(0, ()), abs=0.2)


def test_what_is_extremely_far_from_normal_gains_no_more():
    rng = np.random.default_rng(0)
    for x in (rng.normal(size=2000) ** 3, np.append(rng.normal(size=1999), 1e6), rng.exponential(size=2000) ** 2):
        assert gain(x) == 0.1


def test_cubes_of_an_additive_model_have_nearly_its_order():
    """With unbounded gains two thirds of the edges contradicted the order."""
    rng = np.random.default_rng(0)
    wrong = 0
    for _ in range(5):
        a = rng.normal(size=800)
        b = 1.5 * np.sin(1.5 * a) + rng.normal(size=800)
        c = 1.5 * np.sin(1.5 * b) + rng.normal(size=800)
        order = OrderSearch(effort="fast").fit(np.column_stack([c, b, a]) ** 3).order_.tolist()
        wrong += (order.index(2) > order.index(1)) + (order.index(1) > order.index(0))
    assert wrong <= 2


def heteroscedastic_pair(seed, n=1000):
    rng = np.random.default_rng(seed)
    cause = rng.normal(size=n)
    return cause, np.sin(cause) + (0.2 + 1 / (1 + np.exp(-2 * cause))) * rng.normal(size=n)


def test_a_spread_is_divided_out_where_it_gains_likelihood():
    cause, effect = heteroscedastic_pair(0, 4000)
    X = standardised(np.column_stack([cause, effect]))
    density, blocks = densities(X)
    used = LocalScores(blocks)(1, 0b01).blocks
    before = density._gain(1, used)
    residual = density._residual(1, used)
    size = np.abs(residual)
    assert density.look_for_spread([(0, ()), (1, used)])
    after = density._gain(1, used)
    assert after > before + 0.02
    gain = density._divided_by_spread(residual, 1, used)  # what it leaves does not follow the cause any more
    assert gain > 0.05
    assert abs(np.corrcoef(np.abs(residual), X[:, 0])[0, 1]) < 0.1 < abs(np.corrcoef(size, X[:, 0])[0, 1])


def test_even_noise_has_no_spread():
    for seed in range(10):
        rng = np.random.default_rng(seed)
        cause = rng.normal(size=500)
        X = standardised(np.column_stack([cause, np.sin(cause) + rng.normal(size=500)]))
        density, blocks = densities(X)
        assert not density.look_for_spread([(1, LocalScores(blocks)(1, 0b01).blocks)])
        assert not density.has_spread


def test_spread_tells_directions():
    right = 0
    for seed in range(10):
        cause, effect = heteroscedastic_pair(seed)
        search = OrderSearch().fit(np.column_stack([effect, cause]))
        assert search.has_spread_
        right += search.order_.tolist() == [1, 0]
    assert right >= 9


def test_no_spread_of_nothing():
    X = standardised(np.random.default_rng(0).normal(size=(100, 2)))
    density, _ = densities(X)
    assert not density.look_for_spread([])
    assert not density.look_for_spread([(0, ()), (1, ())])

"""HSIC: its moments over all permutations, and the dependence that it detects."""

from __future__ import annotations

from itertools import permutations

import numpy as np
import pytest

from sartre.stein.hsic import centred_kernel, dependence, permutation_moments, squared_distances


def kernel(X):
    return centred_kernel(squared_distances(np.asarray(X, dtype=float).reshape(len(X), -1)))


def test_the_moments_are_those_over_all_permutations():
    rng = np.random.default_rng(0)
    A, B = kernel(rng.normal(size=(6, 2))), kernel(rng.exponential(size=6))
    values = [(A * B[np.ix_(p, p)]).sum() for p in map(list, permutations(range(6)))]
    np.testing.assert_allclose(permutation_moments(A, B), (np.mean(values), np.var(values)), rtol=1e-10)


def test_the_kernel_is_centred_and_its_width_is_the_median_of_all_distances():
    X = np.random.default_rng(0).normal(size=(40, 3))
    distances = np.array([[((a - b) ** 2).sum() for b in X] for a in X])
    np.testing.assert_allclose(squared_distances(X), distances, atol=1e-12)
    K = np.exp(-distances / np.median(distances[np.triu_indices(40, k=1)]))
    H = np.eye(40) - 1 / 40
    np.testing.assert_allclose(kernel(X), H @ K @ H, atol=1e-12)


def test_independent_samples_are_a_standard_deviation_from_zero():
    rng = np.random.default_rng(0)
    values = [dependence(kernel(rng.normal(size=60)), kernel(rng.laplace(size=(60, 2)))) for _ in range(300)]
    assert abs(np.mean(values)) < 0.2
    assert 0.8 < np.std(values) < 1.2


@pytest.mark.parametrize("relation", [np.square, np.abs, np.sin, lambda x: x])
def test_dependence_is_seen_and_units_change_nothing(relation):
    rng = np.random.default_rng(1)
    x = rng.normal(size=200)
    y = relation(x) + rng.normal(size=200) / 3
    seen = dependence(kernel(x), kernel(y))
    assert seen > 8
    assert dependence(kernel(1e6 * x + 5), kernel(1e-6 * y)) == pytest.approx(seen, rel=1e-6)


def test_what_does_not_vary_depends_on_nothing():
    x = np.random.default_rng(0).normal(size=50)
    assert dependence(kernel(np.zeros(50)), kernel(x)) == 0.0


def test_discrete_values_have_a_width():
    rng = np.random.default_rng(0)
    x = (rng.random(100) < 0.1).astype(float)  # most distances are zero
    assert dependence(kernel(x), kernel(x + rng.normal(size=100) / 10)) > 8

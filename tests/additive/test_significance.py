"""Tails of weighted chi-squares agree with exact values where these are known, and with simulations elsewhere."""

from __future__ import annotations

import numpy as np
import pytest
from scipy.stats import chi2, f

from sartre.additive.significance import weighted_chi_square_tail, weighted_f_tail


@pytest.mark.parametrize("k", [1, 2, 5, 40])
@pytest.mark.parametrize("level", [0.9, 0.5, 0.1, 1e-2, 1e-4, 1e-8, 1e-14])
def test_equal_weights_are_a_chi_square(k, level):
    q = chi2.isf(level, k)
    assert weighted_chi_square_tail(3 * q, np.full(k, 3.0)) == pytest.approx(level, rel=0.12)


def test_the_tail_is_continuous_across_the_mean():
    weights = np.array([2.0, 1.0, 0.1])
    tails = [weighted_chi_square_tail(q, weights) for q in np.linspace(2.9, 3.3, 400)]
    assert (np.diff(tails) < 0).all()
    assert np.abs(np.diff(tails, 2)).max() < 1e-4


@pytest.mark.parametrize("weights", [[1.0, 0.01], [3.0, 1.0, 1.0, 0.2], [5.0] + [0.1] * 20])
def test_unequal_weights_match_simulation(weights):
    weights = np.array(weights)
    rng = np.random.default_rng(0)
    draws = (weights * rng.chisquare(1, size=(400_000, len(weights)))).sum(axis=1)
    for level in (0.2, 0.01, 0.001):
        q = np.quantile(draws, 1 - level)
        assert weighted_chi_square_tail(q, weights) == pytest.approx(level, rel=0.15)


@pytest.mark.parametrize("k", [1, 4])
@pytest.mark.parametrize("df", [8.0, 60.0, 2000.0])
@pytest.mark.parametrize("level", [0.3, 1e-2, 1e-5])
def test_over_estimated_noise_equal_weights_are_an_f(k, df, level):
    assert weighted_f_tail(k * f.isf(level, k, df), np.ones(k), df) == pytest.approx(level, rel=0.12)


def test_nothing_beyond_zero_is_certain():
    assert weighted_chi_square_tail(0.0, np.ones(2)) == 1.0
    assert weighted_f_tail(0.0, np.ones(2), 10.0) == 1.0

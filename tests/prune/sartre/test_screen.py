"""The automatic penalty has the intended false positive rate, whatever the unit, the samples and the trees."""

from __future__ import annotations

import numpy as np
import pytest
from scipy.stats import chi2

from sartre.additive.bases.trees import random_intervals
from sartre.additive.design import prepare
from sartre.additive.lasso import largest_penalty, solve
from sartre.additive.significance import weighted_chi_square_quantile
from sartre.prune.sartre.screen import NullNorms, solve_calibrated


def design_of(X, n_trees=5):
    rng = np.random.default_rng(0)
    return prepare(X, [random_intervals(column, n_trees, 8, rng) for column in X.T])


def calibrated(design, y, norms, tol):
    """Fit the calibrated lasso of a target on all variables of a design."""
    everything, weights = np.arange(len(design.rank)), norms / np.sqrt(len(y))
    return solve_calibrated(
        lambda penalty, start: solve(design, y, everything, penalty, weights=weights, start=start, tol=tol),
        float(np.std(y)),
    )


@pytest.mark.parametrize("level", [0.3, 0.05, 1e-3, 1e-6])
def test_quantiles_of_equal_weights_are_those_of_a_chi_square(level):
    assert weighted_chi_square_quantile(level, np.full(9, 0.5)) == pytest.approx(chi2.isf(level, 9) / 2, rel=0.02)


@pytest.mark.parametrize("n_trees", [1, 5, 20])
@pytest.mark.parametrize("kind", ["normal", "binary"])
def test_noise_exceeds_the_null_norm_as_often_as_the_level_says(n_trees, kind):
    rng = np.random.default_rng(1)
    X = rng.normal(size=(300, 1)) if kind == "normal" else rng.integers(0, 2, size=(300, 1)).astype(float)
    design = design_of(X, n_trees)
    norm = NullNorms(design.spectra).at(0.05)[0]
    exceeded = [largest_penalty(design, rng.normal(size=300), np.array([0])) * np.sqrt(300) > norm for _ in range(3000)]
    assert 0.035 < np.mean(exceeded) < 0.065


@pytest.mark.parametrize("unit", [1e-6, 1.0, 1e6])
def test_the_unit_of_the_target_does_not_matter(unit):
    rng = np.random.default_rng(0)
    X = rng.normal(size=(400, 8))
    y = np.sin(2 * X[:, 3]) + rng.normal(size=400)
    design = design_of(X)
    norms = NullNorms(design.spectra).at(0.01)
    solution = calibrated(design, unit * y, norms, tol=1e-8)
    plain = calibrated(design, y, norms, tol=1e-8)
    assert 3 in solution.support
    assert solution.support.tolist() == plain.support.tolist()


def test_the_noise_level_is_that_of_the_residual():
    rng = np.random.default_rng(0)
    X = rng.normal(size=(2000, 3))
    y = 5 * np.sin(2 * X[:, 0]) + rng.normal(size=2000)
    design = design_of(X, n_trees=20)
    norms = NullNorms(design.spectra).at(0.05)
    solution = calibrated(design, y, norms, tol=1e-8)
    sigma = solution.penalties[0] * np.sqrt(2000) / norms[0]
    assert 1.0 < sigma < 0.5 * np.std(y)

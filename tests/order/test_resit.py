"""RESIT takes any regressor, uses residuals of held-out rows, and gives the same order for any number of threads."""

from __future__ import annotations

import numpy as np
import pytest
from sklearn.ensemble import ExtraTreesRegressor
from sklearn.linear_model import LinearRegression
from sklearn.neighbors import KNeighborsRegressor
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import PolynomialFeatures

from sartre.order import RESIT
from sartre.stein.hsic import centred_kernel, dependence, squared_distances


def pair(seed=0, n=200):
    """Return an effect and its cause."""
    rng = np.random.default_rng(seed)
    cause = rng.uniform(-2, 2, size=n)
    return np.column_stack([cause**2 + rng.uniform(-1, 1, size=n), cause])


@pytest.mark.parametrize(
    "regressor", [None, make_pipeline(PolynomialFeatures(3), LinearRegression())], ids=["", "poly"]
)
def test_a_cause_is_told_from_its_effect(regressor):
    for seed in range(3):
        assert RESIT(regressor, random_state=0).fit(pair(seed)).order_.tolist() == [1, 0]


def test_linear_effects_of_noise_that_is_not_gaussian_are_ordered():
    for seed in range(3):
        e = np.random.default_rng(seed).uniform(-1, 1, size=(300, 3))
        chain = np.cumsum(e, axis=1)
        assert RESIT(LinearRegression(), random_state=0).fit(chain).order_.tolist() == [0, 1, 2]


def test_rows_are_predicted_by_regressors_that_have_not_seen_them():
    # With one nearest neighbour the residuals on the training rows are zero, so every variable would look like a leaf.
    X = pair()
    scores = RESIT(KNeighborsRegressor(1), random_state=0).fit(X).scores_[-1]
    assert np.all(scores != 0)
    assert scores[0] < scores[1]


def test_the_score_is_the_dependence_of_the_residual_on_the_others():
    X = pair()
    mean = RESIT(LinearRegression(), n_folds=200, random_state=0).fit(X).scores_[-1]
    Z = (X - X.mean(axis=0)) / X.std(axis=0)
    for j in range(2):
        x, y = Z[:, 1 - j], Z[:, j]
        hat = 1 / 200 + np.outer(x, x) / 200
        residual = (y - hat @ y) / (1 - np.diag(hat))  # leave-one-out, in closed form
        kernels = [centred_kernel(squared_distances(values[:, None])) for values in (residual, x)]
        assert mean[j] == pytest.approx(dependence(*kernels), rel=1e-6)


def test_seed_and_threads_give_the_same_scores_and_reach_the_regressor():
    X = pair(n=60)
    forest = ExtraTreesRegressor(5)
    scores = [RESIT(forest, n_jobs=jobs, random_state=seed).fit(X).scores_ for jobs, seed in ((1, 0), (2, 0), (1, 1))]
    np.testing.assert_array_equal(scores[0], scores[1])
    assert np.nanmax(np.abs(scores[0] - scores[2])) > 0


def test_no_more_rows_than_asked_for_are_used():
    sizes = []

    class Spy(LinearRegression):
        def fit(self, X, y):
            sizes.append(len(X))
            return super().fit(X, y)

    RESIT(Spy(), max_samples=50, random_state=0).fit(pair())
    assert set(sizes) == {40}


@pytest.mark.parametrize(
    ("settings", "error"),
    [({"regressor": 3}, TypeError), ({"n_folds": 1}, ValueError), ({"max_samples": 5}, ValueError)],
)
def test_wrong_settings_are_named(settings, error):
    with pytest.raises(error, match=f"'{next(iter(settings))}' parameter of RESIT"):
        RESIT(**settings).fit(pair())

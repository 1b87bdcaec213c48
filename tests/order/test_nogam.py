"""NoGAM: residuals without folds, and a criterion without units."""

from __future__ import annotations

import numpy as np
import pytest

from sartre.order import NoGAM
from sartre.order.nogam import leave_one_out_residuals


def gaussian_kernel(x):
    return np.exp(-((x[:, None] - x) ** 2) / 2)


def test_each_row_is_predicted_from_all_others():
    rng = np.random.default_rng(0)
    x = rng.normal(size=30)
    y = np.sin(x) + rng.normal(size=30) / 2
    K = gaussian_kernel(x)
    expected = []
    for i in range(30):
        rest = np.delete(np.arange(30), i)
        weights = np.linalg.solve(K[np.ix_(rest, rest)] + 0.3 * np.eye(29), y[rest])
        expected.append(y[i] - K[i, rest] @ weights)
    np.testing.assert_allclose(leave_one_out_residuals(K.copy(), y, 0.3), expected, rtol=1e-9)


@pytest.mark.parametrize("noise", ["normal", "laplace", "uniform", "exponential"])
def test_noise_of_any_distribution_shows_the_effect(noise):
    right = 0
    for seed in range(5):
        draw = getattr(np.random.default_rng(seed), noise)
        cause, e = draw(size=300), draw(size=300)
        effect = np.sin(3 * (cause - cause.mean()) / cause.std()) + 0.7 * (e - e.mean()) / e.std()
        right += NoGAM().fit(np.column_stack([effect, cause])).order_.tolist() == [1, 0]
    assert right >= 4


def test_of_a_linear_gaussian_pair_both_scores_are_lines_in_their_residuals():
    rng = np.random.default_rng(0)
    x = rng.normal(size=600)
    left = NoGAM().fit(np.column_stack([x, x + rng.normal(size=600)])).scores_[-1]
    # s = -Omega x has s_j = -Omega_jj r_j for both j: only estimation error remains unexplained.
    assert np.all(left < 0.25)


@pytest.mark.parametrize("settings", [{"eta": 0.0}, {"width": 0.0}, {"ridge": -1.0}])
def test_wrong_settings_are_named(settings):
    with pytest.raises(ValueError, match=f"'{next(iter(settings))}' parameter of NoGAM"):
        NoGAM(**settings).fit(np.random.default_rng(0).normal(size=(20, 2)))

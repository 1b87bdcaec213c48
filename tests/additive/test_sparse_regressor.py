"""SparseAdditiveRegressor: a scikit-learn regressor whose functions can be inspected."""

from __future__ import annotations

import numpy as np
import pandas as pd
import pytest
from sklearn.exceptions import ConvergenceWarning
from sklearn.utils.estimator_checks import estimator_checks_generator

from sartre.additive import SparseAdditiveRegressor
from sartre.additive.bases.trees import Embedding


@pytest.fixture(scope="module")
def data():
    rng = np.random.default_rng(0)
    X = pd.DataFrame(rng.uniform(-2, 2, size=(600, 5)), columns=list("abcde"))
    return X, 3 + np.sin(2 * X["b"]) + X["d"] ** 2 / 2 + rng.normal(size=600) / 5


CHECKS = list(estimator_checks_generator(SparseAdditiveRegressor()))


@pytest.mark.parametrize(
    ("estimator", "check"), CHECKS, ids=lambda item: getattr(item, "func", item).__class__.__name__
)
@pytest.mark.filterwarnings("default")
def test_scikit_learns_own_checks_pass(estimator, check):
    check(estimator)


def test_the_right_features_are_selected_and_ranked(data):
    X, y = data
    model = SparseAdditiveRegressor(penalty=0.05, random_state=0).fit(X, y)
    assert model.selected_features_.tolist() == [1, 3]
    assert (model.feature_importances_[[0, 2, 4]] == 0).all()
    assert (model.feature_importances_[[1, 3]] > 0.3).all()


def test_a_prediction_is_the_intercept_plus_the_shape_functions(data):
    X, y = data
    model = SparseAdditiveRegressor(penalty=0.05, random_state=0).fit(X, y)
    parts = [model.shape_function(name)(X[name].to_numpy()) for name in X.columns]
    np.testing.assert_allclose(model.predict(X), y.mean() + sum(parts))
    for j, part in enumerate(parts):
        assert part.mean() == pytest.approx(0, abs=1e-10)
        assert np.sqrt(np.mean(part**2)) == pytest.approx(model.feature_importances_[j])
        np.testing.assert_array_equal(part, model.shape_function(j)(X.iloc[:, j].to_numpy()))


def test_unseen_values_take_the_outermost_piece(data):
    X, y = data
    shape = SparseAdditiveRegressor(penalty=0.05, random_state=0).fit(X, y).shape_function("d")
    assert len(shape.values) == len(shape.knots) + 1
    assert shape(np.array([-1e9, 1e9])).tolist() == [shape.values[0], shape.values[-1]]
    assert shape(shape.knots).tolist() == shape.values[:-1].tolist()  # (a, b]: a knot belongs to the piece on its left


def test_a_wrong_feature_is_named(data):
    model = SparseAdditiveRegressor(random_state=0).fit(*data)
    with pytest.raises(ValueError, match=r"'z' is not a feature here\. Choose one of a, b, c, d, e"):
        model.shape_function("z")
    with pytest.raises(ValueError, match=r"index of a feature must be in the range \[0, 4\]\. Got 5"):
        model.shape_function(5)


def test_running_out_of_sweeps_warns_with_a_remedy(data):
    with pytest.warns(ConvergenceWarning, match="Raise 'max_iter', 'tol' or 'penalty'"):
        SparseAdditiveRegressor(penalty=1e-4, max_iter=1, random_state=0).fit(*data)


def test_proposition_1_the_distance_to_a_smooth_function_falls_to_zero_as_trees_and_leaves_grow():
    x = np.linspace(-1, 1, 4000)
    y = np.sin(4 * x) + x**2
    distances = []
    for n_trees, max_leaves in [(1, 4), (5, 8), (20, 16), (80, 32)]:
        model = SparseAdditiveRegressor(
            penalty=1e-6, embedding=Embedding(n_trees, max_leaves), tol=1e-8, random_state=0
        ).fit(x[:, None], y)
        distances.append(np.abs(model.predict(x[:, None]) - y).max())
    assert distances == sorted(distances, reverse=True)
    assert distances[0] > 0.3
    assert distances[-1] < 0.02

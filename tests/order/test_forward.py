"""Models that are grown in Gram form equal models that are fitted at once."""

from __future__ import annotations

import numpy as np
import pytest

from sartre.additive.bases.splines import spline
from sartre.additive.design import prepare
from sartre.additive.gram import gram_of_design
from sartre.order.forward import LINE_PENALTY, ForwardModels

SMOOTHNESS = 1e-3


@pytest.fixture(scope="module")
def X():  # noqa: N802
    rng = np.random.default_rng(0)
    X = rng.normal(size=(200, 4))
    X[:, 3] = rng.integers(0, 3, size=200)  # fewer functions than the others
    X[:, 0] += np.sin(X[:, 1]) + X[:, 2] * (X[:, 3] - 1)
    return (X - X.mean(axis=0)) / X.std(axis=0)


@pytest.fixture
def models(X):
    return ForwardModels(gram_of_design(prepare(X, [spline(x, 6).basis() for x in X.T]), X), SMOOTHNESS)


def unexplained(X, target, variables):
    """Return the penalised deviance of the direct fit of a target on the functions of some variables."""
    design = prepare(X[:, variables], [spline(x, 6).basis() for x in X[:, variables].T])
    F = np.hstack([design.table(j)[design.codes[j]] for j in range(len(variables))])
    y = X[:, target]
    gram_matrix = F.T @ F / len(X) + np.diag(LINE_PENALTY + SMOOTHNESS * design.roughness)
    b = F.T @ y / len(X)
    return 1 - b @ np.linalg.solve(gram_matrix, b)


def test_every_gain_and_every_step_is_that_of_a_direct_fit(X, models):
    chosen = []
    for variable in (2, 3, 1):
        rest = [j for j in (1, 2, 3) if j not in chosen]
        before = unexplained(X, 0, chosen) if chosen else 1.0
        expected = [np.log(before) - np.log(unexplained(X, 0, [*chosen, j])) for j in rest]
        np.testing.assert_allclose(models.gains(0)[rest], expected, rtol=1e-8)
        models.add(0, variable)
        chosen.append(variable)
        assert models.unexplained[0] == pytest.approx(unexplained(X, 0, chosen), rel=1e-9)


def test_a_variable_that_is_in_gains_nothing_and_other_targets_do_not_change(models):
    others = models.gains(1)
    models.add(0, 2)
    assert models.gains(0)[2] == 0.0
    np.testing.assert_array_equal(models.gains(1), others)


def test_a_copy_gains_nothing_beside_its_original_and_explains_itself_in_full(X):
    copied = np.column_stack([X[:, :2], X[:, 1]])
    models = ForwardModels(
        gram_of_design(prepare(copied, [spline(x, 6).basis() for x in copied.T]), copied), SMOOTHNESS
    )
    assert models.gains(1)[2] > 10
    models.add(0, 1)
    assert models.gains(0)[2] < 1e-3

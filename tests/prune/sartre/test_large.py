"""Selection from sums agrees with selection from rows, as far as the two use the same functions."""

from __future__ import annotations

import numpy as np
import pytest

from sartre.additive.bases.splines import smooth_bases
from sartre.additive.design import prepare
from sartre.additive.smooth_sums import SmoothCounter
from sartre.additive.smoothing import fit_smooths
from sartre.prune.sartre.large import SummedSelection
from sartre.prune.sartre.rows import RowModel, share_rows
from sartre.prune.sartre.select import select


def chain(n, seed):
    """Return x0 -> x1 -> x4 <- x2, and x3 unconnected; columns 5 to 9 are noise."""
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(n, 10))
    X[:, 1] = np.sin(2 * X[:, 0]) + X[:, 1] / 2
    X[:, 4] = X[:, 1] ** 2 + 0.3 * X[:, 2] + X[:, 4] / 2
    return X


@pytest.mark.parametrize("seed", range(4))
def test_the_choice_is_that_of_the_rows(seed):
    X = chain(3000, seed)
    shared = share_rows(X, prepare(X, smooth_bases(X, 10)), None)
    counter = SmoothCounter.of(X)
    counted = SummedSelection(counter, counter.count(X))
    others = np.array([0, 1, 2, 3, 5, 6, 7, 8, 9])
    (rows,) = select(RowModel(shared, shared.X[:, 4]), 4, others, [0.01], 1e-6)
    (sums,) = counted.select(4, others, [0.01], 1e-6)
    assert sums.parents.tolist() == rows.parents.tolist() == [1, 2]
    np.testing.assert_allclose(sums.strength, rows.strength, atol=2e-3)
    np.testing.assert_allclose(np.log(sums.p_value[1]), np.log(rows.p_value[1]), rtol=0.02)


def test_required_variables_stay_and_levels_are_nested():
    X = chain(2000, 7)
    counter = SmoothCounter.of(X)
    counted = SummedSelection(counter, counter.count(X))
    strict, loose = counted.select(4, np.array([0, 1, 2, 3, 5]), [1e-9, 0.9], 1e-6, required=[5])
    assert 5 in strict.parents
    assert set(strict.parents) <= set(loose.parents)
    assert np.isfinite(strict.p_value).all()


def test_independent_columns_have_no_parent():
    found = 0
    for seed in range(20):
        X = np.random.default_rng(seed).normal(size=(500, 8))
        counter = SmoothCounter.of(X[:200])
        counted = SummedSelection(counter, counter.count(X))
        found += len(counted.select(7, np.arange(7), [0.05], 1e-6)[0].parents)
    assert found <= 5  # one is expected; 6 or more have a probability of 1 in 1000


def test_what_few_splines_leave_of_a_parent_is_no_effect_of_its_other_child():
    rng = np.random.default_rng(1)
    X = rng.normal(size=(200_000, 3))
    X[:, 0] *= 1.5
    X[:, 1] += X[:, 0]
    X[:, 2] += np.sin(3 * X[:, 0])
    counter = SmoothCounter.of(X[:50_000])
    counted = SummedSelection(counter, counter.count(X))
    coarse = fit_smooths(counted.gram, 2, np.array([0, 1]))
    assert coarse.p_value[1] < 1e-6  # ten splines do not fit the sine
    assert counted.select(2, np.array([0, 1]), [0.01], 1e-6)[0].parents.tolist() == [0]

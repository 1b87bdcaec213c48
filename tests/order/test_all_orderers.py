"""What every orderer must do: a permutation that obeys, whatever the table."""

from __future__ import annotations

from importlib.util import find_spec

import numpy as np
import pytest
from sklearn.base import clone

from sartre.metrics import order_divergence
from sartre.order import CAM, RESIT, CaPS, DiffAN, NoGAM, R2Sort, RandomOrder, VarianceSort
from sartre.simulate import random_dag, simulate

DIFFAN = pytest.param(
    DiffAN(3, width=16, random_state=0), marks=pytest.mark.skipif(not find_spec("torch"), reason="needs PyTorch")
)
ORDERERS = [
    CAM(),
    CaPS(),
    DIFFAN,
    NoGAM(),
    RESIT(random_state=0),
    R2Sort(),
    RandomOrder(random_state=0),
    VarianceSort(),
]
UNIT_FREE = [CAM(), NoGAM(), RESIT(random_state=0), R2Sort()]
LEARNERS = [CAM(), CaPS(), NoGAM(), RESIT(random_state=0), R2Sort(), VarianceSort()]
GOOD = [CAM(), CaPS(), NoGAM(), RESIT(random_state=0)]

every = pytest.mark.parametrize("orderer", ORDERERS, ids=lambda orderer: type(orderer).__name__)
unit_free = pytest.mark.parametrize("orderer", UNIT_FREE, ids=lambda orderer: type(orderer).__name__)
learners = pytest.mark.parametrize("orderer", LEARNERS, ids=lambda orderer: type(orderer).__name__)
good = pytest.mark.parametrize("orderer", GOOD, ids=lambda orderer: type(orderer).__name__)


def chain(n=80, seed=0):
    """Return x0 -> x1 -> x2, and x3 on its own."""
    e = np.random.default_rng(seed).normal(size=(n, 4))
    x1 = np.sin(2 * e[:, 0]) + e[:, 1] / 2
    return np.column_stack([e[:, 0], x1, x1**2 / 2 + e[:, 2] / 2, e[:, 3]])


@every
@pytest.mark.parametrize("seed", range(4))
def test_what_must_precede_precedes(orderer, seed):
    rng = np.random.default_rng(seed)
    wanted = rng.permutation(4)
    place = np.argsort(wanted)
    before = (place[:, None] < place) & (rng.random((4, 4)) < 0.6)
    order = clone(orderer).fit(chain(seed=seed), before).order_
    position = np.argsort(order)
    assert sorted(order.tolist()) == [0, 1, 2, 3]
    assert all(position[i] < position[j] for i, j in np.argwhere(before))


@every
def test_an_order_demanded_in_full_is_the_order(orderer):
    before = np.tri(4, k=-1, dtype=bool)  # 3 first, then 2, 1 and 0
    assert clone(orderer).fit(chain(), before).order_.tolist() == [3, 2, 1, 0]


@every
@pytest.mark.filterwarnings("ignore:Constant columns", "ignore:Duplicated columns")
def test_awkward_columns_keep_the_order_a_permutation(orderer):
    X = chain(50)
    discrete = np.round(X[:, :2])
    awkward = np.column_stack([X[:, :2], np.ones(50), X[:, 0], -3 * X[:, 1] + 7, discrete])
    order = clone(orderer).fit(awkward).order_
    assert sorted(order.tolist()) == list(range(7))
    np.testing.assert_array_equal(order, clone(orderer).fit(awkward).order_)


@every
@pytest.mark.filterwarnings("ignore:Constant columns")
@pytest.mark.parametrize("X", [chain()[:, :1], chain()[:, :2], np.ones((20, 3))], ids=["one", "two", "constant"])
def test_few_or_no_variables_work(orderer, X):
    assert sorted(clone(orderer).fit(X).order_.tolist()) == list(range(X.shape[1]))


@learners
def test_permuting_columns_permutes_the_order(orderer):
    X = chain(150)
    moved = [2, 3, 1, 0]
    plain, other = (clone(orderer).fit(table).order_ for table in (X, X[:, moved]))
    np.testing.assert_array_equal(np.array(moved)[other], plain)


@unit_free
def test_units_and_offsets_change_nothing(orderer):
    X = chain(150)
    scaled = X * np.array([1e-3, 50.0, 1e6, 2.0]) + np.array([3.0, -100.0, 1e7, 0.0])
    np.testing.assert_array_equal(clone(orderer).fit(scaled).order_, clone(orderer).fit(X).order_)


@good
def test_few_edges_run_against_the_order(orderer):
    wrong = 0
    for seed in range(6):
        data = simulate(random_dag(6, 6, random_state=seed), 300, random_state=seed)
        wrong += order_divergence(data.dag, clone(orderer).fit(data.X).order_)
    assert wrong <= 9  # of 36, where chance has 18

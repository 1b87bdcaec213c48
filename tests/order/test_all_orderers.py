"""Every orderer must return a permutation that obeys the known precedences, whatever the table."""

from __future__ import annotations

import inspect
import json
from collections.abc import Callable
from dataclasses import dataclass
from importlib.util import find_spec
from typing import Any

import numpy as np
import pytest
from sklearn.base import clone

import sartre.order
from sartre.metrics import order_divergence
from sartre.order import (
    CAM,
    RESIT,
    SCORE,
    CaPS,
    DiffAN,
    FixedOrder,
    NoGAM,
    OrderSearch,
    R2Sort,
    RandomOrder,
    VarianceSort,
)
from sartre.plan.estimate import COSTS
from sartre.simulate import random_dag, simulate
from sartre.steps import StepTags, tags_of


@dataclass(frozen=True, kw_only=True)
class Row:
    """An orderer, created for d columns, and its properties.

    follows_columns: permuting the columns permutes the order. rows_matter: why the order of the rows may change the
    result; empty if it may not. unit_free: units and offsets change nothing. good: few edges contradict its order.
    """

    make: Callable[[int], Any]
    follows_columns: bool = True
    rows_matter: str = ""
    unit_free: bool = False
    good: bool = False
    needs: str | None = None  # a package

    @property
    def name(self) -> str:
        return type(self.make(2)).__name__


TABLE = [
    Row(make=lambda _: CAM(), unit_free=True, good=True),
    Row(make=lambda _: CaPS(), good=True),
    Row(
        make=lambda _: DiffAN(3, width=16, random_state=0),
        follows_columns=False,  # the initial weights of the network belong to positions, not to columns
        rows_matter="batches and the rows held out are drawn by their numbers",
        needs="torch",  # unit_free up to rounding errors, which training may amplify
    ),
    Row(make=lambda d: FixedOrder(list(range(d))), follows_columns=False, unit_free=True),
    Row(make=lambda _: NoGAM(), unit_free=True, good=True),
    Row(make=lambda _: OrderSearch(random_state=0), unit_free=True, good=True),  # it draws from more than 1000 rows
    Row(make=lambda _: R2Sort(), unit_free=True),
    Row(make=lambda _: RandomOrder(random_state=0), follows_columns=False, unit_free=True),
    Row(make=lambda _: RESIT(random_state=0), rows_matter="folds are drawn", unit_free=True, good=True),
    Row(make=lambda _: SCORE(), good=True),  # with more than five variables, some rows determine the kernel's width
    Row(make=lambda _: VarianceSort()),
]
KNOWN_COSTS = set(json.loads(COSTS.read_text(encoding="utf-8"))["costs"])


def rows(wanted=lambda _: True, *, fitted=True):
    """Parametrise a test by the rows of the table for which something holds.

    fitted: whether the test fits, so that it needs what the orderer needs.
    """
    params = []
    for row in filter(wanted, TABLE):
        absent = fitted and row.needs is not None and not find_spec(row.needs)
        marks = [pytest.mark.skip(reason=f"needs {row.needs}")] if absent else []
        params.append(pytest.param(row, id=row.name, marks=marks))
    return pytest.mark.parametrize("row", params)


every = rows()
free = rows(lambda row: tags_of(row.make(2)).learns_order)  # a fixed order cannot be changed to obey


def chain(n=80, seed=0):
    """Return x0 -> x1 -> x2, and x3 on its own."""
    e = np.random.default_rng(seed).normal(size=(n, 4))
    x1 = np.sin(2 * e[:, 0]) + e[:, 1] / 2
    return np.column_stack([e[:, 0], x1, x1**2 / 2 + e[:, 2] / 2, e[:, 3]])


def test_every_orderer_is_in_the_table():
    public = {name: getattr(sartre.order, name) for name in sartre.order.__all__}
    orderers = {name for name, item in public.items() if inspect.isclass(item) and hasattr(item, "fit")}
    assert {row.name for row in TABLE} == orderers
    assert len(TABLE) == len(orderers)


@rows(fitted=False)
def test_tags_say_what_it_costs_in_words_that_the_plan_knows(row):
    tags = tags_of(row.make(4))
    assert isinstance(tags, StepTags)
    assert tags.costs is not None
    assert {cost.key for cost in tags.costs} <= KNOWN_COSTS
    assert tags.counting_cost is None  # pruners count all rows, orderers use the sample
    assert not (tags.needs_units and row.unit_free)


@rows(fitted=False)
def test_the_tag_of_a_gpu_goes_with_the_setting_and_costs_of_its_own(row):
    orderer = row.make(4)
    assert tags_of(orderer).runs_on_gpu == ("device" in orderer.get_params())
    if tags_of(orderer).runs_on_gpu:
        costs = tags_of(orderer.set_params(device="cuda")).costs
        assert costs
        assert all(cost.key.endswith("on a GPU") for cost in costs)


@free
@pytest.mark.parametrize("seed", range(4))
def test_what_must_precede_precedes(row, seed):
    rng = np.random.default_rng(seed)
    wanted = rng.permutation(4)
    place = np.argsort(wanted)
    before = (place[:, None] < place) & (rng.random((4, 4)) < 0.6)
    order = row.make(4).fit(chain(seed=seed), before).order_
    position = np.argsort(order)
    assert sorted(order.tolist()) == [0, 1, 2, 3]
    assert all(position[i] < position[j] for i, j in np.argwhere(before))


@free
def test_an_order_demanded_in_full_is_the_order(row):
    before = np.tri(4, k=-1, dtype=bool)  # 3 first, then 2, 1 and 0
    assert row.make(4).fit(chain(), before).order_.tolist() == [3, 2, 1, 0]


@rows(lambda row: not tags_of(row.make(2)).learns_order)
def test_an_order_that_is_given_stays_or_is_refused(row):
    before = np.zeros((4, 4), dtype=bool)
    before[0, 3] = True
    assert row.make(4).fit(chain(), before).order_.tolist() == [0, 1, 2, 3]
    with pytest.raises(ValueError, match="has 'x0' before 'x3', but 'x3' must come first"):
        row.make(4).fit(chain(), before.T)


@every
@pytest.mark.filterwarnings("ignore:Constant columns", "ignore:Duplicated columns")
def test_awkward_columns_keep_the_order_a_permutation(row):
    X = chain(50)
    discrete = np.round(X[:, :2])
    awkward = np.column_stack([X[:, :2], np.ones(50), X[:, 0], -3 * X[:, 1] + 7, discrete])
    order = row.make(7).fit(awkward).order_
    assert sorted(order.tolist()) == list(range(7))
    np.testing.assert_array_equal(order, row.make(7).fit(awkward).order_)


@every
@pytest.mark.filterwarnings("ignore:Constant columns")
@pytest.mark.parametrize("X", [chain()[:, :1], chain()[:, :2], np.ones((20, 3))], ids=["one", "two", "constant"])
def test_few_or_no_variables_work(row, X):
    assert sorted(row.make(X.shape[1]).fit(X).order_.tolist()) == list(range(X.shape[1]))


@every
def test_a_fit_changes_neither_the_settings_nor_the_table(row):
    X, orderer = chain(), row.make(4)
    before = np.zeros((4, 4), dtype=bool)
    X.flags.writeable = before.flags.writeable = False
    again = clone(orderer)
    orderer.fit(X, before)
    assert repr(orderer) == repr(again) == repr(clone(orderer))
    assert not hasattr(clone(orderer), "order_")
    np.testing.assert_array_equal(orderer.order_, again.fit(chain()).order_)


@rows(lambda row: row.follows_columns)
def test_permuting_columns_and_rows_permutes_the_order(row):
    X = chain(150)
    moved, shuffled = [2, 3, 1, 0], np.random.default_rng(1).permutation(150)
    other = X[:, moved] if row.rows_matter else X[shuffled][:, moved]
    np.testing.assert_array_equal(np.array(moved)[row.make(4).fit(other).order_], row.make(4).fit(X).order_)


@rows(lambda row: row.unit_free)
def test_units_and_offsets_change_nothing(row):
    X = chain(150)
    scaled = X * np.array([1e-3, 50.0, 1e6, 2.0]) + np.array([3.0, -100.0, 1e7, 0.0])
    np.testing.assert_array_equal(row.make(4).fit(scaled).order_, row.make(4).fit(X).order_)


@rows(lambda row: "n_jobs" in row.make(2).get_params())
def test_the_number_of_jobs_changes_nothing(row):
    one, two = (row.make(4).set_params(n_jobs=n_jobs).fit(chain(150)).order_ for n_jobs in (1, 2))
    np.testing.assert_array_equal(one, two)


@rows(lambda row: row.good)
def test_few_edges_run_against_the_order(row):
    wrong = 0
    for seed in range(6):
        data = simulate(random_dag(6, 6, random_state=seed), 300, random_state=seed)
        wrong += order_divergence(data.dag, row.make(6).fit(data.X).order_)
    assert wrong <= 9  # of 36 edges; a random order has 18 on average

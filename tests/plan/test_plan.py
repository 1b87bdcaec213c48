"""Plans: sums of fitted terms, scaled to the machine, for any size and without running anything."""

from __future__ import annotations

import json
from math import isfinite, isnan

import numpy as np
import pandas as pd
import pytest
from sklearn.base import BaseEstimator

from sartre import CausalDiscovery
from sartre.compute import parallel
from sartre.data import table as tables
from sartre.order import CAM, RESIT, SCORE, CaPS, DiffAN, FixedOrder, NoGAM, OrderSearch, R2Sort
from sartre.plan import estimate
from sartre.plan.estimate import COSTS, machine, plan, reading_step, shape_of, tasks_of
from sartre.prune import DAS, SARTRE, CAMPruning, CaPSPruning

TABLE = json.loads(COSTS.read_text(encoding="utf-8"))
ORDERERS = [OrderSearch(), SCORE(), SCORE(exact=True), CaPS(), NoGAM(), CAM(), RESIT(), DiffAN(), R2Sort()]
PRUNERS = [SARTRE(), SARTRE(penalty=0.1), CAMPruning(), DAS(), CaPSPruning()]


@pytest.fixture(autouse=True)
def same_machine(monkeypatch):
    """Treat this machine as the one that was measured, so that plans do not depend on its load."""
    monkeypatch.setattr(estimate, "machine", lambda: {"products": 1.0, "loops": 1.0})
    monkeypatch.setattr(estimate, "_memory_size", lambda: 16e9)


def seconds(order=None, prune=None, shape=(1000, 20), n_jobs=None):
    """Return the seconds of the order, of the pruning and, unless the order is given, of the directions."""
    return [step.seconds for step in plan(CausalDiscovery(order, prune, n_jobs=n_jobs), shape).steps]


@pytest.mark.parametrize("name", TABLE["costs"])
def test_every_cost_is_positive_and_its_range_holds_the_estimate(name):
    cost = TABLE["costs"][name]
    assert cost["kind"] in TABLE["references"]
    assert all(a > 0 for a, _, _ in cost["seconds"] + cost["bytes"])
    assert len(cost["seconds"]) >= 1
    assert cost["range"][0] < 1 < cost["range"][1]


@pytest.mark.parametrize("order", ORDERERS, ids=str)
@pytest.mark.parametrize("prune", PRUNERS[:1])
def test_more_rows_and_more_variables_take_longer(order, prune):
    small, long, wide = (seconds(order, prune, shape) for shape in ((200, 10), (400, 10), (200, 20)))
    assert 0 < small[0] < wide[0]
    assert 0 < small[0] <= long[0]


@pytest.mark.parametrize("prune", PRUNERS, ids=str)
def test_pruning_grows_with_rows_and_variables(prune):
    small, long, wide = (seconds(R2Sort(), prune, shape)[1] for shape in ((200, 10), (400, 10), (200, 20)))
    assert 0 < small < wide
    assert small < long


def test_exact_orders_and_their_memory_take_more():
    fast, exact = (plan(CausalDiscovery(SCORE(exact=exact)), (2000, 50)).steps[0] for exact in (False, True))
    assert exact.seconds > fast.seconds
    assert exact.bytes > fast.bytes > 4 * 2000**2  # the size of the kernel matrix alone


def test_more_rows_than_max_samples_cost_nothing():
    assert seconds(SCORE(max_samples=500), shape=(10**6, 20))[0] == seconds(SCORE(), shape=(500, 20))[0]


def test_many_rows_are_only_counted_except_for_a_sample():
    sample, many, more = (plan(CausalDiscovery(), (n, 20)) for n in (tables.SAMPLE_ROWS, 10**6, 2 * 10**6))
    assert sample.steps[0] == many.steps[0] == more.steps[0]
    counting = [found.steps[1].seconds - sample.steps[1].seconds for found in (many, more)]
    assert 0 < counting[0] < 60
    assert counting[1] == pytest.approx(2 * counting[0])
    assert more.total.bytes < 2 * sample.total.bytes + 8 * 20 * 2 * 10**6
    assert "fit_batches" in many.advice[-1]
    assert "50,000 of them are sampled" in many.advice[-1]


def test_with_many_rows_a_given_penalty_uses_a_sample_and_counts_none():
    sample, many = (plan(CausalDiscovery(prune=SARTRE(0.1)), (n, 20)) for n in (tables.SAMPLE_ROWS, 10**6))
    assert sample.steps == many.steps
    assert "fit_batches" in many.advice[-1]
    assert "50,000 of them are sampled" in many.advice[-1]


@pytest.mark.parametrize(("prune", "d"), [(CAMPruning(), 20), (SARTRE(), 301)], ids=str)
def test_all_rows_are_seen_where_they_are_not_counted(prune, d):
    sample, many = (
        plan(CausalDiscovery(R2Sort(), prune), (n, d)) for n in (tables.SAMPLE_ROWS, 10 * tables.SAMPLE_ROWS)
    )
    assert many.steps[0].seconds > 3 * sample.steps[0].seconds
    assert many.steps[1].seconds > 5 * sample.steps[1].seconds
    assert not any("fit_batches" in line for line in many.advice)


def test_a_search_costs_its_start_and_its_climb():
    climb = seconds(OrderSearch(FixedOrder(list(range(20)))))[0]
    starts = seconds(SCORE(max_samples=2000))[0], seconds(CAM())[0]
    assert seconds(OrderSearch())[0] == pytest.approx(climb + sum(starts))
    assert seconds(OrderSearch(effort="fast"))[0] == pytest.approx(climb + seconds(SCORE(max_samples=1000))[0])


def test_a_thorough_search_costs_its_processes_of_few_rows_and_columns():
    keys = [(task.cost, task.rows) for task in tasks_of(OrderSearch(effort="thorough"), 5000, 30)]
    assert ("OrderSearch polish", 800) in keys
    assert len(tasks_of(OrderSearch(effort="thorough"), 5000, 31)) == len(keys) - 1
    assert seconds(OrderSearch(effort="thorough"))[0] > 10 * seconds(OrderSearch())[0]


def test_directions_cost_where_they_are_weighed():
    assert [step.name for step in plan(CausalDiscovery(), (1000, 20)).steps][-1] == "directions"
    for model, d in ((CausalDiscovery(directions=False), 20), (CausalDiscovery(FixedOrder(range(20))), 20)):
        assert [step.name for step in plan(model, (1000, d)).steps] == ["order", "pruning"]
    assert len(plan(CausalDiscovery(), (1000, 101)).steps) == 2
    assert seconds(shape=(1000, 20))[2] < seconds(shape=(1000, 40))[2]


def test_a_given_order_costs_nothing():
    step = plan(CausalDiscovery(FixedOrder([0, 1])), (1000, 2)).steps[0]
    assert (step.seconds, step.high) == (0, 0)


def test_threads_share_the_work_of_the_steps_that_have_them_on_many_rows(monkeypatch):
    monkeypatch.setattr(parallel, "cpu_count", lambda: 4)
    many = (10_000, 20)
    one, four = seconds(SCORE(), shape=many), seconds(SCORE(), shape=many, n_jobs=4)
    assert one[0] / 4 < four[0] < one[0] / 1.5
    assert seconds(SCORE(n_jobs=1), shape=many, n_jobs=4)[0] == one[0]  # its own setting
    assert seconds(CAM(), shape=many, n_jobs=4)[0] == seconds(CAM(), shape=many)[0]  # has none
    assert seconds(shape=many, n_jobs=4)[0] == seconds(shape=many)[0]  # 2000 rows to start from, and a serial search
    assert seconds(SCORE(), n_jobs=4) == seconds(SCORE())  # too few rows


@pytest.mark.parametrize(("cores", "rows", "said"), [(2, 20_000, False), (16, 20_000, True), (16, 1000, False)])
def test_more_jobs_are_recommended_only_where_they_pay(monkeypatch, cores, rows, said):
    monkeypatch.setattr(parallel, "cpu_count", lambda: cores)
    monkeypatch.setattr(parallel, "effective_n_jobs", lambda n_jobs: cores if n_jobs == -1 else n_jobs)
    found = plan(CausalDiscovery(SCORE()), (rows, 2000))
    assert found.total.high > estimate.LONG
    assert any("--jobs -1" in line for line in found.advice) == said


def test_a_machine_half_as_fast_takes_twice_as_long(monkeypatch):
    before = seconds()
    monkeypatch.setattr(estimate, "machine", lambda: {"products": 2.0, "loops": 2.0})
    assert seconds() == pytest.approx([2 * value for value in before])


def test_the_machine_is_described_by_two_positive_numbers():
    assert all(value > 0 for value in machine().values())
    assert set(machine()) == set(TABLE["references"])


def test_nothing_is_run(monkeypatch):
    def refuse(*_, **__):
        raise AssertionError

    for step in (OrderSearch, SCORE, SARTRE):
        monkeypatch.setattr(step, "fit", refuse)
    assert isfinite(CausalDiscovery().plan(np.zeros((50, 3))).total.seconds)


def test_hopeless_sizes_are_reported_with_an_alternative():
    found = CausalDiscovery(SCORE(exact=True)).plan((10**6, 5000))
    text = str(found)
    assert "years" in text
    for hint in (
        "SCORE(max_samples=1000)",
        'device="cuda"',
        "SARTRE(penalty=0.1)",
        "of memory is needed",
    ):
        assert hint in text
    assert found.total.high > found.total.seconds > found.total.low


def test_what_is_quick_needs_no_advice():
    assert CausalDiscovery().plan((500, 10)).advice == ()


def test_the_total_is_the_sum_of_the_steps_and_holds_the_table():
    found = CausalDiscovery().plan((500, 10))
    assert found.total.seconds == pytest.approx(sum(step.seconds for step in found.steps))
    assert found.total.bytes == max(step.bytes for step in found.steps) + 8 * 500 * 10


def test_a_method_that_was_not_measured_is_not_known():
    class Own(BaseEstimator):
        def fit(self, X, before=None):
            raise NotImplementedError

    for order in (Own(), SCORE(device="cuda")):
        found = CausalDiscovery(order).plan((500, 10))
        assert isnan(found.steps[0].seconds)
        assert "not known" in str(found)
        assert "has not been measured" in found.advice[0]
        for reading in (None, reading_step("a.csv", 500, 10)):
            assert isnan(plan(CausalDiscovery(order), (500, 10), reading).total.bytes)


def test_costs_go_by_the_settings():
    assert [task.cost for task in tasks_of(SARTRE(penalty=0.1), 10, 5)] == ["SARTRE penalty"]
    assert [task.cost for task in tasks_of(CaPS(), 10, 5)] == ["SCORE exact"]


def test_joint_effects_cost_what_they_see():
    assert [(task.cost, task.rows) for task in tasks_of(SARTRE(joint=False), 5000, 20)] == [("SARTRE", 5000)]
    assert tasks_of(SARTRE(joint=True), 5000, 60)[1][:2] == ("SARTRE joint", 2000)
    assert tasks_of(SARTRE(), 5000, 50)[1][:2] == ("SARTRE joint auto", 800)
    assert len(tasks_of(SARTRE(), 5000, 51)) == 1  # it is left out there


@pytest.mark.parametrize("X", [np.zeros((7, 3)), pd.DataFrame(np.zeros((7, 3))), [[0.0] * 3] * 7, (7, 3)])
def test_shapes_are_those_of_tables_or_given(X):
    assert shape_of(X) == (7, 3)


@pytest.mark.parametrize("X", [np.zeros(3), (0, 3), (3, 4, 5), 7])
def test_what_has_no_rows_and_variables_is_refused(X):
    with pytest.raises(ValueError, match=r"A plan needs a table, or its shape \(n, d\)"):
        CausalDiscovery().plan(X)


def test_a_shortage_of_memory_is_told_where_the_estimate_exceeds_the_margin():
    found = plan(CausalDiscovery(), (12, 10_000))
    assert found.shortage() == found.shortage(3.0) == "3 TB of memory is needed, but this machine has 16 GB."
    assert found.shortage() in found.advice
    assert found.shortage(1000.0) is None
    assert plan(CausalDiscovery(SCORE(device="cuda")), (12, 10_000)).shortage() is None  # nothing is known about it

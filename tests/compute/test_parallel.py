"""The active joblib backend distributes the work, and the results do not depend on it."""

from __future__ import annotations

import os
import threading

import joblib
import numpy as np
import pandas as pd
import pytest
from joblib.parallel import BACKENDS, ThreadingBackend
from sklearn.base import clone
from threadpoolctl import threadpool_info, threadpool_limits

from sartre import CausalDiscovery
from sartre.compute import parallel
from sartre.compute.parallel import LARGE_ROWS, blas_threads, spread, workers
from sartre.evidence.stability import stability
from sartre.order import FixedOrder
from sartre.prune import SARTRE, CAMPruning


class AllAtOnce(ThreadingBackend):
    """A backend like Ray's: workers share no memory, and results arrive only when all are complete."""

    supports_sharedmem = False
    supports_return_generator = False


@pytest.fixture(autouse=True)
def registered(monkeypatch):
    monkeypatch.setitem(BACKENDS, "all at once", AllAtOnce)
    monkeypatch.setattr(parallel, "cpu_count", lambda: 2)


def table(n, seed):
    rng = np.random.default_rng(seed)
    a, c = rng.normal(size=(2, n))
    b = np.sin(2 * a) + rng.normal(size=n) / 2
    return pd.DataFrame({"a": a, "b": b, "c": c, "d": a * c + b**2 + rng.normal(size=n) / 2})


def where(shared, number):
    assert shared == "shared"
    inner = list(spread(thread, None, [()] * 3))
    return os.getpid(), threading.get_ident(), {result for _, result in inner}, number


def thread(_):
    return threading.get_ident()


@pytest.mark.parametrize(
    ("backend", "here"), [({}, True), ({"backend": "loky"}, False), ({"backend": "all at once"}, True)]
)
def test_tasks_run_where_the_backend_says_and_what_they_spread_stays_there(backend, here):
    with joblib.parallel_config(**backend, n_jobs=2):
        done = dict(spread(where, "shared", [(number,) for number in range(6)], n_jobs=2))
    assert [done[k][-1] for k in range(6)] == list(range(6))
    assert ({pid for pid, *_ in done.values()} == {os.getpid()}) == here
    if backend:
        assert all(inner == {mine} for _, mine, inner, _ in done.values())


def test_without_a_backend_and_a_number_all_is_done_in_this_thread():
    assert {result for _, result in spread(thread, None, [()] * 3)} == {threading.get_ident()}
    assert list(spread(thread, None, [])) == []


@pytest.mark.parametrize("backend", ["loky", "all at once"])
@pytest.mark.parametrize("prune", [SARTRE(), SARTRE(0.1), CAMPruning()])
def test_graphs_do_not_depend_on_the_backend(prune, backend):
    frame = table(400, seed=1)
    frame.loc[:40, "b"] = np.nan
    model = CausalDiscovery(FixedOrder(list("abcd")), prune, missing="bin", random_state=0)
    here = model.fit(frame).edges_
    with joblib.parallel_config(backend, n_jobs=2):
        pd.testing.assert_frame_equal(model.fit(frame).edges_, here, rtol=1e-9, atol=0)


@pytest.mark.parametrize("backend", ["all at once", "threading"])
def test_half_samples_do_not_depend_on_the_backend(backend):
    frame = table(300, seed=2)
    here = stability(CausalDiscovery(FixedOrder(list("abcd"))), frame, n_pairs=2, random_state=0)
    with joblib.parallel_config(backend, n_jobs=2):
        there = stability(CausalDiscovery(FixedOrder(list("abcd"))), frame, n_pairs=2, random_state=0)
    np.testing.assert_array_equal(there.edge_frequency, here.edge_frequency)
    np.testing.assert_array_equal(there.order_frequency, here.order_frequency)


def blas():
    return {library["num_threads"] for library in threadpool_info() if library["user_api"] == "blas"}


def test_limits_that_overlap_are_lifted_when_the_last_one_ends():
    with threadpool_limits(2, user_api="blas"):
        first, second = blas_threads(), blas_threads()
        first.__enter__()
        second.__enter__()
        first.__exit__(None, None, None)  # as in two threads: not in the reverse order
        assert blas() == {1}
        second.__exit__(None, None, None)
        assert blas() == {2}


def test_of_several_limits_the_smallest_is_in_force():
    with threadpool_limits(2, user_api="blas"), blas_threads(2, LARGE_ROWS):
        assert blas() == {2}
        with blas_threads(2, LARGE_ROWS - 1):  # short products: more threads would wait for each other
            assert blas() == {1}
        assert blas() == {2}


def test_fits_from_several_threads_leave_the_linear_algebra_as_it_was():
    frame, model = table(60, seed=3), CausalDiscovery(random_state=0)
    with threadpool_limits(2, user_api="blas"):
        fits = [threading.Thread(target=clone(model).fit, args=(frame,)) for _ in range(4)]
        for fit in fits:
            fit.start()
        for fit in fits:
            fit.join()
        assert blas() == {2}


@pytest.mark.parametrize("processes", [True, False])
def test_no_more_workers_are_started_than_there_are_tasks_or_cores(monkeypatch, processes):
    started = []

    class Recorded(joblib.Parallel):
        def __init__(self, n_jobs=None, **settings):
            started.append(n_jobs)
            super().__init__(n_jobs=1, **settings)

    monkeypatch.setattr(parallel, "Parallel", Recorded)
    for n_jobs, n_tasks in ((3000, 5), (-1, 5), (24, 1), (1, 5), (None, 5)):
        assert len(list(spread(pow, 2, [(3,)] * n_tasks, n_jobs, processes=processes))) == n_tasks
    assert started == [2, 2, 1, 1, None]
    assert workers(3000) == 2

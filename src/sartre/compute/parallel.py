"""Work is spread over threads, or over the joblib backend that the user has activated: processes, Dask, Ray."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from functools import cache
from typing import Any

from joblib import Parallel, delayed, effective_n_jobs, parallel_config
from joblib.parallel import get_active_backend
from threadpoolctl import ThreadpoolController, threadpool_limits

PARTS = 4  # parts of the work per Dask worker: a worker that dies loses little, and fast workers get more


def spread(
    function: Callable[..., Any],
    shared: Any,
    tasks: Sequence[tuple[Any, ...]],
    n_jobs: int | None = None,
    *,
    processes: bool = False,
) -> Iterator[tuple[int, Any]]:
    """Yield ``k, function(shared, *tasks[k])`` for every task, in the order in which they finish.

    A backend that was activated by ``joblib.parallel_config`` is used. If it shares no memory with this process, tasks
    are grouped so that `shared` is sent as rarely as possible; with Dask it is sent once, and again if the worker that
    holds it dies. In another process, a task runs on one thread.

    Parameters
    ----------
    function : callable
        A function at the top level of a module, so that it can be sent.
    shared : object
        The object that all tasks need.
    tasks : sequence of tuples
    n_jobs : int, optional
        As in joblib; one by default, and all available workers with Dask and Ray.
    processes : bool
        Whether to use processes rather than threads if no backend was activated; each task is sent on its own.

    Examples
    --------
    >>> sorted(spread(pow, 2, [(3,), (5,)]))
    [(0, 8), (1, 32)]
    """
    prefer = "processes" if processes else "threads"
    backend: Any = get_active_backend(prefer=prefer)[0]
    way: Any = "generator_unordered" if backend.supports_return_generator else "list"
    work: Any = Parallel(n_jobs=n_jobs, prefer=prefer, return_as=way)
    numbered = list(enumerate(tasks))
    if getattr(backend, "supports_sharedmem", False):
        with _blas().limit(limits=1, user_api="blas"):  # set here and not per task: it limits the process
            for results in work(delayed(_done)(function, shared, [task]) for task in numbered):
                yield from results
        return
    count = len(numbered)
    if not processes:
        count = min(count, _workers(n_jobs) * (PARTS if hasattr(backend, "client") else 1))
    with _sent_once(backend, shared):
        for results in work(delayed(_done_elsewhere)(function, shared, numbered[k::count]) for k in range(count)):
            yield from results


@contextmanager
def blas_threads(n_jobs: int | None) -> Iterator[None]:
    """Limit linear algebra to `n_jobs` threads, or one for None: on a busy machine more are often slower."""
    with threadpool_limits(effective_n_jobs(1 if n_jobs is None else n_jobs), user_api="blas"):
        yield


@cache
def _blas() -> ThreadpoolController:
    """Return the loaded linear algebra libraries; the result is cached, since the search takes milliseconds."""
    return ThreadpoolController()


def _workers(n_jobs: int | None) -> int:
    count: Any = effective_n_jobs  # its annotation lacks None, which means the backend's default
    return count(n_jobs)


def _done(function: Callable[..., Any], shared: Any, tasks: list[tuple[int, Any]]) -> list[tuple[int, Any]]:
    return [(k, function(shared, *task)) for k, task in tasks]


def _done_elsewhere(function: Callable[..., Any], shared: Any, tasks: list[tuple[int, Any]]) -> list[tuple[int, Any]]:
    """Run some of the tasks in another process; nested parallel work stays in that process."""
    with _blas().limit(limits=1, user_api="blas"), parallel_config("threading", n_jobs=1):
        return _done(function, shared, tasks)


@contextmanager
def _sent_once(backend: Any, shared: Any) -> Iterator[None]:
    """Let joblib's Dask backend use one result on the cluster for an object that every task needs.

    Scattered data are lost if the worker that holds them dies, and the run fails. The result of a task is not lost,
    because the scheduler can run the task again.
    """
    if not hasattr(backend, "client"):
        yield
        return
    import dask.config  # noqa: PLC0415 - an extra, needed only where it is active

    with dask.config.set({"distributed.admin.large-graph-warning-threshold": "1 TB"}):  # the graph is meant to be large
        backend.data_futures[id(shared)] = backend.client.submit(_same, shared, pure=False)
    try:
        yield
    finally:
        del backend.data_futures[id(shared)]


def _same(shared: Any) -> Any:
    return shared

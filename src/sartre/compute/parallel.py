"""Work that is spread over threads, or over whatever joblib backend the user switched on: processes, Dask, Ray."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from functools import cache
from typing import Any

from joblib import Parallel, delayed, effective_n_jobs, parallel_config
from joblib.parallel import get_active_backend
from threadpoolctl import ThreadpoolController, threadpool_limits

PARTS = 4  # of the work, a Dask worker: a worker that dies loses little, and those that are done early get more


def spread(
    function: Callable[..., Any],
    shared: Any,
    tasks: Sequence[tuple[Any, ...]],
    n_jobs: int | None = None,
    *,
    processes: bool = False,
) -> Iterator[tuple[int, Any]]:
    """Yield ``k, function(shared, *tasks[k])`` for every task, in the order in which they are done.

    A backend that was switched on by ``joblib.parallel_config`` is used. If it has no memory in common with this
    process, tasks are put together so that `shared` travels as seldom as can be; with Dask once, and it is sent anew if
    the worker that has it dies. Elsewhere, a task runs on one thread.

    Parameters
    ----------
    function : callable
        Of a module, so that it can be sent.
    shared : object
        What all tasks need.
    tasks : sequence of tuples
    n_jobs : int, optional
        As in joblib; one by default, and with Dask and Ray all that there are.
    processes : bool
        Whether, where no backend was switched on, these are processes and not threads; each task is sent on its own.

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
        with _blas().limit(limits=1, user_api="blas"):  # here and not in each task: the limit is the process's
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
    """Give linear algebra so many threads, one for None: on a busy machine more are often slower."""
    with threadpool_limits(effective_n_jobs(1 if n_jobs is None else n_jobs), user_api="blas"):
        yield


@cache
def _blas() -> ThreadpoolController:
    """Return the libraries of linear algebra that are loaded; to look for them takes milliseconds."""
    return ThreadpoolController()


def _workers(n_jobs: int | None) -> int:
    count: Any = effective_n_jobs  # None, which its annotation does not know, is what the backend has by default
    return count(n_jobs)


def _done(function: Callable[..., Any], shared: Any, tasks: list[tuple[int, Any]]) -> list[tuple[int, Any]]:
    return [(k, function(shared, *task)) for k, task in tasks]


def _done_elsewhere(function: Callable[..., Any], shared: Any, tasks: list[tuple[int, Any]]) -> list[tuple[int, Any]]:
    """Do some of the tasks in another process; what they spread in turn stays there."""
    with _blas().limit(limits=1, user_api="blas"), parallel_config("threading", n_jobs=1):
        return _done(function, shared, tasks)


@contextmanager
def _sent_once(backend: Any, shared: Any) -> Iterator[None]:
    """Let joblib's Dask backend use one result of the cluster for an object in every task.

    Data that is scattered is lost with the worker that has it, and the run with it. The result of a task is not: the
    scheduler has the task.
    """
    if not hasattr(backend, "client"):
        yield
        return
    import dask.config  # noqa: PLC0415 - an extra, and only where it is switched on

    with dask.config.set({"distributed.admin.large-graph-warning-threshold": "1 TB"}):  # it is meant to be large
        backend.data_futures[id(shared)] = backend.client.submit(_same, shared, pure=False)
    try:
        yield
    finally:
        del backend.data_futures[id(shared)]


def _same(shared: Any) -> Any:
    return shared

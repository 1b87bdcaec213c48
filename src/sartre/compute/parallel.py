"""Work is spread over threads, or over the joblib backend that the user has activated: processes, Dask, Ray."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from threading import Lock
from typing import Any

from joblib import Parallel, cpu_count, delayed, effective_n_jobs, parallel_config
from joblib.parallel import LokyBackend, SequentialBackend, ThreadingBackend, get_active_backend
from threadpoolctl import threadpool_limits

PARTS = 4  # parts of the work per Dask worker: a worker that dies loses little, and fast workers get more
LARGE_ROWS = 4000  # with fewer rows, threads of the linear algebra gain little, and beside other work lose much
_LOCAL = (LokyBackend, SequentialBackend, ThreadingBackend)  # exactly these: Ray's backend is a subclass of another


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
        As in joblib; one by default, and all available workers with Dask and Ray. No more are started than there are
        tasks nor, on this machine, cores.
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
    started = None if n_jobs is None else workers(n_jobs, len(tasks))
    work: Any = Parallel(n_jobs=started, prefer=prefer, return_as=way)
    numbered = list(enumerate(tasks))
    if getattr(backend, "supports_sharedmem", False):
        with blas_threads():  # set here and not per task: it limits the process
            for results in work(delayed(_done)(function, shared, [task]) for task in numbered):
                yield from results
        return
    count = len(numbered)
    if not processes:
        count = min(count, workers(n_jobs) * (PARTS if hasattr(backend, "client") else 1))
    with _sent_once(backend, shared):
        for results in work(delayed(_done_elsewhere)(function, shared, numbered[k::count]) for k in range(count)):
            yield from results


def workers(n_jobs: int | None, n_tasks: int | None = None) -> int:
    """Return how many workers to start: `n_jobs` as in joblib, but no more than there are tasks or local cores.

    Examples
    --------
    >>> workers(None), workers(3000, n_tasks=1)
    (1, 1)
    """
    count: Any = effective_n_jobs  # its annotation lacks None, which means the backend's default
    limits = [count(n_jobs)]
    if n_jobs is not None and type(get_active_backend()[0]) in _LOCAL:
        limits.append(cpu_count())
    if n_tasks is not None:
        limits.append(n_tasks)
    return max(1, min(limits))


_LOCK = Lock()
_limits: list[int] = []  # of all who limit the linear algebra now: it belongs to the process, not to a thread
_first: list[Any] = []  # the limiter of the first of them, which knows the numbers of threads to restore


@contextmanager
def blas_threads(n_jobs: int | None = None, n_rows: int = 0) -> Iterator[None]:
    """Limit the linear algebra to one thread, or to `n_jobs` for square matrices of at least `LARGE_ROWS` rows.

    The limit holds for the whole process. Of several at once, in different threads, the smallest is in force, and the
    numbers of threads of before are restored when the last one ends.
    """
    wanted = workers(n_jobs) if n_jobs is not None and n_rows >= LARGE_ROWS else 1
    with _LOCK:
        _limits.append(wanted)
        limiter = threadpool_limits(min(_limits), user_api="blas")
        if not _first:
            _first.append(limiter)
    try:
        yield
    finally:
        with _LOCK:
            _limits.remove(wanted)
            if _limits:
                threadpool_limits(min(_limits), user_api="blas")
            else:
                _first.pop().restore_original_limits()


def _done(function: Callable[..., Any], shared: Any, tasks: list[tuple[int, Any]]) -> list[tuple[int, Any]]:
    return [(k, function(shared, *task)) for k, task in tasks]


def _done_elsewhere(function: Callable[..., Any], shared: Any, tasks: list[tuple[int, Any]]) -> list[tuple[int, Any]]:
    """Run some of the tasks in another process; nested parallel work stays in that process."""
    with blas_threads(), parallel_config("threading", n_jobs=1):
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

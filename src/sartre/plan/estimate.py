"""How much time and memory a model would take, estimated before anything is run.

Every method has a cost, a sum of terms ``a n^p d^q`` for n rows and d variables, fitted to measurements on one thread
(``python benchmarks/cost_model.py --write``, which writes costs.json). Two short reference computations compare the
speed of this machine with that of the measured one: a matrix product, and sums over bins, the main loop of the solvers.
"""

from __future__ import annotations

import json
import os
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import lru_cache
from importlib import import_module
from numbers import Integral
from pathlib import Path
from pkgutil import iter_modules
from time import perf_counter
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from sartre.additive import kernels
from sartre.compute.compiling import COMPILE_SECONDS, compilation_left
from sartre.compute.parallel import LARGE_ROWS, blas_threads, workers
from sartre.data import table as tables
from sartre.data.table import is_long
from sartre.evidence.directions import MOST_COLUMNS_WEIGHED
from sartre.plan.text import amount, duration, table_of
from sartre.steps import tags_of

COSTS = Path(__file__).with_name("costs.json")
REFERENCE_SECONDS = 0.05  # time spent on each of the two references
UNDISTURBED = 0.1  # this share of their repetitions is assumed not to have waited for other work
THREAD = 0.2  # each thread after the first adds this share of a thread's speed, with at least LARGE_ROWS rows
PAYS = 1.5  # more threads are recommended where they are expected to be this many times faster
LONG = 3600.0  # seconds; an alternative is proposed for a step that may take longer
SOME_ROWS = 1000
MEMORY_MARGIN = 3.0  # memory is estimated within this factor, so a run above it does not fit


class Step(NamedTuple):
    """One step of a plan; its numbers are NaN if nothing is known about the method.

    seconds, low, high: the estimate, and its range over graphs of different density. bytes: peak memory, not including
    the table.
    """

    name: str
    method: str
    seconds: float
    low: float
    high: float
    bytes: float


@dataclass(frozen=True)
class Plan:
    """The time and memory that a model would take for a table.

    steps: reading (if there is a file), order, pruning, directions (where they are weighed) and, on the command line,
    start-up and compiling (unless the loops are cached). advice: what to do
    about a step that takes too long or too much memory.
    """

    n_rows: int
    n_variables: int
    n_jobs: int
    steps: tuple[Step, ...]
    advice: tuple[str, ...]

    @property
    def total(self) -> Step:
        """All steps: the sum of their times, and the largest memory, including the table."""
        seconds, low, high = (sum(getattr(step, name) for step in self.steps) for name in ("seconds", "low", "high"))
        memory = float(np.max([step.bytes for step in self.steps])) + 8.0 * self.n_rows * self.n_variables
        return Step("total", "", seconds, low, high, memory)

    def shortage(self, margin: float = 1.0) -> str | None:
        """Return a sentence if more memory is needed than this machine has, times a margin; otherwise None."""
        needed, memory = self.total.bytes, _memory_size()
        if not needed > margin * memory:  # true for NaN, of which nothing is known
            return None
        return f"{amount(needed)} of memory is needed, but this machine has {amount(memory)}."

    def __str__(self) -> str:
        threads = "1 thread" if self.n_jobs == 1 else f"{self.n_jobs} threads"
        head = f"{self.n_rows:,} rows, {self.n_variables:,} variables, {threads}"
        rows = [["step", "method", "time", "range", "memory"]]
        rows += [
            [step.name, step.method, duration(step.seconds), _range(step), amount(step.bytes)]
            for step in (*self.steps, self.total)
        ]
        return "\n".join([head, *table_of(rows), *self.advice])


class Task(NamedTuple):
    """A part of a step: the name of a cost, the number of rows it applies to, and whether threads do not affect it."""

    cost: str
    rows: float
    serial: bool = False


def plan(model: Any, shape: tuple[int, int], reading: Step | None = None, starting: Sequence[Step] = ()) -> Plan:
    """Estimate the time and memory of a model's steps, without running them.

    Parameters
    ----------
    model : CausalDiscovery
        An unfitted model.
    shape : (n, d)
        Numbers of rows and variables. With more rows than a sample has, columns are assumed to be numeric and complete:
        most of the work is then done on the sample, and all rows are counted.
    reading : Step, optional
        The result of `reading_step`, if there is a file.
    starting : sequence of Step
        The result of `starting_steps`, if the program is still to be started.

    Examples
    --------
    >>> from sartre import CausalDiscovery
    >>> from sartre.order import SCORE
    >>> found = plan(CausalDiscovery(SCORE(exact=True)), (2000, 20))
    >>> [step.method for step in found.steps], found.total.seconds > 0
    (['SCORE', 'SARTRE', 'of all edges'], True)
    """
    n, d = shape
    orderer, pruner = model.orderer(), model.pruner()
    counted = is_long(n, d) and tags_of(pruner).takes_row_source
    seen = tables.SAMPLE_ROWS if counted else n
    jobs = 1 if model.n_jobs is None else workers(model.n_jobs)
    weighs = getattr(model, "directions", False) and tags_of(orderer).learns_order and d <= MOST_COLUMNS_WEIGHED

    def with_jobs(jobs: int) -> Plan:
        steps = [reading] if reading is not None else []
        for name, step in (("order", orderer), ("pruning", pruner)):
            tasks = tasks_of(step, seen, d)
            counting = tags_of(step).counting_cost
            if name == "pruning" and counted and counting is not None and tasks is not None:
                tasks.append(Task(counting, n))
            steps.append(_estimate(name, type(step).__name__, tasks, d, _jobs_of(step, jobs)))
        if weighs:
            steps.append(_estimate("directions", "of all edges", [Task("directions", seen)], d, 1))
        return Plan(n, d, jobs, (*steps, *starting), ())

    found = with_jobs(jobs)
    advice = list(_advice(found, seen, on_gpu=tags_of(orderer).runs_on_gpu))
    if found.total.high > LONG and found.total.seconds >= PAYS * with_jobs(workers(-1)).total.seconds:
        advice.append(f"n_jobs=-1 (--jobs -1) uses all {workers(-1)} cores.")
    return replace(found, advice=tuple(advice))


def shape_of(X: Any) -> tuple[int, int]:
    """Return the numbers of rows and variables of a table, which may be given as the tuple (n, d) itself.

    Examples
    --------
    >>> shape_of((2000, 20)), shape_of([[1.0, 2.0], [3.0, 4.0], [5.0, 6.0]])
    ((2000, 20), (3, 2))
    """
    is_shape = isinstance(X, tuple) and len(X) == 2 and all(isinstance(count, Integral) for count in X)
    shape = X if is_shape else getattr(X, "shape", None) or np.shape(X)
    if len(shape) != 2 or min(shape) < 1:
        raise ValueError(
            "A plan needs a table, or its shape (n, d): the numbers of rows and of variables, both positive. Got the "
            f"shape {tuple(shape)}."
        )
    return int(shape[0]), int(shape[1])


def reading_step(source: str, n: int, d: int) -> Step:
    """Return the step of reading a text file of this shape."""
    return _estimate("reading", source, [Task("reading", n)], d, 1)


def starting_steps() -> tuple[Step, ...]:
    """Return the start of the program and, unless they are cached on this machine, the compilation of its loops."""
    start = _estimate("start-up", "of the program", [Task("start-up", 1)], 1, 1)
    share = compilation_left(_loops())
    seconds = share * COMPILE_SECONDS * machine()["loops"]
    compiling = Step("compiling", "once per machine", seconds, seconds / 2, 2 * seconds, start.bytes)
    return (start, compiling) if share > 0 else (start,)


def _loops() -> list[Any]:
    """Return the compiled functions of the library."""
    modules = [import_module(f"{kernels.__name__}.{found.name}") for found in iter_modules(kernels.__path__)]
    return [each for module in modules for each in vars(module).values() if hasattr(each, "py_func")]


def tasks_of(step: Any, n: int, d: int) -> list[Task] | None:
    """Return the costs that make up a step for n rows and d variables, or None if nothing was measured.

    Examples
    --------
    >>> from sartre.order import SCORE
    >>> tasks_of(SCORE(exact=True, max_samples=500), 2000, 20)
    [Task(cost='SCORE exact', rows=500, serial=False)]
    """
    costs = tags_of(step).costs
    if costs is None:
        return None
    arising = [cost for cost in costs if d <= (cost.max_columns or d)]
    return [Task(cost.key, min(n, cost.max_rows or n), cost.serial) for cost in arising]


def _estimate(name: str, method: str, tasks: list[Task] | None, d: int, jobs: int) -> Step:
    costs = _costs()
    if tasks is None or any(task.cost not in costs["costs"] for task in tasks):
        return Step(name, method, *[float("nan")] * 4)
    seconds = low = high = memory = 0.0
    for task in tasks:
        cost = costs["costs"][task.cost]
        more = 0 if task.serial or task.rows < LARGE_ROWS else jobs - 1
        time = _sum(cost["seconds"], task.rows, d) * machine()[cost["kind"]] / (1 + THREAD * more)
        seconds, low, high = seconds + time, low + time * cost["range"][0], high + time * cost["range"][1]
        memory = max(memory, _sum(cost["bytes"], task.rows, d))
    return Step(name, method, seconds, low, high, memory)


def _sum(terms: list[list[float]], n: float, d: float) -> float:
    return sum(a * float(n) ** p * float(d) ** q for a, p, q in terms)


def _jobs_of(step: Any, jobs: int) -> int:
    """Return how many threads a step would use: those of the model, unless it sets its own or has no such setting."""
    settings = step.get_params(deep=False)
    own = settings.get("n_jobs")
    return 1 if "n_jobs" not in settings else jobs if own is None else workers(own)


@lru_cache(maxsize=1)
def _costs() -> Mapping[str, Any]:
    return json.loads(COSTS.read_text(encoding="utf-8"))


@lru_cache(maxsize=1)
def machine() -> dict[str, float]:
    """Return how many times slower this machine is than the one measured, for products and for loops."""
    return {kind: seconds / _costs()["references"][kind] for kind, seconds in references().items()}


def references() -> dict[str, float]:
    """Return the seconds of a matrix product and of sums over bins on one thread, undisturbed by other work."""
    rng = np.random.default_rng(0)
    square: NDArray[np.float64] = rng.normal(size=(200, 200))
    codes, weights = rng.integers(0, 128, size=20_000), rng.normal(size=20_000)
    with blas_threads(1):
        return {
            "products": _undisturbed(lambda: square @ square),
            "loops": _undisturbed(lambda: np.bincount(codes, weights)),
        }


def _undisturbed(function: Callable[[], object]) -> float:
    function()
    times, began = [], perf_counter()
    while perf_counter() - began < REFERENCE_SECONDS:
        start = perf_counter()
        function()
        times.append(perf_counter() - start)
    return float(np.quantile(times, UNDISTURBED))


def _range(step: Step) -> str:
    return "not known" if np.isnan(step.seconds) else f"{duration(step.low)} to {duration(step.high)}"


def _advice(found: Plan, seen: int, *, on_gpu: bool) -> Iterator[str]:
    """Yield advice on every step that takes too long or too much memory; the order uses `seen` rows."""
    n, d, memory = found.n_rows, found.n_variables, _memory_size()
    for step in found.steps:
        if np.isnan(step.seconds):
            yield f"{step.method} has not been measured; try it on some of the rows or columns first."
        elif step.high > LONG or step.bytes > memory:
            yield from _instead(step, seen, d, found.n_jobs)
            if step.name == "order" and on_gpu:
                yield f'{step.method}(device="cuda") uses a GPU.'
    if seen < n:
        yield (
            f"There are many rows: {seen:,} of them are sampled, and where the pruner can, it adds up sums over all "
            "rows (unless there are categories, or missing values that are kept). CausalDiscovery.fit_batches needs no "
            "table in memory."
        )
    if (shortage := found.shortage()) is not None:
        yield shortage


def _instead(step: Step, n: int, d: int, jobs: int) -> Iterator[str]:
    """Yield alternatives that take at most half the time of a step."""
    others = {
        "order": [
            (f"SCORE(max_samples={SOME_ROWS})", Task("SCORE", min(n, SOME_ROWS))),
            ("R2Sort()", Task("R2Sort", n)),
        ],
        "pruning": [("SARTRE(penalty=0.1), as in the paper, on standardised columns", Task("SARTRE penalty", n))],
    }
    for text, task in others.get(step.name, []):
        other = _estimate(step.name, text, [task], d, jobs)
        if other.seconds < step.seconds / 2:
            yield f"{step.method} takes a long time here: {text} would take about {duration(other.seconds)}."


def _memory_size() -> float:
    try:
        return float(os.sysconf("SC_PAGE_SIZE")) * float(os.sysconf("SC_PHYS_PAGES"))
    except (AttributeError, ValueError, OSError):  # this system does not report it
        return float("inf")

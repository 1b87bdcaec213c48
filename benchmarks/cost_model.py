"""Measure every method at a few sizes, fit the terms of its cost, and check the fit at other sizes.

python benchmarks/cost_model.py [--only SCORE SARTRE] [--write]        about ten minutes of one core

`--write` writes the constants to src/sartre/costs.json, from which `sartre plan` reads them. With `--only`, the other
constants are kept, so they must come from the same machine; so is that of "start-up", the CPU time of
`sartre discover` with a file that does not exist. Times are CPU times on one thread; each size is measured on
a sparse and on a dense graph (d and 4d edges).
"""

from __future__ import annotations

import argparse
import ctypes
import gc
import io
import json
import re
import time
from contextlib import suppress
from typing import TYPE_CHECKING, Any, NamedTuple, TypeAlias
from unittest.mock import patch

from _report import markdown, measured, use_one_thread

use_one_thread()

import numpy as np
from scipy.optimize import nnls

from sartre.additive.smooth_sums import SmoothCounter
from sartre.data.checks import as_table
from sartre.data.read_file import read_table
from sartre.evidence.directions import weigh_directions
from sartre.order import (
    CAM,
    RESIT,
    SCORE,
    DiffAN,
    FixedOrder,
    NoGAM,
    OrderSearch,
    R2Sort,
    RandomOrder,
    VarianceSort,
)
from sartre.order.search.constants import EFFORTS
from sartre.order.search.polish import polished
from sartre.plan.estimate import COSTS, references
from sartre.prune import DAS, SARTRE, CAMPruning, CaPSPruning
from sartre.simulate import random_dag, simulate

if TYPE_CHECKING:
    from collections.abc import Callable

    from sartre.simulate import Dataset

Size: TypeAlias = tuple[int, int]
Powers: TypeAlias = list[tuple[float, float]]
Run: TypeAlias = "Callable[[Dataset], Callable[[], object]]"
DENSITIES = (1, 4)  # edges per variable
MARGIN = 1.5  # factor by which the range extends beyond the measured ratios


class Method(NamedTuple):
    """How to run a method, the powers (of n, of d) of its terms, and the sizes for fitting and checking."""

    run: Run
    kind: str
    seconds: Powers
    bytes: Powers
    fit: list[Size]
    check: list[Size]


def _order(make: Callable[[], Any]) -> Run:
    return lambda data: lambda: make().fit(data.X)


def _prune(make: Callable[[], Any]) -> Run:
    return lambda data: lambda: make().fit(data.X, data.dag.topological_order())


def _disturbed(data: Dataset) -> list[str]:
    """Return an order like SCORE's: the true order with a tenth of the variables misplaced."""
    order = data.dag.topological_order()
    rng = np.random.default_rng(0)
    for _ in range(max(1, len(order) // 10)):
        order.insert(int(rng.integers(len(order))), order.pop(int(rng.integers(len(order)))))
    return order


def _search(data: Dataset) -> Callable[[], object]:
    order = _disturbed(data)
    return lambda: OrderSearch(FixedOrder(order)).fit(data.X)


def _thorough(data: Dataset) -> Callable[[], object]:
    """Search thoroughly from all starts, which are included, without the comparison of orders by processes."""

    def run() -> object:
        with patch.dict(EFFORTS, thorough=EFFORTS["thorough"]._replace(polish_rows=0)):
            return OrderSearch(effort="thorough").fit(data.X)

    return run


def _polish(data: Dataset) -> Callable[[], object]:
    """Compare orders by processes, from one with a few variables misplaced."""
    place = {name: j for j, name in enumerate(data.dag.names)}
    order = [place[name] for name in _disturbed(data)]
    X, before = as_table(data.X).standardized().values, np.zeros((len(order), len(order)), dtype=bool)
    return lambda: polished(X, order, before, len(X))


def _weigh(data: Dataset) -> Callable[[], object]:
    """Weigh the directions of all edges of the true graph."""
    place = {name: j for j, name in enumerate(data.dag.names)}
    edges = [(place[a], place[b]) for a, b in data.dag.edges]
    order = [place[name] for name in data.dag.topological_order()]
    before = np.zeros((len(order), len(order)), dtype=bool)
    return lambda: weigh_directions(as_table(data.X), order, edges, before)


def _read(data: Dataset) -> Callable[[], object]:
    content = data.X.to_csv(index=False).encode()
    return lambda: read_table(io.BytesIO(content))


def _count(data: Dataset) -> Callable[[], object]:
    """Accumulate the sums that the automatic method for many rows needs, with given nodes."""
    values = data.X.to_numpy()
    counter = SmoothCounter.of(values[:2000])
    return lambda: counter.count(values)


COUNTING = [(20_000, 10), (60_000, 10), (20_000, 20), (60_000, 20), (20_000, 50)]
METHODS = {
    "reading": Method(_read, "loops", [(1, 1)], [(1, 1)], [(2000, 20), (1000, 100), (10_000, 20)], [(5000, 40)]),
    "SCORE": Method(
        _order(SCORE),
        "products",
        [(3, 1), (2, 2), (2, 1)],
        [(2, 0), (1, 1)],
        [(500, 10), (1000, 20), (2000, 20), (4000, 10), (1000, 100), (500, 200)],
        [(1500, 30), (700, 150)],
    ),
    "SCORE exact": Method(
        _order(lambda: SCORE(exact=True)),
        "products",
        [(3, 1), (2, 2), (2, 1)],
        [(2, 0), (1, 1)],
        [(500, 10), (1000, 20), (2000, 20), (4000, 6), (1000, 100), (500, 200)],
        [(1500, 30), (700, 150)],
    ),
    "OrderSearch": Method(
        _search,
        "loops",
        [(1, 2), (0, 2), (0, 3)],
        [(0, 1), (0, 2), (1, 1), (1, 2)],
        [(500, 10), (1000, 20), (4000, 20), (1000, 40), (1000, 100), (1000, 200)],
        [(2000, 30), (800, 70), (800, 150)],
    ),
    "OrderSearch thorough": Method(
        _thorough,
        "loops",
        [(1, 2), (0, 2), (0, 3)],
        [(0, 1), (0, 2), (1, 1), (1, 2)],
        [(500, 10), (1000, 20), (2000, 20), (500, 40)],
        [(1000, 30)],
    ),
    "OrderSearch polish": Method(
        _polish,
        "products",
        [(3, 2), (2, 2), (2, 3)],
        [(2, 0), (1, 1)],
        [(400, 8), (800, 8), (400, 16)],
        [(600, 12)],
    ),
    "directions": Method(
        _weigh,
        "loops",
        [(1, 2), (0, 2), (0, 3)],
        [(1, 1), (0, 2)],
        [(500, 10), (1000, 20), (4000, 20), (1000, 40), (500, 80)],
        [(2000, 30)],
    ),
    "CAM": Method(
        _order(CAM),
        "loops",
        [(1, 2), (0, 2), (0, 3)],
        [(1, 1), (0, 2), (0, 1)],
        [(500, 10), (2000, 20), (1000, 50), (1000, 100)],
        [(1500, 30), (800, 150)],
    ),
    "NoGAM": Method(
        _order(NoGAM),
        "products",
        [(3, 2), (2, 2), (0, 2)],
        [(2, 0)],
        [(300, 8), (600, 8), (300, 16), (1000, 6)],
        [(800, 12)],
    ),
    "RESIT": Method(
        _order(lambda: RESIT(max_samples=None)),
        "products",
        [(3, 2), (2, 2), (0, 2)],
        [(2, 0)],
        [(300, 6), (600, 6), (300, 12), (1500, 4)],
        [(500, 10)],
    ),
    "DiffAN": Method(
        _order(lambda: DiffAN(random_state=0)),
        "products",
        [(1, 1), (1, 0), (0, 2)],
        [(1, 1), (0, 1)],
        [(300, 4), (600, 4), (300, 8)],
        [(500, 6)],
    ),
    "R2Sort": Method(
        _order(R2Sort),
        "products",
        [(1, 2), (0, 3), (0, 0)],
        [(1, 1), (0, 2)],
        [(1000, 100), (5000, 100), (1000, 400)],
        [(2000, 200)],
    ),
    "VarianceSort": Method(
        _order(VarianceSort), "loops", [(1, 1), (0, 0)], [(1, 1)], [(1000, 100), (10_000, 200)], [(5000, 100)]
    ),
    "RandomOrder": Method(
        _order(RandomOrder), "loops", [(1, 1), (0, 0)], [(1, 1)], [(1000, 100), (10_000, 200)], [(5000, 100)]
    ),
    "SARTRE": Method(
        _prune(lambda: SARTRE(joint=False)),
        "loops",
        [(1, 1), (1, 2), (0, 3)],
        [(1, 1), (0, 2)],
        [(500, 10), (2000, 20), (1000, 50), (4000, 20), (1000, 100), (500, 200)],
        [(1500, 30), (800, 150)],
    ),
    "SARTRE joint auto": Method(
        _prune(SARTRE),
        "products",
        [(0, 1.5)],  # as many processes as variables, each over more candidates, up to a budget
        [(2, 0)],
        [(400, 10), (800, 10), (800, 20), (400, 40)],
        [(600, 30)],
    ),
    "SARTRE joint": Method(
        _prune(lambda: SARTRE(joint=True)),
        "products",
        [(3, 1), (2, 1)],
        [(2, 0)],
        [(500, 10), (1000, 10), (2000, 10), (1000, 20)],
        [(1500, 15)],
    ),
    "SARTRE penalty": Method(
        _prune(lambda: SARTRE(penalty=0.1)),
        "loops",
        [(1, 1), (1, 2), (0, 1)],
        [(1, 1), (0, 2)],
        [(500, 10), (2000, 20), (1000, 50), (4000, 20), (1000, 100), (500, 300)],
        [(1500, 30), (800, 150)],
    ),
    "counting": Method(_count, "loops", [(1, 1), (1, 2)], [(0, 2)], COUNTING, [(40_000, 30)]),
    "CAMPruning": Method(
        _prune(CAMPruning),
        "loops",
        [(1, 1), (1, 2), (0, 1), (0, 2)],
        [(1, 1), (0, 2), (0, 1)],
        [(500, 10), (1000, 20), (8000, 20), (1000, 100), (800, 200)],
        [(1000, 30), (1500, 70)],
    ),
    "DAS": Method(
        _prune(DAS),
        "products",
        [(3, 1), (2, 2), (0, 1)],
        [(2, 0), (1, 1)],
        [(500, 10), (1000, 10), (500, 40), (1500, 20), (1000, 150)],
        [(1000, 30), (1500, 100)],
    ),
    "CaPSPruning": Method(
        _prune(CaPSPruning),
        "products",
        [(3, 1), (2, 2), (0, 2)],
        [(2, 0), (1, 1)],
        [(500, 10), (1000, 10), (500, 30), (3000, 5)],
        [(1000, 20)],
    ),
}


class Measured(NamedTuple):
    """One run: rows, variables, edges per variable, and its seconds and bytes."""

    n: int
    d: int
    density: int
    seconds: float
    bytes: float


def measure(method: Method, n: int, d: int, density: int) -> Measured:
    """Run a method once on simulated data."""
    dag = random_dag(d, min(density * d, d * (d - 1) // 2), random_state=n + d)
    run = method.run(simulate(dag, n, mechanism="neural", random_state=n + d))
    gc.collect()
    with suppress(AttributeError, OSError):
        ctypes.CDLL(None).malloc_trim(0)  # otherwise freed memory that the allocator keeps would be reused unnoticed
    _, before, _ = measured(lambda: None)
    start = time.process_time()
    _, peak, _ = measured(run)
    return Measured(n, d, density, time.process_time() - start, max(peak - before, 0.0) * 2**20)


def fitted(powers: Powers, sizes: np.ndarray, values: np.ndarray) -> list[list[float]]:
    """Return the terms [a, p, q] with a > 0 whose sums are closest to the values in relative terms."""
    terms = np.array([[float(n) ** p * float(d) ** q for p, q in powers] for n, d in sizes])
    scale = (terms / values[:, None]).max(axis=0)
    found, _ = nnls(terms / values[:, None] / scale, np.ones(len(values)))
    return [[float(f"{a:.3g}"), p, q] for a, (p, q) in zip(found / scale, powers, strict=True) if a > 0]


def predicted(terms: list[list[float]], n: int, d: int) -> float:
    """Return the sum of the terms."""
    return sum(a * float(n) ** p * float(d) ** q for a, p, q in terms)


def cost_of(method: Method, runs: list[Measured]) -> dict[str, Any]:
    """Return a method's entry in the table of costs."""
    sizes = np.array([[run.n, run.d] for run in runs])
    seconds = fitted(method.seconds, sizes, np.array([run.seconds for run in runs]))
    large = np.array([max(run.bytes, 2.0**20) for run in runs])  # less than a megabyte is not measurable
    ratios = [run.seconds / predicted(seconds, run.n, run.d) for run in runs]
    low, high = min(0.5, min(ratios) / MARGIN), max(2.0, max(ratios) * MARGIN)
    return {
        "kind": method.kind,
        "seconds": seconds,
        "range": [float(f"{low:.2g}"), float(f"{high:.2g}")],
        "bytes": fitted(method.bytes, sizes, large),
    }


def main() -> None:
    """Print one row per method and one per check; write the table if requested."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--only", nargs="*", default=list(METHODS), choices=list(METHODS), metavar="NAME")
    parser.add_argument("--write", action="store_true", help="write the constants to the library")
    given = parser.parse_args()
    table = json.loads(COSTS.read_text(encoding="utf-8")) if COSTS.exists() else {"references": {}, "costs": {}}
    table["references"] = {kind: float(f"{seconds:.3g}") for kind, seconds in references().items()}
    rows: list[list[object]] = []
    for name in given.only:
        method = METHODS[name]
        for density in DENSITIES:  # a first run compiles and loads, which must not be measured
            measure(method, *method.fit[0], density)
        runs = [measure(method, n, d, density) for n, d in method.fit for density in DENSITIES]
        cost = table["costs"][name] = cost_of(method, runs)
        print(
            name, json.dumps(cost), *(f"{run.n}x{run.d}x{run.density}: {run.seconds:.3g} s" for run in runs), flush=True
        )
        for n, d in method.check:
            for density in DENSITIES:
                run = measure(method, n, d, density)
                ratio = run.seconds / predicted(cost["seconds"], n, d)
                inside = cost["range"][0] <= ratio <= cost["range"][1]
                memory = run.bytes / max(predicted(cost["bytes"], n, d), 1.0)
                rows.append([name, n, d, density, f"{run.seconds:.3g}", f"{ratio:.2f}", inside, f"{memory:.2f}"])
    header = ["method", "rows", "variables", "edges per variable", "seconds", "ratio", "in range", "ratio of memory"]
    print("\n" + markdown(header, rows))
    if given.write:
        text = re.sub(r"\[\s+([^\[\]]*?)\s+\]", _on_one_line, json.dumps(table, indent=1))
        COSTS.write_text(text + "\n", encoding="utf-8")


def _on_one_line(found: re.Match[str]) -> str:
    return "[" + " ".join(found[1].split()) + "]"


if __name__ == "__main__":
    main()

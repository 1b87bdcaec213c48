"""Learn whole graphs from many rows, which are simulated in batches and never all in memory: time, memory, accuracy.

Each size runs in a separate process. The times include simulating the rows, which is done in each of the two passes.
"""

from __future__ import annotations

import json
import subprocess
import sys
import time
from typing import TYPE_CHECKING

from _report import markdown, use_one_thread

use_one_thread()

import numpy as np

from sartre import CausalDiscovery, Dag, metrics
from sartre.prune import SARTRE
from sartre.simulate import random_dag

if TYPE_CHECKING:
    import argparse
    from collections.abc import Iterator, Sequence

BATCH = 1 << 16
SHAPES = (
    lambda x: np.sin(2 * x),
    np.tanh,
    lambda x: x * x / (1 + 0.25 * x * x) - 0.7,
    lambda x: np.maximum(x, -0.3) * 1.2,
    lambda x: np.exp(-x * x) * 2 - 1,
)


class Rows:
    """Rows of a random additive model with Gaussian noise, the same in every pass."""

    def __init__(self, dag: Dag, n: int, seed: int) -> None:
        self.n, self.seed = n, seed
        rng = np.random.default_rng(seed)
        names = dag.names
        self.order = [names.index(name) for name in dag.topological_order()]
        self.parents = [[names.index(name) for name in dag.parents(child)] for child in names]
        self.shapes = [[int(rng.integers(len(SHAPES))) for _ in mine] for mine in self.parents]
        self.weights = [rng.uniform(0.7, 1.3, len(mine)) * rng.choice([-1, 1], len(mine)) for mine in self.parents]

    def __call__(self) -> Iterator[np.ndarray]:
        """Start a pass."""
        for number, first in enumerate(range(0, self.n, BATCH)):
            rng = np.random.default_rng([self.seed, number])
            X = rng.standard_normal((len(self.order), min(BATCH, self.n - first)))
            for child in self.order:
                for parent, shape, weight in zip(
                    self.parents[child], self.shapes[child], self.weights[child], strict=True
                ):
                    X[child] += weight * SHAPES[shape](X[parent])
            yield X.T


def measure(n: int, columns: int, edges: int, penalty: float | str, seed: int, jobs: int) -> dict[str, float]:
    """Learn one graph, and return its time, memory and accuracy."""
    import resource  # noqa: PLC0415 - it does not exist on every system

    dag = random_dag(columns, edges, random_state=seed)
    source = Rows(dag, n, seed)
    CausalDiscovery(prune=SARTRE(penalty), random_state=0).fit_batches(Rows(dag, 2000, seed))  # compile
    cpu = time.process_time()
    for _ in source():
        pass
    making = time.process_time() - cpu
    clock, cpu = time.perf_counter(), time.process_time()
    model = CausalDiscovery(prune=SARTRE(penalty), random_state=0, n_jobs=jobs).fit_batches(source)
    wall, used = time.perf_counter() - clock, time.process_time() - cpu
    peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024
    guess = Dag(model.adjacency_matrix_, dag.names)
    return {
        "rows": n,
        "wall": wall,
        "cpu": used,
        "making": 2 * making,
        "peak": peak,
        "shd": metrics.shd(dag, guess),
        "precision": metrics.edge_precision(dag, guess),
        "recall": metrics.edge_recall(dag, guess),
        "against": metrics.order_divergence(dag, model.order_.tolist()),
    }


def rows(
    sizes: Sequence[int],
    columns: int,
    edges: int | None = None,
    penalty: float | str = "auto",
    seed: int = 0,
    jobs: int = 1,
) -> list[dict[str, float]]:
    """Measure each size in a separate process, and print a table with the exponent of n between sizes."""
    found = []
    for n in sizes:
        settings = [n, columns, columns if edges is None else edges, penalty, seed, jobs]
        command = [sys.executable, __file__, json.dumps(settings)]
        done = subprocess.run(command, check=True, capture_output=True, text=True)
        found.append(json.loads(done.stdout.splitlines()[-1]))
    header = ["rows", "wall s", "CPU s", "CPU s simulating", "exponent", "peak MB", "SHD", "precision", "recall"]
    lines = []
    for k, one in enumerate(found):
        exponent = "-"
        if k:
            before = found[k - 1]
            exponent = f"{np.log(one['cpu'] / before['cpu']) / np.log(one['rows'] / before['rows']):.2f}"
        lines.append(
            [
                f"{one['rows']:,}",
                f"{one['wall']:.0f}",
                f"{one['cpu']:.0f}",
                f"{one['making']:.0f}",
                exponent,
                f"{one['peak']:.0f}",
                one["shd"],
                f"{one['precision']:.2f}",
                f"{one['recall']:.2f}",
            ]
        )
    print(f"{columns} columns, penalty {penalty}, seed {seed}, {jobs} threads; edges contradicting the order:", end=" ")
    print(", ".join(str(one["against"]) for one in found), "\n")
    print(markdown(header, lines))
    return found


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Add the command-line arguments of this part."""
    parser.add_argument("--sizes", type=int, nargs="+", default=[100_000, 1_000_000], help="numbers of rows")
    parser.add_argument("--columns", type=int, default=50)
    parser.add_argument("--edges", type=int, help="number of edges; by default the number of columns")
    parser.add_argument("--penalty", type=float, help="penalty of the paper's method; automatic by default")
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--jobs", type=int, default=1, help="threads that count rows and fit targets")


def run(arguments: argparse.Namespace) -> None:
    """Print one row per size."""
    penalty = "auto" if arguments.penalty is None else arguments.penalty
    rows(arguments.sizes, arguments.columns, arguments.edges, penalty, arguments.seed, arguments.jobs)


if __name__ == "__main__":
    print(json.dumps(measure(*json.loads(sys.argv[1]))))

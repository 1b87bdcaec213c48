"""Measure SARTRE-pruning as the number of variables grows.

The data are ER graphs with d edges and the simulator's "sigmoid" mechanism (CAM's soft steps, one per edge). The true
order is given.
"""

from __future__ import annotations

import json
import resource
import subprocess
import sys
import time
from math import log
from typing import TYPE_CHECKING

from _report import markdown, use_one_thread

if TYPE_CHECKING:
    import argparse

MODES = {"paper": {"penalty": 0.1}, "additive": {"interactions": False}, "pairs": {}}
HEADER = ["mode", "d", "seconds", "CPU seconds", "peak MB", "edges", "precision", "recall"]


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Add the command-line arguments of this part."""
    parser.add_argument("--sizes", type=int, nargs="+", default=[500, 1000, 2000], help="numbers of variables")
    parser.add_argument("--modes", nargs="+", choices=MODES, default=["paper", "additive"])
    parser.add_argument("--samples", type=int, default=2000)
    parser.add_argument("--jobs", type=int, default=2, help="number of threads over the targets")


def run(arguments: argparse.Namespace) -> None:
    """Print one row per mode and size, and how the CPU time grows from one size to the next."""
    rows, growth = [], []
    for mode in arguments.modes:
        seconds: dict[int, float] = {}
        for d in sorted(arguments.sizes):
            row = _apart(mode, d, arguments.samples, arguments.jobs)
            rows.append([row[name] for name in HEADER])
            print(*rows[-1], file=sys.stderr, flush=True)
            seconds[d] = float(row["CPU seconds"])
        growth += [f"{mode}, d = {a} to {b}: exponent {_exponent(seconds, a, b):.2f}" for a, b in _steps(seconds)]
    print(f"{arguments.samples} samples, {arguments.jobs} threads over the targets\n")
    print(markdown(HEADER, rows))
    print("\nGrowth of the CPU time\n", *growth, sep="\n- ")


def measure(mode: str, d: int, n_samples: int, jobs: int) -> dict[str, object]:
    """Simulate, prune and count; return one row of the table by column."""
    from sartre.prune import SARTRE  # noqa: PLC0415 - the number of BLAS threads must be set first
    from sartre.simulate import random_dag, simulate  # noqa: PLC0415

    data = simulate(random_dag(d, d, random_state=d), n_samples, mechanism="sigmoid", random_state=d)
    order = data.dag.topological_order()
    pruner = SARTRE(**MODES[mode], n_jobs=jobs, random_state=0)
    pruner.fit(data.X[order[:12]], order[:12])  # compile
    wall, cpu = time.perf_counter(), time.process_time()
    pruner.fit(data.X, order)
    wall, cpu = time.perf_counter() - wall, time.process_time() - cpu
    found, true = pruner.adjacency_matrix_, data.dag.adjacency
    hits, n_found = int((found & true).sum(dtype=int)), int(found.sum(dtype=int))
    peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024
    quality = [n_found, f"{hits / max(n_found, 1):.3f}", f"{hits / max(data.dag.n_edges, 1):.3f}"]
    return dict(zip(HEADER, [mode, d, f"{wall:.1f}", f"{cpu:.1f}", f"{peak:.0f}", *quality], strict=True))


def _apart(mode: str, d: int, n_samples: int, jobs: int) -> dict[str, str]:
    """Measure in a separate process."""
    use_one_thread()  # the process below inherits this setting for BLAS
    command = [sys.executable, __file__, mode, str(d), str(n_samples), str(jobs)]
    done = subprocess.run(command, stdout=subprocess.PIPE, check=True)
    return json.loads(done.stdout)


def _steps(seconds: dict[int, float]) -> list[tuple[int, int]]:
    return list(zip(list(seconds)[:-1], list(seconds)[1:], strict=True))


def _exponent(seconds: dict[int, float], a: int, b: int) -> float:
    return log(seconds[b] / seconds[a]) / log(b / a)


if __name__ == "__main__":
    print(json.dumps(measure(sys.argv[1], *map(int, sys.argv[2:]))))

"""Compare the graphs of all pruners, the true order given, on the simulator's four families.

    make bench-accuracy   or   .venv-bench/bin/python benchmarks/pruning_accuracy.py [--seeds 10] [--nodes 20] [--mgcv]

ER and SF graphs with d (1) or 4d (4) edges, SF with every edge from the older to the newer node, and SF4 with random
orientation beside; "gp" mechanism, unit Gaussian noise, n = 2000. Means over the seeds. A reversed edge counts once.
With --mgcv, R's mgcv is run too where it is installed.
"""

from __future__ import annotations

import argparse
import sys
import warnings
from collections.abc import Callable
from typing import Literal

from _report import markdown, measured, use_one_thread, versions

use_one_thread()

import numpy as np  # noqa: E402
from _peers import cam_by_mgcv, cam_by_pygam, has_mgcv  # noqa: E402

from sartre.metrics import edge_precision, edge_recall, shd, sid  # noqa: E402
from sartre.prune import DAS, SARTRE, CAMPruning  # noqa: E402
from sartre.simulate import random_dag, simulate  # noqa: E402

Method = Callable[[np.ndarray], np.ndarray]
FAMILIES: dict[str, tuple[Literal["ER", "SF"], int, Literal["age", "random"]]] = {
    "ER1": ("ER", 1, "age"),
    "ER4": ("ER", 4, "age"),
    "SF1": ("SF", 1, "age"),
    "SF4": ("SF", 4, "age"),
    "SF4 random": ("SF", 4, "random"),
}


def by(pruner: Callable[[], SARTRE | CAMPruning | DAS]) -> Method:
    """Return a function from a matrix with ordered columns to an adjacency matrix."""

    def run(X: np.ndarray) -> np.ndarray:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")  # fewer splines than asked for, as CAM's rule has it
            return pruner().fit(X, range(X.shape[1])).adjacency_matrix_

    return run


def evaluate(methods: dict[str, Method], family: str, d: int, n: int, seeds: range) -> list[list[object]]:
    """Return one row a method: means over the seeds."""
    kind, density, orientation = FAMILIES[family]
    results: dict[str, list[tuple[float, ...]]] = {name: [] for name in methods}
    for seed in seeds:
        data = simulate(random_dag(d, density * d, kind, orientation, random_state=seed), n, random_state=seed)
        order = data.dag.topological_order()
        X, truth = data.X[order].to_numpy(), data.dag.reindex(order)
        for name, method in methods.items():
            seconds, _, found = measured(lambda method=method, X=X: method(X))
            quality = edge_precision(truth, found), edge_recall(truth, found)
            results[name].append((shd(truth, found), sid(truth, found), *quality, seconds))
    rows: list[list[object]] = []
    for name, values in results.items():
        mean = np.mean(values, axis=0)
        numbers = [f"{value:.{digits}f}" for value, digits in zip(mean, (1, 1, 2, 2, 3), strict=True)]
        rows.append([family, name, *numbers])
    return rows


def main() -> None:
    """Print the table."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--nodes", type=int, default=20)
    parser.add_argument("--samples", type=int, default=2000)
    parser.add_argument("--seeds", type=int, default=10, help="number of data sets a family")
    parser.add_argument("--first-seed", type=int, default=1000)
    parser.add_argument("--mgcv", action="store_true", help="run R's mgcv too, half a minute a data set")
    arguments = parser.parse_args()
    print(versions("sartre", "numpy", "pygam"))
    methods: dict[str, Method] = {
        'SARTRE("auto")': by(lambda: SARTRE(penalty="auto", random_state=0)),
        "SARTRE(0.1)": by(lambda: SARTRE(penalty=0.1, random_state=0)),
        "CAMPruning": by(CAMPruning),
        "DAS": by(DAS),
        "CAM-pruning, pyGAM": cam_by_pygam,
    }
    if arguments.mgcv and not has_mgcv():
        print("R with mgcv is not installed: its rows are left out.")
    elif arguments.mgcv:
        methods["CAM-pruning, mgcv"] = cam_by_mgcv
    seeds = range(arguments.first_seed, arguments.first_seed + arguments.seeds)
    rows = []
    for family in FAMILIES:
        rows += evaluate(methods, family, arguments.nodes, arguments.samples, seeds)
        print(f"{family} done", file=sys.stderr)
    print(f"\nd = {arguments.nodes}, n = {arguments.samples}, seeds {seeds.start} to {seeds.stop - 1}\n")
    print(markdown(["family", "method", "SHD", "SID", "precision", "recall", "seconds"], rows))


if __name__ == "__main__":
    main()

"""Compare the graphs of all pruners with the true order given: `make bench-accuracy`.

    .venv-bench/bin/python benchmarks/pruning_accuracy.py [families] [nulls] [noise] [--seeds 10] [--nodes 20]

families: ER and SF graphs with d (1) or 4d (4) edges. In SF graphs every edge points from the older to the newer node;
    ER2 has 2d edges, and SF4 is also run with random orientation; --families selects. --mechanism, --noise and
    --linear-fraction change how effects are drawn ("gp" by default, with unit Gaussian noise), --samples and --nodes
    change the size. --mgcv also runs R's mgcv if installed.
nulls: false edges on independent columns, d = 20: Gaussian, heavy-tailed, skewed, discrete, mixtures, and rows drawn
    with replacement; --rows selects the sizes.
noise: ER1 with noise whose variance depends on the parents, weakly (the simulator's noise) or strongly, d = 15,
    n = 1000; and ER1 with a near copy of a column added.

The tables show means over the seeds. A reversed edge counts once.
"""

from __future__ import annotations

import argparse
import sys
import warnings
from collections.abc import Callable
from typing import Literal

from _report import markdown, measured, use_one_thread, versions

use_one_thread()

import numpy as np
from _peers import cam_by_mgcv, cam_by_pygam, has_mgcv

from sartre.metrics import edge_precision, edge_recall, shd, sid
from sartre.prune import DAS, SARTRE, CAMPruning
from sartre.simulate import random_dag, simulate
from sartre.simulate.mechanisms import gp_exact

Method = Callable[[np.ndarray], np.ndarray]
FAMILIES: dict[str, tuple[Literal["ER", "SF"], int, Literal["age", "random"]]] = {
    "ER1": ("ER", 1, "age"),
    "ER2": ("ER", 2, "age"),
    "ER4": ("ER", 4, "age"),
    "SF1": ("SF", 1, "age"),
    "SF4": ("SF", 4, "age"),
    "SF4 random": ("SF", 4, "random"),
}


def by(pruner: Callable[[], SARTRE | CAMPruning | DAS]) -> Method:
    """Return a function from a matrix with ordered columns to an adjacency matrix."""

    def run(X: np.ndarray) -> np.ndarray:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")  # CAM's rule may use fewer splines than requested, with a warning
            return pruner().fit(X, range(X.shape[1])).adjacency_matrix_

    return run


def evaluate(methods: dict[str, Method], family: str, arguments: argparse.Namespace) -> list[list[object]]:
    """Return one row per method, with means over the seeds."""
    kind, density, orientation = FAMILIES[family]
    d = arguments.nodes
    results: dict[str, list[tuple[float, ...]]] = {name: [] for name in methods}
    for seed in seeds_of(arguments):
        data = simulate(
            random_dag(d, density * d, kind, orientation, random_state=seed),
            arguments.samples,
            arguments.mechanism,
            noise=arguments.noise,
            linear_fraction=arguments.linear_fraction,
            random_state=seed,
        )
        order = data.dag.topological_order()
        X, truth = data.X[order].to_numpy(), data.dag.reindex(order)
        for name, method in methods.items():
            seconds, _, found = measured(lambda method=method, X=X: method(X))
            quality = edge_precision(truth, found), edge_recall(truth, found)
            results[name].append((shd(truth, found), sid(truth, found), *quality, seconds))
    return rows_of(family, results, (2, 1, 2, 2, 3))


def rows_of(what: str, results: dict[str, list[tuple[float, ...]]], digits: tuple[int, ...]) -> list[list[object]]:
    """Return the means of some results, one row per method."""
    rows: list[list[object]] = []
    for name, values in results.items():
        mean = np.mean(values, axis=0)
        rows.append([what, name, *(f"{value:.{places}f}" for value, places in zip(mean, digits, strict=True))])
    return rows


def seeds_of(arguments: argparse.Namespace) -> range:
    """Return the requested seeds."""
    return range(arguments.first_seed, arguments.first_seed + arguments.seeds)


def families(arguments: argparse.Namespace, methods: dict[str, Method]) -> None:
    """Print the table of the graph families."""
    rows = []
    for family in arguments.families:
        rows += evaluate(methods, family, arguments)
        print(f"{family} done", file=sys.stderr)
    setting = f"{arguments.mechanism}, {arguments.noise} noise, linear fraction {arguments.linear_fraction:g}"
    print(f"\nd = {arguments.nodes}, n = {arguments.samples}, {setting}, {told(arguments)}\n")
    print(markdown(["family", "method", "SHD", "SID", "precision", "recall", "seconds"], rows))


def told(arguments: argparse.Namespace) -> str:
    """Return which seeds were used."""
    seeds = seeds_of(arguments)
    return f"seeds {seeds.start} to {seeds.stop - 1}"


NULLS = ("Gaussian", "Laplace", "t(3)", "log-normal", "mixture", "Poisson", "four values", "rows repeated")


def independent(kind: str, n: int, seed: int) -> np.ndarray:
    """Return 20 independent columns."""
    rng = np.random.default_rng([seed, n])
    draws: dict[str, Callable[[], np.ndarray]] = {
        "Laplace": lambda: rng.laplace(size=(n, 20)),
        "t(3)": lambda: rng.standard_t(3, size=(n, 20)),
        "log-normal": lambda: rng.lognormal(size=(n, 20)),
        "mixture": lambda: rng.normal(size=(n, 20)) + 3 * rng.choice([-1, 1], size=(n, 20)),
        "Poisson": lambda: rng.poisson(2.0, size=(n, 20)).astype(float),
        "four values": lambda: rng.integers(0, 4, size=(n, 20)).astype(float),
    }
    if kind in draws:
        return draws[kind]()
    X = rng.normal(size=(n, 20))
    return X[rng.integers(0, n, size=2 * n)] if kind == "rows repeated" else X


def nulls(arguments: argparse.Namespace, methods: dict[str, Method]) -> None:
    """Print the false edges on independent columns."""
    rows: list[list[object]] = []
    for n in arguments.rows:
        for kind in NULLS:
            tables = [independent(kind, n, seed) for seed in seeds_of(arguments)]
            counts = [np.mean([method(X).sum() for X in tables]) for method in methods.values()]
            rows.append([n, kind, *(f"{count:.2f}" for count in counts)])
        print(f"n = {n} done", file=sys.stderr)
    print(f"\nFalse edges of 190, independent columns, d = 20, {told(arguments)}\n")
    print(markdown(["n", "columns", *methods], rows))


def strongly_unequal(seed: int, n: int = 1000, d: int = 15) -> tuple[np.ndarray, np.ndarray]:
    """Return columns x = f(parents) + exp(0.7 w'parents) noise in their order, and the true adjacency."""
    rng = np.random.default_rng([seed, 5])
    dag = random_dag(d, d, random_state=seed)
    columns: dict[str, np.ndarray] = {}
    for name in dag.topological_order():
        columns[name] = rng.normal(size=n)
        if dag.parents(name):
            parents = np.column_stack([columns[parent] for parent in dag.parents(name)])
            scores = (parents - parents.mean(axis=0)) / parents.std(axis=0)
            direction = rng.normal(size=parents.shape[1]) / np.sqrt(parents.shape[1])
            columns[name] = gp_exact(parents, rng) + np.exp(0.7 * scores @ direction) * columns[name]
    order = dag.topological_order()
    return np.column_stack([columns[name] for name in order]), dag.reindex(order).adjacency


def gently_unequal(seed: int, n: int = 1000, d: int = 15) -> tuple[np.ndarray, np.ndarray]:
    """Return the simulator's heteroscedastic data in the columns' order, and the true adjacency."""
    data = simulate(random_dag(d, d, random_state=seed), n, noise="heteroscedastic", random_state=seed)
    order = data.dag.topological_order()
    return data.X[order].to_numpy(), data.dag.reindex(order).adjacency


def near_copy(seed: int, n: int = 1000, d: int = 15) -> tuple[np.ndarray, np.ndarray]:
    """Return data whose first column has a near copy (1 % noise) as its last child, and the true adjacency."""
    data = simulate(random_dag(d, d, random_state=seed), n, random_state=seed)
    order = data.dag.topological_order()
    X, adjacency = data.X[order].to_numpy(), np.zeros((d + 1, d + 1), dtype=np.uint8)
    adjacency[:d, :d] = data.dag.reindex(order).adjacency
    adjacency[0, d] = 1
    copy = X[:, 0] + 0.01 * X[:, 0].std() * np.random.default_rng([seed, 6]).normal(size=n)
    return np.column_stack([X, copy]), adjacency


def noise(arguments: argparse.Namespace, methods: dict[str, Method]) -> None:
    """Print the effect of unequal variances and of a near copy."""
    rows = []
    for what, draw in {"gentle": gently_unequal, "strong": strongly_unequal, "near copy": near_copy}.items():
        results: dict[str, list[tuple[float, ...]]] = {name: [] for name in methods}
        for seed in seeds_of(arguments):
            X, truth = draw(seed)
            for name, method in methods.items():
                found = method(X)
                results[name].append(
                    (shd(truth, found), edge_precision(truth, found), edge_recall(truth, found), found.sum())
                )
        rows += rows_of(what, results, (1, 2, 2, 1))
    print(f"\nER1, d = 15, n = 1000, unequal variances or a near copy, {told(arguments)}\n")
    print(markdown(["data", "method", "SHD", "precision", "recall", "edges"], rows))


PARTS = {"families": families, "nulls": nulls, "noise": noise}


def main() -> None:
    """Print the requested tables."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("parts", nargs="*", help="families, nulls or noise; families by default")
    parser.add_argument("--nodes", type=int, default=20)
    parser.add_argument("--samples", type=int, default=2000)
    parser.add_argument("--mechanism", default="gp")
    parser.add_argument("--noise", default="gaussian")
    parser.add_argument("--linear-fraction", type=float, default=0.0)
    parser.add_argument("--families", nargs="*", choices=FAMILIES, default=[name for name in FAMILIES if name != "ER2"])
    parser.add_argument("--jobs", type=int, help="threads of SARTRE(joint=True); one by default")
    parser.add_argument("--device", default="cpu", choices=("cpu", "cuda"), help="of SARTRE(joint=True)")
    parser.add_argument("--seeds", type=int, default=10, help="number of data sets per cell")
    parser.add_argument("--first-seed", type=int, default=3000)
    parser.add_argument("--rows", type=int, nargs="*", default=[200, 500, 2000], help="of the nulls")
    parser.add_argument("--only", nargs="*", help="names of the methods to run; all by default")
    parser.add_argument("--mgcv", action="store_true", help="also run R's mgcv, which takes half a minute per data set")
    arguments = parser.parse_args()
    unknown = set(arguments.parts) - set(PARTS)
    if unknown:
        parser.error(f"unknown parts: {', '.join(sorted(unknown))}; choose from {', '.join(PARTS)}")
    print(versions("sartre", "numpy", "pygam"))
    joint = {"n_jobs": arguments.jobs, "device": arguments.device}
    methods: dict[str, Method] = {
        "SARTRE(joint=False)": by(lambda: SARTRE(joint=False, random_state=0)),
        "SARTRE()": by(lambda: SARTRE(random_state=0)),
        "SARTRE(joint=True)": by(lambda: SARTRE(joint=True, **joint, random_state=0)),
        "SARTRE(0.1)": by(lambda: SARTRE(penalty=0.1, random_state=0)),
        "CAMPruning": by(CAMPruning),
        "DAS": by(DAS),
        "CAM-pruning, pyGAM": cam_by_pygam,
    }
    if arguments.mgcv and not has_mgcv():
        print("R with mgcv is not installed, so its rows are left out.")
    elif arguments.mgcv:
        methods["CAM-pruning, mgcv"] = cam_by_mgcv
    methods = {name: method for name, method in methods.items() if not arguments.only or name in arguments.only}
    for part in arguments.parts or ["families"]:
        PARTS[part](arguments, methods)


if __name__ == "__main__":
    main()

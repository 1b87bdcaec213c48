"""Print what half and twice each constant of the default methods would do to accuracy and time.

    .venv/bin/python benchmarks/constants.py [prune] [order] [--only NAME ...] [--tables 3] [--first-seed 20]

prune: the constants of `sartre.prune.sartre.constants`, the true order given. Accuracy is the SHD, a mean over ER1, ER4
    and SF4 graphs with curved, half-linear and linear mechanisms (d = 20, n = 1000) and a wide table (d = 150,
    n = 400); and the false edges on independent columns with Gaussian and heavy-tailed noise (d = 20, n = 200) and on
    data whose noise variance follows the parents. Constants of tables with many rows are tried on n = 120,000.
order: the constants of `sartre.order.search.constants`. Accuracy is the number of true edges against the order.

The seeds are those of development: constants may be chosen by what this prints, and are then to be judged on others.
Counts that bound memory, and the levels of a path, are left out.
"""

from __future__ import annotations

import argparse
import importlib
import sys
import time
import warnings
from typing import TYPE_CHECKING, Any, NamedTuple

from _report import markdown, use_one_thread, versions

use_one_thread()

import numpy as np
from pruning_accuracy import independent, strongly_unequal

from sartre.metrics import order_divergence, shd
from sartre.order import OrderSearch
from sartre.prune import SARTRE
from sartre.simulate import random_dag, simulate

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

MODULES = {"prune": "sartre.prune.sartre.constants", "order": "sartre.order.search.constants"}
OF_MEMORY = {"MAX_FUNCTIONS", "MAX_BYTES"}
OF_MANY_ROWS = {"MANY_SPLINES"}
FACTORS = (0.5, 1, 2)


class Case(NamedTuple):
    """A table with its columns in their true order, the true graph, and what is measured on it."""

    X: np.ndarray
    truth: np.ndarray
    measure: str


def simulated(kind: Any, density: int, linear: float, d: int, n: int, seed: int) -> Case:
    """Simulate a table."""
    dag = random_dag(d, density * d, kind, random_state=seed)
    data = simulate(dag, n, linear_fraction=linear, random_state=seed)
    order = dag.topological_order()
    return Case(data.X[order].to_numpy(), dag.reindex(order).adjacency, "SHD")


def pruning_cases(seeds: range) -> Iterator[Case]:
    """Yield the tables that pruning is tried on."""
    for seed in seeds:
        for kind, density in (("ER", 1), ("ER", 4), ("SF", 4)):
            for linear in (0.0, 0.5, 1.0):
                yield simulated(kind, density, linear, 20, 1000, seed)
        yield simulated("ER", 1, 0.5, 150, 400, seed)
        for columns in ("Gaussian", "t(3)"):
            yield Case(independent(columns, 200, seed), np.zeros((20, 20)), "false edges")
        X, truth = strongly_unequal(seed)
        yield Case(X, truth, "false edges")


def many_row_cases(seeds: range) -> Iterator[Case]:
    """Yield tables with many rows."""
    for seed in seeds:
        for linear in (0.0, 0.5):
            yield simulated("ER", 2, linear, 12, 120_000, seed)


def order_cases(seeds: range) -> Iterator[Case]:
    """Yield the tables that the order search is tried on, with their columns in random order."""
    for seed in seeds:
        for kind, density in (("ER", 1), ("ER", 4), ("SF", 4)):
            for linear in (0.0, 0.5):
                X, truth, _ = simulated(kind, density, linear, 20, 1000, seed)
                shuffled = np.random.default_rng(seed).permutation(20)
                yield Case(X[:, shuffled], truth[np.ix_(shuffled, shuffled)], "edges against the order")


def pruned(case: Case) -> float:
    """Return the errors of the default pruner."""
    found = SARTRE(random_state=0).fit(case.X, range(case.X.shape[1])).adjacency_matrix_
    return float((found > case.truth).sum() if case.measure == "false edges" else shd(case.truth, found))


def ordered(case: Case) -> float:
    """Return the errors of the default orderer."""
    return float(order_divergence(case.truth, OrderSearch(random_state=0).fit(case.X).order_))


def set_constant(name: str, value: float) -> None:
    """Give a constant another value, wherever it was imported to."""
    for module_name, module in list(sys.modules.items()):
        if module_name.startswith("sartre.") and name in vars(module):
            setattr(module, name, value)


def scaled(value: float, factor: float) -> float:
    """Return a multiple of a constant; a whole number stays one, and at least 1."""
    return max(1, round(value * factor)) if isinstance(value, int) else value * factor


def errors_and_seconds(cases: list[Case], run: Callable[[Case], float]) -> tuple[dict[str, float], float]:
    """Return the mean errors by what is measured, and the seconds for all cases."""
    errors: dict[str, list[float]] = {}
    start = time.perf_counter()
    for case in cases:
        errors.setdefault(case.measure, []).append(run(case))
    return {measure: float(np.mean(several)) for measure, several in errors.items()}, time.perf_counter() - start


def table(part: str, only: list[str], seeds: range) -> str:
    """Return the table of one part's constants."""
    module, run = importlib.import_module(MODULES[part]), pruned if part == "prune" else ordered
    values = {
        name: value
        for name, value in vars(module).items()
        if name.isupper() and isinstance(value, int | float) and name not in OF_MEMORY and (not only or name in only)
    }
    cases = list(pruning_cases(seeds) if part == "prune" else order_cases(seeds))
    long_cases = list(many_row_cases(seeds)) if OF_MANY_ROWS & set(values) else []
    run(cases[0])  # kernels are compiled
    once = {}
    rows: list[list[object]] = []
    for name, value in values.items():
        used = long_cases if name in OF_MANY_ROWS else cases
        results = []
        for factor in FACTORS:
            if factor == 1 and len(used) in once:  # the same for all constants
                results.append(once[len(used)])
                continue
            set_constant(name, scaled(value, factor))
            results.append(errors_and_seconds(used, run))
            set_constant(name, value)
            if factor == 1:
                once[len(used)] = results[-1]
        for measure in results[0][0]:
            errors = [f"{found[measure]:.2f}" for found, _ in results]
            seconds = [f"{spent:.1f}" for _, spent in results] if measure == next(iter(results[0][0])) else [""] * 3
            rows.append([name, f"{value:g}", measure, *errors, *seconds])
        print(f"{name} done", file=sys.stderr)
    header = ["constant", "value", "errors counted", "half", "once", "twice", "s, half", "s, once", "s, twice"]
    return markdown(header, rows)


def main() -> None:
    """Read the command line and print the tables."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("parts", nargs="*", default=[], help="prune, order, or both")
    parser.add_argument("--only", nargs="*", default=[], help="names of constants; all by default")
    parser.add_argument("--tables", type=int, default=3, help="tables of each kind")
    parser.add_argument("--first-seed", type=int, default=20)
    arguments = parser.parse_args()
    warnings.simplefilter("ignore")
    seeds = range(arguments.first_seed, arguments.first_seed + arguments.tables)
    for part in arguments.parts or list(MODULES):
        print(f"\n{part}, seeds {seeds.start} to {seeds.stop - 1}\n", flush=True)
        print(table(part, arguments.only, seeds), flush=True)
    print("\n" + versions("sartre", "numpy", "numba"))


if __name__ == "__main__":
    main()

"""Count the true edges that contradict the orders of all orderers, on raw and on standardised columns.

    make bench-orders   or   .venv-bench/bin/python benchmarks/ordering.py [--nodes 20 50] [--settings gp neural]

The graphs are ER and SF with d (1) or 4d (4) edges. In SF graphs every edge points from the older to the newer node, or
is randomly oriented; the mean over the families excludes the latter. Each row is a mean over the seeds. "same" is the
share of data sets with the same order on raw and on standardised columns.
"""

from __future__ import annotations

import argparse
import sys
from typing import TYPE_CHECKING, Any, Literal, NamedTuple

from _report import markdown, measured, use_one_thread, versions

use_one_thread()

import numpy as np

from sartre.metrics import order_divergence
from sartre.order import CAM, SCORE, CaPS, OrderSearch, R2Sort, VarianceSort
from sartre.simulate import Dataset, random_dag, simulate

if TYPE_CHECKING:
    from collections.abc import Callable

FAMILIES: dict[str, tuple[Literal["ER", "SF"], int, Literal["age", "random"]]] = {
    "ER1": ("ER", 1, "age"),
    "ER4": ("ER", 4, "age"),
    "SF1": ("SF", 1, "age"),
    "SF4": ("SF", 4, "age"),
    "SF1 random": ("SF", 1, "random"),
    "SF4 random": ("SF", 4, "random"),
}
SETTINGS: dict[str, dict[str, Any]] = {
    "gp": {},
    "half-linear": {"linear_fraction": 0.5},
    "neural": {"mechanism": "neural"},
    "additive": {"mechanism": "gp-additive"},
    "laplace": {"noise": "laplace"},
    "uniform": {"noise": "uniform"},
    "t3": {"noise": "t3"},
    "heteroscedastic": {"noise": "heteroscedastic"},
    "unequal": {"noise_scale": (0.5, 2.0)},
    "linear": {"mechanism": "linear"},
}
ORDERERS: dict[str, Callable[[], Any]] = {
    "OrderSearch": lambda: OrderSearch(random_state=0),
    'OrderSearch(effort="fast")': lambda: OrderSearch(effort="fast", random_state=0),
    'OrderSearch(scale="raw")': lambda: OrderSearch(scale="raw", random_state=0),
    "SCORE": SCORE,
    "CaPS": CaPS,
    "CAM": CAM,
    "VarianceSort": VarianceSort,
    "R2Sort": R2Sort,
}


class Result(NamedTuple):
    """One order: the edges that contradict it, the seconds that it took, and the order."""

    errors: int
    seconds: float
    order: tuple[int, ...]


def ordered(make: Callable[[], Any], X: np.ndarray, data: Dataset) -> Result:
    """Run an orderer."""
    seconds, _, fitted = measured(lambda: make().fit(X))
    return Result(order_divergence(data.dag, fitted.order_), seconds, tuple(fitted.order_.tolist()))


def evaluate(
    names: list[str], setting: str, family: str, d: int, n: int, seeds: range
) -> dict[tuple[str, str], list[Result]]:
    """Return the results of the orderers on every scale, one per data set."""
    kind, density, orientation = FAMILIES[family]
    results: dict[tuple[str, str], list[Result]] = {}
    for seed in seeds:
        dag = random_dag(d, density * d, kind, orientation, random_state=seed)
        data = simulate(dag, n, random_state=seed, **SETTINGS[setting])
        raw = data.X.to_numpy()
        for scale, X in (("raw", raw), ("standard", (raw - raw.mean(axis=0)) / raw.std(axis=0))):
            for name in names:
                results.setdefault((scale, name), []).append(ordered(ORDERERS[name], X, data))
    return results


def rows_of(by_family: dict[str, dict[tuple[str, str], list[Result]]]) -> list[list[object]]:
    """Return one row per orderer and scale: edges that contradict the order by family, their mean, and the shares."""
    rows: list[list[object]] = []
    for scale, name in next(iter(by_family.values())):
        cells = [results[scale, name] for results in by_family.values()]
        means = [float(np.mean([result.errors for result in cell])) for cell in cells]
        plain = [mean for family, mean in zip(by_family, means, strict=True) if "random" not in family]
        every = [result for cell in cells for result in cell]
        raw = [result for results in by_family.values() for result in results["raw", name]]
        same = np.mean([result.order == other.order for result, other in zip(every, raw, strict=True)])
        seconds = np.median([result.seconds for result in every])
        numbers = [f"{mean:.2f}" for mean in [*means, float(np.mean(plain or means))]]
        rows.append([scale, name, *numbers, f"{same:.2f}", f"{seconds:.2f}"])
    return rows


def main() -> None:
    """Print one table per size and setting."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--nodes", type=int, nargs="*", default=[20, 50])
    parser.add_argument("--samples", type=int, default=2000)
    parser.add_argument("--seeds", type=int, default=10, help="number of data sets per family")
    parser.add_argument("--first-seed", type=int, default=1000)
    parser.add_argument("--settings", nargs="*", choices=SETTINGS, default=["gp", "half-linear"])
    parser.add_argument("--families", nargs="*", choices=FAMILIES, default=list(FAMILIES))
    parser.add_argument("--orderers", nargs="*", choices=ORDERERS, default=list(ORDERERS))
    arguments = parser.parse_args()
    seeds = range(arguments.first_seed, arguments.first_seed + arguments.seeds)
    print(versions("sartre", "numpy", "scipy"))
    for name in arguments.orderers:
        ORDERERS[name]().fit(np.random.default_rng(0).normal(size=(50, 3)))  # compile before the clock starts
    for d in arguments.nodes:
        for setting in arguments.settings:
            by_family = {}
            for family in arguments.families:
                by_family[family] = evaluate(arguments.orderers, setting, family, d, arguments.samples, seeds)
                print(f"d = {d}, {setting}: {family} done", file=sys.stderr)
            print(f"\n{setting}, d = {d}, n = {arguments.samples}, seeds {seeds.start} to {seeds.stop - 1}\n")
            header = ["columns", "orderer", *by_family, "mean", "same", "seconds (median)"]
            print(markdown(header, rows_of(by_family)), flush=True)


if __name__ == "__main__":
    main()

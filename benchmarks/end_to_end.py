"""Learn whole graphs: compare our defaults with SCORE and CAM-pruning, raw and standardised, on the four families.

    .venv-bench/bin/python benchmarks/end_to_end.py [--seeds 10] [--first-seed 4000] [--settings gp half-linear]

It prints the mean SHD over the seeds (a reversed edge counts once); "true order" is the default pruner with the true
order given.
"""

from __future__ import annotations

import argparse
import sys
import warnings

from _report import markdown, measured, use_one_thread, versions

use_one_thread()

import numpy as np
from ordering import FAMILIES, SETTINGS

from sartre import CausalDiscovery, Dag
from sartre.metrics import shd
from sartre.order import SCORE, FixedOrder
from sartre.prune import CAMPruning
from sartre.simulate import random_dag, simulate

SHOWN = ("ER1", "ER4", "SF1", "SF4")


def methods(dag: Dag) -> dict[str, tuple[bool, CausalDiscovery]]:
    """Return the methods to compare: whether the columns are standardised first, and the model."""
    score = {"order": SCORE(exact=True), "prune": CAMPruning()}
    return {
        "defaults, standardised": (True, CausalDiscovery(random_state=0)),
        "defaults, raw": (False, CausalDiscovery(random_state=0)),
        "SCORE + CAMPruning, standardised": (True, CausalDiscovery(**score)),
        "SCORE + CAMPruning, raw": (False, CausalDiscovery(**score)),
        "defaults, true order": (True, CausalDiscovery(order=FixedOrder(dag.topological_order()), random_state=0)),
    }


def main() -> None:
    """Print one table per setting."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--nodes", type=int, default=20)
    parser.add_argument("--samples", type=int, default=2000)
    parser.add_argument("--seeds", type=int, default=10, help="number of data sets per family")
    parser.add_argument("--first-seed", type=int, default=4000)
    parser.add_argument("--settings", nargs="*", choices=SETTINGS, default=["gp"])
    arguments = parser.parse_args()
    print(versions("sartre", "numpy", "scipy"))
    warnings.simplefilter("ignore")
    for setting in arguments.settings:
        results: dict[str, dict[str, list[tuple[float, float]]]] = {}
        for family in SHOWN:
            kind, density, orientation = FAMILIES[family]
            for seed in range(arguments.first_seed, arguments.first_seed + arguments.seeds):
                dag = random_dag(arguments.nodes, density * arguments.nodes, kind, orientation, random_state=seed)
                X = simulate(dag, arguments.samples, random_state=seed, **SETTINGS[setting]).X
                for name, (standardised, model) in methods(dag).items():
                    table = (X - X.mean()) / X.std(ddof=0) if standardised else X
                    seconds, _, fitted = measured(lambda model=model, table=table: model.fit(table))
                    cell = results.setdefault(name, {}).setdefault(family, [])
                    cell.append((shd(dag, fitted.graph_), seconds))
            print(f"{setting}: {family} done", file=sys.stderr)
        rows = []
        for name, cells in results.items():
            means = [f"{np.mean([value for value, _ in cell]):.1f}" for cell in cells.values()]
            seconds = np.median([seconds for cell in cells.values() for _, seconds in cell])
            rows.append([name, *means, f"{seconds:.2f}"])
        last = arguments.first_seed + arguments.seeds - 1
        print(f"\n{setting}, d = {arguments.nodes}, n = {arguments.samples}, seeds {arguments.first_seed} to {last}\n")
        print(markdown(["method", *SHOWN, "seconds (median)"], rows), flush=True)


if __name__ == "__main__":
    main()

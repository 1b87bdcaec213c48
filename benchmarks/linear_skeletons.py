"""Count the skeleton errors of the default and of BOSS on linear Gaussian tables, where arrows are known only in part.

    .venv-bench/bin/python benchmarks/linear_skeletons.py [--seeds 30] [--first-seed 91000] [--nodes 20]

BOSS is that of causal-learn, in the environment of `experiments/peers.py`, which is made if it is missing. Columns are
standardised. "true order reached" is the share of tables on which the order's score is no worse than that of the true
order, exactly and up to the tolerance of a move (three units of log likelihood).
"""

from __future__ import annotations

import argparse
import sys
import warnings
from pathlib import Path

from _report import markdown, use_one_thread, versions

use_one_thread()
sys.path.insert(0, str(Path(__file__).resolve().parents[1]))

import numpy as np
from ordering import FAMILIES

from experiments import peers
from sartre import CausalDiscovery
from sartre.order import FixedOrder, OrderSearch
from sartre.simulate import random_dag, simulate

SHOWN = ("ER1", "ER4", "SF1", "SF4")
SECONDS = 300  # that BOSS may take


def skeleton_errors(adjacency: np.ndarray, truth: np.ndarray) -> int:
    """Return how many pairs are adjacent in one of two graphs only."""
    return int((((adjacency | adjacency.T) != 0) != ((truth | truth.T) != 0)).sum()) // 2


def one_table(family: str, d: int, n: int, seed: int) -> tuple[int, float, float]:
    """Return the skeleton errors of the default and of BOSS, and how far the order is above the true one's score."""
    kind, density, orientation = FAMILIES[family]
    data = simulate(random_dag(d, density * d, kind, orientation, random_state=seed), n, "linear", random_state=seed)
    X = ((data.X - data.X.mean()) / data.X.std(ddof=0)).to_numpy()
    truth = np.asarray(data.dag.adjacency)
    fitted = CausalDiscovery(random_state=0).fit(X)
    order = [data.dag.names.index(name) for name in data.dag.topological_order()]
    true_score = OrderSearch(FixedOrder(order), effort="fast").fit(X).starts_["score"][0]
    peer = peers.run("BOSS", X, seed=0, timeout=SECONDS).adjacency
    errors = float("nan") if peer is None else skeleton_errors(peer, truth)
    return skeleton_errors(fitted.adjacency_matrix_, truth), errors, (fitted.order_step_.score_ - true_score) * n / 2


def main() -> None:
    """Read the command line and print the table."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--nodes", type=int, default=20)
    parser.add_argument("--samples", type=int, default=2000)
    parser.add_argument("--seeds", type=int, default=30, help="number of tables per family")
    parser.add_argument("--first-seed", type=int, default=91000)
    arguments = parser.parse_args()
    warnings.simplefilter("ignore")
    peers.environment()
    seeds = range(arguments.first_seed, arguments.first_seed + arguments.seeds)
    rows = []
    for family in SHOWN:
        found = np.array([one_table(family, arguments.nodes, arguments.samples, seed) for seed in seeds])
        exact, close = ((found[:, 2] <= slack).mean() for slack in (1e-6, 3.0))
        rows.append([family, *(f"{mean:.2f}" for mean in found[:, :2].mean(axis=0)), f"{exact:.2f}, {close:.2f}"])
        print(*rows[-1], file=sys.stderr, flush=True)
    print(f"\nSkeleton errors, linear, d = {arguments.nodes}, seeds {seeds.start} to {seeds.stop - 1}\n")
    print(markdown(["family", "CausalDiscovery()", "BOSS", "true order reached"], rows))
    print(f"\n{versions('sartre', 'numpy')}, causal-learn 0.1.4.8")


if __name__ == "__main__":
    main()

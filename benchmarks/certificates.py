"""How many certified statements are false, and how many true edges are certified compared with those of SARTRE().

python benchmarks/certificates.py [--tables 200] [--first-seed 97700] [--rows 1000] [--columns 10] [--density 1]
    [--noise gaussian t3 heteroscedastic] [--order true random learnt] [--fdr 0.1] [--recall]

A statement "x predicts y beyond everything before y in this order" is false if the generating graph d-separates x and y
given the other variables before y. The share of false statements is 0 where none is certified. Both recalls are shares
of all true edges; that of SARTRE(), with --recall, is learnt on all rows in the same order (or in its own).
"""

from __future__ import annotations

import argparse
import warnings
from time import perf_counter
from typing import Any, NamedTuple

from _report import markdown, use_one_thread

use_one_thread()

import numpy as np

from sartre import CausalDiscovery, certify
from sartre.order import FixedOrder
from sartre.simulate import random_dag, simulate


class Outcome(NamedTuple):
    """What was certified in one table: statements, false ones, true edges; edges that SARTRE() finds; all edges."""

    certified: int
    false: int
    hits: int
    found: int
    edges: int
    seconds: float


def outcome(noise: Any, order: str, seed: int, given: argparse.Namespace) -> Outcome:
    """Simulate a table and certify its edges."""
    dag = random_dag(given.columns, given.density * given.columns, random_state=seed)
    table = simulate(dag, given.rows, noise=noise, random_state=seed).X
    orders = {
        "true": FixedOrder(dag.topological_order()),
        "random": FixedOrder(np.random.default_rng(seed).permutation(dag.names).tolist()),
        "learnt": None,
    }
    model = CausalDiscovery(order=orders[order], directions=False, random_state=0)
    start = perf_counter()
    result = certify(model, table, given.fdr, random_state=seed)
    seconds = perf_counter() - start
    kept = result.edges[result.edges["certified"]]
    pairs = list(zip(kept["source"], kept["target"], strict=True))
    false = 0
    for x, y in pairs:
        before = result.order[: result.order.index(y)]
        false += dag.d_separated([x], [y], [z for z in before if z != x])
    truth = set(dag.edges)
    found = len(truth & set(model.fit(table).graph_.edges)) if given.recall else 0
    return Outcome(len(pairs), false, len(truth & set(pairs)), found, len(truth), seconds)


def row(noise: str, order: str, given: argparse.Namespace) -> list[str]:
    """Return one line of the table."""
    runs = [outcome(noise, order, given.first_seed + k, given) for k in range(given.tables)]
    shares = np.array([run.false / max(run.certified, 1) for run in runs])
    total = Outcome(*np.sum(runs, axis=0))
    recall, whole = total.hits / total.edges, total.found / total.edges
    return [
        noise,
        order,
        f"{shares.mean():.4f} +- {shares.std() / np.sqrt(len(shares)):.4f}",
        f"{total.false:.0f} of {total.certified:.0f}",
        f"{recall:.3f}",
        f"{whole:.3f}" if given.recall else "-",
        f"{recall / whole:.3f}" if given.recall and whole else "-",
        f"{total.seconds / len(runs):.1f}",
    ]


def main() -> None:
    """Print one row per noise and order."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--tables", type=int, default=200)
    parser.add_argument("--first-seed", type=int, default=97700)
    parser.add_argument("--rows", type=int, default=1000)
    parser.add_argument("--columns", type=int, default=10)
    parser.add_argument("--density", type=int, default=1)
    parser.add_argument("--noise", nargs="*", default=["gaussian", "t3", "heteroscedastic"])
    parser.add_argument("--order", nargs="*", default=["true", "random"], choices=["true", "random", "learnt"])
    parser.add_argument("--fdr", type=float, default=0.1)
    parser.add_argument("--recall", action="store_true")
    given = parser.parse_args()
    warnings.simplefilter("ignore")
    heads = ["noise", "order", "share of false statements", "false", "recall", "SARTRE()", "ratio", "seconds"]
    print(markdown(heads, [row(noise, order, given) for noise in given.noise for order in given.order]))


if __name__ == "__main__":
    main()

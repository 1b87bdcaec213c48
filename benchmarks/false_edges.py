"""Count the false edges of the default on independent columns, and compare them with `false_edges_bound_`.

    .venv/bin/python benchmarks/false_edges.py [--tables 100] [--first-seed 0] [--rows 100 300 1000] [--only binary ...]

20 independent columns (12 for categories) of one distribution each; the order is that of the columns. The mean over the
tables must not exceed the bound by more than chance: "+" marks a mean that exceeds it, with its standard error.
"""

from __future__ import annotations

import argparse
import sys
import warnings
from typing import TYPE_CHECKING

from _report import markdown, use_one_thread, versions

use_one_thread()

import numpy as np
import pandas as pd

from sartre.prune import SARTRE

if TYPE_CHECKING:
    from collections.abc import Callable

D = 20
COLUMNS: dict[str, Callable[[np.random.Generator, int], np.ndarray]] = {
    "Gaussian": lambda rng, n: rng.normal(size=(n, D)),
    "uniform": lambda rng, n: rng.uniform(size=(n, D)),
    "Cauchy": lambda rng, n: rng.standard_cauchy(size=(n, D)),
    "Pareto": lambda rng, n: rng.pareto(1.5, size=(n, D)),
    "log-normal": lambda rng, n: np.exp(rng.normal(size=(n, D))),
    "mixture": lambda rng, n: rng.normal(size=(n, D)) + 6 * (rng.random((n, D)) < 0.3),
    "gross errors": lambda rng, n: rng.normal(size=(n, D)) * np.where(rng.random((n, D)) < 0.02, 50, 1),
    "zero-inflated": lambda rng, n: np.where(rng.random((n, D)) < 0.8, 0, rng.normal(size=(n, D))),
    "Poisson 0.3": lambda rng, n: rng.poisson(0.3, size=(n, D)).astype(float),
    "Poisson 2": lambda rng, n: rng.poisson(2.0, size=(n, D)).astype(float),
    "binary": lambda rng, n: rng.integers(0, 2, size=(n, D)).astype(float),
    "rare flags": lambda rng, n: (rng.random((n, D)) < 0.05).astype(float),
    "rounded": lambda rng, n: np.round(rng.normal(size=(n, D))),
}


def categories(rng: np.random.Generator, n: int) -> pd.DataFrame:
    """Return 12 categories with levels of 90, 5, 3 and 2 %."""
    levels = rng.choice(list("abcd"), size=(n, 12), p=[0.9, 0.05, 0.03, 0.02])
    return pd.DataFrame({f"c{j}": pd.Categorical(column) for j, column in enumerate(levels.T)})


def cell(kind: str, n: int, seeds: range) -> list[object]:
    """Return one row of the table."""
    counts, bounds = [], []
    for seed in seeds:
        rng = np.random.default_rng([seed, n, 5])
        table = categories(rng, n) if kind == "rare levels" else COLUMNS[kind](rng, n)
        fitted = SARTRE(random_state=0).fit(table, range(table.shape[1]))
        counts.append(len(fitted.edges_))
        bounds.append(fitted.false_edges_bound_)
    mean, error = np.mean(counts), np.std(counts) / np.sqrt(len(counts))
    return [kind, n, f"{mean:.2f} ({error:.2f})", f"{np.nanmean(bounds):.2f}", "+" if mean > np.nanmean(bounds) else ""]


def main() -> None:
    """Read the command line and print the table."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--tables", type=int, default=100)
    parser.add_argument("--first-seed", type=int, default=0)
    parser.add_argument("--rows", type=int, nargs="*", default=[100, 300, 1000])
    parser.add_argument("--only", nargs="*", default=[*COLUMNS, "rare levels"])
    arguments = parser.parse_args()
    warnings.simplefilter("ignore")
    seeds = range(arguments.first_seed, arguments.first_seed + arguments.tables)
    rows = []
    for kind in arguments.only:
        for n in arguments.rows:
            rows.append(cell(kind, n, seeds))
            print(*rows[-1], file=sys.stderr, flush=True)
    print(f"\nFalse edges on independent columns, seeds {seeds.start} to {seeds.stop - 1}\n")
    print(markdown(["columns", "n", "false edges (s.e.)", "bound", ""], rows))
    print("\n" + versions("sartre", "numpy"))


if __name__ == "__main__":
    main()

"""Fit thousands of dirty tables by the default methods, and report every one that ends in anything but a clear answer.

    .venv/bin/python benchmarks/dirty_tables.py [--tables 5000] [--first-seed 0]

Tables have 10 to 120 rows and 2 to 8 columns: outliers, sentinel codes, rare flags, counts, ties, near copies,
constants, huge and tiny units. A table may be refused with a `ValueError` that names a column; it must not end in a
`LinAlgError` or another error, in NaN among the strengths and p-values of `edges_`, or in NumPy's own warnings.
"""

from __future__ import annotations

import argparse
import sys
import warnings
from collections import Counter

from _report import use_one_thread, versions

use_one_thread()

import numpy as np

from sartre import CausalDiscovery

CODES = (99, 999, -999, 99999999, 1e9, 1e12, 1e15, -(2.0**31), -(2.0**63), 3.4e38)


def dirty_table(seed: int) -> np.ndarray:
    """Draw a table with a random mixture of what real tables suffer from."""
    rng = np.random.default_rng([seed, 77])
    n, d = int(rng.integers(10, 121)), int(rng.integers(2, 9))
    X = rng.normal(size=(n, d)) @ (np.eye(d) + np.triu(rng.normal(size=(d, d)), 1) * (rng.random((d, d)) < 0.4))
    for j in range(d):
        X[:, j] = dirty_column(X, j, rng)
    return X


def dirty_column(X: np.ndarray, j: int, rng: np.random.Generator) -> np.ndarray:
    """Return a column with one kind of dirt."""
    x, n = X[:, j].copy(), len(X)
    some = rng.random(n) < rng.choice([1 / n, 0.03, 0.2])
    kinds = {
        "clean": x,
        "outliers": np.where(some, x * 10.0 ** rng.integers(2, 9), x),
        "code": np.where(some, rng.choice(CODES), x),
        "flag": (rng.random(n) < rng.choice([0.02, 0.1, 0.5])).astype(float),
        "counts": rng.poisson(rng.choice([0.3, 2.0]), size=n).astype(float),
        "ties": np.round(x),
        "near copy": X[:, max(0, j - 1)] + rng.choice([1e-12, 1e-6, 1e-3]) * x,
        "zeros": np.where(rng.random(n) < 0.8, 0.0, x),
        "unit": x * 10.0 ** rng.integers(-60, 60),
        "offset": x + 10.0 ** rng.integers(3, 14),
        "constant": np.full(n, 3.0),
    }
    return kinds[str(rng.choice(list(kinds)))]


def outcome(X: np.ndarray) -> str:
    """Return how a fit ends: "fitted", "refused", or what is wrong."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", UserWarning)
        warnings.simplefilter("error", RuntimeWarning)
        try:
            edges = CausalDiscovery(random_state=0).fit(X).edges_
        except np.linalg.LinAlgError as error:
            return f"LinAlgError: {error}"
        except ValueError as error:
            return "refused" if "Column '" in str(error) else f"ValueError: {error}"
        except Exception as error:  # noqa: BLE001 - every kind of failure is to be reported
            return f"{type(error).__name__}: {error}"
    return "fitted" if np.isfinite(edges[["strength", "p_value"]].to_numpy(float)).all() else "NaN in edges_"


def main() -> None:
    """Read the command line, fit the tables and print the outcomes."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--tables", type=int, default=5000)
    parser.add_argument("--first-seed", type=int, default=0)
    arguments = parser.parse_args()
    counts: Counter[str] = Counter()
    for seed in range(arguments.first_seed, arguments.first_seed + arguments.tables):
        found = outcome(dirty_table(seed))
        if found not in ("fitted", "refused"):
            print(f"seed {seed}: {found}", flush=True)
            found = "failed"
        counts[found] += 1
        if (seed + 1) % 500 == 0:
            print(f"{seed + 1 - arguments.first_seed} tables: {dict(counts)}", file=sys.stderr)
    print(", ".join(f"{name} {counts[name]}" for name in ("fitted", "refused", "failed")))
    print(versions("sartre", "numpy", "scipy"))
    sys.exit(counts["failed"] > 0)


if __name__ == "__main__":
    main()

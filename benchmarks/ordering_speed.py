"""Compare the exact SCORE order with the usual implementation: an n x n x d tensor and two inverses per leaf.

make bench        or        .venv-bench/bin/python benchmarks/ordering_speed.py [--sizes 10 20]
"""

from __future__ import annotations

import argparse

from _report import markdown, measured, use_one_thread, versions

use_one_thread()

import numpy as np

from sartre.metrics import order_divergence
from sartre.order import SCORE
from sartre.simulate import random_dag, simulate

N_SAMPLES = 2000
ETA = 0.001


def naive_hessian_diagonal(X: np.ndarray) -> np.ndarray:
    """Return the Stein estimate of d s_j / d x_j, directly from the published formulas."""
    n = len(X)
    difference = X[:, None, :] - X[None, :, :]
    distances = np.linalg.norm(difference, axis=2)
    h = np.sort(distances.ravel())[(n * n - 1) // 2]
    K = np.exp(-(distances**2) / (2 * h**2)) / h
    score = np.linalg.inv(K + ETA * np.eye(n)) @ (-np.einsum("kij,ki->kj", difference, K) / h**2)
    second = np.einsum("kij,ki->kj", difference**2, K) / h**4 - K.sum(axis=1, keepdims=True) / h**2
    return -(score**2) + np.linalg.inv(K + ETA * np.eye(n)) @ second


def naive_order(X: np.ndarray) -> list[int]:
    """Return SCORE's order, found one leaf at a time."""
    remaining, leaves = list(range(X.shape[1])), []
    while len(remaining) > 1:
        leaf = int(naive_hessian_diagonal(X[:, remaining]).var(axis=0).argmin())
        leaves.append(remaining.pop(leaf))
    return remaining + leaves[::-1]


def main() -> None:
    """Print one row per size and implementation."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--sizes", type=int, nargs="*", default=[10, 20])
    parser.add_argument("--alone", type=int, nargs="*", default=[50], help="sizes without the usual implementation")
    arguments = parser.parse_args()
    print(versions("sartre", "numpy", "scipy"), "\n")
    rows: list[list[object]] = []
    for d in [*arguments.sizes, *arguments.alone]:
        data = simulate(random_dag(d, d, random_state=d), N_SAMPLES, random_state=d)
        X = data.X.to_numpy()
        ours, peak, order = measured(lambda X=X: SCORE(eta=ETA, exact=True).fit(X).order_, repeat=2)
        rows.append([d, "SCORE", f"{ours:.2f}", "1", order_divergence(data.dag, order), f"{peak:.0f}"])
        if d in arguments.sizes:
            naive, peak, other = measured(lambda X=X: naive_order(X))
            same = "same order" if list(order) == other else f"{order_divergence(data.dag, other)} (another order)"
            rows.append(
                [d, "n x n x d tensor, two inverses", f"{naive:.2f}", f"{naive / ours:.1f}", same, f"{peak:.0f}"]
            )
    print(markdown(["d", "implementation", "seconds", "ratio", "edges against the order", "peak MB"], rows))


if __name__ == "__main__":
    main()

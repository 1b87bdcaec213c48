"""Compare our optimum with celer's and adelie's on identical designs, for many targets and penalties.

    make bench        or        .venv-bench/bin/python benchmarks/solver_agreement.py

It exits with 1 if an objective differs from celer's by more than 1e-8 (relative) or a support differs.
"""

from __future__ import annotations

import sys

from _report import markdown, use_one_thread, versions

use_one_thread()

import numpy as np
from _peers import adelie_coefficients, celer_coefficients

from sartre.additive.bases.trees import Embedding, interval_bases
from sartre.additive.design import (
    encode,
    prepare,
)
from sartre.additive.lasso import solve
from sartre.simulate import random_dag, simulate

PENALTIES = (0.3, 0.1, 0.05)
TOL = 1e-12


def objective(y: np.ndarray, phi: np.ndarray, blocks: list[np.ndarray], penalty: float) -> float:
    """Return 1/2n |y - mean - Phi b|^2 + penalty sum |b_j| with the fitted intercept."""
    residual = y - phi @ np.concatenate(blocks)
    return float(np.var(residual) / 2 + penalty * sum(np.linalg.norm(block) for block in blocks))


def main() -> int:
    """Compare at every size, and print one row per size and peer."""
    print(versions("sartre", "numpy", "celer", "adelie"), "\n")
    rows, agreed = [], True
    for d, n in ((10, 300), (20, 2000), (64, 2000)):
        data = simulate(random_dag(d, d, random_state=d), n, random_state=d)
        X = data.X[data.dag.topological_order()].to_numpy()
        bases = list(interval_bases(X, [str(j) for j in range(d)], Embedding(), seed=0))
        blocks = [basis.table[encode(column, basis.edges)] for column, basis in zip(X.T, bases, strict=True)]
        design = prepare(X, bases)
        differences: dict[str, list[float]] = {"celer": [], "adelie": []}
        supports = {"celer": 0, "adelie": 0}
        for i in np.unique(np.linspace(1, d - 1, 12).astype(int)):
            phi, sizes = np.asfortranarray(np.hstack(blocks[:i])), [block.shape[1] for block in blocks[:i]]
            for penalty in PENALTIES:
                ours = solve(design, X[:, i], np.arange(i), penalty, tol=TOL)
                for name, solver in (("celer", celer_coefficients), ("adelie", adelie_coefficients)):
                    theirs = solver(phi, X[:, i], sizes, penalty, TOL)
                    value = objective(X[:, i], phi, theirs, penalty)
                    differences[name].append(abs(ours.objective - value) / value)
                    supports[name] += bool(
                        ((np.array([np.linalg.norm(b) for b in theirs]) > 1e-7) == ours.selected).all()
                    )
        for name, values in differences.items():
            rows.append([d, n, name, len(values), f"{max(values):.1e}", f"{supports[name]} of {len(values)}"])
        agreed &= max(differences["celer"]) < 1e-8 and supports["celer"] == len(differences["celer"])
    print(markdown(["d", "n", "peer", "problems", "largest relative difference", "equal supports"], rows))
    return 0 if agreed else 1


if __name__ == "__main__":
    sys.exit(main())

"""Measure the speed of pruning beside the paper's stack, adelie and pyGAM, in one process and on one thread.

    make bench        or        .venv-bench/bin/python benchmarks/pruning_speed.py [--sizes 20 64 128]

Data: ER graphs with d edges, the simulator's "gp" mechanism, n = 2000, the true order given. Everyone works in
double precision; the lassos stop at the same relative duality gap (adelie: its own criterion, same number).
Ours is timed warm, best of three; peers once (they take seconds to minutes). Memory is the peak of the process.
"""

from __future__ import annotations

import argparse
from typing import TYPE_CHECKING

from _report import markdown, measured, use_one_thread, versions

use_one_thread()

import numpy as np  # noqa: E402
from _peers import TOL, adelie_stack, cam_by_pygam, paper_stack  # noqa: E402

from sartre.metrics import shd  # noqa: E402
from sartre.prune import SARTRE  # noqa: E402
from sartre.simulate import random_dag, simulate  # noqa: E402

if TYPE_CHECKING:
    from collections.abc import Callable

N_SAMPLES = 2000
PYGAM_UP_TO = 64  # beyond, one run takes the better part of an hour


def ours(X: np.ndarray) -> np.ndarray:
    """SARTRE-pruning by this library."""
    return SARTRE(penalty=0.1, tol=TOL, random_state=0).fit(X, range(X.shape[1])).adjacency_matrix_


def compare(d: int, peers: dict[str, Callable[[np.ndarray], np.ndarray]]) -> list[list[object]]:
    """Run everyone on one data set; one row a method."""
    data = simulate(random_dag(d, d, random_state=d), N_SAMPLES, random_state=d)
    order = data.dag.topological_order()
    X, truth = data.X[order].to_numpy(), data.dag.reindex(order).adjacency
    ours(X[:, :3])  # compile
    base, peak, found = measured(lambda: ours(X), repeat=3)
    rows: list[list[object]] = [[d, "sartre", f"{base:.3f}", "1", found.sum(), shd(truth, found), f"{peak:.0f}"]]
    for name, peer in peers.items():
        if peer is cam_by_pygam and d > PYGAM_UP_TO:
            continue
        seconds, peak, found = measured(lambda peer=peer: peer(X))
        rows.append([d, name, f"{seconds:.2f}", f"{seconds / base:.0f}", found.sum(), shd(truth, found), f"{peak:.0f}"])
    return rows


def main() -> None:
    """Print the table, then how our own time grows."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--sizes", type=int, nargs="*", default=[20, 64, 128])
    parser.add_argument("--alone", type=int, nargs="*", default=[512, 2000], help="sizes without the peers")
    arguments = parser.parse_args()
    print(versions("sartre", "numpy", "scikit-learn", "celer", "adelie", "pygam"), "\n")
    peers: dict[str, Callable[[np.ndarray], np.ndarray]] = {
        "RandomTreesEmbedding + celer": paper_stack,
        "RandomTreesEmbedding + adelie": adelie_stack,
        "CAM-pruning, pyGAM": cam_by_pygam,
    }
    rows = [row for d in arguments.sizes for row in compare(d, peers)]
    alone = [row for d in arguments.alone for row in compare(d, {})]
    print(markdown(["d", "method", "seconds", "ratio", "edges", "SHD", "peak MB"], rows + alone))
    if len(alone) > 1:
        (d0, t0), (d1, t1) = ((float(str(row[0])), float(str(row[2]))) for row in (alone[0], alone[-1]))
        print(f"\ngrowth of our time from d = {d0:.0f} to {d1:.0f}: exponent {np.log(t1 / t0) / np.log(d1 / d0):.2f}")


if __name__ == "__main__":
    main()

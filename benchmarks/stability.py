"""Measure the cost of stability selection: learning on 50 pairs of half-samples, compared with learning once.

make bench        or        .venv-bench/bin/python benchmarks/stability.py [--pairs 50] [--jobs 1 2]
"""

from __future__ import annotations

import argparse

from _report import markdown, measured, use_one_thread, versions

use_one_thread()

from sartre import CausalDiscovery, stability
from sartre.metrics import shd
from sartre.simulate import random_dag, simulate

N_VARIABLES, N_SAMPLES, SEED = 20, 2000, 0


def main() -> None:
    """Print one row per number of processes."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--pairs", type=int, default=50)
    parser.add_argument("--jobs", type=int, nargs="*", default=[1, 2])
    arguments = parser.parse_args()
    print(versions("sartre", "numpy", "scipy", "joblib"), "\n")
    data = simulate(random_dag(N_VARIABLES, N_VARIABLES, random_state=SEED), N_SAMPLES, random_state=SEED)
    model = CausalDiscovery(random_state=SEED)
    model.fit(data.X.head(100))  # compile and load before the clock starts
    once, peak, fitted = measured(lambda: model.fit(data.X), repeat=3)
    rows: list[list[object]] = [["once", "", f"{once:.2f}", "1", shd(data.dag, fitted.graph_), f"{peak:.0f}"]]
    for jobs in arguments.jobs:
        seconds, peak, found = measured(
            lambda jobs=jobs: stability(model, data.X, arguments.pairs, n_jobs=jobs, random_state=SEED)
        )
        what = f"{2 * arguments.pairs} half-samples"
        distance = shd(data.dag, found.consensus())
        rows.append([what, jobs, f"{seconds:.1f}", f"{seconds / once:.1f}", distance, f"{peak:.0f}"])
    print(f"{N_VARIABLES} variables, {N_SAMPLES} samples, default settings; the order is learnt again each time\n")
    print(markdown(["learnt", "processes", "seconds", "ratio to once", "SHD", "peak MB"], rows))


if __name__ == "__main__":
    main()

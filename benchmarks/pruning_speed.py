"""Compare the speed of pruning with the paper's stack, adelie and pyGAM, in one process and on one thread.

    make bench        or        .venv-bench/bin/python benchmarks/pruning_speed.py [--sizes 20 64 128]

The data are ER graphs with d edges, the simulator's "gp" mechanism and n = 2000; the true order is given. All methods
work in double precision. The lassos stop at the same relative duality gap (adelie uses its own criterion with the same
number). Our methods are timed warm, best of three; the peers are timed once, since they take seconds to minutes. The
memory is the peak of the process. The last table compares the default pruner, which also tests every edge and searches
for pairs, with pyGAM on ER and SF graphs with d (1) or 4d (4) edges; it takes longer if there are many pairs to fit.
"""

from __future__ import annotations

import argparse
import warnings
from collections.abc import Callable

from _report import markdown, measured, use_one_thread, versions

use_one_thread()

import numpy as np
from _peers import TOL, adelie_stack, cam_by_mgcv, cam_by_pygam, has_mgcv, paper_stack
from pruning_accuracy import FAMILIES

from sartre.metrics import edge_precision, edge_recall, shd, sid
from sartre.prune import SARTRE, CAMPruning
from sartre.simulate import random_dag, simulate

Method = Callable[[np.ndarray], np.ndarray]
N_SAMPLES = 2000
MGCV_UP_TO = 20  # mgcv takes half a minute at 20 variables and most of an hour at 50
SID_UP_TO = 512


def sartre(X: np.ndarray) -> np.ndarray:
    """Prune by this library's SARTRE with the paper's penalty."""
    return SARTRE(penalty=0.1, tol=TOL, random_state=0).fit(X, range(X.shape[1])).adjacency_matrix_


def cam(X: np.ndarray) -> np.ndarray:
    """Prune by this library's CAM-pruning."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # it warns when CAM's rule uses fewer splines
        return CAMPruning().fit(X, range(X.shape[1])).adjacency_matrix_


LABELS: dict[Method, str] = {sartre: "SARTRE", cam: "CAM-pruning"}


def compare(d: int, ours: Method, peers: dict[str, Method]) -> list[list[object]]:
    """Run one of our methods and its peers on one data set; return one row per method, with ratios to ours."""
    data = simulate(random_dag(d, d, random_state=d), N_SAMPLES, random_state=d)
    order = data.dag.topological_order()
    X, truth = data.X[order].to_numpy(), data.dag.reindex(order)
    ours(X[:, :3])  # compile
    rows: list[list[object]] = []
    base = 0.0
    for name, method in {f"sartre: {LABELS[ours]}": ours, **peers}.items():
        if method is cam_by_mgcv and d > MGCV_UP_TO:
            continue
        seconds, peak, found = measured(lambda method=method: method(X), repeat=3 if method is ours else 1)
        base = base or seconds
        quality = [f"{edge_precision(truth, found):.2f}", f"{edge_recall(truth, found):.2f}"]
        distances = [shd(truth, found), sid(truth, found) if d <= SID_UP_TO else "-"]
        rows.append([d, name, f"{seconds:.3f}", f"{seconds / base:.0f}", *distances, *quality, f"{peak:.0f}"])
    return rows


def default(X: np.ndarray) -> np.ndarray:
    """Prune by this library's default pruner."""
    return SARTRE(random_state=0).fit(X, range(X.shape[1])).adjacency_matrix_


def by_family(d: int, seeds: range) -> list[list[object]]:
    """Run the default pruner and pyGAM on data sets of every family except "random"; the last row is their sum."""
    total: dict[str, np.ndarray] = {}
    for name, (kind, density, orientation) in FAMILIES.items():
        for seed in seeds if orientation == "age" else ():
            data = simulate(random_dag(d, density * d, kind, random_state=seed), N_SAMPLES, random_state=seed)
            X = data.X[data.dag.topological_order()].to_numpy()
            default(X)  # compile everything that it needs, including pairs
            ours, pygam = measured(lambda X=X: default(X), repeat=3)[0], measured(lambda X=X: cam_by_pygam(X))[0]
            total[name] = total.get(name, 0.0) + np.array([ours, pygam])
    total["all"] = np.sum(list(total.values()), axis=0)
    return [[d, name, f"{ours:.3f}", f"{pygam:.1f}", f"{pygam / ours:.1f}"] for name, (ours, pygam) in total.items()]


def main() -> None:
    """Print the table, the growth of our own time, and the default pruner by family."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--sizes", type=int, nargs="*", default=[20, 64, 128])
    parser.add_argument("--gams", type=int, nargs="*", default=[20, 50], help="sizes of CAM-pruning with peers")
    parser.add_argument("--alone", type=int, nargs="*", default=[512, 2000], help="sizes of SARTRE without peers")
    parser.add_argument("--alone-gams", type=int, nargs="*", default=[256], help="sizes of CAM-pruning without peers")
    parser.add_argument("--families", type=int, nargs="*", default=[50], help="sizes of the default with pyGAM")
    parser.add_argument("--seeds", type=int, default=3, help="number of data sets per family")
    parser.add_argument("--first-seed", type=int, default=13000, help="first seed of these data sets")
    arguments = parser.parse_args()
    print(versions("sartre", "numpy", "scikit-learn", "celer", "adelie", "pygam"), "\n")
    stacks: dict[str, Method] = {
        "RandomTreesEmbedding + celer": paper_stack,
        "RandomTreesEmbedding + adelie": adelie_stack,
    }
    gams: dict[str, Method] = {"CAM-pruning, pyGAM": cam_by_pygam}
    stacks |= gams
    if has_mgcv():
        gams["CAM-pruning, mgcv"] = cam_by_mgcv
    else:
        print("R with mgcv is not installed, so its rows are left out.\n")
    rows = [row for d in arguments.sizes for row in compare(d, sartre, stacks)]
    rows += [row for d in arguments.gams for row in compare(d, cam, gams)]
    alone = [row for d in arguments.alone for row in compare(d, sartre, {})]
    alone_cam = [row for d in arguments.alone_gams for row in compare(d, cam, {})]
    header = ["d", "method", "seconds", "ratio", "SHD", "SID", "precision", "recall", "peak MB"]
    if rows := rows + alone + alone_cam:
        print(markdown(header, rows))
    if len(alone) > 1:
        (d0, t0), (d1, t1) = ((float(str(row[0])), float(str(row[2]))) for row in (alone[0], alone[-1]))
        print(
            f"\ngrowth of SARTRE's time from d = {d0:.0f} to {d1:.0f}: exponent {np.log(t1 / t0) / np.log(d1 / d0):.2f}"
        )
    seeds = range(arguments.first_seed, arguments.first_seed + arguments.seeds)
    by_families = [row for d in arguments.families for row in by_family(d, seeds)]
    if by_families:
        print(f"\nSARTRE() and CAM-pruning by pyGAM, seconds for all data sets, seeds {seeds[0]} to {seeds[-1]}\n")
        print(markdown(["d", "family", "SARTRE()", "pyGAM", "ratio"], by_families))


if __name__ == "__main__":
    main()

"""Measure exact SCORE orders on the CPU or on a GPU, and compare the two."""

from __future__ import annotations

import platform
import time
from typing import TYPE_CHECKING, NamedTuple

import numpy as np
import scipy
from _report import markdown, measured

import sartre
from sartre.compute.devices import as_array, check_device
from sartre.metrics import order_divergence
from sartre.order.score import SCORE
from sartre.simulate import random_dag, simulate
from sartre.stein.on_gpu import estimators

if TYPE_CHECKING:
    import argparse
    from collections.abc import Sequence

    from sartre.simulate import Dataset

ETA = 0.001
WARM_UP = 8  # number of columns of the same rows that are ordered before the clock starts
HEADER = ["rows", "variables", "device", "seconds", "peak MB", "edges", "against the order", "agreement"]


class Ordered(NamedTuple):
    """The result for one size on one device."""

    seconds: float
    peak_mb: float
    step: SCORE


def order(
    sizes: Sequence[tuple[int, int]],
    device: str = "cpu",
    compare: Sequence[tuple[int, int]] = (),
    n_jobs: int = 1,
    seed: int = 0,
) -> list[list[object]]:
    """Return one row per size (n, d), and one more row for the CPU if the size is to be compared with a GPU.

    If `device` is a GPU, the last column is the largest difference between its Stein values and those of the CPU on
    all, half, five and two of the columns, relative to their largest value. If both computed the order, it also has
    the largest relative difference of the criteria.
    """
    rows: list[list[object]] = []
    for n, d in sizes:
        start = time.perf_counter()
        data = simulate(random_dag(d, d, random_state=seed), n, random_state=seed)
        X = data.X.to_numpy()
        print(f"simulated {n} x {d} in {time.perf_counter() - start:.0f} s", flush=True)
        found = _ordered(X, device, n_jobs)
        row = _row(data, device, found)
        rows.append(row)
        print(row, flush=True)
        if device == "cpu":
            continue
        row[-1] = f"Stein values {_stein_difference(X, found.step, device, n_jobs):.1e}"
        if (n, d) in compare:
            on_cpu = _ordered(X, "cpu", n_jobs)
            row[-1] += f", {_agreement(found.step, on_cpu.step)}"
            rows.append(_row(data, f"cpu, {n_jobs} threads", on_cpu))
        print(row[-1], flush=True)
    return rows


def devices(device: str) -> str:
    """Return one line with the machine and the versions."""
    line = f"sartre {sartre.__version__}, Python {platform.python_version()}, numpy {np.__version__}"
    line += f", scipy {scipy.__version__}"
    if check_device("SCORE", device) is not None:
        import torch  # noqa: PLC0415 - torch is large and optional

        line += f", torch {torch.__version__}, CUDA {torch.version.cuda}, {torch.cuda.get_device_name()}"
    return line


def _ordered(X: np.ndarray, device: str, n_jobs: int) -> Ordered:
    """Order once, after a warm-up on a few columns; on a GPU the peak is that of its memory."""
    step = SCORE(ETA, exact=True, device=device, n_jobs=n_jobs).fit(X[:, :WARM_UP])
    if device == "cpu":
        return Ordered(*measured(lambda: step.fit(X)))
    import torch  # noqa: PLC0415 - torch is large and optional

    torch.cuda.reset_peak_memory_stats()
    seconds, _, step = measured(lambda: step.fit(X))
    return Ordered(seconds, torch.cuda.max_memory_allocated() / 2**20, step)


def _row(data: Dataset, device: str, found: Ordered) -> list[object]:
    n, d = data.X.shape
    errors = order_divergence(data.dag, found.step.order_)
    return [n, d, device, f"{found.seconds:.2f}", f"{found.peak_mb:.0f}", len(data.dag.edges), errors, ""]


def _agreement(found: SCORE, expected: SCORE) -> str:
    places = int((found.order_ != expected.order_).sum())
    largest = np.nanmax(np.abs(found.scores_ - expected.scores_) / np.abs(expected.scores_))
    return f"criteria {largest:.1e}, " + ("same order" if places == 0 else f"{places} places of the order differ")


def _stein_difference(X: np.ndarray, step: SCORE, device: str, n_jobs: int) -> float:
    from threadpoolctl import threadpool_limits  # noqa: PLC0415 - only the CPU needs it

    on_device, on_cpu = estimators(X, ETA, check_device("SCORE", device)), estimators(X, ETA, None)
    largest = 0.0
    with threadpool_limits(n_jobs, user_api="blas"):
        for count in {X.shape[1], max(2, X.shape[1] // 2), 5, 2}:
            columns = step.order_[:count]
            expected = on_cpu(columns).hessian_diagonal()
            difference = np.abs(as_array(on_device(columns).hessian_diagonal()) - expected).max()
            largest = max(largest, difference / np.abs(expected).max())
    return largest


def _size(text: str) -> tuple[int, int]:
    n, _, d = text.partition("x")
    return int(n), int(d)


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Add the command-line arguments of this part."""
    parser.add_argument("--device", default="cpu", choices=["cpu", "cuda"])
    parser.add_argument("--sizes", type=_size, nargs="+", default=[(2000, 50)], metavar="ROWSxVARIABLES")
    parser.add_argument("--compare", type=_size, nargs="*", default=[], help="sizes that are also ordered on the CPU")
    parser.add_argument("--jobs", type=int, default=1, help="number of CPU threads")
    parser.add_argument("--seed", type=int, default=0)


def run(arguments: argparse.Namespace) -> None:
    """Print one row per size and device."""
    print(devices(arguments.device), "\n", flush=True)
    rows = order(arguments.sizes, arguments.device, arguments.compare, arguments.jobs, arguments.seed)
    print("\n" + markdown(HEADER, rows))

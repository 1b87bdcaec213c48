"""Time one evaluation of a process's likelihood and gradient, against scikit-learn's GaussianProcessRegressor.

python benchmarks/process_speed.py [--rows 1000] [--candidates 15]        about a minute of one core

Both have a joint kernel with one weight per candidate and noise; ours has a curve and a line of each as well.
"""

from __future__ import annotations

import argparse
from time import perf_counter
from typing import TYPE_CHECKING, Any

from _report import use_one_thread

use_one_thread()

import numpy as np
import sklearn
from sklearn.gaussian_process import GaussianProcessRegressor
from sklearn.gaussian_process.kernels import RBF, ConstantKernel, WhiteKernel

from sartre.process.fits import even_weights
from sartre.process.likelihood import Inputs, Process

if TYPE_CHECKING:
    from collections.abc import Callable

REPEATS = 5


def seconds(function: Callable[[], object]) -> float:
    """Return the shortest of some times."""
    times = []
    for _ in range(REPEATS):
        start = perf_counter()
        function()
        times.append(perf_counter() - start)
    return min(times)


def main() -> None:
    """Print the two times and their ratio."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--rows", type=int, default=1000)
    parser.add_argument("--candidates", type=int, default=15)
    given = parser.parse_args()
    n, p = given.rows, given.candidates
    rng = np.random.default_rng(0)
    X, y = rng.normal(size=(n, p)), rng.normal(size=n)
    curves = np.hstack([X**2, X**3, np.sin(X), np.cos(X), np.tanh(X)])
    owner = np.concatenate([np.tile(np.arange(p), 5), p + np.arange(p)])
    functions = np.asfortranarray(np.hstack([curves, X]), np.float32)
    process = Process(Inputs(p, np.asfortranarray(X, np.float32), np.arange(p), functions, owner), y)
    ours = seconds(lambda: process.evaluate(even_weights(p)))
    weights: Any = np.ones(p)
    nothing: Any = None
    kernel = ConstantKernel() * RBF(weights) + WhiteKernel()
    peer: Any = GaussianProcessRegressor(kernel, optimizer=nothing).fit(X, y)
    theirs = seconds(lambda: peer.log_marginal_likelihood(peer.kernel_.theta, eval_gradient=True))
    print(f"{n} rows, {p} candidates: sartre {1e3 * ours:.0f} ms, scikit-learn {sklearn.__version__} {theirs:.2f} s")
    print(f"ratio {theirs / ours:.0f}")


if __name__ == "__main__":
    main()

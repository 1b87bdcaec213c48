"""Time one evaluation of a process's likelihood and gradient, against scikit-learn and, if installed, GPyTorch.

python benchmarks/process_speed.py [--rows 1000] [--candidates 15]        about a minute of one core

All have a joint kernel with one weight per candidate and noise; ours has a curve and a line of each as well. Ours and
GPyTorch's are in single precision, and both factorise the matrix exactly.
"""

from __future__ import annotations

import argparse
import importlib.util
from importlib.metadata import version
from time import perf_counter
from typing import TYPE_CHECKING, Any

from _report import use_one_thread

use_one_thread()

import numpy as np
from sklearn.gaussian_process import GaussianProcessRegressor
from sklearn.gaussian_process.kernels import RBF, ConstantKernel, WhiteKernel

from sartre.process.fits import even_weights
from sartre.process.likelihood import Inputs, Process

if TYPE_CHECKING:
    from collections.abc import Callable

    from numpy.typing import NDArray

REPEATS = 5


def seconds(function: Callable[[], object]) -> float:
    """Return the shortest of some times."""
    times = []
    for _ in range(REPEATS):
        start = perf_counter()
        function()
        times.append(perf_counter() - start)
    return min(times)


def seconds_of_scikit_learn(X: NDArray[np.float64], y: NDArray[np.float64]) -> float:
    """Return the time of GaussianProcessRegressor."""
    weights: Any = np.ones(X.shape[1])
    nothing: Any = None
    kernel = ConstantKernel() * RBF(weights) + WhiteKernel()
    peer: Any = GaussianProcessRegressor(kernel, optimizer=nothing).fit(X, y)
    return seconds(lambda: peer.log_marginal_likelihood(peer.kernel_.theta, eval_gradient=True))


def seconds_of_gpytorch(X: NDArray[np.float64], y: NDArray[np.float64]) -> float:
    """Return the time of GPyTorch's exact process on one thread."""
    torch: Any = importlib.import_module("torch")
    gpytorch: Any = importlib.import_module("gpytorch")
    torch.set_num_threads(1)

    class Exact(gpytorch.models.ExactGP):
        def __init__(self, inputs: Any, targets: Any, likelihood: Any) -> None:
            super().__init__(inputs, targets, likelihood)
            self.mean_module = gpytorch.means.ZeroMean()
            kernel = gpytorch.kernels.RBFKernel(ard_num_dims=inputs.shape[1])
            self.covar_module = gpytorch.kernels.ScaleKernel(kernel)

        def forward(self, inputs: Any) -> Any:
            return gpytorch.distributions.MultivariateNormal(self.mean_module(inputs), self.covar_module(inputs))

    inputs, targets = torch.tensor(X, dtype=torch.float32), torch.tensor(y, dtype=torch.float32)
    likelihood = gpytorch.likelihoods.GaussianLikelihood()
    model = Exact(inputs, targets, likelihood)
    model.train()
    value = gpytorch.mlls.ExactMarginalLogLikelihood(likelihood, model)

    def evaluate() -> None:
        model.zero_grad()
        value(model(inputs), targets).backward()

    with gpytorch.settings.max_cholesky_size(len(X) + 1):
        return seconds(evaluate)


def main() -> None:
    """Print the times and their ratios to ours."""
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
    print(f"{n} rows, {p} candidates: sartre {1e3 * ours:.0f} ms")
    peers = {"scikit-learn": seconds_of_scikit_learn}
    if importlib.util.find_spec("gpytorch") is not None:
        peers["gpytorch"] = seconds_of_gpytorch
    for name, time in peers.items():
        theirs = time(X, y)
        print(f"{name} {version(name)} {1e3 * theirs:.0f} ms, ratio {theirs / ours:.1f}")


if __name__ == "__main__":
    main()

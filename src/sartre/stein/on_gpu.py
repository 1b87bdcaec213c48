"""The Stein estimator on PyTorch tensors: the formulas of `sartre.stein`, in double precision, on a GPU."""

from __future__ import annotations

from collections.abc import Callable
from math import gcd, sqrt
from typing import Any

import numpy as np
from numpy.typing import NDArray

from sartre.compute.devices import require_torch
from sartre.compute.memory import check_memory
from sartre.stein.estimator import COINCIDENT, Stein, loses_digits, median_distance, stable_ridge

KERNELS = 3  # matrices of all rows by all rows that are held at a time
SAMPLE = 2**16  # number of values from which the median is estimated
WINDOW = 0.02  # share of ranks searched on each side of the estimate: ten of its standard deviations


class TorchStein(Stein):
    """The estimator for one PyTorch table: like `Stein`, but the results are tensors on the table's device.

    Everything is computed from the table each time, including the distances: a GPU is fast at products, and removing a
    column from distances that others dominate would lose digits that the factorisation needs.

    Parameters
    ----------
    X : tensor of shape (n, d)
        Double precision, centred. At least one column must vary.
    eta : float
        Ridge added to the kernel matrix.
    """

    def __init__(self, X: Any, eta: float) -> None:
        torch = self._math = require_torch("TorchStein", "gpu")
        squares = _square_distances(torch, X)
        self._h = _width(squares, X)
        self._X = X / self._h
        self._kernel = squares.div_(-2 * self._h * self._h).exp_()
        self._row = self._kernel.sum(dim=1, keepdim=True)
        ridge = stable_ridge(eta * self._h, len(X))
        self._factor, failed = torch.linalg.cholesky_ex(self._shifted(ridge))
        while failed and ridge <= len(X):  # as in `Stein`: with values far out, rounding can exceed the ridge
            ridge *= 10
            self._factor, failed = torch.linalg.cholesky_ex(self._shifted(ridge))

    def _shifted(self, ridge: float) -> Any:
        shifted = self._kernel.clone()
        shifted.diagonal().add_(ridge)
        return shifted

    def _solve(self, right: Any) -> Any:
        return self._math.cholesky_solve(right, self._factor)


def estimators(values: NDArray[np.float64], eta: float, device: Any) -> Callable[..., Stein]:
    """Return a function that builds the estimator of some columns: ``estimate(columns, fast=False)``.

    Parameters
    ----------
    values : array of shape (n, d)
    eta : float
    device : torch.device, optional
        The result of `sartre.compute.devices.check_device`: None for NumPy. The table is copied to a device once, and
        `fast` has no effect there: double precision is fast enough on a GPU.

    Examples
    --------
    >>> values = np.random.default_rng(0).normal(size=(50, 4))
    >>> estimators(values, 0.001, None)(np.array([0, 3])).score().shape
    (50, 2)
    """
    if device is None:
        n = len(values)
        check_memory(8.0 * KERNELS * n * n, f"The kernel of {n} rows", "Use fewer rows ('max_samples', if it has one).")
        return lambda columns, *, fast=False: Stein(values[:, columns], eta, fast=fast)
    torch = require_torch("TorchStein", "gpu")
    table = torch.as_tensor(values - np.median(values, axis=0), device=device)
    return lambda columns, *, fast=False: TorchStein(table[:, torch.as_tensor(columns, device=device)], eta)  # noqa: ARG005


def _square_distances(torch: Any, X: Any) -> Any:
    squares = (X**2).sum(dim=1, keepdim=True)
    if loses_digits(squares.cpu().numpy()):
        return torch.cdist(X, X, compute_mode="donot_use_mm_for_euclid_dist") ** 2
    ones = torch.ones_like(squares)
    distances = torch.hstack([-2 * X, squares, ones]) @ torch.hstack([X, ones, squares]).T
    return distances.clamp_(min=0.0).fill_diagonal_(0.0)


def _width(squares: Any, X: Any) -> float:
    """Return the lower median of all distances, as defined in `sartre.stein`."""
    median = float(lower_median(squares.view(-1)))
    if median <= COINCIDENT * float(squares.max()):
        return median_distance(squares.cpu().numpy(), X.cpu().numpy())
    return sqrt(median)


def lower_median(values: Any) -> Any:
    """Return the exact lower median of a one-dimensional tensor.

    A sample of the values locates it roughly, so that only the values nearby have to be sorted.
    """
    place = (len(values) - 1) // 2
    stride = max(1, len(values) // SAMPLE)
    while gcd(stride, len(values)) > 1:  # otherwise the sample would hit only a few columns of a matrix
        stride += 1
    some = values[::stride].sort().values
    low, high = some[int((0.5 - WINDOW) * len(some))], some[int((0.5 + WINDOW) * len(some))]
    near = values[(values >= low) & (values <= high)]
    below = int((values < low).sum())
    if not below <= place < below + len(near):
        near, below = values, 0
    return near.sort().values[place - below]

"""Noise of variance one: four fixed distributions, and one whose spread depends on the parents."""

from __future__ import annotations

from collections.abc import Sequence
from math import sqrt
from typing import Literal

import numpy as np
from numpy.typing import NDArray
from scipy.special import expit

from sartre.simulate.mechanisms import standardized

Noise = Literal["gaussian", "laplace", "uniform", "t3", "heteroscedastic"]


def unit_noise(
    kind: Noise,
    parents: NDArray[np.float64],
    rng: np.random.Generator,
    later: Sequence[tuple[np.random.Generator, int]] = (),
    n_reference: int | None = None,
) -> NDArray[np.float64]:
    """Draw one value per row of ``parents`` (n, p), with mean zero and variance one.

    Each pair of ``later`` is a generator and the number of rows that it draws, after those of ``rng``, so that blocks
    of rows do not change each other's noise. The first ``n_reference`` rows are those of `parent_spread`.

    Examples
    --------
    >>> rng = np.random.default_rng(0)
    >>> unit_noise("uniform", np.empty((10_000, 0)), rng).std().round(2)
    np.float64(1.0)
    """
    n_first = len(parents) - sum(n for _, n in later)
    noise = np.concatenate([_draws(kind, n, source) for source, n in ((rng, n_first), *later)])
    if kind == "heteroscedastic" and parents.shape[1]:
        return noise * parent_spread(parents, rng, n_reference)
    return noise


def _draws(kind: Noise, n: int, rng: np.random.Generator) -> NDArray[np.float64]:
    """Draw from the distribution of a kind of noise, of which the heteroscedastic one is Gaussian."""
    if kind == "laplace":
        return rng.laplace(scale=sqrt(1 / 2), size=n)
    if kind == "uniform":
        return rng.uniform(-sqrt(3), sqrt(3), size=n)
    if kind == "t3":
        return rng.standard_t(3, size=n) / sqrt(3)
    return rng.standard_normal(n)


def parent_spread(
    parents: NDArray[np.float64], rng: np.random.Generator, n_reference: int | None = None
) -> NDArray[np.float64]:
    """Draw a standard deviation s(x), a smooth function of the parents whose square has mean one over the rows.

    ``s(x)^2 = u(x) / mean(u)``, ``u(x) = 0.1 + 1 / (1 + exp(-2 w'z))``, where z are the parents (n, p) at mean zero
    and variance one and w is a random direction of length one. Variances of two rows differ at most elevenfold. All
    means and variances are those of the first ``n_reference`` rows, by default of all.

    Examples
    --------
    >>> rng = np.random.default_rng(0)
    >>> np.mean(parent_spread(rng.normal(size=(100, 2)), rng) ** 2).round(6)
    np.float64(1.0)
    """
    direction = rng.standard_normal(parents.shape[1])
    z = standardized(parents, n_reference)
    u = 0.1 + expit(2 * z @ (direction / np.linalg.norm(direction)))
    return np.sqrt(u / u[:n_reference].mean())

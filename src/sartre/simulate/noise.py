"""Noise of variance one: four fixed distributions, and one whose spread depends on the parents."""

from __future__ import annotations

from math import sqrt
from typing import Literal

import numpy as np
from numpy.typing import NDArray
from scipy.special import expit

Noise = Literal["gaussian", "laplace", "uniform", "t3", "heteroscedastic"]


def unit_noise(kind: Noise, parents: NDArray[np.float64], rng: np.random.Generator) -> NDArray[np.float64]:
    """Draw one value per row of ``parents`` (n, p), with mean zero and variance one.

    Examples
    --------
    >>> rng = np.random.default_rng(0)
    >>> unit_noise("uniform", np.empty((10_000, 0)), rng).std().round(2)
    np.float64(1.0)
    """
    n = len(parents)
    if kind == "laplace":
        return rng.laplace(scale=sqrt(1 / 2), size=n)
    if kind == "uniform":
        return rng.uniform(-sqrt(3), sqrt(3), size=n)
    if kind == "t3":
        return rng.standard_t(3, size=n) / sqrt(3)
    gaussian = rng.standard_normal(n)
    if kind == "heteroscedastic" and parents.shape[1]:
        return gaussian * parent_spread(parents, rng)
    return gaussian


def parent_spread(parents: NDArray[np.float64], rng: np.random.Generator) -> NDArray[np.float64]:
    """Draw a standard deviation s(x), a smooth function of the parents whose square has mean one over the rows.

    ``s(x)^2 = u(x) / mean(u)``, ``u(x) = 0.1 + 1 / (1 + exp(-2 w'z))``, where z are the parents (n, p) at mean zero
    and variance one and w is a random direction of length one. Variances of two rows differ at most elevenfold.

    Examples
    --------
    >>> rng = np.random.default_rng(0)
    >>> np.mean(parent_spread(rng.normal(size=(100, 2)), rng) ** 2).round(6)
    np.float64(1.0)
    """
    direction = rng.standard_normal(parents.shape[1])
    standardized = (parents - parents.mean(axis=0)) / parents.std(axis=0)
    u = 0.1 + expit(2 * standardized @ (direction / np.linalg.norm(direction)))
    return np.sqrt(u / u.mean())

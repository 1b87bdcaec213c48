"""Random functions of a variable's parents: they map (n, p) values of the parents to n values of the effect."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from math import sqrt
from typing import TYPE_CHECKING, Literal

import numpy as np
from numpy.typing import NDArray
from scipy.linalg import LinAlgError, cholesky
from scipy.spatial.distance import cdist
from scipy.special import expit

if TYPE_CHECKING:
    Mechanism = Callable[[NDArray[np.float64], np.random.Generator], NDArray[np.float64]]

MechanismName = Literal["gp", "gp-additive", "neural", "linear", "sigmoid", "sdcd"]

EXACT_LIMIT = 2e12  # draws * n_samples^3 up to which a Gaussian process is drawn exactly: 250 draws of 2000
FREQUENCIES = 500  # frequencies of an approximate draw; blocks of them keep memory at n x FREQUENCY_BLOCK
FREQUENCY_BLOCK = 100
JITTERS = tuple(10.0**power for power in range(-10, 0))  # the first that works is added to the diagonal
HIDDEN_UNITS = 100


def choose_mechanism(name: MechanismName, n_draws: int, n_samples: int, n_reference: int | None = None) -> Mechanism:
    """Return the mechanism of a name; Gaussian processes are exact unless ``n_draws`` draws would take too long.

    The first ``n_reference`` rows (by default all) give the units of the inputs where a mechanism standardises them.

    Examples
    --------
    >>> choose_mechanism("gp", 10, 1000).__name__, choose_mechanism("gp", 10, 100_000).__name__
    ('gp_exact', 'gp_fourier')
    """
    gp = gp_exact if n_draws * n_samples**3 <= EXACT_LIMIT else gp_fourier
    mechanisms: dict[MechanismName, Mechanism] = {
        "gp": gp,
        "gp-additive": partial(additive, gp),
        "neural": neural,
        "linear": linear,
        "sigmoid": partial(additive, sigmoid),
        "sdcd": partial(sdcd, n_reference=n_reference),
    }
    return mechanisms[name]


def gp_exact(parents: NDArray[np.float64], rng: np.random.Generator) -> NDArray[np.float64]:
    """Draw from a Gaussian process with kernel k(x, x') = exp(-|x - x'|^2 / 2) over all parents jointly.

    f = L e with L L' = K + jitter I and e standard normal. Only one n x n matrix is held; it is factorised in place.

    Examples
    --------
    >>> f = gp_exact(np.array([[0.0], [0.001], [9.0]]), np.random.default_rng(0))
    >>> bool(abs(f[0] - f[1]) < 0.01 < abs(f[0] - f[2]))
    True
    """
    normal = rng.standard_normal(len(parents))
    for jitter in JITTERS:
        kernel = cdist(parents, parents, "sqeuclidean")
        kernel *= -0.5
        np.exp(kernel, out=kernel)
        kernel.flat[:: len(kernel) + 1] += jitter
        try:  # the transpose is the same matrix in the memory order that LAPACK overwrites
            return cholesky(kernel.T, lower=True, overwrite_a=True, check_finite=False) @ normal
        except LinAlgError:
            continue
    raise LinAlgError(f"The kernel of the parents cannot be factorised, even with {JITTERS[-1]} added to its diagonal.")


def gp_fourier(parents: NDArray[np.float64], rng: np.random.Generator) -> NDArray[np.float64]:
    """Draw from nearly the same process by random Fourier features, in time and memory linear in n.

    ``f(x) = sum_k [a_k cos(w_k'x) + b_k sin(w_k'x)] / sqrt(500)``, where all of w, a, b are standard normal. It has
    variance one and covariance ``mean_k cos(w_k'(x - x'))``, whose expectation is the kernel of `gp_exact`.

    Examples
    --------
    >>> f = gp_fourier(np.array([[0.0], [0.001], [9.0]]), np.random.default_rng(0))
    >>> bool(abs(f[0] - f[1]) < 0.01 < abs(f[0] - f[2]))
    True
    """
    n, p = parents.shape
    f = np.zeros(n)
    for _ in range(FREQUENCIES // FREQUENCY_BLOCK):
        phase = parents @ rng.standard_normal((p, FREQUENCY_BLOCK))
        f += np.cos(phase) @ rng.standard_normal(FREQUENCY_BLOCK)
        f += np.sin(phase) @ rng.standard_normal(FREQUENCY_BLOCK)
    return f / sqrt(FREQUENCIES)


def additive(term: Mechanism, parents: NDArray[np.float64], rng: np.random.Generator) -> NDArray[np.float64]:
    """Add up independent draws of ``term``, one per parent.

    Examples
    --------
    >>> additive(linear, np.eye(2), np.random.default_rng(0)).shape
    (2,)
    """
    return np.sum([term(column[:, None], rng) for column in parents.T], axis=0)


def linear(parents: NDArray[np.float64], rng: np.random.Generator) -> NDArray[np.float64]:
    """Draw f(x) = w'x, with every weight uniform in [-1.5, -0.5] or [0.5, 1.5].

    Examples
    --------
    >>> weights = linear(np.eye(3), np.random.default_rng(0))
    >>> bool(np.all((np.abs(weights) >= 0.5) & (np.abs(weights) <= 1.5)))
    True
    """
    return parents @ _signed_uniform(0.5, 1.5, parents.shape[1], rng)


def neural(parents: NDArray[np.float64], rng: np.random.Generator) -> NDArray[np.float64]:
    """Draw a network with one hidden layer of 100 sigmoid units.

    ``f(x) = 2 / sqrt(100) sum_k v_k (2 s(w_k'x + b_k) - 1)``, ``s(t) = 1 / (1 + exp(-t))``; every entry of w_k is
    uniform in [-2, -0.5] or [0.5, 2], b_k and v_k are standard normal. At every x, f has mean zero and a
    variance from 0.7 (all parents at zero) to 4 (all units saturated).

    Examples
    --------
    >>> neural(np.zeros((2, 3)), np.random.default_rng(0)).shape
    (2,)
    """
    weights = _signed_uniform(0.5, 2.0, (parents.shape[1], HIDDEN_UNITS), rng)
    hidden = 2 * expit(parents @ weights + rng.standard_normal(HIDDEN_UNITS)) - 1
    return hidden @ rng.standard_normal(HIDDEN_UNITS) * (2 / sqrt(HIDDEN_UNITS))


def sdcd(parents: NDArray[np.float64], rng: np.random.Generator, n_reference: int | None = None) -> NDArray[np.float64]:
    """Draw a network as in the simulations of SDCD: strong compared with its noise, whose standard deviation is 0.5.

    ``f(x) = sum_k v_k s(w_k'z)``, z the standardised parents, with 100 sigmoid units without bias; v_k and every entry
    of w_k are uniform in [-2, -0.5] or [0.5, 2] (Nazaret, Hong, Azizi and Blei, ICML 2024). Means and standard
    deviations are those of the first ``n_reference`` rows, by default of all; there, of the observational ones.

    Examples
    --------
    >>> x = np.random.default_rng(0).normal(size=(200, 3))
    >>> bool(np.allclose(sdcd(x, np.random.default_rng(1)), sdcd(5 + 2 * x, np.random.default_rng(1))))
    True
    """
    weights = _signed_uniform(0.5, 2.0, (parents.shape[1], HIDDEN_UNITS), rng)
    hidden = expit(standardized(parents, n_reference) @ weights)
    return hidden @ _signed_uniform(0.5, 2.0, HIDDEN_UNITS, rng)


def sigmoid(parent: NDArray[np.float64], rng: np.random.Generator) -> NDArray[np.float64]:
    """Draw the soft step of CAM's simulations in one parent, an array of shape (n, 1).

    ``f(x) = a b(x + c) / (1 + |b(x + c)|)`` with a - 1 exponential of mean 1/4, b uniform in [-2, -0.5] or [0.5, 2],
    c uniform in [-2, 2] (Buehlmann, Peters and Ernest, Annals of Statistics 42, 2014).

    Examples
    --------
    >>> low, high = sigmoid(np.array([[-1e9], [1e9]]), np.random.default_rng(0))
    >>> bool(np.isclose(low, -high) and abs(high) >= 1)
    True
    """
    a = 1 + rng.exponential(1 / 4)
    b = _signed_uniform(0.5, 2.0, 1, rng)
    t = b * (parent[:, 0] + rng.uniform(-2, 2))
    return a * t / (1 + np.abs(t))


def standardized(values: NDArray[np.float64], n_reference: int | None = None) -> NDArray[np.float64]:
    """Return columns in units in which the first ``n_reference`` rows (by default all) have mean 0 and variance 1.

    A column that is constant there is only centred.

    Examples
    --------
    >>> standardized(np.array([[1.0, 5.0], [3.0, 5.0], [7.0, 6.0]]), 2).tolist()
    [[-1.0, 0.0], [1.0, 0.0], [5.0, 1.0]]
    """
    reference = values[:n_reference]
    spread = reference.std(axis=0)
    return (values - reference.mean(axis=0)) / np.where(spread > 0, spread, 1.0)


def _signed_uniform(
    low: float, high: float, size: int | tuple[int, ...], rng: np.random.Generator
) -> NDArray[np.float64]:
    """Draw from [-high, -low] and [low, high] with equal chances."""
    return rng.choice([-1.0, 1.0], size=size) * rng.uniform(low, high, size=size)

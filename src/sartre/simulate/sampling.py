"""Samples from a structural causal model with random mechanisms on a given graph."""

from __future__ import annotations

from numbers import Real
from typing import TYPE_CHECKING, Any, get_args

import numpy as np
import pandas as pd

from sartre.compute.parallel import blas_threads
from sartre.graph.dag import Dag
from sartre.settings import check_choice, check_number, seed_of
from sartre.simulate.dataset import Dataset
from sartre.simulate.mechanisms import MechanismName, choose_mechanism, linear
from sartre.simulate.noise import Noise, unit_noise

if TYPE_CHECKING:
    from sartre.settings import RandomState


OWN_SCALE: dict[MechanismName, float] = {"sdcd": 0.5}  # of the noise, where a mechanism is known by it


@blas_threads()  # with more threads, rounding would depend on their number
def simulate(
    dag: Dag,
    n_samples: int,
    mechanism: MechanismName = "gp",
    noise: Noise = "gaussian",
    noise_scale: float | tuple[float, float] | None = None,
    linear_fraction: float = 0.0,
    random_state: RandomState = None,
) -> Dataset:
    """Sample ``x_j = f_j(parents of j) + noise_j`` for every variable of a graph.

    Parameters
    ----------
    dag : Dag
        The graph.
    n_samples : int
        Number of rows, two or more.
    mechanism : {"gp", "gp-additive", "neural", "linear", "sigmoid", "sdcd"}
        How every f_j is drawn.

        - ``"gp"``: one joint draw from a Gaussian process over all parents, kernel ``exp(-|x - x'|^2 / 2)``;
        - ``"gp-additive"``: the sum of independent draws of this kind, one per parent;
        - ``"neural"``: one hidden layer of 100 sigmoid units, random weights;
        - ``"linear"``: weights uniform in [-1.5, -0.5] or [0.5, 1.5];
        - ``"sigmoid"``: the sum over the parents of CAM's soft steps ``a b(x + c) / (1 + |b(x + c)|)``;
        - ``"sdcd"``: the networks of SDCD's simulations, of which the noise is a small part.

        `sartre.simulate.mechanisms` states each distribution in full. Gaussian processes are drawn exactly
        (Cholesky) up to ``draws * n_samples^3 = 2e12``, and by 500 random Fourier frequencies above; there is one draw
        per variable for ``"gp"``, and one per edge for ``"gp-additive"``.
    noise : {"gaussian", "laplace", "uniform", "t3", "heteroscedastic"}
        Distribution of the noise, at mean zero and variance one before scaling. ``"t3"`` is Student's t with three
        degrees of freedom. ``"heteroscedastic"`` is Gaussian with a variance that depends on the parents,
        ``s(x)^2 = u(x) / mean(u)``, ``u(x) = 0.1 + 1 / (1 + exp(-2 w'z))``, z the standardised parents and w a random
        direction of length one; its mean over the rows is one, and variables without parents are plain Gaussian.
    noise_scale : float or (low, high), optional
        Standard deviation of the noise: one value for all variables, or a range from which each draws its own
        uniformly. By default 0.5 for ``"sdcd"``, as there, and 1 for the others.
    linear_fraction : float
        Probability that a variable with parents is linear in them, whatever the mechanism.
    random_state : int, numpy.random.Generator, numpy.random.RandomState or None
        Source of all randomness. Every variable draws from its own stream, set by the seed and its name: other
        variables, or another order of the columns, do not change its draws.

    Returns
    -------
    Dataset
        ``X``, a data frame whose columns are ``dag.names``, and ``dag``.

    Examples
    --------
    >>> chain = Dag.from_edges([("a", "b"), ("b", "c")])
    >>> X, dag = simulate(chain, 100, noise="laplace", random_state=0)
    >>> X.shape, list(X.columns)
    ((100, 3), ['a', 'b', 'c'])
    >>> X.equals(simulate(chain, 100, noise="laplace", random_state=0).X)
    True
    """
    if not isinstance(dag, Dag):
        raise TypeError(f"The 'dag' parameter of simulate must be a Dag. Got {type(dag).__name__} instead.")
    check_number("simulate", "n_samples", n_samples, low=2, integer=True)
    check_choice("simulate", "mechanism", mechanism, get_args(MechanismName))
    check_choice("simulate", "noise", noise, get_args(Noise))
    check_number("simulate", "linear_fraction", linear_fraction, low=0.0, high=1.0)
    scales = _scale_range(OWN_SCALE.get(mechanism, 1.0) if noise_scale is None else noise_scale)
    seed = seed_of("simulate", random_state)

    nonlinear = choose_mechanism(mechanism, dag.n_edges if mechanism == "gp-additive" else len(dag), n_samples)
    column = {name: j for j, name in enumerate(dag.names)}
    X = np.empty((n_samples, len(dag)), order="F")
    for name in dag.topological_order():
        rng = np.random.default_rng(np.random.SeedSequence(seed, spawn_key=tuple(name.encode())))
        # Parents are sorted by name, not by column, so that each keeps its weight in any column order.
        parents = X[:, [column[parent] for parent in sorted(dag.parents(name))]]
        place, coin = rng.random(2)
        scale = scales[0] + place * (scales[1] - scales[0])
        x = scale * unit_noise(noise, parents, rng)
        if parents.shape[1]:
            x += (linear if coin < linear_fraction else nonlinear)(parents, rng)
        X[:, column[name]] = x
    return Dataset(pd.DataFrame(X, columns=dag.names), dag)


def _scale_range(value: Any) -> tuple[float, float]:
    """Return a positive number, or a pair of them, as the range ``(low, high)``."""
    low, high = value if isinstance(value, (tuple, list)) and len(value) == 2 else (value, value)
    complaint = (
        "The 'noise_scale' parameter of simulate must be a float in the range (0.0, inf) or a pair (low, high) with "
        f"0 < low <= high < inf. Got {value!r} instead."
    )
    if not (isinstance(low, Real) and isinstance(high, Real)):
        raise TypeError(complaint)
    if not 0 < float(low) <= float(high) < np.inf:
        raise ValueError(complaint)
    return float(low), float(high)

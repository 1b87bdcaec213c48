"""Samples from a structural causal model with random mechanisms on a given graph."""

from __future__ import annotations

from collections.abc import Mapping
from functools import partial
from itertools import chain
from numbers import Real
from typing import TYPE_CHECKING, Any, get_args, overload

import numpy as np
import pandas as pd

from sartre.compute.parallel import blas_threads
from sartre.data.row_design import SOFT
from sartre.graph.dag import Dag
from sartre.settings import check_choice, check_number, seed_of
from sartre.simulate.dataset import Confounded, Dataset, Experiment
from sartre.simulate.hidden import DrawnCauses, HiddenEffect, draw_hidden
from sartre.simulate.interventions import Environments, check_set_to, read_environments
from sartre.simulate.mechanisms import MechanismName, choose_mechanism, linear
from sartre.simulate.noise import Noise, unit_noise

if TYPE_CHECKING:
    from sartre.settings import RandomState


OWN_SCALE: dict[MechanismName, float] = {"sdcd": 0.5}  # of the noise, where a mechanism is known by it


@overload
def simulate(
    dag: Dag,
    n_samples: int,
    mechanism: MechanismName = ...,
    noise: Noise = ...,
    noise_scale: float | tuple[float, float] | None = ...,
    linear_fraction: float = ...,
    random_state: RandomState = ...,
    *,
    interventions: None = ...,
    hidden: int = ...,
    hidden_effect: HiddenEffect = ...,
) -> Dataset: ...
@overload
def simulate(
    dag: Dag,
    n_samples: int,
    mechanism: MechanismName = ...,
    noise: Noise = ...,
    noise_scale: float | tuple[float, float] | None = ...,
    linear_fraction: float = ...,
    random_state: RandomState = ...,
    *,
    interventions: Mapping[str, Any],
    n_intervened: int | None = ...,
    set_to: tuple[float, float] = ...,
    shift_by: float = ...,
    hidden: int = ...,
    hidden_effect: HiddenEffect = ...,
) -> Experiment: ...
@blas_threads()  # with more threads, rounding would depend on their number
def simulate(  # noqa: PLR0913 - a simulation has many sides
    dag: Dag,
    n_samples: int,
    mechanism: MechanismName = "gp",
    noise: Noise = "gaussian",
    noise_scale: float | tuple[float, float] | None = None,
    linear_fraction: float = 0.0,
    random_state: RandomState = None,
    *,
    interventions: Mapping[str, Any] | None = None,
    n_intervened: int | None = None,
    set_to: tuple[float, float] = (0.0, 1.0),
    shift_by: float = 2.0,
    hidden: int = 0,
    hidden_effect: HiddenEffect = "additive",
) -> Dataset:
    """Sample ``x_j = f_j(parents of j) + noise_j`` for every variable of a graph; act on variables, hide causes.

    Parameters
    ----------
    dag : Dag
        The graph.
    n_samples : int
        Number of rows, two or more; with `interventions`, of those in which nothing is acted on, which may be none.
    mechanism : {"gp", "gp-additive", "neural", "linear", "sigmoid", "sdcd"}
        How every f_j is drawn.

        - ``"gp"``: one joint draw from a Gaussian process over all parents, kernel ``exp(-|x - x'|^2 / 2)``;
        - ``"gp-additive"``: the sum of independent draws of this kind, one per parent;
        - ``"neural"``: one hidden layer of 100 sigmoid units, random weights;
        - ``"linear"``: weights uniform in [-1.5, -0.5] or [0.5, 1.5];
        - ``"sigmoid"``: the sum over the parents of CAM's soft steps ``a b(x + c) / (1 + |b(x + c)|)``;
        - ``"sdcd"``: the networks of SDCD's simulations, of which the noise is a small part.

        `sartre.simulate.mechanisms` states each distribution in full. Gaussian processes are drawn exactly
        (Cholesky) up to ``draws * rows^3 = 2e12``, and by 500 random Fourier frequencies above; there is one draw
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
        variables, or another order of the columns, do not change its draws. Its noise in each environment has a
        stream of its own, too, so that environments do not change each other's noise.
    interventions : mapping of names of environments, optional
        What is acted on in each environment: a list of variables that are set, or ``("soft", list)`` for variables
        that are shifted. The rows of the environments come after the observational ones, in the given order. A value
        that is set depends on nothing else; one that is shifted keeps its parents and its noise. All else is as in
        observational rows: each f_j is drawn once, for all rows together. Where a mechanism or the heteroscedastic
        noise standardises its inputs, means and variances are those of the observational rows, as in SDCD, or of all
        rows if fewer than two are observational.
    n_intervened : int, optional
        Number of rows per environment of `interventions`; by default `n_samples`.
    set_to : (mean, standard deviation)
        Normal distribution of the values that are set. SDCD's simulations use (0, 0.1); with a standard deviation
        of 0 all of them are equal.
    shift_by : float
        What a soft intervention adds to a variable, in standard deviations of its noise.
    hidden : int
        Number of hidden common causes. Each is standard normal, acts on two or three random variables, and is not a
        column. Values that are set do not depend on it.
    hidden_effect : {"additive", "linear", "joint"}
        What each hidden cause does to a variable:

        - ``"additive"``: it adds a draw from a Gaussian process (by random Fourier frequencies), whose standard
          deviation is 1.5 times that of the variable's noise;
        - ``"linear"``: it adds a line with the same standard deviation and a random sign;
        - ``"joint"``: it is one more argument of f_j.

    Returns
    -------
    Dataset, or Experiment if there are interventions
        ``X``, a data frame whose columns are ``dag.names``, and ``dag``, the graph of these columns. ``confounded`` is
        the set of pairs of variables with a common hidden cause, each pair sorted by name. An `Experiment` also has
        ``environment``, the name of each row's environment (``"observational"`` where nothing is acted on), and
        ``interventions``.

    Examples
    --------
    >>> chain = Dag.from_edges([("a", "b"), ("b", "c")])
    >>> X, dag = simulate(chain, 100, noise="laplace", random_state=0)
    >>> X.shape, list(X.columns)
    ((100, 3), ['a', 'b', 'c'])
    >>> X.equals(simulate(chain, 100, noise="laplace", random_state=0).X)
    True
    >>> acted = {"knockdown": ["b"], "drug": ("soft", ["c"])}
    >>> experiment = simulate(chain, 100, random_state=0, interventions=acted, n_intervened=50, set_to=(0, 0.1))
    >>> experiment
    Experiment: 200 rows, 3 variables, 2 edges
      observational: 100 rows
      knockdown: 50 rows, b set
      drug: 50 rows, c shifted
    >>> experiment.X["b"].groupby(experiment.environment).std().round(1).to_dict()
    {'drug': ..., 'knockdown': 0.1, 'observational': ...}
    >>> simulate(Dag.from_edges([], ["a", "b"]), 100, hidden=1, random_state=0).confounded
    {('a', 'b')}
    """
    if not isinstance(dag, Dag):
        raise TypeError(f"The 'dag' parameter of simulate must be a Dag. Got {type(dag).__name__} instead.")
    rows = read_environments(n_samples, interventions, n_intervened, dag.names)
    check_choice("simulate", "mechanism", mechanism, get_args(MechanismName))
    check_choice("simulate", "noise", noise, get_args(Noise))
    check_number("simulate", "linear_fraction", linear_fraction, low=0.0, high=1.0)
    check_number("simulate", "shift_by", shift_by, low=-np.inf, open_low=True)
    value = check_set_to(set_to)
    scales = _scale_range(OWN_SCALE.get(mechanism, 1.0) if noise_scale is None else noise_scale)
    seed = seed_of("simulate", random_state)

    latent = draw_hidden(hidden, hidden_effect, dag.names, rows, partial(_stream, seed))
    n_draws = dag.n_edges if mechanism == "gp-additive" else len(dag)
    nonlinear = choose_mechanism(mechanism, n_draws, len(rows), rows.n_reference)
    column = {name: j for j, name in enumerate(dag.names)}
    X = np.empty((len(rows), len(dag)), order="F")
    for name in dag.topological_order():
        rng, streams = _stream(seed, name), {other: _stream(seed, name, other) for other in rows.actions}
        # Parents are sorted by name, not by column, so that each keeps its weight in any column order.
        parents = X[:, [column[parent] for parent in sorted(dag.parents(name))]]
        place, coin = rng.random(2)
        scale = scales[0] + place * (scales[1] - scales[0])
        later = [(stream, rows.n_intervened) for stream in streams.values()]
        x = scale * unit_noise(noise, parents, rng, later, rows.n_reference)
        arguments = np.column_stack([parents, latent.beside_parents(name)])
        if arguments.shape[1]:
            x += (linear if coin < linear_fraction else nonlinear)(arguments, rng)
        x += scale * latent.added_to(name, partial(_stream, seed), rows.n_reference)
        for environment, acted, kind in rows.acting_on(name):
            if kind == SOFT:
                x[acted] += shift_by * scale
            else:
                x[acted] = value[0] + value[1] * streams[environment].standard_normal(rows.n_intervened)
        X[:, column[name]] = x
    return _result(pd.DataFrame(X, columns=dag.names), dag, rows, latent)


def _stream(seed: int, *key: str | int) -> np.random.Generator:
    """Return the generator of a variable, of its noise in an environment, or of a hidden cause.

    256, which is no byte, parts names; numbers above it are what `sartre.simulate.hidden` draws.
    """
    first, *others = [list(word.encode()) if isinstance(word, str) else [word] for word in key]
    flat = chain(first, *([256, *numbers] for numbers in others))
    return np.random.default_rng(np.random.SeedSequence(seed, spawn_key=tuple(flat)))


def _result(X: pd.DataFrame, dag: Dag, rows: Environments, latent: DrawnCauses) -> Dataset:
    """Return a pair, with the environments of its rows and the confounded pairs if there are any."""
    if rows.actions:
        labels = pd.Series(rows.labels, name="environment")
        return Experiment(X, dag, labels, rows.described, latent.confounded)
    return Confounded(X, dag, latent.confounded) if latent.targets else Dataset(X, dag)


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

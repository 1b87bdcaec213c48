"""Interventions that were seen, compared with what the model says about them."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from math import ceil
from typing import TYPE_CHECKING

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from sartre.compute.parallel import blas_threads
from sartre.graph.dag import Dag
from sartre.scm.equations import draw, propagate
from sartre.steps import WITHOUT_ROWS

if TYPE_CHECKING:
    from sartre.scm.model import StructuralModel

FEWEST_DRAWN = 10_000  # rows per intervention: their number then adds little to the standard error
COMPARISON = ["environment", "targets", "variable", "observed", "predicted", "z", "shift"]


def seen_interventions(
    scm: StructuralModel, targets: Mapping[str, Sequence[str]], random_state: int = 0
) -> pd.DataFrame:
    """Compare the mean of every variable in an experiment with the mean that the model predicts there.

    In the n_e rows of an environment, the targets were set to values t. The prediction is the mean of x_k under
    do(targets = t): all other mechanisms stay, and the noise comes from rows of other environments, so that the rows
    that are compared do not predict themselves (unless fewer than 50 rows would be left). The difference is given in
    standard errors,

        z = (observed - predicted) / sqrt(s_observed^2 / n_e + s_predicted^2 / m_k),

    with m_k the number of rows that the noise of x_k comes from. If the graph is right and nothing else differs between
    the environments, z is roughly normal; a large z says that an arrow points the wrong way, that an edge is missing or
    superfluous, or that the experiment acts on more than its targets. The error of the fitted mechanisms is not part of
    it, so with very many rows, a small misfit has a large z, too.

    Parameters
    ----------
    scm : StructuralModel
        Its table has a design with environments; `CausalDiscovery.scm_` does after a fit with an environment.
    targets : mapping
        By environment, the names of the variables that were set in it.
    random_state : int
        The seed of the noise.

    Returns
    -------
    DataFrame
        One row per environment and variable that was not set in it: ``environment``, ``targets`` (their names, as one
        text), ``variable``, ``observed`` and ``predicted`` (means), ``z``, and ``shift``: the difference from the mean
        in the reference environment, in standard errors, which needs no model: does acting on the targets change the
        variable at all?

    Examples
    --------
    >>> from sartre import CausalDiscovery
    >>> rng = np.random.default_rng(0)
    >>> rain, noise = rng.normal(size=(2, 600))
    >>> rain[400:] = 1.5  # a sprinkler
    >>> table = pd.DataFrame({"rain": rain, "wet": 2 * rain + noise})
    >>> where = np.repeat(["nature", "sprinkler"], [400, 200])
    >>> model = CausalDiscovery(random_state=0)
    >>> model = model.fit(table, environment=where, interventions={"sprinkler": ["rain"]})
    >>> model.graph_.edges
    [('rain', 'wet')]
    >>> seen_interventions(model.scm_, {"sprinkler": ["rain"]}).round(1)
      environment targets variable  observed  predicted    z  shift
    0   sprinkler    rain      wet       3.0        3.0  0.2   24.2
    """
    if scm.columns_kept:
        raise ValueError(WITHOUT_ROWS)
    with blas_threads(1):  # there are many small products
        rows = [row for name, acted in targets.items() if acted for row in _compared(scm, name, acted, random_state)]
    return pd.DataFrame(rows, columns=COMPARISON)


def _compared(
    scm: StructuralModel, environment: str, targets: Sequence[str], seed: int
) -> list[tuple[str, str, str, float, float, float, float]]:
    """Return the rows of one environment."""
    design = scm.table.design
    if design is None or environment not in design.labels:
        raise ValueError(f"No row of the model has the environment {environment!r}. Fit it with 'environment'.")
    seen, usual = (scm.table.values[design.labels == label] for label in (environment, design.reference))
    others = replace(scm, table=scm.table.leaving_out((environment, name) for name in scm.names))
    predicted = _predicted(others, {name: seen[:, scm.names.index(name)] for name in targets}, seed)
    found = []
    for k, name in enumerate(scm.names):
        if name not in targets:
            n_noise = int(others.table.rows_of(k).sum())
            z = _in_errors(seen[:, k], predicted[:, k], n_noise)
            shift = _in_errors(seen[:, k], usual[:, k], len(usual))
            means = float(seen[:, k].mean()), float(predicted[:, k].mean())
            found.append((environment, ", ".join(targets), name, *means, z, shift))
    return found


def _in_errors(seen: NDArray[np.float64], other: NDArray[np.float64], n_other: int) -> float:
    """Return the difference of two means in standard errors, the second mean being that of `n_other` rows."""
    if len(seen) < 2 or len(other) < 2:
        return np.nan
    error = float(np.sqrt(seen.var(ddof=1) / len(seen) + other.var() / n_other))
    return float(seen.mean() - other.mean()) / error if error > 0 else np.nan


def _predicted(scm: StructuralModel, values: Mapping[str, NDArray[np.float64]], seed: int) -> NDArray[np.float64]:
    """Return draws (n, d) of the model with variables set to these values (n_e,), each of them equally often.

    The values were seen, so they are within the data of the mechanisms, and `do` would only warn about them.
    """
    n_seen = len(next(iter(values.values())))
    repeats = ceil(max(FEWEST_DRAWN, len(scm.table.values)) / n_seen)
    adjacency = scm.graph.adjacency.copy()
    adjacency[:, [scm.names.index(name) for name in values]] = 0
    held = {name: np.tile(column, repeats) for name, column in values.items()}
    model = replace(scm, graph=Dag(adjacency, scm.names), interventions=held)
    return propagate(model, draw(model, n_seen * repeats, seed, evenly=True))

"""The fitted function of every variable's parents, which all later steps use.

Diagnostics, report and structural model use the same mechanisms, so that they agree.
"""

from __future__ import annotations

import logging
from collections.abc import Iterable, Mapping
from typing import TYPE_CHECKING, Any

from numpy.typing import NDArray

from sartre.additive.mechanism import fit_mechanism
from sartre.data.category_codes import scored
from sartre.data.missing import imputed
from sartre.steps import findings_of

if TYPE_CHECKING:
    import numpy as np

    from sartre.data.table import Table
    from sartre.graph.dag import Dag
    from sartre.steps import Mechanism

logger = logging.getLogger(__name__)


def parent_columns(graph: Dag, name: str) -> list[int]:
    """Return the parents' columns, sorted by name so that no result depends on the order of the columns.

    Examples
    --------
    >>> from sartre.graph import Dag
    >>> parent_columns(Dag.from_edges([("b", "y"), ("a", "y")]), "y")
    [2, 0]
    """
    return [graph.names.index(parent) for parent in sorted(graph.parents(name))]


def fit_mechanisms(
    table: Table,
    graph: Dag,
    pairs: Iterable[tuple[str, str, str]] = (),
    known: Mapping[str, Mechanism] | None = None,
) -> dict[str, Mechanism]:
    """Fit the mechanism of every variable of a graph, by name; its arguments are those of `parent_columns`.

    Parameters
    ----------
    table : Table
        Has the same columns as the graph. A target is fitted on the rows in which it is observed and was not set; a
        category with three or more levels is replaced by its scores as a target (`sartre.data.category_codes`).
    graph : Dag
    pairs : iterable of (first, second, target)
        Parents of a target that interact, by name.
    known : mapping of Mechanism, optional
        Mechanisms that are already fitted, by name.

    Examples
    --------
    >>> import numpy as np
    >>> from sartre.data.checks import as_table
    >>> from sartre.graph import Dag
    >>> x = np.linspace(-1, 1, 200)
    >>> found = fit_mechanisms(as_table(np.column_stack([x, 3 * x])), Dag([[0, 1], [0, 0]]))
    >>> found["x1"].predict(np.array([[0.5]])).round(6)
    array([1.5])
    """
    together: dict[str, list[tuple[str, str]]] = {}
    for first, second, target in pairs:
        together.setdefault(target, []).append((first, second))
    found, responses = dict(known or {}), _responses(table)
    for name in table.names:
        if name not in found:
            X, y = _samples(table, responses, graph, name)
            columns = parent_columns(graph, name)
            place = {table.names[column]: k for k, column in enumerate(columns)}
            acting = [(place[first], place[second]) for first, second in together.get(name, [])]
            found[name] = fit_mechanism(X, y, acting, [k for k, j in enumerate(columns) if j in table.nominal])
            logger.info("mechanisms: %d of %d fitted", len(found), len(table.names))
    return {name: found[name] for name in table.names}


def refit_mechanisms(table: Table, graph: Dag, mechanisms: Mapping[str, Mechanism]) -> dict[str, Mechanism]:
    """Refit mechanisms to other rows, or to the same rows in other units; a variable without parents gets its mean."""
    found: dict[str, Mechanism] = {}
    responses = _responses(table)
    for name in table.names:
        X, y = _samples(table, responses, graph, name)
        found[name] = mechanisms[name].refit(X, y) if X.shape[1] else fit_mechanism(X, y)
    return found


def _responses(table: Table) -> NDArray[np.float64]:
    """Return the responses, shape (n, d): the columns, with scores for categories of three or more levels."""
    if not table.nominal:
        return table.values
    values, nominal = table.values.copy(), sorted(table.nominal)
    values[:, nominal] = scored(imputed(table, seed=0)).values[:, nominal]
    return values


def _samples(
    table: Table, responses: NDArray[np.float64], graph: Dag, name: str
) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    """Return the values of the parents and of the target in the rows that show its mechanism."""
    target = table.names.index(name)
    X, y, rows = table.values[:, parent_columns(graph, name)], responses[:, target], table.rows_of(target)
    return (X, y) if rows.all() else (X[rows], y[rows])


def mechanisms_of(model: Any, table: Table) -> dict[str, Mechanism]:
    """Return the mechanisms of a fitted model for a table: those of its own method, or newly fitted ones."""
    if hasattr(model, "mechanisms"):
        return model.mechanisms(table)
    return fit_mechanisms(table, model.graph_, findings_of(getattr(model, "prune_step_", None)).pairs())

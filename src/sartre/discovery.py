"""Causal discovery in two steps: learn an order, then prune its fully connected graph."""

from __future__ import annotations

from functools import cached_property
from typing import TYPE_CHECKING, Any

from sklearn.base import BaseEstimator
from sklearn.utils.validation import check_is_fitted

from sartre.graph import Dag
from sartre.knowledge import constraints
from sartre.order import SCORE
from sartre.prune import SARTRE
from sartre.steps import fit_within, fresh
from sartre.validation import as_table, check_order

if TYPE_CHECKING:
    from sartre.knowledge import Knowledge
    from sartre.scm import StructuralModel
    from sartre.validation import RandomState

MIN_ROWS = 10


class CausalDiscovery(BaseEstimator):
    """Learn a causal DAG from a table: any orderer, then any pruner.

    Parameters
    ----------
    order : orderer, optional
        ``fit(X)`` gives ``order_``, ``fit(X, before=...)`` where something is known. `sartre.order.SCORE` by default.
    prune : pruner, optional
        ``fit(X, order)`` gives ``adjacency_matrix_`` and ``edges_``, ``fit(X, order, candidates=..., required=...)``
        where something is known. `sartre.prune.SARTRE` by default.
    knowledge : Knowledge, optional
        What is known beforehand, by column names. It is checked before any work, and the result obeys it.
    n_jobs, random_state : optional
        Handed to every step that has such a setting and leaves it at None.

    Attributes
    ----------
    graph_ : Dag
        The learnt graph, with the columns' names.
    order_ : array of shape (d,)
        Column indices, source first.
    adjacency_matrix_ : uint8 array of shape (d, d)
        1 where row is a parent of column.
    edges_ : DataFrame
        The edges with what the pruner says of each.
    order_step_, prune_step_ : the fitted steps
    scm_ : StructuralModel
        The graph with a mechanism for every variable: samples, interventions, effects, counterfactuals. Fitted when it
        is first asked for.

    Examples
    --------
    >>> import numpy as np, pandas as pd
    >>> rng = np.random.default_rng(0)
    >>> rain = rng.normal(size=500)
    >>> river = np.sin(2 * rain) + rng.normal(size=500) / 2
    >>> flood = river**2 / 2 + rng.normal(size=500) / 2
    >>> table = pd.DataFrame({"flood": flood, "rain": rain, "river": river})
    >>> CausalDiscovery(random_state=0).fit(table).graph_
    Dag: 3 variables, 2 edges
      rain -> river
      river -> flood
    """

    def __init__(
        self,
        order: Any = None,  # noqa: ANN401 - anything with fit(X) and order_
        prune: Any = None,  # noqa: ANN401 - anything with fit(X, order), adjacency_matrix_ and edges_
        *,
        knowledge: Knowledge | None = None,
        n_jobs: int | None = None,
        random_state: RandomState = None,
    ) -> None:
        self.order = order
        self.prune = prune
        self.knowledge = knowledge
        self.n_jobs = n_jobs
        self.random_state = random_state

    def fit(self, X: Any) -> CausalDiscovery:  # noqa: ANN401 - any table
        """Learn the graph of a table's columns.

        Parameters
        ----------
        X : array of shape (n, d) or data frame
            At least 10 rows and 2 columns of finite numbers.
        """
        self.__dict__.pop("scm_", None)  # that of an earlier fit
        table = as_table(X, min_rows=MIN_ROWS, min_columns=2)
        known = constraints(self, table.names)
        settings = {"n_jobs": self.n_jobs, "random_state": self.random_state}
        orderer = fresh(SCORE() if self.order is None else self.order, **settings)
        pruner = fresh(SARTRE() if self.prune is None else self.prune, **settings)
        before, candidates, required = known.before, ~known.forbidden, known.required
        self.order_step_ = fit_within(orderer, table, before=before if before.any() else None)
        self.order_ = check_order(self.order_step_.order_, table.names)
        known.check_order(self.order_, type(orderer).__name__)
        self.prune_step_ = fit_within(
            pruner,
            table,
            self.order_,
            candidates=None if candidates.all() else candidates,
            required=required if required.any() else None,
        )
        self.adjacency_matrix_ = self.prune_step_.adjacency_matrix_
        known.check_edges(self.adjacency_matrix_, type(pruner).__name__)
        self.edges_ = self.prune_step_.edges_
        self.graph_ = Dag(self.adjacency_matrix_, table.names)
        self._table = table
        return self

    @cached_property
    def scm_(self) -> StructuralModel:
        """The structural causal model of the graph, with the pairs that the pruner found to act together.

        It is fitted to the rows of `fit`, to which the model keeps a reference: a pickle of the model has the rows in
        it, a `clone` has not. To share a model without its rows, share ``graph_``.

        Examples
        --------
        >>> import numpy as np
        >>> rng = np.random.default_rng(0)
        >>> x0 = rng.normal(size=300)
        >>> x1 = np.sin(x0) + rng.normal(size=300) / 3
        >>> model = CausalDiscovery(random_state=0).fit(np.column_stack([x0, x1]))
        >>> model.scm_
        StructuralModel: 2 variables, 1 edges, 0 pairs
        """
        from sartre.scm import StructuralModel  # noqa: PLC0415 - it stands on this layer

        check_is_fitted(self, "graph_")
        pairs = getattr(self.prune_step_, "interactions_", None)
        named = [] if pairs is None else pairs[["first", "second", "target"]].itertuples(index=False, name=None)
        return StructuralModel.fit(self._table, self.graph_, named)

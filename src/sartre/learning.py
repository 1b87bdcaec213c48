"""One run of causal discovery: learn an order, prune it, weigh the directions, and turn arrows that they contradict."""

from __future__ import annotations

import warnings
from collections.abc import Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray
from sklearn.base import clone

from sartre.compute.parallel import blas_threads
from sartre.data.category_codes import scored
from sartre.data.missing import imputed
from sartre.data.row_dependence import warn_about_dependent_rows
from sartre.evidence.directions import (
    MOST_COLUMNS_WEIGHED,
    Weighing,
    direction_columns,
    unweighable,
    weigh_directions,
)
from sartre.evidence.environments import replacing
from sartre.graph.dag import Dag
from sartre.knowledge.masks import check_order
from sartre.prune.edges import edges_of
from sartre.settings import listed
from sartre.steps import findings_of, fit_within, promised, tags_of

if TYPE_CHECKING:
    import pandas as pd

    from sartre.data.row_source import Survey
    from sartre.data.table import Table
    from sartre.graph.pdag import Pdag
    from sartre.knowledge.knowledge import Constraints

MOST_ROUNDS = 3  # of learning an order, each with the mechanisms that environments replace according to the last


class DiscoveryRun:
    """What `CausalDiscovery` does between reading a table and keeping the result.

    Parameters
    ----------
    orderer, pruner : steps
        Unfitted, with all settings.
    known : Constraints
        What the result must obey.
    weighs : bool
        Whether directions are weighed.

    Attributes
    ----------
    order, order_step, prune_step, graph, edges, pdag, environment_effects
        After `learn`: the attributes of the same names of `CausalDiscovery`.
    """

    order: NDArray[np.intp]
    order_step: Any
    prune_step: Any
    graph: Dag
    edges: pd.DataFrame
    pdag: Pdag
    environment_effects: pd.DataFrame | None

    def __init__(self, orderer: Any, pruner: Any, known: Constraints, *, weighs: bool) -> None:
        self._orderer, self._pruner, self._known, self._weighs = orderer, pruner, known, weighs

    def learn(self, data: Table | Survey, table: Table, seed: int) -> None:
        """Order, prune and weigh; `table` is what was read, of which the orderer sees the sample of `data`."""
        warn_about_dependent_rows(table, stacklevel=4)
        tags = tags_of(self._orderer)
        if tags.learns_order:
            _warn_about_categories(table, self._known.before)
        rows, numbers = self._learn_graph(data, scored(imputed(data.sample, seed)))
        weighing = self._weighed(numbers, table.nominal)
        if weighing.contradicts and tags.seeks_likelihood:
            effects, self.order = self.environment_effects, np.array(weighing.order, dtype=np.intp)
            self._prune(rows)
            if rows is not data:  # rows that were left out show nothing of the mechanisms that are replaced in them
                self.environment_effects = effects
            weighing = self._weighed(numbers, table.nominal)
        self._describe_directions(weighing)

    def rows_of_mechanisms(self, table: Table) -> Table:
        """Return the table in which a row says nothing about a mechanism that its environment shifts."""
        if self.environment_effects is None:
            return table
        shifted = self.environment_effects[["environment", "variable"]].itertuples(index=False, name=None)
        return table.leaving_out(list(shifted))

    def _learn_graph(self, data: Table | Survey, numbers: Table) -> tuple[Table | Survey, Table]:
        """Order and prune; return the rows as they were used.

        Where an environment is found to replace a mechanism, its rows are left out of that mechanism, and the order is
        learnt again, until nothing changes.
        """
        replaced: list[tuple[str, str]] = []
        for _ in range(MOST_ROUNDS):
            self._order(numbers.leaving_out(replaced))
            self._prune(data)
            found = replacing(self.environment_effects)
            if set(found) == set(replaced):
                break
            replaced = found
        if not replaced:
            return data, numbers
        effects, rows = self.environment_effects, data.sample.leaving_out(replaced)
        self._prune(rows)
        self.environment_effects = effects
        return rows, numbers.leaving_out(replaced)

    def _order(self, numbers: Table) -> None:
        """Learn the order."""
        before = self._known.before
        self.order_step = fit_within(clone(self._orderer), numbers, before=before if before.any() else None)
        self.order = check_order(promised(self.order_step, "order_"), numbers.names)
        self._known.check_order(self.order, type(self._orderer).__name__)

    def _prune(self, data: Table | Survey) -> None:
        """Prune the fully connected graph of the order."""
        forbidden, required, name = self._known.forbidden, self._known.required, type(self._pruner).__name__
        self.prune_step = fit_within(
            clone(self._pruner),
            data,
            self.order,
            candidates=~forbidden if forbidden.any() else None,
            required=required if required.any() else None,
        )
        adjacency = promised(self.prune_step, "adjacency_matrix_")
        self._known.check_edges(adjacency, name)
        self.graph = Dag(adjacency, data.sample.names)
        self.edges = edges_of(promised(self.prune_step, "edges_"), self.graph, name)
        self.environment_effects = findings_of(self.prune_step).environment_effects

    def _weighed(self, numbers: Table, nominal: frozenset[int]) -> Weighing:
        """Weigh the directions of the edges; `numbers` is what the orderer saw."""
        pairs = self._pairs()
        odd = nominal | unweighable(numbers)  # what was imputed for the orderer is marked
        asked = [k for k, pair in enumerate(pairs) if not (self._settled(pair) or odd & set(pair))]
        evidence = np.full(len(pairs), np.nan)
        if not (self._weighs and asked and len(numbers.names) <= MOST_COLUMNS_WEIGHED):
            return Weighing(evidence, self.order.tolist())
        with blas_threads():
            found = weigh_directions(numbers, self.order.tolist(), [pairs[k] for k in asked], self._known.before)
        evidence[asked] = found.evidence
        return found._replace(evidence=evidence)

    def _describe_directions(self, weighing: Weighing) -> None:
        """Add what is known about the directions to the edges, and draw lines where nothing decides."""
        settled = np.array([self._settled(pair) for pair in self._pairs()], dtype=bool)
        self.edges = self.edges.assign(**direction_columns(weighing.evidence, settled))
        told = self.edges["direction"].isin(["decided", "known"])
        self.pdag = self.graph.with_lines(map(tuple, self.edges.loc[~told, ["source", "target"]].to_numpy()))

    def _settled(self, pair: tuple[int, int]) -> bool:
        return not tags_of(self.order_step).learns_order or self._known.settles(*pair)

    def _pairs(self) -> list[tuple[int, int]]:
        """Return the columns of every edge."""
        place = {name: j for j, name in enumerate(self.graph.names)}
        return [(place[a], place[b]) for a, b in zip(self.edges["source"], self.edges["target"], strict=True)]


def _warn_about_categories(table: Table, before: NDArray[np.bool_]) -> None:
    """Warn about the categories whose position in the order is not settled by what is known."""
    if not table.levels:
        return
    known = before | before.T | np.eye(len(before), dtype=bool)
    loose = [table.names[j] for j in sorted(table.levels) if not known[j].all()]
    if loose:
        warnings.warn(
            "Orderers assume continuous noise, so the positions of these categories in the order are not reliable: "
            f"{listed(loose)}. If you know what they precede or follow, say so in 'knowledge'.",
            UserWarning,
            stacklevel=5,
        )


def check_takes_design(table: Table, orderer: Any, pruner: Any) -> None:
    """Refuse steps that would ignore what is said about the rows."""
    if table.design is None:
        return
    order, prune = tags_of(orderer), tags_of(pruner)
    unable = [] if order.takes_experiments or not order.learns_order else [orderer]
    unable += [] if prune.takes_experiments else [pruner]
    if unable:
        raise TypeError(
            "'environment', 'interventions' and 'groups' need steps with the tag 'takes_experiments'. "
            f"{listed(type(step).__name__ for step in unable)} would ignore them. Use OrderSearch or FixedOrder, "
            "and SARTRE."
        )


@contextmanager
def all_or_nothing(model: Any) -> Iterator[None]:
    """Restore a model if its fit does not finish: results of two fits are never mixed."""
    earlier = dict(vars(model))
    try:
        yield
    except BaseException:
        vars(model).clear()
        vars(model).update(earlier)
        raise

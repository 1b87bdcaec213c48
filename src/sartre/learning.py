"""One run of causal discovery: learn an order, prune it, weigh the directions, and turn arrows that they contradict."""

from __future__ import annotations

import warnings
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import replace
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
from sartre.evidence.environments import replacing, with_side_effects
from sartre.evidence.experiments import shown_by_experiments, shown_order
from sartre.evidence.hidden_causes import unsupported_edges
from sartre.graph.dag import Dag
from sartre.knowledge.knowledge import warn_about_tiers
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
        self._before = known.before
        self._shown = np.broadcast_to(0.0, known.before.shape)  # the evidence for it, in nats

    def learn(self, data: Table | Survey, table: Table, seed: int) -> None:
        """Order, prune and weigh; `table` is what was read, of which the orderer sees the sample of `data`."""
        warn_about_dependent_rows(table, stacklevel=4)
        tags = tags_of(self._orderer)
        if tags.learns_order:
            warn_about_tiers(self._known, stacklevel=4)
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

        Where an environment is found to replace a mechanism, its rows are left out of that mechanism; an experiment
        that is found to act on more than its target shows nothing. Then the order is learnt again, until nothing
        changes.
        """
        state, effects = (frozenset[tuple[str, str]](), frozenset[str]()), None
        for _ in range(MOST_ROUNDS):
            replaced, incomplete = state
            self._order(numbers.leaving_out(replaced).with_side_effects(incomplete))
            self._prune(data)
            effects = self.environment_effects
            found = frozenset(replacing(effects)), incomplete | with_side_effects(effects, numbers)
            if found == state:
                break
            state = found
        replaced, incomplete = state
        numbers = numbers.leaving_out(replaced).with_side_effects(incomplete)
        if not replaced:
            return data, numbers
        rows = data.sample.leaving_out(replaced)
        self._prune(rows)
        self.environment_effects = effects
        return rows, numbers

    def _order(self, numbers: Table) -> None:
        """Learn the order, by what experiments show about it, too."""
        if tags_of(self._orderer).learns_order and numbers.design is not None:
            self._before, self._shown = shown_order(shown_by_experiments(numbers), self._known.before)
        before = self._before
        self.order_step = fit_within(clone(self._orderer), numbers, before=before if before.any() else None)
        self.order = check_order(promised(self.order_step, "order_"), numbers.names)
        self._known.check_order(self.order, type(self._orderer).__name__)

    def _prune(self, data: Table | Survey) -> None:
        """Prune, and once more without edges that nothing but a known common cause supports, until there are none."""
        known = self._known
        self._prune_within(data, known)
        while (unsupported := unsupported_edges(self.graph, self.prune_step, data.sample, known)).any():
            known = replace(known, forbidden=known.forbidden | unsupported | unsupported.T)
            self._prune_within(data, known)

    def _prune_within(self, data: Table | Survey, known: Constraints) -> None:
        """Prune the fully connected graph of the order."""
        forbidden, required, name = known.forbidden, known.required, type(self._pruner).__name__
        self.prune_step = fit_within(
            clone(self._pruner),
            data,
            self.order,
            candidates=~forbidden if forbidden.any() else None,
            required=required if required.any() else None,
        )
        adjacency = promised(self.prune_step, "adjacency_matrix_")
        known.check_edges(adjacency, name)
        self.graph = Dag(adjacency, data.sample.names)
        self.edges = edges_of(promised(self.prune_step, "edges_"), self.graph, name)
        self.environment_effects = findings_of(self.prune_step).environment_effects

    def _weighed(self, numbers: Table, nominal: frozenset[int]) -> Weighing:
        """Weigh the directions of the edges; `numbers` is what the orderer saw."""
        pairs = self._pairs()
        odd = nominal | unweighable(numbers)  # what was imputed for the orderer is marked
        shown = np.array([self._shown[pair] for pair in pairs])
        evidence = np.where(shown > 0, shown, np.nan)
        asked = [k for k, pair in enumerate(pairs) if not (shown[k] > 0 or self._settled(pair) or odd & set(pair))]
        if not (self._weighs and asked and len(numbers.names) <= MOST_COLUMNS_WEIGHED):
            return Weighing(evidence, self.order.tolist())
        with blas_threads():
            found = weigh_directions(numbers, self.order.tolist(), [pairs[k] for k in asked], self._before)
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

"""How much the data say about the direction of each edge.

The evidence for i -> j is the log likelihood, in nats, that is lost by the best order in which j precedes i. Orders are
compared by the scores of `OrderSearch`: lines, curves and pairs, each at its price, and the density of the residuals.
Where a relation is linear and its noise is normal, turning it costs nothing, and the evidence is zero.

Three models of the noise are compared: normal noise, noise with a density of its own, and noise that is first divided
by a spread that follows the parents. An edge is decided only if all of them favour its direction. Values far out are
drawn in first: they would make any direction certain.

Where the evidence speaks against an edge as clearly as it must to decide one, the order should have been another:
`CausalDiscovery` then takes the best order that was found here, if an order search made the first one, prunes again,
and weighs once more.
"""

from __future__ import annotations

import logging
import warnings
from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from sartre.data.table import standardise_columns
from sartre.evidence.table_checks import FEW_VALUES
from sartre.graph.paths import transitive_closure
from sartre.knowledge.precedence import obeyed
from sartre.order.search.blocks import blocks_of_rows
from sartre.order.search.climb import Climb
from sartre.order.search.constants import FUNCTION_PRICE, LINE_PRICE
from sartre.order.search.local_scores import LocalScores, Prices
from sartre.order.search.noise import NoiseDensities
from sartre.order.search.search import dependences

if TYPE_CHECKING:
    from sartre.data.table import Table

logger = logging.getLogger(__name__)
DECIDED = 4.0  # nats: of arrows that no method can tell, 1 % have more (linear graphs of development seeds)
OUTER, REACH = 0.01, 1.5  # values beyond 1.5 half-ranges, between the quantiles at 1 and 99 %, are drawn in
LINE_CHOICE = CHOICE = 2.0  # full BIC prices: of linear trees 2 % of the arrows were decided by chance pairs at 1.0
MOVE_TOLERANCE = 2.0  # over n: what a move must gain, one nat
TURNS_CLIMBED = 2  # of the ways to turn an edge, those from which the order is made better
MOST_COLUMNS_WEIGHED = 100  # of a table whose directions are weighed


class Weighed(NamedTuple):
    """The evidence for a direction under each model of the noise, in nats."""

    normal: float
    density: float
    spread: float

    @property
    def agreed(self) -> float:
        """The smallest one, with its sign, where all have the same; zero where they disagree."""
        least, most = min(self), max(self)
        return least if least > 0 else most if most < 0 else 0.0


def confidence(evidence: NDArray[np.float64]) -> NDArray[np.float64]:
    """Return how likely each direction is to be right, by the evidence for it.

    Half of the evidence counts, because the best of many orders was looked for on either side.

    Examples
    --------
    >>> confidence(np.array([0.0, 4.0, -4.0])).round(2).tolist()
    [0.5, 0.88, 0.12]
    """
    return 1 / (1 + np.exp(-np.clip(evidence, -1000, 1000) / 2))


class Weighing(NamedTuple):
    """The evidence for the direction of each edge, in nats (NaN where it was not weighed), and the best order found."""

    evidence: NDArray[np.float64]
    order: list[int]

    @property
    def contradicts(self) -> bool:
        """Whether the evidence speaks against the direction of any edge as clearly as it must to decide one."""
        return bool((self.evidence < -DECIDED).any())


def weigh_directions(
    table: Table, order: Sequence[int], edges: Sequence[tuple[int, int]], before: NDArray[np.bool_]
) -> Weighing:
    """Weigh the direction of each edge.

    Parameters
    ----------
    table : Table
        Numbers, none missing.
    order : sequence of ints
        Learnt from the table. Directions are weighed from the best order near to it.
    edges : sequence of pairs
        Cause and effect; the order has them so.
    before : boolean array of shape (d, d)
        What is known: row precedes column, transitively.

    Examples
    --------
    >>> from sartre.data.checks import as_table
    >>> rng = np.random.default_rng(0)
    >>> a = rng.normal(size=500)
    >>> b = np.tanh(2 * a) + rng.normal(size=500) / 3
    >>> c = b + rng.normal(size=500)
    >>> table = as_table(np.column_stack([a, b, c]))
    >>> weigh_directions(table, [0, 1, 2], [(0, 1)], np.zeros((3, 3), bool)).evidence > DECIDED
    array([ True])
    """
    evidence, better = np.full(len(edges), np.nan), list(order)
    varied = np.flatnonzero(~table.constant)
    place = {int(j): k for k, j in enumerate(varied)}
    asked = [(k, place[i], place[j]) for k, (i, j) in enumerate(edges) if i in place and j in place]
    if not asked:
        return Weighing(evidence, better)
    start = [place[j] for j in order if j in place]
    try:
        scales = _Scales(table.select(varied), start, before[np.ix_(varied, varied)])
        better = [*(j for j in order if j not in place), *varied[scales.order].tolist()]
        for done, (k, i, j) in enumerate(asked, start=1):
            evidence[k] = scales.weigh(i, j).agreed
            logger.info("directions: %d of %d edges weighed", done, len(asked))
    except KeyboardInterrupt:
        warnings.warn(
            "The weighing of directions was interrupted. The graph is complete; the directions of "
            f"{int(np.isnan(evidence).sum())} of its edges are unchecked.",
            UserWarning,
            stacklevel=3,
        )
    return Weighing(evidence, obeyed(np.array(better), before).tolist())


def unweighable(table: Table) -> set[int]:
    """Return the columns whose directions say nothing: categories, missing or imputed values, and few distinct ones."""
    few = np.array([len(np.unique(column)) < FEW_VALUES for column in table.values.T])  # no continuous noise
    return {*table.nominal, *np.flatnonzero(few | table.incomplete).tolist()}


def direction_columns(evidence: NDArray[np.float64], known: NDArray[np.bool_]) -> dict[str, Any]:
    """Return what is said about the direction of each edge, as columns of a table of edges.

    Parameters
    ----------
    evidence : array of shape (m,)
        NaN where it was not weighed.
    known : boolean array of shape (m,)
        Where knowledge or a given order settles the direction.

    Examples
    --------
    >>> found = direction_columns(np.array([9.0, 1.0, np.nan, np.nan]), np.array([False, False, False, True]))
    >>> found["direction"].tolist()
    ['decided', 'undecided', 'unchecked', 'known']
    """
    weighed = np.where(evidence > DECIDED, "decided", np.where(np.isnan(evidence), "unchecked", "undecided"))
    return {
        "direction": np.where(known, "known", weighed).astype(object),
        "direction_confidence": np.where(known, 1.0, confidence(evidence)),
        "direction_evidence": np.where(known, np.nan, evidence),
    }


class _Scales:
    """The best order near to a given one, and how much worse it gets where an edge is turned."""

    def __init__(self, table: Table, order: list[int], before: NDArray[np.bool_]) -> None:
        X = np.asfortranarray(standardise_columns(_drawn_in(table.values)))
        X, functions, blocks = blocks_of_rows(X, table.design)
        prices = Prices(LINE_PRICE, FUNCTION_PRICE, LINE_CHOICE, CHOICE)
        self._n, self._before, self._scores = len(X), before, LocalScores(blocks, prices)
        self._n_units = table.n_units  # rows of a group may say all the same
        self._density = NoiseDensities(X, functions, blocks)
        self._spread = self._density.with_spread()
        has_spread = self._density.shows_spread(dependences(self._scores, order))
        self._guide = self._spread if has_spread else self._density  # by which the order is climbed
        self._climb = self._climb_within(before)
        self._climb.run(order)
        self._best = self._climb.order
        self._needs, _ = self._climb.needs(self._best)

    @property
    def order(self) -> list[int]:
        """The best order near to the given one."""
        return self._best

    def weigh(self, i: int, j: int) -> Weighed:
        """Return the evidence for i -> j."""
        if self._best.index(i) > self._best.index(j):
            return Weighed(*(-each for each in self.weigh(j, i)))
        turned = self._before.copy()
        turned[j, i] = True
        closure = transitive_closure(turned)
        climb = self._climb_within(closure)
        starts = [obeyed(np.array(order), closure).tolist() for order in self._turned(i, j)]
        starts.sort(key=lambda order: sum(climb.local_scores(order)))
        reached = [(climb.settle(start), climb.order) for start in starts[:TURNS_CLIMBED]]
        other = self._values(min(reached)[1])
        return Weighed(*(0.5 * self._n_units * (other - self._values(self._best))).tolist())

    def _turned(self, i: int, j: int) -> Iterator[list[int]]:
        """Yield orders in which j comes first: one of the two moved, j with all it needs, or i's causes turned too."""
        best = self._best
        first, last = best.index(i), best.index(j)
        yield [*best[:first], j, *best[first:last], *best[last + 1 :]]
        yield [*best[:first], *best[first + 1 : last + 1], i, *best[last + 1 :]]
        yield [*best[:first], *self._climb.reversed_segment(best, first, last, self._needs[j]), *best[last + 1 :]]
        causes = [u for u in best if self._needs[i] >> u & 1]
        others = [u for u in best if u not in (i, j) and u not in causes]
        needed = [u for u in others if self._needs[j] >> u & 1]
        yield [*needed, j, i, *reversed(causes), *(u for u in others if u not in needed)]

    def _climb_within(self, before: NDArray[np.bool_]) -> Climb:
        return Climb(self._score, lambda v, inside: self._scores(v, inside).used, before, MOVE_TOLERANCE / self._n)

    def _score(self, v: int, inside: int) -> float:
        local = self._scores(v, inside)
        return local.value + self._guide(v, local.blocks)

    def _values(self, order: Sequence[int]) -> NDArray[np.float64]:
        """Return the score of an order with each model of the noise."""
        values, inside = np.zeros(3), 0
        for v in order:
            local = self._scores(v, inside)
            values += (
                local.value,
                local.value + self._density(v, local.blocks),
                local.value + self._spread(v, local.blocks),
            )
            inside |= 1 << v
        return values


def _drawn_in(X: NDArray[np.float64]) -> NDArray[np.float64]:
    """Return columns whose values far out are drawn in to where the others end."""
    low, high = np.quantile(X, [OUTER, 1 - OUTER], axis=0)
    middle, half = (low + high) / 2, (high - low) / 2
    reach = np.where(half > 0, REACH * half, np.inf)
    return np.clip(X, middle - reach, middle + reach)

"""Hill-climbing over orders, with escapes from where it ends.

Moves are insertions of one variable and reversals of a pair, together with all that its later variable needs. Where no
move gains, a few random reversals are made whether they gain or not, and the climb starts again from there.
"""

from __future__ import annotations

import logging
from collections.abc import Callable, Sequence

import numpy as np
from numpy.typing import NDArray

from sartre.order.search.constants import MOVE_TIE

logger = logging.getLogger(__name__)


class Climb:
    """An order that is made better step by step.

    Sets of variables are whole numbers: bit j is variable j.

    Parameters
    ----------
    score, used : functions
        Of a variable and a set: the local score given the set, small where it predicts well, and which it used.
    before : boolean array of shape (d, d)
        Row must precede column, transitively.
    tolerance : float
        What a move must gain, and an order that another one replaces.
    reach : int, optional
        How many places an insertion may move a variable.

    Attributes
    ----------
    order : list of ints
    n_moves, n_sweeps : int
    """

    def __init__(
        self,
        score: Callable[[int, int], float],
        used: Callable[[int, int], int],
        before: NDArray[np.bool_],
        tolerance: float,
        reach: int | None = None,
    ) -> None:
        self._reach = len(before) if reach is None else reach
        self.order: list[int] = []
        self.n_moves = self.n_sweeps = 0
        self._score, self._used, self.tolerance = score, used, tolerance
        self._earlier = [_bits(np.flatnonzero(column).tolist()) for column in before.T]

    def run(self, order: Sequence[int]) -> float:
        """Sweep from an order that obeys: insertions while there are any, then reversals, and again.

        Returns the score of the order that is reached.
        """
        self.order = list(order)
        while self._sweep(self._insert) or self._sweep(self._reverse):
            pass
        return sum(self.local_scores(self.order))

    def settle(self, order: Sequence[int]) -> float:
        """Sweep by insertions alone, which stay near; return the score that is reached."""
        self.order = list(order)
        while self._sweep(self._insert):
            pass
        return sum(self.local_scores(self.order))

    def local_scores(self, order: Sequence[int]) -> list[float]:
        """Return the local score of each variable of an order given those before it."""
        scores, inside = [], 0
        for v in order:
            scores.append(self._score(v, inside))
            inside |= 1 << v
        return scores

    def shaken(self, order: Sequence[int], n_reversals: int, rng: np.random.Generator) -> list[int]:
        """Return an order in which random pairs, of a variable and one that it uses, are reversed."""
        order = list(order)
        for _ in range(n_reversals):
            needs, used = self.needs(order)
            pairs = [
                (place, here) for here, v in enumerate(order) for place in range(here) if used[v] & 1 << order[place]
            ]
            if not pairs:
                break
            place, here = pairs[rng.integers(len(pairs))]
            order[place : here + 1] = self.reversed_segment(order, place, here, needs[order[here]])
        return order

    def reversed_segment(self, order: list[int], place: int, here: int, needs: int) -> list[int]:
        """Return the segment of an order from one place to another with its last variable first.

        What that one needs goes with it. The segment stays as it is if the first must precede any of them.
        """
        w, v, between = order[place], order[here], order[place + 1 : here]
        ahead = [u for u in between if needs & 1 << u]
        if any(self._earlier[u] & 1 << w for u in [*ahead, v]):
            return order[place : here + 1]
        return [*ahead, v, w, *(u for u in between if not needs & 1 << u)]

    def needs(self, order: Sequence[int]) -> tuple[dict[int, int], dict[int, int]]:
        """Return what each variable of an order needs, directly or not, and what it uses itself."""
        needs: dict[int, int] = {}
        used: dict[int, int] = {}
        inside = 0
        for v in order:
            used[v] = self._used(v, inside)
            direct = used[v] | self._earlier[v]
            needs[v] = direct
            for u, others in needs.items():
                if direct & 1 << u:
                    needs[v] |= others
            inside |= 1 << v
        return needs, used

    def _sweep(self, move: Callable[[int], bool]) -> bool:
        moves = sum([move(v) for v in self.order])
        self.n_sweeps += 1
        self.n_moves += moves
        logger.info("order: %d moves in sweep %d", moves, self.n_sweeps)
        return moves > 0

    def _insert(self, v: int) -> bool:
        """Move a variable to its best place: runs of swaps with its neighbours, to the right and to the left."""
        order, score = self.order, self._score
        here = order.index(v)
        me, past = 1 << v, _bits(order[:here])
        now = score(v, past)
        best, to = self.tolerance, here
        lost, inside = 0.0, past
        for place in range(here + 1, min(len(order), here + 1 + self._reach)):
            w = order[place]
            if self._earlier[w] & me:
                break
            lost += score(w, inside) - score(w, inside | me)
            inside |= 1 << w
            gain = now - score(v, inside) - lost
            if gain > best + MOVE_TIE:
                best, to = gain, place
        lost, inside = 0.0, past
        for place in range(here - 1, max(-1, here - 1 - self._reach), -1):
            w = order[place]
            if self._earlier[v] & 1 << w:
                break
            inside &= ~(1 << w)
            lost += score(w, inside | me) - score(w, inside)
            gain = now - score(v, inside) - lost
            if gain > best + MOVE_TIE:
                best, to = gain, place
        others = [*order[:here], *order[here + 1 :]]
        self.order = [*others[:to], v, *others[to:]]
        return to != here

    def _reverse(self, v: int) -> bool:
        """Put a variable and all that it needs before one that it uses, where that is best.

        An insertion would leave behind what v uses itself, and so rarely crosses a true cause that stands in between.
        """
        order, here = self.order, self.order.index(v)
        needs, used = self.needs(order[: here + 1])
        best, found = self.tolerance, None
        for place in range(here):
            if used[v] & 1 << order[place]:
                segment = self.reversed_segment(order, place, here, needs[v])
                gain = self._gain(place, segment)
                if gain > best + MOVE_TIE:
                    best, found = gain, [*order[:place], *segment, *order[here + 1 :]]
        if found is None:
            return False
        self.order = found
        return True

    def _gain(self, place: int, segment: list[int]) -> float:
        """Return what is gained when a segment of the order that starts at a place is replaced."""
        gain = 0.0
        start = _bits(self.order[:place])
        for sign, variables in ((1.0, self.order[place : place + len(segment)]), (-1.0, segment)):
            inside = start
            for v in variables:
                gain += sign * self._score(v, inside)
                inside |= 1 << v
        return gain


class Exploration:
    """The best order of several climbs: from starts, and then from where the best one ended, shaken.

    Parameters
    ----------
    climb : Climb
    margin : float
        What another start must gain over the first.
    first : sequence of ints
        The best order until a climb has begun.

    Attributes
    ----------
    best : list of ints
    starts : list of pairs
        For each start its score, and where the climb from it ended.
    n_escapes, n_vain : int
        Escapes, and those since the last that found a better order.
    """

    def __init__(self, climb: Climb, margin: float, first: Sequence[int] = ()) -> None:
        self.best: list[int] = list(first)
        self.starts: list[tuple[float, float]] = []
        self.n_escapes = self.n_vain = 0
        self._climb, self._margin, self._lowest = climb, margin, np.inf

    def start(self, order: Sequence[int]) -> None:
        """Climb from an order."""
        if not self.starts:
            self.best = list(order)
        first = sum(self._climb.local_scores(order))
        reached = self._climb.run(order)
        needed = self._margin if self.starts else 0.0
        if reached < self._lowest - needed or first < self._lowest - MOVE_TIE:
            self.best, self._lowest = self._climb.order, reached
        self.starts.append((first, reached))

    def escape(self, n_reversals: int, rng: np.random.Generator) -> None:
        """Turn random pairs of the best order round, and climb from there."""
        self.n_escapes += 1
        self.n_vain += 1
        reached = self._climb.run(self._climb.shaken(self.best, n_reversals, rng))
        if reached < self._lowest - self._climb.tolerance:
            self.best, self._lowest, self.n_vain = self._climb.order, reached, 0

    def stop(self) -> None:
        """Take the order at which a climb was interrupted, if it is better than the best."""
        if self._climb.order and sum(self._climb.local_scores(self._climb.order)) < self._lowest:
            self.best = self._climb.order


def _bits(variables: Sequence[int]) -> int:
    """Return a set as a whole number."""
    return sum(1 << v for v in variables)

"""Hill-climbing over orders: insertions and reversals, until neither lowers the sum of local scores."""

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
    order : sequence of ints
        The start; it obeys `before`.
    before : boolean array of shape (d, d)
        Row must precede column, transitively.
    """

    def __init__(
        self,
        score: Callable[[int, int], float],
        used: Callable[[int, int], int],
        order: Sequence[int],
        before: NDArray[np.bool_],
    ) -> None:
        self.order = list(order)
        self.n_moves = self.n_sweeps = 0
        self._score, self._used, self._tolerance = score, used, 0.0
        self._earlier = [_bits(np.flatnonzero(column).tolist()) for column in before.T]

    def run(self, tolerance: float) -> None:
        """Sweep until no move gains more than this: insertions while there are any, then reversals, and again."""
        self._tolerance = tolerance
        while self._sweep(self._insert) or self._sweep(self._reverse):
            pass

    def local_scores(self) -> list[float]:
        """Return the local score of each variable of the order given those before it."""
        return [self._score(v, _bits(self.order[:place])) for place, v in enumerate(self.order)]

    def _sweep(self, move: Callable[[int], bool]) -> bool:
        moves = sum([move(v) for v in list(self.order)])
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
        best, to = self._tolerance, here
        lost, inside = 0.0, past
        for place in range(here + 1, len(order)):
            w = order[place]
            if self._earlier[w] & me:
                break
            lost += score(w, inside) - score(w, inside | me)
            inside |= 1 << w
            gain = now - score(v, inside) - lost
            if gain > best + MOVE_TIE:
                best, to = gain, place
        lost, inside = 0.0, past
        for place in range(here - 1, -1, -1):
            w = order[place]
            if self._earlier[v] & 1 << w:
                break
            inside &= ~(1 << w)
            lost += score(w, inside | me) - score(w, inside)
            gain = now - score(v, inside) - lost
            if gain > best + MOVE_TIE:
                best, to = gain, place
        order.insert(to, order.pop(here))
        return to != here

    def _reverse(self, v: int) -> bool:
        """Put a variable and all that it needs before one that it uses, where that is best.

        An insertion would leave behind what v uses itself, and so rarely crosses a true cause that stands in between.
        """
        here = self.order.index(v)
        ancestors, used = self._ancestors(here)
        best, found = self._tolerance, None
        for place in range(here):
            w = self.order[place]
            if not used & 1 << w:
                continue
            between = self.order[place + 1 : here]
            ahead = [u for u in between if ancestors & 1 << u]
            if any(self._earlier[u] & 1 << w for u in [*ahead, v]):
                continue
            segment = [*ahead, v, w, *(u for u in between if not ancestors & 1 << u)]
            gain = self._gain(place, segment)
            if gain > best + MOVE_TIE:
                best, found = gain, (place, segment)
        if found is None:
            return False
        place, segment = found
        self.order[place : here + 1] = segment
        return True

    def _ancestors(self, here: int) -> tuple[int, int]:
        """Return all that the variable at a place needs, directly or not, and what it uses itself."""
        needs: dict[int, int] = {}
        inside = used = 0
        for v in self.order[: here + 1]:
            used = self._used(v, inside)
            direct = used | self._earlier[v]
            needs[v] = direct
            for u, others in needs.items():
                if direct & 1 << u:
                    needs[v] |= others
            inside |= 1 << v
        return needs[self.order[here]], used

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


def _bits(variables: Sequence[int]) -> int:
    """Return a set as a whole number."""
    return sum(1 << v for v in variables)

"""How well a variable is predicted by some others: penalised log residual variances.

The local score of a standardised variable given a set of others is

    log(residual variance) + sum over the blocks taken of (c k log(n) + log(N)) / n

where blocks of k functions (`blocks.py`) are taken one by one, the best first, as long as the score falls: the line of
one variable (k = 1, c = 1, N = d such blocks), its curve (c = 1/2, N = d), or the products of two variables'
polynomials (c = 1/2, N = d (d - 1) / 2). Then those that became useless are dropped, the most useless first. A line has
the price of a BIC, functions that share a smoothness have half of it, and log(N) is an extended-BIC term; without it,
the best of thousands of pairs over-fits.

A variable that was set in some rows is predicted at the others, and its score counts by their share of all rows.

The set matters only through the blocks it has to offer. So the paths of all sets form one tree per target: a node is
a sequence of blocks taken and knows what every other block would gain next, and a score is a walk from the root, at
each node to the best block whose variables are in the set. No step is ever computed twice, and none grows with n.
Variables whose blocks gain at no node seen so far make no difference: sets that differ only in those share a score.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from functools import reduce
from math import log
from operator import or_
from typing import TYPE_CHECKING, NamedTuple

import numpy as np
from numpy.typing import NDArray

from sartre.additive.design import spans
from sartre.additive.kernels.blocks import block_gains, fit_block, shrink
from sartre.order.search.blocks import LINE, PAIR
from sartre.order.search.constants import (
    CHOICE_PRICE,
    FUNCTION_PRICE,
    LEAST_VARIANCE,
    LINE_PRICE,
    MAX_BYTES,
    MAX_SHARE,
)

if TYPE_CHECKING:
    from sartre.order.search.blocks import Blocks


class Prices(NamedTuple):
    """What a block costs: times log(n) / n for each of its functions, and times log(N) / n for N blocks of its kind."""

    line: float
    function: float
    line_choice: float
    choice: float

    def of(self, blocks: Blocks, n: int) -> NDArray[np.float64]:
        """Return the price of every block where there are n rows, shape (m,)."""
        d, is_line = blocks.gram.cross.shape[1], blocks.kind == LINE
        functions = np.where(is_line, self.line, self.function) * blocks.gram.rank
        n_choices = np.where(blocks.kind == PAIR, d * (d - 1) / 2, d)
        choice = np.where(is_line, self.line_choice, self.choice)
        return (functions * np.log(n) + choice * np.log(n_choices)) / n


class Local(NamedTuple):
    """A local score, the residual variance in it, which variables it used (bit j for variable j), and which blocks."""

    value: float
    variance: float
    used: int
    blocks: tuple[int, ...]


class LocalScores:
    """The local scores of all variables of a table given any others.

    Parameters
    ----------
    blocks : Blocks
        Of all variables.
    prices : Prices, optional
        Those of the order's constants by default.

    Attributes
    ----------
    n_evaluations : int
        Scores that were computed, not remembered.
    """

    def __init__(self, blocks: Blocks, prices: Prices | None = None) -> None:
        prices = prices or Prices(LINE_PRICE, FUNCTION_PRICE, CHOICE_PRICE, CHOICE_PRICE)
        d = blocks.gram.cross.shape[1]
        self.n_evaluations = 0
        self._shared = _Shared(blocks, prices)
        self._trees: dict[int, _Tree] = {}
        self._n_bytes = 0
        self._known: list[dict[int, Local]] = [{} for _ in range(d)]
        self._matter = [0] * d  # the variables with a block that would gain at a node seen so far

    def __call__(self, target: int, inside: int) -> Local:
        """Return the local score of a target given the variables whose bits are set in `inside`."""
        inside |= self._shared.blocks.always
        local = self._known[target].get(inside & self._matter[target])
        if local is None:
            self.n_evaluations += 1
            if self._n_bytes > MAX_BYTES:
                self._trees, self._n_bytes = {}, 0
            if target not in self._trees:
                self._trees[target] = _Tree(self._shared, target)
                self._n_bytes += self._trees[target].n_bytes
            tree = self._trees[target]
            before = tree.n_bytes
            local = tree.walk(inside)
            self._n_bytes += tree.n_bytes - before
            self._matter[target] |= tree.matter
            self._known[target][inside & self._matter[target]] = local
        return local


class _Shared(NamedTuple):
    """What the trees of all targets take from: the blocks and their prices."""

    blocks: Blocks
    prices: Prices


@dataclass(eq=False)
class _Node:
    """A sequence of blocks taken, and where it may go on.

    Attributes
    ----------
    taken : places of the blocks, in sequence
    path : the rows of their functions among those fitted
    cross, squares : inner products of all columns with the target, and within each block, what is taken projected off
    variance : what is left of the target's
    ways : the blocks that would gain, best first
    children : the nodes that have one more block, by its place
    local : the score after what became useless is dropped, once it was asked for
    """

    taken: tuple[int, ...]
    path: NDArray[np.intp]
    cross: NDArray[np.float64]
    squares: NDArray[np.float64]
    variance: float
    ways: list[int] = field(default_factory=list)
    children: dict[int, _Node] = field(default_factory=dict)
    local: Local | None = None


class _Tree:
    """The paths of one target. Its blocks are numbered by place, and have their columns one after the other."""

    def __init__(self, shared: _Shared, target: int) -> None:
        blocks, offer = shared.blocks, shared.blocks.offer(target)
        self._chosen, self._start, self._width = offer.blocks, offer.start, offer.width
        self._price, self._share = shared.prices.of(blocks, offer.n)[self._chosen], offer.share
        self._always = blocks.always
        self._at = np.cumsum(self._width) - self._width
        self._columns = spans(self._start, self._width)
        self._bits = [1 << int(blocks.first[block]) | 1 << int(blocks.second[block]) for block in self._chosen]
        self._matrix, self._capacity = offer.matrix, offer.n // MAX_SHARE
        self._fitted, self._own, self._n_fitted = np.empty((64, len(self._columns))), np.empty(64), 0
        self.n_bytes = self.matter = 0
        self._has_gained = np.zeros(len(self._width), dtype=bool)
        inner = (self._matrix[a : a + k, a : a + k].ravel() for a, k in zip(self._start, self._width, strict=True))
        squares = np.concatenate([np.empty(0), *inner])
        cross = offer.cross[self._columns]
        self._root = _Node((), np.empty(0, dtype=np.intp), cross, squares, 1.0)
        self._open(self._root, self._fitted[:0])

    def walk(self, inside: int) -> Local:
        """Return the score of the target given some variables."""
        node, outside = self._root, ~inside
        while True:
            place = next((place for place in node.ways if not self._bits[place] & outside), None)
            if place is None:
                return node.local or self._shrunk(node)
            node = node.children.get(place) or self._take(node, place)

    def _take(self, node: _Node, place: int) -> _Node:
        """Return the node with one more block, which is projected off all columns."""
        first, width = self._n_fitted, int(self._width[place])
        self._n_fitted += width
        if self._n_fitted > len(self._own):
            self._fitted = np.concatenate([self._fitted, np.empty_like(self._fitted)])
            self._own = np.concatenate([self._own, np.empty_like(self._own)])
        start, at, cross = self._start[place], self._at[place], node.cross.copy()
        explained = fit_block(
            self._matrix, self._columns, start, at, width, node.path, self._fitted, self._own, first, cross
        )
        rows = np.arange(first, self._n_fitted)
        child = _Node(
            taken=(*node.taken, place),
            path=np.concatenate([node.path, rows]),
            cross=cross,
            squares=node.squares.copy(),
            variance=max(node.variance - explained, LEAST_VARIANCE),
        )
        self._open(child, self._fitted[first : self._n_fitted])
        node.children[place] = child
        return child

    def _open(self, node: _Node, new: NDArray[np.float64]) -> None:
        """Find out which blocks would gain, now that `new` is fitted too; a node that leads nowhere keeps nothing."""
        taken = list(node.taken)
        gain = np.empty(len(self._width))
        block_gains(self._width, new, node.cross, node.variance, LEAST_VARIANCE, node.squares, gain)
        gain -= self._price
        gain[taken] = 0.0
        better = np.flatnonzero((gain > 0.0) & (self._width <= self._capacity - len(node.path)))
        node.ways = better[np.argsort(-gain[better], kind="stable")].tolist()
        new_ways = better[~self._has_gained[better]]
        self._has_gained[new_ways] = True
        self.matter = reduce(or_, (self._bits[place] for place in new_ways.tolist()), self.matter)
        self.n_bytes += new.nbytes
        if node.ways:
            self.n_bytes += node.squares.nbytes + node.cross.nbytes
        else:
            node.cross, node.squares = np.empty(0), np.empty(0)

    def _shrunk(self, node: _Node) -> Local:
        """Return the score of a node, without the blocks that are not worth their price any more."""
        taken, variance = np.array(node.taken, dtype=np.intp), node.variance
        if len(taken) > 1:
            stay, variance = shrink(
                self._fitted,
                self._own,
                node.path,
                self._at[taken],
                self._width[taken],
                self._price[taken],
                LEAST_VARIANCE,
            )
            taken = taken[stay]
        used = reduce(or_, (self._bits[place] for place in taken.tolist()), 0)
        value = self._share * (log(variance) + float(self._price[taken].sum()))
        node.local = Local(value, variance, used & ~self._always, tuple(sorted(self._chosen[taken].tolist())))
        return node.local

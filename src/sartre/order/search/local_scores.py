"""How well a variable is predicted by some others: penalised log residual variances.

The local score of a standardised variable given a set of others is

    log(residual variance) + sum over the blocks taken of (k log(n) / 2 + log(N)) / n

where blocks of k functions (`blocks.py`) are taken one by one, the best first, as long as the score falls: the smooth
functions of one variable (N = d such blocks) or products of two variables' polynomials (N = d (d - 1) / 2). It is half
a BIC and an extended-BIC term; without log(N), the best of thousands of pairs over-fits.

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
from sartre.additive.kernels.blocks import block_gains
from sartre.order.search.blocks import block_products
from sartre.order.search.constants import (
    CHOICE_PRICE,
    FUNCTION_PRICE,
    LEAST_VARIANCE,
    MAX_BYTES,
    MAX_SHARE,
)

if TYPE_CHECKING:
    from sartre.order.search.blocks import Blocks


class Local(NamedTuple):
    """A local score, the residual variance in it, and which variables it used: bit j for variable j."""

    value: float
    variance: float
    used: int


class LocalScores:
    """The local scores of all variables of a table given any others.

    Parameters
    ----------
    X : array of shape (n, d)
        Standardised columns, none constant.
    """

    def __init__(self, X: NDArray[np.float64]) -> None:
        self.n, d = X.shape
        self._shared = _Shared(block_products(X))
        self._trees: dict[int, _Tree] = {}
        self._n_bytes = 0
        self._known: list[dict[int, Local]] = [{} for _ in range(d)]
        self._matter = [0] * d  # the variables with a block that would gain at a node seen so far

    def __call__(self, target: int, inside: int) -> Local:
        """Return the local score of a target given the variables whose bits are set in `inside`."""
        local = self._known[target].get(inside & self._matter[target])
        if local is None:
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


@dataclass(eq=False)
class _Node:
    """A sequence of blocks taken, and where it may go on.

    Attributes
    ----------
    taken : places of the blocks, in sequence
    halves : for each, its inner products (columns, k) with all columns, made orthonormal and to what came before
    cross, squares : inner products of all columns with the target, and within each block, what is taken projected off
    local : the score, with what is left of the variance
    ways : the blocks that would gain, best first, as the bits of its variables and its place
    children : the nodes that have one more block, by its place
    """

    taken: tuple[int, ...]
    halves: tuple[NDArray[np.float64], ...]
    cross: NDArray[np.float64]
    squares: NDArray[np.float64]
    local: Local
    ways: list[tuple[int, int]] = field(default_factory=list)
    children: dict[int, _Node] = field(default_factory=dict)


class _Shared:
    """What the trees of all targets take from: the blocks, and for each the bits of its variables and its price.

    `squares` has the inner products within each block, k^2 of them from `square_start` on.
    """

    def __init__(self, blocks: Blocks) -> None:
        gram, first, second = blocks.gram, blocks.first, blocks.second
        start, width, d = gram.start, gram.rank, gram.cross.shape[1]
        self.blocks = blocks
        self.bits = [1 << int(a) | 1 << int(b) for a, b in zip(first, second, strict=True)]
        kinds = np.where(first == second, d, d * (d - 1) / 2)
        self.price = (FUNCTION_PRICE * width * np.log(gram.n) + CHOICE_PRICE * np.log(kinds)) / gram.n
        inner = [gram.matrix[a : a + k, a : a + k].ravel() for a, k in zip(start, width, strict=True)]
        self.squares = np.concatenate([np.empty(0), *inner])
        self.square_start = np.cumsum(width**2) - width**2


class _Tree:
    """The paths of one target. Its blocks are numbered by place, and have their columns one after the other."""

    def __init__(self, shared: _Shared, target: int) -> None:
        gram = shared.blocks.gram
        chosen = np.flatnonzero(shared.blocks.offered[:, target])
        start, width = gram.start[chosen], gram.rank[chosen]
        self.n_bytes = self.matter = 0
        self._matrix, self._capacity = gram.matrix, gram.n // MAX_SHARE
        self._start, self._width, self._at = start, width, np.cumsum(width) - width
        self._columns = spans(start, width)
        self._bits = [shared.bits[block] for block in chosen.tolist()]
        self._price = shared.price[chosen]
        cross = gram.cross[self._columns, target]
        squares = shared.squares[spans(shared.square_start[chosen], width**2)]
        self._root = _Node((), (), cross, squares, Local(0.0, 1.0, 0))
        self._open(self._root, np.empty((len(cross), 0)))

    def walk(self, inside: int) -> Local:
        """Return the score of the target given some variables."""
        node, outside = self._root, ~inside
        while True:
            place = next((place for bits, place in node.ways if not bits & outside), None)
            if place is None:
                return node.local
            node = node.children.get(place) or self._take(node, place)

    def _take(self, node: _Node, place: int) -> _Node:
        """Return the node with one more block, which is projected off all columns."""
        start, width = self._start[place], self._width[place]
        block = slice(self._at[place], self._at[place] + width)
        projected = self._matrix[start : start + width][:, self._columns]
        for half in node.halves:
            projected -= half[block] @ half.T
        whiten = np.linalg.inv(np.linalg.cholesky(projected[:, block]))
        half, own = projected.T @ whiten.T, whiten @ node.cross[block]
        variance = max(node.local.variance - float(own @ own), LEAST_VARIANCE)
        price = sum(self._price[[*node.taken, place]].tolist())
        child = _Node(
            taken=(*node.taken, place),
            halves=(*node.halves, half),
            cross=node.cross - half @ own,
            squares=node.squares.copy(),
            local=Local(log(variance) + price, variance, node.local.used | self._bits[place]),
        )
        self._open(child, half)
        node.children[place] = child
        return child

    def _open(self, node: _Node, half: NDArray[np.float64]) -> None:
        """Find out which blocks would gain, now that `half` is fitted too; a node that leads nowhere keeps nothing."""
        capacity = self._capacity - int(self._width[list(node.taken)].sum())
        gain = np.empty(len(self._width))
        block_gains(self._width, half, node.cross, node.local.variance, LEAST_VARIANCE, node.squares, gain)
        gain -= self._price
        gain[list(node.taken)] = 0.0
        better = np.flatnonzero((gain > 0.0) & (self._width <= capacity))
        better = better[np.argsort(-gain[better], kind="stable")]
        node.ways = [(self._bits[place], place) for place in better.tolist()]
        self.matter = reduce(or_, (bits for bits, _ in node.ways), self.matter)
        if node.ways:
            self.n_bytes += half.nbytes + node.squares.nbytes + node.cross.nbytes
        else:
            node.halves, node.cross, node.squares = (), np.empty(0), np.empty(0)

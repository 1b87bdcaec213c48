"""Blocks of functions that may explain a variable, and their inner products: all that a search needs of the data.

A block is the straight line of one variable, its curve (the smooth functions that are orthogonal to the line), or the
products of two variables' first rank polynomials. One Gram matrix has the inner products of all of them; no more pairs
are in it than memory allows, for each target those that say most of it beyond the smooth functions of their own two
variables.

A variable that was set in some rows has inner products of its own, of the other rows. Indicators of environments have
lines only, and come before everything. Where targets are known, an indicator is offered to what its environment shifts,
and to nothing else.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from types import MappingProxyType
from typing import TYPE_CHECKING, NamedTuple

import numpy as np
from numpy.typing import NDArray

from sartre.additive.bases.rank_polynomials import rank_polynomials
from sartre.additive.bases.splines import spline
from sartre.additive.design import prepare, spans, starts
from sartre.additive.gram import Gram
from sartre.data.table import standardise, standardise_columns
from sartre.order.search.constants import BEND_RIDGE, KNOTS, LEAST_RIDGE, MAX_FUNCTIONS, ORDERS, PAIRS

if TYPE_CHECKING:
    from sartre.data.row_design import RowDesign

_CHUNK_NUMBERS = 1 << 23  # numbers in a piece of work


LINE, CURVE, PAIR = 0, 1, 2  # the kinds of blocks


class Functions(NamedTuple):
    """The functions that blocks are made of, at all rows.

    smooths: of each variable its line and what bends, (n, k). roughness: of all of them, one variable after the other.
    polynomials: of each variable the first rank polynomials, (orders, n); a discrete column may have fewer, then zeros.
    """

    smooths: list[NDArray[np.float64]]
    roughness: NDArray[np.float64]
    polynomials: NDArray[np.float64]


class Offer(NamedTuple):
    """The blocks that a target may depend on, and the inner products of their functions at the rows that tell.

    blocks (m,): their numbers. start, width (m,): their columns of matrix (w, w) and of cross (w,), the products with
    the standardised target. n: the number of rows; share: of all rows.
    """

    blocks: NDArray[np.intp]
    start: NDArray[np.intp]
    width: NDArray[np.intp]
    matrix: NDArray[np.float64]
    cross: NDArray[np.float64]
    n: int
    share: float = 1.0

    def columns(self, blocks: NDArray[np.intp]) -> NDArray[np.intp]:
        """Return the columns of some blocks, by their numbers."""
        places = np.searchsorted(self.blocks, blocks)
        return spans(self.start[places], self.width[places])


class Blocks(NamedTuple):
    """Blocks of functions and their inner products.

    gram: a term per block, with a ridge on the diagonal of its matrix, and all columns as targets. kind (m,): `LINE`,
    `CURVE` or `PAIR`. first, second (m,): the variables of each block, twice the same for a single one. offered (m, d):
    which block is for which target. own: of targets that were set in some rows, the products at the others, and those
    rows. always: the indicators of environments, which precede every variable (bit j for column j).
    """

    gram: Gram
    kind: NDArray[np.intp]
    first: NDArray[np.intp]
    second: NDArray[np.intp]
    offered: NDArray[np.bool_]
    own: Mapping[int, tuple[Offer, NDArray[np.intp]]] = MappingProxyType({})
    always: int = 0

    def offer(self, target: int) -> Offer:
        """Return what a target may depend on."""
        if target in self.own:
            return self.own[target][0]
        gram, blocks = self.gram, np.flatnonzero(self.offered[:, target])
        return Offer(blocks, gram.start[blocks], gram.rank[blocks], gram.matrix, gram.cross[:, target], gram.n)

    def rows_of(self, target: int) -> NDArray[np.intp] | None:
        """Return the rows that show a target's own mechanism; None if all do."""
        return self.own[target][1] if target in self.own else None


def blocks_of_rows(
    X: NDArray[np.float64], design: RowDesign | None = None
) -> tuple[NDArray[np.float64], Functions, Blocks]:
    """Return standardised columns, with the indicators of environments after them, their functions and their blocks.

    Parameters
    ----------
    X : array of shape (n, d)
        Standardised columns, none constant.
    design : RowDesign, optional
        Of these columns.
    """
    if design is None:
        functions = block_functions(X)
        return X, functions, block_products(X, functions)
    d = X.shape[1]
    useful = (np.ptp(design.indicators, axis=0) > 0) & design.offered.any(axis=1)
    indicators = standardise_columns(design.indicators[:, useful])
    acted = np.hstack([design.acted, np.zeros(indicators.shape, dtype=bool)])
    X = np.asfortranarray(np.hstack([X, indicators]))
    functions = block_functions(X)
    targets = X.copy(order="F")
    own_rows = {j: np.flatnonzero(~acted[:, j]) for j in np.flatnonzero(acted.any(axis=0)).tolist()}
    for j, rows in own_rows.items():
        targets[:, j] = 0.0
        targets[rows, j] = standardise(X[rows, j])
    blocks = block_products(targets, functions, n_indicators=X.shape[1] - d)
    is_own = blocks.first >= d  # the line of an indicator
    blocks.offered[is_own, :d] = design.offered[useful][blocks.first[is_own] - d]
    own = {j: (_offer_at(rows, targets[rows, j], j, functions, blocks), rows) for j, rows in own_rows.items()}
    return targets, functions, blocks._replace(own=own)


def _offer_at(
    rows: NDArray[np.intp], y: NDArray[np.float64], target: int, functions: Functions, blocks: Blocks
) -> Offer:
    """Return what a target may depend on, with the inner products at some rows."""
    offered = np.flatnonzero(blocks.offered[:, target])
    parts = [_at_rows(rows, block, functions, blocks) for block in offered.tolist()]
    values = np.hstack([np.empty((len(rows), 0)), *parts])
    values -= values.mean(axis=0)
    gram, width = blocks.gram, blocks.gram.rank[offered]
    columns = spans(gram.start[offered], width)
    matrix = values.T @ values / len(rows)
    matrix[np.diag_indices_from(matrix)] += BEND_RIDGE * gram.roughness[columns] + LEAST_RIDGE
    return Offer(offered, starts(width), width, matrix, values.T @ y / len(rows), len(rows), len(rows) / gram.n)


def _at_rows(rows: NDArray[np.intp], block: int, functions: Functions, blocks: Blocks) -> NDArray[np.float64]:
    """Return the functions of a block at some rows."""
    first, second = blocks.first[block], blocks.second[block]
    if blocks.kind[block] != PAIR:
        smooth = functions.smooths[first][rows]
        return smooth[:, :1] if blocks.kind[block] == LINE else smooth[:, 1:]
    a, b = (functions.polynomials[j][functions.polynomials[j].any(axis=1)][:, rows] for j in (first, second))
    return (a[:, None] * b).reshape(-1, len(rows)).T


def block_functions(X: NDArray[np.float64]) -> Functions:
    """Build the functions of standardised columns, none constant."""
    design = prepare(X, [spline(column, KNOTS).basis() for column in X.T])
    smooths = [design.table(j)[design.codes[j]] for j in range(X.shape[1])]
    for smooth, column in zip(smooths, X.T, strict=True):
        smooth[:, 0] = column  # the line itself, not that of the bins
    return Functions(smooths, design.roughness, rank_polynomials(X)[:, :, :ORDERS].transpose(0, 2, 1).copy())


def block_products(X: NDArray[np.float64], functions: Functions, n_indicators: int = 0) -> Blocks:
    """Build the blocks of standardised columns, none constant, from their functions; the last ones may be indicators.

    Examples
    --------
    >>> X = np.random.default_rng(0).normal(size=(300, 3))
    >>> X = (X - X.mean(axis=0)) / X.std(axis=0)
    >>> blocks = block_products(X, block_functions(X))
    >>> blocks.gram.rank.tolist()
    [1, 1, 1, 7, 7, 7, 4, 4, 4]
    >>> blocks.second.tolist()
    [0, 1, 2, 0, 1, 2, 1, 2, 2]
    """
    n, d = X.shape
    paired = d - n_indicators
    smooths, roughness, polynomials = functions
    n_smooths = np.array([smooth.shape[1] for smooth in smooths], dtype=np.intp)
    first, second = np.triu_indices(paired, k=1)
    offered = np.ones((len(first), d), dtype=bool)
    capacity = max(0, (MAX_FUNCTIONS - int(n_smooths.sum())) // ORDERS**2)
    if len(first) > min(PAIRS, capacity):
        statistics = pair_statistics(X, smooths[:paired], polynomials[:paired]) if capacity else iter(())
        kept, offered = _screened(statistics, d, capacity)
        first, second = first[kept], second[kept]
    orders = polynomials.any(axis=2).sum(axis=1)
    width = orders[first] * orders[second]
    used = [polynomials[j, :k] for j, k in enumerate(orders)]
    matrix, cross = _inner_products(X, smooths, [(used[a], used[b]) for a, b in zip(first, second, strict=True)])
    rough = np.concatenate([roughness, np.ones(int(width.sum()))])
    matrix[np.diag_indices_from(matrix)] += BEND_RIDGE * rough + LEAST_RIDGE
    alone, bent = np.arange(d), np.flatnonzero(n_smooths > 1)  # two values have no curve
    line = starts(n_smooths)
    start = np.concatenate([line, line[bent] + 1, int(n_smooths.sum()) + starts(width)])
    rank = np.concatenate([np.ones(d, dtype=np.intp), n_smooths[bent] - 1, width])
    kind = np.repeat([LINE, CURVE, PAIR], [d, len(bent), len(width)])
    first, second = np.concatenate([alone, bent, first]), np.concatenate([alone, bent, second])
    offered = np.vstack([np.ones((d + len(bent), d), dtype=bool), offered])
    offered &= (first[:, None] != alone) & (second[:, None] != alone)
    gram = Gram(n, matrix, cross, np.ones(d), start, rank, rough)
    return Blocks(gram, kind, first, second, offered, always=((1 << n_indicators) - 1) << paired)


def _inner_products(
    X: NDArray[np.float64],
    smooths: list[NDArray[np.float64]],
    pairs: list[tuple[NDArray[np.float64], NDArray[np.float64]]],
) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    """Return the covariances of all functions with each other and with all targets, a piece of rows at a time."""
    n, d = X.shape
    width = sum(smooth.shape[1] for smooth in smooths) + sum(len(a) * len(b) for a, b in pairs)
    matrix, cross, mean = np.zeros((width, width)), np.zeros((width, d)), np.zeros(width)
    step = max(1, _CHUNK_NUMBERS // max(1, width))
    for first in range(0, n, step):
        rows = slice(first, min(first + step, n))
        functions = np.empty((rows.stop - first, width), order="F")
        at = 0
        for smooth in smooths:
            functions[:, at : at + smooth.shape[1]] = smooth[rows]
            at += smooth.shape[1]
        for a, b in pairs:
            for p in a:
                np.multiply(p[rows, None], b[:, rows].T, out=functions[:, at : at + len(b)])
                at += len(b)
        matrix += functions.T @ functions
        cross += functions.T @ X[rows]
        mean += functions.sum(axis=0)
    mean /= n
    return matrix / n - np.outer(mean, mean), cross / n - np.outer(mean, X.mean(axis=0))


def pair_statistics(
    X: NDArray[np.float64], smooths: list[NDArray[np.float64]], polynomials: NDArray[np.float64]
) -> Iterator[NDArray[np.float64]]:
    """Yield what share of every target each pair's products explain beyond the smooths of their two variables.

    Parameters
    ----------
    X : array of shape (n, t)
        Standardised targets, the d variables of the pairs first.
    smooths : d arrays of shape (n, k_j)
    polynomials : array of shape (d, q, n)

    Yields
    ------
    arrays of shape (some pairs, t), zero for the two variables themselves; pairs come as (0, 1), (0, 2), ...
    """
    n, d = len(X), len(smooths)
    q = polynomials.shape[1]
    functions = np.hstack(smooths)
    inner, targets = functions.T @ functions / n + LEAST_RIDGE * np.eye(functions.shape[1]), functions.T @ X / n
    stop = np.cumsum([smooth.shape[1] for smooth in smooths])
    own = [np.arange(end - smooth.shape[1], end) for end, smooth in zip(stop, smooths, strict=True)]
    step = max(1, _CHUNK_NUMBERS // (n * q * q))
    for a in range(d - 1):
        for start in range(a + 1, d, step):
            others = np.arange(start, min(start + step, d))
            Z = (polynomials[a][:, None] * polynomials[others, None]).reshape(len(others), q * q, n)
            Z -= Z.mean(axis=2, keepdims=True)
            cross = (Z.reshape(-1, n) @ X).reshape(
                len(others), q * q, X.shape[1]
            ) / n  # one product: thrice as fast as many
            squares, first = Z @ Z.transpose(0, 2, 1) / n, Z @ smooths[a] / n
            for place, b in enumerate(others):
                both = np.concatenate([own[a], own[b]])
                between = np.hstack([first[place], Z[place] @ smooths[b] / n])
                solved = np.linalg.solve(inner[np.ix_(both, both)], between.T).T
                squares[place] -= solved @ between.T
                cross[place] -= solved @ targets[both]
            squares += BEND_RIDGE * np.eye(q * q)
            share = (cross * np.linalg.solve(squares, cross)).sum(axis=1)
            share[:, a] = share[np.arange(len(others)), others] = 0.0
            yield share


def _screened(
    statistics: Iterable[NDArray[np.float64]], d: int, capacity: int
) -> tuple[NDArray[np.intp], NDArray[np.bool_]]:
    """Return the pairs to keep, at most `capacity`, and which of them each target is offered: its best."""
    best, pair = np.empty((0, d)), np.empty((0, d), dtype=np.intp)
    seen = 0
    for share in statistics:
        number = np.broadcast_to(np.arange(seen, seen + len(share))[:, None], share.shape)
        seen += len(share)
        best, pair = np.concatenate([best, share]), np.concatenate([pair, number])
        top = np.argsort(-best, axis=0, kind="stable")[:PAIRS]
        best, pair = np.take_along_axis(best, top, axis=0), np.take_along_axis(pair, top, axis=0)
    numbers, place = np.unique(pair, return_inverse=True)
    strength = np.zeros(len(numbers))
    np.maximum.at(strength, place.ravel(), best.ravel())
    offered = np.zeros((len(numbers), d), dtype=bool)
    offered[place.reshape(pair.shape), np.arange(d)] = True
    kept = np.sort(np.argsort(-strength, kind="stable")[:capacity])
    return numbers[kept], offered[kept]

"""Pairs of variables that act together: products of polynomials of their ranks, searched in the residual of a model.

Every variable has orthonormal polynomials P_1 to P_4 of its ranks. For a residual r of variance s^2 and a pair (a, b),

    z_pq = sum_i P_p(a_i) P_q(b_i) r_i / (s sqrt(n)),        T = sum_pq z_pq^2 / (p q),

low orders weighted more because functions are smooth. The levels of a category have no order: its functions are
orthonormal contrasts, all of one order (that whose weight is the mean of a polynomial's), up to five levels; a
category with more is in no pair. A missing value has no part in any function.

All pairs cost one matrix product. Under the null, T is a weighted sum of chi-squares whose weights come from the Gram
matrix of the 16 products, projected off the model and off both variables' own polynomials: dependent columns make the
products dependent, and taking them as independent would make the tail much too light.
"""

from __future__ import annotations

from collections.abc import Callable, Collection
from functools import partial
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from sartre.additive.bases.rank_polynomials import DEGREE, POLYNOMIAL_ORDERS
from sartre.additive.kernels.pairs import block_squares, split_by_sign
from sartre.additive.significance import group_sums, weighted_chi_square_tail
from sartre.prune.sartre.backward import variables_of
from sartre.prune.sartre.constants import (
    ALL_PAIRS,
    FUNCTIONS_SHARE,
    MOST_PAIRS,
    MOST_PROMISING,
    PAIRS_TESTED,
    SCREENING_LEVEL,
    WORTH_TESTING,
)
from sartre.prune.sartre.robust import followed_by

if TYPE_CHECKING:
    from sartre.additive.bases.rank_polynomials import PairBasis
    from sartre.additive.smoothing import Solved
    from sartre.prune.sartre.backward import Elimination
    from sartre.prune.sartre.rows import RowModel, Term

BLOCK = 128  # candidates whose functions are held in single precision at a time; no fewer than ALL_PAIRS
SAME_STATISTIC = 1e-5  # relative difference that single precision may make
_WEIGHTS = 1 / np.outer(POLYNOMIAL_ORDERS, POLYNOMIAL_ORDERS).ravel()


class Pair(NamedTuple):
    """Two variables that act together, and a p-value: corrected for their number in a search, of a test in a model."""

    first: int
    second: int
    p_value: float


def grow(elimination: Elimination, model: RowModel, search: PairSearch, chosen: list[Term], level: float) -> list[Term]:
    """Add pairs to a model, each with both variables' own functions, while the best one is significant.

    With m candidates the first pair is looked for at m times the level, over all pairs, and the (k + 1)-th at k + 1
    times that.
    """
    found, most = 0, model.n // FUNCTIONS_SHARE
    while found < MOST_PAIRS:
        solved = elimination.fitted(chosen)
        if len(solved.columns) > most:
            break
        residual = model.residual(solved)
        tail = partial(_tail_in_model, model, solved, float(residual @ residual))
        bound = min(1.0, level * len(search.candidates) * (1 + found))
        best = search.best(_promising(model, search.candidates, chosen, residual), chosen, residual, tail, bound)
        best = best[: 1 + (most - len(solved.columns)) // DEGREE**2]
        if not best:
            break
        found += len(best)
        for first, second, _ in best:
            chosen = [*chosen, *(j for j in (first, second) if j not in chosen), (first, second)]
    return chosen


def found_pairs(elimination: Elimination, chosen: list[Term]) -> list[Pair]:
    """Return the pairs of a model with their p-values."""
    if not chosen:
        return []
    _, p_value = elimination.tested(chosen)
    return [Pair(*term, float(p_value[k])) for k, term in enumerate(chosen) if isinstance(term, tuple)]


def _tail_in_model(model: RowModel, solved: Solved, rss: float, pair: tuple[int, int]) -> float:
    """Return the p-value of what a pair would add to a model whose residuals have this sum of squares."""
    variance = rss / max(solved.residual_df, 1.0)
    return pair_tail(model.residual_of_pair(pair, solved), model.orders(pair), variance, model.n)


def _promising(
    model: RowModel, candidates: NDArray[np.intp], chosen: list[Term], residual: NDArray[np.float64]
) -> NDArray[np.intp]:
    """Return the variables that one of each pair is taken from, where there are too many for all pairs.

    Those of the model and, because a pair that acts together makes the size of the residual follow each of them,
    the few that it follows most.
    """
    inside = np.array(variables_of(chosen), dtype=np.intp)
    if len(candidates) <= ALL_PAIRS:
        return inside
    norms = model.null_norms(SCREENING_LEVEL)[candidates]
    ratio = followed_by(residual, model.shared.smooths, candidates) / np.maximum(norms, np.finfo(float).tiny)
    most = np.argsort(-ratio, kind="stable")[:MOST_PROMISING]
    return np.union1d(inside, candidates[most[ratio[most] > 1]])


class PairSearch:
    """The search for pairs among some candidates, whatever the residual.

    Parameters
    ----------
    basis : PairBasis
    candidates : array of ints
        Variables that may form pairs.
    """

    def __init__(self, basis: PairBasis, candidates: NDArray[np.intp]) -> None:
        self.candidates = candidates
        self._basis, self._candidates = basis, candidates[basis.useful[candidates]]
        m = len(self._candidates)
        self._all = self._functions(np.arange(m)) if m <= ALL_PAIRS else None

    def best(
        self,
        promising: NDArray[np.intp],
        model: Collection[int | tuple[int, int]],
        residual: NDArray[np.float64],
        tail: Callable[[tuple[int, int]], float],
        bound: float,
    ) -> list[Pair]:
        """Return the pair that explains most of a residual, if its p-value is below a bound, and some more.

        More are pairs of variables that are both in the model. They bring no variable with them, and of those that
        explain the same the tests to come remove all but one: so they need not wait for a search of their own.

        Parameters
        ----------
        promising : array of ints
            With more than 100 candidates only pairs with one of these are looked at.
        model : collection of variables and pairs
            What is fitted already.
        residual : array of shape (n,)
        tail : callable
            Gives the p-value of T for one pair, `pair_tail` for a model.
        bound : float
            Of a p-value that is corrected for the number of pairs.
        """
        rows, a, b = self._pairs(promising)
        values = self._statistics(rows, residual)[a, b] / float(residual @ residual) if len(a) else np.empty(0)
        found: list[Pair] = []
        for place in _largest_first(values)[:PAIRS_TESTED]:
            least = min([min(1.0, WORTH_TESTING * bound), *(each.p_value for each in found)])
            independent = weighted_chi_square_tail(float(values[place]), _WEIGHTS) * len(values)
            if independent > max(least, bound):
                break  # to save time: one exact tail in four is a third of this or less, and a weak pair is missed
            first, second = int(self._candidates[rows[a[place]]]), int(self._candidates[b[place]])
            pair, inside = (min(first, second), max(first, second)), first in model and second in model
            if pair in model or not (inside or independent <= least):
                continue
            p_value = min(1.0, tail(pair) * len(values))
            if p_value < least * (1 - SAME_STATISTIC) or inside:
                found.append(Pair(*pair, p_value))
        found = sorted((pair for pair in found if pair.p_value < bound), key=lambda pair: pair.p_value)
        return [pair for k, pair in enumerate(found) if k == 0 or (pair.first in model and pair.second in model)]

    def _pairs(self, promising: NDArray[np.intp]) -> tuple[NDArray[np.intp], NDArray[np.intp], NDArray[np.intp]]:
        """Return the candidates that are one of a pair, and each pair once: a place among them, one among all."""
        m = len(self._candidates)
        if m <= ALL_PAIRS:
            rows, (a, b) = np.arange(m), np.triu_indices(m, 1)
        else:
            rows, places = np.flatnonzero(np.isin(self._candidates, promising)), np.arange(m)
            a, b = np.nonzero(~np.isin(places, rows) | (rows[:, None] < places))
        return rows, a, b

    def _statistics(self, rows: NDArray[np.intp], residual: NDArray[np.float64]) -> NDArray[np.float32]:
        """Return sum_pq (sum_i P_p P_q r)^2 / (p q) for some candidates with all.

        For all with all the sums are the squares of the samples with r > 0 less those of the others: half the work.
        """
        values = np.empty((len(rows), len(self._candidates)), dtype=np.float32)
        if self._all is not None and len(rows) == len(self._candidates):
            scaled = np.empty_like(self._all)
            n_above = split_by_sign(self._all, residual, scaled)
            above, below = scaled[:n_above], scaled[n_above:]
            block_squares(above.T @ above - below.T @ below, DEGREE, values)
            return values
        weighted = self._functions(rows) * residual[:, None].astype(np.float32)
        for first in range(0, len(self._candidates), BLOCK):
            some = np.arange(first, min(first + BLOCK, len(self._candidates)))
            squares = np.empty((len(rows), len(some)), dtype=np.float32)
            block_squares(weighted.T @ self._functions(some), DEGREE, squares)
            values[:, some] = squares
        return values

    def _functions(self, places: NDArray[np.intp]) -> NDArray[np.float32]:
        """Return the functions of some candidates, (n, 4 k): T need not be exact, pairs looked at are done again."""
        weighted = self._basis.weighted
        return np.take(weighted, self._candidates[places], axis=1).reshape(len(weighted), -1)


def _largest_first(values: NDArray[np.floating[Any]]) -> NDArray[np.intp]:
    """Sort statistics from large to small; of those that differ by rounding only, the first stays first.

    Products of ranks are the same for a variable and its logarithm, so ties do occur.
    """
    places = np.argsort(-values, kind="stable")[: 4 * PAIRS_TESTED]
    ordered = values[places]
    tied = np.cumsum(ordered < (1 - SAME_STATISTIC) * np.append(np.inf, ordered[:-1]))
    return places[np.lexsort((places, tied))]


class PairResidual(NamedTuple):
    """What a model of a target leaves of a pair: four functions of the first, four of the second, their 16 products.

    square (24, 24), cross (24,): mean products of what is left with each other and with what is left of the target;
    by_sample (n, 25) or None: the same, and of the target, sample by sample, where variances may differ; groups (n,):
    samples that are not independent.
    """

    square: NDArray[np.float64]
    cross: NDArray[np.float64]
    by_sample: NDArray[np.float64] | None
    groups: NDArray[np.intp] | None = None


def pair_tail(remaining: PairResidual, orders: NDArray[np.float64], variance: float, n: int) -> float:
    """Return the p-value of T for one pair, with the weights of its products once its own functions are projected off.

    Where variances may differ, each sample's own squared residual stands for its variance; the larger p-value counts.

    Parameters
    ----------
    remaining : PairResidual
    orders : array of shape (16,)
        Of the products.
    variance : float
        Of the noise.
    n : int
        Number of samples.
    """
    own, both = slice(2 * DEGREE), slice(2 * DEGREE, None)
    values, vectors = np.linalg.eigh(remaining.square[own, own])
    real = values > 1e-12
    alone = vectors[:, real] / np.sqrt(values[real])  # the variables' own functions, orthonormal
    shared = alone.T @ remaining.square[own, both]
    roots = np.sqrt(orders)
    square = (remaining.square[both, both] - shared.T @ shared) / np.outer(roots, roots)
    z = (remaining.cross[both] - shared.T @ (alone.T @ remaining.cross[own])) / roots
    statistic = n * float(z @ z)
    tails = [_quadratic_tail(statistic, square * variance)]
    if remaining.by_sample is not None:
        functions, noise = remaining.by_sample[:, :-1], remaining.by_sample[:, -1]
        rows = (functions[:, both] - functions[:, own] @ (alone @ shared)) / roots
        rows *= (noise - functions[:, own] @ (alone @ (alone.T @ remaining.cross[own])))[:, None]
        rows = rows if remaining.groups is None else group_sums(rows, remaining.groups)
        tails.append(_quadratic_tail(statistic, rows.T @ rows / n))
    return max(tails)


def _quadratic_tail(statistic: float, covariance: NDArray[np.float64]) -> float:
    """Return P(|z|^2 > statistic) for z normal with a covariance."""
    weights = np.asarray(np.linalg.eigvalsh(covariance), dtype=np.float64)
    weights = weights[weights > 1e-9 * max(weights[-1], 1e-300)]
    return weighted_chi_square_tail(statistic, weights) if len(weights) else 1.0

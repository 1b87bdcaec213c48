"""Whether a variable adds anything to the prediction of a target: an e-value from rows that were held out.

Other rows suggest an effect h(x, z) of a variable x on a target y, given further variables z. On the rows at hand both
y and h, with values far out drawn in, are regressed on smooth functions of z, and the products r_i of the two residuals
are added up:

    T = sum_i r_i / sqrt(sum_i r_i^2),    e = exp(2.5 T - 2.5^2 / 2).

If x and y are independent given z, the products have mean zero as soon as *one* of the two regressions is right, and
their errors enter only as a product (the generalised covariance measure of Shah and Peters, 2020, with a direction that
was learnt elsewhere). T is then close to standard normal whatever the tails and the variances of the rows, and e has
mean one. If the regression of y is exact and its errors are symmetric, e has mean at most one for any number of rows:
given their sizes, the r_i have random signs, and E exp(c T) <= exp(c^2 / 2) because cosh(u) <= exp(u^2 / 2).
"""

from __future__ import annotations

from collections.abc import Sequence
from itertools import combinations
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray
from scipy.special import ndtri
from scipy.stats import rankdata

from sartre.additive.bases.rank_polynomials import PairBasis, pair_basis, pair_functions
from sartre.additive.capacity import basis_size
from sartre.additive.design import starts
from sartre.additive.gram import Gram
from sartre.additive.mechanism import N_SPLINES, column_term
from sartre.additive.smoothing import solve_smooths

STAKE = 2.5  # 2 to 3.5 certify the same on development seeds; it suits e-values of about 20, which certificates need
MOST_PAIRED = 6  # variables whose joint effects on the target are part of the regressions: 15 pairs
DRAWN_IN = 3.0  # standard deviations of normal values with the same quartiles
LARGEST_LOG = 600.0  # of an e-value: a larger one would overflow, and says no more
NOTHING_LEFT = 1e-6  # an effect with a smaller share of its variance left is known from the other variables


class HeldRows(NamedTuple):
    """Rows for tests, with the smooth functions of their columns; `held_rows` makes them.

    values (n, d): the columns; functions (n, W) with inner products matrix (W, W), of which column j has rank[j],
    beginning at start[j]; roughness (W,), as in `sartre.additive.gram.Gram`; polynomials: for functions of two columns.
    groups (n,), or None: rows that belong together, whose products r_i are added up first.
    """

    values: NDArray[np.float64]
    functions: NDArray[np.float64]
    matrix: NDArray[np.float64]
    start: NDArray[np.intp]
    rank: NDArray[np.intp]
    roughness: NDArray[np.float64]
    polynomials: PairBasis
    groups: NDArray[np.intp] | None = None


def held_rows(X: NDArray[np.float64], groups: NDArray[np.intp] | None = None) -> HeldRows:
    """Prepare rows (n, d), without missing values, for tests; rows of one group (n,) may depend on each other.

    Smooths are functions of normal scores: what is known if z is known is known if its ranks are, and outliers in z
    do no harm.

    Examples
    --------
    >>> held_rows(np.random.default_rng(0).normal(size=(500, 3))).functions.shape
    (500, 27)
    """
    n, d = X.shape
    scores = ndtri((rankdata(X, axis=0) - 0.5) / n)
    terms = [column_term(column, basis_size(n, d, N_SPLINES), nominal=False) for column in scores.T]
    functions = np.hstack([term(scores[:, [j]]) for j, term in enumerate(terms)])
    rank = np.array([len(term.roughness) for term in terms], dtype=np.intp)
    roughness = np.concatenate([term.roughness for term in terms])
    matrix = functions.T @ functions / n
    return HeldRows(X, functions, matrix, starts(rank), rank, roughness, pair_basis(scores), groups)


def added_value(
    rows: HeldRows, target: int, effect: NDArray[np.float64], others: Sequence[int], acting: Sequence[int]
) -> float:
    """Return T, large if an effect predicts a target beyond the other variables; 0 if nothing is left of the effect.

    Parameters
    ----------
    rows : HeldRows
    target : int
        The column y.
    effect : array of shape (n,)
        The effect h(x, z), a function that was learnt from other rows.
    others : sequence of ints
        The columns z. Each has a smooth in both regressions.
    acting : sequence of ints
        Those of z that may act on the target jointly; the strongest six have smooths of every pair, too.

    Examples
    --------
    >>> z, x, noise = np.random.default_rng(0).normal(size=(3, 500))
    >>> rows = held_rows(np.column_stack([z, x, z**2 + x / 2 + noise, z**2 + noise]))
    >>> [round(added_value(rows, target, x, [0], [])) for target in (2, 3)]
    [8, 0]
    """
    both = np.column_stack([_drawn_in(rows.values[:, target]), _drawn_in(effect)])
    spread = both.std(axis=0)
    if not spread.all():
        return 0.0
    both = (both - both.mean(axis=0)) / spread
    gram, extra = _with_pairs(rows, both, _strongest(rows, both[:, 0], acting))
    varied = np.array([j for j in others if rows.rank[j] > 0], dtype=np.intp)
    terms = np.append(varied, np.arange(len(rows.rank), len(gram.rank)))
    residuals = [both[:, k] - _fitted(rows, gram, extra, terms, k) for k in (0, 1)] if len(terms) else [*both.T]
    if residuals[1] @ residuals[1] < NOTHING_LEFT * len(effect):
        return 0.0
    products = residuals[0] * residuals[1]
    if rows.groups is not None:
        products = np.bincount(np.unique(rows.groups, return_inverse=True)[1], weights=products)
    size = float(np.sqrt(products @ products))
    return float(products.sum()) / size if size > 0 else 0.0


def e_value(statistic: float) -> float:
    """Return exp(2.5 T - 2.5^2 / 2), whose mean is one if T is standard normal.

    Examples
    --------
    >>> round(e_value(0.0), 3), round(e_value(3.0), 1)
    (0.044, 79.4)
    """
    return float(np.exp(min(STAKE * statistic - STAKE**2 / 2, LARGEST_LOG)))


def _drawn_in(values: NDArray[np.float64]) -> NDArray[np.float64]:
    """Clip values far out, so that a few rows do not decide; functions of independent variables are independent."""
    centre = np.median(values)
    reach = DRAWN_IN * float(np.median(np.abs(values - centre))) / ndtri(0.75)
    return np.clip(values, centre - reach, centre + reach) if reach > 0 else values


def _strongest(rows: HeldRows, y: NDArray[np.float64], acting: Sequence[int]) -> list[int]:
    """Return the columns that explain most of a target on their own, in the order given."""
    explained = [
        float(np.sum((rows.functions[:, rows.start[j] : rows.start[j] + rows.rank[j]].T @ y) ** 2)) for j in acting
    ]
    chosen = sorted(np.argsort(explained)[::-1][:MOST_PAIRED].tolist())
    return [acting[k] for k in chosen]


def _with_pairs(rows: HeldRows, both: NDArray[np.float64], acting: Sequence[int]) -> tuple[Gram, NDArray[np.float64]]:
    """Return the inner products of all columns' functions and those of some pairs, and the latter, shape (n, P)."""
    n, useful = len(both), rows.polynomials.useful
    pairs = [pair_functions(rows.polynomials, a, b) for a, b in combinations(acting, 2) if useful[a] and useful[b]]
    extra = np.hstack([np.empty((n, 0)), *(pair.values for pair in pairs)])
    beside = rows.functions.T @ extra / n
    rank = np.append(rows.rank, [pair.values.shape[1] for pair in pairs]).astype(np.intp)
    gram = Gram(
        n=n,
        matrix=np.block([[rows.matrix, beside], [beside.T, extra.T @ extra / n]]),
        cross=np.vstack([rows.functions.T @ both, extra.T @ both]) / n,
        squares=np.ones(2),
        start=starts(rank),
        rank=rank,
        roughness=np.concatenate([rows.roughness, *(pair.roughness for pair in pairs)]),
    )
    return gram, extra


def _fitted(
    rows: HeldRows, gram: Gram, extra: NDArray[np.float64], terms: NDArray[np.intp], k: int
) -> NDArray[np.float64]:
    solved = solve_smooths(gram, k, terms)
    coefficients = np.zeros(len(gram.roughness))
    coefficients[solved.columns] = solved.beta
    width = rows.functions.shape[1]
    return rows.functions @ coefficients[:width] + extra @ coefficients[width:]

"""The fitted f(parents): a smooth function of every column and of every named pair, defined for any values.

The smooths are those of `bases/splines.py`. A category has one value per level; missing values have one of their own.
A pair has the unpenalised product of its two straight lines and penalised products of rank polynomials: the product
of lines is exact for y = a b, and the rank polynomials fit other shapes without being driven by outliers. REML chooses
the smoothness of each term.
"""

from __future__ import annotations

from collections.abc import Collection, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from sartre.additive.bases.rank_polynomials import PairBasis, PairFunctions, pair_basis, pair_functions, pair_products
from sartre.additive.bases.splines import Spline, spline
from sartre.additive.capacity import basis_size, strongest
from sartre.additive.design import Rotation, level_basis, rotate, with_missing
from sartre.additive.gram import Gram, gram_of_functions
from sartre.additive.smoothing import Solved, lost_share, solve_smooths
from sartre.data.table import mean_and_spread

N_SPLINES = 10
PAIR_NODES = 256  # a mechanism stores its pair functions at this many values of a column, not the data


class ColumnTerm(NamedTuple):
    """The functions of one column: splines or indicators of levels, and an indicator of missing values if it has any.

    If no training value was missing, a missing number is treated as the mean.
    """

    spline: Spline | None
    n_levels: int
    knows_missing: bool
    rotation: Rotation

    @property
    def roughness(self) -> NDArray[np.float64]:
        """Roughness of each function, 0 for the straight line."""
        return self.rotation.roughness

    def __call__(self, x: NDArray[np.float64]) -> NDArray[np.float64]:
        """Return all functions at the rows of (m, 1) values, shape (m, k)."""
        table = _column_functions(x[:, 0], self.spline, self.n_levels, knows_missing=self.knows_missing)
        return (table - self.rotation.mean) @ self.rotation.vectors


class RankedColumn(NamedTuple):
    """A column's functions in pairs: its straight line and polynomials (k, 5) at up to 256 of its values (k,)."""

    values: NDArray[np.float64]
    table: NDArray[np.float64]

    def __call__(self, x: NDArray[np.float64]) -> NDArray[np.float64]:
        """Interpolate line and polynomials linearly at new values, shape (len(x), 5); constant beyond the ends."""
        functions = np.column_stack([np.interp(x, self.values, column) for column in self.table.T])
        functions[np.isnan(x)] = 0.0
        return functions


class PairTerm(NamedTuple):
    """The functions of two columns: the centred product of their lines, then functions of their rank polynomials."""

    sides: tuple[RankedColumn, RankedColumn]
    mean: float
    functions: PairFunctions

    @property
    def roughness(self) -> NDArray[np.float64]:
        """Roughness of each function, 0 for the product of the lines."""
        return np.append(0.0, self.functions.roughness)

    def __call__(self, x: NDArray[np.float64]) -> NDArray[np.float64]:
        """Return all functions at the rows of (m, 2) values, shape (m, k)."""
        first, second = (side(column) for side, column in zip(self.sides, x.T, strict=True))
        smooth = (pair_products(first[:, 1:], second[:, 1:]) - self.functions.mean) @ self.functions.vectors
        return np.column_stack([first[:, 0] * second[:, 0] - self.mean, smooth])


class FittedTerm(NamedTuple):
    """One term of a mechanism: its columns, functions, coefficients in the unit of the target, and their covariance."""

    columns: tuple[int, ...]
    functions: ColumnTerm | PairTerm
    coefficients: NDArray[np.float64]
    covariance: NDArray[np.float64]

    def __call__(self, X: NDArray[np.float64]) -> NDArray[np.float64]:
        """Return the term at the rows of its columns' values (m, 1 or 2), shape (m,)."""
        return self.functions(X) @ self.coefficients


class Curve(NamedTuple):
    """The main effect of one column: its centred ``values`` at some x, and their standard errors."""

    values: NDArray[np.float64]
    std: NDArray[np.float64]


@dataclass(frozen=True, eq=False)
class AdditiveMechanism:
    """A fitted function of p columns, in raw units; an implementation of `sartre.steps.Mechanism`.

    Beyond the outermost training values, functions of one column are extrapolated linearly and those of a pair are
    constant.

    Attributes
    ----------
    intercept : float
        Mean of the target.
    terms : tuple of FittedTerm
        The terms added to it, each with mean zero over the training rows.
    gram : Gram
        Inner products of all functions with each other and with the standardised target, in the order of the terms.
    pairs, nominal : tuples
        The pairs of columns that interact, and the columns whose values are levels.
    spread : float
        Standard deviation of the target.

    Examples
    --------
    >>> x = np.linspace(0, 1, 50)
    >>> mechanism = fit_mechanism(x[:, None], 3 + 2 * x)
    >>> mechanism.predict(np.array([[0.5], [10.0]])).round(6)
    array([ 4., 23.])
    >>> round(mechanism.loss_without(0), 6)
    1.0
    """

    intercept: float
    terms: tuple[FittedTerm, ...] = ()
    gram: Gram | None = None
    pairs: tuple[tuple[int, int], ...] = ()
    nominal: tuple[int, ...] = ()
    spread: float = 1.0

    def refit(self, X: NDArray[np.float64], y: NDArray[np.float64]) -> AdditiveMechanism:
        """Fit a function of the same form and columns to other rows or units."""
        return fit_mechanism(X, y, self.pairs, self.nominal)

    def predict(self, X: NDArray[np.float64]) -> NDArray[np.float64]:
        """Evaluate the function at the rows of X (m, p), shape (m,)."""
        value = np.full(len(X), self.intercept)
        for term in self.terms:
            value += term(X[:, term.columns])
        return value

    def residuals(self, X: NDArray[np.float64], y: NDArray[np.float64]) -> NDArray[np.float64]:
        """Return the residuals of a target (m,) at the rows of X (m, p)."""
        return y - self.predict(X)

    def curve(self, parent: int, x: NDArray[np.float64]) -> Curve:
        """Return a parent's main effect at values x (m,), with Bayesian standard errors; zero if it was not fitted."""
        term = self._term((parent,))
        if term is None:
            return Curve(np.zeros(len(x)), np.zeros(len(x)))
        functions = term.functions(x[:, None])
        variance = np.einsum("ij,jk,ik->i", functions, term.covariance, functions)
        return Curve(functions @ term.coefficients, np.sqrt(np.maximum(variance, 0.0)))

    def surface(self, pair: tuple[int, int], x: NDArray[np.float64]) -> NDArray[np.float64]:
        """Return the interaction of a pair beyond its main effects, at the rows of x (m, 2), shape (m,)."""
        term = self._term(pair)
        if term is None:
            first, second = pair
            term, x = self._term((second, first)), x[:, ::-1]
        return np.zeros(len(x)) if term is None else term(x)

    def loss_without(self, parent: int) -> float:
        """Return the share of the target's variance that is lost without a parent, with the others refitted.

        It allows for the degrees of freedom of both fits, so that what a parent explains by chance is not counted.
        """
        others = np.array([k for k, term in enumerate(self.terms) if parent not in term.columns], dtype=np.intp)
        if self.gram is None or len(others) == len(self.terms):
            return 0.0
        whole = self._whole
        return lost_share(whole, solve_smooths(self.gram, 0, others, whole.log_lambda[others]))

    @cached_property
    def _whole(self) -> Solved:
        """The fit of all terms, in units of the target's standard deviation; only asked for if there is a Gram."""
        if self.gram is None:
            raise ValueError("A mechanism without functions has no fit.")
        return solve_smooths(self.gram, 0, np.arange(len(self.terms)))

    def drawn(self, rng: np.random.Generator) -> AdditiveMechanism:
        """Return the mechanism refitted to a target that is simulated from it, with normal noise; no row is needed.

        With y* = Phi b + e, a fit needs only Phi' y* / n, which is M b plus noise with covariance sigma^2 M / n. The
        smoothness is chosen again.

        Examples
        --------
        >>> x = np.linspace(0, 1, 50)
        >>> noise = np.random.default_rng(0).normal(size=50)
        >>> drawn = fit_mechanism(x[:, None], 3 + 20 * x + noise).drawn(np.random.default_rng(0))
        >>> bool(3 < np.diff(drawn.predict(np.array([[0.5], [1.5]])))[0] - 15 < 7)
        True
        """
        if self.gram is None:
            return self
        gram, whole, beta = self.gram, self._whole, np.zeros(len(self.gram.roughness))
        beta[whole.columns] = whole.beta
        noise = np.sqrt(whole.scale / gram.n) * (self._root @ rng.normal(size=len(beta)))
        cross = gram.matrix @ beta + noise
        variance = beta @ (cross + noise) + whole.scale * rng.chisquare(gram.n) / gram.n
        spread = float(np.sqrt(max(variance, np.finfo(float).tiny)))
        again = solve_smooths(gram._replace(cross=cross[:, None] / spread), 0, np.arange(len(self.terms)))
        coefficients, start = np.zeros(len(beta)), 0
        coefficients[again.columns] = self.spread * spread * again.beta
        terms = []
        for term in self.terms:
            own = slice(start, start + len(term.coefficients))
            terms.append(term._replace(coefficients=coefficients[own]))
            start = own.stop
        return replace(self, terms=tuple(terms))

    @cached_property
    def _root(self) -> NDArray[np.float64]:
        """A root R of the inner products R R' of all functions."""
        if self.gram is None:
            raise ValueError("A mechanism without functions has no inner products.")
        values, vectors = np.linalg.eigh(self.gram.matrix)
        return vectors * np.sqrt(np.maximum(values, 0.0))

    def _term(self, columns: tuple[int, ...]) -> FittedTerm | None:
        return next((term for term in self.terms if term.columns == columns), None)


def fit_mechanism(
    X: NDArray[np.float64],
    y: NDArray[np.float64],
    pairs: Sequence[tuple[int, int]] = (),
    nominal: Collection[int] = (),
) -> AdditiveMechanism:
    """Regress a target on smooth functions of all columns and of some pairs of them.

    Parameters
    ----------
    X : array of shape (n, p)
        NaN where missing. Constant columns have no effect. If there are more than n / 4 terms, only the strongest
        n / 4 are fitted.
    y : array of shape (n,)
        Without missing values.
    pairs : sequence of pairs of columns
    nominal : collection of ints
        Columns whose values are levels.

    Examples
    --------
    >>> a, b = np.random.default_rng(0).normal(size=(2, 300))
    >>> product = fit_mechanism(np.column_stack([a, b]), a * b, pairs=[(0, 1)])
    >>> product.predict(np.array([[1.0, 1.0], [1.0, -1.0]])).round(3)
    array([ 1., -1.])
    """
    intercept, spread = mean_and_spread(y)
    terms = _terms(X, pairs, nominal)
    if spread <= 4 * np.finfo(float).eps * abs(intercept) or not terms:  # the target is constant up to rounding
        return AdditiveMechanism(intercept, pairs=tuple(pairs), nominal=tuple(nominal))
    functions, roughness = [term(X[:, columns]) for columns, term in terms], [term.roughness for _, term in terms]
    gram = gram_of_functions(functions, roughness, (y - intercept) / spread)
    chosen = np.flatnonzero(strongest(gram, 0, np.arange(len(terms))))
    if len(chosen) < len(terms):
        gram = gram_of_functions(
            [functions[k] for k in chosen], [roughness[k] for k in chosen], (y - intercept) / spread
        )
    solved = solve_smooths(gram, 0, np.arange(len(chosen)))
    beta, covariance = np.zeros(len(gram.roughness)), np.zeros(gram.matrix.shape)
    beta[solved.columns] = spread * solved.beta
    covariance[np.ix_(solved.columns, solved.columns)] = solved.inverse * (spread**2 * solved.scale / len(y))
    fitted = []
    for place, first, rank in zip(chosen.tolist(), gram.start, gram.rank, strict=True):
        own = slice(first, first + rank)
        fitted.append(FittedTerm(*terms[place], beta[own], covariance[own, own]))
    return AdditiveMechanism(intercept, tuple(fitted), gram, tuple(pairs), tuple(nominal), spread)


def _terms(
    X: NDArray[np.float64], pairs: Sequence[tuple[int, int]], nominal: Collection[int]
) -> list[tuple[tuple[int, ...], ColumnTerm | PairTerm]]:
    """Return the columns and the functions of every term; constant columns have no term."""
    n, p = X.shape
    size = basis_size(n, p + len(pairs), N_SPLINES)
    alone = [column_term(column, size, nominal=j in nominal) for j, column in enumerate(X.T)]
    varies = [len(term.roughness) > 0 for term in alone]
    terms: list[tuple[tuple[int, ...], ColumnTerm | PairTerm]] = [((j,), alone[j]) for j in range(p) if varies[j]]
    paired = sorted({j for pair in pairs for j in pair})
    basis = pair_basis(X[:, paired], [k for k, j in enumerate(paired) if j in nominal])
    for a, b in pairs:
        first, second = paired.index(a), paired.index(b)
        if varies[a] and varies[b] and basis.useful[first] and basis.useful[second]:
            lines = a not in nominal, b not in nominal
            terms.append(((a, b), _pair_term(X[:, [a, b]], basis, (first, second), lines)))
    return terms


def column_term(column: NDArray[np.float64], n_splines: int, *, nominal: bool) -> ColumnTerm:
    """Choose the functions of a column (n,), NaN where missing; if it is `nominal`, its values are levels.

    Examples
    --------
    >>> column_term(np.linspace(0, 1, 50), 10, nominal=False)(np.zeros((3, 1))).shape
    (3, 9)
    """
    missing = np.isnan(column)
    if missing.all():
        nothing = np.empty(0)
        return ColumnTerm(None, 0, knows_missing=False, rotation=Rotation(nothing, np.empty((0, 0)), nothing, nothing))
    smooth = None if nominal else spline(column[~missing], n_splines)
    basis = level_basis(column) if smooth is None else smooth.basis()
    n_levels = len(basis.table) if smooth is None else 0
    knows_missing = bool(missing.any())
    basis = with_missing(basis) if knows_missing else basis
    table = _column_functions(column, smooth, n_levels, knows_missing=knows_missing)
    rotation = rotate(basis._replace(table=table), np.full(len(column), 1.0 / len(column)))
    return ColumnTerm(smooth, n_levels, knows_missing, rotation)


def _column_functions(
    column: NDArray[np.float64], smooth: Spline | None, n_levels: int, *, knows_missing: bool
) -> NDArray[np.float64]:
    """Evaluate the functions of a column before rotation, at any values, shape (m, K)."""
    missing = np.isnan(column)
    if smooth is None:
        table = (column[:, None] == np.arange(n_levels)).astype(np.float64)
    else:
        table = smooth(np.where(missing, smooth.shift, column))
    if not knows_missing:
        return table
    table[missing] = 0.0
    return np.column_stack([table, missing])


def _pair_term(X: NDArray[np.float64], basis: PairBasis, places: tuple[int, int], lines: tuple[bool, bool]) -> PairTerm:
    sides = tuple(
        _ranked(column, basis.values[place], has_line=line)
        for column, place, line in zip(X.T, places, lines, strict=True)
    )
    first, second = (side(column) for side, column in zip(sides, X.T, strict=True))
    kept = PairBasis(np.stack([first[:, 1:], second[:, 1:]]), basis.orders[list(places)], basis.useful[list(places)])
    functions = pair_functions(kept, 0, 1)._replace(values=np.empty((0, 0)))
    return PairTerm((sides[0], sides[1]), float(np.mean(first[:, 0] * second[:, 0])), functions)


def _ranked(x: NDArray[np.float64], polynomials: NDArray[np.float64], *, has_line: bool) -> RankedColumn:
    observed = np.flatnonzero(~np.isnan(x))
    values, rows = np.unique(x[observed], return_index=True)
    if len(values) > PAIR_NODES:
        kept = np.linspace(0, len(values) - 1, PAIR_NODES).round().astype(np.intp)
        values, rows = values[kept], rows[kept]
    mean, spread = mean_and_spread(x[observed])
    line = (values - mean) / spread if has_line else np.zeros(len(values))
    return RankedColumn(values, np.column_stack([line, polynomials[observed[rows]]]))

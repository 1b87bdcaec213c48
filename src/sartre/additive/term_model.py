"""Models of one target on some terms: functions of a variable, or of a pair of them, each made once."""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple, TypeAlias

import numpy as np
from scipy.linalg import solve_triangular

from sartre.additive._reml_kernels import part
from sartre.additive.design import spans
from sartre.additive.interactions import DEGREE, LeftOfPair, PairBasis, PairFunctions, pair_functions, products
from sartre.additive.smoothing import Gram, Solved, solve_smooths

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from sartre.additive.design import Design

Term: TypeAlias = int | tuple[int, int]  # a variable's own function, or that of a pair
TOL = 0.05  # of the derivatives of the likelihood: tests hardly change with the last digits of the smoothness
SHARED_BYTES = 1 << 26  # of the functions of all variables and their products: up to 200 variables at n = 2000


class Surface(NamedTuple):
    """The joint part of two variables' effect on a target, without the part of each alone.

    first, second (a,), (b,): samples whose values of the variable are the grid, increasing; effect (a, b): first down,
    second across, in standard deviations of the target.
    """

    first: NDArray[np.intp]
    second: NDArray[np.intp]
    effect: NDArray[np.float64]


class Singles:
    """The smooth functions of every variable; all of them and their products at once, if many models share them.

    Parameters
    ----------
    X : array of shape (n, d)
        All variables, standardised.
    smooths : Design
        Their smooth functions, on bins. A straight line that is the only one is taken from `X`: where columns nearly
        determine each other, what bins round off would look like an effect of others.
    shared : bool
        Whether to make all at once, if there is room.
    """

    def __init__(self, X: NDArray[np.float64], smooths: Design, *, shared: bool = False) -> None:
        self._X, self._smooths = X, smooths
        self._all: NDArray[np.float64] | None = None
        self._matrix: NDArray[np.float64] | None = None
        n, width = len(X), int(smooths.rank.sum())
        if shared and 8 * (n + width) * width <= SHARED_BYTES:
            functions = np.empty((n, width), order="F")
            for j in range(len(smooths.rank)):
                functions[:, self._span(j)] = self.functions(j)
            self._all, self._matrix = functions, functions.T @ functions / n
            self._all.flags.writeable = False

    def functions(self, j: int) -> NDArray[np.float64]:
        """Return the functions of a variable, shape (n, k); not to be written to."""
        if self._all is not None:
            return self._all[:, self._span(j)]
        block, line = self._smooths.table(j)[self._smooths.codes[j]], np.flatnonzero(self.roughness(j) == 0)
        if len(line) == 1 and self._X[:, j].any():
            block[:, line[0]] = self._X[:, j]
        return block

    def roughness(self, j: int) -> NDArray[np.float64]:
        """Return the roughness of each of them."""
        return self._smooths.roughness[self._span(j)]

    def products(self, chosen: list[int]) -> NDArray[np.float64] | None:
        """Return the mean products of all functions of some variables, if they are there."""
        if self._matrix is None:
            return None
        columns = spans(self._smooths.spectrum_start[chosen], self._smooths.rank[chosen])
        return part(self._matrix, columns, columns)

    def _span(self, j: int) -> slice:
        start = self._smooths.spectrum_start[j]
        return slice(start, start + self._smooths.rank[j])


class TermModel:
    """The terms asked for so far, their inner products and, of each, the smoothness it had last.

    As the pair of a variable with itself there is also what its pairs are made of: never in a model, but asked for.

    Parameters
    ----------
    y : array of shape (n,)
        The target, standardised.
    singles : Singles
        The functions of each variable.
    pairs : PairBasis or None
        What pairs are made of.
    """

    def __init__(self, y: NDArray[np.float64], singles: Singles, pairs: PairBasis | None) -> None:
        self._y, self._singles, self._basis = y, singles, pairs
        self._place: dict[Term, int] = {}
        self._log_lambda: dict[Term, float] = {}
        self._pairs: dict[Term, PairFunctions] = {}
        self._functions = np.empty((len(y), 64), order="F")
        self.products = Gram(
            len(y), np.empty((0, 0)), np.empty((0, 1)), np.empty(0, np.intp), np.empty(0, np.intp), np.empty(0)
        )

    def solve(self, chosen: list[Term]) -> Solved:
        """Fit the terms together, smoothness from where it was last."""
        self._add([term for term in chosen if term not in self._place])
        places = np.array([self._place[term] for term in chosen], dtype=np.intp)
        start = np.array([self._log_lambda.get(term, np.inf) for term in chosen])
        solved = solve_smooths(self.products, 0, places, start, TOL)
        self._log_lambda.update(zip(chosen, solved.log_lambda.tolist(), strict=True))
        return solved

    def functions(self, solved: Solved) -> NDArray[np.float64]:
        """Return the functions that a fit uses, shape (n, q)."""
        return self._functions[:, solved.columns]

    def residual(self, solved: Solved) -> NDArray[np.float64]:
        """Return what a fit leaves of the target."""
        beta = np.zeros(len(self.products.roughness))
        beta[solved.columns] = solved.beta
        return self._y - self._functions[:, : len(beta)] @ beta

    def inner_products(self, solved: Solved) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
        """Return the mean products of these functions with each other, (q, q), and with the target, (q,)."""
        columns = solved.columns
        return part(self.products.matrix, columns, columns), self.products.cross[columns, 0]

    def left_of_pair(self, pair: tuple[int, int], solved: Solved, *, rows: bool) -> LeftOfPair:
        """Return what a fit leaves of a pair's functions, sample by sample if `rows`; a small ridge keeps it finite."""
        own: list[Term] = [(j, j) for j in pair]
        self._add([term for term in [*own, pair] if term not in self._place])
        places = [self._place[term] for term in [*own, pair]]
        asked = spans(self.products.start[places], self.products.rank[places])
        turn = np.eye(len(asked), 2 * DEGREE + DEGREE**2)
        turn[2 * DEGREE :, 2 * DEGREE :] = self._pairs[pair].back
        matrix, cross, columns = self.products.matrix, self.products.cross[:, 0], solved.columns
        square, between = part(matrix, columns, columns), part(matrix, columns, asked)
        inner = np.column_stack([between @ turn, cross[columns] - square @ solved.beta])
        ridge = 1e-8 * max(1.0, square.max(initial=0.0))
        factor = np.linalg.cholesky(square + ridge * np.eye(len(square)))
        half = solve_triangular(factor, inner, lower=True, check_finite=False)
        full = solve_triangular(factor, half, lower=True, trans=1, check_finite=False)
        gone = half.T @ half + ridge * (full.T @ full)
        left = None
        if rows:
            table = np.column_stack([self._functions[:, asked] @ turn, self.residual(solved)])
            left = table - self.functions(solved) @ full
        return LeftOfPair(
            square=turn.T @ part(matrix, asked, asked) @ turn - gone[:-1, :-1],
            cross=turn.T @ (cross[asked] - between.T @ solved.beta) - gone[:-1, -1],
            rows=left,
        )

    def orders(self, pair: tuple[int, int]) -> NDArray[np.float64]:
        """Return the orders of the products of a pair, (16,)."""
        return np.outer(*(self._pair_basis().orders[j] for j in pair)).ravel()

    def surface(self, pair: tuple[int, int], beta: NDArray[np.float64]) -> Surface:
        """Return the function of a pair, its coefficients given, over a grid of quantiles."""
        functions = self._pairs[pair]
        basis = self._pair_basis()
        rows = [basis.grids[j] for j in pair]
        sides = [basis.values[j][mine] for j, mine in zip(pair, rows, strict=True)]
        shape = len(rows[0]), len(rows[1])
        table = products(np.repeat(sides[0], shape[1], axis=0), np.tile(sides[1], (shape[0], 1)))
        effect = (table - functions.mean) @ functions.vectors[:, : len(beta)] @ beta
        return Surface(rows[0], rows[1], effect.reshape(shape))

    def _pair_basis(self) -> PairBasis:
        if self._basis is None:
            raise ValueError("A pair needs functions to be made of.")
        return self._basis

    def _add(self, terms: list[Term]) -> None:
        """Make the functions of new terms, and their inner products with all there are."""
        if not terms:
            return
        blocks, roughness = zip(*(self._block(term) for term in terms), strict=True)
        old, rank = self.products, np.array([len(one) for one in roughness], dtype=np.intp)
        first, last = len(old.roughness), len(old.roughness) + int(rank.sum())
        if last > self._functions.shape[1]:
            wider = np.empty((len(self._y), 2 * last), order="F")
            wider[:, :first] = self._functions[:, :first]
            self._functions = wider
        fresh = np.concatenate(blocks, axis=1, out=self._functions[:, first:last])
        together = [*self._place, *terms]
        singles = [term for term in together if isinstance(term, int)]
        matrix = self._singles.products(singles) if len(singles) == len(together) else None
        if matrix is None:
            matrix = np.empty((last, last))
            matrix[:first, :first] = old.matrix
            matrix[:first, first:] = self._functions[:, :first].T @ fresh / len(fresh)
            matrix[first:, :first] = matrix[:first, first:].T
            matrix[first:, first:] = fresh.T @ fresh / len(fresh)
        self.products = Gram(
            n=old.n,
            matrix=matrix,
            cross=np.append(old.cross, (fresh.T @ self._y / len(fresh))[:, None], axis=0),
            start=np.append(old.start, first + np.cumsum(rank) - rank),
            rank=np.append(old.rank, rank),
            roughness=np.concatenate([old.roughness, *roughness]),
        )
        self._place.update(zip(terms, range(len(self._place), len(self._place) + len(terms)), strict=True))

    def _block(self, term: Term) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
        if isinstance(term, int):
            return self._singles.functions(term), self._singles.roughness(term)
        if term[0] == term[1]:
            return self._pair_basis().values[term[0]], np.ones(DEGREE)
        self._pairs[term] = pair_functions(self._pair_basis(), *term)
        return self._pairs[term].values, self._pairs[term].roughness

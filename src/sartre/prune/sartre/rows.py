"""Models of one target from the rows of a table, and what all targets share.

Every term, the smooth function of a variable or that of a pair, is made once and its inner products with all others
kept, so that fitting the same terms in other combinations costs nothing that grows with the rows.
"""

from __future__ import annotations

from collections.abc import Collection
from typing import TYPE_CHECKING, NamedTuple, TypeAlias

import numpy as np
from numpy.typing import NDArray
from scipy.linalg import solve_triangular

from sartre.additive.bases.rank_polynomials import DEGREE, PairBasis, PairFunctions, pair_functions
from sartre.additive.design import spans
from sartre.additive.gram import Gram
from sartre.additive.kernels.reml import submatrix
from sartre.additive.lasso import gradient_norms, solve, terms
from sartre.additive.significance import robust_covariance
from sartre.additive.smoothing import Solved, solve_smooths, term_tests
from sartre.data.table import standardise_columns
from sartre.prune.sartre.constants import SAMPLES_PER_LINE, SMOOTHNESS_TOL
from sartre.prune.sartre.pairs import PairResidual
from sartre.prune.sartre.screen import NullNorms, Screened, line_p_values, solve_calibrated

if TYPE_CHECKING:
    from sartre.additive.design import Design

Term: TypeAlias = int | tuple[int, int]  # a variable's own function, or that of a pair
SHARED_BYTES = 1 << 26  # of the functions of all variables and their products: up to 200 variables at n = 2000


class SmoothFunctions:
    """The smooth functions of every variable; all of them and their products at once, if many models share them.

    Parameters
    ----------
    X : array of shape (n, d)
        All variables, standardised.
    smooths : Design
        Their smooth functions, on bins. A straight line that is the only one is taken from `X`: where columns nearly
        determine each other, what bins round off would look like an effect of others.
    shared : bool
        Whether to make all at once, if memory allows.
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

    def inner_products(self, variables: list[int]) -> NDArray[np.float64] | None:
        """Return the mean products of all functions of some variables, if all were made at once."""
        if self._matrix is None:
            return None
        columns = spans(self._smooths.spectrum_start[variables], self._smooths.rank[variables])
        return submatrix(self._matrix, columns, columns)

    def _span(self, j: int) -> slice:
        start = self._smooths.spectrum_start[j]
        return slice(start, start + self._smooths.rank[j])


class SharedRows(NamedTuple):
    """What all targets of a table share.

    X (n, d): the columns, standardised, missing values at the mean. square (d, d): their mean products, where lines of
    all of them can be fitted at once; has_line (d,): which of them have a line (levels have none). smooths: the smooth
    functions of every column, as a design and, in functions, as columns; norms: what their gradients exceed by chance.
    pairs: what pairs are made of, where they are wanted. robust: whether the tests must hold for unequal variances.
    groups (n,): rows that belong together, for tests that are robust.
    """

    X: NDArray[np.float64]
    square: NDArray[np.float64] | None
    has_line: NDArray[np.bool_]
    smooths: Design
    norms: NullNorms
    functions: SmoothFunctions
    pairs: PairBasis | None
    robust: bool
    groups: NDArray[np.intp] | None = None


def share_rows(
    X: NDArray[np.float64],
    smooths: Design,
    pairs: PairBasis | None,
    *,
    robust: bool = False,
    nominal: Collection[int] = (),
    many_targets: bool = True,
    groups: NDArray[np.intp] | None = None,
) -> SharedRows:
    """Prepare all columns of a table, NaN where missing; `nominal` ones are levels.

    `many_targets`: whether there will be many, so that what they have in common is made at once.
    """
    standardised = standardise_columns(X)
    n, d = X.shape
    return SharedRows(
        X=standardised,
        square=standardised.T @ standardised / n if SAMPLES_PER_LINE * d <= n else None,
        has_line=~np.isin(np.arange(d), list(nominal)),
        smooths=smooths,
        norms=NullNorms(smooths.spectra),
        functions=SmoothFunctions(standardised, smooths, shared=many_targets),
        pairs=pairs,
        robust=robust,
        groups=groups,
    )


class RowModel:
    """Models of one target on any terms; an implementation of `backward.TargetModel`.

    As the pair of a variable with itself there is also what its pairs are made of: never in a model, but asked for.

    Parameters
    ----------
    shared : SharedRows
    y : array of shape (n,)
        The target, standardised.
    """

    def __init__(self, shared: SharedRows, y: NDArray[np.float64]) -> None:
        self.shared, self.y, self.n = shared, y, len(y)
        self._place: dict[Term, int] = {}
        self._log_lambda: dict[Term, float] = {}
        self._pairs: dict[Term, PairFunctions] = {}
        self._functions = np.empty((len(y), 64), order="F")
        nothing = np.empty(0, np.intp)
        self._gram = Gram(len(y), np.empty((0, 0)), np.empty((0, 1)), np.ones(1), nothing, nothing, np.empty(0))

    def screened(self, candidates: NDArray[np.intp], level: float, tol: float) -> Screened:
        """Return what the group lasso over smooth functions selects at a level."""
        smooths, y = self.shared.smooths, self.y
        weights = self.null_norms(level)[candidates] / np.sqrt(self.n)
        solution = solve_calibrated(
            lambda penalty, start: solve(smooths, y, candidates, penalty, weights=weights, start=start, tol=tol),
            float(np.std(y)),
        )
        return Screened(terms(smooths, y, solution), solution.gap, solution.converged)

    def lines(self, candidates: NDArray[np.intp]) -> tuple[NDArray[np.intp], NDArray[np.float64]]:
        """Return the candidates that have a line, and the p-value of each in the linear model of all of them."""
        shared, n = self.shared, self.n
        lines = candidates[shared.has_line[candidates]]
        if shared.square is None:
            X = shared.X[:, lines]
            return lines, line_p_values(n, X.T @ X / n, X.T @ self.y / n)
        return lines, line_p_values(n, shared.square[np.ix_(lines, lines)], (shared.X.T @ self.y / n)[lines])

    def null_norms(self, level: float) -> NDArray[np.float64]:
        """Return what the pull of each variable's smooth functions exceeds by chance with this probability, (d,)."""
        return self.shared.norms.at(level)

    def pulls(self, solved: Solved | None, candidates: NDArray[np.intp]) -> NDArray[np.float64]:
        """Return the norms of the candidates' smooth gradients on what a fit leaves, in standard units."""
        residual = self.residual(solved)
        spread = max(float(residual.std()), np.finfo(float).tiny)
        return gradient_norms(self.shared.smooths, residual, candidates) * np.sqrt(self.n) / spread

    def solve(self, chosen: list[Term]) -> Solved:
        """Fit the terms together, smoothness from where it was last."""
        self._add([term for term in chosen if term not in self._place])
        places = np.array([self._place[term] for term in chosen], dtype=np.intp)
        start = np.array([self._log_lambda.get(term, np.inf) for term in chosen])
        solved = solve_smooths(self._gram, 0, places, start, SMOOTHNESS_TOL)
        self._log_lambda.update(zip(chosen, solved.log_lambda.tolist(), strict=True))
        return solved

    def p_values(self, solved: Solved) -> NDArray[np.float64]:
        """Test every term of a fit.

        Where variances may differ, the larger of two: with few samples a variance of each sample's own makes tests too
        bold.
        """
        p_value = term_tests(self._gram, solved).p_value
        if not self.shared.robust:
            return p_value
        functions = self.functions(solved)
        residual, groups = self.y - functions @ solved.beta, self.shared.groups
        covariance = robust_covariance(solved, functions, residual, groups)
        if groups is not None:  # as in Hotelling's test: a variance between groups is estimated from their number
            between = len(np.unique(groups)) - 1.0
            free = max(1.0, between - float(solved.edf.sum()))
            covariance *= between / free
            solved = solved._replace(residual_df=min(solved.residual_df, free))
        return np.maximum(p_value, term_tests(self._gram, solved, covariance).p_value)

    def functions(self, solved: Solved) -> NDArray[np.float64]:
        """Return the functions that a fit uses, shape (n, q)."""
        return self._functions[:, solved.columns]

    def residual(self, solved: Solved | None) -> NDArray[np.float64]:
        """Return what a fit leaves of the target; all of it for None, a model without terms."""
        if solved is None:
            return self.y
        beta = np.zeros(len(self._gram.roughness))
        beta[solved.columns] = solved.beta
        return self.y - self._functions[:, : len(beta)] @ beta

    def residual_of_pair(self, pair: tuple[int, int], solved: Solved) -> PairResidual:
        """Return what a fit leaves of a pair's functions; a small ridge keeps it finite."""
        own: list[Term] = [(j, j) for j in pair]
        self._add([term for term in [*own, pair] if term not in self._place])
        places = [self._place[term] for term in [*own, pair]]
        asked = spans(self._gram.start[places], self._gram.rank[places])
        turn = np.eye(len(asked), 2 * DEGREE + DEGREE**2)
        turn[2 * DEGREE :, 2 * DEGREE :] = self._pairs[pair].back
        matrix, cross, columns = self._gram.matrix, self._gram.cross[:, 0], solved.columns
        square, between = submatrix(matrix, columns, columns), submatrix(matrix, columns, asked)
        inner = np.column_stack([between @ turn, cross[columns] - square @ solved.beta])
        ridge = 1e-8 * max(1.0, square.max(initial=0.0))
        half = full = inner  # SciPy before 1.14 solves no triangle of size zero
        if len(columns):
            factor = np.linalg.cholesky(square + ridge * np.eye(len(square)))
            half = solve_triangular(factor, inner, lower=True, check_finite=False)
            full = solve_triangular(factor, half, lower=True, trans=1, check_finite=False)
        projected = half.T @ half + ridge * (full.T @ full)
        by_sample = None
        if self.shared.robust:
            table = np.column_stack([self._functions[:, asked] @ turn, self.residual(solved)])
            by_sample = table - self.functions(solved) @ full
        return PairResidual(
            square=turn.T @ submatrix(matrix, asked, asked) @ turn - projected[:-1, :-1],
            cross=turn.T @ (cross[asked] - between.T @ solved.beta) - projected[:-1, -1],
            by_sample=by_sample,
            groups=self.shared.groups,
        )

    def orders(self, pair: tuple[int, int]) -> NDArray[np.float64]:
        """Return the orders of the products of a pair, (16,)."""
        return np.outer(*(self._pair_basis().orders[j] for j in pair)).ravel()

    def _pair_basis(self) -> PairBasis:
        if self.shared.pairs is None:
            raise ValueError("A pair needs basis functions.")
        return self.shared.pairs

    def _add(self, new_terms: list[Term]) -> None:
        """Make the functions of new terms, and their inner products with all that were made before."""
        if not new_terms:
            return
        blocks, roughness = zip(*(self._block(term) for term in new_terms), strict=True)
        old, rank = self._gram, np.array([len(each) for each in roughness], dtype=np.intp)
        first, last = len(old.roughness), len(old.roughness) + int(rank.sum())
        if last > self._functions.shape[1]:
            wider = np.empty((self.n, 2 * last), order="F")
            wider[:, :first] = self._functions[:, :first]
            self._functions = wider
        added = np.concatenate(blocks, axis=1, out=self._functions[:, first:last])
        together = [*self._place, *new_terms]
        variables = [term for term in together if isinstance(term, int)]
        matrix = self.shared.functions.inner_products(variables) if len(variables) == len(together) else None
        if matrix is None:
            matrix = np.empty((last, last))
            matrix[:first, :first] = old.matrix
            matrix[:first, first:] = self._functions[:, :first].T @ added / self.n
            matrix[first:, :first] = matrix[:first, first:].T
            matrix[first:, first:] = added.T @ added / self.n
        self._gram = old._replace(
            matrix=matrix,
            cross=np.append(old.cross, (added.T @ self.y / self.n)[:, None], axis=0),
            start=np.append(old.start, first + np.cumsum(rank) - rank),
            rank=np.append(old.rank, rank),
            roughness=np.concatenate([old.roughness, *roughness]),
        )
        self._place.update(zip(new_terms, range(len(self._place), len(together)), strict=True))

    def _block(self, term: Term) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
        if isinstance(term, int):
            return self.shared.functions.functions(term), self.shared.functions.roughness(term)
        if term[0] == term[1]:
            return self._pair_basis().values[term[0]], np.ones(DEGREE)
        self._pairs[term] = pair_functions(self._pair_basis(), *term)
        return self._pairs[term].values, self._pairs[term].roughness

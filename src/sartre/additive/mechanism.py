"""A regression that can be asked at new values: a smooth function of every column, and one of every pair that is named.

The smooths are those of `splines.py`. A pair has the product of its two straight lines, which is not penalised, and
the products of rank polynomials of `interactions.py`, which are: the product alone is exact for y = a b, and the
polynomials of ranks follow other shapes without being led by outliers. How much each term bends comes from REML.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from sartre.additive.interactions import PairBasis, PairFunctions, pair_basis, pair_functions, products
from sartre.additive.screening import basis_size, strongest
from sartre.additive.smoothing import Gram, solve_smooths
from sartre.additive.splines import RotatedSpline, rotated, spline

if TYPE_CHECKING:
    from collections.abc import Sequence

    from numpy.typing import NDArray

N_SPLINES = 10


class Ranked(NamedTuple):
    """What a column brings into pairs: at its distinct values (k,), its straight line and rank polynomials (k, 5)."""

    values: NDArray[np.float64]
    table: NDArray[np.float64]

    def __call__(self, x: NDArray[np.float64]) -> NDArray[np.float64]:
        """Return line and polynomials at new values, shape (len(x), 5): straight in between, constant beyond."""
        return np.column_stack([np.interp(x, self.values, column) for column in self.table.T])


class PairTerm(NamedTuple):
    """The functions of two columns: the product of their lines, centred, then those of their rank polynomials."""

    sides: tuple[Ranked, Ranked]
    mean: float
    functions: PairFunctions

    @property
    def roughness(self) -> NDArray[np.float64]:
        """Roughness of each function, 0 for the product of the lines."""
        return np.append(0.0, self.functions.roughness)

    def __call__(self, x: NDArray[np.float64]) -> NDArray[np.float64]:
        """Return all functions at the rows of (m, 2) values, shape (m, k)."""
        first, second = (side(column) for side, column in zip(self.sides, x.T, strict=True))
        smooth = (products(first[:, 1:], second[:, 1:]) - self.functions.mean) @ self.functions.vectors
        return np.column_stack([first[:, 0] * second[:, 0] - self.mean, smooth])


class SmoothTerm(NamedTuple):
    """The functions of one column."""

    spline: RotatedSpline

    @property
    def roughness(self) -> NDArray[np.float64]:
        """Roughness of each function, 0 for the straight line."""
        return self.spline.rotation.roughness

    def __call__(self, x: NDArray[np.float64]) -> NDArray[np.float64]:
        """Return all functions at the rows of (m, 1) values, shape (m, k)."""
        return self.spline(x[:, 0])


class Part(NamedTuple):
    """One term of a mechanism: its columns, its functions and their coefficients, in the unit of the target."""

    columns: tuple[int, ...]
    term: SmoothTerm | PairTerm
    coefficients: NDArray[np.float64]


@dataclass(frozen=True, eq=False)
class Mechanism:
    """A fitted function of p columns, in raw units: call it with new rows.

    Beyond the outermost training values the functions of one column go on straight, those of a pair stay constant.

    Attributes
    ----------
    intercept : float
        Mean of the target.
    parts : tuple of Part
        What is added to it, each with mean zero over the training rows.

    Examples
    --------
    >>> x = np.linspace(0, 1, 50)
    >>> mechanism = fit_mechanism(x[:, None], 3 + 2 * x)
    >>> mechanism(np.array([[0.5], [10.0]])).round(6)
    array([ 4., 23.])
    """

    intercept: float
    parts: tuple[Part, ...]

    def __call__(self, X: NDArray[np.float64]) -> NDArray[np.float64]:
        """Return the function at the rows of X (m, p), shape (m,)."""
        value = np.full(len(X), self.intercept)
        for columns, term, coefficients in self.parts:
            value += term(X[:, columns]) @ coefficients
        return value


def fit_mechanism(X: NDArray[np.float64], y: NDArray[np.float64], pairs: Sequence[tuple[int, int]] = ()) -> Mechanism:
    """Regress a target on smooth functions of all columns and of some pairs of them.

    Parameters
    ----------
    X : array of shape (n, p)
        Columns without any variation have no effect; of more than n / 4 terms the strongest n / 4 are fitted.
    y : array of shape (n,)
    pairs : sequence of pairs of columns

    Returns
    -------
    Mechanism

    Examples
    --------
    >>> a, b = np.random.default_rng(0).normal(size=(2, 300))
    >>> product = fit_mechanism(np.column_stack([a, b]), a * b, pairs=[(0, 1)])
    >>> product(np.array([[1.0, 1.0], [1.0, -1.0]])).round(3)
    array([ 1., -1.])
    """
    intercept = float(y.mean())
    width = float(np.ptp(y)) or 1.0
    spread = width * float(np.std((y - intercept) / width))  # in units of the width: squares cannot overflow
    terms = _terms(X, pairs)
    if spread <= 4 * np.finfo(float).eps * abs(intercept) or not terms:  # a constant, up to the last digits
        return Mechanism(intercept, ())
    functions = [term(X[:, columns]) for columns, term in terms]
    rank = np.array([block.shape[1] for block in functions], dtype=np.intp)
    together = np.hstack(functions)
    gram = Gram(
        n=len(y),
        matrix=together.T @ together / len(y),
        cross=together.T @ (y - intercept)[:, None] / (len(y) * spread),
        start=np.cumsum(rank) - rank,
        rank=rank,
        roughness=np.concatenate([term.roughness for _, term in terms]),
    )
    chosen = np.flatnonzero(strongest(gram, 0, np.arange(len(terms))))
    solved = solve_smooths(gram, 0, chosen)
    beta = np.zeros(together.shape[1])
    beta[solved.columns] = spread * solved.beta
    blocks = np.split(beta, gram.start[1:])
    return Mechanism(intercept, tuple(Part(terms[k][0], terms[k][1], blocks[k]) for k in chosen.tolist()))


def _terms(
    X: NDArray[np.float64], pairs: Sequence[tuple[int, int]]
) -> list[tuple[tuple[int, ...], SmoothTerm | PairTerm]]:
    """Return the columns and the functions of every term; none of a constant column."""
    n, p = X.shape
    size = basis_size(n, p + len(pairs), N_SPLINES)
    smooths = [rotated(spline(column, size), column) for column in X.T]
    varying = [len(smooth.rotation.roughness) > 0 for smooth in smooths]
    terms: list[tuple[tuple[int, ...], SmoothTerm | PairTerm]] = [
        ((j,), SmoothTerm(smooths[j])) for j in range(p) if varying[j]
    ]
    paired = sorted({j for pair in pairs for j in pair})
    basis = pair_basis(X[:, paired])
    for a, b in pairs:
        if varying[a] and varying[b]:
            terms.append(((a, b), _pair_term(X[:, [a, b]], basis, paired.index(a), paired.index(b))))
    return terms


def _pair_term(X: NDArray[np.float64], basis: PairBasis, first: int, second: int) -> PairTerm:
    a, b = X.T
    sides = _ranked(a, basis.values[first]), _ranked(b, basis.values[second])
    mean = float(np.mean(sides[0](a)[:, 0] * sides[1](b)[:, 0]))
    return PairTerm(sides, mean, pair_functions(basis, first, second)._replace(values=np.empty((0, 0))))


def _ranked(x: NDArray[np.float64], polynomials: NDArray[np.float64]) -> Ranked:
    values, rows = np.unique(x, return_index=True)
    width = values[-1] - values[0]
    line = (values - x.mean()) / (width * np.std((x - x.mean()) / width))
    return Ranked(values, np.column_stack([line, polynomials[rows]]))

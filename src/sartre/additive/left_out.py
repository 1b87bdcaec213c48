"""Additive regressions of one table's columns, with the residual of each row by the fit without that row.

For a penalised least-squares fit this needs no further fit: with leverage h_i, the residual that row i would have if it
were left out is e_i / (1 - h_i), with the smoothing parameters kept.
"""

from __future__ import annotations

from collections.abc import Collection, Sequence
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from sartre.additive.bases.rank_polynomials import pair_basis, pair_functions
from sartre.additive.gram import gram_of_functions
from sartre.additive.mechanism import N_SPLINES, column_term
from sartre.additive.smoothing import solve_smooths
from sartre.data.table import standardise

MOST_LEVERAGE = 0.9  # of a row: beyond, its residual would be blown up more than tenfold


class TermFunctions(NamedTuple):
    """The functions of one term at the rows of a table, orthonormal: values (n, k) and their roughness (k,)."""

    values: NDArray[np.float64]
    roughness: NDArray[np.float64]

    @property
    def line(self) -> TermFunctions:
        """The functions that are not penalised: the straight line of a number, or the levels of a category."""
        return TermFunctions(self.values[:, self.roughness == 0], self.roughness[self.roughness == 0])


def functions_of(column: NDArray[np.float64], *, nominal: bool = False, n_splines: int = N_SPLINES) -> TermFunctions:
    """Return the functions of a column (n,) without missing values.

    Examples
    --------
    >>> functions_of(np.linspace(-1, 1, 50)).line.values.shape
    (50, 1)
    """
    term = column_term(column, n_splines, nominal=nominal)
    return TermFunctions(term(column[:, None]), term.roughness)


def functions_of_pair(
    first: NDArray[np.float64], second: NDArray[np.float64], nominal: Collection[int] = ()
) -> TermFunctions:
    """Return the functions of two columns beyond those of each; `nominal` has 0 or 1 for one whose values are levels.

    Examples
    --------
    >>> a, b = np.random.default_rng(0).normal(size=(2, 100))
    >>> functions_of_pair(a, b).values.shape
    (100, 16)
    """
    found = pair_functions(pair_basis(np.column_stack([first, second]), nominal), 0, 1)
    return TermFunctions(found.values, found.roughness)


def left_out_residuals(y: NDArray[np.float64], terms: Sequence[TermFunctions]) -> NDArray[np.float64]:
    """Return what each row of a target (n,) is missed by if the fit leaves it out, in the target's deviations.

    Examples
    --------
    >>> x = np.linspace(-1, 1, 200)
    >>> residuals = left_out_residuals(np.sin(3 * x), [functions_of(x)])
    >>> bool(np.abs(residuals).max() < 0.05)
    True
    >>> left_out_residuals(np.array([1.0, -1.0]), [])
    array([ 2., -2.])
    """
    y, n = standardise(y), len(y)
    used = [term for term in terms if term.values.shape[1]]  # a constant column has none
    if not used:
        return y * n / (n - 1)
    gram = gram_of_functions([term.values for term in used], [term.roughness for term in used], y)
    solved = solve_smooths(gram, 0, np.arange(len(used)))
    design = np.hstack([term.values for term in used])[:, solved.columns]
    leverage = (1 + np.einsum("ij,ij->i", design @ solved.inverse, design)) / n
    return (y - design @ solved.beta) / (1 - np.minimum(leverage, MOST_LEVERAGE))

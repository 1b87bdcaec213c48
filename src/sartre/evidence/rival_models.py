"""Three models of a learnt edge x -> y: the edge, the edge turned round, and a hidden common cause.

A cause acts through all of x. A hidden common cause of x and y shows in y only through what the causes of x leave
unexplained of x, its residual r_x:

- **edge**: y is a function of x and its other parents;
- **turned**: x is a function of y and its parents, y of its other parents;
- **hidden**: y is a function of r_x and its other parents, x of r_y and its parents.

A parent of x that is learnt to be a parent of y, too, may be there only to make up for x in place of r_x. Where r_x
makes its curve superfluous, the edge must do without this curve as well: only its straight line remains in both
models. Lines are left to the edge, because two linear effects that nearly cancel look like a hidden cause.

Every comparison is the mean difference of the log densities of the rows, by fits that leave the row out, over its
standard error.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from functools import cached_property
from typing import TYPE_CHECKING, NamedTuple

import numpy as np
from numpy.typing import NDArray

from sartre.additive.left_out import TermFunctions, functions_of, functions_of_pair, left_out_residuals

if TYPE_CHECKING:
    from sartre.data.table import Table

TAILS = 5.0  # degrees of freedom of the density of the noise: heavy tails do not decide a comparison
SCALE_STEPS = 8  # of the iteration for its scale
NATS_PER_CHOICE = 1.0  # times log(n): what a choice between functions must gain, or may cost
LEAST_ERROR = 1.0  # nats, added to the standard error of a sum: models that hardly differ are alike
MUCH_WORSE = 3.0  # standard errors: what a hidden cause may lose more easily to the edge with all its parents
AS_COLUMN, AS_LINE, AS_RESIDUAL = "column", "line", "residual"


class Term(NamedTuple):
    """What a target is a function of: a column, its straight line, or its residual given other terms."""

    kind: str
    column: int
    given: tuple[Term, ...] = ()


class Comparison(NamedTuple):
    """How much better a hidden common cause describes two variables than an edge does, in standard errors.

    lean: than the edge, with the same functions of all other parents. whole: than the edge with all its parents.
    turned: than the edge turned round.
    """

    lean: float
    whole: float
    turned: float

    @property
    def statistic(self) -> float:
        """The smaller one; a hidden cause may be a little worse than the edge with all its parents."""
        return min(self.lean, self.turned, self.whole + MUCH_WORSE)


class Rivals:
    """The models of the edges of a graph over the columns of one table.

    Parameters
    ----------
    table : Table
        Without missing values.
    parents : sequence of d lists of columns
    pairs : mapping
        By target, the pairs of its parents that interact.
    residuals : mapping
        By column, the residuals of mechanisms that are no sums of such functions.

    Examples
    --------
    >>> from sartre.data.table import Table
    >>> z, u, noise, w, more = np.random.default_rng(0).normal(size=(5, 1000))
    >>> x, y = np.sin(2 * z) + u + noise / 2, np.sin(2 * w) + u + more / 2
    >>> table = Table(np.column_stack([z, w, x, y]), ("z", "w", "x", "y"))
    >>> confounded = Rivals(table, [[], [], [0], [0, 1, 2]])
    >>> bool(confounded.compare(2, 3).statistic > 2)
    True
    """

    def __init__(
        self,
        table: Table,
        parents: Sequence[Sequence[int]],
        pairs: Mapping[int, Iterable[tuple[int, int]]] | None = None,
        residuals: Mapping[int, NDArray[np.float64]] | None = None,
    ) -> None:
        self._table, self._parents, self._pairs = table, parents, pairs or {}
        self._known = {Term(AS_RESIDUAL, j, self._terms(parents[j])): value for j, value in (residuals or {}).items()}
        self._functions: dict[Term | tuple[Term, Term], TermFunctions] = {}
        self._residuals: dict[tuple[int, tuple[Term, ...]], NDArray[np.float64]] = {}

    def compare(self, x: int, y: int) -> Comparison:
        """Compare the models of the edge x -> y; x must have parents."""
        causes, direct = self._terms(self._parents[x]), Term(AS_COLUMN, x)
        others = self._terms(p for p in self._parents[y] if p != x)
        whole = self._density(y, (*others, direct))
        others = self._without_curves(y, others, Term(AS_RESIDUAL, x, causes))
        hidden = self._density(y, (*others, Term(AS_RESIDUAL, x, causes)))
        turned = self._density(x, (*causes, Term(AS_COLUMN, y)))
        back = self._density(x, (*causes, self._residual_of_effect(x, causes, y, others)))
        return Comparison(
            lean=self._ratio(hidden - self._density(y, (*others, direct))),
            whole=self._ratio(hidden - whole),
            turned=self._ratio(back - turned),
        )

    def advantage(self, x: int, y: int) -> float:
        """Return by how many standard errors y is described better with its parent x than without."""
        others = self._terms(p for p in self._parents[y] if p != x)
        return self._ratio(self._density(y, (*others, Term(AS_COLUMN, x))) - self._density(y, others))

    def _without_curves(self, y: int, others: tuple[Term, ...], residual: Term) -> tuple[Term, ...]:
        """Return the parents of y, with lines only for those parents of x whose curves the residual replaces."""
        common = [term for term in others if term in residual.given]
        best, allowed = self._density(y, (*others, residual)).sum(), NATS_PER_CHOICE * np.log(self._n)
        while common:
            tried = []
            for term in common:
                straight = tuple(each._replace(kind=AS_LINE) if each == term else each for each in others)
                tried.append((self._density(y, (*straight, residual)).sum(), straight, term))
            density, straight, term = max(tried)
            if density < best - allowed:
                break
            best, others = density, straight
            common.remove(term)
        return others

    def _residual_of_effect(self, x: int, causes: tuple[Term, ...], y: int, others: tuple[Term, ...]) -> Term:
        """Return the residual of y that x follows best: a learnt parent of y may share the hidden cause."""
        best, needed = Term(AS_RESIDUAL, y, others), NATS_PER_CHOICE * np.log(self._n)
        density = self._density(x, (*causes, best)).sum()
        while len(best.given) > 1:
            fewer = [best._replace(given=best.given[:k] + best.given[k + 1 :]) for k in range(len(best.given))]
            reached, term = max((self._density(x, (*causes, each)).sum(), each) for each in fewer)
            if reached < density + needed:
                break
            density, best = reached, term
        return best

    def _density(self, target: int, terms: tuple[Term, ...]) -> NDArray[np.float64]:
        return log_density(self._left_out(target, terms))

    def _left_out(self, target: int, terms: tuple[Term, ...]) -> NDArray[np.float64]:
        key = target, tuple(sorted(terms))
        if key not in self._residuals:
            functions = [self._functions_of(term) for term in key[1]]
            bent = {term.column: term for term in terms if term.kind != AS_LINE}
            together = [(bent[a], bent[b]) for a, b in self._pairs.get(target, ()) if a in bent and b in bent]
            functions += [self._functions_of_pair(*pair) for pair in together]
            y = self._table.values[:, target]
            self._residuals[key] = left_out_residuals(y, [*self._environments, *functions])
        return self._residuals[key]

    def _functions_of(self, term: Term) -> TermFunctions:
        if term not in self._functions:
            nominal = term.kind != AS_RESIDUAL and term.column in self._table.nominal
            found = functions_of(self._values(term), nominal=nominal)
            self._functions[term] = found.line if term.kind == AS_LINE else found
        return self._functions[term]

    def _functions_of_pair(self, first: Term, second: Term) -> TermFunctions:
        if (first, second) not in self._functions:
            nominal = [k for k, term in enumerate((first, second)) if term.column in self._table.nominal]
            self._functions[first, second] = functions_of_pair(self._values(first), self._values(second), nominal)
        return self._functions[first, second]

    def _values(self, term: Term) -> NDArray[np.float64]:
        if term.kind != AS_RESIDUAL:
            return self._table.values[:, term.column]
        return self._known[term] if term in self._known else self._left_out(term.column, term.given)

    @cached_property
    def _environments(self) -> list[TermFunctions]:
        """What environments shift is no hidden cause: every model has their indicators."""
        design = self._table.design
        if design is None or not design.environments:
            return []
        return [functions_of(np.unique(design.labels, return_inverse=True)[1].astype(np.float64), nominal=True)]

    def _ratio(self, differences: NDArray[np.float64]) -> float:
        """Return the mean of a number per row, or per group of rows that belong together, over its standard error."""
        groups = None if self._table.design is None else self._table.design.groups
        sums = differences
        if groups is not None:
            sums = np.bincount(np.unique(groups, return_inverse=True)[1], weights=differences)
        return float(sums.sum() / np.hypot(np.sqrt(len(sums)) * sums.std(), LEAST_ERROR))

    def _terms(self, columns: Iterable[int]) -> tuple[Term, ...]:
        return tuple(Term(AS_COLUMN, column) for column in columns)

    @property
    def _n(self) -> int:
        return len(self._table.values)


def log_density(residuals: NDArray[np.float64]) -> NDArray[np.float64]:
    """Return the log densities of residuals by a t distribution with five degrees of freedom and the best scale.

    Examples
    --------
    >>> residuals = np.random.default_rng(0).standard_t(5, size=10_000)
    >>> bool(abs(log_density(3 * residuals).mean() + np.log(3) - log_density(residuals).mean()) < 1e-6)
    True
    """
    square = residuals**2
    scale = max(float(np.median(square)) / 0.53, 1e-300)  # 0.53 is the median of the square of a t variable
    for _ in range(SCALE_STEPS):
        scale = max(float(np.mean((TAILS + 1) / (TAILS + square / scale) * square)), 1e-300)
    return -0.5 * np.log(scale) - (TAILS + 1) / 2 * np.log1p(square / (TAILS * scale))

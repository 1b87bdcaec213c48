"""The fitted f(parents) as a Gaussian process, in raw units, defined for any values."""

from __future__ import annotations

from collections.abc import Collection
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.linalg import cho_factor, cho_solve

from sartre.additive.mechanism import N_SPLINES, ColumnTerm, Curve, column_term
from sartre.data.row_sample import drawn_rows
from sartre.data.table import mean_and_spread, standardise
from sartre.process.constants import FIT_STEPS, MOST_ROWS_FITTED, REFIT_STEPS
from sartre.process.fits import ProcessFits, even_weights, lifted
from sartre.process.likelihood import (
    Candidate,
    Inputs,
    Weights,
    covariance_between,
    gathered,
    joint_levels,
)
from sartre.process.on_gpu import process_on


@dataclass(frozen=True, eq=False)
class ProcessMechanism:
    """A fitted function of p columns at once, in raw units; an implementation of `sartre.steps.Mechanism`.

    A process is a sum of one kernel function per row, so it keeps the parents' values at the rows that it was fitted
    to, 2,000 at most. Far from them the joint part and the curves return to zero or continue as straight lines.

    Attributes
    ----------
    X, y, counts : arrays of shapes (m, p), (m,), (m,)
        The distinct rows that it was fitted to, and how often each occurs.
    terms : tuple of ColumnTerm
        The functions of every column.
    nominal : tuple of ints
        Columns whose values are levels.
    weights : Weights
    coefficients, left_out : arrays of shape (m,)
        Coefficient of every row, and what it is missed by if the process is fitted without it.

    Examples
    --------
    >>> a, b, c = X = np.random.default_rng(0).normal(size=(3, 300))
    >>> mechanism = fit_process(X.T, 10 + np.sin(a) * np.cos(b) * np.tanh(c))
    >>> mechanism.predict(np.array([[1.0, 0.0, 1.0]])).round(1)
    array([10.6])
    """

    X: NDArray[np.float64]
    y: NDArray[np.float64]
    counts: NDArray[np.float64]
    terms: tuple[ColumnTerm, ...]
    nominal: tuple[int, ...]
    weights: Weights
    coefficients: NDArray[np.float64]
    left_out: NDArray[np.float64]

    @property
    def pairs(self) -> tuple[tuple[int, int], ...]:
        """The two columns with the largest weights in the joint part, if there are two."""
        joint = np.flatnonzero(self.weights.act_jointly)
        heaviest = joint[np.argsort(-self.weights.within[joint], kind="stable")[:2]]
        return () if len(heaviest) < 2 else (tuple(sorted(heaviest.tolist())),)

    def refit(self, X: NDArray[np.float64], y: NDArray[np.float64]) -> ProcessMechanism:
        """Fit a function of the same columns, with the same weights, to other rows or units."""
        return with_weights(X, y, self.nominal, self.weights)

    def predict(self, X: NDArray[np.float64]) -> NDArray[np.float64]:
        """Evaluate the function at the rows of X (m, p), shape (m,)."""
        mean, spread = mean_and_spread(self.y)
        value = np.empty(len(X))
        for first in range(0, len(X), MOST_ROWS_FITTED):
            rows = slice(first, first + MOST_ROWS_FITTED)
            value[rows] = covariance_between(self.weights, self._inputs(X[rows]), self._own) @ self.coefficients
        return mean + spread * value

    def residuals(self, X: NDArray[np.float64], y: NDArray[np.float64]) -> NDArray[np.float64]:
        """Return the residuals of a target (m,) at the rows of X (m, p).

        At the rows that it was fitted to, they are those of a process without that row: a process follows its own rows
        closely, and what it leaves of them is much less than the noise.
        """
        residual = y - self.predict(X)
        own = {row.tobytes(): k for k, row in enumerate(np.column_stack([self.X, self.y]))}
        for k, row in enumerate(np.column_stack([X, y])):
            if (place := own.get(row.tobytes())) is not None:
                residual[k] = self.left_out[place]
        return residual

    def curve(self, parent: int, x: NDArray[np.float64]) -> Curve:
        """Return the effect of one parent at values x (m,), the others at their medians, with standard errors."""
        at = self._typical(len(x))
        at[:, parent] = x
        mean = self.predict(self._with_values(parent)).mean()
        inputs, spread = self._inputs(at), mean_and_spread(self.y)[1]
        between = covariance_between(self.weights, inputs, self._own)
        covariance = covariance_between(self.weights, self._own, self._own) + np.diag(self.weights.noise / self.counts)
        factor: Any = cho_factor(covariance, lower=True)
        additive = np.append(self.weights.curve, self.weights.line)[inputs.function_owner]
        own = self.weights.joint + inputs.functions**2 @ additive
        variance = own - np.einsum("ij,ji->i", between, cho_solve(factor, between.T))
        return Curve(self.predict(at) - mean, spread * np.sqrt(np.maximum(variance, 0.0)))

    def surface(self, pair: tuple[int, int], x: NDArray[np.float64]) -> NDArray[np.float64]:
        """Return the effect of two parents beyond their separate effects at the rows of x (m, 2), others at medians."""
        first, second = pair
        both, one, other = (self._typical(len(x)) for _ in range(3))
        both[:, first] = one[:, first] = x[:, 0]
        both[:, second] = other[:, second] = x[:, 1]
        neither = self.predict(self._typical(1))
        return self.predict(both) - self.predict(one) - self.predict(other) + neither

    def loss_without(self, parent: int) -> float:
        """Return the share of the target's variance that is lost without a parent, at rows that are left out."""
        others = np.delete(np.arange(self.X.shape[1]), parent)
        fits = ProcessFits(self._inputs(self.X), standardise(self.y), 1 / self.counts)
        fitted = fits.fit(others, lifted(self.weights.of(others)), REFIT_STEPS)
        spread = mean_and_spread(self.y)[1] or 1.0
        lost = np.mean(fitted.left_out.astype(np.float64) ** 2) - np.mean((self.left_out / spread) ** 2)
        return float(np.clip(lost, 0.0, 1.0))

    @property
    def _own(self) -> Inputs:
        return self._inputs(self.X)

    def _inputs(self, X: NDArray[np.float64]) -> Inputs:
        return _inputs(X, self.X, self.terms, self.nominal)

    def _typical(self, m: int) -> NDArray[np.float64]:
        """Return m rows of the columns' medians, or of their most frequent levels."""
        row = np.nanmedian(self.X, axis=0)
        for j in self.nominal:
            levels, counts = np.unique(self.X[~np.isnan(self.X[:, j]), j], return_counts=True)
            row[j] = levels[counts.argmax()]
        return np.tile(row, (m, 1))

    def _with_values(self, parent: int) -> NDArray[np.float64]:
        at = self._typical(len(self.X))
        at[:, parent] = self.X[:, parent]
        return at


def fit_process(
    X: NDArray[np.float64],
    y: NDArray[np.float64],
    nominal: Collection[int] = (),
    start: Weights | None = None,
    device: Any = None,
) -> ProcessMechanism:
    """Regress a target on all columns at once.

    Parameters
    ----------
    X : array of shape (n, p)
        NaN where missing, p at least 1. Of more than 2,000 rows a sample is used.
    y : array of shape (n,)
        Without missing values.
    nominal : collection of ints
        Columns whose values are levels.
    start : Weights, optional
        From which the fit starts, near to its end.
    device : optional
        As in `ProcessFits`.
    """
    X, y, counts = _distinct(X, y)
    p = X.shape[1]
    inputs, target = _inputs(X, X, _terms(X, nominal), nominal), standardise(y)
    begin, steps = (even_weights(p), FIT_STEPS) if start is None else (lifted(start), REFIT_STEPS)
    single = inputs._replace(columns=inputs.columns.astype(np.float32), functions=inputs.functions.astype(np.float32))
    weights = ProcessFits(single, target, 1 / counts, device).fit(np.arange(p), begin, steps).weights
    return with_weights(X, y, nominal, weights, device)


def with_weights(
    X: NDArray[np.float64], y: NDArray[np.float64], nominal: Collection[int], weights: Weights, device: Any = None
) -> ProcessMechanism:
    """Regress a target on all columns at once, with given weights.

    Rows that repeat another, as in a bootstrap sample, count as one whose noise has the variance of their mean: as rows
    of their own, they would say that there is no noise.
    """
    X, y, counts = _distinct(X, y)
    terms = _terms(X, nominal)
    process = process_on(device, _inputs(X, X, terms, nominal), standardise(y), 1 / counts)
    alpha = process.coefficients(weights).astype(np.float64)
    left_out = mean_and_spread(y)[1] * process.evaluate(weights).left_out.astype(np.float64)
    return ProcessMechanism(X, y, counts, terms, tuple(nominal), weights, alpha, left_out)


def _distinct(
    X: NDArray[np.float64], y: NDArray[np.float64]
) -> tuple[NDArray[np.float64], NDArray[np.float64], NDArray[np.float64]]:
    """Return the distinct rows, 2,000 at most, and how often each occurs."""
    rows, counts = np.unique(np.column_stack([X, y]), axis=0, return_counts=True)
    if len(rows) > MOST_ROWS_FITTED:
        drawn = drawn_rows(rows, 0, MOST_ROWS_FITTED)
        rows, counts = rows[drawn], counts[drawn]
    return np.ascontiguousarray(rows[:, :-1]), np.ascontiguousarray(rows[:, -1]), counts.astype(np.float64)


def _terms(X: NDArray[np.float64], nominal: Collection[int]) -> tuple[ColumnTerm, ...]:
    return tuple(column_term(column, N_SPLINES, nominal=j in nominal) for j, column in enumerate(X.T))


def _inputs(
    X: NDArray[np.float64],
    training: NDArray[np.float64],
    terms: Collection[ColumnTerm],
    nominal: Collection[int],
) -> Inputs:
    """Return what a process sees of the rows of X, standardised by the rows that it was fitted to."""
    seen = []
    for j, (column, term) in enumerate(zip(X.T, terms, strict=True)):
        functions = term(column[:, None])
        if j in nominal:
            columns = joint_levels(functions)
        else:
            mean, spread = mean_and_spread(training[~np.isnan(training[:, j]), j])
            columns = np.nan_to_num((column[:, None] - mean) / (spread or 1.0))
        seen.append(Candidate(columns, functions, term.roughness))
    return gathered(seen, np.float64)

"""Edges whose effect is another one in an environment that acts neither on the cause nor on the effect.

What acts elsewhere changes nothing about an effect. Where it seems to, something unseen that it acts on takes part: in
a regression on all parents of the effect, the product of the environment's indicator and of the parent has a
coefficient.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence

import numpy as np
from numpy.typing import NDArray
from scipy.special import chdtrc

from sartre.additive.bases.rank_polynomials import rank_polynomials
from sartre.additive.left_out import functions_of, functions_of_pair
from sartre.data.table import Table, standardise

FEWEST_IN_EACH = 100  # rows of the environment, and others
DEGREES = 2  # polynomials of a parent's ranks whose coefficients may change
LEAST_SHARE = 1e-8  # of the largest singular value: what is less is rounding


def changed_effects(
    table: Table,
    parents: Sequence[Sequence[int]],
    targets: Mapping[str, set[str]],
    pairs: Mapping[int, Sequence[tuple[int, int]]] | None = None,
) -> Iterator[tuple[tuple[int, int], float]]:
    """Yield edges and the p-value of a change of their effect, times the number of tests of all edges.

    Parameters
    ----------
    table : Table
        With a design that has environments.
    parents : sequence of d lists of columns
    targets : mapping
        What is known to be acted on in each environment; where nothing is, nothing is tested.
    pairs : mapping, optional
        By effect, the pairs of its parents that interact.

    Examples
    --------
    >>> from sartre.data.row_design import read_design
    >>> x, noise, other = np.random.default_rng(0).normal(size=(3, 600))
    >>> where = np.repeat(["usual", "drug"], 300)
    >>> X = np.column_stack([x, np.where(where == "drug", -1, 1) * x + noise, other])
    >>> design = read_design(X, ["x", "y", "z"], where, {"drug": ["z"]})
    >>> found = list(changed_effects(Table(X, ("x", "y", "z"), design=design), [[], [0], []], {"drug": {"z"}}))
    >>> found[0][0], found[0][1] < 1e-9
    ((0, 1), True)
    """
    found = [
        (edge, p_value)
        for environment, acted in targets.items()
        if acted
        for y in range(len(parents))
        if table.names[y] not in acted
        for edge, p_value in _changes(table, parents[y], y, environment, (pairs or {}).get(y, ()))
        if table.names[edge[0]] not in acted
    ]
    for edge, p_value in found:
        yield edge, min(1.0, p_value * len(found))


def _changes(
    table: Table, parents: Sequence[int], y: int, environment: str, pairs: Sequence[tuple[int, int]]
) -> list[tuple[tuple[int, int], float]]:
    """Test the effects of all numeric parents on y; both parts need enough rows."""
    design, numbers = table.design, [j for j in parents if j not in table.levels]
    if design is None or not numbers or y in table.levels:
        return []
    rows = np.flatnonzero(table.rows_of(y) & ~table.missing[:, list(parents)].any(axis=1))
    inside = design.labels[rows] == environment
    if min(inside.sum(), (~inside).sum()) < FEWEST_IN_EACH:
        return []
    values = table.values[rows]
    known = [functions_of(values[:, j], nominal=j in table.nominal).values for j in parents]
    known += [functions_of_pair(values[:, a], values[:, b]).values for a, b in pairs]
    labels = np.unique(design.labels[rows], return_inverse=True)[1].astype(np.float64)
    known.append(functions_of(labels, nominal=True).values)  # what environments shift is no change
    changes = [_within(values[:, j], inside) for j in numbers]
    start = np.cumsum([0, *(change.shape[1] for change in changes)])
    beta, covariance = _robust_fit(np.hstack(known), np.hstack(changes), standardise(values[:, y]))
    tested = []
    for k, j in enumerate(numbers):
        own = slice(start[k], start[k + 1])
        statistic = beta[own] @ np.linalg.pinv(covariance[own, own]) @ beta[own]
        tested.append(((j, y), float(chdtrc(changes[k].shape[1], statistic))))
    return tested


def _within(column: NDArray[np.float64], inside: NDArray[np.bool_]) -> NDArray[np.float64]:
    """Return polynomials of a column's ranks in the rows of an environment, and zero elsewhere."""
    return np.where(inside[:, None], rank_polynomials(column[:, None])[0][:, :DEGREES], 0.0)


def _robust_fit(
    known: NDArray[np.float64], changes: NDArray[np.float64], y: NDArray[np.float64]
) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    """Regress y on changes given what is known; return coefficients and a covariance for any variances (HC3)."""
    n = len(y)
    left, singular, _ = np.linalg.svd(np.column_stack([np.ones(n), known]), full_matrices=False)
    basis = left[:, singular > LEAST_SHARE * singular[0]]
    beyond = changes - basis @ (basis.T @ changes)
    inverse = np.linalg.pinv(beyond.T @ beyond)
    beta = inverse @ (beyond.T @ y)
    residuals = y - basis @ (basis.T @ y) - beyond @ beta
    leverage = (basis**2).sum(axis=1) + np.einsum("ij,jk,ik->i", beyond, inverse, beyond)
    scores = beyond * (residuals / (1 - np.minimum(leverage, 0.9)))[:, None]
    return beta, inverse @ (scores.T @ scores) @ inverse

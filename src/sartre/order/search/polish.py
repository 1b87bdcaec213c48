"""Orders compared by Gaussian processes: what blocks of functions cannot see of variables that act jointly.

The local score of a variable given others is minus twice the log marginal likelihood per row of a process of all of
them (`sartre.process`), in the units of the other local scores. A function of five parents at once, or hardly any
noise, leaves blocks of lines, curves and pairs with a misfit that says as much about directions as the truth does.
A process takes a fit of its own for every set of predecessors, so that only short insertions are tried.
"""

from __future__ import annotations

import logging
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from sartre.additive.mechanism import N_SPLINES, column_term
from sartre.data.row_sample import drawn_rows
from sartre.order.search.climb import Climb
from sartre.order.search.constants import POLISH_GAIN, POLISH_REACH, POLISH_STEPS
from sartre.process.fits import ProcessFits, even_weights
from sartre.process.likelihood import Candidate, gathered

if TYPE_CHECKING:
    from collections.abc import Sequence

logger = logging.getLogger(__name__)


class ProcessScores:
    """The local scores of all variables of a table given any others, by Gaussian processes.

    Parameters
    ----------
    X : array of shape (n, d)
        Standardised columns, none constant.

    Examples
    --------
    >>> rng = np.random.default_rng(0)
    >>> a, b = rng.normal(size=(2, 200))
    >>> X = np.column_stack([a, b, np.sin(2 * a) * b + rng.normal(size=200) / 10])
    >>> scores = ProcessScores((X - X.mean(axis=0)) / X.std(axis=0))
    >>> scores(2, 0b011) < scores(2, 0b001) - 1
    True
    """

    def __init__(self, X: NDArray[np.float64]) -> None:
        terms = [column_term(column, N_SPLINES, nominal=False) for column in X.T]
        columns = [column[:, None] for column in X.T]
        seen = [Candidate(x, term(x), term.roughness) for x, term in zip(columns, terms, strict=True)]
        inputs = gathered(seen)
        self._fits = [ProcessFits(inputs, np.ascontiguousarray(column, np.float32)) for column in X.T]
        self._n, self._known = len(X), dict[tuple[int, int], float]()

    def __call__(self, target: int, inside: int) -> float:
        """Return the score of a target given the variables whose bits are set in `inside`."""
        if (target, inside) not in self._known:
            chosen = np.array([j for j in range(len(self._fits)) if inside >> j & 1], dtype=np.intp)
            fitted = self._fits[target].fit(chosen, even_weights(len(chosen)), POLISH_STEPS)
            self._known[target, inside] = -2 * fitted.value / self._n
            logger.info("order: %d processes fitted to compare orders", len(self._known))
        return self._known[target, inside]


def polished(X: NDArray[np.float64], order: Sequence[int], before: NDArray[np.bool_], rows: int) -> list[int]:
    """Return an order after insertions that processes of at most so many rows favour.

    Parameters
    ----------
    X : array of shape (n, d)
        Standardised columns, none constant.
    order : sequence of ints
    before : boolean array of shape (d, d)
        Row must precede column, transitively.
    rows : int
    """
    if len(X) > rows:
        X = X[drawn_rows(X, 0, rows)]
    X = (X - X.mean(axis=0)) / np.maximum(X.std(axis=0), np.finfo(float).tiny)
    climb = Climb(ProcessScores(X), lambda _, inside: inside, before, 2 * POLISH_GAIN / len(X), POLISH_REACH)
    climb.settle(order)
    return climb.order

"""What a structural model answers about an effect: the numbers, what samples of rows would change, and other graphs."""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

import numpy as np
from numpy.typing import NDArray

from sartre.compute.parallel import blas_threads
from sartre.scm.alternatives import Edge, alternatives, other_graphs
from sartre.scm.checks import warn_undecided
from sartre.scm.effects import Question, replicated

if TYPE_CHECKING:
    from sartre.scm.model import StructuralModel

SAME_EFFECT = 1e-3  # of the outcome's standard deviation: by less, the effects in two graphs may differ by chance


class Answer(NamedTuple):
    """The mean of an outcome for k values of a cause.

    means (1 + m, k): in the model's graph, then in m others. replicates (B, k): in other samples of rows. turned: the
    edges that are turned in each other graph; without rows, those graphs have no means.
    """

    means: NDArray[np.float64]
    replicates: NDArray[np.float64]
    turned: list[list[Edge]]

    def minus(self, column: int) -> Answer:
        """Return the differences from one of the values, for the others."""
        means, replicates = (np.delete(x - x[:, [column]], column, axis=1) for x in (self.means, self.replicates))
        return Answer(means, replicates, self.turned)

    def interval(self, level: float) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
        """Return percentiles of the replicates, each of shape (k,)."""
        low, high = np.quantile(self.replicates, [(1 - level) / 2, (1 + level) / 2], axis=0)
        return low, high

    @property
    def range(self) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
        """The lowest and the highest means over the graphs, each of shape (k,); NaN if those of others are unknown."""
        if len(self.means) <= len(self.turned):
            unknown = np.full(self.means.shape[1], np.nan)
            return unknown, unknown
        return self.means.min(axis=0), self.means.max(axis=0)


def answered(
    model: StructuralModel,
    question: Question,
    ends: tuple[str, str],
    at: NDArray[np.float64],
    *,
    n_samples: int,
    n_bootstrap: int,
    seed: int,
) -> Answer:
    """Answer a question about a cause and an outcome (`ends`) for some values of the cause."""
    with blas_threads(1):  # there are many small products
        reduced = question.reduced(model, *ends)
        mean = question.means(reduced, *ends, at, n_samples, seed)
        again = replicated(reduced, question.means, ends, at, n_samples, n_bootstrap, seed)
        if model.columns_kept:
            return Answer(mean[None], again, [turned for turned, _ in other_graphs(model, *ends, question.reduced)])
        others = [
            (turned, question.means(other, *ends, at, n_samples, seed))
            for turned, other in alternatives(model, *ends, question.reduced)
        ]
    return Answer(np.array([mean, *(other for _, other in others)]), again, [turned for turned, _ in others])


def tell_doubts(model: StructuralModel, ends: tuple[str, str], answer: Answer) -> None:
    """Warn if the means differ between graphs, or may do so, and name the edges that are turned where they do."""
    if model.directions is None:
        return
    known = len(answer.means) > len(answer.turned)
    differs = np.full(len(answer.turned), fill_value=True)
    if known:
        same = SAME_EFFECT * model.table.values[:, model.names.index(ends[1])].std()
        differs = np.abs(answer.means[1:] - answer.means[0]).max(axis=1) > same
    matter = {edge for edges, differ in zip(answer.turned, differs, strict=True) if differ for edge in edges}
    undecided, unchecked = (
        [edge for edge in edges if edge in matter] for edges in (model.directions.undecided, model.directions.unchecked)
    )
    warn_undecided(*ends, len(answer.means) if known else None, undecided, unchecked)

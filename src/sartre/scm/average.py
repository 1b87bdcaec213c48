"""The effect of one variable on another as one number: what raising the cause does to the outcome on average."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

if TYPE_CHECKING:
    from sartre.scm.model import StructuralModel

SPANS = (0.25, 0.75), (0.05, 0.95), (0.0, 1.0)  # quantiles of a cause: the first pair that differs is its step
TOTAL, DIRECT = "total", "direct"


@dataclass(frozen=True, repr=False)
class AverageEffect:
    """What `StructuralModel.average_effect` returns; ``float(effect)`` is the number.

    Attributes
    ----------
    cause, outcome : str
    kind : "total" or "direct"
    start, end : float
        The values of the cause that are compared: its first and third quartile, unless they are equal.
    effect, low, high : float
        The mean of the outcome at `end` minus that at `start`, and the interval.
    level : float
        Level of the interval.
    lowest, highest : float
        Range of the effect over the graphs that undecided and unchecked arrows allow.
    """

    cause: str
    outcome: str
    kind: str
    start: float
    end: float
    effect: float
    low: float
    high: float
    level: float
    lowest: float
    highest: float

    def __float__(self) -> float:
        return self.effect

    def __str__(self) -> str:
        by = "" if self.kind == TOTAL else ", directly,"
        return (
            f"Raising {self.cause} from {self.start:.4g} to {self.end:.4g}{by} changes {self.outcome} by "
            f"{self.effect:.4g} on average ({self.level:.0%} interval {self.low:.4g} to {self.high:.4g})"
        )

    def __repr__(self) -> str:
        return f"AverageEffect: {self}"


def step_of(model: StructuralModel, cause: str) -> NDArray[np.float64]:
    """Return the two values of a cause that are compared: its quartiles or, if they are equal, values further out.

    Those of a column with two values are these values.
    """
    quantiles = [model.quantiles(cause, np.array(span)) for span in SPANS]
    if model.is_binary(cause):
        return quantiles[-1]
    return next((pair for pair in quantiles if pair[0] < pair[1]), quantiles[-1])

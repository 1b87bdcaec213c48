"""Numbers of a page: no more digits than can be seen."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray


def number(value: Any) -> float | None:
    """Return a number with four digits, and None for one that is not known.

    Examples
    --------
    >>> number(2 / 3), number(float("nan"))
    (0.6667, None)
    """
    return None if value is None or not np.isfinite(value) else float(f"{value:.4g}")


def rounded(values: NDArray[np.float64], digits: int) -> list[Any]:
    """Return numbers with so many digits after the point, as lists."""
    return np.round(values, digits).tolist()


def short(values: NDArray[np.float64]) -> list[Any]:
    """Return numbers to a ten-thousandth of their range: more digits cannot be seen.

    Examples
    --------
    >>> short(np.array([0.0, 1 / 3, 1.0]))
    [0.0, 0.3333, 1.0]
    """
    spread = float(np.ptp(values)) if len(values) else 0.0
    if spread == 0.0:
        return [float(f"{value:.6g}") for value in values]
    return rounded(values, int(4 - np.floor(np.log10(spread))))

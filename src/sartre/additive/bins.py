"""A column becomes integer codes: bin b holds the values in (edges[b - 1], edges[b]]."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

if TYPE_CHECKING:
    from numpy.typing import NDArray


def encode(column: NDArray[np.float64], edges: NDArray[np.float64]) -> NDArray[Any]:
    """Return the bin of every value; the first and the last bin reach to infinity.

    Parameters
    ----------
    column : array of shape (n,)
    edges : array of shape (B - 1,)
        Inner borders, increasing.

    Returns
    -------
    array of shape (n,), uint8 up to 256 bins and uint16 above

    Examples
    --------
    >>> encode(np.array([-5.0, 0.0, 0.1, 9.0]), np.array([0.0, 1.0]))
    array([0, 0, 1, 2], dtype=uint8)
    """
    return np.searchsorted(edges, column, side="left").astype(code_type(len(edges) + 1))


def code_type(n_bins: int) -> type[np.uint8 | np.uint16]:
    """Return the smallest integer type that numbers the bins; more than 65,536 are refused."""
    if n_bins > 1 << 16:
        raise ValueError(f"At most 65,536 bins a variable are supported. Got {n_bins}. Use fewer trees or leaves.")
    return np.uint8 if n_bins <= 1 << 8 else np.uint16

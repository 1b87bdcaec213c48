"""The e-BH procedure: which e-values are large enough for a false discovery rate (Wang and Ramdas, 2022)."""

from __future__ import annotations

import numpy as np
from numpy.typing import ArrayLike, NDArray


def e_bh(e_values: ArrayLike, n_statements: float, fdr: float) -> NDArray[np.bool_]:
    """Return which of some e-values the e-BH procedure rejects: the k largest, if they are at least m / (fdr k).

    Parameters
    ----------
    e_values : array of shape (p,)
        Those of the other statements, if there are more than p, are zero.
    n_statements : float
        m, a bound on the expected sum of the e-values of false statements; at most their number if each has mean one.
    fdr : float

    Examples
    --------
    >>> e_bh([60.0, 3.0, 25.0, 16.0], n_statements=5, fdr=0.1)
    array([ True, False,  True, False])
    """
    values = np.asarray(e_values, dtype=np.float64)
    largest = np.sort(values)[::-1]
    enough = np.flatnonzero(largest * fdr * np.arange(1, len(values) + 1) >= n_statements)
    return values >= largest[enough[-1]] if len(enough) else np.zeros(len(values), dtype=bool)

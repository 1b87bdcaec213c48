"""The second-order Stein estimator of the score and its derivatives, without an n x n x d tensor.

With s(x) = grad log p(x), x in units of the kernel's width h, K_ab = exp(-|x_a - x_b|^2 / 2), row sums r = K 1 and
A = (K + eta h I)^-1, the estimates at the n samples are (Rolland et al., 2022; sums over b written as products)

    score      G_j  = A D_j,           D_j = K x_j - r x_j
    diagonal   H_jj = A E_j - G_j^2,   E_j = r x_j^2 - 2 x_j K x_j + K x_j^2 - r
    column c   H_cj = A F_j - G_c G_j, F_j = r x_c x_j - x_c K x_j - x_j K x_c + K (x_c x_j) - [c = j] r

so that only K, one Cholesky factor and n x d products are held in memory. (The original divides K by h and adds eta;
multiplying through by h gives the same estimates.)
"""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.linalg import LinAlgError, cho_factor, cho_solve
from scipy.spatial.distance import cdist

FEW_ROWS = 500  # the fast form takes the width from the distances of about this many rows
FAR_OUT = 100.0  # in widths; beyond it, single precision loses too many digits of the squared distances
COINCIDENT = 1e-12  # a median below this share of the largest squared distance may be zero up to rounding
FEWEST_DIGITS = 1e-8  # rounding error of a product, over the median square, above which distances are computed directly
SAFE_RIDGE = (1e-4, 100.0)  # in this range, single precision can factorise and can tell the kernel from the ridge


class Stein:
    """The estimator for one table: factorise once, then compute the score or its derivatives.

    Parameters
    ----------
    X : array of shape (n, d)
        Centred internally at the median, which outliers do not move, so that offsets do not cost digits. At least one
        column must vary.
    eta : float
        Ridge added to the kernel matrix. It acts relative to 1 / h, so results depend on the unit of the columns
        (as in the original). It is never smaller than double precision needs for the factorisation.
    fast : bool
        Use single precision, and take the width from the distances of about 500 evenly spaced rows; this halves the
        time. Double precision is used after all if a value lies too far out, the ridge is too small or too large, or
        the factorisation fails.

    Examples
    --------
    For a standard normal the score is -x and its derivative -1.

    >>> X = np.random.default_rng(0).normal(size=(500, 1))
    >>> estimate = Stein(X, eta=0.001)
    >>> bool(np.abs(np.median(estimate.hessian_diagonal()) + 1) < 0.2)
    True
    """

    _math: Any = np  # stacks and splits arrays; `sartre.stein.on_gpu` uses the same formulas on tensors

    def __init__(self, X: NDArray[np.float64], eta: float, *, fast: bool = False) -> None:
        centred = X - np.median(X, axis=0)
        step = max(1, len(X) // FEW_ROWS) if fast else 1
        squares = _square_distances(centred[::step])
        self._h = median_distance(squares, centred[::step])
        if step > 1 and self._h == 0.0:  # the chosen rows are all equal
            step, squares = 1, _square_distances(centred)
            self._h = median_distance(squares, centred)
        self._X = centred / self._h
        if fast and np.abs(self._X).max() <= FAR_OUT and SAFE_RIDGE[0] <= eta * self._h <= SAFE_RIDGE[1]:
            double, self._X = self._X, self._X.astype(np.float32)
            try:
                self._factorise(_square_distances(self._X), eta)
            except LinAlgError:
                self._X = double
            else:
                return
        if step == 1:
            squares /= self._h**2
        else:
            squares = _square_distances(self._X)
        self._factorise(squares, eta, growing=True)

    def _factorise(self, squares: NDArray[Any], eta: float, *, growing: bool = False) -> None:
        """Turn squared distances, in units of the width, into the kernel in place, and factorise it.

        A growing ridge is raised until the factor exists: with values far out, rounding can exceed the ridge.
        """
        squares /= -2
        np.exp(squares, out=squares)
        self._kernel = squares
        self._row = squares.sum(axis=1)[:, None]
        n = len(squares)
        ridge = stable_ridge(eta * self._h, n)
        while True:
            shifted = squares.copy()
            shifted[np.diag_indices_from(shifted)] += ridge
            try:
                self._factor = cho_factor(shifted.T, lower=True, overwrite_a=True, check_finite=False)
            except LinAlgError:
                if not growing or ridge > n:  # a ridge of n is enough for any kernel
                    raise
                ridge *= 10
            else:
                return

    def score(self) -> NDArray[np.float64]:
        """Return G, shape (n, d): the estimate of d log p / d x_j at every sample."""
        return self._solve(self._kernel @ self._X - self._row * self._X) / self._h

    def hessian_diagonal(self) -> NDArray[np.float64]:
        """Return H_jj, shape (n, d): the estimate of d s_j / d x_j at every sample."""
        X, row, d = self._X, self._row, self._X.shape[1]
        KX, KX2 = self._math.hsplit(self._kernel @ self._math.hstack([X, X**2]), 2)
        solved = self._solve(self._math.hstack([KX - row * X, row * X**2 - 2 * X * KX + KX2 - row]))
        return (solved[:, d:] - solved[:, :d] ** 2) / self._h**2

    def hessian_column(self, c: int) -> NDArray[np.float64]:
        """Return H_cj for every j, shape (n, d): the estimate of d s_c / d x_j at every sample."""
        X, row, d = self._X, self._row, self._X.shape[1]
        xc = X[:, [c]]
        KX, KXX = self._math.hsplit(self._kernel @ self._math.hstack([X, xc * X]), 2)
        curvature = row * xc * X - xc * KX - X * KX[:, [c]] + KXX
        curvature[:, [c]] -= row
        solved = self._solve(self._math.hstack([KX - row * X, curvature]))
        return (solved[:, d:] - solved[:, [c]] * solved[:, :d]) / self._h**2

    def _solve(self, right: NDArray[np.float64]) -> NDArray[np.float64]:
        return cho_solve(self._factor, right, overwrite_b=True, check_finite=False).astype(np.float64, copy=False)


def stable_ridge(wanted: float, n: int) -> float:
    """Return the ridge, or the smallest that double precision needs to factorise n rows if that is larger."""
    return max(wanted, 100 * n * float(np.finfo(float).eps))


def loses_digits(squares: NDArray[Any]) -> bool:
    """Return whether a value lies so far out that distances as a product lose the digits of the others."""
    return squares.dtype == np.float64 and bool(
        np.finfo(float).eps * squares.max() > FEWEST_DIGITS * np.median(squares)
    )


def _square_distances(X: NDArray[Any]) -> NDArray[Any]:
    """Return |x_a|^2 - 2 x_a x_b + |x_b|^2 for all pairs, computed as one product."""
    squares, ones = (X**2).sum(axis=1), np.ones(len(X), dtype=X.dtype)
    if loses_digits(squares):
        return cdist(X, X, "sqeuclidean")
    distances = np.column_stack([-2 * X, squares, ones]) @ np.column_stack([X, ones, squares]).T
    np.maximum(distances, 0.0, out=distances)
    np.fill_diagonal(distances, 0.0)
    return distances


def median_distance(squares: NDArray[np.float64], X: NDArray[np.float64]) -> float:
    """Return the lower median of all n^2 distances, the n self-distances included.

    All other distances occur twice in the matrix, so one triangle contains them all. If more than half of all pairs
    coincide (discrete columns), the median of the other distances is returned.
    """
    n = len(squares)
    triangle = np.concatenate([squares[a, :a] for a in range(n)])
    place = ((n * n - 1) // 2 - n) // 2
    median = np.partition(triangle, place)[place] if place >= 0 else 0.0
    if median <= COINCIDENT * triangle.max():  # either zero up to rounding, or small beside an outlier
        _, counts = np.unique(X, axis=0, return_counts=True)
        coincident = int((counts * (counts - 1) // 2).sum())
        if place < coincident:
            place = coincident + (len(triangle) - coincident - 1) // 2
            median = np.partition(triangle, place)[place]
    return float(np.sqrt(median))

"""The log marginal likelihood of a Gaussian process with a joint and an additive part, and its gradient.

A target y is the sum of a function of all candidates together, a curve and a line of each, and noise:

    K = s exp(-1/2 sum_c w_c (x_c - x_c')^2) + sum_c a_c F_c F_c' + sum_c b_c x_c x_c' + v I

with s, w, a, b >= 0 and F_c a few smooth functions of candidate c. A candidate whose three weights are zero has no
effect. With G = (alpha alpha' - K^-1) / 2, alpha = K^-1 y, the gradient of any weight is the sum of G times the
derivative of K. None of these matrices is formed: for the curves and lines it is a product of K^-1 with their functions
and, as sum_ij M_ij (x_i - x_j)^2 = 2 (x^2)' M 1 - 2 x' M x, for all w one product of M = G o E with the columns, E the
exponential above.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import DTypeLike, NDArray
from scipy.linalg import blas, lapack

from sartre.process.constants import LEAST_JOINT, MOST_LEVELS_JOINT, SMOOTHEST

FloatArray = NDArray[np.floating[Any]]  # in single or double precision


class Inputs(NamedTuple):
    """What a process knows of p candidates (`n_candidates`) at n rows.

    columns : array of shape (n, q)
        Columns of the joint part; candidate `column_owner[k]` owns column k. A number has one, a category several.
    functions : array of shape (n, m)
        Functions of the additive part: `function_owner[k]` is c for a curve of candidate c, p + c for its line.
    """

    n_candidates: int
    columns: FloatArray
    column_owner: NDArray[np.intp]
    functions: FloatArray
    function_owner: NDArray[np.intp]

    def of(self, candidates: NDArray[np.intp]) -> Inputs:
        """Return the inputs of some candidates, renumbered."""
        p, k = self.n_candidates, len(candidates)
        place = np.full(2 * p, -1)
        place[candidates], place[p + candidates] = np.arange(k), k + np.arange(k)
        columns, functions = place[self.column_owner] >= 0, place[self.function_owner] >= 0
        return Inputs(
            k,
            np.asfortranarray(self.columns[:, columns]),
            place[self.column_owner[columns]],
            np.asfortranarray(self.functions[:, functions]),
            place[self.function_owner[functions]],
        )


class Candidate(NamedTuple):
    """What a process sees of one candidate: its columns in the joint part, its functions, and their roughness."""

    columns: FloatArray
    functions: FloatArray
    roughness: NDArray[np.float64]

    @property
    def line(self) -> FloatArray:
        """The functions without roughness: the straight line."""
        return self.functions[:, self.roughness == 0]

    @property
    def curve(self) -> FloatArray:
        """The others, the smoothest at variance one, and without those that have hardly any variance beside it."""
        rough = self.roughness[self.roughness > 0]
        share = rough.min(initial=np.inf) / rough
        return (self.functions[:, self.roughness > 0] * np.sqrt(share))[:, share >= SMOOTHEST]


def joint_levels(functions: FloatArray) -> FloatArray:
    """Return the columns of a category in the joint part: the functions of its levels, if these are few."""
    return functions if functions.shape[1] < MOST_LEVELS_JOINT else functions[:, :0]


def gathered(candidates: Sequence[Candidate], dtype: DTypeLike = np.float32) -> Inputs:
    """Return what a process sees of some candidates, in a precision.

    Examples
    --------
    >>> x = np.zeros((4, 1))
    >>> inputs = gathered([Candidate(x, np.hstack([x, x, x]), np.array([0.0, 1.0, 2.0]))] * 2)
    >>> inputs.column_owner, inputs.function_owner
    (array([0, 1]), array([0, 0, 1, 1, 2, 3]))
    """
    p = len(candidates)
    curves, lines = [each.curve for each in candidates], [each.line for each in candidates]
    widths = [block.shape[1] for block in (*curves, *lines)]
    return Inputs(
        p,
        np.asfortranarray(np.hstack([each.columns for each in candidates]), dtype),
        np.repeat(np.arange(p), [each.columns.shape[1] for each in candidates]),
        np.asfortranarray(np.hstack([*curves, *lines]), dtype),
        np.repeat(np.arange(2 * p), widths),
    )


class Weights(NamedTuple):
    """The weights of a process: s (joint part), v (noise), and w, a, b (joint, curve, line) of every candidate."""

    joint: float
    noise: float
    within: NDArray[np.float64]
    curve: NDArray[np.float64]
    line: NDArray[np.float64]

    def vector(self) -> NDArray[np.float64]:
        """Return all weights as one vector: their square roots, and the logarithm of the noise.

        In roots the likelihood is maximised in some twenty steps; in the weights, with bounds at zero, a hundred do
        not get there.
        """
        rest = np.sqrt(np.concatenate([[self.joint], self.within, self.curve, self.line]))
        return np.insert(rest, 1, np.log(self.noise))

    @staticmethod
    def of_vector(vector: NDArray[np.float64]) -> Weights:
        """Return the weights that a vector holds."""
        within, curve, line = (vector[2:] ** 2).reshape(3, -1)
        return Weights(float(vector[0]) ** 2, float(np.exp(vector[1])), within, curve, line)

    @property
    def act_jointly(self) -> NDArray[np.bool_]:
        """Which candidates have a part in the joint function, (p,): their weights there are not next to nothing."""
        return (self.within >= LEAST_JOINT * self.within.max(initial=0.0)) & (self.within > 0) & (self.joint > 0)

    def of(self, candidates: NDArray[np.intp]) -> Weights:
        """Return the weights of some candidates."""
        return self._replace(within=self.within[candidates], curve=self.curve[candidates], line=self.line[candidates])


class Evaluation(NamedTuple):
    """The log marginal likelihood without its constant, its gradient, and what each row is missed by without itself.

    scaled_left_out: the same in units of what it is expected to be missed by: the noise, and what is not known of the
    function there.
    """

    value: float
    gradient: NDArray[np.float64]
    left_out: FloatArray
    scaled_left_out: FloatArray


class Process:
    """The marginal likelihood of a target on some candidates; computed in the precision of the inputs.

    Parameters
    ----------
    inputs : Inputs
    y : array of shape (n,)
        The target, standardised.
    spread : array of shape (n,), optional
        Variance of the noise of every row, in units of v; one by default.

    Examples
    --------
    >>> x = np.linspace(-1, 1, 50)[:, None]
    >>> nothing = np.empty((50, 0))
    >>> process = Process(Inputs(1, x, np.zeros(1, int), nothing, np.empty(0, int)), np.sin(3 * x[:, 0]))
    >>> weights = Weights(1.0, 0.01, np.ones(1), np.zeros(1), np.zeros(1))
    >>> process.evaluate(weights).value > process.evaluate(weights._replace(joint=0.0)).value
    True
    """

    def __init__(self, inputs: Inputs, y: FloatArray, spread: FloatArray | None = None) -> None:
        self.inputs, self.y, self.n = inputs, y.astype(inputs.columns.dtype), len(y)
        self.spread = np.ones_like(self.y) if spread is None else spread.astype(self.y.dtype)
        self.n_evaluations = 0
        single = inputs.columns.dtype == np.float32
        letter = "s" if single else "d"
        self._syrk, self._symm, self._syr = (getattr(blas, letter + name) for name in ("syrk", "symm", "syr"))
        self._potrf, self._potri, self._potrs = (getattr(lapack, letter + name) for name in ("potrf", "potri", "potrs"))

    def value(self, weights: Weights) -> float:
        """Return the log marginal likelihood; minus infinity where rounding makes the covariance indefinite."""
        factor = self._factor(self._joint(weights), weights)
        if factor is None:
            return -np.inf
        alpha, _ = self._potrs(factor, self.y, lower=1)
        half_log_determinant = float(np.log(factor.diagonal().astype(np.float64)).sum())
        return -0.5 * float(self.y.astype(np.float64) @ alpha) - half_log_determinant

    def evaluate(self, weights: Weights) -> Evaluation:
        """Return the log marginal likelihood with its derivatives by s, log v, w, a and b."""
        joint = self._joint(weights)
        factor = self._factor(joint, weights)
        if factor is None:
            return Evaluation(-np.inf, np.zeros(2 + 3 * len(weights.within)), self.y, self.y)
        half_log_determinant = float(np.log(factor.diagonal().astype(np.float64)).sum())
        inverse, _ = self._potri(factor, lower=1, overwrite_c=1)  # its lower triangle
        blocks = np.asfortranarray(np.column_stack([self.inputs.functions, self.y]))
        products = self._symm(1.0, inverse, blocks, lower=1)
        alpha = np.ascontiguousarray(products[:, -1])
        value = -0.5 * float(self.y.astype(np.float64) @ alpha) - half_log_determinant
        diagonal = inverse.diagonal().copy()
        gradient = np.empty(2 + 3 * len(weights.within))
        gradient[1] = 0.5 * weights.noise * float(self.spread.astype(np.float64) @ (alpha * alpha - diagonal))
        self._additive_gradient(gradient, products, alpha)
        self._joint_gradient(gradient, joint, inverse, alpha, weights.joint)
        return Evaluation(value, gradient, alpha / diagonal, alpha / np.sqrt(diagonal))

    def coefficients(self, weights: Weights) -> FloatArray:
        """Return alpha = K^-1 y (n,), of which predictions are made; none are possible if rounding is in the way."""
        factor = self._factor(self._joint(weights), weights)
        return np.zeros_like(self.y) if factor is None else self._potrs(factor, self.y, lower=1)[0]

    def _joint(self, weights: Weights) -> FloatArray:
        """Return the exponential of the joint part, (n, n)."""
        self.n_evaluations += 1
        return joint_part(weights, self.inputs, self.inputs)

    def _factor(self, joint: FloatArray, weights: Weights) -> FloatArray | None:
        """Return the Cholesky factor of the covariance, in the lower triangle; None if there is none."""
        dtype, owner = joint.dtype, self.inputs.function_owner
        covariance: Any = np.multiply(joint, dtype.type(weights.joint), order="F")
        if len(owner):
            scaled = self.inputs.functions * np.sqrt(np.append(weights.curve, weights.line)[owner]).astype(dtype)
            covariance = self._syrk(1.0, scaled, beta=1.0, c=covariance, lower=1, overwrite_c=1)
        covariance.T.flat[:: self.n + 1] += dtype.type(weights.noise) * self.spread
        factor, info = self._potrf(covariance, lower=1, clean=0, overwrite_a=1)
        return None if info else factor

    def _additive_gradient(self, gradient: NDArray[np.float64], products: FloatArray, alpha: FloatArray) -> None:
        functions, owner = self.inputs.functions, self.inputs.function_owner
        explained = (functions.T @ alpha).astype(np.float64) ** 2
        expected = np.einsum("ij,ij->j", functions, products[:, :-1]).astype(np.float64)
        k = (len(gradient) - 2) // 3
        gradient[2 + k :] = np.bincount(owner, 0.5 * (explained - expected), 2 * k)

    def _joint_gradient(
        self, gradient: NDArray[np.float64], joint: FloatArray, inverse: FloatArray, alpha: FloatArray, scale: float
    ) -> None:
        """Fill in the derivatives of s and w; the inverse is overwritten."""
        columns, owner = self.inputs.columns, self.inputs.column_owner
        weighted = self._syr(-1.0, alpha, a=inverse, lower=1, overwrite_a=1)
        weighted *= joint  # -2 M, in the lower triangle
        columns_and_one = np.asfortranarray(np.column_stack([columns, np.ones_like(self.y)]))
        products = self._symm(-0.5, weighted, columns_and_one, lower=1)
        rows = products[:, -1].astype(np.float64)
        gradient[0] = rows.sum()
        spread = (columns.astype(np.float64) ** 2).T @ rows - np.einsum("ij,ij->j", columns, products[:, :-1])
        k = (len(gradient) - 2) // 3
        gradient[2 : 2 + k] = -scale * np.bincount(owner, spread, k)


def joint_part(weights: Weights, first: Inputs, second: Inputs) -> FloatArray:
    """Return exp(-1/2 sum_c w_c (x_c - x_c')^2) of the rows of two inputs, shape (n, m)."""
    root = np.sqrt(weights.within[first.column_owner]).astype(first.columns.dtype)
    (left, left_half), (right, right_half) = (_scaled(inputs.columns * root) for inputs in (first, second))
    one, other = np.ones_like(left_half), np.ones_like(right_half)
    exponent = np.hstack([right, right_half, other]) @ np.hstack([left, one, left_half]).T
    return np.exp(exponent, out=exponent).T


def _scaled(columns: FloatArray) -> tuple[FloatArray, FloatArray]:
    return columns, -0.5 * np.einsum("ij,ij->i", columns, columns)[:, None]


def covariance_between(weights: Weights, first: Inputs, second: Inputs) -> FloatArray:
    """Return the covariance of the function, without noise, at the rows of two inputs, shape (n, m)."""
    additive = np.append(weights.curve, weights.line)[first.function_owner]
    return weights.joint * joint_part(weights, first, second) + (first.functions * additive) @ second.functions.T

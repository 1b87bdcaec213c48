"""Additive models of all variables, grown one variable at a time, in Gram form.

With M the penalised Gram matrix of all functions, S the variables in the model of target t and W = L^-1 M_S,all for
the Cholesky factor L L' = M_SS, the next step needs only the quantities that remain after projecting out S:

    u = b_t - W' L^-1 b_S,   C_i = M_ii - W_i' W_i,   unexplained = 1 - |L^-1 b_S|^2.

Variable i would explain a further share u_i' C_i^-1 u_i of the target's variance. Adding it appends a few rows to W,
whose products are subtracted: no step touches the samples.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray
from scipy.linalg import solve_triangular

from sartre.additive.kernels.reml import LEAST_UNEXPLAINED

if TYPE_CHECKING:
    from sartre.additive.gram import Gram


LINE_PENALTY = 1e-6  # ridge on the straight lines, so that exactly dependent columns share their effect


class ForwardModels:
    """One additive model per target of a Gram matrix, each initially empty.

    Parameters
    ----------
    gram : Gram
        Inner products of the functions of d variables (none of rank 0) with each other and with T standardised targets.
    smoothness : float
        Penalty on the roughness of every function, in units of the target's variance.

    Attributes
    ----------
    unexplained : array of shape (T,)
        Share of each target's variance that its model does not explain.
    """

    def __init__(self, gram: Gram, smoothness: float) -> None:
        d, k, n_targets = len(gram.rank), int(gram.rank.max(initial=1)), gram.cross.shape[1]
        # Every variable is padded to k functions; the added functions are orthogonal to everything.
        place = np.concatenate([j * k + np.arange(rank) for j, rank in enumerate(gram.rank)])
        self._matrix = np.eye(d * k)
        self._matrix[np.ix_(place, place)] = gram.matrix
        self._matrix[place, place] += LINE_PENALTY + smoothness * gram.roughness
        self._residual_cross = np.zeros((n_targets, d, k))
        self._residual_cross.reshape(n_targets, -1)[:, place] = gram.cross.T
        own = self._matrix.reshape(d, k, d, k)[np.arange(d), :, np.arange(d)]
        self._blocks = np.repeat(own[None], n_targets, axis=0)
        self._rows = [np.empty((0, d * k)) for _ in range(n_targets)]
        self.unexplained = np.ones(n_targets)

    def gains(self, target: int) -> NDArray[np.float64]:
        """Return how much adding each variable lowers the log of the unexplained share, shape (d,)."""
        cross = self._residual_cross[target]
        explained = (cross * np.linalg.solve(self._blocks[target], cross[..., None])[..., 0]).sum(axis=1)
        return -np.log(np.maximum(1 - explained / self.unexplained[target], LEAST_UNEXPLAINED))

    def add(self, target: int, variable: int) -> None:
        """Add a variable to the model of a target."""
        d, k = self._residual_cross.shape[1:]
        own = slice(variable * k, (variable + 1) * k)
        rows, cross, blocks = self._rows[target], self._residual_cross[target], self._blocks[target]
        factor = np.linalg.cholesky(blocks[variable])
        projected = self._matrix[own] - rows[:, own].T @ rows
        new = solve_triangular(factor, projected, lower=True, check_finite=False)
        share = solve_triangular(factor, cross[variable], lower=True, check_finite=False)
        halves = new.reshape(k, d, k).transpose(1, 0, 2)
        blocks -= halves.transpose(0, 2, 1) @ halves
        blocks[variable] = np.eye(k)  # its functions are used up and can explain nothing more
        cross -= (share @ new).reshape(d, k)
        cross[variable] = 0.0
        self._rows[target] = np.vstack([rows, new])
        self.unexplained[target] = max(self.unexplained[target] - share @ share, LEAST_UNEXPLAINED)

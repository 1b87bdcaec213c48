"""Additive models of all variables at once, grown a variable at a time, in Gram form.

With M the penalised Gram matrix of all functions, S the variables in the model of target t and W = L^-1 M_S,all for
the Cholesky factor L L' = M_SS, everything that the next step needs is what is left after projecting S off:

    u = b_t - W' L^-1 b_S,   C_i = M_ii - W_i' W_i,   unexplained = 1 - |L^-1 b_S|^2.

Variable i would explain u_i' C_i^-1 u_i more of the target's variance. Taking it in adds a few rows to W, whose
products are subtracted: no step touches the samples.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray
from scipy.linalg import solve_triangular

from sartre.additive.kernels.reml import LEAST_UNEXPLAINED

if TYPE_CHECKING:
    from sartre.additive.gram import Gram


LINE_PENALTY = 1e-6  # ridge of the straight lines: exactly dependent columns share their effect


class ForwardModels:
    """One additive model for every target of a Gram matrix, all without variables at first.

    Parameters
    ----------
    gram : Gram
        Inner products of the functions of d variables (none of rank 0), and with T standardised targets.
    smoothness : float
        Penalty on the roughness of every function, in units of the target's variance.

    Attributes
    ----------
    unexplained : array of shape (T,)
        Share of each target's variance that its model leaves.
    """

    def __init__(self, gram: Gram, smoothness: float) -> None:
        d, k, n_targets = len(gram.rank), int(gram.rank.max(initial=1)), gram.cross.shape[1]
        # All variables get k functions; those that a variable lacks are orthogonal to everything.
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
        """Return by how much the log of the unexplained share falls with each variable, shape (d,)."""
        cross = self._residual_cross[target]
        explained = (cross * np.linalg.solve(self._blocks[target], cross[..., None])[..., 0]).sum(axis=1)
        return -np.log(np.maximum(1 - explained / self.unexplained[target], LEAST_UNEXPLAINED))

    def add(self, target: int, variable: int) -> None:
        """Take a variable into the model of a target."""
        d, k = self._residual_cross.shape[1:]
        own = slice(variable * k, (variable + 1) * k)
        rows, cross, blocks = self._rows[target], self._residual_cross[target], self._blocks[target]
        factor = np.linalg.cholesky(blocks[variable])
        projected = self._matrix[own] - rows[:, own].T @ rows
        new = solve_triangular(factor, projected, lower=True, check_finite=False)
        share = solve_triangular(factor, cross[variable], lower=True, check_finite=False)
        halves = new.reshape(k, d, k).transpose(1, 0, 2)
        blocks -= halves.transpose(0, 2, 1) @ halves
        blocks[variable] = np.eye(k)  # nothing of it is left to explain anything
        cross -= (share @ new).reshape(d, k)
        cross[variable] = 0.0
        self._rows[target] = np.vstack([rows, new])
        self.unexplained[target] = max(self.unexplained[target] - share @ share, LEAST_UNEXPLAINED)

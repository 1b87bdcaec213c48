"""The likelihood of `sartre.process.likelihood` on PyTorch tensors: the same formulas and precision, on a GPU."""

from __future__ import annotations

from typing import Any

import numpy as np

from sartre.compute.devices import require_torch
from sartre.process.likelihood import Evaluation, FloatArray, Inputs, Process, Weights


def process_on(device: Any, inputs: Inputs, y: FloatArray, spread: FloatArray | None = None) -> Process:
    """Return the process of a target on some candidates, on PyTorch's device or, for None, on the CPU."""
    return Process(inputs, y, spread) if device is None else TorchProcess(device, inputs, y, spread)


class TorchProcess(Process):
    """A process whose matrices of all rows by all rows live on a device; arguments as in `Process`, after the device.

    Its weights and what it returns are arrays on the CPU.
    """

    def __init__(self, device: Any, inputs: Inputs, y: FloatArray, spread: FloatArray | None = None) -> None:
        super().__init__(inputs, y, spread)
        torch = self._torch = require_torch("TorchProcess", "gpu")

        def moved(array: Any) -> Any:
            return torch.as_tensor(np.ascontiguousarray(array), device=device)

        self._columns, self._functions = moved(inputs.columns), moved(inputs.functions)
        self._target, self._variance = moved(self.y), moved(self.spread)
        self._moved = moved

    def value(self, weights: Weights) -> float:
        """Return the log marginal likelihood; minus infinity where rounding makes the covariance indefinite."""
        factor = self._factor_of(self._exponential(weights), weights)
        if factor is None:
            return -np.inf
        return self._value(factor, self._torch.cholesky_solve(self._target[:, None], factor)[:, 0])

    def evaluate(self, weights: Weights) -> Evaluation:
        """Return the log marginal likelihood with its derivatives by s, log v, w, a and b."""
        torch, k = self._torch, len(weights.within)
        joint = self._exponential(weights)
        factor = self._factor_of(joint, weights)
        if factor is None:
            return Evaluation(-np.inf, np.zeros(2 + 3 * k), self.y, self.y)
        inverse = torch.cholesky_inverse(factor)
        products = inverse @ torch.column_stack([self._functions, self._target])
        alpha, diagonal = products[:, -1], inverse.diagonal()
        value = self._value(factor, alpha)
        explained = (self._functions.T @ alpha).double() ** 2
        additive = 0.5 * (explained - (self._functions * products[:, :-1]).double().sum(dim=0))
        noise = 0.5 * weights.noise * (self._variance.double() * (alpha * alpha - diagonal).double()).sum()
        left_out = torch.stack([alpha / diagonal, alpha / diagonal.sqrt()])
        weighted = (torch.outer(alpha, alpha) - inverse).mul_(joint).mul_(0.5)
        rows = weighted.double().sum(dim=1)
        crossed = (self._columns * (weighted @ self._columns)).double().sum(dim=0)
        within = (self._columns.double() ** 2).T @ rows - crossed
        flat = torch.cat([rows.sum()[None], noise[None], -weights.joint * within, additive]).cpu().numpy()
        gradient, q = np.empty(2 + 3 * k), self._columns.shape[1]
        gradient[:2] = flat[:2]
        gradient[2 : 2 + k] = np.bincount(self.inputs.column_owner, flat[2 : 2 + q], k)
        gradient[2 + k :] = np.bincount(self.inputs.function_owner, flat[2 + q :], 2 * k)
        return Evaluation(value, gradient, *left_out.cpu().numpy())

    def coefficients(self, weights: Weights) -> FloatArray:
        """Return alpha = K^-1 y (n,), of which predictions are made; none are possible if rounding is in the way."""
        factor = self._factor_of(self._exponential(weights), weights)
        if factor is None:
            return np.zeros_like(self.y)
        return self._torch.cholesky_solve(self._target[:, None], factor)[:, 0].cpu().numpy()

    def _exponential(self, weights: Weights) -> Any:
        self.n_evaluations += 1
        root = np.sqrt(weights.within[self.inputs.column_owner]).astype(self.y.dtype)
        scaled = self._columns * self._moved(root)
        half = -0.5 * (scaled * scaled).sum(dim=1)
        return (scaled @ scaled.T).add_(half).add_(half[:, None]).exp_()

    def _factor_of(self, joint: Any, weights: Weights) -> Any:
        scale = np.append(weights.curve, weights.line)[self.inputs.function_owner].astype(self.y.dtype)
        covariance = weights.joint * joint + (self._functions * self._moved(scale)) @ self._functions.T
        covariance.diagonal().add_(weights.noise * self._variance)
        factor, failed = self._torch.linalg.cholesky_ex(covariance)
        return None if failed else factor

    def _value(self, factor: Any, alpha: Any) -> float:
        half_log_determinant = factor.diagonal().double().log().sum()
        return float(-0.5 * (self._target.double() @ alpha.double()) - half_log_determinant)

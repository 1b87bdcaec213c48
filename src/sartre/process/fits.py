"""Processes of one target on some of its candidates: fits, and backward elimination by the marginal likelihood."""

from __future__ import annotations

from collections.abc import Collection
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray
from scipy.optimize import minimize

from sartre.process.constants import (
    GAIN_PER_STEP,
    HIGHEST_NOISE,
    LARGEST_ROOT,
    LIFTED_ADDITIVE,
    LIFTED_WITHIN,
    LOWEST_NOISE,
    MOST_KEPT,
    NO_WEIGHT,
    PLAINLY_NEEDED,
    REFIT_STEPS,
    START_ADDITIVE,
    START_DISTANCE,
    START_JOINT,
    START_NOISE,
    START_WITHIN,
    USELESS,
    WORTH_A_REFIT,
)
from sartre.process.likelihood import Evaluation, FloatArray, Inputs, Process, Weights
from sartre.process.on_gpu import process_on

INDEFINITE = 1e10  # minus the likelihood of weights that rounding makes impossible


class Fitted(NamedTuple):
    """A process of some candidates (k,), its weights and log marginal likelihood.

    left_out, scaled_left_out (n,): what every row is missed by if all rows but itself are known, as in `Evaluation`.
    """

    candidates: NDArray[np.intp]
    weights: Weights
    value: float
    left_out: FloatArray
    scaled_left_out: FloatArray

    def of(self, places: NDArray[np.intp]) -> Fitted:
        """Return the same process without the candidates at the other places, which have no weight."""
        return self._replace(candidates=self.candidates[places], weights=self.weights.of(places))

    def priced(self, price: float) -> float:
        """Return the likelihood less a price per candidate."""
        return self.value - price * len(self.candidates)


class ProcessFits:
    """Processes of one target on any of its candidates, from the same rows.

    Parameters
    ----------
    inputs : Inputs
        Of all candidates.
    y : array of shape (n,)
        The target, standardised.
    spread : array of shape (n,), optional
        As in `Process`.
    device : optional
        PyTorch's, as `sartre.compute.devices.check_device` returns it; None for the CPU.

    Examples
    --------
    >>> rng = np.random.default_rng(0)
    >>> X = rng.normal(size=(200, 3))
    >>> y = np.sin(2 * X[:, 0]) * X[:, 1] + rng.normal(size=200) / 10
    >>> inputs = Inputs(3, X, np.arange(3), X, 3 + np.arange(3))  # lines, and no curves
    >>> fits = ProcessFits(inputs, y / y.std())
    >>> fits.eliminated(fits.fit(np.arange(3), even_weights(3), 20), price=5.0).candidates
    array([0, 1])
    """

    def __init__(self, inputs: Inputs, y: FloatArray, spread: FloatArray | None = None, device: Any = None) -> None:
        self.inputs, self.y, self.spread, self.device = inputs, y, spread, device
        self.n_evaluations = 0

    def null(self) -> Fitted:
        """Return the process without candidates, which is noise."""
        spread = np.ones(len(self.y)) if self.spread is None else self.spread.astype(np.float64)
        variance = float(np.mean(self.y.astype(np.float64) ** 2 / spread))
        value = -0.5 * len(self.y) * (1 + np.log(variance)) - 0.5 * float(np.log(spread).sum())
        nothing = np.empty(0)
        weights = Weights(0.0, variance, nothing, nothing, nothing)
        return Fitted(np.empty(0, np.intp), weights, value, self.y, self.y / np.sqrt(variance * spread))

    def fit(self, candidates: NDArray[np.intp], start: Weights, steps: int) -> Fitted:
        """Maximise the likelihood over the weights of some candidates, from a start, in at most so many steps.

        The likelihood of weights that rounding makes impossible is minus infinity.
        """
        if len(candidates) == 0:
            return self.null()
        process = self._process(candidates)
        best: tuple[Weights, Evaluation] | None = None

        def negative(vector: NDArray[np.float64]) -> tuple[float, NDArray[np.float64]]:
            nonlocal best
            weights = Weights.of_vector(vector)
            found = process.evaluate(weights)
            if not np.isfinite(found.value):
                return INDEFINITE, np.zeros(len(vector))
            if best is None or found.value > best[1].value:
                best = weights, found
            slope = -found.gradient
            slope[0] *= 2 * vector[0]
            slope[2:] *= 2 * vector[2:]
            return -found.value, slope

        options = {"maxiter": steps, "maxfun": steps + steps // 4 + 2, "ftol": GAIN_PER_STEP}
        begin = start.vector()
        bounds = [(-LARGEST_ROOT, LARGEST_ROOT)] * len(begin)
        bounds[1] = np.log(LOWEST_NOISE), np.log(HIGHEST_NOISE)
        minimize(negative, begin, jac=True, method="L-BFGS-B", bounds=bounds, options=options)
        self.n_evaluations += process.n_evaluations
        weights, found = best or (start, Evaluation(-np.inf, np.empty(0), self.y, self.y))
        return Fitted(candidates, weights, found.value, found.left_out, found.scaled_left_out)

    def value(self, candidates: NDArray[np.intp], weights: Weights) -> float:
        """Return the likelihood of some candidates with given weights."""
        if len(candidates) == 0:
            return self.null().value
        self.n_evaluations += 1
        return self._process(candidates).value(weights)

    def without(self, fitted: Fitted, place: int) -> Fitted:
        """Return the process without the candidate at a place, the others left as they are."""
        kept = np.delete(np.arange(len(fitted.candidates)), place)
        if len(kept) == 0:
            return self.null()
        process, weights = self._process(fitted.candidates[kept]), fitted.weights.of(kept)
        found = process.evaluate(weights)
        self.n_evaluations += 1
        return Fitted(fitted.candidates[kept], weights, found.value, found.left_out, found.scaled_left_out)

    def losses(self, fitted: Fitted, known: dict[int, float]) -> NDArray[np.float64]:
        """Return how much the likelihood falls without each candidate, the others left as they are.

        Parameters
        ----------
        fitted : Fitted
        known : dict
            Losses of candidates in larger processes; those that are plainly needed are not computed again.
        """
        for place, candidate in enumerate(fitted.candidates.tolist()):
            if known.get(candidate, 0.0) < PLAINLY_NEEDED:
                known[candidate] = fitted.value - self._value_without(fitted, place)
        return np.array([known[candidate] for candidate in fitted.candidates.tolist()])

    def eliminated(self, fitted: Fitted, price: float, required: Collection[int] = ()) -> Fitted:
        """Remove the candidate whose loss is least, as long as the likelihood falls by less than the price.

        Parameters
        ----------
        fitted : Fitted
        price : float
        required : collection of ints
            Candidates that stay.
        """
        known: dict[int, float] = {}
        needed = set(required)
        while len(fitted.candidates):
            fitted = _with_weight(fitted, required)
            loss = self.losses(fitted, known)
            doubtful = [
                place
                for place in np.argsort(loss, kind="stable").tolist()
                if int(fitted.candidates[place]) not in needed and loss[place] < price + WORTH_A_REFIT
            ]
            if not doubtful or len(needed) >= len(required) + MOST_KEPT:
                break
            useless = [place for place in doubtful if loss[place] < USELESS]
            smaller = self._smaller(fitted, useless, price) if len(useless) > 1 else None
            smaller = smaller or self._smaller(fitted, doubtful[:1], price)
            if smaller is None:
                needed.add(int(fitted.candidates[doubtful[0]]))
            else:
                fitted = smaller
        return fitted

    def _smaller(self, fitted: Fitted, places: list[int], price: float) -> Fitted | None:
        """Return the refitted process without some candidates, or None if it is worth less."""
        kept = np.delete(np.arange(len(fitted.candidates)), places)
        smaller = self.fit(fitted.candidates[kept], fitted.weights.of(kept), REFIT_STEPS)
        return smaller if smaller.priced(price) > fitted.priced(price) else None

    def _value_without(self, fitted: Fitted, place: int) -> float:
        kept = np.delete(np.arange(len(fitted.candidates)), place)
        return self.value(fitted.candidates[kept], fitted.weights.of(kept))

    def _process(self, candidates: NDArray[np.intp]) -> Process:
        return process_on(self.device, self.inputs.of(candidates), self.y, self.spread)


def _with_weight(fitted: Fitted, required: Collection[int]) -> Fitted:
    """Return a process without the candidates that have no weight; required ones stay."""
    total = fitted.weights.within + fitted.weights.curve + fitted.weights.line
    used = (total >= NO_WEIGHT) | np.isin(fitted.candidates, list(required))
    return fitted if used.all() else fitted.of(np.flatnonzero(used))


def even_weights(k: int) -> Weights:
    """Return the weights from which a fit of k candidates starts: small, and the same for all.

    The more candidates, the smaller they are in the joint part: rows that are far apart in all of them would have
    nothing in common, and the fit would give the joint part up.
    """
    additive = np.full(k, START_ADDITIVE)
    within = np.full(k, min(START_WITHIN, START_DISTANCE / max(k, 1)))
    return Weights(START_JOINT, START_NOISE, within, additive, additive)


def lifted(weights: Weights) -> Weights:
    """Return weights of which none is so near to zero that a fit could not find its way back."""
    return weights._replace(
        within=np.maximum(weights.within, LIFTED_WITHIN),
        curve=np.maximum(weights.curve, LIFTED_ADDITIVE),
        line=np.maximum(weights.line, LIFTED_ADDITIVE),
    )

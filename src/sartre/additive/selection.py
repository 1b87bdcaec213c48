"""Choose the variables of a model: a loose lasso to screen them, pairs that act together, then tests one by one.

The group lasso shrinks, so what it leaves in the residual leaks into useless variables; its support is a short list
and no more. Where there are samples enough, the list also has what a smooth model of all candidates finds. It is
fitted again by penalised smooths (`smoothing.py`), which do not shrink what is needed. Pairs are added while the best
one explains more of the residual than chance would (`interactions.py`). Last, the least significant term is removed
until all that are left are significant: one at a time, because of two variables that say the same either can
go, but not both.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from sartre.additive.calibration import null_norms, solve_calibrated
from sartre.additive.group_lasso import terms
from sartre.additive.interactions import best_pair, pair_functions
from sartre.additive.smoothing import Gram, SmoothFit, fit_smooths, gram

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from sartre.additive.design import Design

    Term = int | tuple[int, int]  # a variable's own function, or that of a pair

SCREENING_LEVEL = 0.05  # chance of a useless variable to pass the screening
PAIR_LEVEL = 0.5  # level of the search for pairs, as a share of the level: a false pair brings two false variables
STAY = 0.001  # p-value at which a pair stays once it is in
MOST_PAIRS = 25
SAMPLES_A_TERM = 30  # from here on all smooths can be fitted at once


class Selection(NamedTuple):
    """The chosen variables of one target and what is known of each; the pairs among them with their p-values."""

    variables: NDArray[np.intp]
    strength: NDArray[np.float64]
    margin: NDArray[np.float64]
    p_value: NDArray[np.float64]
    pairs: list[tuple[int, int, float]]
    gap: float
    converged: bool


class Prepared(NamedTuple):
    """What all targets of a table share.

    X: the columns; intervals to screen with, and their null norms; smooths to decide with, and their inner products
    where there are samples enough to fit all at once; polynomials of the ranks where pairs are wanted.
    """

    X: NDArray[np.float64]
    intervals: Design
    norms: NDArray[np.float64]
    smooths: Design
    products: Gram | None
    polynomials: NDArray[np.float64] | None


def prepare_selection(
    X: NDArray[np.float64], intervals: Design, smooths: Design, polynomials: NDArray[np.float64] | None
) -> Prepared:
    """Prepare the screening and the tests of all columns of a table; no polynomials, no pairs."""
    products = None
    if SAMPLES_A_TERM * X.shape[1] <= len(X):
        spread = X.std(axis=0)
        products = gram(smooths, (X - X.mean(axis=0)) / np.where(spread > 0, spread, 1.0))
    return Prepared(X, intervals, null_norms(intervals, SCREENING_LEVEL), smooths, products, polynomials)


def select(prepared: Prepared, target: int, candidates: NDArray[np.intp], level: float, tol: float) -> Selection:
    """Choose among the candidates.

    A variable stays if p < level k / m, where m is the number of candidates and k that of the variables in the
    model (as Benjamini and Hochberg's step-up has it); a pair is looked for at half the level, over all pairs.
    Where no candidate has an effect at most `expected_false` of the level are expected to be chosen.

    Parameters
    ----------
    prepared : Prepared
    target : int
        Its column, which must not be constant.
    candidates : array of ints
    level : float
    tol : float
        Duality gap of the screening, as in `group_lasso.solve`.
    """
    y = prepared.X[:, target]
    screened = solve_calibrated(prepared.intervals, y, candidates, prepared.norms, tol)
    margins = {term.variable: term.margin for term in terms(prepared.intervals, y, screened)}
    short = sorted(margins, key=margins.__getitem__, reverse=True)[: max(1, len(y) // 20)]
    if prepared.products is not None:  # intervals see little of many weak straight effects
        p_values = fit_smooths(prepared.products, target, candidates).p_value
        short += candidates[p_values < SCREENING_LEVEL].tolist()
    model = _Model(prepared, (y - y.mean()) / y.std(), len(candidates), level)
    chosen = model.pruned([j for j in candidates.tolist() if j in set(short)])
    if prepared.polynomials is not None:
        grown = model.grown(chosen, candidates, prepared.polynomials)
        chosen = chosen if grown == chosen else model.pruned(grown)
    variables, strength, p_value = model.described(chosen)
    margin = np.array([margins.get(j, np.nan) for j in variables.tolist()])
    return Selection(variables, strength, margin, p_value, model.pairs(chosen), screened.gap, screened.converged)


def expected_false(level: float, pairs: bool) -> float:
    """Return how many variables `select` may be expected to choose where none has an effect, if its tests are exact."""
    return level * (1 + 2 * PAIR_LEVEL * pairs)  # a false pair brings two


class _Fitted(NamedTuple):
    """A model's terms, its fit, its functions side by side, and the residual."""

    terms: list[Term]
    fit: SmoothFit
    functions: NDArray[np.float64]
    residual: NDArray[np.float64]


class _Model:
    """Models of one standardised target: fitted, grown by pairs, pruned by tests."""

    def __init__(self, prepared: Prepared, y: NDArray[np.float64], n_candidates: int, level: float) -> None:
        self._prepared, self._y, self._n_candidates, self._level = prepared, y, n_candidates, level
        self._blocks: dict[Term, tuple[NDArray[np.float64], NDArray[np.float64]]] = {}
        self._last: _Fitted | None = None

    def fitted(self, chosen: list[Term]) -> _Fitted:
        """Fit the terms together; the last fit is remembered, because it is often asked for again."""
        if self._last is not None and self._last.terms == chosen:
            return self._last
        blocks = [self._block(term) for term in chosen]
        functions = np.hstack([block for block, _ in blocks])
        rank = np.array([block.shape[1] for block, _ in blocks])
        n = len(self._y)
        products = Gram(
            n=n,
            matrix=functions.T @ functions / n,
            cross=(functions.T @ self._y / n)[:, None],
            start=np.cumsum(rank) - rank,
            rank=rank,
            roughness=np.concatenate([roughness for _, roughness in blocks]),
        )
        fit = fit_smooths(products, 0, np.arange(len(chosen)))
        self._last = _Fitted(chosen, fit, functions, self._y - functions @ np.concatenate(fit.coefficients))
        return self._last

    def grown(self, chosen: list[Term], candidates: NDArray[np.intp], polynomials: NDArray[np.float64]) -> list[Term]:
        """Add pairs, each with both variables' own functions, while the best one is significant."""
        n = len(self._y)
        for found in range(MOST_PAIRS):
            now = self.fitted(chosen) if chosen else None
            functions = np.empty((n, 0)) if now is None else now.functions
            residual = self._y if now is None else now.residual
            if functions.shape[1] > n // 3:
                break
            df = n - 1 if now is None else now.fit.residual_df
            inside = np.array(_variables(chosen), dtype=np.intp)
            variance = float(residual @ residual) / df
            pair = best_pair(polynomials, candidates, inside, residual, functions, variance)
            if pair is None or pair.p_value >= PAIR_LEVEL * self._level * (1 + found):
                break
            both: Term = (pair.first, pair.second)
            if both in chosen:
                break
            chosen = [*chosen, *(j for j in both if j not in chosen), both]
        return chosen

    def pruned(self, chosen: list[Term]) -> list[Term]:
        """Remove the least significant pair, then the least significant variable with its pairs, again and again."""
        while chosen:
            now = self.fitted(chosen)
            pairs = [(now.fit.p_value[k], term) for k, term in enumerate(chosen) if isinstance(term, tuple)]
            if pairs and max(pairs)[0] > STAY:
                chosen = [term for term in chosen if term != max(pairs)[1]]
                continue
            variables = _variables(chosen)
            p_values = [_p_value(now, j) for j in variables]
            if max(p_values) < self._level * len(variables) / self._n_candidates:
                break
            worst = variables[int(np.argmax(p_values))]
            chosen = [term for term in chosen if not _involves(term, worst)]
        return chosen

    def described(self, chosen: list[Term]) -> tuple[NDArray[np.intp], NDArray[np.float64], NDArray[np.float64]]:
        """Return the variables, the share of variance lost without each, and its p-value."""
        variables = _variables(chosen)
        if not variables:
            return np.empty(0, dtype=np.intp), np.empty(0), np.empty(0)
        now = self.fitted(chosen)
        owner = np.repeat(np.arange(len(chosen)), [len(block) for block in now.fit.coefficients])
        beta = np.concatenate(now.fit.coefficients)
        strength = []
        for j in variables:
            mine = np.array([_involves(term, j) for term in chosen])[owner]
            part = now.functions[:, mine] @ beta[mine]
            strength.append(np.mean(part**2) + 2 * np.mean(now.residual * part))
        return np.array(variables), np.array(strength), np.array([_p_value(now, j) for j in variables])

    def pairs(self, chosen: list[Term]) -> list[tuple[int, int, float]]:
        """Return the pairs with their p-values."""
        if not any(isinstance(term, tuple) for term in chosen):
            return []
        now = self.fitted(chosen)
        return [(*term, float(now.fit.p_value[k])) for k, term in enumerate(chosen) if isinstance(term, tuple)]

    def _block(self, term: Term) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
        if term not in self._blocks:
            smooths, polynomials = self._prepared.smooths, self._prepared.polynomials
            if isinstance(term, tuple) and polynomials is not None:
                self._blocks[term] = pair_functions(polynomials[term[0]], polynomials[term[1]])
            elif isinstance(term, int):
                start = smooths.spectrum_start[term]
                roughness = smooths.roughness[start : start + smooths.rank[term]]
                self._blocks[term] = smooths.table(term)[smooths.codes[term]], roughness
        return self._blocks[term]


def _variables(chosen: list[Term]) -> list[int]:
    return [term for term in chosen if isinstance(term, int)]


def _involves(term: Term, variable: int) -> bool:
    return variable in term if isinstance(term, tuple) else variable == term


def _p_value(now: _Fitted, variable: int) -> float:
    """Return the p-value of a variable: the smallest of its terms', times their number (Bonferroni)."""
    mine = [now.fit.p_value[k] for k, term in enumerate(now.terms) if _involves(term, variable)]
    return float(min(1.0, min(mine) * len(mine)))

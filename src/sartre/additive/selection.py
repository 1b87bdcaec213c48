"""Choose the variables of a model: a loose lasso to screen them, pairs that act together, then tests one by one.

The group lasso shrinks, so what it leaves in the residual leaks into useless variables; its support is a short list
and no more. Where there are samples enough, the list also has what a linear model of all candidates finds. It is
fitted again by penalised smooths (`smoothing.py`), which do not shrink what is needed. Pairs are added while the best
one explains more of the residual than chance would (`interactions.py`). Last, the least significant term is removed
until all that are left are significant: one at a time (or with others that have nothing to do with it), because of two
variables that say the same either can go, but not both.
"""

from __future__ import annotations

from functools import partial
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from sartre.additive.calibration import NullNorms, null_norms, solve_calibrated
from sartre.additive.group_lasso import gradient_norms, terms
from sartre.additive.interactions import ALL_PAIRS, DEGREE, PairBasis, PairSearch, pair_tail
from sartre.additive.robust import UNEQUAL, calls_for_robust, has_heavy_tails, leverages, robust_covariance
from sartre.additive.screening import linear_p_values
from sartre.additive.smoothing import term_tests
from sartre.additive.term_model import Singles, Surface, TermModel

if TYPE_CHECKING:
    from collections.abc import Collection, Sequence

    from numpy.typing import NDArray

    from sartre.additive.design import Design
    from sartre.additive.smoothing import Solved
    from sartre.additive.term_model import Term

SCREENING_LEVEL = 0.05  # chance of a useless variable to pass the screening
MOST_BY_CHANCE = 20  # of them that may be expected to pass; with more than 400 candidates the level is lower
STAY = 0.001  # p-value at which a pair stays once it is in
HOPELESS = 0.05  # p-value above which several variables may be removed in one step
SHARED = 0.1  # of its coefficients' variance that one of them may share with the others
MOST_PAIRS = 25
MOST_ROUNDS = 3  # of screening the residual
MOST_PROMISING = 10  # variables outside the model that pairs are looked for with, where there are too many for all
SAMPLES_A_TERM = 10  # from here on all straight lines are fitted at once


class FoundPair(NamedTuple):
    """Two variables that act together, their p-value and, over a grid of their values, the joint part."""

    first: int
    second: int
    p_value: float
    surface: Surface


class Selection(NamedTuple):
    """The chosen variables of one target and what is known of each; the pairs among them.

    unsettled: whether the residual has heavy tails, hidden or not, or an unequal variance: robust tests are called for.
    """

    variables: NDArray[np.intp]
    strength: NDArray[np.float64]
    margin: NDArray[np.float64]
    p_value: NDArray[np.float64]
    pairs: list[FoundPair]
    unsettled: bool
    gap: float
    converged: bool


class Prepared(NamedTuple):
    """What all targets of a table share.

    X: the columns, standardised, missing values at the mean; square (d, d): their mean products, where lines of all of
    them can be fitted at once; straight: which of them have a line (levels have none);
    intervals to screen with, and their null norms, those at the level of unequal variances by themselves; smooths to
    decide with, their null norms and their functions; what pairs are made of where they are wanted; whether the tests
    are to hold whatever the variance of the noise.
    """

    X: NDArray[np.float64]
    square: NDArray[np.float64] | None
    straight: NDArray[np.bool_]
    intervals: Design
    norms: NullNorms
    strict_norms: NDArray[np.float64]
    smooths: Design
    smooth_norms: NullNorms
    singles: Singles
    pairs: PairBasis | None
    robust: bool


def prepare_selection(
    X: NDArray[np.float64],
    intervals: Design,
    smooths: Design,
    pairs: PairBasis | None,
    robust: bool = False,
    nominal: Collection[int] = (),
    *,
    shared: bool = True,
) -> Prepared:
    """Prepare the screening and the tests of all columns of a table, NaN where missing; `nominal` ones are levels.

    `shared`: whether there will be many targets, so that what they have in common is made at once.
    """
    standardised = np.empty(X.shape, order="F")
    for j, column in enumerate(X.T):
        standardised[:, j] = standardise(column)
    n, d = X.shape
    square = standardised.T @ standardised / n if SAMPLES_A_TERM * d <= n else None
    straight = ~np.isin(np.arange(d), list(nominal))
    norms, strict, smooth_norms = NullNorms(intervals), null_norms(intervals, UNEQUAL / d), NullNorms(smooths)
    singles = Singles(standardised, smooths, shared=shared)
    screening, deciding = (intervals, norms, strict), (smooths, smooth_norms, singles)
    return Prepared(standardised, square, straight, *screening, *deciding, pairs, robust)


def screening_level(n_candidates: int) -> float:
    """Return the chance of a useless variable to pass the screening: 0.05, halved until 20 at most are expected to.

    Every one that passes is fitted and tested, so that without this bound the work for one target would grow with the
    cube of the candidates; and what stays at last has a p-value far below this level anyway.

    Examples
    --------
    >>> screening_level(100), screening_level(400), screening_level(10_000)
    (0.05, 0.05, 0.0015625)
    """
    level = SCREENING_LEVEL
    while level * n_candidates > MOST_BY_CHANCE:
        level /= 2
    return level


def standardise(column: NDArray[np.float64]) -> NDArray[np.float64]:
    """Return a column at mean zero and variance one; missing values, and all of a constant, become zero."""
    there = column[~np.isnan(column)]
    spread = float(there.std()) if len(there) else 0.0
    return np.nan_to_num((column - there.mean()) / spread) if spread > 0 else np.zeros(len(column))


def select(
    prepared: Prepared,
    y: NDArray[np.float64],
    candidates: NDArray[np.intp],
    levels: Sequence[float],
    tol: float,
    required: Sequence[int] = (),
) -> list[Selection]:
    """Choose among the candidates, at one level or at several, which share the work.

    A variable stays if p < level. With m candidates the first pair is looked for at m times the level, over all pairs,
    and the (k + 1)-th at k + 1 times that. Where no candidate has an effect, at most `expected_false` times m are
    expected to be chosen.

    Parameters
    ----------
    prepared : Prepared
    y : array of shape (n,)
        The target, standardised.
    candidates : array of ints
    levels : sequence of floats
        Of the test of one candidate.
    tol : float
        Duality gap of the screening, as in `group_lasso.solve`.
    required : sequence of ints
        Candidates that stay whatever their test says.
    """
    loose = screening_level(len(candidates))
    screened = solve_calibrated(prepared.intervals, y, candidates, prepared.norms.at(loose), tol)
    margins = {term.variable: term.margin for term in terms(prepared.intervals, y, screened)}
    short = sorted(margins, key=margins.__getitem__, reverse=True)[: max(1, len(y) // 20)]
    if SAMPLES_A_TERM * len(candidates) <= len(y):  # intervals see little of many weak straight effects
        short += _straight(prepared, y, candidates, loose)
    first: list[Term] = [j for j in candidates.tolist() if j in {*short, *required}]
    search = _Search(prepared, y, candidates, set(required))
    pairs = None if prepared.pairs is None else PairSearch(prepared.pairs, candidates)
    result = []
    for level in levels:
        chosen = search.completed(search.pruned(first, level), first, level)
        if pairs is not None:
            grown = search.grown(chosen, pairs, level)
            chosen = chosen if grown == chosen else search.pruned(grown, level)
        variables, strength, p_value = search.described(chosen)
        margin = np.array([margins.get(j, np.nan) for j in variables.tolist()])
        unsettled = calls_for_robust(
            search.residual(chosen), prepared.intervals, candidates, prepared.strict_norms
        ) or search.hides_heavy_tails(chosen)
        state = unsettled, screened.gap, screened.converged
        result.append(Selection(variables, strength, margin, p_value, search.pairs(chosen), *state))
    return result


def _straight(prepared: Prepared, y: NDArray[np.float64], candidates: NDArray[np.intp], level: float) -> list[int]:
    """Return the candidates that a linear model of all of them finds."""
    lines, n = candidates[prepared.straight[candidates]], len(y)
    if prepared.square is None:
        X = prepared.X[:, lines]
        square, cross = X.T @ X / n, X.T @ y / n
    else:
        square, cross = prepared.square[np.ix_(lines, lines)], (prepared.X.T @ y / n)[lines]
    return lines[linear_p_values(n, square, cross) < level].tolist()


def expected_false(level: float, pairs: bool) -> float:
    """Return how many false parents `select` may be expected to choose, tests exact, where none has an effect.

    With the level of one test it is a mean over the candidates, with that times their number their sum.
    """
    return level * (1 + 2 * pairs)  # a false pair brings two


class _Search:
    """Models of one target: grown by pairs, pruned by tests."""

    def __init__(
        self, prepared: Prepared, y: NDArray[np.float64], candidates: NDArray[np.intp], required: set[int]
    ) -> None:
        self._prepared, self._y, self._candidates, self._required = prepared, y, candidates, required
        self._robust = prepared.robust
        self._model = TermModel(y, prepared.singles, prepared.pairs)
        self._tested: tuple[list[Term], Solved, NDArray[np.float64]] | None = None

    def tested(self, chosen: list[Term]) -> tuple[Solved, NDArray[np.float64]]:
        """Fit the terms and test each; the last result is remembered, because it is often asked for again."""
        if self._tested is None or self._tested[0] != chosen:
            solved = self._model.solve(chosen)
            p_value = term_tests(self._model.products, solved).p_value
            if self._robust:  # the larger of two: with few samples a variance of their own makes tests too bold
                functions = self._model.functions(solved)
                covariance = robust_covariance(solved, functions, self._y - functions @ solved.beta)
                robust = term_tests(self._model.products, solved, covariance).p_value
                p_value = np.maximum(p_value, robust)
            self._tested = chosen, solved, p_value
        return self._tested[1:]

    def _fitted(self, chosen: list[Term]) -> Solved:
        """Fit the terms, if they are not those that were tested last."""
        return self._tested[1] if self._tested is not None and self._tested[0] == chosen else self._model.solve(chosen)

    def residual(self, chosen: list[Term]) -> NDArray[np.float64]:
        """Return what a model leaves of the target."""
        if not chosen:
            return self._y
        return self._model.residual(self._fitted(chosen))

    def hides_heavy_tails(self, chosen: list[Term]) -> bool:
        """Return whether the target's tails are heavy and the model follows its outliers instead of leaving them.

        Each residual is what the model without that sample would leave: over one minus the leverage.
        """
        if not chosen or not has_heavy_tails(self._y):
            return False
        solved = self._fitted(chosen)
        functions = self._model.functions(solved)
        left = np.maximum(1 - leverages(functions @ solved.inverse, functions), np.finfo(float).eps)
        return has_heavy_tails(self._model.residual(solved) / left)

    def completed(self, chosen: list[Term], tried: list[Term], level: float) -> list[Term]:
        """Screen again by what the model leaves of the target: much smaller, it shows effects that were hidden."""
        prepared, candidates = self._prepared, self._candidates
        norms = prepared.smooth_norms.at(screening_level(len(candidates)))[candidates]
        for _ in range(MOST_ROUNDS):
            residual = self.residual(chosen)
            gradients = gradient_norms(prepared.smooths, residual, candidates) * np.sqrt(len(residual))
            passing = candidates[gradients > norms * residual.std()].tolist()
            fresh = [j for j in passing if j not in tried]
            if not fresh:
                break
            tried = [*tried, *fresh]
            before, chosen = chosen, self.pruned([*chosen, *fresh], level)
            if chosen == before:  # what is left of the target is as it was
                break
        return chosen

    def grown(self, chosen: list[Term], pairs: PairSearch, level: float) -> list[Term]:
        """Add pairs, each with both variables' own functions, while the best one is significant."""
        found = 0
        while found < MOST_PAIRS:
            solved = self._fitted(chosen)
            if len(solved.columns) > len(self._y) // 3:
                break
            residual = self._model.residual(solved)
            tail = partial(self._pair_tail, solved, float(residual @ residual))
            bound = min(1.0, level * len(self._candidates) * (1 + found))
            more = pairs.best(self._promising(chosen, residual), chosen, residual, tail, bound)
            more = more[: 1 + (len(self._y) // 3 - len(solved.columns)) // DEGREE**2]
            if not more:
                break
            found += len(more)
            for first, second, _ in more:
                chosen = [*chosen, *(j for j in (first, second) if j not in chosen), (first, second)]
        return chosen

    def _pair_tail(self, solved: Solved, rss: float, pair: tuple[int, int]) -> float:
        """Return the p-value of what a pair would add to a model whose residuals have this sum of squares."""
        left = self._model.left_of_pair(pair, solved, rows=self._robust)
        return pair_tail(left, self._model.orders(pair), rss / max(solved.residual_df, 1.0), len(self._y))

    def _promising(self, chosen: list[Term], residual: NDArray[np.float64]) -> NDArray[np.intp]:
        """Return the variables that one of each pair is taken from, where there are too many for all pairs.

        Those of the model and, because a pair that acts together makes the size of the residual follow each of them,
        the few that it follows most.
        """
        inside = np.array(_variables(chosen), dtype=np.intp)
        candidates = self._candidates
        if len(candidates) <= ALL_PAIRS:
            return inside
        size = np.abs(residual - residual.mean())
        gradients = gradient_norms(self._prepared.intervals, size, candidates) * np.sqrt(len(size)) / size.std()
        norms = self._prepared.norms.at(SCREENING_LEVEL)[candidates]
        ratio = gradients / np.maximum(norms, np.finfo(float).tiny)
        most = np.argsort(-ratio, kind="stable")[:MOST_PROMISING]
        return np.union1d(inside, candidates[most[ratio[most] > 1]])

    def pruned(self, chosen: list[Term], level: float) -> list[Term]:
        """Remove the least significant pair, then the least significant variable with its pairs, again and again.

        With it go others that are far from significant, where neither stands for the other.
        """
        while chosen:
            solved, p_value = self.tested(chosen)
            pairs = [(p_value[k], term) for k, term in enumerate(chosen) if isinstance(term, tuple)]
            if pairs and max(pairs)[0] > STAY:
                chosen = [term for term in chosen if term != max(pairs)[1]]
                continue
            free = [(p, j) for j, p in _p_values(chosen, p_value).items() if j not in self._required]
            if not free or max(free)[0] < level:
                break
            gone = _apart(chosen, solved, sorted(free, reverse=True), max(HOPELESS, level))
            chosen = [term for term in chosen if not any(_involves(term, j) for j in gone)]
        return chosen

    def described(self, chosen: list[Term]) -> tuple[NDArray[np.intp], NDArray[np.float64], NDArray[np.float64]]:
        """Return the variables, the share of variance lost without each, and its p-value."""
        variables = _variables(chosen)
        if not variables:
            return np.empty(0, dtype=np.intp), np.empty(0), np.empty(0)
        solved, p_value = self.tested(chosen)
        square, cross = self._model.inner_products(solved)
        left = cross - square @ solved.beta
        strength = []
        for j in variables:
            mine = np.array([_involves(term, j) for term in chosen])[solved.owner]
            beta = solved.beta * mine
            strength.append(beta @ square @ beta + 2 * left @ beta)
        return np.array(variables), np.array(strength), np.array(list(_p_values(chosen, p_value).values()))

    def pairs(self, chosen: list[Term]) -> list[FoundPair]:
        """Return the pairs with what is known of them."""
        if not chosen:
            return []
        solved, p_value = self.tested(chosen)
        return [
            FoundPair(*term, float(p_value[k]), self._model.surface(term, solved.beta[solved.owner == k]))
            for k, term in enumerate(chosen)
            if isinstance(term, tuple)
        ]


def _variables(chosen: list[Term]) -> list[int]:
    return [term for term in chosen if isinstance(term, int)]


def _involves(term: Term, variable: int) -> bool:
    return variable in term if isinstance(term, tuple) else variable == term


def _apart(chosen: list[Term], solved: Solved, ranked: list[tuple[float, int]], enough: float) -> list[int]:
    """Return the least significant variable, and more with p > enough that can be removed in the same step.

    Without some variables the others' coefficients have the covariance that they have given theirs. Where it is hardly
    less than it was, what is said of the others does not depend on the removal. Of variables that stand for each other,
    two or twenty, the last ones' would be much less.
    """
    far = [j for k, (p_value, j) in enumerate(ranked) if k == 0 or p_value > enough]
    if len(far) == 1:
        return far
    gone: list[int] = []
    variance, left = solved.inverse.diagonal(), solved.inverse.copy()
    for j in far:
        mine = _columns_of(j, chosen, solved)
        if not gone or (left[mine, mine] >= (1 - SHARED) * variance[mine]).all():
            gone.append(j)
            left -= left[:, mine] @ np.linalg.solve(left[np.ix_(mine, mine)], left[mine])
    return gone


def _columns_of(variable: int, chosen: list[Term], solved: Solved) -> NDArray[np.intp]:
    return np.flatnonzero(np.array([_involves(term, variable) for term in chosen])[solved.owner])


def _p_values(chosen: list[Term], p_values: NDArray[np.float64]) -> dict[int, float]:
    """Return the p-value of every variable, from those of its terms."""
    mine: dict[int, list[float]] = {j: [] for j in _variables(chosen)}
    for term, p_value in zip(chosen, p_values.tolist(), strict=True):
        for j in term if isinstance(term, tuple) else (term,):
            mine[j].append(p_value)
    return {j: combined(all_of_it) if len(all_of_it) > 1 else all_of_it[0] for j, all_of_it in mine.items()}


def combined(p_values: list[float]) -> float:
    """Combine p-values of dependent tests by the mean of their Cauchy quantiles (Liu and Xie, 2020).

    Small p-values come out as their harmonic mean: Bonferroni's, where one is much smaller than the others, and less
    where several are small. None counts as more than 0.99, so that a useless term cannot outweigh a useful one.

    Examples
    --------
    >>> [round(combined(some), 9) for some in ([1e-6, 0.8, 1.0], [1e-6, 1e-6], [0.0, 0.5], [1e-310, 0.5])]
    [3e-06, 1e-06, 0.0, 0.0]
    """
    with np.errstate(divide="ignore", over="ignore"):
        quantiles = 1 / np.tan(np.pi * np.minimum(p_values, 0.99))
    return float(np.arctan2(1, quantiles.mean()) / np.pi)

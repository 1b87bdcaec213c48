"""Backward elimination alone, on models with known answers; models from rows and from sums give the same answers."""

from __future__ import annotations

import numpy as np
import pytest
from scipy.stats import norm
from scipy.stats import t as student

from sartre.additive.bases.splines import smooth_bases
from sartre.additive.design import prepare
from sartre.additive.gram import gram_of_design
from sartre.additive.smooth_sums import SmoothCounter
from sartre.additive.smoothing import Solved
from sartre.data.table import standardise, standardise_columns
from sartre.prune.sartre.backward import Elimination, combined
from sartre.prune.sartre.constants import PAIR_STAYS
from sartre.prune.sartre.large import SumModel
from sartre.prune.sartre.rows import RowModel, share_rows
from sartre.prune.sartre.screen import NullNorms

LEVEL = 0.01


class LeastSquares:
    """A plain regression on columns, in which a pair is the product of two columns; p-values may be given.

    X (n, d), y (n,): standardised. known: the p-value of every term; those of t tests if none are given. pulling: the
    variables associated with the residual in each round, one set per round; computed from the residual if none are
    given. solves: the terms of every requested fit.
    """

    def __init__(self, X, y, known=None, pulling=None, ridge=1e-10):
        self.n, self.X, self.y, self.ridge = len(X), X, y, ridge
        self.known, self.pulling = known, pulling
        self.solves, self.rounds = [], 0

    def functions(self, chosen):
        columns = [self.X[:, j] if isinstance(j, int) else standardise(self.X[:, j].prod(axis=1)) for j in chosen]
        return np.column_stack([np.empty((self.n, 0)), *columns])

    def solve(self, chosen):
        self.solves.append(list(chosen))
        F, q = self.functions(chosen), len(chosen)
        inverse = np.linalg.inv(F.T @ F / self.n + self.ridge * np.eye(q))
        beta = inverse @ F.T @ self.y / self.n
        places, df = np.arange(q), float(self.n - q - 1)
        return Solved(
            variables=places,
            columns=places,
            owner=places,
            penalty=np.zeros(q),
            inverse=inverse,
            beta=beta,
            log_lambda=np.full(q, np.inf),
            edf=np.ones(q),
            residual_df=df,
            scale=float(((self.y - F @ beta) ** 2).sum() / df),
            n_iterations=1,
            converged=True,
        )

    def p_values(self, solved):
        if self.known is not None:
            return np.array([self.known[term] for term in self.solves[-1]])
        spread = np.sqrt(solved.scale / self.n * solved.inverse.diagonal())
        return 2 * student.sf(np.abs(solved.beta) / spread, solved.residual_df)

    def null_norms(self, level):
        return np.full(self.X.shape[1], norm.isf(level / 2))

    def pulls(self, solved, candidates):
        self.rounds += 1
        if self.pulling is not None:
            return np.where(np.isin(candidates, list(self.pulling[self.rounds - 1])), 10.0, 0.0)
        residual = self.y if solved is None else self.y - self.functions(self.solves[-1]) @ solved.beta
        return np.abs(self.X[:, candidates].T @ residual) / np.sqrt(self.n) / residual.std()


def orthonormal(d, n=200):
    """Return d columns that are exactly uncorrelated."""
    Q = np.linalg.qr(np.column_stack([np.ones(n), np.random.default_rng(0).normal(size=(n, d))]))[0]
    return np.sqrt(n) * Q[:, 1:]


def correlated(groups, rho=0.9):
    """Return one column per entry; those with the same entry have exactly this correlation, others none."""
    d = len(groups)
    Q = orthonormal(d)
    covariance = np.where(np.equal.outer(groups, groups), rho, 0.0) + (1 - rho) * np.eye(d)
    return Q @ np.linalg.cholesky(covariance).T


def pruned(X, known, chosen=None, level=LEVEL, required=()):
    """Return the remaining terms and the terms of every fit for known p-values."""
    d = X.shape[1]
    model = LeastSquares(X, orthonormal(d + 1)[:, d], known)
    chosen = list(range(d)) if chosen is None else chosen
    stays = Elimination(model, np.arange(d), set(required)).pruned(chosen, level)
    return stays, model.solves


# Removals and their order


def test_variables_are_removed_one_at_a_time_the_least_significant_first():
    stays, solves = pruned(correlated([0, 0, 0, 0]), {0: 0.3, 1: 0.9, 2: 0.6, 3: 1e-9})
    assert solves == [[0, 1, 2, 3], [0, 2, 3], [0, 3], [3]]
    assert stays == [3]


def test_of_equal_p_values_the_last_variable_goes_first():
    stays, solves = pruned(orthonormal(3), {0: 1.0, 1: 1.0, 2: 1e-9})
    assert solves == [[0, 1, 2], [0, 2], [2]]
    assert stays == [2]


@pytest.mark.parametrize(("p_value", "stays"), [(LEVEL, []), (np.nextafter(LEVEL, 0), [0])])
def test_a_variable_stays_if_its_p_value_is_below_the_level(p_value, stays):
    assert pruned(orthonormal(1), {0: p_value})[0] == stays


def test_required_variables_never_go_and_the_others_still_do():
    known = {0: 1.0, 1: 0.9, 2: 0.5, 3: 1e-9}
    stays, solves = pruned(correlated([0, 0, 0, 0]), known, required=[0, 2])
    assert solves == [[0, 1, 2, 3], [0, 2, 3]]
    assert stays == [0, 2, 3]
    assert pruned(orthonormal(4), known, required=range(4))[0] == [0, 1, 2, 3]


@pytest.mark.parametrize(("n_copies", "noise"), [(2, 0.0), (3, 0.0), (20, 0.0), (2, 1e-3)])
def test_of_copies_exactly_one_stays(n_copies, noise):
    rng = np.random.default_rng(1)
    x = rng.normal(size=300)
    X = standardise_columns(np.column_stack([x + noise * rng.normal(size=300) for _ in range(n_copies)]))
    model = LeastSquares(X, standardise(x + rng.normal(size=300)))
    stays = Elimination(model, np.arange(n_copies), set()).pruned(list(range(n_copies)), LEVEL)
    assert len(stays) == 1  # of two near copies, both would remain with probability LEVEL


def test_the_result_is_the_same_in_whichever_order_the_terms_are_listed():
    rng = np.random.default_rng(2)
    X = standardise_columns(rng.normal(size=(300, 8)) + rng.normal(size=(300, 1)))
    y = standardise(X[:, 2] - X[:, 5] + rng.normal(size=300))
    stays = [
        sorted(Elimination(LeastSquares(X, y), np.arange(8), set()).pruned(rng.permutation(8).tolist(), LEVEL))
        for _ in range(3)
    ]
    assert stays[0] == stays[1] == stays[2]
    assert {2, 5} <= set(stays[0])


def test_nothing_is_fitted_for_no_terms():
    assert pruned(orthonormal(2), {}, chosen=[]) == ([], [])


# Pairs


def test_pairs_go_before_variables_and_the_least_significant_first():
    known = {0: 1e-9, 1: 0.99, 2: 1e-9, (0, 1): 0.5, (0, 2): 2 * PAIR_STAYS, (1, 2): 0.8}
    stays, solves = pruned(orthonormal(3), known, chosen=[0, 1, 2, (0, 1), (0, 2), (1, 2)])
    assert solves == [
        [0, 1, 2, (0, 1), (0, 2), (1, 2)],
        [0, 1, 2, (0, 1), (0, 2)],
        [0, 1, 2, (0, 2)],
        [0, 1, 2],
        [0, 2],
    ]
    assert stays == [0, 2]


def test_a_variable_without_an_effect_of_its_own_stays_for_its_pair():
    known = {0: 0.9, 1: 0.9, (0, 1): 1e-6}
    assert pruned(orthonormal(2), known, chosen=[0, 1, (0, 1)])[0] == [0, 1, (0, 1)]


def test_a_variable_takes_its_pairs_with_it():
    known = {0: 1e-12, 1: 0.9, 2: 1e-12, (0, 1): 1e-5, (0, 2): 1e-9}
    stays, solves = pruned(orthonormal(3), known, chosen=[0, 1, 2, (0, 1), (0, 2)], level=1e-7)
    assert solves == [[0, 1, 2, (0, 1), (0, 2)], [0, 2, (0, 2)]]
    assert stays == [0, 2, (0, 2)]


def test_a_pair_of_required_variables_is_not_required():
    known = {0: 1.0, 1: 1.0, (0, 1): 0.5}
    assert pruned(orthonormal(2), known, chosen=[0, 1, (0, 1)], required=[0, 1])[0] == [0, 1]


# Combined p-values


def test_combined_p_values_have_closed_forms():
    for p in (1e-12, 0.003, 0.2, 0.5):
        assert combined([p, p, p]) == pytest.approx(p)
        assert combined([p, 0.5]) == pytest.approx(np.arctan2(2, 1 / np.tan(np.pi * p)) / np.pi)
    assert combined([0.2, 0.8]) == pytest.approx(0.5)  # opposite quantiles
    assert combined([1e-9, 1e-6, 0.5]) == pytest.approx(3 / (1e9 + 1e6), rel=1e-6)  # this is the harmonic mean
    assert combined([0.3, 1.0]) == combined([0.3, 0.99])


def test_combining_goes_up_with_each_p_value_whatever_their_order():
    rng = np.random.default_rng(0)
    for p_values in rng.uniform(0, 0.9, size=(20, 4)):
        whole = combined(p_values.tolist())
        assert combined(p_values[::-1].tolist()) == pytest.approx(whole)
        assert min(p_values) <= whole <= max(p_values)
        assert all(combined((p_values + 0.05 * one).tolist()) > whole for one in np.eye(4))


# Screening by the residual of a model


def test_what_pulls_is_added_and_kept_if_it_is_significant():
    X = orthonormal(4)
    noise = orthonormal(5)[:, 4]
    model = LeastSquares(X, standardise(3 * X[:, 0] + X[:, 1] + noise / 3))
    chosen = Elimination(model, np.arange(4), set()).completed([0], [0], LEVEL)
    assert chosen == [0, 1]
    assert model.rounds == 2  # the residual is then associated with nothing
    assert model.solves[0] == [0]


def test_a_model_without_terms_can_be_completed():
    X = orthonormal(3)
    model = LeastSquares(X, standardise(X[:, 2] + orthonormal(4)[:, 3]))
    assert Elimination(model, np.arange(3), set()).completed([], [], LEVEL) == [2]
    nothing = LeastSquares(X, orthonormal(4)[:, 3])
    assert Elimination(nothing, np.arange(3), set()).completed([], [], LEVEL) == []
    assert nothing.solves == []


def test_only_candidates_that_were_not_tried_are_added():
    known = dict.fromkeys(range(4), 1e-9)
    model = LeastSquares(orthonormal(4), orthonormal(5)[:, 4], known, pulling=[{1, 2, 3}, set()])
    assert Elimination(model, np.array([0, 1, 3]), set()).completed([0], [0, 1], LEVEL) == [0, 3]


def test_screening_ends_where_what_was_added_is_removed_again():
    model = LeastSquares(orthonormal(3), orthonormal(4)[:, 3], {0: 1e-9, 1: 0.5, 2: 1e-9}, pulling=[{1}])
    assert Elimination(model, np.arange(3), set()).completed([0], [0], LEVEL) == [0]
    assert model.rounds == 1


def test_screening_goes_on_while_it_finds_something():
    known = dict.fromkeys(range(6), 1e-9)
    pulling = [{1}, {2}, {3}, {4}, {5}, set()]
    model = LeastSquares(orthonormal(6), orthonormal(7)[:, 6], known, pulling=pulling)
    assert Elimination(model, np.arange(6), set()).completed([0], [0], LEVEL) == [0, 1, 2, 3, 4, 5]
    assert model.rounds == 6


# Describing a model


@pytest.mark.parametrize("ridge", [1e-10, 0.2])  # in a shrunken fit the residual is still correlated with each term
@pytest.mark.parametrize("chosen", [[0, 1, 2], [0, 1, 2, (0, 1), (1, 2)]], ids=["variables", "pairs"])
def test_strength_is_the_variance_that_is_lost_where_the_others_are_fitted_again(ridge, chosen):
    rng = np.random.default_rng(3)
    X = standardise_columns(rng.normal(size=(150, 3)) + rng.normal(size=(150, 1)))
    y = standardise(X[:, 0] + X[:, 0] * X[:, 1] + rng.normal(size=150))
    model = LeastSquares(X, y, ridge=ridge)
    found = Elimination(model, np.arange(3), set()).described(chosen)

    def noise(terms):
        F = model.functions(terms)
        beta = np.linalg.solve(F.T @ F / 150 + ridge * np.eye(len(terms)), F.T @ y / 150)
        return ((y - F @ beta) ** 2).sum() / (150 - len(terms) - 1)

    assert found.variables.tolist() == [0, 1, 2]
    for j, strength in enumerate(found.strength):
        others = [term for term in chosen if (term != j if isinstance(term, int) else j not in term)]
        lost = (noise(others) - noise(chosen)) / y.var(ddof=1)
        assert strength == pytest.approx(min(max(lost, 0.0), 1.0))
    assert found.strength[0] > 0.1


def test_p_values_of_a_variable_are_those_of_its_terms_combined():
    known = {0: 0.2, 1: 0.3, (0, 1): 1e-6}
    model = LeastSquares(orthonormal(2), orthonormal(3)[:, 2], known)
    found = Elimination(model, np.arange(2), set()).described([1, 0, (0, 1)])
    assert found.variables.tolist() == [1, 0]
    assert found.p_value.tolist() == [combined([0.3, 1e-6]), combined([0.2, 1e-6])]


def test_what_was_tested_last_is_not_fitted_again():
    model = LeastSquares(orthonormal(3), orthonormal(4)[:, 3], dict.fromkeys(range(3), 1e-9))
    elimination = Elimination(model, np.arange(3), set())
    stays = elimination.pruned([0, 1, 2], LEVEL)
    elimination.fitted(stays)
    assert model.solves == [[0, 1, 2]]
    elimination.described(stays)
    assert model.solves[1:] == [[1, 2], [0, 2], [0, 1]]  # what is lost without each
    elimination.fitted(stays)
    assert len(model.solves) == 4
    elimination.fitted([0, 1])
    assert len(model.solves) == 5


def test_a_model_without_terms_has_nothing_to_describe():
    found = Elimination(LeastSquares(orthonormal(1), orthonormal(2)[:, 1]), np.arange(1), set()).described([])
    assert [len(each) for each in found] == [0, 0, 0]


# Rows and sums


def tangled(n, seed):
    """Return seven columns that depend on each other, the last on columns 1 and 2."""
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(n, 7)) + 0.7 * rng.normal(size=(n, 1))
    X[:, 6] = np.sin(2 * X[:, 1]) + X[:, 2] / 2 + rng.normal(size=n)
    return X


def models(X, target):
    """Return the models of a column from rows, from sums over the same bins, and from sums over hat functions."""
    smooths = prepare(X, smooth_bases(X, 10))
    shared = share_rows(X, smooths, pairs=None)
    counter = SmoothCounter.of(X)
    grams = gram_of_design(smooths, shared.X), counter.gram(counter.count(X), 10)
    by_sums = [SumModel(gram, NullNorms([np.ones(rank) for rank in gram.rank]), target) for gram in grams]
    return [RowModel(shared, shared.X[:, target]), *by_sums]


@pytest.mark.parametrize("seed", range(4))
@pytest.mark.parametrize("level", [LEVEL, 0.3])
def test_rows_and_sums_of_the_same_functions_remove_the_same_and_test_alike(seed, level):
    candidates = np.arange(6)
    rows, bins, _ = models(tangled(800, seed), target=6)
    eliminations = [Elimination(model, candidates, required={5}) for model in (rows, bins)]
    stays = [elimination.pruned(candidates.tolist(), level) for elimination in eliminations]
    assert stays[0] == stays[1]
    assert {1, 2, 5} <= set(stays[0])
    by_rows, by_sums = (elimination.described(stays[0]) for elimination in eliminations)
    np.testing.assert_allclose(by_sums.strength, by_rows.strength, rtol=1e-6)
    np.testing.assert_allclose(np.log(by_sums.p_value), np.log(by_rows.p_value), rtol=1e-4, atol=1e-6)


@pytest.mark.parametrize("seed", range(4))
def test_rows_and_sums_of_the_same_functions_pull_alike_and_are_completed_alike(seed):
    candidates = np.arange(6)
    rows, bins, _ = models(tangled(800, seed), target=6)
    for chosen in ([], [2], [2, 1]):
        by_rows, by_sums = (model.pulls(model.solve(chosen) if chosen else None, candidates) for model in (rows, bins))
        np.testing.assert_allclose(by_sums, by_rows, rtol=1e-6)
    np.testing.assert_allclose(bins.null_norms(0.05), rows.null_norms(0.05))
    completed = [Elimination(model, candidates, set()).completed([2], [2], LEVEL) for model in (rows, bins)]
    assert completed[0] == completed[1]
    assert {1, 2} <= set(completed[0])


@pytest.mark.parametrize("seed", range(4))
def test_hat_functions_with_other_knots_remove_the_same_and_test_nearly_alike(seed):
    candidates = np.arange(6)
    rows, _, hats = models(tangled(800, seed), target=6)
    eliminations = [Elimination(model, candidates, required={5}) for model in (rows, hats)]
    stays = [elimination.pruned(candidates.tolist(), LEVEL) for elimination in eliminations]
    assert stays[0] == stays[1]
    by_rows, by_sums = (elimination.described(stays[0]) for elimination in eliminations)
    np.testing.assert_allclose(by_sums.strength, by_rows.strength, atol=0.02)
    np.testing.assert_allclose(np.log(by_sums.p_value), np.log(by_rows.p_value), rtol=0.1, atol=0.1)

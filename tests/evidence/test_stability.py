"""Stability: the same numbers for any processes or interruptions, a consensus without cycles, a valid bound."""

from __future__ import annotations

import warnings
from itertools import pairwise

import numpy as np
import pandas as pd
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays
from scipy.optimize import linprog
from sklearn.base import BaseEstimator

from sartre import CausalDiscovery, Knowledge, stability
from sartre.evidence.stability import Stability, half_sample
from sartre.graph.paths import transitive_closure
from sartre.order import SCORE
from sartre.order.search.climb import Climb
from sartre.prune import SARTRE, CAMPruning

MODEL = CausalDiscovery(order=SCORE(), prune=SARTRE())


def chain(n, d, seed=0):
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(n, d))
    for j in range(1, d):
        X[:, j] = np.sin(2 * X[:, j - 1]) + X[:, j] / 2
    return pd.DataFrame(X, columns=list("abcdef")[:d])


def assert_same(one, other):
    np.testing.assert_array_equal(one.edge_frequency, other.edge_frequency)
    np.testing.assert_array_equal(one.order_frequency, other.order_frequency)
    assert one.n_pairs == other.n_pairs


@pytest.fixture(scope="module")
def table():
    return chain(120, 4)


@pytest.fixture(scope="module")
def whole(table):
    return stability(MODEL, table, n_pairs=6, random_state=1)


# Frequencies


def test_the_edges_of_a_chain_are_found_time_and_again():
    found = stability(CausalDiscovery(prune=CAMPruning()), chain(800, 4), n_pairs=5, random_state=0)
    assert found.consensus().edges == [("a", "b"), ("b", "c"), ("c", "d")]
    assert found.frequencies["frequency"].head(3).min() > 0.8


@pytest.mark.parametrize("seed", [0, 1, 2])
@pytest.mark.parametrize("pruner", [CAMPruning(), SARTRE(penalty="auto")], ids=["cam", "auto"])
def test_independent_columns_have_no_frequent_edge(pruner, seed):
    X = np.random.default_rng(seed).normal(size=(500, 6))
    found = stability(CausalDiscovery(prune=pruner), X, n_pairs=10, random_state=seed)
    assert found.edge_frequency.max() <= 0.2
    assert found.consensus().n_edges == 0


def test_independent_columns_have_no_frequent_edge_by_default():
    X = np.random.default_rng(0).normal(size=(2000, 5))
    assert stability(CausalDiscovery(), X, n_pairs=5, random_state=0).edge_frequency.max() <= 0.2


def test_frequencies_count_the_graphs_of_the_halves(table, whole):
    edges, orders = np.zeros((4, 4)), np.zeros((4, 4))
    for number in range(12):
        half = table.iloc[half_sample(len(table), 1, number)]
        seed = int(np.random.SeedSequence(1, spawn_key=divmod(number, 2)).generate_state(1)[0])
        model = CausalDiscovery(order=SCORE(), prune=SARTRE(), random_state=seed).fit(half)
        edges += model.adjacency_matrix_ / 12
        for k, i in enumerate(model.order_):
            orders[i, model.order_[k + 1 :]] += 1 / 12
    np.testing.assert_allclose(whole.edge_frequency, edges)
    np.testing.assert_allclose(whole.order_frequency, orders)


def test_the_two_halves_of_a_pair_share_no_row():
    for n in (20, 21):
        halves = [half_sample(n, 5, number) for number in range(8)]
        for first, second in zip(halves[::2], halves[1::2], strict=True):
            assert len(first) == len(second) == n // 2
            assert not set(first) & set(second)
        assert len({tuple(half) for half in halves}) == 8


def test_the_table_of_frequencies_shows_both_directions(whole):
    frame = whole.frequencies
    assert len(frame) == (whole.edge_frequency > 0).sum()
    assert frame["frequency"].is_monotonic_decreasing
    for edge in frame.itertuples():
        i, j = whole.names.index(edge.source), whole.names.index(edge.target)
        assert edge.frequency == whole.edge_frequency[i, j] <= edge.before == whole.order_frequency[i, j]
        assert edge.reverse == whole.edge_frequency[j, i]
    np.testing.assert_allclose(whole.order_frequency + whole.order_frequency.T, 1 - np.eye(4))


def test_knowledge_holds_on_every_half_and_known_edges_are_not_candidates(table):
    known = Knowledge(required=[("d", "a")], forbidden=[("a", "b")], before=[("c", "b")])
    model = CausalDiscovery(prune=CAMPruning(), knowledge=known)
    found = stability(model, chain(200, 4), n_pairs=3, random_state=0)
    a, b, c, d = range(4)
    assert found.edge_frequency[d, a] == found.order_frequency[d, a] == found.order_frequency[c, b] == 1
    assert found.edge_frequency[a, b] == found.edge_frequency[b, c] == 0
    assert found.open.sum() == 12 - 4  # d -> a, a -> d, a -> b, b -> c
    with pytest.raises(ValueError, match=r"only columns of the table\. Got 'z'"):
        stability(CausalDiscovery(knowledge=Knowledge(roots=["z"])), table)


# The same numbers


def test_the_number_of_processes_changes_nothing(table, whole):
    assert_same(whole, stability(MODEL, table, n_pairs=6, n_jobs=2, random_state=1))
    other = stability(MODEL, table, n_pairs=6, random_state=2)
    assert (other.order_frequency != whole.order_frequency).any()


def test_more_pairs_continue_where_fewer_stopped(table, whole, tmp_path):
    path = tmp_path / "runs.json"
    few = stability(MODEL, table, n_pairs=2, random_state=1, checkpoint=path)
    assert_same(few, stability(MODEL, table, n_pairs=2, random_state=1))
    assert_same(whole, stability(MODEL, table, n_pairs=6, random_state=1, checkpoint=path))
    assert_same(few, stability(MODEL, table, n_pairs=2, checkpoint=path))


class Seeded(BaseEstimator):
    seen = []  # noqa: RUF012 - of all copies

    def __init__(self, random_state=None):
        self.random_state = random_state

    def fit(self, X):
        Seeded.seen.append(self.random_state)
        d = X.shape[1]
        self.order_, self.adjacency_matrix_ = np.arange(d), np.zeros((d, d))
        return self


def test_each_half_has_its_own_seed_unless_the_model_has_one(table):
    Seeded.seen.clear()
    stability(Seeded(), table, n_pairs=5, random_state=0)
    assert len(set(Seeded.seen)) == 10
    Seeded.seen.clear()
    stability(Seeded(random_state=7), table, n_pairs=5, random_state=0)
    assert Seeded.seen == [7] * 10


# Awkward halves


class Talkative(Seeded):
    def fit(self, X):
        warnings.warn(f"Column 'x{self.random_state}' has {self.random_state} of it.", UserWarning, stacklevel=2)
        return super().fit(X)


@pytest.mark.parametrize("n_jobs", [1, 2])
def test_a_warning_of_every_half_is_shown_once(table, n_jobs):
    with pytest.warns(
        UserWarning, match=r"Column 'x\d+' has \d+ of it. \(Half-samples gave 8 such warnings.\)"
    ) as caught:
        stability(Talkative(), table, n_pairs=4, n_jobs=n_jobs, random_state=0)
    assert len(caught) == 1
    assert caught[0].filename == __file__


def test_a_column_that_is_constant_on_some_halves_does_no_harm():
    rare = chain(250, 4).assign(rare=np.arange(250) == 17)
    model = CausalDiscovery(prune=CAMPruning(), knowledge=Knowledge(required=[("rare", "a")]))
    found = stability(model, rare, n_pairs=3, random_state=0)
    assert found.edge_frequency[4, 0] == 1


@pytest.mark.parametrize(("n_pairs", "error"), [(0, ValueError), (2.5, TypeError)])
def test_wrong_numbers_of_pairs_are_refused(table, n_pairs, error):
    with pytest.raises(error, match="'n_pairs' parameter of stability"):
        stability(MODEL, table, n_pairs=n_pairs)
    with pytest.raises(ValueError, match=r"At least 20 rows are needed. Got 19"):
        stability(MODEL, table.head(19))


# The consensus


def result(edge_frequency, order_frequency=None, n_pairs=50):
    d = len(edge_frequency)
    orders = np.full((d, d), 0.5) if order_frequency is None else order_frequency
    names = tuple(f"x{j}" for j in range(d))
    return Stability(names, n_pairs, np.asarray(edge_frequency, float), orders, ~np.eye(d, dtype=bool))


SHARES = st.integers(0, 10).map(lambda k: k / 10)


@settings(deadline=None)
@given(arrays(float, (6, 6), elements=SHARES), arrays(float, (6, 6), elements=SHARES), st.integers(1, 10))
def test_a_consensus_has_no_cycle_and_leaves_out_only_what_would_close_one(edges, orders, tenths):
    edges[np.diag_indices(6)] = 0.0
    before = np.triu(orders, 1)
    found = result(edges, before + np.tril(1 - before.T, -1))
    dag = found.consensus(tenths / 10)  # a Dag with a cycle cannot be created
    kept = dag.adjacency == 1
    assert (edges[kept] >= tenths / 10).all()
    closed = transitive_closure(kept | (found.order_frequency == 1))
    for i, j in np.argwhere((edges >= tenths / 10) & ~kept):
        assert closed[j, i]


def test_runs_without_cycles_can_vote_for_one():
    orders = [[0, 1, 2], [1, 2, 0], [2, 0, 1]]
    edges = np.zeros((3, 3))
    for order in orders:
        for a, b in pairwise(order):
            edges[a, b] += 1 / 3
    assert transitive_closure(edges >= 0.6).diagonal().all()
    assert result(edges).consensus().edges == [("x0", "x1"), ("x1", "x2")]


def test_a_detour_against_what_all_runs_agree_on_is_left_out():
    edges, orders = np.zeros((3, 3)), np.full((3, 3), 0.5)
    edges[0, 1], edges[1, 2] = 0.8, 0.7
    orders[2, 0], orders[0, 2] = 1.0, 0.0
    assert result(edges, orders).consensus().edges == [("x0", "x1")]


# The bound


def worst_case(threshold, theta, n_pairs, *, unimodal):
    """Return the largest P(share >= 2 threshold - 1) over distributions on 0, 1/B, ..., 1 with mean at most theta^2."""
    shares = np.arange(n_pairs + 1) / n_pairs
    gain = -(shares >= 2 * threshold - 1 - 1e-9).astype(float)
    one, mean = np.ones((1, n_pairs + 1)), shares[None, :]
    steps = np.diff(np.eye(n_pairs + 1), axis=0)  # p[k + 1] - p[k]
    best = 0.0
    for mode in range(n_pairs + 1) if unimodal else [None]:
        signs = np.zeros(0) if mode is None else np.where(np.arange(n_pairs) < mode, -1.0, 1.0)
        rows = np.vstack([mean, steps * signs[:, None]]) if unimodal else mean
        limits = np.append(theta**2, np.zeros(len(rows) - 1))
        program = linprog(gain, A_ub=rows, b_ub=limits, A_eq=one, b_eq=[1.0])
        best = max(best, -program.fun if program.success else 0.0)  # a mode far above the mean is impossible
    return best


def bound(threshold, theta, n_pairs, *, unimodal):
    """Return the library's bound on P(frequency >= threshold) for one edge of probability theta."""
    found = result(np.where(np.eye(5, dtype=bool), 0.0, theta), n_pairs=n_pairs)
    return found.false_edges_bound(threshold, unimodal=unimodal) / 20


@pytest.mark.parametrize("theta", [0.05, 0.1, 0.2])
@pytest.mark.parametrize("threshold", [0.6, 0.65, 0.7, 0.75, 0.8, 0.9, 1.0])
def test_the_bound_is_that_of_the_worst_distribution(threshold, theta):
    general = bound(threshold, theta, 20, unimodal=False)
    assert general == pytest.approx(worst_case(threshold, theta, 20, unimodal=False))
    unimodal = bound(threshold, theta, 20, unimodal=True)
    worst = worst_case(threshold, theta, 20, unimodal=True)
    assert worst <= unimodal + 1e-9
    assert unimodal == pytest.approx(worst, rel=0.1)
    assert unimodal <= general


def test_the_bound_is_q_squared_over_p_and_twice_the_threshold_less_one():
    edges = np.zeros((4, 4))
    edges[0, 1], edges[1, 2], edges[0, 3] = 1.0, 0.9, 0.1
    assert result(edges).false_edges_bound(0.75) == pytest.approx(2.0**2 / 12 / 0.5)
    assert result(edges).false_edges_bound(0.9) == pytest.approx(2.0**2 / 12 / 0.8)
    assert result(edges, n_pairs=2).false_edges_bound(0.6) == result(edges, n_pairs=2).false_edges_bound(0.75)
    assert result(np.zeros((4, 4))).false_edges_bound() == 0
    with pytest.raises(ValueError, match="'threshold' parameter of false_edges_bound"):
        result(edges).false_edges_bound(0.5)


def test_where_unimodality_does_not_help_the_general_bound_holds():
    dense = np.where(np.eye(4, dtype=bool), 0.0, 0.7)
    assert result(dense).false_edges_bound(0.9, unimodal=True) == result(dense).false_edges_bound(0.9)
    half = np.where(np.eye(4, dtype=bool), 0.0, 0.5)
    assert result(half).false_edges_bound(0.6, unimodal=True) == result(half).false_edges_bound(0.6)


def test_random_selections_stay_below_the_bound():
    rng = np.random.default_rng(0)
    p, n_pairs, theta = 90, 50, 0.3
    counts = []
    for _ in range(300):  # each edge has a random effect, so that its two halves and all its pairs agree too often
        mood = rng.random((p, 1)) < theta
        picked = np.where(rng.random((p, 2 * n_pairs)) < 0.3, mood, rng.random((p, 2 * n_pairs)) < theta)
        counts.append((picked.mean(axis=1) >= 0.6).sum())
    edges = np.where(np.eye(10, dtype=bool), 0.0, theta)
    assert 0 < np.mean(counts) <= result(edges).false_edges_bound(0.6)


def test_it_reads_well():
    edges = np.zeros((3, 3))
    edges[0, 1], edges[2, 1] = 1.0, 0.25
    text = "Stability: 50 pairs of half-samples, 3 variables, 1.2 edges per half\n  1.00 x0 -> x1\n  0.25 x2 -> x1"
    assert repr(result(edges)) == text


def test_ctrl_c_in_the_search_of_one_half_ends_them_all(table, monkeypatch):
    def interrupted(*_):
        raise KeyboardInterrupt

    monkeypatch.setattr(Climb, "shaken", interrupted)
    with pytest.raises(KeyboardInterrupt):
        stability(CausalDiscovery(random_state=0), table, n_pairs=1)

from __future__ import annotations

import networkx as nx
import numpy as np
import pandas as pd
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from sartre import Dag
from sartre.metrics import (
    ancestor_aid,
    edge_f1,
    edge_precision,
    edge_recall,
    order_divergence,
    oset_aid,
    parent_aid,
    shd,
    sid,
    sortability,
)
from sartre.simulate import random_dag

COUNTS = [shd, sid, parent_aid, ancestor_aid, oset_aid]
SHARES = [edge_precision, edge_recall, edge_f1]
properties = settings(deadline=None, max_examples=60, derandomize=True)


def dags_of(d):
    return st.builds(
        random_dag,
        st.just(d),
        st.integers(0, d * (d - 1) // 2),
        random_state=st.integers(0, 2**32),
    )


dags = st.integers(1, 7).flatmap(dags_of)
pairs = st.integers(1, 7).flatmap(lambda d: st.tuples(dags_of(d), dags_of(d)))


def sid_by_definition(truth, guess):
    """Compute Peters and Buehlmann's definition pair by pair, with networkx for the paths and the separation."""
    graph = truth.to_networkx()
    return sum(not _identified(graph, set(guess.parents(i)), i, j) for i in graph for j in graph if i != j)


def _identified(graph, adjustment, i, j):
    if j in adjustment:
        return j not in nx.descendants(graph, i)
    on_causal_paths = (nx.descendants(graph, i) & nx.ancestors(graph, j)) | ({j} & nx.descendants(graph, i))
    forbidden = set().union(on_causal_paths, *(nx.descendants(graph, node) for node in on_causal_paths))
    if adjustment & forbidden:
        return False
    without_causal_paths = graph.copy()
    without_causal_paths.remove_edges_from([(i, node) for node in on_causal_paths])
    return nx.is_d_separator(without_causal_paths, i, j, adjustment)


def test_sid_has_the_values_of_the_paper_that_defined_it():
    # Peters and Buehlmann (2015): both guesses are one edge away from the truth, yet only one of them misleads.
    edges = [("X1", "X2")] + [(x, y) for x in ("X1", "X2") for y in ("Y1", "Y2", "Y3")]
    truth = Dag.from_edges(edges)
    superfluous = Dag.from_edges([*edges, ("Y1", "Y2")])
    reversed_ = Dag.from_edges([("X2", "X1"), *edges[1:]])
    assert (shd(truth, superfluous), shd(truth, reversed_)) == (1, 1)
    assert (sid(truth, superfluous), sid(truth, reversed_)) == (0, 8)
    assert sid(superfluous, truth) == 1


@properties
@given(pairs)
def test_sid_is_its_definition_and_the_parent_distance_of_dags(pair):
    assert sid(*pair) == parent_aid(*pair) == sid_by_definition(*pair)


def test_sid_reads_rows_as_causes():
    nothing = np.zeros((3, 3))
    fork = np.array([[0, 1, 1], [0, 0, 0], [0, 0, 0]])  # x0 -> x1, x0 -> x2
    collider = fork.T  # x1 -> x0, x2 -> x0
    assert (sid(fork, nothing), sid(collider, nothing)) == (4, 2)


@properties
@given(dags)
def test_a_graph_is_at_distance_zero_from_itself(dag):
    assert [distance(dag, dag) for distance in COUNTS] == [0] * 5
    assert [share(dag, dag) for share in SHARES] == [1.0] * 3


@properties
@given(pairs, st.randoms(use_true_random=False))
def test_dags_are_aligned_by_name(pair, random):
    truth, guess = pair
    names = guess.names
    random.shuffle(names)
    for metric in (*COUNTS, *SHARES):
        assert metric(truth, guess) == metric(truth, guess.reindex(names)) == metric(truth.reindex(names), guess)
        assert metric(truth.adjacency, guess.adjacency.tolist()) == metric(truth, guess)


@properties
@given(pairs)
def test_distances_stay_within_their_bounds(pair):
    d = len(pair[0])
    assert 0 <= shd(*pair) <= d * (d - 1) // 2
    assert all(0 <= distance(*pair) <= d * (d - 1) for distance in COUNTS)
    assert all(0 <= share(*pair) <= 1 for share in SHARES)


@properties
@given(pairs)
def test_the_two_conventions_of_shd_differ_by_the_number_of_reversed_edges(pair):
    truth, guess = (set(dag.edges) for dag in pair)
    reversals = len(truth & {(target, source) for source, target in guess})
    assert shd(*pair, reversal=2) == len(truth ^ guess)
    assert shd(*pair) == len(truth ^ guess) - reversals


@properties
@given(pairs)
def test_shd_and_f1_are_symmetric_and_precision_mirrors_recall(pair):
    truth, guess = pair
    assert shd(truth, guess) == shd(guess, truth)
    assert edge_f1(truth, guess) == edge_f1(guess, truth)
    assert edge_precision(truth, guess) == edge_recall(guess, truth)


@properties
@given(pairs)
def test_f1_is_the_harmonic_mean(pair):
    precision, recall = edge_precision(*pair), edge_recall(*pair)
    harmonic = 2 * precision * recall / (precision + recall) if precision + recall else 0.0
    assert edge_f1(*pair) == pytest.approx(harmonic)


def test_precision_recall_and_f1_of_a_worked_example():
    truth = Dag.from_edges([("a", "b"), ("b", "c"), ("c", "d")])
    guess = Dag.from_edges([("a", "b"), ("c", "b")], truth.names)
    assert (edge_precision(truth, guess), edge_recall(truth, guess), edge_f1(truth, guess)) == (1 / 2, 1 / 3, 2 / 5)


def test_shares_of_no_edges_are_as_documented():
    edge, nothing = np.array([[0, 1], [0, 0]]), np.zeros((2, 2))
    assert [share(nothing, nothing) for share in SHARES] == [1.0, 1.0, 1.0]
    assert [share(edge, nothing) for share in SHARES] == [1.0, 0.0, 0.0]
    assert [share(nothing, edge) for share in SHARES] == [0.0, 1.0, 0.0]


@properties
@given(dags)
def test_an_order_agrees_with_its_graph_and_its_reverse_with_no_edge(dag):
    order = dag.topological_order()
    assert order_divergence(dag, order) == 0
    assert order_divergence(dag, order[::-1]) == dag.n_edges


@properties
@given(dags, st.randoms(use_true_random=False))
def test_an_order_diverges_by_the_edges_that_point_back(dag, random):
    order = list(range(len(dag)))
    random.shuffle(order)
    names = [dag.names[i] for i in order]
    back = sum(names.index(source) > names.index(target) for source, target in dag.edges)
    assert order_divergence(dag, order) == order_divergence(dag, names) == back
    assert order_divergence(dag.adjacency, np.array(order)) == back


@pytest.mark.parametrize("order", [["a", "b"], ["a", "b", "b"], ["a", "b", "z"], [0, 1, 3], [0, 1, -1]])
def test_an_order_that_is_not_a_permutation_is_refused(order):
    with pytest.raises(ValueError, match="order"):
        order_divergence(Dag.from_edges([("a", "b"), ("b", "c")]), order)


@pytest.mark.parametrize("metric", [*COUNTS, *SHARES])
def test_what_cannot_be_compared_is_refused_with_the_reason(metric):
    two, three = np.zeros((2, 2)), np.zeros((3, 3))
    with pytest.raises(ValueError, match=r"must have the same variables\. Got 2 and 3 variables"):
        metric(two, three)
    with pytest.raises(ValueError, match=r"same variables.*'z'"):
        metric(Dag(two, ["a", "b"]), Dag(two, ["a", "z"]))
    with pytest.raises(ValueError, match=r"'guess' must be .* acyclic graph\. .* no cycle\. Got x"):
        metric(two, np.array([[0, 1], [1, 0]]))
    with pytest.raises(ValueError, match=r"'truth' must be the matrix .* must be square"):
        metric(np.zeros((2, 3)), two)
    with pytest.raises(ValueError, match="'guess' must contain only 0 and 1"):
        metric(two, np.array([[0, 0.5], [0, 0]]))


def test_a_reversal_counts_once_or_twice_and_nothing_else():
    with pytest.raises(ValueError, match=r"The 'reversal' parameter of shd must be 1 or 2\. Got 3 instead"):
        shd(np.zeros((2, 2)), np.zeros((2, 2)), reversal=3)  # pyright: ignore[reportArgumentType]


def exactly(covariance, n=50):
    """Return a table with exactly this covariance."""
    Z = np.random.default_rng(0).normal(size=(n, len(covariance)))
    Z -= Z.mean(axis=0)
    Z = Z @ np.linalg.inv(np.linalg.cholesky(Z.T @ Z / n)).T
    return Z @ np.linalg.cholesky(covariance).T


def test_sortability_of_a_chain_has_its_closed_form():
    chain = np.diag([1, 1], k=1)
    X = exactly(np.array([[1.0, 1, 1], [1, 2, 2], [1, 2, 3]]))  # x1 = e1, x2 = x1 + e2, x3 = x2 + e3
    # The variances are 1, 2, 3 and the R^2 are 1/2, 3/4, 2/3: of 1 -> 2, 2 -> 3 and 1 -> 2 -> 3, the second falls.
    assert sortability(X, chain) == pytest.approx((1.0, 2 / 3))
    assert sortability(X[:, ::-1], chain[::-1, ::-1]) == pytest.approx((1.0, 2 / 3))
    assert sortability(X / X.std(axis=0), chain) == pytest.approx((0.5, 2 / 3))
    assert sortability(-X, chain.T) == pytest.approx((0.0, 1 / 3))


def test_a_pair_counts_once_for_every_length_of_path():
    triangle = np.array([[0, 1, 1], [0, 0, 1], [0, 0, 0]])
    X = exactly(np.diag([1.0, 3.0, 2.0]))
    assert sortability(X, triangle).variance == 3 / 4  # 1 -> 2 and 1 -> 3 grow, 2 -> 3 falls, 1 -> 2 -> 3 grows


def test_sortability_goes_by_names_and_knows_no_answer_without_edges():
    X = exactly(np.array([[1.0, 1], [1, 2]]))
    frame = pd.DataFrame(X, columns=["a", "b"])
    assert sortability(frame, Dag.from_edges([("a", "b")], ["b", "a"])).variance == 1.0
    assert np.isnan(sortability(X, np.zeros((2, 2)))).all()
    with pytest.raises(ValueError, match=r"'dag' must have as many variables as the table has columns, 2\. Got 3"):
        sortability(X, np.zeros((3, 3)))


@pytest.mark.parametrize("measure", [*COUNTS, *SHARES])
def test_frames_of_one_graph_with_permuted_labels_are_the_same_graph(measure):
    truth = Dag.from_edges([("a", "b"), ("b", "c"), ("d", "c")])
    frame = pd.DataFrame(truth.adjacency, index=truth.names, columns=truth.names)
    other = frame.loc[["c", "a", "d", "b"], ["b", "d", "c", "a"]]
    best = 0 if measure in COUNTS else 1
    assert measure(frame, other) == measure(truth, other) == measure(other, truth) == best


def test_sortability_and_orders_go_by_the_labels_of_a_frame():
    X = pd.DataFrame(exactly(np.array([[1.0, 1], [1, 2]])), columns=["a", "b"])
    frame = pd.DataFrame([[0, 0], [1, 0]], index=["b", "a"], columns=["b", "a"])
    assert sortability(X, frame).variance == 1.0
    assert order_divergence(frame, ["b", "a"]) == 1

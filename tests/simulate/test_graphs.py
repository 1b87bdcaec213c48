from __future__ import annotations

from collections import Counter

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.stats import chisquare

from sartre.simulate import random_dag

seeds = st.integers(0, 2**32 - 1)


def skeleton(dag):
    return {frozenset(edge) for edge in dag.edges}


def in_degrees(dag):
    return dag.adjacency.sum(axis=0)


@settings(deadline=None, derandomize=True)
@given(n_nodes=st.integers(1, 12), share=st.floats(0, 1), seed=seeds)
def test_an_erdos_renyi_graph_has_exactly_the_edges_asked_for(n_nodes, share, seed):
    n_edges = round(share * n_nodes * (n_nodes - 1) / 2)
    dag = random_dag(n_nodes, n_edges, random_state=seed)
    assert (len(dag), dag.n_edges) == (n_nodes, n_edges)


def test_erdos_renyi_skeletons_are_uniform_and_a_permutation_orients_them():
    # Two edges on three nodes: three skeletons. Of the six permutations, two put the middle node first (a fork),
    # two put it last (a collider), and one gives each of the two chains.
    draws = 6000
    counts = Counter(tuple(random_dag(3, 2, random_state=seed).edges) for seed in range(draws))
    assert len(counts) == 12
    expected = []
    for edges in counts:
        is_chain = {edges[0][0], edges[1][0]} & {edges[0][1], edges[1][1]}
        expected.append(draws / 3 * (1 / 6 if is_chain else 1 / 3))
    assert chisquare(list(counts.values()), expected).pvalue > 0.001


@settings(deadline=None, derandomize=True)
@given(n_nodes=st.integers(5, 40), m=st.integers(1, 2), seed=seeds)
def test_a_scale_free_graph_has_m_times_n_minus_m_edges_and_at_most_m_parents(n_nodes, m, seed):
    dag = random_dag(n_nodes, m * n_nodes, kind="SF", random_state=seed)
    assert dag.n_edges == m * (n_nodes - m)
    assert in_degrees(dag).max() == m


def test_scale_free_hubs_are_causes_by_age_and_anything_at_random():
    by_age = random_dag(100, 200, kind="SF", random_state=0)
    at_random = random_dag(100, 200, kind="SF", orientation="random", random_state=0)
    assert by_age.adjacency.sum(axis=1).max() > 10
    assert in_degrees(by_age).max() == 2
    assert in_degrees(at_random).max() > 5


@settings(deadline=None, derandomize=True)
@given(seed=seeds)
def test_the_two_orientations_share_the_skeleton(seed):
    by_age = random_dag(20, 40, kind="SF", orientation="age", random_state=seed)
    at_random = random_dag(20, 40, kind="SF", orientation="random", random_state=seed)
    assert skeleton(by_age) == skeleton(at_random)
    assert by_age != at_random


def test_the_orientation_changes_nothing_in_an_erdos_renyi_graph():
    by_age, at_random = (random_dag(20, 40, orientation=o, random_state=3) for o in ("age", "random"))
    assert by_age == at_random


@pytest.mark.parametrize("settings", [{"kind": "ER"}, {"kind": "SF"}, {"kind": "SF", "orientation": "random"}])
def test_the_column_order_tells_nothing(settings):
    forward = backward = 0
    for seed in range(200):
        adjacency = random_dag(10, 10, **settings, random_state=seed).adjacency
        forward += int(np.triu(adjacency).sum())
        backward += int(np.tril(adjacency).sum())
    total = forward + backward
    assert total >= 1800
    # An edge points forward with probability one half; edges of a graph are dependent, hence the wide margin.
    assert abs(forward / total - 0.5) < 0.05


@pytest.mark.parametrize("kind", ["ER", "SF"])
def test_an_int_repeats_the_graph_and_a_generator_moves_on(kind):
    assert random_dag(15, 30, kind, random_state=1) == random_dag(15, 30, kind, random_state=1)
    assert random_dag(15, 30, kind, random_state=1) != random_dag(15, 30, kind, random_state=2)
    assert random_dag(15, 30, kind) != random_dag(15, 30, kind)
    for make in (np.random.default_rng, np.random.RandomState):
        source, again = make(0), make(0)
        first = random_dag(15, 30, kind, random_state=source)
        assert first != random_dag(15, 30, kind, random_state=source)
        assert first == random_dag(15, 30, kind, random_state=again)


def test_numpy_global_state_is_neither_read_nor_moved():
    before = repr(np.random.get_state())  # noqa: NPY002 - the state that must stay untouched
    random_dag(10, 20, kind="SF", random_state=0)
    assert repr(np.random.get_state()) == before  # noqa: NPY002


@pytest.mark.parametrize(
    ("arguments", "error", "message"),
    [
        ({"kind": "foo"}, ValueError, "The 'kind' parameter of random_dag must be 'ER' or 'SF'. Got 'foo' instead."),
        ({"orientation": "up"}, ValueError, "must be 'age' or 'random'. Got 'up' instead."),
        ({"n_edges": 11}, ValueError, "'n_edges' parameter of random_dag must be an int in the range [0, 10]. Got 11"),
        ({"n_edges": -1}, ValueError, "range [0, 10]. Got -1"),
        ({"n_edges": 2.5}, TypeError, "must be an int in the range [0, 10]. Got 2.5"),
        ({"n_nodes": 0}, ValueError, "must be an int in the range [1, inf). Got 0"),
        ({"n_nodes": 1, "kind": "SF"}, ValueError, "must be an int in the range [2, inf). Got 1"),
        (
            {"random_state": -1},
            ValueError,
            "'random_state' parameter of random_dag must be an int in the range [0, inf)",
        ),
        ({"random_state": "x"}, TypeError, "'random_state' parameter of random_dag must be an int"),
    ],
)
def test_what_cannot_be_drawn_is_refused_by_name(arguments, error, message):
    with pytest.raises(error) as caught:
        random_dag(**{"n_nodes": 5, "n_edges": 4, **arguments})
    assert message in str(caught.value)

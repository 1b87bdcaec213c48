"""Adjustment sets: a linear model is the judge, in which adjusting is a partial regression."""

from __future__ import annotations

from itertools import combinations

import numpy as np
import pytest

from sartre import Dag
from sartre.graph.adjustment import MOST_SETS, is_adjustment_set

CASES = [(seed, share) for seed in range(12) for share in (0.25, 0.45, 0.7)]


def linear(dag, rng):
    """Return the covariance and the total effects [cause, effect] of a linear model with random weights."""
    d = len(dag)
    total = np.linalg.inv(np.eye(d) - dag.adjacency * rng.uniform(0.5, 2, size=(d, d)) * rng.choice([-1, 1], (d, d)))
    return total.T @ np.diag(rng.uniform(0.5, 2, size=d)) @ total, total


def regressed(covariance, cause, outcome, given):
    """Return the coefficient of the cause in the regression of the outcome on it and the given variables."""
    columns = [cause, *given]
    return np.linalg.solve(covariance[np.ix_(columns, columns)], covariance[columns, outcome])[0]


def subsets(items):
    return [set(chosen) for size in range(len(items) + 1) for chosen in combinations(items, size)]


@pytest.mark.parametrize(("seed", "share"), CASES)
def test_a_set_is_minimal_if_and_only_if_it_gives_the_effect_and_no_smaller_one_does(seed, share):
    rng = np.random.default_rng([seed, int(100 * share)])
    names = list(rng.permutation(list("abcdef")))
    dag = Dag(np.triu(rng.random((6, 6)) < share, 1), names)
    covariance, total = linear(dag, rng)
    for cause, outcome in combinations(names, 2):  # the first never follows the second
        i, j = names.index(cause), names.index(outcome)
        if cause not in dag.ancestors(outcome):
            continue  # the effect is zero, which also sets with a collider on the way give
        others = [name for name in names if name not in (cause, outcome)]
        right = [
            given
            for given in subsets(others)
            if np.isclose(regressed(covariance, i, j, [names.index(name) for name in sorted(given)]), total[i, j])
        ]
        minimal = [given for given in right if not any(smaller < given for smaller in right)]
        found = [set(given) for given in dag.adjustment_sets(cause, outcome)]
        assert sorted(map(sorted, found)) == sorted(map(sorted, minimal))
        assert [len(given) for given in found] == sorted(len(given) for given in found)


def test_the_textbook_graphs():
    confounded = Dag.from_edges([("u", "x"), ("u", "y"), ("x", "m"), ("m", "y"), ("x", "c"), ("y", "c")])
    assert confounded.adjustment_sets("x", "y") == [["u"]]
    assert confounded.adjustment_sets("x", "y", observed=["m", "c"]) == []  # neither a mediator nor a collider will do
    assert confounded.adjustment_sets("x", "c") == [["u"]]
    assert confounded.adjustment_sets("u", "y") == [[]]
    assert confounded.adjustment_sets("m", "x") == []  # a variable and its own cause cannot be separated
    m_shaped = Dag.from_edges([("a", "x"), ("a", "z"), ("b", "z"), ("b", "y"), ("x", "y")])
    assert m_shaped.adjustment_sets("x", "y") == [[]]


def test_many_minimal_sets_are_listed_up_to_a_limit_and_all_are_valid():
    paths = [(f"p{k}", f"q{k}") for k in range(8)]  # 2^8 minimal sets: one variable of each path
    ends = [(p, "x") for p, _ in paths] + [(q, "y") for _, q in paths]
    dag = Dag.from_edges([*paths, *ends, ("x", "y")])
    found = dag.adjustment_sets("x", "y")
    assert len(found) == MOST_SETS
    place = {name: j for j, name in enumerate(dag.names)}
    directed = dag.adjacency.astype(bool)
    for given in found:
        assert is_adjustment_set(directed, place["x"], place["y"], [place[name] for name in given])
        assert len(given) == 8


def test_wrong_names_are_refused():
    dag = Dag.from_edges([("a", "b")])
    with pytest.raises(ValueError, match=r"must be different\. Got 'a' for both"):
        dag.adjustment_sets("a", "a")
    with pytest.raises(ValueError, match="'z' is not a variable"):
        dag.adjustment_sets("a", "b", observed=["z"])

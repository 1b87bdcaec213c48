"""Hidden common causes of simulated tables act as stated, and change nothing else."""

from __future__ import annotations

import pickle
from itertools import combinations

import numpy as np
import pytest

from sartre import Dag
from sartre.simulate import random_dag, simulate


def test_without_hidden_causes_nothing_is_confounded_and_nothing_changes():
    dag = random_dag(6, 6, random_state=0)
    plain = simulate(dag, 100, random_state=0)
    assert plain.confounded == set()
    assert plain.X.equals(simulate(dag, 100, random_state=0, hidden=0, hidden_effect="joint").X)


@pytest.mark.parametrize("effect", ["additive", "linear", "joint"])
def test_confounded_variables_are_correlated_and_others_are_not(effect):
    dag = Dag.from_edges([], [f"x{j}" for j in range(8)])
    data = simulate(dag, 4000, hidden=3, hidden_effect=effect, random_state=2)
    X, same_dag = data
    assert same_dag is dag
    assert data.confounded
    score = np.column_stack([X**k for k in (1, 2, 3)])
    correlation = np.abs(np.corrcoef(score.T)).reshape(3, 8, 3, 8).max(axis=(0, 2))
    for a, b in combinations(dag.names, 2):
        reached = correlation[dag.names.index(a), dag.names.index(b)]
        if (a, b) not in data.confounded:
            assert reached < 0.1
        elif effect == "linear":
            assert reached > 0.3
    assert all(pair == tuple(sorted(pair)) for pair in data.confounded)


def test_each_hidden_effect_has_one_and_a_half_times_the_deviation_of_the_noise():
    dag = Dag.from_edges([], ["a", "b"])
    for effect in ("additive", "linear"):
        data = simulate(dag, 3000, hidden=1, hidden_effect=effect, noise_scale=0.5, random_state=1)
        added = data.X - simulate(dag, 3000, noise_scale=0.5, random_state=1).X
        np.testing.assert_allclose(added.std(ddof=0), 0.75, rtol=1e-9)


def test_two_or_three_variables_are_chosen_whatever_the_order_of_the_columns():
    names = [f"v{j}" for j in range(9)]
    data = simulate(Dag.from_edges([], names), 50, hidden=6, random_state=3)
    turned = simulate(Dag.from_edges([], names[::-1]), 50, hidden=6, random_state=3)
    assert data.confounded == turned.confounded
    assert data.X.equals(turned.X[names])
    sizes = {len(simulate(Dag.from_edges([], names), 10, hidden=1, random_state=s).confounded) for s in range(12)}
    assert sizes == {1, 3}


def test_what_is_set_does_not_depend_on_hidden_causes():
    dag = Dag.from_edges([("a", "b")], ["a", "b", "c"])
    acted = {"drug": ["a", "b", "c"]}
    data = simulate(dag, 50, hidden=2, random_state=0, interventions=acted)
    plain = simulate(dag, 50, random_state=0, interventions=acted)
    drug = (data.environment == "drug").to_numpy()
    assert data.X[drug].equals(plain.X[drug])
    assert not data.X[~drug].equals(plain.X[~drug])
    assert data.confounded
    assert pickle.loads(pickle.dumps(data)).confounded == data.confounded  # noqa: S301
    assert data._replace(X=plain.X).confounded == data.confounded


def test_the_settings_are_checked():
    dag = Dag.from_edges([], ["a"])
    with pytest.raises(ValueError, match="'hidden' parameter of simulate needs a graph of two variables"):
        simulate(dag, 10, hidden=1)
    with pytest.raises(ValueError, match="hidden_effect"):
        simulate(dag, 10, hidden_effect="strange")
    with pytest.raises(ValueError, match="'hidden' parameter"):
        simulate(dag, 10, hidden=-1)

from __future__ import annotations

from typing import get_args

import numpy as np
import pandas as pd
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from threadpoolctl import threadpool_info, threadpool_limits

from sartre import Dag
from sartre.simulate import Dataset, mechanisms, random_dag, sampling, simulate
from sartre.simulate.mechanisms import MechanismName
from sartre.simulate.noise import Noise, unit_noise

MECHANISMS = get_args(MechanismName)
NOISES = get_args(Noise)
DIAMOND = Dag.from_edges([("a", "b"), ("a", "c"), ("b", "d"), ("c", "d")])


@pytest.mark.parametrize("mechanism", MECHANISMS)
@pytest.mark.parametrize("noise", NOISES)
def test_every_pair_of_mechanism_and_noise_gives_finite_named_columns(mechanism, noise):
    X, dag = dataset = simulate(DIAMOND, 50, mechanism, noise, random_state=0)
    assert isinstance(dataset, Dataset)
    assert dag is DIAMOND
    assert list(X.columns) == ["a", "b", "c", "d"]
    assert X.shape == (50, 4)
    assert np.isfinite(X.to_numpy()).all()
    assert (X.std() > 0.2).all()


def test_mechanisms_and_noises_are_all_different():
    by_mechanism = [tuple(simulate(DIAMOND, 5, mechanism, random_state=0).X["d"]) for mechanism in MECHANISMS]
    by_noise = [tuple(simulate(DIAMOND, 5, noise=noise, random_state=0).X["d"]) for noise in NOISES]
    assert len(set(by_mechanism)) == len(by_mechanism) == 6
    assert len(set(by_noise)) == len(by_noise) == 5


@settings(deadline=None, max_examples=30, derandomize=True)
@given(seed=st.integers(0, 2**32), mechanism=st.sampled_from(MECHANISMS), noise=st.sampled_from(NOISES))
def test_permute_the_columns_of_the_graph_and_the_data_permutes(seed, mechanism, noise):
    dag = random_dag(6, 8, random_state=seed)
    names = list(np.random.default_rng(seed).permutation(dag.names))
    X = simulate(dag, 20, mechanism, noise, (0.5, 2), 0.3, random_state=seed).X
    permuted = simulate(dag.reindex(names), 20, mechanism, noise, (0.5, 2), 0.3, random_state=seed).X
    pd.testing.assert_frame_equal(X[names], permuted, check_exact=True)


@pytest.mark.parametrize("mechanism", MECHANISMS)
def test_a_variable_does_not_depend_on_those_that_are_not_its_ancestors(mechanism):
    alone = simulate(Dag.from_edges([("a", "b")]), 30, mechanism, random_state=0).X
    among_others = simulate(DIAMOND, 30, mechanism, random_state=0).X
    pd.testing.assert_frame_equal(alone, among_others[["a", "b"]], check_exact=True)


def test_an_int_repeats_the_data_and_a_generator_moves_on():
    def draw(random_state):
        return simulate(DIAMOND, 20, random_state=random_state).X

    assert draw(1).equals(draw(1))
    assert not draw(1).equals(draw(2))
    assert not draw(None).equals(draw(None))
    for make in (np.random.default_rng, np.random.RandomState):
        source, again = make(0), make(0)
        first = draw(source)
        assert not first.equals(draw(source))
        assert first.equals(draw(again))


def test_variables_without_edges_are_independent_noise_of_the_given_scale():
    X = simulate(Dag(np.zeros((4, 4))), 20_000, noise="laplace", noise_scale=3.0, random_state=0).X
    assert X.std().to_numpy() == pytest.approx(3.0, rel=0.05)
    off_diagonal = X.corr().to_numpy()[~np.eye(4, dtype=bool)]
    assert np.abs(off_diagonal).max() < 4 / np.sqrt(20_000)


def test_every_variable_draws_its_own_scale_uniformly_from_the_range():
    X = simulate(Dag(np.zeros((500, 500))), 2000, noise_scale=(0.5, 1.5), random_state=0).X
    scales = X.std().to_numpy()
    assert (scales.min(), scales.mean(), scales.max()) == pytest.approx((0.5, 1.0, 1.5), abs=0.06)
    assert scales.std() == pytest.approx(np.sqrt(1 / 12), rel=0.1)


def test_the_noise_alone_carries_the_scale():
    chain = Dag.from_edges([("a", "b")])
    once, twice = (simulate(chain, 200, "linear", noise_scale=s, random_state=0).X for s in (1.0, 2.0))
    assert np.allclose(twice, 2 * once)


@pytest.mark.parametrize("noise", NOISES)
def test_least_squares_on_the_parents_leaves_the_noise_of_a_linear_model(noise):
    X = simulate(DIAMOND, 5000, "linear", noise, 2.0, random_state=0).X
    weights, *_ = np.linalg.lstsq(X[["b", "c"]].to_numpy(), X["d"].to_numpy(), rcond=None)
    residual = X["d"] - X[["b", "c"]] @ weights
    assert ((np.abs(weights) > 0.4) & (np.abs(weights) < 1.6)).all()
    assert residual.std() == pytest.approx(2.0, rel=0.1)


def test_a_linear_fraction_of_one_is_the_linear_mechanism_and_of_zero_none():
    arguments = {"n_samples": 100, "noise": "uniform", "random_state": 0}
    all_linear = simulate(DIAMOND, mechanism="linear", **arguments).X
    for mechanism in ("gp", "gp-additive", "neural", "sigmoid"):
        assert simulate(DIAMOND, mechanism=mechanism, linear_fraction=1.0, **arguments).X.equals(all_linear)
        assert not simulate(DIAMOND, mechanism=mechanism, **arguments).X.equals(all_linear)


def test_the_linear_fraction_is_the_share_of_linear_variables():
    pairs = Dag.from_edges([(f"cause{k}", f"effect{k}") for k in range(400)])
    effects = [f"effect{k}" for k in range(400)]
    linear, mixed = (
        simulate(pairs, 5, "sigmoid", linear_fraction=share, random_state=0).X[effects] for share in (1.0, 0.3)
    )
    share = (linear == mixed).all().mean()
    assert share == pytest.approx(0.3, abs=4 * np.sqrt(0.3 * 0.7 / 400))


@pytest.mark.parametrize(("mechanism", "n_draws"), [("gp", 4), ("gp-additive", 5)])
def test_a_large_simulation_switches_to_approximate_draws_of_the_same_noise(mechanism, n_draws, monkeypatch):
    dag = Dag.from_edges([*DIAMOND.edges, ("a", "d")])  # one draw for each of 4 variables, or for each of 5 edges
    exact = simulate(dag, 30, mechanism, random_state=0).X
    monkeypatch.setattr(mechanisms, "EXACT_LIMIT", n_draws * 30**3)
    assert simulate(dag, 30, mechanism, random_state=0).X.equals(exact)
    monkeypatch.setattr(mechanisms, "EXACT_LIMIT", n_draws * 30**3 - 1)
    approximate = simulate(dag, 30, mechanism, random_state=0).X
    assert approximate["a"].equals(exact["a"])
    assert not approximate["b"].equals(exact["b"])


@pytest.mark.parametrize(
    ("arguments", "error", "message"),
    [
        (
            {"mechanism": "magic"},
            ValueError,
            "'mechanism' parameter of simulate must be 'gp', 'gp-additive', 'neural', 'linear', 'sigmoid' or 'sdcd'.",
        ),
        ({"noise": "cauchy"}, ValueError, "'noise' parameter of simulate must be 'gaussian', 'laplace', 'uniform', "),
        ({"n_samples": 1}, ValueError, "'n_samples' parameter of simulate must be an int in the range [2, inf). Got 1"),
        ({"n_samples": 10.0}, TypeError, "must be an int in the range [2, inf). Got 10.0"),
        ({"n_samples": True}, TypeError, "must be an int in the range [2, inf). Got True"),
        (
            {"noise_scale": 0.0},
            ValueError,
            "'noise_scale' parameter of simulate must be a float in the range (0.0, inf)",
        ),
        ({"noise_scale": (2, 1)}, ValueError, "a pair (low, high) with 0 < low <= high < inf. Got (2, 1)"),
        ({"noise_scale": (1, 2, 3)}, TypeError, "Got (1, 2, 3) instead."),
        ({"noise_scale": "big"}, TypeError, "Got 'big' instead."),
        ({"linear_fraction": 1.5}, ValueError, "must be a float in the range [0.0, 1.0]. Got 1.5"),
        ({"linear_fraction": "half"}, TypeError, "must be a float in the range [0.0, 1.0]. Got 'half'"),
        ({"random_state": 0.5}, TypeError, "'random_state' parameter of simulate must be an int"),
        ({"dag": np.zeros((2, 2))}, TypeError, "The 'dag' parameter of simulate must be a Dag. Got ndarray instead."),
    ],
)
def test_what_cannot_be_simulated_is_refused_by_name(arguments, error, message):
    with pytest.raises(error) as caught:
        simulate(**{"dag": DIAMOND, "n_samples": 10, **arguments})
    assert message in str(caught.value)


@pytest.mark.parametrize("mechanism", ["gp", "gp-additive", "neural"])
def test_the_linear_algebra_has_one_thread_so_that_all_machines_round_alike(monkeypatch, mechanism):
    seen = set()

    def recorded(*arguments):
        seen.update(library["num_threads"] for library in threadpool_info() if library["user_api"] == "blas")
        return unit_noise(*arguments)

    monkeypatch.setattr(sampling, "unit_noise", recorded)
    with threadpool_limits(2, user_api="blas"):
        simulate(Dag.from_edges([("a", "b")]), 50, mechanism=mechanism, random_state=0)
    assert seen == {1}


def test_noise_has_the_mechanism_s_own_scale_unless_given():
    edge = Dag.from_edges([("a", "b")])
    roots = {mechanism: simulate(edge, 4000, mechanism, random_state=0).X["a"].std() for mechanism in MECHANISMS}
    assert roots.pop("sdcd") == pytest.approx(0.5, abs=0.03)
    assert list(roots.values()) == pytest.approx([1.0] * 5, abs=0.05)
    assert simulate(edge, 4000, "sdcd", noise_scale=1.0, random_state=0).X["a"].std() == pytest.approx(1.0, abs=0.05)

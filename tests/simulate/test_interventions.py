from __future__ import annotations

from typing import get_args

import numpy as np
import pandas as pd
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy import stats

from sartre import Dag
from sartre.data.row_design import read_design
from sartre.simulate import Dataset, Experiment, random_dag, simulate
from sartre.simulate.mechanisms import MechanismName
from sartre.simulate.noise import Noise

MECHANISMS = get_args(MechanismName)
PARAMETRIC = [name for name in MECHANISMS if not name.startswith("gp")]  # whose draws do not depend on the rows
NOISES = get_args(Noise)
DIAMOND = Dag.from_edges([("a", "b"), ("a", "c"), ("b", "d"), ("c", "d")])
ACTED = {"knockdown": ["b"], "drug": ("soft", ["c"]), "both": ["b", "c"]}


def test_observational_rows_come_first_and_then_those_of_each_environment():
    X, dag = experiment = simulate(DIAMOND, 30, random_state=0, interventions=ACTED, n_intervened=20)
    assert isinstance(experiment, Experiment)
    assert dag is DIAMOND
    assert X.shape == (90, 4)
    names = ["observational"] * 30 + ["knockdown"] * 20 + ["drug"] * 20 + ["both"] * 20
    assert experiment.environment.tolist() == names
    assert experiment.interventions == ACTED


def test_an_environment_has_as_many_rows_as_the_observational_one_unless_given():
    assert len(simulate(DIAMOND, 7, random_state=0, interventions=ACTED).X) == 28
    only = simulate(DIAMOND, 0, random_state=0, interventions={"one": ["a"]}, n_intervened=2)
    assert only.environment.tolist() == ["one", "one"]


def test_without_interventions_there_is_no_experiment():
    data = simulate(DIAMOND, 7, random_state=0)
    assert isinstance(data, Dataset)
    assert not isinstance(data, Experiment)


def test_what_is_returned_is_what_the_learning_part_reads():
    X, dag = experiment = simulate(DIAMOND, 30, random_state=0, interventions=ACTED, n_intervened=20)
    design = read_design(X.to_numpy(), dag.names, experiment.environment, experiment.interventions)
    assert design.acted.sum(axis=0).tolist() == [0, 40, 20, 0]
    assert design.reference == "observational"
    assert dict(zip(design.environments, design.shifted.tolist(), strict=True))["drug"] == [False, False, True, False]


def test_perfect_is_the_default_kind():
    plain, named = (
        simulate(DIAMOND, 9, random_state=0, interventions={"one": given})
        for given in (["b", "b"], ("perfect", ("b",)))
    )
    assert plain.X.equals(named.X)
    assert plain.interventions == named.interventions == {"one": ["b"]}


@pytest.mark.parametrize("mechanism", MECHANISMS)
def test_values_that_are_set_are_normal_and_depend_on_nothing(mechanism):
    X, _ = experiment = simulate(
        DIAMOND, 100, mechanism, "laplace", random_state=0, interventions=ACTED, n_intervened=800, set_to=(3.0, 0.1)
    )
    both = X[experiment.environment == "both"]
    for name in ("b", "c"):
        assert stats.kstest(both[name], stats.norm(3.0, 0.1).cdf).pvalue > 0.001
    dependence = both[["a", "b", "c"]].corr(method="spearman").to_numpy()[np.triu_indices(3, 1)]
    assert np.abs(dependence).max() < 4 / np.sqrt(800)


def test_a_standard_deviation_of_zero_sets_one_value():
    for n_samples in (0, 20):
        X, _ = experiment = simulate(
            DIAMOND, n_samples, "sdcd", random_state=0, interventions=ACTED, n_intervened=20, set_to=(2.0, 0.0)
        )
        assert (X.loc[experiment.environment == "both", ["b", "c"]] == 2.0).all(axis=None)
        assert np.isfinite(X).all(axis=None)


@pytest.mark.parametrize("mechanism", MECHANISMS)
def test_a_shift_adds_to_its_target_and_changes_only_descendants_in_its_rows(mechanism):
    arguments = {"mechanism": mechanism, "noise_scale": 0.7, "random_state": 0, "interventions": ACTED}
    still, shifted = (simulate(DIAMOND, 40, shift_by=by, **arguments) for by in (0.0, 3.0))
    change, drug = shifted.X - still.X, shifted.environment == "drug"
    assert np.allclose(change.loc[drug, "c"], 3.0 * 0.7)
    assert (change[["a", "b"]] == 0).all(axis=None)
    assert (change.loc[~drug, "c"] == 0).all()
    assert (change.loc[drug, "d"] != 0).all()
    if mechanism in PARAMETRIC:  # a Gaussian process that is drawn at other points has other values at all of them
        assert np.allclose(change.loc[~drug, "d"], 0)


def test_a_shift_is_two_standard_deviations_of_the_noise_by_default():
    arguments = {"noise_scale": 1.5, "random_state": 0, "interventions": {"drug": ("soft", ["a"])}}
    default, still = simulate(DIAMOND, 10, **arguments), simulate(DIAMOND, 10, shift_by=0.0, **arguments)
    assert np.allclose((default.X - still.X)["a"], [0.0] * 10 + [3.0] * 10)


@pytest.mark.parametrize("mechanism", MECHANISMS)
def test_one_function_holds_in_all_environments(mechanism):
    pair = Dag.from_edges([("cause", "effect")])
    X, _ = experiment = simulate(
        pair,
        0,
        mechanism,
        noise_scale=1e-6,
        random_state=0,
        interventions={"first": ["cause"], "second": ["cause"]},
        n_intervened=500,
        set_to=(0.0, 2.0),
    )
    first, second = (X[experiment.environment == name].sort_values("cause") for name in ("first", "second"))
    inner = second[second["cause"].abs() < 3]
    predicted = np.interp(inner["cause"], first["cause"], first["effect"])
    assert np.abs(predicted - inner["effect"]).max() < 0.02 * X["effect"].std()


@pytest.mark.parametrize("mechanism", PARAMETRIC)
@pytest.mark.parametrize("noise", NOISES)
def test_environments_change_neither_observational_rows_nor_each_other(mechanism, noise):
    arguments = {"mechanism": mechanism, "noise": noise, "noise_scale": (0.5, 2.0), "random_state": 0}
    alone = simulate(DIAMOND, 60, **arguments).X
    together = simulate(DIAMOND, 60, interventions=ACTED, n_intervened=30, **arguments)
    assert np.allclose(together.X.head(60), alone)
    fewer = simulate(DIAMOND, 60, interventions={"drug": ACTED["drug"]}, n_intervened=30, **arguments)
    for name in ("observational", "drug"):
        assert np.allclose(together.X[together.environment == name], fewer.X[fewer.environment == name])


def test_a_linear_model_has_the_same_weights_in_rows_that_leave_its_effect_alone():
    X, _ = experiment = simulate(
        DIAMOND, 4000, "linear", random_state=0, interventions=ACTED, n_intervened=4000, set_to=(1.0, 2.0)
    )
    weights = [
        np.linalg.lstsq(rows[["b", "c"]].to_numpy(), rows["d"].to_numpy(), rcond=None)[0]
        for _, rows in X.groupby(experiment.environment)
    ]
    assert np.abs(np.array(weights) - weights[0]).max() < 0.1  # the smallest weight is 0.5


@settings(deadline=None, max_examples=20, derandomize=True)
@given(seed=st.integers(0, 2**32), mechanism=st.sampled_from(MECHANISMS), noise=st.sampled_from(NOISES))
def test_permute_the_columns_of_the_graph_and_the_experiment_permutes(seed, mechanism, noise):
    dag = random_dag(6, 8, random_state=seed)
    names = list(np.random.default_rng(seed).permutation(dag.names))
    acted = {"set": dag.names[:2], "shifted": ("soft", dag.names[1:3])}
    X, permuted = (
        simulate(graph, 12, mechanism, noise, random_state=seed, interventions=acted).X
        for graph in (dag, dag.reindex(names))
    )
    pd.testing.assert_frame_equal(X[names], permuted, check_exact=True)


@pytest.mark.parametrize(
    ("arguments", "error", "message"),
    [
        ({"interventions": {}}, ValueError, "('soft', list). Got none; leave it out to observe only."),
        ({"interventions": ["b"]}, TypeError, "'interventions' parameter of simulate must map names of environments"),
        ({"interventions": {1: ["b"]}}, TypeError, "Got the name 1, which is no text."),
        ({"interventions": {"one": "b"}}, TypeError, "Got 'b' for 'one'."),
        ({"interventions": {"one": ("hard", ["b"])}}, TypeError, "Got ('hard', ['b']) for 'one'."),
        ({"interventions": {"one": ("soft", "b")}}, TypeError, "Got ('soft', 'b') for 'one'."),
        (
            {"interventions": {"one": ["b", "z"]}},
            ValueError,
            "acts on z in 'one', but the graph has no such variable. Choose from a, b, c, d.",
        ),
        ({"interventions": {"observational": ["b"]}}, ValueError, "may be named 'observational': rows in which"),
        ({"interventions": ACTED, "n_samples": -1}, ValueError, "'n_samples' parameter of simulate must be an int in"),
        ({"interventions": ACTED, "n_samples": 0}, ValueError, "must be given if 'n_samples' is 0. Got None instead."),
        ({"interventions": ACTED, "n_intervened": 0}, ValueError, "an int in the range [1, inf). Got 0 instead."),
        ({"interventions": ACTED, "n_intervened": 2.5}, TypeError, "an int in the range [1, inf). Got 2.5 instead."),
        (
            {"interventions": {"one": ["b"]}, "n_samples": 0, "n_intervened": 1},
            ValueError,
            "simulate needs at least two rows in all. Got 1; raise 'n_samples' or 'n_intervened'.",
        ),
        ({"n_intervened": 5}, ValueError, "The 'n_intervened' parameter of simulate needs 'interventions'. Got 5."),
        ({"interventions": ACTED, "set_to": 0.0}, TypeError, "must be a pair of finite numbers, a mean and a standard"),
        ({"interventions": ACTED, "set_to": ("0", "1")}, TypeError, "Got ('0', '1') instead."),
        ({"interventions": ACTED, "set_to": (0.0, -1.0)}, ValueError, "0 or more. Got (0.0, -1.0) instead."),
        ({"interventions": ACTED, "set_to": (np.nan, 1.0)}, ValueError, "Got (nan, 1.0) instead."),
        ({"interventions": ACTED, "shift_by": np.inf}, ValueError, "'shift_by' parameter of simulate must be a float"),
        ({"interventions": ACTED, "shift_by": "far"}, TypeError, "in the range (-inf, inf). Got 'far' instead."),
    ],
)
def test_an_experiment_that_cannot_be_simulated_is_refused_in_one_sentence(arguments, error, message):
    with pytest.raises(error) as caught:
        simulate(**{"dag": DIAMOND, "n_samples": 10, **arguments})
    assert message in str(caught.value)
    assert "\n" not in str(caught.value)

import numpy as np
import pytest

from sartre.data.read_design import with_design
from sartre.evidence.experiments import Changes, shown_by_experiments, shown_order

NOTHING_KNOWN = np.zeros((3, 3), dtype=bool)


def chain(seed, n=400, acted=("a", "b", "c")):
    """Return a -> b -> c, with `n` rows as observed and as many in which each of some variables is set."""
    rng = np.random.default_rng(seed)
    environment = np.repeat(["observed", *(f"{name} set" for name in acted)], n)
    a, b, c = rng.normal(size=(3, len(environment)))
    a = np.where(environment == "a set", a / 5, a)
    b = np.where(environment == "b set", b / 5, b / 2 + np.tanh(2 * a))
    c = np.where(environment == "c set", c / 5, c / 2 + b**2)
    words = environment, {f"{name} set": [name] for name in acted}
    return np.column_stack([a, b, c]), *words


def read(X, environment, interventions, **words):
    numbered = {key: [f"x{'abc'.index(name)}" for name in names] for key, names in interventions.items()}
    return with_design(X, environment, numbered, **words)


@pytest.mark.parametrize("seed", range(5))
def test_what_changes_comes_after_what_was_acted_on(seed):
    shown = shown_order(shown_by_experiments(read(*chain(seed))), NOTHING_KNOWN)
    np.testing.assert_array_equal(shown.before, [[False, True, True], [False, False, True], [False, False, False]])
    np.testing.assert_array_equal(shown.before, shown.evidence > 0)


def test_columns_that_depend_on_nothing_show_nothing():
    claims = 0
    for seed in range(100):
        rng = np.random.default_rng(seed)
        environment = np.repeat(["observed", "a set", "b set"], [60, 10, 30])
        X = rng.standard_t(3, size=(100, 3))
        claims += (shown_by_experiments(read(X, environment, {"a set": ["a"], "b set": ["b"]})).evidence > 0).sum()
    assert claims <= 2  # 0.1 are expected


def test_units_and_the_sequence_of_rows_make_no_difference():
    X, environment, interventions = chain(0)
    found = shown_by_experiments(read(X, environment, interventions)).evidence
    mixed = np.random.default_rng(1).permutation(len(X))
    again = shown_by_experiments(read(np.exp(X[mixed] / 3), environment[mixed], interventions)).evidence
    np.testing.assert_allclose(found, again, rtol=1e-9)


def test_a_variable_that_is_never_acted_on_and_stays_as_it_was_comes_first():
    table = read(*chain(0, n=2000, acted=("b",)))
    shown = shown_order(shown_by_experiments(table), NOTHING_KNOWN)
    np.testing.assert_array_equal(shown.before, [[False, True, True], [False, False, True], [False, False, False]])
    few = np.flatnonzero((table.design.labels == "observed") | (np.arange(4000) >= 3950))
    assert not shown_by_experiments(table.take(few)).unchanged.any()  # they would not have shown a change


def test_experiments_that_contradict_each_other_show_nothing():
    evidence = np.array([[0.0, 50.0, 0.0], [20.0, 0.0, 20.0], [0.0, 0.0, 0.0]])
    shown = shown_order(Changes(evidence, np.zeros((3, 3))), NOTHING_KNOWN)
    assert not shown.before.any()


def test_what_is_known_outweighs_what_is_shown():
    known = NOTHING_KNOWN.copy()
    known[1, 0] = True
    evidence = np.array([[0.0, 50.0, 0.0], [0.0, 0.0, 20.0], [0.0, 0.0, 0.0]])
    shown = shown_order(Changes(evidence, np.zeros((3, 3))), known)
    np.testing.assert_array_equal(shown.before, [[False, False, False], [True, False, True], [False, False, False]])
    assert np.isinf(shown.evidence[1, 0])


def test_unknown_targets_groups_and_an_experiment_as_reference_show_nothing():
    X, environment, interventions = chain(0)
    assert not shown_by_experiments(read(X, environment, {})).evidence.any()
    groups = np.arange(len(X)) // 4
    assert not shown_by_experiments(read(X, environment, interventions, groups=groups)).evidence.any()
    acted = environment != "observed"
    assert not shown_by_experiments(read(X[acted], environment[acted], interventions)).evidence.any()


def test_an_experiment_that_acts_on_more_than_its_target_shows_nothing():
    X, environment, interventions = chain(0)
    X[environment == "c set", 0] += 2
    table = read(X, environment, interventions)
    assert shown_by_experiments(table).evidence[2, 0] > 0
    found = shown_by_experiments(table.with_side_effects({"c set"})).evidence
    assert not found[2].any()
    assert found[0, 1] > 0

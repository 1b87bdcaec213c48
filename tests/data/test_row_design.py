import numpy as np
import pandas as pd
import pytest

from sartre.data.read_design import with_design
from sartre.data.row_dependence import dependence_between_rows
from sartre.data.row_design import read_design

NAMES = ["a", "b"]
SITES = np.repeat(["control", "drug"], 20)


def frame(seed=0, n=40):
    return pd.DataFrame(np.random.default_rng(seed).normal(size=(n, 2)), columns=NAMES)


def test_rows_in_which_a_variable_was_set_do_not_show_its_mechanism():
    table = with_design(frame(), SITES, {"drug": ["b"]})
    np.testing.assert_array_equal(table.rows_of(1), SITES == "control")
    assert table.rows_of(0).all()


def test_a_soft_intervention_leaves_the_rows_and_is_known():
    table = with_design(frame(), SITES, {"drug": ("soft", ["b"])})
    assert table.rows_of(1).all()
    np.testing.assert_array_equal(table.design.shifted, [[False, True]])


def test_a_named_column_is_taken_out_of_the_variables():
    named = with_design(frame().assign(site=SITES), "site", {"drug": ["b"]})
    given = with_design(frame(), SITES, {"drug": ["b"]})
    assert named.names == given.names == ("a", "b")
    np.testing.assert_array_equal(named.design.acted, given.design.acted)
    np.testing.assert_array_equal(named.design.labels, SITES)


def test_whole_numbers_name_the_same_environment_however_they_are_stored():
    design = with_design(frame(), np.repeat([1.0, 2.0], 20), {2: ["b"]}).design
    assert design.environments == ("2",)
    assert design.acted[20:, 1].all()


def test_a_number_is_the_same_label_however_it_is_written():
    design = with_design(frame(), np.repeat(["control", "01"], 20), {1: ["b"]}).design
    assert design.acted[20:, 1].all()
    both = with_design(frame(), np.repeat(["1", "01"], 20), {"01": ["b"]}).design
    np.testing.assert_array_equal(both.acted[:, 1], np.repeat([False, True], 20))
    with pytest.raises(ValueError, match=r"No row has the environment '1\.0'"):
        with_design(frame(), np.repeat(["1", "01"], 20), {"1.0": ["b"]})


def test_what_is_shifted_in_the_reference_is_shifted_in_all_others_relative_to_it():
    words = {"control": ("soft", ["a"]), "drug": ("soft", ["b"])}
    design = with_design(frame(), SITES, words).design
    np.testing.assert_array_equal(design.shifted, [[True, True]])


def test_the_reference_is_the_largest_environment_in_which_nothing_was_acted_on():
    labels = np.repeat(["big", "small", "usual"], [20, 10, 10])
    assert with_design(frame(), labels, {"big": ["a"]}).design.reference == "small"
    assert with_design(frame(), labels).design.reference == "big"


def test_the_design_follows_rows_and_columns():
    table = with_design(frame(), SITES, {"drug": ["b"]}, np.repeat(np.arange(20), 2))
    half = table.take(np.arange(10, 30)).select(np.array([1, 0]))
    np.testing.assert_array_equal(half.design.acted[:, 0], SITES[10:30] == "drug")
    assert half.n_units == 10
    pairs = [half.rows_in(np.array([unit])).tolist() for unit in range(10)]
    assert sorted(pairs) == [[k, k + 1] for k in range(0, 20, 2)]


def test_centring_leaves_no_difference_between_groups():
    groups = np.repeat(np.arange(20), 2)
    table = with_design(frame() + groups[:, None], groups=("centred", groups))
    means = [table.values[groups == g].mean(axis=0) for g in range(20)]
    np.testing.assert_allclose(np.ptp(means, axis=0), 0, atol=1e-12)


@pytest.mark.parametrize(
    ("words", "text"),
    [
        ({"environment": SITES, "interventions": {"placebo": ["a"]}}, "No row has the environment 'placebo'"),
        (
            {"environment": SITES, "interventions": {"drug": ["a"], "drug ": ["b"]}},
            "No row has the environment 'drug '",
        ),
        ({"environment": np.repeat([1, 2], 20), "interventions": {2: ["a"], "02": ["b"]}}, "environment '2' twice"),
        ({"environment": SITES, "interventions": {"drug": ["c"]}}, "acts on c in 'drug', which are no columns"),
        ({"environment": SITES, "interventions": {"drug": "b"}}, "must give a list of column names for 'drug'"),
        ({"environment": SITES, "interventions": {"drug": ("soft", "b")}}, "must give a list of column names"),
        ({"environment": SITES, "interventions": ["b"]}, "'interventions' must map environments to lists"),
        (
            {"environment": SITES, "interventions": {"drug": ["b"], "control": ["b"]}},
            "Every row acts on b, so nothing is known about the causes",
        ),
        ({"interventions": {"drug": ["b"]}}, "'interventions' needs 'environment'"),
        ({"environment": SITES[:10]}, r"one value per row, 40 of them. Got the shape \(10,\)"),
        ({"environment": [None, *SITES[1:]]}, "Got no value in 1 rows, the first of them row 0"),
        ({"environment": np.arange(40)}, "Every environment needs at least 10 rows"),
        ({"environment": "site"}, "must be the name of a column, or one value per row. Got 'site'"),
        ({"groups": np.zeros(40)}, "At least 20 groups are needed"),
    ],
)
def test_what_cannot_be_meant_is_refused(words, text):
    with pytest.raises((ValueError, TypeError), match=text):
        with_design(frame(), **words)


def test_an_environment_that_is_also_a_variable_is_refused():
    with pytest.raises(ValueError, match=r"also a variable of the table, 'dose'. .* environment='dose'"):
        with_design(frame().assign(dose=np.repeat([0.0, 1.0], 20)), SITES)


def test_nothing_said_is_no_design():
    assert read_design(np.zeros((5, 2)), NAMES) is None
    table = frame()
    assert with_design(table) is table


def test_environments_that_stand_together_are_not_dependent_rows():
    shifted = frame(n=200) + np.repeat([0.0, 3.0], 100)[:, None]
    labels = np.repeat(["p", "q"], 100)
    mixed = np.random.default_rng(1).permutation(200)
    assert dependence_between_rows(with_design(shifted, np.repeat(["p", "q"], 100))) is None
    assert dependence_between_rows(with_design(shifted.iloc[mixed], labels[mixed])) is None
    walk = frame(n=200).cumsum()
    assert dependence_between_rows(with_design(walk, labels)) is not None
    assert dependence_between_rows(with_design(walk, groups=np.repeat(np.arange(20), 10))) is None

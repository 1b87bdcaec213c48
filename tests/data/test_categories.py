"""Categories as parents and as targets, whatever the names of the levels and the type of the column."""

from __future__ import annotations

import numpy as np
import pandas as pd
import polars as pl
import pytest

from sartre import CausalDiscovery, Knowledge, stability
from sartre.compute.checkpoint import describe_table
from sartre.data.category_codes import scored
from sartre.data.checks import as_table
from sartre.data.table import Table
from sartre.order import SCORE, FixedOrder
from sartre.prune import DAS, SARTRE, CAMPruning

PRUNERS = [SARTRE(random_state=0), CAMPruning(), DAS(min_parents=1)]
PAPER = SARTRE(penalty=0.05, random_state=0)
TRUTH = {("group", "x"), ("z", "grade"), ("x", "y"), ("x", "answer")}


def people(seed=0, n=500):
    """Return a table with categories as parents and as targets among numbers; the columns are in causal order."""
    rng = np.random.default_rng([seed, 61])
    group = rng.choice(list("abcd"), size=n, p=[0.4, 0.3, 0.2, 0.1])
    x = pd.Series(group).map({"a": 0.0, "b": 1.0, "c": -1.0, "d": 0.5}).to_numpy() + rng.normal(size=n)
    z = rng.normal(size=n)
    grade = np.where(z + rng.normal(size=n) > 0.5, "hi", np.where(z + rng.normal(size=n) > -0.5, "mid", "lo"))
    return pd.DataFrame(
        {
            "group": group,
            "colour": rng.choice(["red", "green", "blue"], size=n),
            "x": x,
            "z": z,
            "grade": grade,
            "y": np.sin(2 * x) + rng.normal(size=n) / 2,
            "answer": np.where(x + rng.normal(size=n) > 0, "yes", "no"),
        }
    )


def edges(pruner, table, order=None):
    found = pruner.fit(table, list(as_table(table, categories=True).names) if order is None else order)
    return set(map(tuple, found.edges_[["source", "target"]].to_numpy()))


# Parents and targets


@pytest.mark.parametrize("pruner", PRUNERS, ids=lambda pruner: type(pruner).__name__)
@pytest.mark.parametrize("seed", range(3))
def test_categories_are_found_as_parents_and_as_targets(pruner, seed):
    found = edges(pruner, people(seed))
    assert found >= TRUTH
    assert len(found - TRUTH) <= 1


def test_the_papers_penalty_finds_them_too():
    assert edges(PAPER, people()) >= TRUTH


def test_independent_categories_have_no_more_edges_than_the_bound_says():
    total, n_seeds = 0, 60
    for seed in range(n_seeds):
        rng = np.random.default_rng([seed, 62])
        table = pd.DataFrame(
            {
                "three": rng.choice(list("abc"), 250, p=[0.6, 0.3, 0.1]),
                "x": rng.normal(size=250),
                "seven": rng.choice(list("abcdefg"), 250),
                "two": rng.choice(["u", "v"], 250, p=[0.8, 0.2]),
                "z": rng.standard_t(3, size=250),
            }
        )
        pruner = SARTRE(random_state=0).fit(table, list(table.columns))
        total += len(pruner.edges_)
    expected = n_seeds * pruner.false_edges_bound_
    assert total <= expected + 3 * np.sqrt(2 * expected)  # a false pair adds two edges at once


def test_the_test_of_a_category_is_the_f_test_of_its_levels():
    from scipy.stats import f_oneway  # noqa: PLC0415

    rng = np.random.default_rng(0)
    level, y = rng.choice(list("abc"), 200), rng.normal(size=200)
    pruner = CAMPruning(alpha=1.0).fit(pd.DataFrame({"level": level, "y": y}), [0, 1])
    expected = f_oneway(*(y[level == name] for name in "abc")).pvalue
    assert pruner.p_values_[0, 1] == pytest.approx(expected, rel=1e-6)


@pytest.mark.parametrize("pruner", [*PRUNERS, PAPER], ids=repr)
def test_two_levels_become_zero_and_one(pruner):
    table = people()
    first = pruner.fit(table, list(table.columns)).edges_
    second = pruner.fit(table.assign(answer=table["answer"] == "yes"), list(table.columns)).edges_
    pd.testing.assert_frame_equal(first, second, rtol=1e-6)


def test_levels_that_act_together_with_a_number_are_a_pair_with_a_shape():
    rng = np.random.default_rng(0)
    level, x = rng.choice(list("abc"), 600), rng.normal(size=600)
    slope = pd.Series(level).map({"a": 1.0, "b": -1.0, "c": 0.0}).to_numpy()
    table = pd.DataFrame({"level": level, "x": x, "y": slope * x + rng.normal(size=600) / 2})
    model = CausalDiscovery(FixedOrder(["level", "x", "y"]), SARTRE(random_state=0)).fit(table)
    found = model.prune_step_.interactions_[["first", "second", "target"]]
    assert found.to_numpy().tolist() == [["level", "x", "y"]]
    mechanism, grid = model.mechanisms()["y"], np.quantile(x, np.linspace(0, 1, 25))
    assert mechanism.pairs == ((0, 1),)
    effect = [mechanism.surface((0, 1), np.column_stack([np.full(25, code), grid])) for code in (0.0, 1.0, 2.0)]
    assert (np.diff(effect, axis=1)[0] > 0).mean() > 0.9
    assert (np.diff(effect, axis=1)[1] < 0).mean() > 0.9


def test_a_nominal_target_has_all_parents_of_its_levels():
    rng = np.random.default_rng(0)
    a, b = rng.normal(size=(2, 800))
    kind = np.where(a > 1, "up", np.where(b > 1, "right", "none"))
    found = edges(SARTRE(random_state=0), pd.DataFrame({"a": a, "b": b, "kind": kind}))
    assert found == {("a", "kind"), ("b", "kind")}


# Invariances


def renamed(table):
    return table.assign(
        group=table["group"].map({"a": "z", "b": "q", "c": "f", "d": "k"}),
        grade=table["grade"].map({"hi": "1st", "mid": "3rd", "lo": "2nd"}),
    )


@pytest.mark.parametrize("pruner", [*PRUNERS, PAPER], ids=repr)
def test_names_of_levels_change_nothing(pruner):
    table = people()
    plain = pruner.fit(table, list(table.columns)).edges_
    other = pruner.fit(renamed(table), list(table.columns)).edges_
    pd.testing.assert_frame_equal(plain, other, rtol=1e-5)


def test_names_of_levels_change_no_order():
    table = people(n=200)
    orders = []
    for data in (table, renamed(table)):
        with pytest.warns(UserWarning, match="positions of these categories in the order are not reliable: group, col"):
            orders.append(CausalDiscovery(SCORE(), random_state=0).fit(data).order_.tolist())
    assert orders[0] == orders[1]


def test_rows_may_come_in_any_order():
    table = people()
    shuffled = table.sample(frac=1, random_state=0, ignore_index=True)
    assert edges(CAMPruning(), table) == edges(CAMPruning(), shuffled)


def test_pandas_and_polars_categoricals_enums_and_text_are_the_same():
    table = people()[["group", "x"]]
    text = as_table(table, categories=True)
    polars = pl.from_pandas(table)
    for other in (
        table.astype({"group": "category"}),
        table.astype({"group": object}),
        table.assign(group=pd.Categorical(table["group"], categories=list("dcbaunused"[:6]))),
        polars,
        polars.with_columns(pl.col("group").cast(pl.Categorical)),
        polars.with_columns(pl.col("group").cast(pl.Enum(list("dcba")))),
    ):
        found = as_table(other, categories=True)
        assert found.levels == {0: ("a", "b", "c", "d")}
        assert np.array_equal(found.values, text.values)


def test_a_category_of_numbers_is_a_category_and_an_ordered_one_is_a_number():
    codes = pd.Series([3, 1, 2, 1, 3, 2] * 5)
    kinds = pd.DataFrame(
        {
            "nominal": codes.astype("category"),
            "ordinal": pd.Categorical(codes.map({1: "mid", 2: "low", 3: "top"}), ["low", "mid", "top"], ordered=True),
            "coin": codes == 1,
        }
    )
    table = as_table(kinds, categories=True)
    assert table.levels == {0: ("1", "2", "3")}
    assert table.values[:3].tolist() == [[2, 2, 0], [0, 1, 1], [1, 0, 0]]


def test_a_copy_under_other_names_is_a_copy():
    rng = np.random.default_rng(0)
    level = np.repeat(list("abc"), 100)  # all levels equally frequent
    y = (level == "b") + rng.normal(size=300)
    copy = pd.Series(level).map({"a": "z", "b": "x", "c": "y"})
    with pytest.warns(UserWarning, match="Duplicated columns .*: copy = level"):
        pruner = CAMPruning().fit(pd.DataFrame({"level": level, "copy": copy, "y": y}), ["level", "copy", "y"])
    assert pruner.p_values_[:2, 2].tolist() == [pytest.approx(pruner.p_values_[0, 2]), 1.0]
    assert pruner.adjacency_matrix_[0, 2] == 1


# Refusals


@pytest.mark.parametrize(
    ("column", "message"),
    [
        (["1", "2", "3"] * 10, "Column 'b' holds numbers written as text, such as '1' in row 0"),
        (["1.5", "n/a", "2.5"] * 10, "Column 'b' holds 'n/a' in row 1 .*but a number is needed"),
        ([1.5, "high", 2.5] * 10, "Column 'b' holds 'high' in row 1 .*but a number is needed"),
        (["2024-01-02", "2024-02-03", "2024-01-02"] * 10, "Column 'b' holds dates written as text"),
        (["1/2/2024", "3/4/2024", "1/2/2024"] * 10, "Column 'b' holds dates written as text"),
        ([f"id{k}" for k in range(30)], "Column 'b' has 30 levels in 30 rows, such as 'id0', so it looks like an id"),
        (list("abcdef") * 5, "Column 'b' has 6 levels in 30 rows.*at most 5 levels are allowed. Merge rare levels"),
        (pd.date_range("2024", periods=30), "Column 'b' holds dates or times"),
    ],
)
def test_text_that_cannot_be_a_category_is_refused_with_a_reason(column, message):
    with pytest.raises((TypeError, ValueError), match=message):
        CausalDiscovery().fit(pd.DataFrame({"a": np.arange(30.0), "b": column}))


def test_too_many_levels_are_refused_in_a_categorical_too():
    table = pd.DataFrame({"a": np.arange(300.0), "b": pd.Categorical(np.arange(300) % 31)})
    with pytest.raises(ValueError, match=r"Column 'b' has 31 levels in 300 rows.*at most 30"):
        CausalDiscovery().fit(table)


def test_steps_that_need_numbers_refuse_categories():
    table = people()
    with pytest.raises(ValueError, match=r"Column 'group' holds '[abcd]' in row 0 .*but a number is needed"):
        SCORE().fit(table)
    with pytest.raises(ValueError, match=r"All columns must be numeric here. Got the categories group, colour"):
        SCORE().fit(as_table(table, categories=True))


# Whole models


def test_an_order_that_is_known_needs_no_warning():
    table = people(n=200)[["group", "x", "y"]]
    fixed = CausalDiscovery(FixedOrder(["group", "x", "y"]), random_state=0).fit(table)
    known = CausalDiscovery(SCORE(), knowledge=Knowledge(roots=["group"], before=[("group", "x"), ("group", "y")]))
    assert ("group", "x") in fixed.graph_.edges
    assert known.fit(table).order_[0] == 0


def test_halves_of_a_table_with_categories_are_learnt_from():
    table = people(n=300)[["group", "x", "colour"]]
    found = stability(CausalDiscovery(FixedOrder(["group", "x", "colour"])), table, n_pairs=3, random_state=0)
    assert found.consensus().edges == [("group", "x")]


def test_levels_are_part_of_what_a_checkpoint_knows_of_its_data():
    values = np.array([[0.0, 1.0], [1.0, 2.0], [2.0, 4.0]])
    plain, named, other = (Table(values, ("a", "b"), levels) for levels in ({}, {0: ("x", "y", "z")}, {0: ("x", "y")}))
    assert len({describe_table(table) for table in (plain, named, other)}) == 3


def test_scores_lie_along_what_the_data_share_and_numbers_stay():
    rng = np.random.default_rng(0)
    level = rng.integers(0, 3, 300)
    x = np.array([0.0, 5.0, 2.0])[level] + rng.normal(size=300)
    table = Table(np.column_stack([level, x, x + rng.normal(size=300)]), ("level", "x", "y"), {0: ("a", "b", "c")})
    result = scored(table)
    assert not result.levels
    assert np.array_equal(result.values[:, 1:], table.values[:, 1:])
    assert abs(np.corrcoef(result.values[:, 0], x)[0, 1]) > 0.8
    assert len(np.unique(result.values[:, 0])) == 3


def test_a_table_keeps_its_levels_when_rows_and_columns_are_taken():
    table = as_table(people(n=100), categories=True)
    part = table.select(np.array([2, 4, 0])).take(np.arange(50))
    assert part.names == ("x", "grade", "group")
    assert part.levels == {1: ("hi", "lo", "mid"), 2: ("a", "b", "c", "d")}
    assert table.standardized().levels == table.levels
    assert np.array_equal(table.standardized().values[:, 0], table.values[:, 0])

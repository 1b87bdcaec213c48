"""Every pruner must obey the order and the masks, and depend only on the relations in the data."""

from __future__ import annotations

import inspect
import json
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np
import pandas as pd
import pytest
from scipy.stats import poisson
from sklearn.base import clone

import sartre.prune
from sartre.plan.estimate import COSTS
from sartre.prune import DAS, SARTRE, CAMPruning, CaPSPruning
from sartre.steps import StepTags, tags_of


@dataclass(frozen=True, kw_only=True)
class Row:
    """A pruner and its properties.

    tests_edges: every edge that it keeps on its own has a p-value. unit_free: units and offsets change nothing.
    rank_based: increasing functions of a column change nothing either. rows_matter: why the order of the rows may
    change the result; empty if it may not. false_edges: expected number among six independent normal columns with
    `null_rows` rows. counts_columns: why a column without information may change the results of the others.
    """

    name: str
    make: Callable[[], Any]
    false_edges: float
    null_rows: int = 300
    tests_edges: bool = True
    unit_free: bool = True
    rank_based: bool = False
    rows_matter: str = ""
    counts_columns: str = ""


# There are 15 tests, and with a few hundred rows Wood's test has up to twice its level (docs/benchmarks.md).
CAM_LEVEL = 2 * 15 * 0.001
NOISE = "the filter's column of noise belongs to the rows' numbers"
TABLE = [
    Row(name="SARTRE", make=lambda: SARTRE(random_state=0), false_edges=0.15),  # its own bound
    Row(
        name="SARTRE-paper",
        make=lambda: SARTRE(penalty=0.1, random_state=0),
        # A group is chosen if n |Phi' y / n|^2 > n 0.1^2 = 50, for a sum of chi-squares with total weight at most 3:
        # this has a probability of 1e-9.
        false_edges=1e-6,
        null_rows=5000,
        tests_edges=False,
        unit_free=False,
    ),
    Row(name="SARTRE-additive", make=lambda: SARTRE(interactions=False, random_state=0), false_edges=0.05),
    Row(name="SARTRE-robust", make=lambda: SARTRE(robust=True, random_state=0), false_edges=0.15, rank_based=True),
    Row(name="CAMPruning", make=CAMPruning, false_edges=CAM_LEVEL),
    Row(name="DAS", make=DAS, false_edges=CAM_LEVEL, rows_matter=NOISE),
    Row(name="DAS-SARTRE", make=lambda: DAS(prune=SARTRE(random_state=0)), false_edges=0.15, rows_matter=NOISE),
    Row(
        name="CaPSPruning",
        make=CaPSPruning,
        false_edges=CAM_LEVEL,  # nothing is added to an empty graph
        unit_free=False,
        counts_columns="scores are compared with their mean over all pairs of columns",
    ),
]
NAMES = list("abcdefgh")
TRUE_EDGES = {("a", "c"), ("b", "c"), ("c", "d"), ("d", "g"), ("e", "g")}
EDGE_COLUMNS = ["source", "target", "strength", "margin", "p_value"]


def rows(wanted=lambda _: True):
    """Parametrise a test by the rows of the table for which something holds."""
    return pytest.mark.parametrize("row", [pytest.param(row, id=row.name) for row in filter(wanted, TABLE)])


every = rows()


def easy(n=400, seed=0):
    """Return eight columns with the true edges above, each of which explains a tenth of its target or more."""
    X = pd.DataFrame(np.random.default_rng(seed).normal(size=(n, 8)), columns=NAMES)
    X["c"] = np.sin(2 * X["a"]) + X["b"] + X["c"] / 2
    X["d"] = X["c"] ** 2 / 2 + X["d"] / 2
    X["g"] = X["d"] - X["e"] + X["g"] / 2
    return X


def pairs_of(fitted):
    return set(fitted.edges_[["source", "target"]].itertuples(index=False, name=None))


def assert_same_edges(one, two, rtol=1e-6):
    """Compare the edges and their numbers in any order."""
    tables = (pruner.edges_.set_index(["source", "target"]).sort_index() for pruner in (one, two))
    pd.testing.assert_frame_equal(*tables, rtol=rtol, atol=1e-12)


def mask_of(edges, names=NAMES):
    mask = pd.DataFrame(data=False, index=names, columns=names)
    for source, target in edges:
        mask.loc[source, target] = True
    return mask


def test_every_pruner_is_in_the_table():
    public = {name: getattr(sartre.prune, name) for name in sartre.prune.__all__}
    pruners = {name for name, item in public.items() if inspect.isclass(item) and hasattr(item, "fit")}
    assert {type(row.make()).__name__ for row in TABLE} == pruners


@every
def test_tags_say_what_it_costs_in_words_that_the_plan_knows(row):
    tags = tags_of(row.make())
    known = set(json.loads(COSTS.read_text(encoding="utf-8"))["costs"])
    assert isinstance(tags, StepTags)
    assert tags.costs is not None
    assert {cost.key for cost in tags.costs} <= known
    assert tags.counting_cost is None or tags.counting_cost in known
    assert tags.takes_row_source == hasattr(row.make(), "fit_batches")
    assert not (tags.needs_units and row.unit_free)


@every
@pytest.mark.parametrize("seed", range(3))
def test_the_true_edges_of_an_easy_graph_are_found(row, seed):
    found = pairs_of(row.make().fit(easy(seed=seed), NAMES))
    assert found >= TRUE_EDGES
    assert len(found) <= 14  # half of the edges that the order allows


@every
@pytest.mark.parametrize("seed", range(3))
def test_the_table_of_edges_has_exactly_the_edges_of_the_matrix(row, seed):
    fitted = row.make().fit(easy(seed=seed), NAMES)
    assert list(fitted.edges_.columns) == EDGE_COLUMNS
    assert all(fitted.edges_[name].dtype == np.float64 for name in EDGE_COLUMNS[2:])
    assert fitted.adjacency_matrix_.shape == (8, 8)
    assert set(np.unique(fitted.adjacency_matrix_)) == {0, 1}
    in_matrix = {(NAMES[i], NAMES[j]) for i, j in np.argwhere(fitted.adjacency_matrix_)}
    assert pairs_of(fitted) == in_matrix
    assert len(fitted.edges_) == len(in_matrix)


@every
def test_edges_come_with_their_strength_and_a_test_if_there_was_one(row):
    edges = row.make().fit(easy(), NAMES).edges_
    assert edges["strength"].is_monotonic_decreasing
    assert edges["strength"].between(0, 1).all()
    assert (edges["strength"] > 0.05).sum() >= len(TRUE_EDGES)
    if row.tests_edges:
        assert edges["p_value"].between(0, 0.01).all()
    else:
        assert edges["p_value"].isna().all()


@every
@pytest.mark.parametrize("seed", range(3))
def test_only_edges_that_the_order_and_the_candidates_allow_are_kept(row, seed):
    rng = np.random.default_rng(seed)
    order, allowed = rng.permutation(8), rng.random((8, 8)) < 0.5
    place = np.argsort(order)
    fitted = row.make().fit(easy(seed=seed), order, candidates=allowed)
    possible = allowed & (place[:, None] < place)
    assert fitted.adjacency_matrix_.any()
    assert not fitted.adjacency_matrix_[~possible].any()
    assert_same_edges(fitted, row.make().fit(easy(seed=seed), order, candidates=possible))


@every
@pytest.mark.parametrize("seed", range(3))
def test_required_edges_stay_and_are_not_all_that_is_there(row, seed):
    required = np.triu(np.random.default_rng(seed).random((8, 8)) < 0.2, 1)
    fitted = row.make().fit(easy(seed=seed), NAMES, required=required)
    assert fitted.adjacency_matrix_[required].all()
    assert pairs_of(fitted) >= TRUE_EDGES
    assert fitted.adjacency_matrix_.sum() < 28


@every
def test_masks_with_names_go_by_their_names(row):
    useless, order = ("f", "h"), NAMES
    mask = mask_of([useless], sorted(NAMES, reverse=True))
    assert useless in pairs_of(row.make().fit(easy(), order, required=mask))
    assert ("a", "c") not in pairs_of(row.make().fit(easy(), order, candidates=~mask_of([("a", "c")])))


@every
def test_permuting_columns_and_rows_permutes_the_graph(row):
    for seed in range(3):
        X, rng = easy(seed=seed), np.random.default_rng(seed)
        moved = X[list(rng.permutation(NAMES))]
        moved = moved if row.rows_matter else moved.iloc[rng.permutation(len(X))]
        plain, other = row.make().fit(X, NAMES), row.make().fit(moved, NAMES)
        assert_same_edges(other, plain, rtol=1e-4)
        places = [moved.columns.get_loc(name) for name in NAMES]
        np.testing.assert_array_equal(other.adjacency_matrix_[np.ix_(places, places)], plain.adjacency_matrix_)


@rows(lambda row: row.unit_free)
def test_units_and_offsets_change_nothing(row):
    for seed in range(3):
        X = easy(seed=seed)
        rescaled = X * [1e-3, 50.0, -1e6, 2.0, 1e-6, -7.0, 1e3, 1.0] + [3.0, -100.0, 1e7, 0.0, 0.0, 5.0, 0.0, 1e3]
        assert pairs_of(row.make().fit(rescaled, NAMES)) == pairs_of(row.make().fit(X, NAMES))


@rows(lambda row: not row.unit_free)
def test_what_is_said_to_depend_on_units_does(row):
    X = easy()
    rescaled = X.assign(a=X["a"] / 100, g=100 * X["g"])
    assert pairs_of(row.make().fit(rescaled, NAMES)) != pairs_of(row.make().fit(X, NAMES))


@rows(lambda row: row.rank_based)
def test_increasing_functions_of_the_columns_change_nothing(row):
    X = easy()
    bent = X.assign(a=np.exp(X["a"]), c=X["c"] ** 3, e=np.arctan(X["e"]), g=np.sinh(X["g"]))
    assert_same_edges(row.make().fit(bent, NAMES), row.make().fit(X, NAMES))


@every
@pytest.mark.filterwarnings("ignore:Constant columns")
def test_a_constant_column_has_no_edge_and_changes_no_other(row):
    X = easy()
    order = ["a", "flat", *NAMES[1:]]
    fitted, without = row.make().fit(X.assign(flat=5.0), order), row.make().fit(X, NAMES)
    assert not {"flat"} & set(fitted.edges_[["source", "target"]].to_numpy().ravel())
    if row.counts_columns:
        assert pairs_of(fitted) >= TRUE_EDGES
    else:
        assert_same_edges(fitted, without)


@every
@pytest.mark.filterwarnings("ignore:Constant columns")
def test_required_edges_of_a_constant_column_stay_without_numbers(row):
    required = mask_of([("a", "flat"), ("flat", "h")], [*NAMES, "flat"])
    fitted = row.make().fit(easy().assign(flat=5.0), ["a", "flat", *NAMES[1:]], required=required)
    numbers = fitted.edges_.set_index(["source", "target"]).loc[[("a", "flat"), ("flat", "h")]]
    assert numbers.isna().all(axis=None)
    assert fitted.adjacency_matrix_.sum() == len(fitted.edges_)


@every
@pytest.mark.filterwarnings("ignore:Duplicated columns", "ignore:The smoothness of the models")
def test_a_copy_takes_no_effect_away(row):
    for seed in range(3):
        X = easy(seed=seed)
        fitted = row.make().fit(X.assign(copy=X["a"]), ["a", "copy", *NAMES[1:]])
        found = pairs_of(fitted)
        assert found >= TRUE_EDGES - {("a", "c")}
        copies = found & {("a", "c"), ("copy", "c")}
        assert copies
        assert len(copies) == 1 or not row.tests_edges  # a lasso may share the effect between them


@every
def test_the_number_of_jobs_changes_nothing(row):
    X = easy()
    one, two = (row.make().set_params(n_jobs=n_jobs).fit(X, NAMES) for n_jobs in (1, 2))
    assert_same_edges(one, two)


@every
def test_fitting_again_gives_the_same_and_a_clone_knows_nothing_of_it(row):
    pruner, X = row.make(), easy()
    settings = repr(pruner)
    first = pruner.fit(X, NAMES).edges_
    pruner.fit(easy(seed=1), NAMES[::-1])
    pd.testing.assert_frame_equal(pruner.fit(X, NAMES).edges_, first)
    assert repr(pruner) == settings
    copy = clone(pruner)
    assert repr(copy) == settings
    assert not [name for name in vars(copy) if name.endswith("_")]
    pd.testing.assert_frame_equal(copy.fit(X, NAMES).edges_, first)


@every
def test_nothing_of_the_input_is_modified(row):
    X, order = easy(), np.arange(8)
    candidates, required = np.ones((8, 8), dtype=bool), np.zeros((8, 8), dtype=bool)
    required[5, 7] = True
    values = X.to_numpy().copy()
    for array in (values, order, candidates, required):
        array.flags.writeable = False
    kept = X.copy(deep=True)
    row.make().fit(values, order, candidates, required)
    row.make().fit(X, order, candidates, required)
    pd.testing.assert_frame_equal(X, kept)


@every
@pytest.mark.parametrize(
    ("order", "masks", "error", "message"),
    [
        (NAMES[:-1], {}, ValueError, "must list every column exactly once. Missing or repeated: h"),
        ([*NAMES[:-1], "a"], {}, ValueError, "must list every column exactly once. Missing or repeated: a, h"),
        ([*NAMES[:-1], "z"], {}, ValueError, "Got 'z' instead. The columns are a, b, c, d, e and 3 more"),
        (range(1, 9), {}, ValueError, "numbers from 0 to 7. Got 8"),
        (set(NAMES), {}, TypeError, "An order must be a sequence of columns, causes before effects. Got set"),
        (NAMES, {"candidates": np.ones((7, 8))}, ValueError, r"'candidates' must be a \(8, 8\) matrix of booleans"),
        (
            NAMES,
            {"candidates": np.full((8, 8), 0.5)},
            ValueError,
            r"'candidates' must be a \(8, 8\) matrix of booleans",
        ),
        (
            NAMES,
            {"required": np.tri(8, k=-1)},
            ValueError,
            "b -> a is required, but the order does not have b before a",
        ),
        (
            NAMES,
            {"candidates": np.zeros((8, 8)), "required": np.eye(8, k=7)},
            ValueError,
            "a -> h is required, but 'candidates' excludes it",
        ),
    ],
    ids=["short", "twice", "unknown", "number", "set", "shape", "halves", "against", "excluded"],
)
def test_a_bad_order_or_mask_is_refused_with_the_reason(row, order, masks, error, message):
    with pytest.raises(error, match=message):
        row.make().fit(easy(50), order, **masks)


@every
def test_few_edges_come_of_independent_columns(row):
    """Bound the number of false edges, which may come two at a time with a pair.

    If every two of them were one event of a Poisson variable with the expected mean, the bound would be exceeded with
    a probability below 1 in 1000.
    """
    n_tables = 30
    bound = 2 * poisson.isf(1e-3, n_tables * row.false_edges / 2)
    found = 0
    for seed in range(n_tables):
        X = np.random.default_rng([seed, 7]).normal(size=(row.null_rows, 6))
        found += int(row.make().fit(X, range(6)).adjacency_matrix_.sum())
    assert found <= bound


@rows(lambda row: isinstance(row.make(), SARTRE) and row.tests_edges)
def test_the_bound_of_false_edges_is_what_the_table_says(row):
    X = np.random.default_rng(0).normal(size=(50, 6))
    assert row.make().fit(X, range(6)).false_edges_bound_ == pytest.approx(row.false_edges)

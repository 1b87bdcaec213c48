"""Missing values: counted and refused, dropped, imputed, or treated as a separate bin."""

from __future__ import annotations

import warnings

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest

from sartre import CausalDiscovery, stability
from sartre.additive.bases.rank_polynomials import pair_basis
from sartre.additive.bases.splines import smooth_bases
from sartre.additive.bases.trees import Embedding, interval_bases
from sartre.additive.design import prepare
from sartre.data.checks import as_table
from sartre.data.missing import imputed, read_table
from sartre.data.table import Table, normal_scores, standardise
from sartre.order import SCORE, FixedOrder
from sartre.prune import DAS, SARTRE, CAMPruning

ORDER = FixedOrder(list("xywzcv"))
PRUNERS = [SARTRE(random_state=0), CAMPruning()]


def holed(seed=0, n=500):
    """Return a table in which missingness of x raises y; z and c miss some values at random. w -> z, c -> v."""
    rng = np.random.default_rng([seed, 71])
    x, w = rng.normal(size=(2, n))
    hole = rng.random(n) < 0.2
    c = rng.choice(list("abc"), n).astype(object)
    table = pd.DataFrame({"x": x, "y": 1.5 * hole + rng.normal(size=n), "w": w})
    table["z"] = np.sin(2 * w) + rng.normal(size=n) / 2
    table["c"], table["v"] = c, (c == "b") + rng.normal(size=n)
    table.loc[hole, "x"] = np.nan
    table.loc[rng.random(n) < 0.3, "z"] = np.nan
    table.loc[rng.random(n) < 0.1, "c"] = None
    return table


def learnt(table, missing, prune=None, order=ORDER):
    return CausalDiscovery(order, prune, missing=missing, random_state=0).fit(table)


# The four treatments


def test_they_are_refused_by_default_and_counted_with_the_ways_out():
    table = holed()
    counts = table.isna().sum()
    message = rf"per column: 'x' {counts['x']}, 'z' {counts['z']}, 'c' {counts['c']}; .*'drop', 'impute', or 'bin'"
    with pytest.raises(ValueError, match=message):
        CausalDiscovery(ORDER).fit(table)
    with pytest.raises(ValueError, match=message):
        SARTRE().fit(table, list("xywzcv"))


def test_another_way_is_refused():
    with pytest.raises(
        ValueError, match="The 'missing' parameter of CausalDiscovery must be 'error', 'drop', 'bin' or"
    ):
        learnt(holed(), "ignore")


def test_drop_leaves_out_rows_and_says_how_many():
    table = holed()
    kept = table.dropna()
    with pytest.warns(UserWarning, match=f"{500 - len(kept)} of 500 rows were left out because of .* in 3 columns"):
        found = learnt(table, "drop")
    pd.testing.assert_frame_equal(found.edges_, learnt(kept, "error").edges_)


def test_too_few_rows_may_be_left():
    table = holed(n=20)
    table.loc[2:, "w"] = np.nan
    with (
        pytest.warns(UserWarning, match="rows were left out"),
        pytest.raises(ValueError, match=r"At least 10 rows are needed. Got [012]"),
    ):
        learnt(table, "drop")


def test_impute_fills_in_draws_and_the_most_common_level():
    rng = np.random.default_rng(0)
    x = rng.normal(size=500)
    X = np.column_stack([x, x + rng.normal(size=500) / 2, np.repeat([0.0, 1.0], [400, 100])])
    X[::5, 1], X[::50, 2] = np.nan, np.nan
    table = Table(np.asfortranarray(X), ("a", "b", "c"), {2: ("u", "v")})
    filled = imputed(table, seed=3)
    there = ~table.missing
    assert np.array_equal(filled.values[there], table.values[there])
    assert (filled.values[::50, 2] == 0).all()
    assert np.corrcoef(filled.values[::5, 0], filled.values[::5, 1])[0, 1] == pytest.approx(0.89, abs=0.1)
    assert filled.values[::5, 1].std() == pytest.approx(np.nanstd(X[:, 1]), rel=0.25)  # draws, not means
    assert np.array_equal(filled.values, imputed(table, seed=3).values)
    assert not np.array_equal(filled.values, imputed(table, seed=4).values)


def test_impute_warns_and_is_seeded():
    with pytest.warns(UserWarning, match="missing values in 3 columns were imputed"):
        first = learnt(holed(), "impute")
    with pytest.warns(UserWarning, match="were imputed"):
        second = learnt(holed(), "impute")
    assert {("w", "z"), ("c", "v")} <= set(first.graph_.edges)
    pd.testing.assert_frame_equal(first.edges_, second.edges_)


@pytest.mark.parametrize("prune", PRUNERS, ids=lambda prune: type(prune).__name__)
@pytest.mark.parametrize("seed", range(2))
def test_bin_finds_effects_of_missingness_that_drop_cannot(prune, seed):
    table = holed(seed)
    assert set(learnt(table, "bin", prune).graph_.edges) == {("x", "y"), ("w", "z"), ("c", "v")}
    with pytest.warns(UserWarning, match="left out"):
        assert ("x", "y") not in learnt(table, "drop", prune).graph_.edges


def test_bin_works_with_the_papers_penalty():
    found = learnt(holed(), "bin", SARTRE(penalty=0.1, random_state=0)).graph_.edges
    assert {("x", "y"), ("w", "z"), ("c", "v")} <= set(found)


def test_das_refuses_bin_by_name():
    with pytest.raises(ValueError, match="DAS needs a table without missing values"):
        learnt(holed(), "bin", DAS())


@pytest.mark.parametrize("missing", ["drop", "bin", "impute"])
def test_without_missing_values_the_ways_are_one(missing):
    table = holed().dropna()
    pd.testing.assert_frame_equal(learnt(table, missing).edges_, learnt(table, "error").edges_)


# Bin


@pytest.mark.parametrize("prune", [*PRUNERS, SARTRE(penalty=0.1, random_state=0)], ids=repr)
def test_rows_without_the_target_are_left_out_of_its_regression_only(prune):
    rng = np.random.default_rng(0)
    a, b = rng.normal(size=(2, 400))
    table = pd.DataFrame({"a": a, "b": np.sin(2 * a) + b, "c": a**2 + rng.normal(size=400)})
    table.loc[:99, "b"] = np.nan
    order, only_a = FixedOrder(list("abc")), np.zeros((3, 3), dtype=bool)
    only_a[0] = True
    whole = learnt(table, "bin", prune, order).edges_.set_index("target")
    holes = read_table(table, "bin", 0)
    mine = prune.fit(holes, list("abc"), candidates=only_a).edges_.set_index("target")
    alone = learnt(table[["a", "b"]].dropna(), "error", prune, FixedOrder(list("ab"))).edges_.set_index("target")
    for column in ("strength", "margin", "p_value"):  # b is tested as if the other rows did not exist, c on all rows
        assert mine.loc["b", column] == pytest.approx(alone.loc["b", column], rel=1e-6, nan_ok=True)
    complete = prune.fit(table[["a", "c"]], [0, 1]).edges_.iloc[0]
    assert mine.loc["c", "strength"] == pytest.approx(complete["strength"], rel=1e-6)
    assert {"b", "c"} <= set(whole.index)


def test_independent_columns_with_holes_have_no_more_edges_than_the_bound_says():
    total, n_seeds = 0, 40
    for seed in range(n_seeds):
        rng = np.random.default_rng([seed, 72])
        level = rng.choice(list("abc"), 250, p=[0.6, 0.3, 0.1]).astype(object)
        table = pd.DataFrame({"level": level, "x": rng.normal(size=250), "y": rng.normal(size=250)})
        table = table.assign(z=rng.standard_t(3, size=250)).mask(rng.random((250, 4)) < 0.15)
        found = learnt(table, "bin", order=FixedOrder(list(table.columns)))
        total += found.graph_.n_edges
    expected = n_seeds * found.prune_step_.false_edges_bound_
    assert total <= expected + 3 * np.sqrt(2 * expected)


def test_the_orderer_sees_a_table_without_holes_and_without_categories():
    seen = []

    class Spy(SCORE):
        def fit(self, X, before=None):
            seen.append(X)
            return super().fit(X, before)

    with pytest.warns(UserWarning, match="positions of these categories in the order are not reliable: c"):
        learnt(holed(n=120), "bin", order=Spy())
    assert np.isfinite(seen[0].values).all()
    assert not seen[0].levels


def test_no_nan_reaches_the_engine():
    table = read_table(holed(n=100), "bin", 0)
    for X in (table.values, normal_scores(table.values)):
        X = np.where(np.isin(np.arange(6), list(table.nominal)), table.values, X)  # noqa: PLW2901
        bases = interval_bases(X, table.names, Embedding(), 0, table.nominal)
        for design in (prepare(X, bases), prepare(X, smooth_bases(X, 10, table.nominal))):
            assert all(np.isfinite(part).all() for part in design)
            for j in range(6):  # orthogonal and centred over all rows, including the missing ones
                functions = design.table(j)[design.codes[j]]
                np.testing.assert_allclose(functions.mean(axis=0), 0, atol=1e-9)
                np.testing.assert_allclose(functions.T @ functions / 100, np.diag(design.eigenvalues(j)), atol=1e-9)
        assert np.isfinite(pair_basis(X, table.nominal).values).all()
        assert np.isfinite(standardise(X[:, 0])).all()


@pytest.mark.parametrize("n", [12, 20])
@pytest.mark.parametrize("prune", [*PRUNERS, SARTRE(penalty=0.1, random_state=0)], ids=repr)
@pytest.mark.filterwarnings("ignore")
def test_few_rows_with_holes_give_a_graph(n, prune):
    for seed in range(3):
        table = holed(seed, n)
        table.loc[2:, "z"] = np.nan  # two values
        assert learnt(table, "bin", prune).adjacency_matrix_.shape == (6, 6)


def test_a_column_without_any_value_is_refused():
    with pytest.raises(ValueError, match=r"Column 'w' has no values. Leave it out"):
        learnt(holed().assign(w=np.nan), "bin")


def test_pandas_polars_and_arrow_agree():
    table = holed(n=100)
    expected = as_table(table, categories=True, missing=True)
    arrow = pa.Table.from_pandas(table, preserve_index=False)
    coded = arrow.set_column(4, "c", arrow["c"].dictionary_encode())
    categorical = table.astype({"c": "category"})
    for other in (pl.from_pandas(table), pl.from_pandas(categorical), categorical, arrow, coded):
        found = as_table(other, categories=True, missing=True)
        assert found.levels == expected.levels == {4: ("a", "b", "c")}
        np.testing.assert_array_equal(found.values, expected.values)


def test_halves_are_treated_in_the_models_way():
    model = CausalDiscovery(ORDER, missing="bin")
    found = stability(model, holed(n=600), n_pairs=3, random_state=0)
    assert {("x", "y"), ("w", "z")} <= set(found.consensus().edges)
    with pytest.raises(ValueError, match="Missing values"):
        stability(CausalDiscovery(ORDER), holed(), n_pairs=1)


def test_constant_and_standardised_columns_do_not_count_missing_values():
    values = np.array([[1.0, 2.0], [np.nan, 2.0], [3.0, np.nan]])
    table = Table(values, ("a", "b"))
    assert table.constant.tolist() == [False, True]
    np.testing.assert_array_equal(table.standardized().values, [[-1, 0], [np.nan, 0], [1, np.nan]])


def any_table(rng):
    """Draw a few columns of any kind, some with few values, some with many missing values."""
    n, columns = int(rng.integers(15, 60)), {}
    for j in range(int(rng.integers(2, 6))):
        column = pd.Series(
            [
                rng.normal(size=n),
                rng.integers(0, 3, n).astype(float),
                rng.choice(list("abcd"), n, p=[0.7, 0.2, 0.05, 0.05]).astype(object),
                rng.choice(["u", "v"], n).astype(object),
            ][rng.integers(4)]
        )
        column[rng.random(n) < rng.choice([0, 0.1, 0.5])] = np.nan
        column[:2] = column.dropna().iloc[0]
        columns[f"c{j}"] = column
    return pd.DataFrame(columns)


@pytest.mark.filterwarnings("ignore::UserWarning")
@pytest.mark.parametrize("prune", [*PRUNERS, SARTRE(penalty=0.1), SARTRE(robust=True)], ids=repr)
def test_any_kinds_of_columns_with_any_holes_give_a_graph(prune):
    for seed in range(15):
        table = any_table(np.random.default_rng([seed, 73]))
        for missing in ("bin", "impute"):
            found = learnt(table, missing, prune, SCORE())
            assert found.graph_.names == list(table.columns)  # a Dag is acyclic
            assert len(found.diagnostics_.nodes) == table.shape[1]


def test_a_flag_that_is_there_or_missing_is_a_cause_whatever_else_is_missing():
    rng = np.random.default_rng(0)
    flag = np.where(rng.random(400) < 0.5, 1.0, np.nan)
    x = rng.normal(size=400)
    frame = pd.DataFrame({"flag": flag, "x": x, "y": x + 2 * np.isnan(flag) + 0.3 * rng.normal(size=400)})
    holes = frame.copy()
    holes.loc[:3, "y"] = np.nan
    for table in (frame, holes):
        model = CausalDiscovery(FixedOrder(["flag", "x", "y"]), missing="bin", random_state=0).fit(table)
        assert set(model.edges_["source"]) == {"flag", "x"}


@pytest.mark.filterwarnings("ignore:.* missing values in")
@pytest.mark.parametrize("missing", ["bin", "impute"])
def test_a_column_with_hardly_any_value_does_not_stop_stability(missing):
    rng = np.random.default_rng(0)
    x = rng.normal(size=200)
    rare = np.full(200, np.nan)
    rare[[3, 7]] = 1.0, 2.0
    frame = pd.DataFrame({"x": x, "y": np.sin(2 * x) + 0.3 * rng.normal(size=200), "rare": rare})
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        result = stability(CausalDiscovery(missing=missing), frame, n_pairs=2, random_state=0)
    assert result.edge_frequency[0, 1] + result.edge_frequency[1, 0] == 1.0

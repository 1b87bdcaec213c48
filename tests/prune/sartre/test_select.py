"""SARTRE with an automatic penalty: no units, no tuning, pairs are found, one copy is kept, noise gives no edges."""

from __future__ import annotations

import numpy as np
import pandas as pd
import pytest
from scipy.stats import chi2

from sartre import CausalDiscovery
from sartre.data.checks import as_table, default_names
from sartre.data.table import Table
from sartre.metrics import edge_precision, edge_recall, shd
from sartre.order import FixedOrder
from sartre.prune import SARTRE, CAMPruning
from sartre.prune.sartre.backward import combined
from sartre.prune.sartre.select import warn_about_repeats, without_repeats
from sartre.simulate import random_dag, simulate


def auto(**settings):
    return SARTRE(random_state=0, **settings)


@pytest.fixture(scope="module")
def data():
    return simulate(random_dag(10, 14, random_state=5), 1000, random_state=5)


@pytest.fixture(scope="module")
def order(data):
    return data.dag.topological_order()


@pytest.fixture(scope="module")
def fitted(data, order):
    return auto().fit(data.X, order)


def test_a_graph_of_joint_mechanisms_is_found(data, order, fitted):
    assert edge_precision(data.dag, fitted.adjacency_matrix_) > 0.9
    additive = auto(interactions=False).fit(data.X, order)
    fixed = SARTRE(penalty=0.1, random_state=0).fit(data.X, order)
    assert shd(data.dag, fitted.adjacency_matrix_) <= shd(data.dag, additive.adjacency_matrix_)
    assert shd(data.dag, fitted.adjacency_matrix_) < shd(data.dag, fixed.adjacency_matrix_)


def test_units_offsets_and_jobs_change_nothing(data, order, fitted):
    moved = data.X * 2.0 ** np.arange(-20, 20, 4) + 5.0
    other = auto(n_jobs=2).fit(moved, order)
    np.testing.assert_array_equal(other.adjacency_matrix_, fitted.adjacency_matrix_)
    pd.testing.assert_frame_equal(other.interactions_, fitted.interactions_, rtol=1e-3)


def test_permuting_columns_and_rows_permutes_the_graph(data, order, fitted):
    rng = np.random.default_rng(0)
    shuffled = data.X[list(rng.permutation(data.X.columns))].iloc[rng.permutation(len(data.X))]
    pd.testing.assert_frame_equal(auto().fit(shuffled, order).edges_, fitted.edges_, rtol=1e-6)


def test_parents_that_act_only_together_are_found_and_named():
    rng = np.random.default_rng(0)
    X = pd.DataFrame(rng.normal(size=(800, 6)), columns=list("abcdef"))
    X["y"] = X["b"] * X["e"] + rng.normal(size=800) / 2
    order = list(X.columns)
    model = auto().fit(X, order)
    assert set(model.edges_.query("target == 'y'")["source"]) == {"b", "e"}
    assert model.interactions_[["first", "second", "target"]].to_numpy().tolist() == [["b", "e", "y"]]
    assert (model.edges_.query("target == 'y'")["strength"] > 0.5).all()
    blind = auto(interactions=False).fit(X, order)
    assert len(blind.edges_.query("target == 'y'")) < 2  # it acts only through the variance, if at all
    assert blind.interactions_.empty


def test_many_weak_straight_effects_are_found_as_well_as_by_cam_pruning():
    data = simulate(random_dag(12, 40, random_state=8), 1000, mechanism="linear", random_state=8)
    order = data.dag.topological_order()
    cam = CAMPruning().fit(data.X, order).adjacency_matrix_
    assert shd(data.dag, auto().fit(data.X, order).adjacency_matrix_) <= shd(data.dag, cam) + 1


@pytest.mark.filterwarnings("ignore:Some columns are near copies")
def test_one_of_two_copies_stays():
    for seed in range(10):
        rng = np.random.default_rng(seed)
        x = rng.normal(size=400)
        X = np.column_stack([x, x + 1e-3 * rng.normal(size=400), np.sin(2 * x) + rng.normal(size=400) / 2])
        assert auto().fit(X, [0, 1, 2]).adjacency_matrix_[:2, 2].sum() >= 1


@pytest.mark.filterwarnings("ignore:.* rows repeat another row")
@pytest.mark.parametrize("kind", ["normal", "integers", "tails", "resampled"])
def test_nothing_comes_of_independent_columns(kind):
    found = []
    for seed in range(12):
        rng = np.random.default_rng([seed, 11])
        X = rng.standard_t(3, size=(300, 12)) if kind == "tails" else rng.normal(size=(300, 12))
        X = rng.integers(0, 4, size=(300, 12)).astype(float) if kind == "integers" else X
        X = X[rng.integers(0, 300, size=700)] if kind == "resampled" else X
        model = auto().fit(X, range(12))
        found.append(model.adjacency_matrix_.sum())
    assert model.false_edges_bound_ == pytest.approx(0.33)
    assert auto(interactions=False).fit(X, range(12)).false_edges_bound_ == pytest.approx(0.11)
    assert np.mean(found) <= 0.33 + 3 * np.sqrt(2 * 0.33 / 12)  # false edges come in pairs


def test_rows_that_cannot_repeat_by_chance_are_left_out_of_the_tests(data, order):
    twice = pd.concat([data.X, data.X.iloc[:300]])
    with pytest.warns(UserWarning, match="300 of 1300 rows repeat another row"):
        repeated = auto().fit(twice, order)
    pd.testing.assert_frame_equal(repeated.edges_, auto().fit(data.X, order).edges_)


def test_rows_that_repeat_by_chance_stay():
    rng = np.random.default_rng(0)
    coins = rng.integers(0, 2, size=(200, 4)).astype(float)
    age = rng.integers(20, 90, size=500)
    people = np.column_stack([age, 2026 - age, rng.integers(0, 2, size=(500, 2))])
    counts = np.column_stack([rng.poisson(3, size=500), rng.integers(0, 2, size=500)])
    for X in (coins, coins[:, :2], people, people[:, :2], people[:, [0, 3]], counts, np.ones((50, 2))):
        table = Table(np.asfortranarray(X, dtype=float), tuple(default_names(X.shape[1])))
        assert without_repeats(table).shape == X.shape


def test_two_binary_columns_keep_their_edge():
    rng = np.random.default_rng(3)
    a = rng.integers(0, 2, size=500)
    b = np.where(rng.random(500) < 0.8, a, 1 - a)
    assert len(auto().fit(np.column_stack([a, b]), [0, 1]).edges_) == 1


def test_one_fine_column_is_enough_to_recognise_copies():
    rng = np.random.default_rng(0)
    X = np.column_stack([rng.normal(size=300), rng.integers(0, 2, size=300)])
    table = as_table(np.vstack([X, X]))
    kept = without_repeats(table)
    assert kept.shape == (300, 2)
    with pytest.warns(UserWarning, match="300 of 600 rows repeat another row"):
        warn_about_repeats(table, kept, stacklevel=1)


def test_rounded_columns_are_recognised_as_continuous():
    X = as_table(np.random.default_rng(0).normal(size=(400, 5)).round(2))
    table = X.take(np.arange(800) % 400)
    kept = without_repeats(table)
    assert kept.shape == (400, 5)
    with pytest.warns(UserWarning, match="rows repeat another row"):
        warn_about_repeats(table, kept, stacklevel=1)


def test_near_copies_are_named_and_get_no_flood_of_edges(data, order):
    rng = np.random.default_rng(0)
    first = order[0]
    near = data.X.assign(near=data.X[first] + 0.01 * data.X[first].std() * rng.normal(size=len(data.X)))
    with pytest.warns(UserWarning, match=f"near copies of each other: {first} ~ near"):
        model = auto().fit(near, [*order, "near"])
    into = model.edges_.query("target == 'near'")["source"].tolist()
    assert first in into
    assert len(into) <= 2


def test_heavy_tails_and_unequal_variances_turn_robust_tests_on_where_they_are():
    rng = np.random.default_rng(0)
    a, b, c = rng.normal(size=(3, 600))
    X = pd.DataFrame({"a": a, "b": b, "tail": rng.standard_t(2, size=600), "c": c})
    X["unequal"] = np.exp(0.8 * X["a"]) * rng.normal(size=600)
    X["plain"] = X["c"] + rng.normal(size=600)
    model = auto().fit(X, list(X.columns))
    assert model.robust_targets_ == ["tail", "unequal"]
    assert auto(robust=False).fit(X, list(X.columns)).robust_targets_ == []
    assert auto(robust=True).fit(X, list(X.columns)).robust_targets_ == list(X.columns[1:])
    assert not model.edges_["target"].isin(["tail"]).any()


def test_a_path_of_levels_is_the_fits_at_each(data, order):
    path = auto().path(data.X, order, values=[0.1, 1e-4])
    assert path["level"].is_monotonic_increasing
    for level, edges in path.groupby("level"):
        alone = auto(level=level).fit(data.X, order).edges_
        assert set(zip(edges["source"], edges["target"], strict=True)) == set(
            zip(alone["source"], alone["target"], strict=True)
        )
    with pytest.raises(ValueError, match=r"'level' parameter of SARTRE.path must be a float in the range"):
        auto().path(data.X, order, values=[2.0])


def test_the_shape_of_an_interaction_is_that_of_the_mechanism():
    rng = np.random.default_rng(0)
    X = pd.DataFrame(rng.uniform(-1, 1, size=(2000, 3)), columns=list("abc"))
    X["y"] = 3 * X["a"] * X["c"] + X["a"] + rng.normal(size=2000) / 3
    model = CausalDiscovery(FixedOrder(X.columns), auto()).fit(X)
    assert model.prune_step_.interactions_[["first", "second", "target"]].to_numpy().tolist() == [["a", "c", "y"]]
    parents, mechanism = sorted(model.graph_.parents("y")), model.mechanisms()["y"]
    (pair,) = mechanism.pairs
    assert [parents[k] for k in pair] == ["a", "c"]
    first, second = np.quantile(X[["a", "c"]], np.linspace(0, 1, 25), axis=0).T
    grid = np.column_stack([each.ravel() for each in np.meshgrid(first, second, indexing="ij")])
    effect, truth = mechanism.surface(pair, grid) / X["y"].std(), 3 * grid[:, 0] * grid[:, 1] / X["y"].std()
    assert np.corrcoef(effect, truth)[0, 1] > 0.99
    assert np.abs(effect - truth).mean() < 0.1


def test_a_higher_level_keeps_more_edges(data, order):
    counts = [len(auto(level=level).fit(data.X, order).edges_) for level in (1e-6, 0.01, 0.5)]
    assert counts == sorted(counts)
    assert counts[0] < counts[2]


def test_the_level_is_shared_out_evenly_over_the_edges_that_may_stay(data, order):
    model = auto(level=0.2).fit(data.X, order)
    assert 2 * 0.02 / 10 < model.edges_["p_value"].max() < 2 * 0.2 / 10
    few = np.zeros((10, 10), dtype=bool)
    few[:, [7, 8]] = True  # two targets
    allowed = few & (np.argsort(order)[:, None] < np.argsort(order))
    strict = auto(level=0.2).fit(data.X, order, candidates=few)
    assert strict.edges_["p_value"].max() < 0.2 * 2 / allowed.sum()
    assert strict.false_edges_bound_ == pytest.approx(3 * 0.2 * 2)


def test_an_outlier_that_a_model_follows_calls_for_robust_tests():
    rng = np.random.default_rng(0)
    X = rng.normal(size=(300, 6))
    X[7, [1, 3, 5]] = 12.0  # a single sample looks like an effect
    plain = auto(robust=False).fit(X, range(6))
    assert plain.adjacency_matrix_[:, 5].any()
    model = auto().fit(X, range(6))
    assert "x5" in model.robust_targets_
    assert model.adjacency_matrix_.sum() == 0


@pytest.mark.parametrize("n_copies", [3, 6, 12])
def test_of_variables_that_stand_for_each_other_some_stay(n_copies):
    only_last = np.zeros((n_copies + 1, n_copies + 1), dtype=bool)
    only_last[:-1, -1] = True
    for seed in range(12):
        rng = np.random.default_rng([seed, n_copies])
        hidden = rng.normal(size=500)
        copies = hidden[:, None] + 0.7 * rng.normal(size=(500, n_copies))
        X = np.column_stack([copies, 0.3 * hidden + rng.normal(size=500)])
        assert auto(interactions=False).fit(X, range(n_copies + 1), candidates=only_last).adjacency_matrix_.any()


def test_of_three_variables_that_determine_each_other_two_stay():
    for seed in range(10):
        rng = np.random.default_rng([seed, 8])
        X = rng.normal(size=(500, 8))
        X[:, 2] = X[:, 0] + X[:, 1] + rng.normal(size=500) / 30
        X[:, 7] += (X[:, 0] - X[:, 1]) / 2
        parents = auto(interactions=False).fit(X, range(8)).adjacency_matrix_[:, 7]
        assert parents[:3].sum() == 2
        assert parents[3:].sum() <= 1


@pytest.mark.filterwarnings("ignore:Constant columns")
def test_constants_and_required_edges_leave_the_level_as_it_is():
    rng = np.random.default_rng(0)
    X = rng.normal(size=(500, 3))
    X[:, 2] += 2 * X[:, 0] * X[:, 1]
    both = np.zeros((3, 3), dtype=bool)
    both[:2, 2] = True
    free, required = (auto().fit(X, range(3), candidates=both, required=known) for known in (None, both))
    pd.testing.assert_frame_equal(free.interactions_, required.interactions_)
    assert len(free.interactions_) == 1
    X[:, 2] = 0.17 * X[:, 0] + rng.normal(size=500)
    still = np.column_stack([np.ones((500, 9)), X])
    plain, more = auto(level=0.03).fit(X, range(3)), auto(level=0.03).fit(still, range(12))
    np.testing.assert_array_equal(plain.adjacency_matrix_, more.adjacency_matrix_[9:, 9:])
    assert plain.false_edges_bound_ == more.false_edges_bound_


@pytest.mark.parametrize("correlation", [0.0, 0.5, 0.95])
def test_combined_p_values_of_dependent_tests_hold_their_level(correlation):
    rng = np.random.default_rng(0)
    own, shared = rng.normal(size=(20_000, 5)), rng.normal(size=(20_000, 1))
    z = np.sqrt(1 - correlation) * own + np.sqrt(correlation) * shared
    together = np.array([combined(p_values) for p_values in chi2.sf(z**2, 1).tolist()])
    assert 0.007 < np.mean(together < 0.01) < 0.014


def test_parents_that_act_only_together_are_found_among_many_columns():
    rng = np.random.default_rng(0)
    X = rng.normal(size=(1000, 111))
    X[:, -1] = X[:, 0] * X[:, 1] + 0.3 * rng.normal(size=1000)
    candidates = np.zeros((111, 111), dtype=bool)
    candidates[:, -1] = True
    assert np.flatnonzero(auto().fit(X, range(111), candidates).adjacency_matrix_[:, -1]).tolist() == [0, 1]


def test_numpy_booleans_are_booleans(data, order):
    assert auto(interactions=np.False_).fit(data.X, order).interactions_.empty
    assert len(auto(robust=np.True_).fit(data.X, order).robust_targets_) == 9
    with pytest.raises(TypeError, match="'interactions' parameter of SARTRE must be a bool"):
        auto(interactions="no").fit(data.X, order)


def test_edges_have_evidence(data, fitted):
    assert (fitted.edges_["p_value"] < 0.05).all()
    assert fitted.edges_["strength"].between(0, 1).all()
    assert edge_recall(data.dag, fitted.adjacency_matrix_) > 0.5


@pytest.mark.filterwarnings("ignore:Constant columns", "ignore:Duplicated columns")
def test_awkward_columns_work():
    rng = np.random.default_rng(0)
    x = rng.normal(size=200)
    X = pd.DataFrame(
        {"flat": 1.0, "x": x, "copy": x, "coin": rng.integers(0, 2, 200), "tail": rng.standard_cauchy(200)}
    )
    X["y"] = np.sin(2 * x) + 2.0 * X["coin"] + rng.normal(size=200) / 3
    edges = auto().fit(X, list(X.columns)).edges_
    into_y = set(edges.query("target == 'y'")["source"])
    assert "coin" in into_y
    assert into_y & {"x", "copy"}
    assert not into_y & {"flat", "tail"}


@pytest.mark.parametrize("n", [10, 15, 30])
def test_a_handful_of_rows_is_no_trouble(n):
    X = np.random.default_rng(0).normal(size=(n, 8))
    assert auto().fit(X, range(8)).adjacency_matrix_.sum() <= 3


@pytest.mark.parametrize(
    ("settings", "text"),
    [
        ({"penalty": 0.1, "level": 0.01}, "'level' parameter of SARTRE requires penalty='auto'"),
        ({"penalty": 0.1, "interactions": True}, "'interactions' parameter of SARTRE requires penalty='auto'"),
        ({"penalty": 0.1, "robust": True}, "'robust' parameter of SARTRE requires penalty='auto'"),
        ({"robust": 1}, "'robust' parameter of SARTRE must be True, False or 'auto'"),
        ({"robust": "very"}, "'robust' parameter of SARTRE must be True, False or 'auto'"),
        ({"level": 0.0}, "'level' parameter of SARTRE must be a float"),
    ],
)
def test_settings_that_do_not_go_together_are_named(data, order, settings, text):
    with pytest.raises(ValueError, match=text):
        SARTRE(**settings).fit(data.X, order)


def test_rare_levels_of_independent_categories_give_no_more_false_edges_than_the_bound():
    counts = []
    for seed in range(12):
        rng = np.random.default_rng([seed, 15])
        levels = rng.choice(list("abcd"), size=(100, 12), p=[0.9, 0.05, 0.03, 0.02])
        frame = pd.DataFrame({f"c{j}": pd.Categorical(column) for j, column in enumerate(levels.T)})
        fitted = SARTRE(random_state=0).fit(frame, range(12))
        counts.append(len(fitted.edges_))
    assert np.mean(counts) <= fitted.false_edges_bound_


@pytest.mark.parametrize(("n", "k"), [(100, 8), (300, 20), (1000, 25), (1000, 40)])
def test_many_levels_of_about_the_same_size_keep_their_effect(n, k):
    rng = np.random.default_rng(k)
    level, effect = rng.permutation(np.arange(n) % k), 3 * rng.normal(size=k)
    frame = pd.DataFrame({"city": pd.Categorical([f"c{i}" for i in level]), "z": rng.normal(size=n)})
    frame["y"] = effect[level] + 0.3 * rng.normal(size=n)
    fitted = SARTRE(random_state=0).fit(frame, ["city", "z", "y"])
    assert fitted.edges_[["source", "target"]].to_numpy().tolist() == [["city", "y"]]


def test_common_levels_keep_their_effect_beside_rare_ones():
    rng = np.random.default_rng(0)
    level = rng.choice(list("abcdef"), size=300, p=[0.4, 0.3, 0.27, 0.01, 0.01, 0.01])
    frame = pd.DataFrame({"level": pd.Categorical(level), "y": (level == "b") + rng.normal(size=300)})
    assert SARTRE(random_state=0).fit(frame, ["level", "y"]).adjacency_matrix_[0, 1] == 1
    assert SARTRE(random_state=0).fit(frame, ["y", "level"]).adjacency_matrix_[1, 0] == 1

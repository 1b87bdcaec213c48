"""Random-tree intervals have the distribution of scikit-learn's, and work on awkward columns."""

from __future__ import annotations

import numpy as np
import pytest
from scipy.stats import ks_2samp
from sklearn.ensemble import RandomTreesEmbedding

from sartre.additive.bases.trees import Embedding, interval_bases, random_intervals, stream
from sartre.additive.design import encode

COLUMNS = {
    "normal": lambda rng: rng.normal(size=300),
    "heavy tails": lambda rng: rng.standard_t(1.5, size=300),
    "skewed": lambda rng: rng.exponential(size=300),
    "integers": lambda rng: rng.integers(0, 12, size=300).astype(float),
}


def our_leaf_sizes(column, seed):
    basis = random_intervals(column, 5, 8, np.random.default_rng(seed))
    return basis.table[encode(column, basis.edges)].sum(axis=0)


def sklearn_leaf_sizes(column, seed):
    trees = RandomTreesEmbedding(n_estimators=5, max_leaf_nodes=8, random_state=seed).fit(column[:, None])
    nodes = [tree.tree_ for tree in trees.estimators_]
    return np.concatenate([tree.n_node_samples[tree.children_left < 0] for tree in nodes])


@pytest.mark.parametrize("kind", COLUMNS)
def test_leaf_sizes_follow_the_distribution_of_random_trees_embedding(kind):
    column = COLUMNS[kind](np.random.default_rng(1))
    ours = np.concatenate([our_leaf_sizes(column, seed) for seed in range(600)])
    theirs = np.concatenate([sklearn_leaf_sizes(column, seed) for seed in range(600)])
    # 24,000 leaves per side; those of one embedding are dependent, so count a third of them: 0.1 % point
    assert ks_2samp(ours, theirs).statistic < 1.95 * np.sqrt(2 / 8000)


@pytest.mark.parametrize("kind", COLUMNS)
def test_leaf_counts_and_cut_points_follow_random_trees_embedding(kind):
    column = COLUMNS[kind](np.random.default_rng(4))
    ours, theirs = [], []
    for seed in range(600):
        basis = random_intervals(column, 1, 8, np.random.default_rng(seed))
        ours.append([basis.table.shape[1], *np.quantile(basis.edges, [0, 0.5, 1])])
        tree = RandomTreesEmbedding(n_estimators=1, max_leaf_nodes=8, random_state=seed).fit(column[:, None])
        inner = tree.estimators_[0].tree_
        cuts = inner.threshold[inner.children_left >= 0]
        theirs.append([len(cuts) + 1, *np.quantile(cuts, [0, 0.5, 1])])
    for mine, other in zip(np.transpose(ours), np.transpose(theirs), strict=True):
        assert ks_2samp(mine, other, method="asymp").pvalue > 1e-3


def test_the_papers_setting_gives_at_most_forty_intervals_that_cover_the_line():
    column = np.random.default_rng(0).normal(size=2000)
    basis = random_intervals(column, 5, 8, np.random.default_rng(0))
    assert 30 <= basis.table.shape[1] <= 40
    far = encode(np.array([-1e12, 1e12, -np.inf, np.inf]), basis.edges)
    np.testing.assert_array_equal(basis.table[far].sum(axis=1), 5)  # one leaf of each of five trees
    np.testing.assert_array_equal(basis.table.sum(axis=1), 5)


def test_depth_is_at_most_five_as_in_scikit_learn():
    column = np.random.default_rng(0).normal(size=4000)
    basis = random_intervals(column, 1, 10**12, np.random.default_rng(0))
    assert 16 < basis.table.shape[1] <= 32


@pytest.mark.parametrize("max_leaves", [2, 3, 8])
def test_two_distinct_values_are_split_once_between_them(max_leaves):
    column = np.repeat([0.0, 1.0], 50)
    basis = random_intervals(column, 5, max_leaves, np.random.default_rng(0))
    assert basis.table.shape[1] == 10
    codes = encode(column, basis.edges)
    assert not (basis.table[codes[0]] * basis.table[codes[-1]]).any()


@pytest.mark.parametrize("value", [0.0, 1e9, -3.5])
def test_a_constant_column_has_no_interval(value):
    basis = random_intervals(np.full(100, value), 5, 8, np.random.default_rng(0))
    assert basis.edges.size == 0
    assert basis.table.shape == (1, 0)


@pytest.mark.parametrize(("scale", "shift"), [(1e-9, 0.0), (2.0**40, 0.0), (1.0, 2.0**30), (-1.0, 0.0)])
def test_units_do_not_matter(scale, shift):
    column = np.round(np.random.default_rng(5).normal(size=500), 3)
    plain = random_intervals(column, 5, 8, np.random.default_rng(1))
    moved = random_intervals(column * scale + shift, 5, 8, np.random.default_rng(1))
    if scale > 0:
        np.testing.assert_array_equal(
            encode(column, plain.edges), encode(column * scale + shift, moved.edges).astype(np.uint8)
        )
    assert moved.table.shape[1] > 30


def test_a_column_draws_from_its_name_and_seed_alone():
    rng = np.random.default_rng(0)
    X = rng.normal(size=(200, 3))

    def bases(X, names, seed):
        return list(interval_bases(X, names, Embedding(), seed))

    before = bases(X, ["a", "b", "c"], seed=7)
    after = bases(np.column_stack([rng.normal(size=200), X[:, ::-1]]), ["new", "c", "b", "a"], seed=7)
    for old, new in zip(before, after[:0:-1], strict=True):
        np.testing.assert_array_equal(old.edges, new.edges)
    other_seed = bases(X, ["a", "b", "c"], seed=8)
    assert not np.array_equal(before[0].edges, other_seed[0].edges)
    same_data = bases(X[:, [0, 0]], ["a", "b"], seed=7)
    assert not np.array_equal(same_data[0].edges, same_data[1].edges)


def test_streams_of_different_names_differ():
    draws = {stream(0, name).random() for name in ("a", "b", "ab", "", "x0", "x1")}
    draws |= {stream(0, "a", "b").random(), stream(0, "b", "a").random(), stream(1, "a").random()}
    assert len(draws) == 9

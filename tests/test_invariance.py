"""The default graph is a property of the observations: names, positions, units and the order of rows do not matter."""

import numpy as np
import pandas as pd
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from sklearn.datasets import load_diabetes

from sartre import CausalDiscovery
from sartre.data import table as tables
from sartre.simulate import random_dag, simulate


def edges(table, **settings):
    """Return the default graph of a table as pairs of names."""
    return set(CausalDiscovery(**settings).fit(table).graph_.edges)


def curved(seed, d=8, n=400, linear=0.5):
    dag = random_dag(d, 2 * d, random_state=seed)
    return simulate(dag, n, linear_fraction=linear, random_state=seed).X


@pytest.fixture(scope="module")
def diabetes():
    return load_diabetes(as_frame=True, scaled=False).frame


@pytest.fixture(scope="module")
def diabetes_edges(diabetes):
    return edges(diabetes)


@pytest.mark.parametrize("seed", range(3))
def test_renaming_the_diabetes_columns_renames_the_graph(diabetes, diabetes_edges, seed):
    names = [f"c{k}" for k in np.random.default_rng(seed).permutation(diabetes.shape[1])]
    new = dict(zip(diabetes.columns, names, strict=True))
    assert edges(diabetes.rename(columns=new)) == {(new[a], new[b]) for a, b in diabetes_edges}


@pytest.mark.parametrize("seed", range(3))
def test_permuting_rows_and_columns_of_the_diabetes_table_changes_no_edge(diabetes, diabetes_edges, seed):
    shuffled = diabetes.sample(frac=1, random_state=seed).sample(frac=1, axis=1, random_state=seed)
    assert edges(shuffled) == diabetes_edges


def test_units_of_the_diabetes_table_change_no_edge(diabetes, diabetes_edges):
    assert edges(diabetes * np.geomspace(1e-4, 1e5, diabetes.shape[1])) == diabetes_edges


def test_shifting_the_diabetes_table_changes_no_edge(diabetes, diabetes_edges):
    assert edges(diabetes + 1e6) == diabetes_edges


@settings(max_examples=15, deadline=None)
@given(seed=st.integers(0, 2**32 - 1), linear=st.sampled_from([0.0, 0.5, 1.0]))
def test_a_default_graph_depends_on_the_observations_alone(seed, linear):
    table = curved(seed % 1000, linear=linear)
    rng = np.random.default_rng(seed)
    names = {name: f"v{k}" for name, k in zip(table.columns, rng.permutation(len(table.columns)), strict=True)}
    other = table.iloc[rng.permutation(len(table)), rng.permutation(len(table.columns))]
    other = (other * rng.uniform(0.01, 100, other.shape[1]) + rng.choice([0.0, -3.0, 1e3])).rename(columns=names)
    assert edges(other) == {(names[a], names[b]) for a, b in edges(table)}


@pytest.mark.parametrize("n", [1000, 1600])  # SCORE starts from all rows, or from some
def test_shuffled_and_shifted_tables_with_more_rows_have_the_same_graph(n):
    table = curved(3, d=12, n=n)
    shuffled = table.sample(frac=1, random_state=0).sample(frac=1, axis=1, random_state=1)
    assert edges(table) == edges(shuffled) == edges(1e6 + 3 * shuffled)


@pytest.mark.filterwarnings("ignore::UserWarning")  # of the holes and the category
def test_a_table_with_categories_and_holes_is_as_invariant(diabetes):
    labels, holes = diabetes["sex"].map({1.0: "f", 2.0: "m"}), diabetes["bmi"].mask(diabetes["s1"] > 230)
    table = diabetes.assign(sex=labels, bmi=holes)
    shuffled = table.sample(frac=1, random_state=0).sample(frac=1, axis=1, random_state=1)
    assert edges(table, missing="drop") == edges(shuffled, missing="drop")


def test_the_default_graph_of_a_table_is_the_same_each_time():
    table = curved(4, d=10, n=1500)
    assert edges(table) == edges(table)


@pytest.mark.parametrize("seed", [0, 9, 13])
def test_a_column_beside_its_exponential_is_chosen_by_what_it_says(seed):
    rng = np.random.default_rng(seed)
    x, z, noise = rng.normal(size=(3, 300))
    table = pd.DataFrame({"x": x, "growth": np.exp(x / 2), "z": z, "y": 0.6 * x * z + noise / 2})
    expected = edges(table)
    assert ("z", "y") in expected
    for other in (table.sample(frac=1, random_state=seed), table[["y", "growth", "z", "x"]], 7.3 * table, table + 1e6):
        assert edges(other) == expected


@pytest.mark.parametrize("seed", range(3))
def test_rows_of_few_values_are_drawn_by_what_they_hold(seed):
    rng = np.random.default_rng(seed)
    X = rng.integers(0, 2, size=(1500, 6)).astype(float)
    for j in range(1, 6):
        X[:, j] = np.where(rng.random(1500) < 0.25, X[:, j], X[:, j - 1])
    table = pd.DataFrame(X, columns=list("abcdef"))
    assert edges(table.sample(frac=1, random_state=seed)) == edges(table)


def test_a_table_with_many_rows_has_the_same_graph_each_time(monkeypatch):
    monkeypatch.setattr(tables, "SAMPLE_ROWS", 500)
    table = curved(5, n=1500)
    names = list(table.columns)
    shuffled = table[names[::-1]]
    assert edges(table) == edges(table) == edges(shuffled)

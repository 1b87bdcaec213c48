"""SARTRE-pruning: the paper's Algorithm 1, and changes that must not affect its graph."""

from __future__ import annotations

import joblib
import numpy as np
import pandas as pd
import polars as pl
import pytest
from celer import GroupLasso
from sklearn.base import clone
from sklearn.exceptions import ConvergenceWarning

from sartre.additive.bases.trees import interval_bases
from sartre.additive.design import encode
from sartre.metrics import edge_f1
from sartre.prune import SARTRE, Embedding
from sartre.simulate import random_dag, simulate


@pytest.fixture(scope="module")
def data():
    dag = random_dag(10, 12, random_state=0)
    return simulate(dag, 800, mechanism="gp-additive", random_state=0)


@pytest.fixture(scope="module")
def order(data):
    return data.dag.topological_order()


def test_algorithm_one_written_out_with_celer_gives_the_same_graph(data, order):
    ours = SARTRE(penalty=0.1, random_state=3, tol=1e-10).fit(data.X, order)
    bases = interval_bases(data.X.to_numpy(), list(data.X.columns), Embedding(), seed=3)
    blocks = {
        name: basis.table[encode(data.X[name].to_numpy(), basis.edges)]
        for name, basis in zip(data.X.columns, bases, strict=True)
    }
    kept = set()
    for i, target in enumerate(order[1:], start=1):
        parents = order[:i]
        phi = np.asfortranarray(np.hstack([blocks[name] for name in parents]))
        sizes = [blocks[name].shape[1] for name in parents]
        lasso = GroupLasso(groups=sizes, alpha=0.1, tol=1e-10, max_iter=200).fit(phi, data.X[target].to_numpy())
        for name, part in zip(parents, np.split(lasso.coef_, np.cumsum(sizes)[:-1]), strict=True):
            if np.linalg.norm(part) > 1e-7:
                kept.add((name, target))
    assert set(zip(ours.edges_["source"], ours.edges_["target"], strict=True)) == kept
    assert len(kept) > 5


def paper(**settings):
    return SARTRE(**{"penalty": 0.1, "random_state": 0, "embedding": Embedding(), **settings})


def test_most_of_a_sparse_additive_graph_is_found(data, order):
    assert edge_f1(data.dag, paper().fit(data.X, order).adjacency_matrix_) > 0.8


def test_edges_and_adjacency_say_the_same(data, order):
    pruner = paper().fit(data.X, order)
    names = list(data.X.columns)
    pairs = {(names[i], names[j]) for i, j in np.argwhere(pruner.adjacency_matrix_)}
    assert pairs == set(zip(pruner.edges_["source"], pruner.edges_["target"], strict=True))
    assert pruner.adjacency_matrix_.dtype == np.uint8
    assert list(pruner.edges_.columns) == ["source", "target", "strength", "margin", "p_value"]
    assert (pruner.edges_["margin"] > 1).all()
    assert pruner.edges_["strength"].between(0, 1).all()
    assert pruner.edges_["strength"].is_monotonic_decreasing
    assert pruner.edges_["p_value"].isna().all()


def test_one_seed_one_graph_for_any_number_of_jobs(data, order):
    fits = [paper(n_jobs=jobs, random_state=5).fit(data.X, order) for jobs in (None, 1, 2)]
    for other in fits[1:]:
        pd.testing.assert_frame_equal(fits[0].edges_, other.edges_)
    assert not fits[0].edges_.equals(paper(random_state=6).fit(data.X, order).edges_)


@pytest.mark.parametrize("backend", ["loky", "multiprocessing", "threading"])
def test_any_joblib_backend_gives_the_same_graph(data, order, backend):
    plain = paper(random_state=5).fit(data.X, order).edges_
    with joblib.parallel_config(backend=backend, n_jobs=2):
        pd.testing.assert_frame_equal(paper(random_state=5).fit(data.X, order).edges_, plain)


def test_permuting_columns_permutes_the_graph(data, order):
    shuffled = data.X[list(np.random.default_rng(1).permutation(data.X.columns))]
    plain, moved = (paper().fit(X, order) for X in (data.X, shuffled))
    pd.testing.assert_frame_equal(plain.edges_, moved.edges_)
    rows = [data.X.columns.get_loc(name) for name in shuffled.columns]
    np.testing.assert_array_equal(plain.adjacency_matrix_[np.ix_(rows, rows)], moved.adjacency_matrix_)


def test_an_unrelated_last_column_leaves_the_other_edges_alone(data, order):
    more = data.X.assign(unrelated=np.random.default_rng(0).normal(size=len(data.X)))
    plain = paper().fit(data.X, order).edges_
    wider = paper().fit(more, [*order, "unrelated"]).edges_
    among = wider[(wider["source"] != "unrelated") & (wider["target"] != "unrelated")].reset_index(drop=True)
    pd.testing.assert_frame_equal(plain, among)


def test_arrays_and_every_data_frame_give_the_same_graph(data, order):
    numbers = [data.X.columns.get_loc(name) for name in order]
    renamed = data.X.set_axis([f"x{j}" for j in range(10)], axis=1)
    fits = [paper().fit(X, numbers) for X in (renamed, renamed.to_numpy(), pl.from_pandas(renamed))]
    for other in fits[1:]:
        pd.testing.assert_frame_equal(fits[0].edges_, other.edges_)


def test_candidates_are_respected_as_given(data, order):
    everything = paper().fit(data.X, order)
    mask = np.random.default_rng(0).random((10, 10)) < 0.5
    restricted = paper().fit(data.X, order, candidates=mask)
    assert not restricted.adjacency_matrix_[~mask].any()
    assert everything.adjacency_matrix_[~mask].any()
    position = {name: k for k, name in enumerate(order)}
    assert all(position[a] < position[b] for a, b in restricted.edges_[["source", "target"]].to_numpy())
    nothing = paper().fit(data.X, order, candidates=np.zeros((10, 10), dtype=bool))
    assert not nothing.adjacency_matrix_.any()
    assert nothing.edges_.empty
    with pytest.raises(ValueError, match=r"'candidates' must be a \(10, 10\) matrix of booleans, \[parent, child\]"):
        SARTRE().fit(data.X, order, candidates=np.ones((3, 3), dtype=bool))


def test_a_larger_penalty_keeps_fewer_edges_and_a_huge_one_none(data, order):
    counts = [len(paper(penalty=p).fit(data.X, order).edges_) for p in (0.03, 0.1, 0.3, 100.0)]
    assert counts == sorted(counts, reverse=True)
    assert counts[0] > counts[2]
    assert counts[3] == 0


@pytest.mark.filterwarnings("ignore:Constant columns", "ignore:Duplicated columns")
def test_constant_columns_are_never_connected_and_copies_work():
    rng = np.random.default_rng(0)
    x = rng.normal(size=300)
    X = pd.DataFrame({"flat": 1e9, "x": x, "copy": x, "y": np.sin(2 * x) + rng.normal(size=300) / 3, "zero": 0.0})
    pruner = paper().fit(X, list(X.columns))
    assert not pruner.adjacency_matrix_[[0, 4]].any()
    assert not pruner.adjacency_matrix_[:, [0, 4]].any()
    assert {"x", "copy"} & set(pruner.edges_.query("target == 'y'")["source"])


def test_binary_and_integer_columns_can_be_parents():
    rng = np.random.default_rng(0)
    X = pd.DataFrame({"coin": rng.integers(0, 2, 400), "die": rng.integers(1, 7, 400), "noise": rng.normal(size=400)})
    X["y"] = 2.0 * X["coin"] + (X["die"] - 3.5) ** 2 / 3 + rng.normal(size=400) / 2
    edges = paper().fit(X, list(X.columns)).edges_
    assert set(edges["source"]) == {"coin", "die"}
    assert set(edges["target"]) == {"y"}


def test_a_huge_offset_changes_nothing(data, order):
    shift = 2.0 ** np.arange(20, 30)  # these are exact in binary up to a billion
    rounded = data.X.round(6)
    plain, far = (paper().fit(X, order).edges_ for X in (rounded, rounded + shift))
    assert plain[["source", "target"]].equals(far[["source", "target"]])


@pytest.mark.parametrize(
    ("settings", "error", "text"),
    [
        ({"penalty": 0}, ValueError, r"'penalty' parameter of SARTRE must be a float in the range \(0.0, inf\)"),
        ({"penalty": np.nan}, ValueError, "'penalty'"),
        ({"penalty": "auto?"}, TypeError, "'penalty'"),
        (
            {"penalty": 0.1, "embedding": "forest"},
            TypeError,
            "'embedding' parameter of SARTRE must be an Embedding or None",
        ),
        ({"tol": 0.0}, ValueError, "'tol'"),
        ({"random_state": -1}, ValueError, "random_state"),
    ],
)
def test_wrong_settings_are_named(data, order, settings, error, text):
    with pytest.raises(error, match=text):
        SARTRE(**settings).fit(data.X, order)


@pytest.mark.parametrize(
    ("settings", "error", "text"),
    [
        ({"n_trees": 2.5}, TypeError, "'n_trees' parameter of Embedding must be an int"),
        ({"max_leaves": 1}, ValueError, "'max_leaves'"),
    ],
)
def test_wrong_intervals_are_named(settings, error, text):
    with pytest.raises(error, match=text):
        Embedding(**settings)


def test_a_path_of_penalties_is_the_fits_at_each(data, order):
    path = paper().path(data.X, order, values=[0.05, 0.1, 0.3])
    assert path["penalty"].is_monotonic_decreasing
    for penalty, edges in path.groupby("penalty"):
        alone = paper(penalty=penalty).fit(data.X, order).edges_
        assert set(zip(edges["source"], edges["target"], strict=True)) == set(
            zip(alone["source"], alone["target"], strict=True)
        )


def test_a_target_that_does_not_converge_is_named(data, order, monkeypatch):
    from sartre.prune.sartre import paper as module  # noqa: PLC0415

    solve = module.solve_path
    monkeypatch.setattr(module, "solve_path", lambda *args, **kwargs: solve(*args, **kwargs, max_epochs=1))
    with pytest.warns(ConvergenceWarning, match=r"target '.*' did not converge.* Raise 'tol'"):
        SARTRE(penalty=0.001, random_state=0).fit(data.X, order)


def test_it_is_a_scikit_learn_estimator():
    pruner = SARTRE(penalty=0.2, embedding=Embedding(n_trees=3))
    assert clone(pruner).get_params() == pruner.get_params()
    assert "penalty=0.2" in repr(pruner)

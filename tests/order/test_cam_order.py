"""CAM's greedy search gives the same result as one that fits every model again."""

from __future__ import annotations

import numpy as np
import pytest

from sartre.additive.bases.splines import spline
from sartre.additive.design import prepare
from sartre.order import CAM
from sartre.order.cam import SMOOTHNESS
from sartre.order.forward import LINE_PENALTY
from sartre.simulate import random_dag, simulate


def naive(X, n_splines):
    """Return the order of a greedy search that fits every additive model from the samples."""
    Z = ((X - X.mean()) / X.std(ddof=0)).to_numpy()
    n, d = Z.shape
    design = prepare(Z, [spline(z, n_splines).basis() for z in Z.T])
    functions = [design.table(j)[design.codes[j]] for j in range(d)]
    start = [*design.spectrum_start, design.rank.sum()]
    rough = [design.roughness[start[j] : start[j + 1]] for j in range(d)]

    def score(child, parents):
        if not parents:
            return 0.0
        F = np.hstack([functions[j] for j in parents])
        penalty = LINE_PENALTY + SMOOTHNESS * np.concatenate([rough[j] for j in parents])
        b = F.T @ Z[:, child] / n
        return -np.log(1 - b @ np.linalg.solve(F.T @ F / n + np.diag(penalty), b))

    parents = [[] for _ in range(d)]
    reach = np.eye(d, dtype=bool)  # reach[i, j]: i = j, or i comes before j
    while not (reach | reach.T).all():
        pairs = [(i, j) for i in range(d) for j in range(d) if not reach[j, i] and i not in parents[j]]
        i, j = max(
            pairs, key=lambda pair: score(pair[1], [*parents[pair[1]], pair[0]]) - score(pair[1], parents[pair[1]])
        )
        parents[j].append(i)
        reach |= np.outer(reach[:, i], reach[j])
    return np.argsort(-reach.sum(axis=1)).tolist()


@pytest.mark.parametrize("seed", range(3))
def test_the_gram_form_finds_the_order_of_the_naive_form(seed):
    data = simulate(random_dag(5, 8, random_state=seed), 150, random_state=seed)
    assert CAM(6, max_neighbors=None).fit(data.X).order_.tolist() == naive(data.X, 6)


def test_edges_follow_the_order():
    data = simulate(random_dag(10, 20, random_state=0), 300, random_state=0)
    model = CAM().fit(data.X)
    position = np.argsort(model.order_)
    added = np.argwhere(~np.isnan(model.gains_))
    assert len(added) >= 9
    assert all(position[i] < position[j] for i, j in added)


def test_edges_between_neighbours_come_first():
    rng = np.random.default_rng(0)
    x = rng.normal(size=(400, 4))
    x[:, 1] += 2 * np.sin(2 * x[:, 0])
    x[:, 3] += 2 * np.sin(2 * x[:, 2])
    gains = CAM(max_neighbors=1).fit(x).gains_
    assert gains[0, 1] > 0.3
    assert gains[2, 3] > 0.3


def test_with_few_parents_all_pairs_are_still_ordered():
    data = simulate(random_dag(8, 16, random_state=1), 200, random_state=1)
    columns = list(data.X.columns)
    plain = [columns[j] for j in CAM(max_parents=1).fit(data.X).order_]
    moved = data.X[columns[::-1]]
    assert [moved.columns[j] for j in CAM(max_parents=1).fit(moved).order_] == plain


@pytest.mark.filterwarnings("ignore:Constant columns")
def test_a_demand_that_runs_through_a_constant_column_is_obeyed():
    x = np.random.default_rng(0).normal(size=(100, 2))
    x[:, 1] += 2 * np.sin(2 * x[:, 0])
    table = np.column_stack([x, np.ones(100)])  # the data suggest 0 before 1
    before = np.zeros((3, 3), dtype=bool)
    before[1, 2] = before[2, 0] = True
    assert CAM().fit(table).order_.tolist() == [2, 0, 1]
    assert CAM().fit(table, before).order_.tolist() == [1, 2, 0]


@pytest.mark.parametrize("settings", [{"n_splines": 2}, {"max_neighbors": 0}, {"max_parents": 0}])
def test_wrong_settings_are_named(settings):
    with pytest.raises(ValueError, match=f"'{next(iter(settings))}' parameter of CAM "):
        CAM(**settings).fit(np.random.default_rng(0).normal(size=(20, 2)))

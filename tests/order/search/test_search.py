"""OrderSearch climbs from its initial order, whatever the units, and obeys the known precedences."""

from __future__ import annotations

from itertools import permutations

import numpy as np
import pytest
from sklearn.base import clone

from sartre.metrics import order_divergence
from sartre.order import CAM, SCORE, FixedOrder, OrderSearch
from sartre.order.search.blocks import block_functions, block_products
from sartre.order.search.climb import Climb, Exploration
from sartre.order.search.local_scores import LocalScores
from sartre.order.search.noise import NoiseDensities
from sartre.simulate import random_dag, simulate


@pytest.fixture(scope="module")
def data():
    return simulate(random_dag(8, 12, random_state=3), 500, random_state=3)


@pytest.fixture(scope="module")
def fitted(data):
    return OrderSearch(random_state=0).fit(data.X)


def total(X, order):
    """Return the sum of the local scores of an order, computed from scratch."""
    X = np.asfortranarray((X - X.mean(axis=0)) / X.std(axis=0))
    functions = block_functions(X)
    blocks = block_products(X, functions)
    scores, density = LocalScores(blocks), NoiseDensities(X, functions, blocks)
    found = [(int(v), scores(int(v), sum(1 << int(u) for u in order[:place]))) for place, v in enumerate(order)]
    return sum(local.value + density(v, local.blocks) for v, local in found)


def test_the_scores_kept_are_those_of_the_orders(data, fitted):
    X = data.X.to_numpy()
    assert fitted.score_ == pytest.approx(total(X, fitted.order_), abs=1e-9)
    assert fitted.local_scores_.sum() == pytest.approx(fitted.score_)
    assert fitted.starts_["start"].tolist() == ["SCORE", "CAM"]
    for start, row in zip([SCORE(max_samples=2000, random_state=0), CAM()], fitted.starts_.itertuples(), strict=True):
        order = start.fit((X - X.mean(axis=0)) / X.std(axis=0)).order_
        assert row.score == pytest.approx(total(X, order), abs=1e-9)
        assert row.climbed_to <= row.score


@pytest.mark.parametrize("seed", range(5))
def test_the_search_never_ends_below_its_start(data, seed):
    start = np.random.default_rng(seed).permutation(8)
    search = OrderSearch(FixedOrder(start.tolist())).fit(data.X)
    assert (search.score_ <= search.starts_["score"] + 1e-12).all()
    assert sorted(search.order_) == list(range(8))
    assert order_divergence(data.dag, search.order_) <= order_divergence(data.dag, start)


def test_no_insertion_of_one_variable_is_left_that_gains(data, fitted):
    X, order = data.X.to_numpy(), fitted.order_.tolist()
    for here in range(8):
        for to in range(8):
            moved = [*order[:here], *order[here + 1 :]]
            moved.insert(to, order[here])
            assert total(X, moved) >= fitted.score_ - 6 / 500 - 1e-9


def test_on_three_variables_it_finds_the_best_of_all_orders():
    rng = np.random.default_rng(0)
    a = rng.normal(size=400)
    b = np.sin(2 * a) + rng.normal(size=400) / 2
    X = np.column_stack([b, np.cos(b) * a + rng.normal(size=400) / 2, a])
    best = min(permutations(range(3)), key=lambda order: total(X, order))
    for start in permutations(range(3)):
        assert OrderSearch(FixedOrder(start)).fit(X).order_.tolist() == list(best) == [2, 0, 1]


def test_the_units_of_the_columns_do_not_matter(data, fitted):
    rng = np.random.default_rng(1)
    for X in (data.X * 10.0 ** rng.integers(-6, 7, 8) + rng.normal(size=8), (data.X - data.X.mean()) / data.X.std()):
        other = OrderSearch(random_state=0).fit(X)
        np.testing.assert_array_equal(other.order_, fitted.order_)
        np.testing.assert_allclose(other.local_scores_, fitted.local_scores_, rtol=1e-6, atol=1e-9)


def test_permuting_columns_permutes_the_order(data, fitted):
    columns = list(np.random.default_rng(0).permutation(data.X.columns))
    other = OrderSearch(random_state=0).fit(data.X[columns])
    assert [columns[j] for j in other.order_] == [data.X.columns[j] for j in fitted.order_]


def test_the_same_seed_gives_the_same_order_whatever_the_threads(data):
    search = OrderSearch(SCORE(max_samples=100), random_state=5)
    first, second = search.fit(data.X).order_, clone(search).set_params(n_jobs=2).fit(data.X).order_
    np.testing.assert_array_equal(first, second)


@pytest.mark.parametrize("scale", ["standard", "raw"])
@pytest.mark.parametrize("seed", range(6))
def test_what_must_precede_what_is_obeyed(data, seed, scale):
    rng = np.random.default_rng(seed)
    rank = rng.permutation(8)  # about half of the demands contradict the data
    before = (rng.random((8, 8)) < 0.3) & (rank[:, None] < rank)
    search = OrderSearch(scale=scale, random_state=0).fit(data.X, before=before)
    position = np.argsort(search.order_)
    assert (position[:, None] < position)[before].all()
    assert (search.score_ <= search.starts_["score"] + 1e-12).all()


def test_a_reversal_takes_along_what_the_variable_needs():
    """Start with 0 and 1 before 2, which uses both: 1 and 2 can pass 0 only together, and 1 must come first."""

    def score(v, inside):
        return {0: -9.0 if inside == 0b110 else 0.0, 1: 0.0, 2: -5.0 if inside & 0b010 else 0.0}[v]

    def used(v, inside):
        return inside if v == 2 else 0

    climb = Climb(score, used, np.zeros((3, 3), dtype=bool), 0.01)
    climb.run([0, 1, 2])
    assert climb.order == [1, 2, 0]
    kept = np.zeros((3, 3), dtype=bool)
    kept[0, 1] = True
    climb = Climb(score, used, kept, 0.01)
    climb.run([0, 1, 2])
    assert climb.order == [0, 1, 2]


def test_equal_noise_variances_tell_the_direction_of_a_straight_line():
    rng = np.random.default_rng(0)
    a = rng.normal(size=1000)
    b = a + rng.normal(size=1000)
    X = np.column_stack([b + rng.normal(size=1000), a, b])
    for start in permutations(range(3)):
        assert OrderSearch(FixedOrder(start), scale="raw").fit(X).order_.tolist() == [1, 2, 0]


@pytest.mark.filterwarnings("ignore:Constant columns", "ignore:Duplicated columns")
@pytest.mark.parametrize("scale", ["standard", "raw"])
def test_awkward_tables_have_an_order(scale):
    rng = np.random.default_rng(0)
    x, y = rng.normal(size=(2, 50))
    tables = {
        "two": np.column_stack([x, np.sin(3 * x) + y / 4]),
        "one": x[:, None],
        "copies": np.column_stack([x, x, -x]),
        "dependent": np.column_stack([x, y, x + y, x * y]),
        "discrete": np.column_stack([rng.integers(0, 2, 50), rng.integers(0, 3, 50), rng.poisson(1, 50)]),
        "constant": np.column_stack([np.ones(50), x, np.zeros(50), x**2 + y]),
        "all constant": np.ones((50, 3)),
        "wide": rng.normal(size=(12, 20)),
    }
    for name, X in tables.items():
        search = OrderSearch(scale=scale, random_state=0).fit(X)
        assert sorted(search.order_) == list(range(X.shape[1])), name
        assert np.isfinite(search.score_), name
    constant = OrderSearch(scale=scale, random_state=0).fit(tables["constant"])
    assert set(constant.order_[:2]) == {0, 2}
    assert np.isnan(constant.local_scores_[[0, 2]]).all()


@pytest.mark.filterwarnings("ignore:Constant columns")
def test_a_constant_column_comes_after_what_must_precede_it():
    rng = np.random.default_rng(0)
    x = rng.normal(size=60)
    before = np.zeros((3, 3), dtype=bool)
    before[2, 0] = before[0, 1] = True  # the effect, then the constant, then the cause
    X = np.column_stack([np.ones(60), x, np.sin(2 * x) + rng.normal(size=60) / 4])
    assert OrderSearch().fit(X, before=before).order_.tolist() == [2, 0, 1]


def test_a_wrong_scale_is_refused(data):
    with pytest.raises(ValueError, match="The 'scale' parameter of OrderSearch must be 'standard' or 'raw'"):
        OrderSearch(scale="none").fit(data.X)


def test_escapes_reach_the_score_of_the_true_order_on_dense_linear_data():
    linear = simulate(random_dag(12, 36, random_state=5), 1000, mechanism="linear", random_state=5)
    X, names = linear.X.to_numpy(), linear.dag.names
    truth = total(X, [names.index(name) for name in linear.dag.topological_order()])
    random = FixedOrder(np.random.default_rng(0).permutation(12).tolist())
    fast, auto = (OrderSearch(random, effort=effort).fit(X) for effort in ("fast", "auto"))
    assert auto.score_ <= truth + 6 / 1000 < fast.score_
    assert fast.n_escapes_ == 0 < auto.n_escapes_


def test_a_thorough_search_also_starts_from_random_orders(data):
    search = OrderSearch(effort="thorough", random_state=0).fit(data.X[data.X.columns[:4]])
    assert search.starts_["start"].tolist() == ["SCORE", "CAM", *["random"] * 4]
    assert (search.score_ <= search.starts_["score"] + 1e-12).all()


def test_uniform_noise_tells_the_direction_of_a_straight_line():
    rng = np.random.default_rng(0)
    wrong = []
    for _ in range(10):
        a = rng.uniform(size=500)
        b = a + rng.uniform(size=500)
        X = np.column_stack([b, a])
        wrong.append(OrderSearch(FixedOrder([0, 1])).fit(X).order_.tolist() != [1, 0])
    assert sum(wrong) == 0


def test_ctrl_c_keeps_the_best_order_so_far(data, monkeypatch):
    def interrupted(*_):
        raise KeyboardInterrupt

    plain = OrderSearch(effort="fast", random_state=0, start=FixedOrder(range(8))).fit(data.X)
    monkeypatch.setattr(Climb, "shaken", interrupted)
    with pytest.warns(UserWarning, match="interrupted"):
        search = OrderSearch(start=FixedOrder(range(8)), random_state=0).fit(data.X)
    assert search.interrupted_
    np.testing.assert_array_equal(search.order_, plain.order_)
    monkeypatch.setattr(Climb, "_reverse", interrupted)
    with pytest.warns(UserWarning, match="interrupted"):
        search = OrderSearch(start=FixedOrder(range(8)), random_state=0).fit(data.X)
    assert search.score_ == pytest.approx(total(data.X.to_numpy(), search.order_), abs=1e-9)
    assert search.score_ <= total(data.X.to_numpy(), range(8)) + 1e-12


def test_a_wrong_effort_is_refused(data):
    with pytest.raises(ValueError, match="The 'effort' parameter of OrderSearch must be 'auto', 'fast' or 'thorough'"):
        OrderSearch(effort="much").fit(data.X)


def test_a_start_as_good_as_the_first_up_to_rounding_does_not_replace_it():
    climb = Climb(lambda v, inside: 0.0 if inside else 1e-15 * v, lambda *_: 0, np.zeros((3, 3), dtype=bool), 0.1)
    exploration = Exploration(climb, margin=0.5)
    exploration.start([2, 1, 0])
    exploration.start([0, 1, 2])
    assert exploration.best == [2, 1, 0]


@pytest.mark.parametrize("call", [1, 3, 8, 9, 30])
def test_ctrl_c_at_any_time_leaves_an_order(data, monkeypatch, call):
    calls = []
    score = LocalScores.__call__

    def interrupted(scores, *arguments):
        calls.append(arguments)
        if len(calls) == call:
            raise KeyboardInterrupt
        return score(scores, *arguments)

    monkeypatch.setattr(LocalScores, "__call__", interrupted)
    with pytest.warns(UserWarning, match="interrupted"):
        search = OrderSearch(FixedOrder(range(8))).fit(data.X)
    assert sorted(search.order_) == list(range(8))
    assert search.score_ <= total(data.X.to_numpy(), range(8)) + 1e-12

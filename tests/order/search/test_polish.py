import numpy as np
import pytest

from sartre.order import OrderSearch
from sartre.order.search.climb import Climb
from sartre.order.search.polish import ProcessScores, polished


def standardised(X):
    return (X - X.mean(axis=0)) / X.std(axis=0)


@pytest.fixture(scope="module")
def joint():
    """The last column is a product of waves of all others, which no line, curve or pair shows, and hardly any noise."""
    rng = np.random.default_rng(0)
    X = rng.normal(size=(250, 3))
    y = np.sin(2 * X[:, 0]) * np.cos(X[:, 1]) * np.tanh(2 * X[:, 2]) + rng.normal(size=250) / 20
    return standardised(np.column_stack([X, y]))


def test_the_score_is_minus_two_log_likelihoods_per_row_and_of_nothing_that_of_the_noise(joint):
    scores = ProcessScores(joint)
    assert scores(0, 0) == pytest.approx(1.0)  # 1 + log of a variance of one
    assert scores(3, 0b111) < scores(3, 0b011) < scores(3, 0) + 0.02
    assert scores(3, 0b111) < -1


def test_an_effect_that_came_too_early_is_moved_behind_its_causes(joint):
    nothing = np.zeros((4, 4), bool)
    for wrong in ([3, 0, 1, 2], [0, 3, 2, 1], [2, 1, 3, 0]):
        assert polished(joint, wrong, nothing, 250)[-1] == 3
    right = [1, 0, 2, 3]
    assert polished(joint, right, nothing, 250) == right


def test_what_is_known_is_obeyed(joint):
    before = np.zeros((4, 4), bool)
    before[3, 0] = True
    order = polished(joint, [3, 0, 1, 2], before, 250)
    assert order.index(3) < order.index(0)
    assert sorted(order) == [0, 1, 2, 3]


def test_an_insertion_stays_within_reach():
    def late(v, inside):
        """Small where variables of large numbers come late."""
        return v * (3.0 - inside.bit_count())

    def after_one_sweep(reach):
        climb = Climb(late, lambda _, inside: inside, np.zeros((4, 4), bool), 0.1, reach)
        climb.settle([3, 0, 1, 2])
        return climb.order, climb.n_moves

    assert after_one_sweep(None) == ([0, 1, 2, 3], 1)
    order, n_moves = after_one_sweep(1)
    assert order == [0, 1, 2, 3]
    assert n_moves == 3


def test_a_thorough_search_compares_orders_by_processes_and_others_do_not(joint, monkeypatch):
    asked = []

    def watched(_, order, *rest):
        asked.append(rest[-1])
        return list(order)[::-1]

    monkeypatch.setattr("sartre.order.search.search.polished", watched)
    plain = OrderSearch().fit(joint)
    assert asked == []
    thorough = OrderSearch(effort="thorough").fit(joint)
    assert asked == [800]
    assert sorted(thorough.order_) == sorted(plain.order_)
    monkeypatch.setattr("sartre.order.search.search.MOST_POLISHED", 3)
    OrderSearch(effort="thorough").fit(joint)
    OrderSearch(effort="thorough", scale="raw").fit(joint)
    assert asked == [800]

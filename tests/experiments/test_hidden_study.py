"""Marks of hidden causes are counted as stated, and arrows without them."""

from __future__ import annotations

import numpy as np

from experiments import methods, peers, reproduce
from experiments.figure_hidden import STUDY
from experiments.hidden import EFFECTS, compare_marks
from experiments.study import Data
from sartre import Dag
from sartre.simulate.dataset import Confounded

FULL = False


def test_marks_and_arrows_are_counted_apart():
    dag = Dag.from_edges([("a", "b"), ("b", "c")], ["a", "b", "c", "d"])
    drawn = Confounded(np.empty((2, 4)), dag, [("a", "b"), ("c", "d")])  # pyright: ignore[reportArgumentType]
    graph = np.zeros((4, 4), dtype=np.uint8)
    graph[0, 1] = graph[1, 2] = 1
    perfect = compare_marks(drawn, graph)
    assert (perfect["edges"], perfect["recall"], perfect["precision"], perfect["shd"]) == (0, 0.0, 1.0, 0)
    graph[2, 3] = graph[3, 2] = 1  # right
    graph[1, 0] = 1  # right, too, but the edge is lost
    graph[0, 3] = graph[3, 0] = 1  # wrong
    found = compare_marks(drawn, graph)
    assert (found["edges"], found["recall"], found["shd"]) == (3, 1.0, 1)
    assert found["precision"] == 2 / 3
    graph[:] = 0
    graph[0, 1] = graph[1, 3] = graph[3, 0] = 1  # a cycle: two false arrows, one missing
    assert compare_marks(drawn, graph)["shd"] == 3


def test_every_trial_has_its_own_hidden_causes():
    data = Data("ER2-additive", 8, 50, hidden=2)
    first, again, other = data.draw(0), data.draw(0), data.draw(1)
    assert first.X.equals(again.X)
    assert first.confounded == again.confounded
    assert not first.X.equals(other.X)
    assert Data("ER2-clean", 8, 50).draw(0).confounded == set()


def test_the_study_has_both_methods_on_eight_variables_and_ours_on_twenty():
    assert reproduce.STUDIES["figure-hidden"] is STUDY
    cells = STUDY.cells(FULL)
    small = {cell.prune for cell in cells if cell.data.nodes == 8}
    assert small == {methods.MARKS, peers.CAMUV}
    large = [cell for cell in cells if cell.data.nodes == 20]
    assert {cell.data.family for cell in large} == set(EFFECTS)
    assert {cell.prune for cell in large} == {methods.MARKS}


def test_a_marked_edge_points_both_ways():
    z, w, u, e, f = np.random.default_rng(0).normal(size=(5, 600))
    drawn = Data("ER2-linear", 6, 300, hidden=2).draw(0)
    table = drawn.X.iloc[:, :4].head(0).reindex(range(600))
    table[:] = np.column_stack([z, w, np.sin(2 * z) + u + e / 2, np.sin(2 * w) + u + f / 2])
    adjacency, seconds = methods.learn_marks(methods.MARKS, table, 0)
    both = adjacency & adjacency.T
    assert seconds > 0
    assert both.sum() in (0, 2)
    assert both[2:, 2:].sum() == both.sum()

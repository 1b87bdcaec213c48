from __future__ import annotations

import numpy as np
import pytest

from sartre import Dag
from sartre.report.layout import layered
from sartre.simulate import random_dag


@pytest.mark.parametrize("seed", range(4))
@pytest.mark.parametrize("n_edges", [5, 20, 60])
def test_every_edge_goes_down_from_its_source_to_its_target(seed, n_edges):
    dag = random_dag(20, n_edges, random_state=seed)
    layout = layered(dag)
    place = dict(zip(dag.names, layout.positions, strict=True))
    for (source, target), route in zip(dag.edges, layout.routes, strict=True):
        assert np.array_equal(route[0], place[source])
        assert np.array_equal(route[-1], place[target])
        assert (np.diff(route[:, 1]) == 1).all()  # an edge passes through every layer in between


@pytest.mark.parametrize("n_edges", [0, 8, 40])
def test_no_two_nodes_share_a_place_and_all_places_begin_at_zero(n_edges):
    layout = layered(random_dag(25, n_edges, random_state=1))
    positions = layout.positions
    apart = np.abs(positions[:, None] - positions)
    assert ((apart[..., 0] > 0.99) | (apart[..., 1] > 0.99) | np.eye(25, dtype=bool)).all()
    assert (np.vstack([positions, *layout.routes]).min(axis=0) == 0).all()


def test_a_graph_without_edges_or_variables_has_a_layout():
    assert layered(Dag(np.zeros((0, 0)))).positions.shape == (0, 2)
    lone = layered(Dag(np.zeros((20, 20)))).positions
    assert len(np.unique(lone, axis=0)) == 20
    assert lone[:, 0].max() <= 7

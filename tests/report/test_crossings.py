from __future__ import annotations

from itertools import combinations, pairwise, permutations, product

import numpy as np
import pytest

from sartre.report.crossings import few_crossings, n_crossings
from sartre.report.layout import layered
from sartre.simulate import random_dag

# (variables, edges, seed, crossings of igraph 1.0.0 in the same layers), from benchmarks/drawing_crossings.py
GRAPHS = [
    (10, 15, 15000, 3),
    (20, 20, 15001, 8),
    (20, 40, 15002, 118),
    (20, 60, 15003, 229),
    (31, 159, 15004, 1515),
    (40, 60, 15005, 261),
    (50, 80, 15006, 387),
    (60, 60, 15007, 131),
    (60, 120, 15008, 827),
    (60, 180, 15009, 1794),
]


def crossed(rows, links):
    """Count by definition: two links between the same layers whose ends stand the other way round."""
    place = {node: (y, x) for y, row in enumerate(rows) for x, node in enumerate(row)}
    at = [(place[upper], place[lower]) for upper, lower in links]
    return sum((a[0][1] - b[0][1]) * (a[1][1] - b[1][1]) < 0 for a, b in combinations(at, 2) if a[0][0] == b[0][0])


def random_layers(sizes, n_links, seed):
    rng = np.random.default_rng(seed)
    layers = rng.permutation(np.repeat(np.arange(len(sizes)), sizes))
    pairs = [pair for pair in product(range(len(layers)), repeat=2) if layers[pair[1]] == layers[pair[0]] + 1]
    return layers, [pairs[k] for k in rng.permutation(len(pairs))[:n_links]]


@pytest.mark.parametrize("seed", range(5))
def test_crossings_are_counted_by_their_definition(seed):
    layers, links = random_layers([4, 6, 3, 5], 30, seed)
    rows = [np.flatnonzero(layers == layer).tolist() for layer in range(4)]
    assert n_crossings(rows, links) == crossed(rows, links) > 0


@pytest.mark.parametrize("seed", range(5))
def test_every_node_stays_in_its_layer_and_crossings_never_increase(seed):
    layers, links = random_layers([4, 6, 3, 5], 25, seed)
    given = [np.flatnonzero(layers == layer).tolist() for layer in range(4)]
    rows = few_crossings(layers, links)
    assert [sorted(row) for row in rows] == given
    assert n_crossings(rows, links) <= n_crossings(given, links)


@pytest.mark.parametrize("seed", range(10))
def test_small_drawings_are_nearly_as_good_as_the_best(seed):
    layers, links = random_layers([4, 4, 3], 14, seed)
    groups = [np.flatnonzero(layers == layer).tolist() for layer in range(3)]
    best = min(n_crossings(list(rows), links) for rows in product(*map(permutations, groups)))
    assert n_crossings(few_crossings(layers, links), links) <= best + 2


def test_a_caterpillar_is_drawn_without_a_crossing():
    rng = np.random.default_rng(0)
    spine, label = range(12), rng.permutation(36)
    layers, links = np.zeros(36, dtype=int), []
    for k in spine:
        layers[label[k]] = k
        for leg in (12 + 2 * k, 13 + 2 * k):
            layers[label[leg]] = k + 1
            links.append((int(label[k]), int(label[leg])))
    links += [(int(label[a]), int(label[b])) for a, b in pairwise(spine)]
    assert n_crossings(few_crossings(layers, links), links) == 0


@pytest.mark.parametrize(("d", "n_edges", "seed", "of_igraph"), GRAPHS)
def test_fewer_edges_cross_than_in_the_drawings_of_igraph(d, n_edges, seed, of_igraph):
    layout = layered(random_dag(d, n_edges, random_state=seed))
    steps = [step for route in layout.routes for step in pairwise(map(tuple, route))]
    at = np.array([(upper[1], upper[0], lower[0]) for upper, lower in steps])
    first, second = np.triu_indices(len(at), 1)
    same_layer = at[first, 0] == at[second, 0]
    signs = np.sign(at[first, 1:] - at[second, 1:]).prod(axis=1)
    assert (signs[same_layer] < 0).sum() < of_igraph

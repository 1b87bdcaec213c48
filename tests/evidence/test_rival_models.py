"""A hidden common cause is told from an edge, in either direction."""

from __future__ import annotations

import numpy as np
from scipy.stats import t as t_distribution

from sartre.data.row_design import read_design
from sartre.data.table import Table
from sartre.evidence.hidden_causes import MARKED
from sartre.evidence.rival_models import Rivals, log_density

NAMES = ("z", "w", "x", "y")


def drawn(kind, seed, n=1500, curve=np.sin):
    """Return the columns z, w, x and y: z causes x, w causes y, and x and y are joined as `kind` says."""
    z, w, u, e, f = np.random.default_rng(seed).normal(size=(5, n))
    x, y = curve(2 * z) + e / 2, curve(2 * w) + f / 2
    if kind == "hidden":
        return np.column_stack([z, w, x + u, y + u])
    if kind == "edge":
        return np.column_stack([z, w, x, y + np.tanh(2 * x)])
    return np.column_stack([z, w, x + np.tanh(2 * y), y])


def learnt(kind):
    """Return the parents that a learner that puts x before y finds: what it needs to predict each."""
    return {"hidden": [[], [], [0], [0, 1, 2]], "edge": [[], [], [0], [1, 2]], "turned": [[], [], [0, 1], [0, 1, 2]]}[
        kind
    ]


def compared(kind):
    """Return the comparisons of x -> y in six tables."""
    return [Rivals(Table(drawn(kind, seed), NAMES), learnt(kind)).compare(2, 3) for seed in range(6)]


def test_a_hidden_cause_is_better_than_the_edge_either_way_round():
    found = compared("hidden")
    assert sum(each.statistic > MARKED for each in found) >= 4
    assert all(each.turned > 3 and each.whole > -2 for each in found)


def test_an_edge_is_better_than_a_hidden_cause():
    assert all(each.lean < -3 and each.statistic < -3 for each in compared("edge"))


def test_an_edge_that_was_turned_round_is_not_taken_for_a_hidden_cause():
    found = compared("turned")
    assert all(each.turned < MARKED for each in found)
    assert any(each.lean > 3 for each in found)  # which is why the turned edge is a rival, too


def test_units_do_not_matter_and_neither_does_the_order_of_columns_or_rows():
    X = drawn("hidden", 5)
    one = Rivals(Table(X, NAMES), learnt("hidden")).compare(2, 3)
    rows = np.random.default_rng(0).permutation(len(X))
    scaled = 7 * X[rows][:, [3, 2, 1, 0]] - 3
    other = Rivals(Table(scaled, NAMES[::-1]), [[3, 2, 1], [3], [], []]).compare(1, 0)
    np.testing.assert_allclose(one, other, rtol=0.02, atol=0.02)


def test_what_all_environments_share_is_no_hidden_cause():
    X = drawn("edge", 1)
    where = np.repeat([0, 1, 2], 500)
    X[:, 2:] += where[:, None] * [2.0, 3.0]  # both are shifted
    design = read_design(X, NAMES, where.tolist())
    shifted = Table(X, NAMES, design=design)
    assert Rivals(shifted, learnt("edge")).compare(2, 3).lean < -3


def test_rows_of_a_group_count_once():
    X = drawn("hidden", 4)
    groups = np.tile(np.arange(len(X)), 4)
    copies = np.tile(X, (4, 1))
    design = read_design(copies, NAMES, groups=groups)
    one = Rivals(Table(X, NAMES), learnt("hidden")).compare(2, 3)
    alike = Rivals(Table(copies, NAMES, design=design), learnt("hidden")).compare(2, 3)
    alone = Rivals(Table(copies, NAMES), learnt("hidden")).compare(2, 3)
    assert abs(alike.turned - one.turned) < 0.4 * one.turned
    assert alone.turned > 1.6 * one.turned


def test_the_density_has_the_scale_of_highest_likelihood():
    residuals = np.random.default_rng(0).normal(size=500)
    reached = log_density(residuals).sum()
    scales = np.linspace(0.5, 1.5, 101)
    others = [t_distribution.logpdf(residuals, 5, scale=scale).sum() for scale in scales]
    constant = t_distribution.logpdf(0.0, 5)
    assert reached + len(residuals) * constant >= max(others) - 0.01

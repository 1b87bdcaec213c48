"""The effect as one number: path products in linear models, and the step that is asked about."""

from __future__ import annotations

import numpy as np
import pandas as pd
import pytest

from sartre import Dag, StructuralModel
from sartre.data.checks import as_table
from sartre.prune.mechanisms import fit_mechanisms
from sartre.scm.alternatives import OpenDirections
from sartre.scm.summary import summary_of

TRIANGLE = Dag.from_edges([("a", "b"), ("a", "c"), ("b", "c")])
FEW = {"n_bootstrap": 12, "random_state": 0}


def linear(n, seed=0):
    """Return b = 2 a, c = a - 3 b: the total effect of a on c is -5, the direct one 1."""
    rng = np.random.default_rng(seed)
    a = rng.normal(1, 1, size=n)
    b = 2 * a + rng.normal(size=n)
    return pd.DataFrame({"a": a, "b": b, "c": 10 + a - 3 * b + rng.normal(size=n)})


def without_rows(scm):
    return StructuralModel.of_summary(summary_of(scm), scm.graph, scm.mechanisms, scm.pairs, scm.directions)


@pytest.fixture(scope="module")
def scm():
    return StructuralModel.fit(linear(600), TRIANGLE)


@pytest.mark.parametrize("keep", [lambda scm: scm, without_rows])
@pytest.mark.parametrize(
    ("cause", "outcome", "direct", "slope"),
    [("a", "c", False, -5), ("a", "c", True, 1), ("b", "c", True, -3), ("a", "b", False, 2), ("a", "b", True, 2)],
)
def test_it_is_the_slope_times_the_distance_of_the_quartiles(scm, keep, cause, outcome, direct, slope):
    found = keep(scm).average_effect(cause, outcome, direct=direct, **FEW)
    first, third = np.quantile(linear(600)[cause], [0.25, 0.75])
    assert (found.start, found.end) == pytest.approx((first, third))
    assert found.effect == pytest.approx(slope * (third - first), abs=0.6)
    assert found.low < found.effect < found.high
    assert (found.lowest, found.highest) == (found.effect, found.effect)
    assert float(found) == found.effect
    assert found.kind == ("direct" if direct else "total")


@pytest.mark.parametrize("keep", [lambda scm: scm, without_rows])
def test_an_effect_against_the_arrows_is_zero_exactly(scm, keep):
    for direct in (False, True):
        found = keep(scm).average_effect("c", "a", direct=direct, **FEW)
        assert (found.effect, found.low, found.high) == (0, 0, 0)
    chain = Dag.from_edges([("a", "b"), ("b", "c")])
    through = keep(StructuralModel.fit(linear(600), chain)).average_effect("a", "c", direct=True, **FEW)
    assert (through.effect, through.low, through.high) == (0, 0, 0)


def test_it_agrees_with_the_curve(scm):
    found = scm.average_effect("a", "c", **FEW)
    curve = scm.effect("a", "c", at=[found.end], baseline=found.start, **FEW)
    assert found.effect == pytest.approx(curve["mean"][0])
    assert (found.low, found.high) == pytest.approx((curve["low"][0], curve["high"][0]))


def test_a_direct_effect_averages_over_the_other_causes():
    """With y = a b and E b = 1 the direct effect of a is its step, though b follows a."""
    rng = np.random.default_rng(3)
    a = rng.normal(size=1500)
    b = 1 + a / 2 + rng.normal(size=1500)
    table = pd.DataFrame({"a": a, "b": b, "y": a * b + rng.normal(size=1500) / 4})
    dag = Dag.from_edges([("a", "b"), ("a", "y"), ("b", "y")])
    found = StructuralModel.fit(table, dag, [("a", "b", "y")]).average_effect("a", "y", direct=True, **FEW)
    assert found.effect == pytest.approx(found.end - found.start, abs=0.1)


@pytest.mark.parametrize(
    ("column", "step"),
    [
        (np.tile([0.0, 1.0], 100), (0, 1)),
        (np.r_[np.zeros(190), np.ones(10)], (0, 1)),  # quartiles are equal
        (
            np.r_[np.zeros(170), np.linspace(1, 2, 30)],
            (0, np.quantile(np.r_[np.zeros(170), np.linspace(1, 2, 30)], 0.95)),
        ),
        (np.r_[np.zeros(195), np.arange(1.0, 6.0)], (0, 5)),
    ],
)
@pytest.mark.parametrize("keep", [lambda scm: scm, without_rows])
def test_the_step_is_never_empty(column, step, keep):
    table = pd.DataFrame({"a": column, "b": 3 * column + np.random.default_rng(0).normal(size=200)})
    found = keep(StructuralModel.fit(table, Dag.from_edges([("a", "b")]))).average_effect("a", "b", **FEW)
    assert (found.start, found.end) == pytest.approx(step)


def test_undecided_arrows_give_a_range_with_rows_and_a_warning_without():
    table = linear(400)
    read = as_table(table)
    directions = OpenDirections(TRIANGLE, (("a", "b"),))
    model = StructuralModel.of_mechanisms(read, TRIANGLE, fit_mechanisms(read, TRIANGLE), (), directions)
    with pytest.warns(UserWarning, match="depends on arrows that the data do not decide: a -- b"):
        found = model.average_effect("a", "c", **FEW)
    step = found.end - found.start
    assert found.lowest == pytest.approx(found.effect)  # total: -5
    assert found.highest == pytest.approx(step, abs=0.3)  # if b causes a, only the direct path is left
    with pytest.warns(UserWarning, match=r"may depend on .* a -- b\. Its range .* needs the rows"):
        unknown = without_rows(model).average_effect("a", "c", **FEW)
    assert unknown.effect == pytest.approx(found.effect, rel=0.02)
    assert np.isnan(unknown.lowest)
    assert np.isnan(unknown.highest)


def test_it_says_what_it_is_and_refuses_what_cannot_be(scm):
    found = scm.average_effect("a", "c", direct=True, **FEW)
    assert str(found).startswith(f"Raising a from {found.start:.4g} to {found.end:.4g}, directly, changes c by ")
    assert "90% interval" in repr(found)
    with pytest.raises(ValueError, match="Got 'a' for both"):
        scm.average_effect("a", "a")
    with pytest.raises(ValueError, match="'z' is not a variable"):
        scm.average_effect("a", "z")
    with pytest.raises(TypeError, match="'direct' parameter of average_effect must be a bool"):
        scm.average_effect("a", "c", direct="yes")


def test_groups_of_ten_rows_keep_the_means_and_hide_the_rows(scm):
    summary = summary_of(scm)
    values = linear(600).to_numpy()
    assert summary.values.shape == summary.noise.shape == (60, 3)
    np.testing.assert_allclose(summary.values.mean(axis=0), values.mean(axis=0))
    np.testing.assert_allclose(summary.noise.mean(axis=0), scm.residuals.mean(), atol=1e-12)
    assert not np.isin(summary.values, values).any()
    np.testing.assert_allclose(summary.values.std(axis=0), values.std(axis=0), rtol=0.03)

"""Each problem is reported where it occurs, and only there."""

from __future__ import annotations

from types import SimpleNamespace

import numpy as np
import pandas as pd
import pytest

from sartre import CausalDiscovery, Dag
from sartre.evidence.diagnostics import diagnose
from sartre.graph.paths import alignment
from sartre.order import FixedOrder
from sartre.prune import SARTRE


def chain(seed=0, n=600, noise=None):
    """Return a chain a -> b -> c with the given noise, normal by default, and all variances about one."""
    rng = np.random.default_rng(seed)
    draw = noise or (lambda n: rng.normal(size=n))
    a = rng.normal(size=n)
    b = np.sin(2 * a) + 0.7 * draw(n)
    c = np.sin(2 * b) + 0.7 * draw(n)
    return pd.DataFrame({"a": a, "b": b, "c": c})


def model(edges, names):
    return SimpleNamespace(graph_=Dag.from_edges(edges, names))


ABC = model([("a", "b"), ("b", "c")], ["a", "b", "c"])


@pytest.mark.parametrize("seed", range(20))
def test_a_model_that_holds_gives_no_message(seed):
    assert diagnose(ABC, chain(seed)).messages == ()


@pytest.mark.parametrize(
    ("noise", "word"),
    [
        (lambda rng: lambda n: rng.standard_t(2.2, size=n), "heavy tails"),
        (lambda rng: lambda n: rng.exponential(size=n) - 1, "not normal|heavy tails"),
        (lambda rng: lambda n: rng.uniform(-1.7, 1.7, size=n), "not normal"),
    ],
)
def test_noise_that_is_not_normal_is_reported(noise, word):
    found = diagnose(ABC, chain(noise=noise(np.random.default_rng(1)), n=1000))
    assert pd.Series(found.messages).str.contains(word).any()
    assert (found.nodes.loc[["b", "c"], "normality"] < 1e-6).all()
    assert found.nodes.loc["a", "normality"] > 1e-4


def test_a_cause_taken_for_an_effect_leaves_a_residual_that_depends_on_it():
    rng = np.random.default_rng(0)
    a = rng.uniform(-2, 2, size=600)
    table = pd.DataFrame({"a": a, "b": a**2 + 0.3 * rng.normal(size=600)})
    right, wrong = (diagnose(model([edge], ["a", "b"]), table) for edge in (("a", "b"), ("b", "a")))
    assert right.nodes.loc["b", "independence"] > 0.001
    assert wrong.nodes.loc["a", "dependent_on"] == "b"
    assert any("still depends on a parent for a (on b)" in message for message in wrong.messages)
    assert not any("still depends" in message for message in right.messages)


def test_the_independence_test_holds_its_level():
    p_values = [diagnose(ABC, chain(seed, n=200)).nodes.loc["b", "independence"] for seed in range(100, 300)]
    assert np.mean(np.array(p_values) < 0.05) <= 0.05 + 3 * np.sqrt(0.05 * 0.95 / 200)


def test_a_time_series_is_reported_and_rows_sorted_by_a_cause_are_not():
    rng = np.random.default_rng(0)
    walk = np.zeros(500)
    for t in range(1, 500):
        walk[t] = 0.8 * walk[t - 1] + rng.normal()
    series = pd.DataFrame({"a": walk, "b": rng.normal(size=500)})
    found = diagnose(model([], ["a", "b"]), series)
    assert found.nodes.loc["a", "autocorrelation"] == pytest.approx(0.8, abs=0.1)
    assert found.messages[0].startswith("Neighbouring rows are correlated in a, up to 0.")
    sorted_rows = diagnose(ABC, chain().sort_values("a")).nodes["autocorrelation"]
    assert np.isnan(sorted_rows["a"])
    assert (sorted_rows[["b", "c"]].abs() < 0.2).all()


def test_copies_are_reported_up_to_unit_and_sign():
    table = chain()
    table["d"], table["e"] = -5 * table["a"] + 1, table["b"]
    with pytest.warns(UserWarning, match="Duplicated"):
        found = diagnose(model([], list("abcde")), table)
    assert found.copies == (("a", "d"), ("b", "e"))
    assert any("copies of each other: a and d, b and e" in message for message in found.messages)


def test_few_samples_are_reported():
    X = np.random.default_rng(0).normal(size=(60, 7))
    found = diagnose(model([], [f"x{j}" for j in range(7)]), X)
    assert found.samples_per_variable == pytest.approx(60 / 7)
    assert any("60 samples for 7 variables" in message for message in found.messages)
    assert diagnose(model([], [f"x{j}" for j in range(6)]), X[:, :6]).messages == ()


def test_categories_and_few_values_are_reported_and_not_tested():
    rng = np.random.default_rng(0)
    table = chain().assign(group=rng.choice(["u", "v", "w"], 600), coin=rng.integers(0, 2, 600))
    found = diagnose(model([("group", "a"), ("a", "coin")], list(table.columns)), table)
    assert any("have no continuous noise: group, coin." in message for message in found.messages)
    assert found.nodes.loc[["group", "coin"], ["normality", "independence"]].isna().all(axis=None)
    assert found.nodes.loc["a", "independence"] > 0.001


def test_a_table_of_categories_alone_is_reported():
    rng = np.random.default_rng(0)
    table = pd.DataFrame({"a": rng.choice(list("xyz"), 100), "b": rng.choice(list("uvw"), 100)})
    found = diagnose(model([("a", "b")], ["a", "b"]), table)
    assert np.isnan(found.var_sortability)
    assert len(found.messages) == 1


# Sortability

EDGES = [("a", "b"), ("b", "c"), ("c", "d"), ("a", "d")]


def test_variances_that_give_the_order_away_are_reported_and_equal_ones_are_not():
    rng = np.random.default_rng(0)
    X = np.cumsum(rng.normal(size=(500, 4)), axis=1)
    table = pd.DataFrame(X, columns=list("abcd"))
    found = diagnose(model(EDGES, list("abcd")), table)
    assert found.var_sortability == 1
    assert any("increases along 100% of the directed paths" in message for message in found.messages)
    equal = diagnose(model(EDGES, list("abcd")), (table - table.mean()) / table.std())
    assert equal.var_sortability == 0.5
    assert not any("variances" in message for message in equal.messages)
    assert equal.r2_sortability == pytest.approx(found.r2_sortability)


def test_sortability_counts_pairs_by_length_of_path_and_reverses_with_its_criterion():
    adjacency = Dag.from_edges(EDGES, list("abcd")).adjacency.astype(bool)
    values = np.array([1.0, 3.0, 2.0, 4.0])
    # paths: length 1 ab bc cd ad, length 2 ac bd, length 3 ad; only b -> c decreases
    assert alignment(adjacency, values) == (pytest.approx(6 / 7), 7)
    assert alignment(adjacency, -values) == (pytest.approx(1 / 7), 7)
    share, count = alignment(np.zeros((3, 3), dtype=bool), np.ones(3))
    assert np.isnan(share)
    assert count == 0


def test_r2_is_that_of_the_regression_on_all_others():
    table = chain()
    others = np.column_stack([np.ones(600), table[["a", "c"]]])
    residual = table["b"] - others @ np.linalg.lstsq(others, table["b"], rcond=None)[0]
    expected = 1 - residual.var() / table["b"].var()
    assert diagnose(ABC, table).nodes.loc["b", "r2"] == pytest.approx(expected, abs=1e-6)


# The property of a fitted model


def test_a_fitted_model_has_them_and_pairs_that_act_together_are_part_of_the_fit():
    rng = np.random.default_rng(0)
    a, b = rng.normal(size=(2, 800))
    table = pd.DataFrame({"a": a, "b": b, "c": a * b + rng.normal(size=800) / 2})
    fitted = CausalDiscovery(FixedOrder(list("abc")), SARTRE(random_state=0)).fit(table)
    assert len(fitted.prune_step_.interactions_) == 1
    assert fitted.diagnostics_ is fitted.diagnostics_
    assert fitted.diagnostics_.messages == ()
    assert "none of the checks failed" in repr(fitted.diagnostics_)
    alone = diagnose(SimpleNamespace(graph_=fitted.graph_), table)
    assert alone.nodes.loc["c", "independence"] < 1e-6


def test_missing_values_and_units_change_nothing_but_the_counts():
    table = chain()
    plain = diagnose(ABC, table).nodes
    moved = diagnose(ABC, table * [1e-3, 1.0, 1e4] + [5.0, 0.0, -2.0]).nodes
    numbers = ["skewness", "kurtosis", "normality", "independence", "autocorrelation", "r2"]
    pd.testing.assert_frame_equal(plain[numbers], moved[numbers], atol=1e-6)
    table.loc[::10, "b"] = np.nan
    assert diagnose(ABC, table).nodes["n"].tolist() == [600, 540, 600]


def test_another_table_is_refused():
    with pytest.raises(ValueError, match=r"must have the columns a, b, c\. Got z, b, c"):
        diagnose(ABC, chain().rename(columns={"a": "z"}))


def test_a_code_for_missing_values_is_named_with_its_column():
    frame = chain().assign(flag=lambda frame: (frame["a"] > 2.5).astype(float))
    frame.loc[[3, 9], "b"] = 99999999.0
    found = diagnose(model([], list(frame.columns)), frame)
    (message,) = [text for text in found.messages if "codes for missing" in text]
    assert "99999999 in b (2 times)" in message
    assert not any("codes for missing" in text for text in diagnose(ABC, chain()).messages)


def test_parts_of_a_whole_are_named():
    rng = np.random.default_rng(0)
    parts = pd.DataFrame(rng.dirichlet(np.ones(4), size=300), columns=list("abcd")).round(3)  # per mille
    parts = parts.assign(e=rng.normal(size=300))
    (message,) = [text for text in diagnose(model([], list("abcde")), parts).messages if "linear functions" in text]
    assert ": a, b, c, d. " in message
    assert "logarithms of their ratios" in message
    without = parts.drop(columns="d")
    assert not any("linear functions" in text for text in diagnose(model([], list("abce")), without).messages)

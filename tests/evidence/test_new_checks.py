"""Lines with normal noise, causes of age, codes and groups of rows are named, and nothing else is."""

from __future__ import annotations

from types import SimpleNamespace

import numpy as np
import pandas as pd
import pytest

from sartre import CausalDiscovery, Dag, Knowledge
from sartre.data.checks import as_table
from sartre.evidence.diagnostics import diagnose
from sartre.evidence.table_checks import about_groups
from sartre.order import FixedOrder
from sartre.prune import SARTRE


def learnt(table, **settings):
    return CausalDiscovery(prune=SARTRE(joint=False), random_state=0, **settings).fit(table)


def said(messages, words):
    return [message for message in messages if words in message]


def curved(seed, n=500):
    """Return a table a -> b -> c whose relations are no lines."""
    rng = np.random.default_rng(seed)
    a = rng.normal(size=n)
    b = np.sin(2 * a) + 0.7 * rng.normal(size=n)
    return pd.DataFrame({"a": a, "b": b, "c": np.sin(2 * b) + 0.7 * rng.normal(size=n)})


def straight(seed, n=500, noise=None):
    rng = np.random.default_rng(seed)
    draw = noise or rng.normal
    a, e, f = (draw(size=n) for _ in range(3))
    b = 0.8 * a + 0.6 * e
    return pd.DataFrame({"a": a, "b": b, "c": 0.7 * b + 0.7 * f})


# Lines with normal noise


@pytest.mark.parametrize("seed", range(3))
def test_lines_with_normal_noise_are_named(seed):
    model = learnt(straight(seed))
    (message,) = said(model.diagnostics_.messages, "straight lines with normal noise")
    for source, target in model.graph_.edges:
        assert f"{source} -- {target}" in message


@pytest.mark.parametrize("seed", range(3))
def test_curves_other_noise_and_known_directions_are_not(seed):
    assert not said(learnt(curved(seed)).diagnostics_.messages, "straight lines")
    skewed = straight(seed, noise=np.random.default_rng(seed).exponential)
    assert not said(learnt(skewed).diagnostics_.messages, "straight lines")
    known = Knowledge(tiers=[["a"], ["b"], ["c"]])
    assert not said(learnt(straight(seed), knowledge=known).diagnostics_.messages, "straight lines")


def test_an_edge_with_some_evidence_does_not_look_the_same_both_ways():
    model = learnt(straight(0))
    model.edges_.loc[0, "direction_evidence"] = 2.7
    told = diagnose(model, straight(0)).messages
    source, target = model.edges_.loc[0, ["source", "target"]]
    named = " ".join(said(told, "straight lines with normal noise"))
    assert named
    assert not any(f"{source} {mark} {target}" in named for mark in ("--", "->"))


# Directions that were not checked


def test_unchecked_directions_are_counted_with_the_reason(monkeypatch):
    frame = curved(0)
    assert not said(learnt(frame).diagnostics_.messages, "were not checked")
    (message,) = said(learnt(frame, directions=False).diagnostics_.messages, "were not checked")
    assert message.startswith("The directions of 2 of 2 edges were not checked, because 'directions' is False. ")
    frame["c"] = (frame["c"] > 0).astype(float)
    (message,) = said(learnt(frame).diagnostics_.messages, "were not checked")
    assert "because there are categories, missing values or fewer than 10 distinct values in c. " in message

    def interrupted(*_):
        raise KeyboardInterrupt

    monkeypatch.setattr("sartre.evidence.directions.blocks_of_rows", interrupted)
    with pytest.warns(UserWarning, match="interrupted"):
        model = learnt(curved(0))
    (message,) = said(model.diagnostics_.messages, "were not checked")
    assert "because the weighing was interrupted. " in message


def test_imputed_columns_are_named_among_the_unchecked():
    frame = curved(0)
    frame.loc[::50, "a"] = np.nan
    with pytest.warns(UserWarning, match="imputed"):
        model = learnt(frame, missing="impute")
    (message,) = said(model.diagnostics_.messages, "were not checked")
    assert "distinct values in a. " in message


# Causes of age and sex


def test_a_cause_of_age_is_named_unless_it_was_known():
    frame = curved(0).rename(columns={"a": "bmi", "b": "Age", "c": "stage"})
    wrong = SimpleNamespace(graph_=Dag.from_edges([("bmi", "Age"), ("Age", "stage")], list(frame.columns)))
    (message,) = said(diagnose(wrong, frame).messages, "settled at birth")
    assert ": bmi -> Age. " in message
    assert "knowledge-template.toml" in message
    right = SimpleNamespace(graph_=Dag.from_edges([("Age", "stage")], list(frame.columns)))
    assert not said(diagnose(right, frame).messages, "settled at birth")
    known = CausalDiscovery(FixedOrder(["bmi", "Age", "stage"]), SARTRE(joint=False)).fit(frame)
    assert ("bmi", "Age") in known.graph_.edges
    assert not said(known.diagnostics_.messages, "settled at birth")


def test_a_line_to_age_is_called_a_line():
    frame = straight(0).rename(columns={"a": "bmi", "b": "Age", "c": "stage"})
    model = CausalDiscovery(FixedOrder(["bmi", "Age", "stage"]), SARTRE(joint=False)).fit(frame)
    model.edges_["direction"] = "undecided"
    (message,) = said(diagnose(model, frame).messages, "settled at birth")
    assert ": bmi -- Age. " in message


# Codes


def test_codes_of_three_or_more_values_are_named_with_their_values():
    rng = np.random.default_rng(0)
    frame = curved(0).assign(
        site=rng.integers(1, 4, 500), flag=rng.integers(0, 2, 500), dose=rng.choice([0.5, 1.5, 2.5], 500),
        kind=pd.Categorical(rng.choice(["u", "v", "w"], 500)), count=rng.integers(0, 40, 500),
    )  # fmt: skip
    messages = diagnose(SimpleNamespace(graph_=Dag.from_edges([], list(frame.columns))), frame).messages
    (message,) = said(messages, "a few whole numbers")
    assert ": site (1, 2, 3). " in message
    (few,) = said(messages, "no continuous noise")
    assert "site" in few
    assert "flag" in few


def test_a_constant_has_no_edges_whose_direction_could_be_unreliable():
    frame = curved(0).assign(flat=7.0)
    with pytest.warns(UserWarning, match="Constant columns"):
        messages = diagnose(SimpleNamespace(graph_=Dag.from_edges([], list(frame.columns))), frame).messages
    assert not said(messages, "no continuous noise")


# Groups of rows


@pytest.mark.parametrize(("shift", "share"), [(4.0, 0.5), (4.0, 0.2), (5.0, 0.1)])
def test_rows_of_two_kinds_are_found(shift, share):
    frame = curved(1)
    other = np.random.default_rng(2).random(len(frame)) < share
    mixed = as_table(frame + shift * np.outer(other, [1, -1, 1]))
    (message,) = about_groups(mixed, [0, 1, 2])
    assert "fall into two groups" in message


@pytest.mark.parametrize("noise", ["normal", "uniform", "exponential", "standard_t"])
def test_rows_of_one_kind_are_not_split(noise):
    alarms = 0
    for seed in range(20):
        rng = np.random.default_rng([seed, 7])
        X = np.empty((300, 5))
        for j in range(5):
            draw = rng.standard_t(4, 300) if noise == "standard_t" else getattr(rng, noise)(size=300)
            X[:, j] = draw / np.std(draw) + (2 * np.tanh(2 * X[:, j - 1]) if j else 0)
            X[:, j] /= X[:, j].std()
        alarms += len(about_groups(as_table(X), range(5)))
    assert alarms <= 1


# Rows that depend on each other, and the bound


def test_what_fit_warns_about_is_repeated():
    rng = np.random.default_rng(0)
    series = np.zeros((400, 2))
    for t in range(1, 400):
        series[t] = 0.7 * series[t - 1] + rng.normal(size=2)
    with pytest.warns(UserWarning, match="Neighbouring rows"):
        model = learnt(series)
    assert len(said(model.diagnostics_.messages, "Neighbouring rows are correlated")) == 1


def test_a_bound_of_more_than_a_third_of_the_edges_says_nothing():
    frame = curved(0)
    model = learnt(frame)
    assert not said(model.diagnostics_.messages, "says nothing")
    loose = CausalDiscovery(prune=SARTRE(level=0.2, joint=False), random_state=0).fit(frame)
    assert loose.prune_step_.false_edges_bound_ > loose.graph_.n_edges / 3
    (message,) = said(loose.diagnostics_.messages, "this bound says nothing here")
    assert message.startswith(f"{loose.graph_.n_edges} edges were found")

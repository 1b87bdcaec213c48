"""The strength of an edge is what rows that were held out lose without its source, the other parents fitted again."""

from __future__ import annotations

import numpy as np
import pandas as pd
import pytest
from sklearn.datasets import load_breast_cancer

from sartre.additive.mechanism import fit_mechanism
from sartre.prune import SARTRE, CAMPruning

COLUMNS = ["mean radius", "mean perimeter", "mean area", "mean compactness", "mean concavity", "mean smoothness"]
FOLDS = 5


def held_out_loss(X, y, without):
    """Return the share of the variance of held-out rows that is lost without a column, and its standard error."""
    held = np.arange(len(y)) % FOLDS
    squares = []
    for columns in (list(range(X.shape[1])), [k for k in range(X.shape[1]) if k != without]):
        error = np.empty(len(y))
        for fold in range(FOLDS):
            there, here = held != fold, held == fold
            error[here] = fit_mechanism(X[there][:, columns], y[there]).residuals(X[here][:, columns], y[here])
        squares.append(error**2 / y.var())
    loss = squares[1] - squares[0]
    return loss.mean(), loss.std() / np.sqrt(len(y))


@pytest.fixture(scope="module")
def tumours():
    table = load_breast_cancer(as_frame=True).data[COLUMNS].sample(frac=1.0, random_state=0)  # groups of rows warn
    return (table - table.mean()) / table.std()


@pytest.mark.parametrize("make", [lambda: SARTRE(joint=False, robust=False, interactions=False), CAMPruning])
def test_strength_is_what_held_out_rows_lose(make, tumours):
    edges = make().fit(tumours, COLUMNS).edges_
    assert edges["strength"].between(0, 1).all()
    distances = []
    for target, into in edges.groupby("target"):
        X, y = tumours[into["source"].tolist()].to_numpy(), tumours[target].to_numpy()
        for k, strength in enumerate(into["strength"]):
            loss, error = held_out_loss(X, y, k)
            distances.append((strength - loss) / max(error, 1e-3))
    assert np.mean(np.abs(distances) < 3) > 0.9
    assert np.abs(distances).max() < 6


def test_parents_that_stand_for_each_other_are_weak_though_each_has_a_large_function(tumours):
    """Perimeter and area of a cell determine each other: to drop one function and keep the other ruins the fit."""
    edges = CAMPruning().fit(tumours, COLUMNS).edges_.set_index(["source", "target"])["strength"]
    assert edges["mean area", "mean compactness"] < 0.3
    X = tumours[["mean radius", "mean perimeter", "mean area"]].to_numpy()
    mechanism = fit_mechanism(X, tumours["mean compactness"].to_numpy())
    dropped = np.var(mechanism.curve(2, X[:, 2]).values)
    assert dropped > 5 * mechanism.loss_without(2)


@pytest.mark.parametrize("make", [SARTRE, CAMPruning, lambda: SARTRE(penalty=0.1, random_state=0)])
def test_strength_is_the_share_of_the_variance_that_only_the_source_explains(make):
    rng = np.random.default_rng(0)
    a, b, noise = rng.normal(size=(3, 2000))
    table = pd.DataFrame({"a": a, "b": 0.8 * a + 0.6 * b, "c": 0.5 * a + 0.5 * (0.8 * a + 0.6 * b) + noise / 2})
    edges = make().fit((table - table.mean()) / table.std(), list("abc")).edges_.set_index(["source", "target"])
    share = 0.25 * 0.36 / table["c"].var()  # what is left of a, given b, has the variance 1 - 0.64
    assert edges.loc[("a", "c"), "strength"] == pytest.approx(share, abs=0.02)
    assert edges.loc[("b", "c"), "strength"] == pytest.approx(share, abs=0.02)
    assert edges.loc[("a", "b"), "strength"] == pytest.approx(0.64, abs=0.03)


def test_what_chance_explains_is_not_strength():
    losses = []
    for seed in range(40):
        X = np.random.default_rng(seed).normal(size=(60, 5))
        losses += [fit_mechanism(X[:, :4], X[:, 4]).loss_without(k) for k in range(4)]
    assert np.median(losses) < 0.002  # one degree of freedom explains 1 / 59 of the variance of 60 rows by chance

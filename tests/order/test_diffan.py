"""DiffAN: the deciduous formula is exact for Gaussians, and the training of the network is repeatable."""

from __future__ import annotations

import builtins
from importlib.util import find_spec

import numpy as np
import pytest

from sartre.order import DiffAN
from sartre.order.diffan import deciduous
from sartre.order.diffusion import KEPT, Diffusion

needs_torch = pytest.mark.skipif(not find_spec("torch"), reason="PyTorch is not installed (extra 'diffan')")


def pair(seed=0, n=400):
    """Return an effect and its cause."""
    rng = np.random.default_rng(seed)
    cause = rng.normal(size=n)
    return np.column_stack([np.sin(2 * cause) + rng.normal(size=n) / 3, cause])


def linear_gaussian(d=5, seed=0):
    """Return the precision matrix of a linear Gaussian model in which every variable may depend on all before it."""
    rng = np.random.default_rng(seed)
    weights = np.tril(rng.normal(size=(d, d)), k=-1)
    noise = rng.uniform(0.5, 2, size=d)
    return (np.eye(d) - weights).T @ np.diag(1 / noise) @ (np.eye(d) - weights)


def test_the_worked_example_needs_a_minus():
    precision = np.array([[1 + 0.7**2, -0.7], [-0.7, 1.0]])  # x2 = 0.7 x1 + e
    score, _ = deciduous(-precision @ [1.3, -0.4], -precision, 1)
    assert score[0] == pytest.approx(-1.3)


def test_taking_leaves_out_one_by_one_gives_the_marginal_scores_of_a_gaussian():
    precision = linear_gaussian()
    covariance = np.linalg.inv(precision)
    x = np.random.default_rng(1).normal(size=5)
    score, jacobian = -precision @ x, -precision
    for leaf in (4, 3, 2, 1):
        score, jacobian = deciduous(score, jacobian, leaf)
        marginal = np.linalg.inv(covariance[:leaf, :leaf])
        np.testing.assert_allclose(score[:leaf], -marginal @ x[:leaf], rtol=1e-9)
        np.testing.assert_allclose(jacobian[:leaf, :leaf], -marginal, rtol=1e-9, atol=1e-12)
        np.testing.assert_allclose(score[leaf:], 0, atol=1e-12)


def test_the_score_without_a_nonlinear_leaf_is_exact():
    x, y, variance = 0.8, -0.3, 0.25  # y = sin(2 x) + e, x standard normal
    error, slope = y - np.sin(2 * x), 2 * np.cos(2 * x)
    score = np.array([-x + error * slope / variance, -error / variance])
    jacobian = np.array([[np.nan, slope / variance], [slope / variance, -1 / variance]])
    assert deciduous(score, jacobian, 1)[0][0] == pytest.approx(-x)


def test_without_pytorch_the_error_says_how_to_get_it(monkeypatch):
    plain = builtins.__import__

    def missing(name, *args, **kwargs):
        if name == "torch":
            raise ImportError(name)
        return plain(name, *args, **kwargs)

    monkeypatch.setattr(builtins, "__import__", missing)
    with pytest.raises(ImportError, match=r'pip install "sartre\[diffan\]"'):
        DiffAN().fit(pair())


@pytest.mark.parametrize("settings", [{"n_epochs": 0}, {"n_votes": 0}, {"correction": "plus"}, {"device": "abacus"}])
def test_wrong_settings_are_named(settings):
    with pytest.raises(ValueError, match=f"'{next(iter(settings))}' parameter of DiffAN"):
        DiffAN(**settings).fit(pair())


@needs_torch
@pytest.mark.parametrize("correction", ["retrain", "deciduous"])
def test_a_cause_is_told_from_its_effect(correction):
    right = 0
    for seed in range(4):
        x2 = np.random.default_rng(seed + 10).normal(size=300)
        X = np.column_stack([pair(seed, n=300), x2])
        order = DiffAN(100, width=32, correction=correction, random_state=0).fit(X).order_.tolist()
        right += order.index(1) < order.index(0)
    assert right >= 3


@needs_torch
def test_the_network_learns_the_score_of_a_gaussian():
    rng = np.random.default_rng(0)
    x = rng.normal(size=3000)
    Z = np.column_stack([x, (0.8 * x + 0.6 * rng.normal(size=3000))])
    model = Diffusion(Z, width=32, device="cpu", seed=0)
    model.train(np.arange(2), 100)
    step = 30
    covariance = KEPT[step] * np.cov(Z.T) + (1 - KEPT[step]) * np.eye(2)
    slopes = model.derivatives(Z[:300], step, np.array([], dtype=int)).mean(axis=0)
    expected = np.sqrt(1 - KEPT[step]) * np.diag(np.linalg.inv(covariance))
    np.testing.assert_allclose(slopes, expected, rtol=0.15)


@needs_torch
@pytest.mark.parametrize("correction", ["retrain", "deciduous"])
def test_without_its_leaf_the_network_is_that_of_the_marginal(correction):
    rng = np.random.default_rng(0)
    x = rng.normal(size=3000)
    Z = np.column_stack([x, (0.8 * x + 0.6 * rng.normal(size=3000))])
    model = Diffusion(Z, width=32, device="cpu", seed=0)
    model.train(np.arange(2), 100)
    rule = deciduous
    if correction == "retrain":
        model.train(np.array([0]), 40)
        rule = None
    slope = model.derivatives(Z[:300], 30, np.array([1]), rule)[:, 0].mean()
    assert slope == pytest.approx(np.sqrt(1 - KEPT[30]), rel=0.15)  # a standard normal, whatever the noise level


@needs_torch
def test_the_same_seed_gives_the_same_scores_and_the_global_state_is_left_alone():
    import torch  # noqa: PLC0415 - large, and optional

    torch.manual_seed(3)
    expected = torch.rand(1)
    torch.manual_seed(3)
    scores = [DiffAN(5, random_state=seed).fit(pair(n=60)).scores_ for seed in (0, 0, 1)]
    np.testing.assert_array_equal(scores[0], scores[1])
    assert np.nanmax(np.abs(scores[0] - scores[2])) > 0
    assert torch.rand(1) == expected


@needs_torch
def test_units_change_nothing():
    X = pair(n=60)
    scores = [DiffAN(5, random_state=0).fit(table).scores_ for table in (X, X * [1024.0, 0.25])]
    np.testing.assert_array_equal(*scores)


@needs_torch
def test_training_keeps_the_best_weights_even_if_it_only_gets_worse(monkeypatch):
    monkeypatch.setattr("sartre.order.diffusion.LEARNING_RATE", 1e4)
    model = Diffusion(pair(), width=8, device="cpu", seed=0)
    before = model._weights()
    model.train(np.arange(2), 6)
    after = model._weights()
    assert all((before[name] == after[name]).all() for name in before)

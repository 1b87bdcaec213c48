"""The Stein estimator in PyTorch has the values of the NumPy form, on the CPU and, if there is one, on a GPU."""

from __future__ import annotations

from importlib.util import find_spec

import numpy as np
import pytest

from sartre.order import SCORE, CaPS, NoGAM
from sartre.stein.estimator import Stein
from sartre.stein.on_gpu import SAMPLE, estimators, lower_median

needs_torch = pytest.mark.skipif(not find_spec("torch"), reason="PyTorch is not installed (extra 'gpu')")


@pytest.fixture(params=["cpu", "cuda"])
def device(request):
    torch = pytest.importorskip("torch")
    if request.param == "cuda" and not torch.cuda.is_available():
        pytest.skip("no GPU")
    return torch.device(request.param)


def chain(seed, n=150, d=6):
    """Return a table in which every column is caused by the one before it."""
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(n, d))
    for j in range(1, d):
        X[:, j] += 2 * np.sin(X[:, j - 1])
    return X


def close(found, expected):
    """Assert that two arrays are equal within 1e-9 of the largest value."""
    np.testing.assert_allclose(found.cpu().numpy(), expected, rtol=0, atol=1e-9 * np.abs(expected).max())


@pytest.mark.parametrize("seed", range(3))
@pytest.mark.parametrize("unit", [1e-70, 1.0, 1e70])
def test_the_estimates_are_those_of_numpy(device, seed, unit):
    X = chain(seed) * unit + 3 * unit
    eta = 0.01 / unit
    columns = np.array([0, 2, 3, 5])
    expected, found = Stein(X[:, columns], eta), estimators(X, eta, device)(columns)
    assert found._h == pytest.approx(expected._h, rel=1e-12)
    close(found.score(), expected.score())
    close(found.hessian_diagonal(), expected.hessian_diagonal())
    close(found.hessian_column(2), expected.hessian_column(2))
    assert found.score().device.type == device.type


def test_columns_that_dominated_the_distances_leave_no_trace(device):
    X = chain(0)
    X[:, 5] *= 1e6
    columns = np.arange(5)
    estimate = estimators(X, 0.01, device)
    estimate(np.arange(6))
    close(estimate(columns).hessian_diagonal(), Stein(X[:, columns], 0.01).hessian_diagonal())


def test_discrete_columns_have_the_same_width(device):
    X = np.zeros((60, 1))
    X[40:] = np.random.default_rng(0).integers(0, 3, size=(20, 1))  # more than half of all distances are zero
    assert estimators(X, 0.001, device)(np.array([0]))._h == Stein(X, 0.001)._h > 0


@pytest.mark.parametrize("seed", range(3))
@pytest.mark.parametrize("code", [1e6, 99999999.0])
def test_rare_flags_and_a_code_for_missing_have_an_estimate_on_a_gpu_too(device, seed, code):
    rng = np.random.default_rng(seed)
    X = np.column_stack([rng.random((200, 4)) < 0.03, rng.normal(size=200)]).astype(float)
    X[rng.integers(200), 4] = code
    X = (X - X.mean(axis=0)) / X.std(axis=0)
    assert np.isfinite(estimators(X, 0.001, device)(np.arange(5)).hessian_diagonal().cpu().numpy()).all()


@pytest.mark.parametrize("kind", ["spread", "sorted", "ties", "two values"])
@pytest.mark.parametrize("size", [1, 2, 1001, 4 * SAMPLE + 2, 700**2])
def test_the_median_is_exact_wherever_the_sample_points(device, kind, size):
    import torch  # noqa: PLC0415 - large, and optional

    rng = np.random.default_rng(size)
    values = rng.normal(size=size)
    if kind == "sorted":
        values.sort()
    if kind == "ties":
        values = values.round(1)
    if kind == "two values":
        values = (np.arange(size) % 2).astype(float)
    expected = np.sort(values)[(size - 1) // 2]
    assert float(lower_median(torch.as_tensor(values, device=device))) == expected


@pytest.mark.filterwarnings("ignore:Constant columns")
@pytest.mark.parametrize("orderer", [SCORE(exact=True), CaPS(), NoGAM()], ids=lambda orderer: type(orderer).__name__)
@pytest.mark.parametrize("seed", range(2))
def test_orders_and_criteria_are_those_of_numpy(device, monkeypatch, orderer, seed):
    X = chain(seed, n=120)
    X[:, 2] = 4.0  # a constant
    before = np.zeros((6, 6), dtype=bool)
    before[5, 0] = True
    expected = orderer.fit(X, before)
    order, scores = expected.order_, expected.scores_
    module = f"sartre.order.{type(orderer).__name__.lower()}"
    monkeypatch.setattr(f"{module}.check_device", lambda *_: device)
    found = orderer.fit(X, before)
    np.testing.assert_array_equal(found.order_, order)
    np.testing.assert_allclose(found.scores_, scores, rtol=1e-7)


@pytest.mark.parametrize("orderer", [SCORE, CaPS, NoGAM])
def test_a_device_that_is_not_there_is_refused_with_the_next_step(orderer, monkeypatch):
    name = orderer.__name__
    with pytest.raises(ValueError, match=f"'device' parameter of {name}"):
        orderer(device="abacus").fit(chain(0))
    monkeypatch.setitem(__import__("sys").modules, "torch", None)
    with pytest.raises(ImportError, match=rf'{name} with device="cuda" needs PyTorch.*pip install "sartre\[gpu\]"'):
        orderer(device="cuda").fit(chain(0))


@needs_torch
def test_a_gpu_that_is_not_there_is_refused_with_the_next_step(monkeypatch):
    import torch  # noqa: PLC0415 - large, and optional

    monkeypatch.setattr(torch.cuda, "is_available", lambda: False)
    with pytest.raises(ValueError, match=r"PyTorch sees no GPU\. Use 'cpu'"):
        SCORE(device="cuda").fit(chain(0))


@needs_torch
def test_the_device_setting_reaches_the_gpu():
    import torch  # noqa: PLC0415 - large, and optional

    if not torch.cuda.is_available():
        pytest.skip("no GPU")
    X = chain(0)
    torch.cuda.reset_peak_memory_stats()
    order = SCORE(device="cuda").fit(X).order_
    assert torch.cuda.max_memory_allocated() >= X.nbytes
    np.testing.assert_array_equal(order, SCORE(exact=True).fit(X).order_)

import numpy as np
import pytest

from sartre.process.fits import ProcessFits, even_weights
from sartre.process.likelihood import Inputs, Process, Weights
from sartre.process.on_gpu import TorchProcess, process_on
from sartre.prune import SARTRE


@pytest.fixture(params=["cpu", "cuda"])
def device(request):
    torch = pytest.importorskip("torch")
    if request.param == "cuda" and not torch.cuda.is_available():
        pytest.skip("no GPU")
    return torch.device(request.param)


def example(n=120, seed=0):
    """Three candidates: the second owns two columns of the joint part and has no line, the third has no column."""
    rng = np.random.default_rng(seed)
    columns, functions = rng.normal(size=(n, 3)), rng.normal(size=(n, 7))
    inputs = Inputs(3, columns, np.array([0, 1, 1]), functions, np.array([0, 0, 1, 2, 2, 3, 5]))
    weights = Weights(0.7, 0.2, np.array([0.3, 0.1, 0.5]), np.array([0.1, 0.2, 0.0]), np.array([0.4, 0.0, 0.3]))
    return inputs, weights, rng.normal(size=n)


@pytest.mark.parametrize("uneven", [False, True])
def test_it_is_the_process_of_the_cpu(device, uneven):
    inputs, weights, y = example()
    spread = np.linspace(0.5, 2, len(y)) if uneven else None
    expected, found = Process(inputs, y, spread), TorchProcess(device, inputs, y, spread)
    assert found.value(weights) == pytest.approx(expected.value(weights))
    one, other = found.evaluate(weights), expected.evaluate(weights)
    assert one.value == pytest.approx(other.value)
    np.testing.assert_allclose(one.gradient, other.gradient, rtol=1e-8, atol=1e-8)
    np.testing.assert_allclose(one.left_out, other.left_out)
    np.testing.assert_allclose(found.coefficients(weights), expected.coefficients(weights))
    assert found.n_evaluations == expected.n_evaluations


def test_weights_that_rounding_makes_impossible_are_infinitely_bad(device):
    x = np.ones((50, 1), np.float32)
    process = TorchProcess(device, Inputs(1, x, np.zeros(1, int), x, np.zeros(1, int)), x[:, 0])
    none = Weights(1.0, -0.1, np.zeros(1), np.ones(1), np.zeros(1))  # at 0.0 it depends on rounding
    assert process.value(none) == -np.inf
    assert process.evaluate(none).value == -np.inf


def test_fits_are_those_of_the_cpu(device):
    inputs, _, y = example()
    fits = [ProcessFits(inputs, y, device=where) for where in (device, None)]
    found, expected = (each.fit(np.arange(3), even_weights(3), 10) for each in fits)
    assert found.value == pytest.approx(expected.value, abs=1e-3)


def test_without_a_device_it_is_on_the_cpu():
    inputs, _, y = example()
    assert type(process_on(None, inputs, y)) is Process


def test_a_device_is_checked():
    X = np.random.default_rng(0).normal(size=(50, 3))
    with pytest.raises(ValueError, match="'device' parameter of SARTRE must be"):
        SARTRE(device="gpu").fit(X, range(3))


def test_graphs_are_those_of_the_cpu(device):
    if device.type == "cpu":
        pytest.skip("SARTRE uses NumPy there")
    rng = np.random.default_rng(1)
    X = rng.normal(size=(600, 6))
    X[:, 5] = np.tanh(X[:, 0] * X[:, 1] + X[:, 2] * X[:, 3]) + rng.normal(size=600) / 10
    for joint in ("auto", True):
        graphs = [SARTRE(joint=joint, device=name).fit(X, range(6)).adjacency_matrix_ for name in ("cpu", "cuda")]
        np.testing.assert_array_equal(*graphs)

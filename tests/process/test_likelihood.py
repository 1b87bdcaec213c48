import numpy as np
import pytest

from sartre.process.likelihood import Inputs, Process, Weights


def example(n=60, dtype=np.float64, seed=0):
    """Three candidates: the second owns two columns of the joint part and has no line, the third has no column."""
    rng = np.random.default_rng(seed)
    columns, functions = rng.normal(size=(n, 3)), rng.normal(size=(n, 6))
    inputs = Inputs(
        3,
        np.asfortranarray(columns, dtype),
        np.array([0, 1, 1]),
        np.asfortranarray(functions, dtype),
        np.array([0, 0, 1, 2, 3, 5]),
    )
    weights = Weights(0.7, 0.2, np.array([0.3, 0.1, 0.4]), np.array([0.05, 0.1, 0.2]), np.array([0.3, 0.5, 0.02]))
    return inputs, weights, np.sin(columns[:, 0]) + rng.normal(size=n) / 2


def covariance(inputs, weights, spread=1.0):
    """The definition, one candidate at a time."""
    n = len(inputs.columns)
    distance = sum(
        weights.within[c] * (x[:, None] - x) ** 2 for c, x in zip(inputs.column_owner, inputs.columns.T, strict=True)
    )
    K = weights.joint * np.exp(-distance / 2) + weights.noise * spread * np.eye(n)
    additive = np.append(weights.curve, weights.line)
    for owner, f in zip(inputs.function_owner, inputs.functions.T, strict=True):
        K += additive[owner] * np.outer(f, f)
    return K


@pytest.mark.parametrize("uneven", [False, True])
def test_value_and_left_out_rows_are_those_of_the_definition(uneven):
    inputs, weights, y = example()
    spread = np.linspace(0.5, 2, len(y)) if uneven else np.ones(len(y))
    K = covariance(inputs, weights, spread)
    process = Process(inputs, y, spread if uneven else None)
    expected = -y @ np.linalg.solve(K, y) / 2 - np.linalg.slogdet(K)[1] / 2
    found = process.evaluate(weights)
    assert found.value == pytest.approx(expected)
    assert process.value(weights) == pytest.approx(expected)
    others = np.arange(1, len(y))
    predicted = K[0, others] @ np.linalg.solve(K[np.ix_(others, others)], y[others])
    assert found.left_out[0] == pytest.approx(y[0] - predicted)


@pytest.mark.parametrize("uneven", [False, True])
def test_gradient_is_that_of_the_value(uneven):
    inputs, weights, y = example()
    process = Process(inputs, y, np.linspace(0.5, 2, len(y)) if uneven else None)
    flat = np.concatenate([[weights.joint, np.log(weights.noise)], weights.within, weights.curve, weights.line])

    def value(vector):
        within, curve, line = vector[2:].reshape(3, -1)
        return process.value(Weights(vector[0], np.exp(vector[1]), within, curve, line))

    step = 1e-6 * np.eye(len(flat))
    expected = [(value(flat + h) - value(flat - h)) / 2e-6 for h in step]
    np.testing.assert_allclose(process.evaluate(weights).gradient, expected, rtol=1e-5, atol=1e-5)


def test_single_precision_agrees_with_double():
    inputs, weights, y = example(400)
    single, _, _ = example(400, np.float32)
    exact, found = Process(inputs, y).evaluate(weights), Process(single, y).evaluate(weights)
    assert found.left_out.dtype == np.float32
    assert found.value == pytest.approx(exact.value, abs=1e-2)
    np.testing.assert_allclose(found.gradient, exact.gradient, atol=1e-3 * np.abs(exact.gradient).max())


def test_some_candidates_are_the_others_at_weight_zero():
    inputs, weights, y = example()
    kept = np.array([0, 2])
    without = weights._replace(**{name: getattr(weights, name) * [1, 0, 1] for name in ("within", "curve", "line")})
    smaller = Process(inputs.of(kept), y).evaluate(weights.of(kept))
    whole = Process(inputs, y).evaluate(without)
    assert smaller.value == pytest.approx(whole.value)
    places = np.r_[0, 1, 2 + kept, 5 + kept, 8 + kept]
    np.testing.assert_allclose(smaller.gradient, whole.gradient[places])


def test_weights_that_rounding_makes_impossible_are_infinitely_bad():
    x = np.ones((50, 1), np.float32)
    process = Process(Inputs(1, x, np.zeros(1, int), x, np.zeros(1, int)), x[:, 0])
    none = Weights(1.0, 0.0, np.zeros(1), np.ones(1), np.zeros(1))
    assert process.value(none) == -np.inf
    assert process.evaluate(none).value == -np.inf


def test_vector_and_back():
    _, weights, _ = example()
    back = Weights.of_vector(weights.vector())
    np.testing.assert_allclose(back.vector(), weights.vector())
    assert back.noise == pytest.approx(weights.noise)

import numpy as np
import pytest

from sartre.process.fits import ProcessFits, even_weights, lifted
from sartre.process.likelihood import Inputs
from sartre.process.spread import row_variances


def fits_of(X, y, spread=None):
    p = X.shape[1]
    inputs = Inputs(p, np.asfortranarray(X), np.arange(p), np.asfortranarray(X), p + np.arange(p))
    return ProcessFits(inputs, (y - y.mean()) / y.std(), spread)


def joint_example(n=300, p=6, seed=0):
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(n, p))
    return X, np.sin(2 * X[:, 0]) * X[:, 1] * np.cos(X[:, 2]) + rng.normal(size=n) / 5


def test_a_joint_function_of_three_is_found():
    X, y = joint_example()
    fits = fits_of(X, y)
    whole = fits.fit(np.arange(6), even_weights(6), 25)
    assert fits.eliminated(whole, price=5.0).candidates.tolist() == [0, 1, 2]


def test_nothing_is_found_in_noise_and_required_candidates_stay():
    X = np.random.default_rng(1).normal(size=(300, 5))
    fits = fits_of(X, np.random.default_rng(2).normal(size=300))
    whole = fits.fit(np.arange(5), even_weights(5), 25)
    empty = fits.eliminated(whole, price=5.0)
    assert len(empty.candidates) == 0
    assert empty.value == pytest.approx(fits.null().value)
    assert fits.eliminated(whole, price=5.0, required=[3]).candidates.tolist() == [3]


def test_a_fit_is_no_worse_than_its_start_and_keeps_its_best():
    X, y = joint_example()
    fits = fits_of(X, y)
    start = even_weights(6)
    before = fits.fit(np.arange(6), start, 0)
    after = fits.fit(np.arange(6), start, 20)
    assert after.value > before.value + 10
    again = fits.fit(np.arange(6), after.weights, 5)
    assert again.value >= after.value - 1e-6


def test_null_process_is_the_limit_of_no_weights():
    X, y = joint_example()
    for spread in (None, np.linspace(0.5, 2.0, len(y))):
        fits = fits_of(X, y, spread)
        null = fits.null()
        nothing = even_weights(1)._replace(joint=0.0, noise=null.weights.noise, curve=np.zeros(1), line=np.zeros(1))
        assert null.value == pytest.approx(fits.fit(np.arange(1), nothing, 0).value)


def test_loss_without_is_that_of_the_smaller_process():
    X, y = joint_example()
    fits = fits_of(X, y)
    whole = fits.fit(np.arange(3), even_weights(3), 20)
    losses = fits.losses(whole, {})
    assert losses[1] == pytest.approx(whole.value - fits.without(whole, 1).value)
    assert (losses > 20).all()


def test_lifted_weights_leave_zero_and_keep_the_rest():
    weights = even_weights(2)._replace(within=np.array([0.0, 3.0]), line=np.zeros(2))
    up = lifted(weights)
    assert up.within[0] > 0
    assert up.within[1] == 3.0
    assert (up.line > 0).all()


def test_spread_follows_the_column_that_it_depends_on():
    rng = np.random.default_rng(0)
    X = rng.normal(size=(2000, 4))
    spread = 0.3 + 1 / (1 + np.exp(-2 * X[:, 2]))
    found = row_variances(rng.normal(size=2000) * spread, X)
    assert found is not None
    assert np.exp(np.log(found).mean()) == pytest.approx(1.0)
    assert np.corrcoef(np.sqrt(found), spread)[0, 1] > 0.9


def test_even_noise_has_no_spread():
    reported = 0
    for seed in range(40):
        rng = np.random.default_rng(seed)
        reported += row_variances(rng.normal(size=300), rng.normal(size=(300, 5))) is not None
    assert reported <= 1


def test_weights_that_rounding_makes_impossible_are_given_up():
    """Copies of a column, a target that is one of them, and single precision."""
    x = np.random.default_rng(0).normal(size=200).astype(np.float32)
    X = np.asfortranarray(np.column_stack([x, x, x]))
    fits = ProcessFits(Inputs(3, X, np.arange(3), 1e4 * X, 3 + np.arange(3)), x)
    start = even_weights(3)._replace(line=np.full(3, 1e6))
    whole = fits.fit(np.arange(3), start, 10)
    assert len(whole.candidates) == 3
    assert len(fits.eliminated(whole, price=5.0).candidates) <= 3

"""Certificates: no edge of a null table, e-values of mean one, strong edges, and the same result for the same seed."""

from __future__ import annotations

import numpy as np
import pandas as pd
import pytest
from hypothesis import given
from hypothesis import strategies as st
from sklearn.base import clone

from sartre import CausalDiscovery, Knowledge, certify
from sartre.additive.added_value import added_value, e_value, held_rows
from sartre.evidence.certificates import halves
from sartre.evidence.e_bh import e_bh
from sartre.order import SCORE, FixedOrder
from sartre.prune import SARTRE, CAMPruning


def chain(n, seed=0):
    rng = np.random.default_rng(seed)
    a, b, c, d = rng.normal(size=(4, n))
    b = np.sin(2 * a) + b / 2
    c = b**2 + c / 2
    return pd.DataFrame({"c": c, "a": a, "d": d, "b": b})


MODEL = CausalDiscovery(order=FixedOrder(["a", "b", "c", "d"]), prune=SARTRE())
TABLE = chain(400)


@pytest.fixture(scope="module")
def certified():
    return certify(MODEL, TABLE, n_splits=3, random_state=0)


def statements(found, *, certified=True):
    edges = found.edges[found.edges["certified"]] if certified else found.edges
    return set(zip(edges["source"], edges["target"], strict=True))


# e-values


def noise_of(kind, z, rng):
    n = len(z)
    return {
        "gaussian": rng.normal(size=n),
        "t3": rng.standard_t(3, size=n),
        "skewed": rng.exponential(size=n) - 1,
        "heteroscedastic": rng.normal(size=n) * np.exp(z / 2),
    }[kind]


@pytest.mark.parametrize("kind", ["gaussian", "t3", "skewed", "heteroscedastic"])
def test_the_e_value_of_a_false_statement_has_mean_at_most_one(kind):
    values = []
    for seed in range(300):
        rng = np.random.default_rng(seed)
        z, w = rng.normal(size=(2, 300))
        x, y = np.sin(2 * z) + noise_of(kind, z, rng) / 2, z**2 + w + noise_of(kind, z, rng)
        rows = held_rows(np.column_stack([z, w, x, y]))
        values.append(min(e_value(added_value(rows, 3, np.tanh(x), [0, 1], [0, 1])), 100.0))
    error = np.std(values) / np.sqrt(len(values))
    assert np.mean(values) < 1 + 3 * error
    assert np.mean(np.array(values) > 20) <= 0.03  # Markov's inequality allows 0.05


def test_an_interaction_of_others_is_no_effect_of_a_variable_that_shares_it():
    statistics = []
    for seed in range(40):
        a, b, x, y = np.random.default_rng(seed).normal(size=(4, 500))
        x, y = a * b + x, a * b + y
        rows = held_rows(np.column_stack([a, b, x, y]))
        statistics.append([added_value(rows, 3, x, [0, 1], acting) for acting in ([0, 1], [])])
    with_pair, without = np.mean(statistics, axis=0)
    assert abs(with_pair) < 0.5
    assert without > 3


def test_a_copy_of_another_predecessor_adds_nothing():
    z, y = np.random.default_rng(0).normal(size=(2, 300))
    rows = held_rows(np.column_stack([z, z, z + y]))
    assert abs(added_value(rows, 2, z, [0], [])) < 3
    assert added_value(rows, 2, np.ones(300), [0], []) == 0
    assert added_value(rows, 2, z, [], []) > 5


def test_the_statistic_depends_on_no_unit_and_changes_sign_with_the_effect():
    z, x, y = np.random.default_rng(0).normal(size=(3, 300))
    y += x / 5
    plain = added_value(held_rows(np.column_stack([z, y])), 1, x, [0], [])
    other = added_value(held_rows(np.column_stack([5 * z + 1, 100 * y - 3])), 1, -7 * x, [0], [])
    assert other == pytest.approx(-plain)


def test_an_e_value_of_many_rows_does_not_overflow():
    assert np.isfinite(e_value(1e4))
    assert e_value(3.0) == pytest.approx(np.exp(2.5 * 3 - 2.5**2 / 2))


# e-BH


@pytest.mark.parametrize(
    ("values", "m", "fdr", "expected"),
    [
        ([60.0, 16.0, 26.0], 5, 0.1, [True, False, True]),  # 5 / (0.1 * 2) = 25, 5 / (0.1 * 3) > 16
        ([49.9, 24.9, 16.7], 5, 0.1, [True, True, True]),  # all three or none: 5 / (0.1 * 3) < 16.7
        ([49.9, 24.9, 16.6], 5, 0.1, [False, False, False]),
        ([], 0, 0.1, []),
    ],
)
def test_e_bh_by_hand(values, m, fdr, expected):
    assert e_bh(values, m, fdr).tolist() == expected


@given(st.lists(st.integers(0, 200), min_size=1, max_size=12), st.sampled_from([0.5, 0.25]))
def test_e_bh_rejects_the_largest_k_that_are_large_enough(values, fdr):
    m = len(values)
    sizes = [k for k in range(1, m + 1) if sum(value * fdr * k >= m for value in values) >= k]
    rejected = e_bh(values, m, fdr)
    assert rejected.sum() == max(sizes, default=0)
    assert min(np.array(values)[rejected], default=200) >= max(np.array(values)[~rejected], default=0)


# Statements


def test_independent_columns_have_no_certified_edge():
    X = np.random.default_rng(0).standard_t(3, size=(500, 6))
    found = certify(CausalDiscovery(order=FixedOrder(range(6))), X, n_splits=3, random_state=0)
    assert not found.edges["certified"].any()


def test_among_many_false_candidates_hardly_one_table_in_ten_has_a_certified_edge():
    loose = CausalDiscovery(order=FixedOrder(range(5)), prune=CAMPruning(alpha=0.5))
    wrong = 0
    for seed in range(20):
        X = np.random.default_rng(seed).standard_t(3, size=(300, 5))
        found = certify(loose, X, n_splits=2, random_state=seed)
        assert len(found.edges) >= 3
        wrong += found.edges["certified"].any()
    assert wrong <= 5  # with probability 0.99 if one in ten is wrong


def test_strong_edges_are_certified_and_others_are_not(certified):
    assert statements(certified) == {("a", "b"), ("b", "c")}
    assert certified.order == ["a", "b", "c", "d"]


def test_a_learnt_order_is_learnt_on_rows_that_test_nothing():
    found = certify(CausalDiscovery(order=SCORE(), prune=SARTRE()), TABLE, n_splits=2, random_state=0)
    place = {name: k for k, name in enumerate(found.order)}
    assert statements(found)
    assert all(place[a] < place[b] for a, b in statements(found, certified=False))
    seen = np.arange(0, 300, 3)
    for number in range(5):
        first, second = halves(300, seen, 0, number)
        assert not np.isin(seen, second).any()
        assert np.array_equal(np.sort(np.append(first, second)), np.arange(300))


def test_a_stricter_rate_certifies_no_more(certified):
    strict = certify(MODEL, TABLE, fdr=1e-9, n_splits=3, random_state=0)
    assert statements(strict) <= statements(certified)
    pd.testing.assert_series_equal(strict.edges["e_value"], certified.edges["e_value"])


def test_knowledge_is_obeyed():
    known = CausalDiscovery(
        order=FixedOrder(["a", "b", "c", "d"]), knowledge=Knowledge(forbidden=[("a", "b")], required=[("a", "d")])
    )
    tested = statements(certify(known, TABLE, n_splits=2, random_state=0), certified=False)
    assert ("a", "b") not in tested
    assert ("a", "d") in tested


def test_rows_with_missing_values_are_dropped_if_the_model_says_so():
    holes = TABLE.mask(TABLE > 3)
    with pytest.warns(UserWarning, match="rows were left out"):
        found = certify(clone(MODEL).set_params(missing="drop"), holes, n_splits=2, random_state=0)
    pd.testing.assert_frame_equal(found.edges, certify(MODEL, holes.dropna(), n_splits=2, random_state=0).edges)


def test_nothing_is_certified_where_rows_depend_on_each_other():
    rng = np.random.default_rng(0)
    series = np.zeros((600, 3))
    for t in range(1, 600):
        series[t] = 0.8 * series[t - 1] + rng.normal(size=3)
    series[:, 1] += series[:, 0]
    with pytest.warns(UserWarning, match="Neighbouring rows are correlated"):
        found = certify(CausalDiscovery(FixedOrder([0, 1, 2])), series, n_splits=2, random_state=0)
    assert (found.edges["e_value"] > 1e6).any()
    assert not found.edges["certified"].any()
    assert "Nothing is certified, because the tests need independent rows. Neighbouring rows are" in repr(found)
    assert "at most" not in found.promise


def test_without_a_certified_statement_nothing_is_promised():
    X = np.random.default_rng(0).normal(size=(300, 3))
    found = certify(CausalDiscovery(order=FixedOrder(range(3))), X, n_splits=2, random_state=0)
    assert found.promise.startswith("No statement is certified at a false discovery rate of 10 %")
    assert found.edges["source"].dtype == found.edges["target"].dtype == object


# Reproducible


def test_the_same_seed_gives_the_same_result_for_any_number_of_processes(certified):
    again = certify(MODEL, TABLE, n_splits=3, n_jobs=2, random_state=0)
    pd.testing.assert_frame_equal(again.edges, certified.edges)


def test_permuting_columns_permutes_the_result(certified):
    other = certify(MODEL, TABLE[["b", "d", "c", "a"]], n_splits=3, random_state=0)
    pd.testing.assert_frame_equal(other.edges, certified.edges)


def test_the_model_is_not_changed_and_the_promise_is_printed(certified):
    assert not hasattr(MODEL, "graph_")
    text = repr(certified)
    assert text.startswith("Certificates: 2 of ")
    assert "at most 10 % are false in expectation" in text


# Errors


@pytest.mark.parametrize(
    ("table", "arguments", "message"),
    [
        (TABLE, {"fdr": 0.0}, r"'fdr' parameter of certify must be a float in the range \(0.0, 1.0\). Got 0.0"),
        (TABLE, {"fdr": 1}, r"'fdr' parameter of certify must be a float in the range \(0.0, 1.0\). Got 1"),
        (TABLE, {"n_splits": 0}, "'n_splits' parameter of certify"),
        (TABLE.head(99), {}, "at least 100 rows for 4 columns.* Got 99. Provide more rows"),
        (TABLE.assign(e=["u", "v"] * 200), {}, "certify needs numeric columns. Got categories in e. Leave"),
        (TABLE.mask(TABLE > 3), {}, "rows without missing values. Got missing values in c.* missing='drop'"),
    ],
)
def test_what_cannot_be_certified_is_refused(table, arguments, message):
    with pytest.raises(ValueError, match=message):
        certify(CausalDiscovery(), table, **arguments)


@pytest.mark.parametrize("missing", ["impute", "bin"])
def test_imputed_values_are_not_tested(missing):
    with pytest.raises(ValueError, match="Tests that treat imputed values as measured have no error rate"):
        certify(clone(MODEL).set_params(missing=missing), TABLE.mask(TABLE > 3))


@pytest.mark.parametrize("model", [SARTRE(), CausalDiscovery, None])
def test_a_step_is_no_model(model):
    with pytest.raises(TypeError, match="'model' parameter of certify must be a CausalDiscovery"):
        certify(model, TABLE)

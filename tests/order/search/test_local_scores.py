"""Local scores: the tree agrees with least squares on the rows, and scores do not depend on the path."""

from __future__ import annotations

from itertools import combinations
from math import log

import numpy as np
import pytest

from sartre.additive.bases.rank_polynomials import rank_polynomials
from sartre.order.search import blocks as blocks_module
from sartre.order.search import local_scores
from sartre.order.search.blocks import BEND_RIDGE, LEAST_RIDGE, LINE, PAIR, block_functions, pair_statistics
from sartre.order.search.local_scores import LEAST_VARIANCE, LocalScores, Prices


def standardised(X):
    return np.asfortranarray((X - X.mean(axis=0)) / X.std(axis=0))


@pytest.fixture(scope="module")
def table():
    rng = np.random.default_rng(0)
    a, b, c = rng.normal(size=(3, 400))
    e = np.sin(2 * a) + b * c + rng.normal(size=400) / 2
    f = np.round(e) + a**2 + rng.normal(size=400)
    g = rng.integers(0, 2, 400) + e
    return standardised(np.column_stack([f, a, e, c, g, b]))


def block_products(X):
    return blocks_module.block_products(X, block_functions(X))


def scores_of(X, **settings):
    return LocalScores(block_products(X), **settings)


def slow_score(blocks, target, inside):
    """Select blocks forward and then backward, solving the normal equations again for every block at every step."""
    gram = blocks.gram
    n, d = gram.n, gram.cross.shape[1]
    columns = [np.arange(s, s + k) for s, k in zip(gram.start, gram.rank, strict=True)]

    def left(taken):
        if not taken:
            return 1.0
        rows = np.concatenate([columns[b] for b in taken])
        c = gram.cross[rows, target]
        return 1 - c @ np.linalg.solve(gram.matrix[np.ix_(rows, rows)], c)

    def price(b):
        kinds = d * (d - 1) / 2 if blocks.kind[b] == PAIR else d
        return ((1.0 if blocks.kind[b] == LINE else 0.5) * gram.rank[b] * log(n) + log(kinds)) / n

    open_ = [b for b in np.flatnonzero(blocks.offered[:, target]) if {blocks.first[b], blocks.second[b]} <= inside]
    taken, variance, total = [], 1.0, 0.0
    while True:
        rest = [b for b in open_ if b not in taken]
        gain = [log(variance) - log(max(left([*taken, b]), LEAST_VARIANCE)) - price(b) for b in rest]
        if not rest or max(gain) <= 0:
            break
        taken.append(rest[int(np.argmax(gain))])
        variance, total = max(left(taken), LEAST_VARIANCE), total + price(taken[-1])
    while taken:
        without = [[b for b in taken if b != dropped] for dropped in taken]
        gain = [log(variance) - log(left(rest)) + price(b) for b, rest in zip(taken, without, strict=True)]
        if max(gain) <= 0:
            break
        worst = int(np.argmax(gain))
        total, taken = total - price(taken[worst]), without[worst]
        variance = left(taken)
    return log(variance) + total, {v for b in taken for v in (blocks.first[b], blocks.second[b])}


def bits(variables):
    return sum(1 << v for v in variables)


def test_every_score_is_that_of_selection_on_the_normal_equations(table):
    blocks, scores = block_products(table), scores_of(table)
    rng = np.random.default_rng(1)
    for _ in range(40):
        target, *others = rng.permutation(6).tolist()
        inside = set(others[: rng.integers(0, 6)])
        value, used = slow_score(blocks, target, inside)
        found = scores(target, bits(inside))
        assert found.value == pytest.approx(value, abs=1e-9)
        assert found.used == bits(used)


def test_the_residual_variance_is_that_of_ridge_regression_on_the_rows(table):
    """Build two smooths by hand from the rows: computing all inner products at once loses nothing."""
    gram = block_products(table).gram
    rows = np.r_[gram.start[1] : gram.start[1] + 8, gram.start[3] : gram.start[3] + 8]  # lines and curves
    c = gram.cross[rows, 2]
    expected = 1 - c @ np.linalg.solve(gram.matrix[np.ix_(rows, rows)], c)
    design = blocks_module.prepare(table, [blocks_module.spline(table[:, j], 9).basis() for j in range(6)])
    functions = np.hstack([design.table(j)[design.codes[j]] for j in (1, 3)])
    functions[:, [0, 8]] = table[:, [1, 3]]  # the lines are not those of the bins
    roughness = np.concatenate([design.roughness[design.spectrum_start[j] :][:8] for j in (1, 3)])
    ridge = np.sqrt(len(table) * (BEND_RIDGE * roughness + LEAST_RIDGE))
    stacked, y = np.vstack([functions, np.diag(ridge)]), np.concatenate([table[:, 2], np.zeros(16)])
    residual = y - stacked @ np.linalg.lstsq(stacked, y, rcond=None)[0]
    assert expected == pytest.approx(residual @ residual / len(table), rel=1e-9)


def test_what_was_asked_before_changes_no_score(table, monkeypatch):
    sets = [(t, bits(s)) for t in range(6) for k in range(6) for s in combinations([v for v in range(6) if v != t], k)]
    plain = scores_of(table)
    forward = {key: plain(*key) for key in sets}
    other = scores_of(table)
    assert {key: other(*key) for key in reversed(sets)} == forward
    monkeypatch.setattr(local_scores, "MAX_BYTES", 10_000)  # the cache discards trees all the time
    forgetful = scores_of(table)
    assert {key: forgetful(*key) for key in sets} == forward


def test_sets_that_differ_in_variables_of_no_account_are_walked_once(monkeypatch):
    rng = np.random.default_rng(3)
    X = rng.normal(size=(300, 20))
    X[:, 0] += np.sin(2 * X[:, 1]) + X[:, 2] * X[:, 3]
    X = standardised(X)
    walks = []
    walk = local_scores._Tree.walk
    monkeypatch.setattr(local_scores._Tree, "walk", lambda tree, inside: walks.append(inside) or walk(tree, inside))
    blocks, scores = block_products(X), scores_of(X)
    for _ in range(60):
        inside = {1, 2, 3} | set(rng.choice(np.arange(4, 20), 8, replace=False).tolist())
        value, used = slow_score(blocks, 0, inside)
        found = scores(0, bits(inside))
        assert (found.value, found.used) == (pytest.approx(value, abs=1e-9), bits(used))
    assert 1 <= len(walks) < 20


def test_variables_that_were_not_used_do_not_matter(table):
    scores = scores_of(table)
    for target in range(6):
        everything = bits(set(range(6)) - {target})
        local = scores(target, everything)
        assert scores(target, local.used) == local
        for v in range(6):
            if everything >> v & 1 and not local.used >> v & 1:
                assert scores(target, everything & ~(1 << v)) == local


def test_a_product_is_found_where_neither_variable_acts_alone(table):
    local = scores_of(table)(2, bits([1, 3, 5]))
    assert local.used == bits([1, 3, 5])
    assert local.variance < 0.35
    assert scores_of(table)(2, bits([5])).used == 0


def test_exactly_dependent_columns_have_a_finite_score():
    x, y = np.random.default_rng(0).normal(size=(2, 100))
    scores = scores_of(standardised(np.column_stack([x, x, y, x + y])))
    assert log(LEAST_VARIANCE) <= scores(0, 0b0010).value < -8
    assert log(LEAST_VARIANCE) <= scores(3, 0b0101).value < -8
    assert scores(3, 0b0111).value == pytest.approx(scores(3, 0b0101).value, abs=1e-9)


def test_no_more_functions_are_fitted_than_a_third_of_the_rows():
    rng = np.random.default_rng(0)
    X = standardised(rng.normal(size=(30, 12)))
    X[:, 0] = standardised(X[:, 1:].sum(axis=1, keepdims=True))[:, 0]
    local = scores_of(X)(0, bits(range(1, 12)))
    assert sum(block_products(X).gram.rank[list(local.blocks)]) <= 10


def test_pairs_are_offered_to_the_targets_that_they_explain(table, monkeypatch):
    monkeypatch.setattr(blocks_module, "PAIRS", 2)
    blocks = block_products(table)
    pairs = {
        (int(a), int(b))
        for a, b in zip(blocks.first[blocks.offered[:, 2]], blocks.second[blocks.offered[:, 2]], strict=True)
    }
    assert (3, 5) in pairs
    is_pair = blocks.kind == PAIR
    assert (blocks.offered[is_pair].sum(axis=0) <= 2).all()
    monkeypatch.setattr(blocks_module, "MAX_FUNCTIONS", blocks.gram.rank[~is_pair].sum() + 4)
    fewer = block_products(table)
    assert (fewer.kind == PAIR).sum() == 1  # only one pair fits, the strongest of all
    np.testing.assert_allclose(fewer.gram.matrix[:20, :20], blocks.gram.matrix[:20, :20])


def test_the_statistic_of_a_pair_is_a_regression_on_the_rows(table):
    design = blocks_module.prepare(table, [blocks_module.spline(table[:, j], 9).basis() for j in range(6)])
    smooths = [design.table(j)[design.codes[j]] for j in range(6)]
    P = rank_polynomials(table)[:, :, :2].transpose(0, 2, 1).copy()
    share = np.concatenate(list(pair_statistics(table, smooths, P)))
    place = [*zip(*np.triu_indices(6, 1), strict=True)].index((1, 3))
    Z = (P[1][:, None] * P[3]).reshape(4, -1).T
    own = np.column_stack([np.ones(400), smooths[1], smooths[3]])
    Z = Z - own @ np.linalg.lstsq(own, Z, rcond=None)[0]
    fitted = Z @ np.linalg.lstsq(Z, table[:, 2], rcond=None)[0]
    assert share[place, 2] == pytest.approx(fitted @ fitted / 400, rel=1e-2)  # there is a small ridge
    assert share[place, 1] == share[place, 3] == 0


def test_a_line_has_its_own_price():
    rng = np.random.default_rng(0)
    x = rng.normal(size=400)
    X = standardised(np.column_stack([x, x + 2 * rng.normal(size=400)]))
    local = scores_of(X)(1, 0b01)
    assert block_products(X).kind[list(local.blocks)].tolist() == [LINE]
    assert local.value - log(local.variance) == pytest.approx((log(400) + log(2)) / 400)
    dear = scores_of(X, prices=Prices(line=1.0, function=0.5, line_choice=2.0, choice=1.0))(1, 0b01)
    assert dear.value - local.value == pytest.approx(log(2) / 400)
    assert scores_of(X, prices=Prices(line=100.0, function=100.0, line_choice=1.0, choice=1.0))(1, 0b01).blocks == ()


def test_reversing_a_line_between_two_normal_variables_costs_nothing():
    rng = np.random.default_rng(0)
    a = rng.normal(size=1000)
    b = a + rng.normal(size=1000)
    scores = scores_of(standardised(np.column_stack([a, b, b + rng.normal(size=1000)])))
    first, second = (
        sum(scores(v, inside).value for v, inside in order)
        for order in ([(0, 0), (1, 0b001), (2, 0b011)], [(2, 0), (1, 0b100), (0, 0b110)])
    )
    assert first == pytest.approx(second, abs=1e-7)


def test_a_block_that_became_useless_is_dropped():
    """The proxy is taken first, as it says most; with both causes taken it says nothing more."""
    rng = np.random.default_rng(0)
    a, b = rng.normal(size=(2, 2000))
    X = standardised(np.column_stack([a, b, a + b + 0.5 * rng.normal(size=2000), a + b + 0.1 * rng.normal(size=2000)]))
    assert scores_of(X)(3, 0b0100).used == 0b0100
    assert scores_of(X)(3, 0b0111).used == 0b0011


def test_blocks_have_one_score_however_they_were_found():
    """Near the smallest variance too, where the model that was grown is better than the smallest variance."""
    x = np.random.default_rng(0).normal(size=(1000, 4))
    total, noise = x[:, 0] + x[:, 1], 1e-3 * x[:, 2:]
    X = np.column_stack([x[:, 0], x[:, 1], total + noise[:, 0], total, x[:, 0] - x[:, 1] + noise[:, 1]])
    scores, seen = scores_of(standardised(X)), {}
    for inside in range(16):
        local = scores(4, inside)
        assert seen.setdefault(local.blocks, local.value) == pytest.approx(local.value, abs=1e-3)

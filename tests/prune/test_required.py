"""Required edges are kept whatever the tests say, and change nothing else."""

from __future__ import annotations

import numpy as np
import pandas as pd
import pytest
from sklearn.base import BaseEstimator

from sartre.prune import DAS, SARTRE, CAMPruning
from sartre.prune.cam import adjusted

PRUNERS = {
    "cam": CAMPruning(),
    "das": DAS(min_parents=0, max_parents=1),
    "sartre": SARTRE(random_state=0),
    "paper": SARTRE(penalty=0.3, random_state=0),
}


@pytest.fixture(scope="module")
def data():
    rng = np.random.default_rng(0)
    values = rng.normal(size=(200, 5))
    values[:, 3] += 2 * np.sin(2 * values[:, 0])
    values[:, 4] += 2 * np.cos(2 * values[:, 3])
    return values


def edges(d, *pairs):
    mask = np.zeros((d, d), dtype=bool)
    for parent, child in pairs:
        mask[parent, child] = True
    return mask


@pytest.mark.parametrize("pruner", PRUNERS.values(), ids=PRUNERS)
def test_a_required_edge_without_effect_stays(data, pruner):
    required = edges(5, (1, 2), (2, 4))
    fitted = pruner.fit(data, range(5), required=required)
    assert (fitted.adjacency_matrix_[required] == 1).all()
    pairs = set(fitted.edges_[["source", "target"]].itertuples(index=False, name=None))
    assert {("x1", "x2"), ("x2", "x4"), ("x0", "x3")} <= pairs
    assert len(pairs) == fitted.adjacency_matrix_.sum()


def test_what_is_measured_of_an_edge_does_not_depend_on_its_being_required(data):
    free = CAMPruning(alpha=1.0).fit(data, range(5))
    forced = CAMPruning(alpha=1.0).fit(data, range(5), required=edges(5, (2, 4), (3, 4)))
    np.testing.assert_allclose(forced.p_values_, free.p_values_, rtol=1e-4, atol=1e-12)
    keys = ["source", "target"]
    pd.testing.assert_frame_equal(
        forced.edges_.sort_values(keys, ignore_index=True),
        free.edges_.sort_values(keys, ignore_index=True),
        rtol=1e-4,
        atol=1e-12,
    )


def test_a_correction_is_over_the_edges_that_are_decided(data):
    required = edges(5, (0, 3), (1, 2))
    raw = CAMPruning().fit(data, range(5), required=required).p_values_
    holm = CAMPruning(adjust="holm").fit(data, range(5), required=required).p_values_
    np.testing.assert_array_equal(holm[required], raw[required])
    np.testing.assert_array_equal(holm[~required], adjusted(raw[~required], "holm"))


@pytest.mark.parametrize("pruner", PRUNERS.values(), ids=PRUNERS)
def test_a_required_edge_against_the_order_or_the_candidates_is_refused(data, pruner):
    with pytest.raises(ValueError, match=r"x4 -> x1 is required, but the order does not have x4 before x1"):
        pruner.fit(data, range(5), required=edges(5, (4, 1)))
    with pytest.raises(ValueError, match=r"x1 -> x4 is required, but 'candidates' excludes it"):
        pruner.fit(data, range(5), candidates=~edges(5, (1, 4)), required=edges(5, (1, 4)))
    with pytest.raises(ValueError, match=r"'required' must be a \(5, 5\) matrix of booleans"):
        pruner.fit(data, range(5), required=np.zeros((2, 2)))


@pytest.mark.filterwarnings("ignore:Constant columns")
@pytest.mark.parametrize("pruner", PRUNERS.values(), ids=PRUNERS)
def test_an_edge_of_a_constant_column_stays_unmeasured(data, pruner):
    flat = data.copy()
    flat[:, 1] = 7.0
    fitted = pruner.fit(flat, range(5), required=edges(5, (0, 1), (1, 4)))
    table = fitted.edges_.set_index(["source", "target"])
    assert table.loc[[("x0", "x1"), ("x1", "x4")], ["strength", "p_value"]].isna().all(axis=None)
    assert table.loc[("x0", "x3"), "strength"] > 0.1


@pytest.mark.filterwarnings("ignore:Duplicated columns")
def test_of_two_copies_the_required_one_is_the_cause(data):
    twice = data[:, [0, 0, 3]]
    fitted = CAMPruning().fit(twice, range(3), candidates=~edges(3, (0, 1)), required=edges(3, (1, 2)))
    assert fitted.adjacency_matrix_[:, 2].tolist() == [0, 1, 0]
    assert fitted.p_values_[1, 2] < 1e-6
    assert fitted.p_values_[0, 2] == 1


@pytest.mark.filterwarnings("ignore:There are few samples", "ignore:There are too many candidates")
def test_no_lack_of_samples_leaves_a_required_parent_untested():
    X = np.random.default_rng(1).normal(size=(20, 30))
    required = np.zeros((30, 30), dtype=bool)
    required[:6, 29] = True  # one more than n / 4
    fitted = CAMPruning().fit(X, range(30), required=required)
    assert not np.isnan(fitted.p_values_[:6, 29]).any()
    assert fitted.screened_[6:29, 29].all()


def test_a_pruner_inside_das_that_cannot_obey_is_refused(data):
    class Everything(BaseEstimator):
        def fit(self, X, order, candidates):  # noqa: ARG002
            self.adjacency_matrix_ = np.triu(np.ones((5, 5)), 1)
            self.edges_ = pd.DataFrame()
            return self

    DAS(prune=Everything()).fit(data, range(5))
    with pytest.raises(TypeError, match=r"Everything.fit must accept the argument 'required'"):
        DAS(prune=Everything()).fit(data, range(5), required=edges(5, (0, 1)))

"""The contracts between steps: tags, findings, fresh copies, and fits under constraints."""

from __future__ import annotations

import dataclasses
import inspect

import numpy as np
import pandas as pd
import pytest
from sklearn.base import BaseEstimator
from sklearn.ensemble import RandomForestRegressor

import sartre.order
import sartre.prune
from sartre import CausalDiscovery, Knowledge
from sartre.evidence.stability import stability
from sartre.order import RESIT, SCORE, FixedOrder, OrderSearch, VarianceSort
from sartre.order.caps import parent_score
from sartre.prune import DAS, SARTRE, CAMPruning, CaPSPruning
from sartre.steps import Cost, Findings, StepTags, findings_of, fit_within, fresh, tags_of

PUBLIC = [getattr(module, name) for module in (sartre.order, sartre.prune) for name in module.__all__]
STEPS = [step for step in PUBLIC if inspect.isclass(step) and hasattr(step, "fit")]


def with_defaults(step):
    """Return a step whose settings are the defaults; an order must be given."""
    return step([0, 1]) if step is FixedOrder else step()


class Foreign(BaseEstimator):
    """An orderer without tags that stores the arguments it was fitted with."""

    def __init__(self, depth=None, n_jobs=None):
        self.depth = depth
        self.n_jobs = n_jobs

    def fit(self, X, before="nothing"):
        self.seen_ = X, before
        self.order_ = np.arange(np.shape(X)[1])
        return self


class Anything(BaseEstimator):
    """A pruner that accepts any arguments."""

    def fit(self, X, order, **constraints):
        self.constraints_ = constraints
        self.adjacency_matrix_ = np.zeros((len(order), len(order)), dtype=np.uint8)
        self.edges_ = pd.DataFrame(columns=["source", "target", "strength", "margin", "p_value"])
        self.rows_ = np.shape(X)[0]
        return self


# Tags


@pytest.mark.parametrize("step", STEPS, ids=lambda step: step.__name__)
def test_every_step_of_ours_has_tags_of_its_own_whatever_its_settings(step):
    assert isinstance(with_defaults(step).step_tags, StepTags)
    assert tags_of(with_defaults(step)) == with_defaults(step).step_tags


def test_a_step_without_tags_promises_nothing():
    tags = tags_of(Foreign())
    assert tags == StepTags()
    assert tags.costs is None  # unknown, which is not the same as none
    assert tags.counting_cost is None
    assert tags.learns_order
    assert (tags.needs_units, tags.takes_row_source, tags.runs_on_gpu) == (False, False, False)


def test_tags_follow_the_settings():
    assert not tags_of(SARTRE()).needs_units
    assert tags_of(SARTRE(penalty=0.1)).needs_units
    assert tags_of(SARTRE(penalty=0.1)).counting_cost is None
    assert tags_of(SCORE(max_samples=70)).costs == (Cost("SCORE", 70),)
    assert tags_of(SCORE(exact=True)).costs == (Cost("SCORE exact"),)
    assert tags_of(OrderSearch(VarianceSort())).costs == (
        Cost("VarianceSort", serial=True),
        Cost("OrderSearch", serial=True),
    )
    assert tags_of(OrderSearch(Foreign())).costs is None
    assert not tags_of(FixedOrder([0, 1])).learns_order


def test_tags_can_be_a_plain_attribute_and_cannot_be_changed():
    class Tagged(Foreign):
        step_tags = StepTags(needs_units=True, costs=())

    tags = tags_of(Tagged())
    assert tags.needs_units
    assert tags.costs == ()
    with pytest.raises(dataclasses.FrozenInstanceError):
        tags.needs_units = False
    with pytest.raises(TypeError, match="positional"):
        StepTags(True)  # noqa: FBT003 - by name only: nobody must know their order


def test_a_foreign_pruner_sees_a_table_and_never_a_survey(monkeypatch):
    monkeypatch.setattr("sartre.data.table.SAMPLE_ROWS", 50)
    X = np.random.default_rng(0).normal(size=(80, 3))
    model = CausalDiscovery(FixedOrder([0, 1, 2]), Anything()).fit(X)
    assert model.prune_step_.rows_ == 80
    assert model.rows_seen_ == {"order": 80, "prune": 80}
    with pytest.raises(TypeError, match=r"the tag 'takes_row_source' for fit_batches\. Got Anything\(\)"):
        CausalDiscovery(FixedOrder([0, 1, 2]), Anything()).fit_batches([X])


# Findings


def test_a_pruner_without_findings_has_found_nothing():
    findings = findings_of(Anything())
    assert findings == Findings(None, (), None, {}, {}, (), None)
    assert findings.pairs() == []
    assert findings_of(None) == findings


def test_findings_are_attributes_with_the_same_names():
    pruner = Anything()
    frame = pd.DataFrame({"target": ["y"], "p_value": [0.1], "second": ["b"], "first": ["a"]})
    pruner.interactions_, pruner.robust_targets_, pruner.false_edges_bound_ = frame, ["y"], 0.3
    pruner.rows_seen_, pruner.mechanisms_ = {"additive": 7}, {"y": "a mechanism"}
    pruner.notes_ = ["A sentence."]
    findings = findings_of(pruner)
    assert findings.interactions is frame
    assert findings[1:] == (["y"], 0.3, {"additive": 7}, {"y": "a mechanism"}, ["A sentence."], None)
    assert findings.pairs() == [("a", "b", "y")]  # by name, whatever the order of the columns


def test_every_finding_of_the_default_pruner_is_there_but_mechanisms():
    rng = np.random.default_rng(0)
    a, b = rng.normal(size=(2, 300))
    X = np.column_stack([a, b, a * b + rng.normal(size=300) / 5])
    fitted = SARTRE(random_state=0).fit(X, [0, 1, 2])
    findings = findings_of(fitted)
    assert findings.pairs() == [("x0", "x1", "x2")]
    assert findings.false_edges_bound == fitted.false_edges_bound_
    assert findings.robust_targets is fitted.robust_targets_
    assert findings.rows_seen == {"additive": 300, "interactions": 300, "robust": 300, "joint": 300}
    assert findings.mechanisms == {}
    assert findings_of(CAMPruning().fit(X, [0, 1, 2])) == findings_of(Anything())


# Fresh copies


def test_a_fresh_step_has_no_results_and_leaves_the_given_one_alone():
    given = Foreign(depth=3)
    given.fit(np.ones((2, 2)))
    copy = fresh(given, n_jobs=2)
    assert not hasattr(copy, "order_")
    assert (copy.depth, copy.n_jobs) == (3, 2)
    assert (given.depth, given.n_jobs) == (3, None)
    assert hasattr(given, "order_")


def test_settings_are_filled_in_at_any_depth_and_only_where_there_are_none():
    nested = OrderSearch(RESIT(RandomForestRegressor(random_state=5)), n_jobs=3)
    copy = fresh(nested, n_jobs=2, random_state=7)
    assert (copy.n_jobs, copy.random_state) == (3, 7)
    assert (copy.start.n_jobs, copy.start.random_state) == (2, 7)
    assert (copy.start.regressor.n_jobs, copy.start.regressor.random_state) == (2, 5)
    assert nested.start.n_jobs is None


def test_a_setting_that_a_step_does_not_have_is_ignored_and_none_stays_none():
    assert fresh(VarianceSort(), n_jobs=2, random_state=1).get_params() == {}
    assert fresh(Foreign(), random_state=1).get_params() == {"depth": None, "n_jobs": None}
    assert fresh(DAS(), n_jobs=None, random_state=None).prune is None


def test_false_and_zero_are_settings():
    assert fresh(Foreign(n_jobs=0), n_jobs=4).n_jobs == 0
    assert fresh(SARTRE(interactions=False, random_state=0), random_state=9, interactions=True).interactions is False


def test_anything_but_an_estimator_is_refused():
    with pytest.raises(TypeError, match="Cannot clone object"):
        fresh("SCORE")


# Fits under constraints


def test_constraints_that_are_none_are_not_handed_on():
    X = np.ones((3, 2))
    assert fit_within(Foreign(), X, before=None).seen_[1] == "nothing"
    assert fit_within(Foreign(), X, before=[[0, 1], [0, 0]]).seen_ == (X, [[0, 1], [0, 0]])
    assert fit_within(Foreign(), X, before=False, other=None).seen_[1] is False


def test_a_step_that_takes_anything_is_given_everything():
    assert fit_within(Anything(), np.ones((3, 2)), [0, 1], required="r", candidates=None).constraints_ == {
        "required": "r"
    }


def test_the_fitted_step_is_what_fit_returns():
    step = Foreign()
    assert fit_within(step, np.ones((3, 2))) is step


def test_a_step_that_cannot_obey_is_refused_by_name_before_it_is_fitted():
    step = Foreign()
    with pytest.raises(TypeError, match=r"Foreign\.fit must accept the argument 'required' .* only X, before"):
        fit_within(step, np.ones((3, 2)), required=np.zeros((2, 2)))
    assert not hasattr(step, "seen_")


def test_knowledge_reaches_foreign_steps_that_can_obey_and_stops_at_those_that_cannot():
    class Deaf(BaseEstimator):
        def fit(self, X):
            self.order_ = np.arange(np.shape(X)[1])
            return self

    X = np.random.default_rng(0).normal(size=(30, 3))
    known = Knowledge(required=[("x0", "x2")])
    with pytest.raises(ValueError, match="x0 -> x2"):  # it was given the knowledge and did not obey
        CausalDiscovery(Foreign(), Anything(), knowledge=known).fit(X)
    with pytest.raises(TypeError, match=r"Deaf\.fit must accept the argument 'before' to obey .* It accepts only X"):
        CausalDiscovery(Deaf(), Anything(), knowledge=known).fit(X)
    model = CausalDiscovery(Deaf(), Anything()).fit(X)
    assert model.prune_step_.constraints_ == {}
    forbidden = CausalDiscovery(Foreign(), Anything(), knowledge=Knowledge(forbidden=[("x0", "x1")])).fit(X)
    expected = np.ones((3, 3), dtype=bool)
    expected[0, 1] = False
    assert list(forbidden.prune_step_.constraints_) == ["candidates"]
    np.testing.assert_array_equal(forbidden.prune_step_.constraints_["candidates"], expected)


def test_what_the_pruner_inside_another_found_is_found():
    a, b, e = np.random.default_rng(0).normal(size=(3, 400))
    X = np.column_stack([a, b, a * b + e / 3])
    model = CausalDiscovery(FixedOrder([0, 1, 2]), DAS(prune=SARTRE()), random_state=0).fit(X)
    assert findings_of(model.prune_step_).pairs() == [("x0", "x1", "x2")]
    assert model.scm_.pairs == (("x0", "x1", "x2"),)
    assert findings_of(model.prune_step_).false_edges_bound is None  # the bound is not that of the filtered search


def test_a_step_that_does_not_set_what_it_must_is_refused_by_name():
    class Forgetful(BaseEstimator):
        def fit(self, X, order=None):  # noqa: ARG002
            return self

    X = np.random.default_rng(0).normal(size=(50, 2))
    with pytest.raises(TypeError, match=r"Forgetful\.fit must set 'order_'"):
        CausalDiscovery(order=Forgetful()).fit(X)
    with pytest.raises(TypeError, match=r"Forgetful\.fit must set 'adjacency_matrix_'"):
        CausalDiscovery(FixedOrder([0, 1]), Forgetful()).fit(X)


TABLE = np.random.default_rng(0).normal(size=(60, 3))
ESTIMATORS = [CausalDiscovery, *STEPS]


def refused(estimator, error, text):
    """Fit an estimator that must say this before it does any work."""
    order = [[0, 1, 2]] if estimator.__class__.__module__.startswith("sartre.prune") else []
    with pytest.raises(error, match=text):
        estimator.fit(TABLE, *order)


@pytest.mark.parametrize("step", [step for step in ESTIMATORS if "n_jobs" in inspect.signature(step).parameters])
@pytest.mark.parametrize(("n_jobs", "error"), [(0, ValueError), (1.5, TypeError), ("2", TypeError), (True, TypeError)])
def test_numbers_of_jobs_are_checked(step, n_jobs, error):
    text = rf"The 'n_jobs' parameter of {step.__name__} must be None or an int other than 0\. Got {n_jobs!r} instead\."
    refused(step(n_jobs=n_jobs), error, text)


def test_functions_check_their_jobs_too():
    for owner, call in (
        ("stability", lambda: stability(CausalDiscovery(), TABLE, n_jobs=0)),
        ("parent_score", lambda: parent_score(TABLE, n_jobs=0)),
    ):
        with pytest.raises(ValueError, match=rf"The 'n_jobs' parameter of {owner} must be"):
            call()


@pytest.mark.parametrize("step", [step for step in ESTIMATORS if "random_state" in inspect.signature(step).parameters])
@pytest.mark.parametrize(("seed", "error"), [(-1, ValueError), (1.5, TypeError), ([1], TypeError), (True, TypeError)])
def test_seeds_are_checked_whether_or_not_they_are_needed(step, seed, error):
    if step.__name__ == "DiffAN":
        pytest.importorskip("torch")
    refused(step(random_state=seed), error, rf"The 'random_state' parameter of {step.__name__} must be an int")


def test_a_generator_is_a_seed_and_checking_does_not_advance_it():
    generator = np.random.default_rng(0)
    SCORE(random_state=generator).fit(TABLE)
    assert generator.bytes(4) == np.random.default_rng(0).bytes(4)


@pytest.mark.parametrize("exact", ["x", 1, None])
def test_exact_is_true_or_false(exact):
    refused(SCORE(exact=exact), TypeError, rf"The 'exact' parameter of SCORE must be a bool\. Got {exact!r} instead\.")


@pytest.mark.parametrize("value", [["a", "b"], SCORE, "SCORE"])
def test_a_setting_that_holds_a_step_takes_nothing_else(value):
    known = r"must be an orderer such as SCORE\(\), or FixedOrder\(\[...\]\) for a known order\. Got "
    refused(CausalDiscovery(order=value), TypeError, f"The 'order' parameter of CausalDiscovery {known}")
    refused(OrderSearch(start=value), TypeError, f"The 'start' parameter of OrderSearch {known}")
    for outer in (CausalDiscovery, DAS, CaPSPruning):
        text = rf"The 'prune' parameter of {outer.__name__} must be a pruner such as SARTRE\(\)\. Got "
        refused(outer(prune=value), TypeError, text)
    with pytest.raises(TypeError, match="The 'order' parameter of CausalDiscovery"):
        CausalDiscovery(order=value).plan((100, 3))


def test_costs_that_were_not_measured_are_not_known():
    assert tags_of(OrderSearch(BaseEstimator())).costs is None
    assert tags_of(OrderSearch(effort="fast")).costs is not None

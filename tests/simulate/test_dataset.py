from __future__ import annotations

import copy
import pickle

import numpy as np
import pandas as pd
import pytest

from sartre import Dag
from sartre.simulate import Dataset, Experiment

X = pd.DataFrame({"a": np.arange(4.0), "b": np.arange(4.0) ** 2}, index=[3, 5, 7, 9])
DAG = Dag.from_edges([("a", "b")])


@pytest.fixture
def experiment():
    return Experiment(X, DAG, [1, 1, 2, 3], {2: ["a", "b"], 3: ("soft", ["b"])})


def test_an_experiment_is_a_pair_that_also_says_what_was_done_to_its_rows(experiment):
    table, dag = experiment
    assert table is experiment.X is X
    assert dag is experiment.dag is DAG
    assert isinstance(experiment, Dataset)
    assert len(experiment) == 2
    assert experiment.environment.to_dict() == {3: 1, 5: 1, 7: 2, 9: 3}
    assert experiment.environment.name == "environment"
    assert experiment.interventions == {2: ["a", "b"], 3: ("soft", ["b"])}


def test_the_text_of_an_experiment_says_what_was_done_in_each_environment(experiment):
    assert repr(experiment).splitlines() == [
        "Experiment: 4 rows, 2 variables, 1 edges",
        "  1: 2 rows",
        "  2: 1 rows, a, b set",
        "  3: 1 rows, b shifted",
    ]


def test_the_text_of_many_environments_is_short():
    rows = pd.DataFrame(np.zeros((50, 2)), columns=["a", "b"])
    lines = repr(Experiment(rows, DAG, range(50), {})).splitlines()
    assert len(lines) == 22
    assert lines[-1] == "  ... and 30 more environments"


@pytest.mark.parametrize("copied", [copy.copy, copy.deepcopy, lambda one: pickle.loads(pickle.dumps(one))])  # noqa: S301
def test_a_copy_is_an_experiment_with_the_same_rows(experiment, copied):
    again = copied(experiment)
    assert isinstance(again, Experiment)
    assert repr(again) == repr(experiment)
    pd.testing.assert_frame_equal(again.X, X)
    pd.testing.assert_series_equal(again.environment, experiment.environment)
    assert again.dag == DAG


def test_a_part_may_be_replaced_and_the_others_stay(experiment):
    logged = experiment._replace(X=np.log1p(X))
    assert isinstance(logged, Experiment)
    assert logged.X.equals(np.log1p(X))
    assert logged.environment.equals(experiment.environment)
    assert experiment._replace(interventions={}).interventions == {}
    assert experiment.X is X


def test_a_series_keeps_its_name():
    assert Experiment(X, DAG, pd.Series([1, 1, 2, 2], name="site"), {}).environment.name == "site"

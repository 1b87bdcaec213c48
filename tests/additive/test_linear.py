"""How well columns predict each other."""

from __future__ import annotations

import numpy as np
import pytest

from sartre.additive.linear import explained_by_others
from sartre.data.checks import as_table


@pytest.fixture
def table():
    rng = np.random.default_rng(0)
    return rng.normal(size=(200, 6)) @ rng.normal(size=(6, 6))


def test_a_chain_has_its_closed_form():
    e = np.random.default_rng(0).normal(size=(50, 3))
    e = np.linalg.qr(e - e.mean(axis=0))[0]  # the columns are exactly uncorrelated and have equal variances
    chain = np.cumsum(e, axis=1)
    np.testing.assert_allclose(explained_by_others(as_table(chain)), [1 / 2, 3 / 4, 2 / 3], rtol=1e-9)


@pytest.mark.filterwarnings("ignore:Constant columns", "ignore:Duplicated columns")
def test_functions_of_other_columns_have_an_r2_of_one_and_leave_the_others_alone(table):
    independent = np.random.default_rng(1).normal(size=(200, 1))
    awkward = np.hstack([table, independent, table[:, [0]] + table[:, [1]], table[:, [2]], np.full((200, 1), 3.0)])
    explained = explained_by_others(as_table(awkward))
    np.testing.assert_array_equal(explained[[0, 1, 2, 7, 8, 9]], [1, 1, 1, 1, 1, 0])
    np.testing.assert_allclose(explained[6], explained_by_others(as_table(awkward[:, :7]))[6], rtol=1e-9)

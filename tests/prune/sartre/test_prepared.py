import numpy as np
import pytest

from sartre.data.checks import as_table
from sartre.data.read_design import with_design
from sartre.prune.edges import TargetFit
from sartre.prune.sartre.constants import SAMPLED_ROWS
from sartre.prune.sartre.pairs import Pair
from sartre.prune.sartre.prepared import Prepared

PARENTS, NOTHING = np.array([0], dtype=np.intp), np.empty(0, dtype=np.intp)


class Told:
    """A method that says the same of every target, and writes down how many rows it saw."""

    def __init__(self, rows, seen, **said):
        self.rows, self.seen, self.said = rows, seen, said

    def fit(self, target, parents, *_):
        self.seen.append(self.rows)
        return [TargetFit(target, parents[:0], **self.said)]


def rows_used(n, design, **said):
    """Return the numbers of rows by which a target of `n` rows, of which twenty are not its own, is fitted."""
    X, seen = np.random.default_rng(0).normal(size=(n, 2)), []
    environment = np.repeat(["usual", "b set"], [n - 20, 20])
    table = with_design(X, environment, {"b set": ["x1"]}) if design else as_table(X)
    prepared = Prepared(Told(n, seen, **said), table, {}, lambda part: Told(len(part.values), seen, **said))
    prepared.fit(1, PARENTS, NOTHING)
    return seen


@pytest.mark.parametrize(
    "said", [{"promise": 3.0}, {"robust": True}, {"by_process": True}, {"pairs": [Pair(0, 0, 1e-9)]}]
)
def test_a_sample_decides_where_an_additive_model_is_not_all_there_is(said):
    assert rows_used(SAMPLED_ROWS + 500, design=True, **said) == [SAMPLED_ROWS]


def test_an_additive_target_is_fitted_by_all_of_its_rows():
    assert rows_used(SAMPLED_ROWS + 500, design=True) == [SAMPLED_ROWS, SAMPLED_ROWS + 480]
    assert rows_used(500, design=True, robust=True) == [480]


def test_without_environments_no_sample_is_drawn():
    assert rows_used(SAMPLED_ROWS + 500, design=False, robust=True) == [SAMPLED_ROWS + 500]

"""What every source of data in this library returns: a table and its graph, and what was done to its rows."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import TYPE_CHECKING, Any, NamedTuple, Self

import pandas as pd

from sartre.data.row_design import SOFT
from sartre.settings import listed

if TYPE_CHECKING:
    from sartre.graph.dag import Dag

SHOWN_ENVIRONMENTS = 20  # of a text; more do not help a reader


class Dataset(NamedTuple):
    """A table of samples and the graph behind it.

    Attributes
    ----------
    X : pandas.DataFrame of shape (n_samples, d)
        One column per variable; the columns are ``dag.names``, in that order.
    dag : Dag
        The true graph.
    confounded : set of pairs of names
        Variables with a common hidden cause, each pair sorted by name; empty where none was simulated. It is an
        attribute, not an element of the pair.

    Examples
    --------
    >>> import pandas as pd
    >>> from sartre import Dag
    >>> X, dag = Dataset(pd.DataFrame({"rain": [0.0, 1.0], "wet": [0.1, 0.9]}), Dag.from_edges([("rain", "wet")]))
    >>> list(X.columns) == dag.names
    True
    """

    X: pd.DataFrame
    dag: Dag
    confounded = frozenset()


class Confounded(Dataset):
    """A data set some of whose variables have common causes that are not in the table; still the pair ``X, dag``.

    Examples
    --------
    >>> import pandas as pd
    >>> from sartre import Dag
    >>> X = pd.DataFrame({"ice cream": [0.0, 1.0], "drowned": [0.1, 0.9]})
    >>> summer = Confounded(X, Dag.from_edges([], X.columns), [("ice cream", "drowned")])
    >>> summer.confounded, len(summer)
    ({('drowned', 'ice cream')}, 2)
    """

    confounded: set[tuple[str, str]]

    def __new__(cls, X: pd.DataFrame, dag: Dag, confounded: Iterable[tuple[str, str]]) -> Self:
        """Make the pair, and attach the confounded pairs."""
        pair = super().__new__(cls, X, dag)
        pair.confounded = sorted_pairs(confounded)
        return pair

    def __getnewargs__(self) -> tuple[Any, ...]:  # for copies and pickles
        return self.X, self.dag, self.confounded

    # Without this a changed copy would lose the pairs.
    def _replace(self, **changes: Any) -> Self:  # pyright: ignore[reportIncompatibleMethodOverride]
        """Return a copy with other values of some of X, dag and confounded."""
        return type(self)(**{name: getattr(self, name) for name in ("X", "dag", "confounded")} | changes)


class Experiment(Dataset):
    """A data set whose rows come from several environments, in some of which variables were acted on.

    It is still the pair ``X, dag``; `environment` and `interventions` are attributes.

    Parameters
    ----------
    X : pandas.DataFrame of shape (n_samples, d)
        One column per variable; the columns are ``dag.names``, in that order.
    dag : Dag
        The true graph of rows in which nothing was acted on.
    environment : sequence of n_samples values
        The environment of each row. The attribute is a pandas.Series with the index of ``X``.
    interventions : mapping
        By value of `environment`, the list of columns that were set in it, or ``("soft", list)`` for columns that were
        shifted. Environments that are not named are observational.
    confounded : iterable of pairs of names, optional
        Variables with a common hidden cause.

    Examples
    --------
    >>> import pandas as pd
    >>> from sartre import Dag
    >>> X = pd.DataFrame({"rain": [0.0, 1.0, 0.2, 0.0], "wet": [0.1, 0.9, 1.0, 1.0]})
    >>> dag = Dag.from_edges([("rain", "wet")])
    >>> garden = Experiment(X, dag, ["nature", "nature", "sprinkler", "sprinkler"], {"sprinkler": ["wet"]})
    >>> garden
    Experiment: 4 rows, 2 variables, 1 edges
      nature: 2 rows
      sprinkler: 2 rows, wet set
    >>> X, dag = garden
    >>> X[garden.environment == "nature"].shape
    (2, 2)
    """

    environment: pd.Series
    interventions: dict[Any, Any]
    confounded: set[tuple[str, str]]

    def __new__(
        cls,
        X: pd.DataFrame,
        dag: Dag,
        environment: Sequence[Any] | pd.Series,
        interventions: Mapping[Any, Any],
        confounded: Iterable[tuple[str, str]] = (),
    ) -> Self:
        """Make the pair, and attach what was done to its rows."""
        pair = super().__new__(cls, X, dag)
        name = getattr(environment, "name", None) or "environment"
        pair.environment = pd.Series(list(environment), index=X.index, name=name)
        pair.interventions = dict(interventions)
        pair.confounded = sorted_pairs(confounded)
        return pair

    def __getnewargs__(self) -> tuple[Any, ...]:  # for copies and pickles
        return self.X, self.dag, self.environment, self.interventions, self.confounded

    # Without this a changed copy would lose the environments.
    def _replace(self, **changes: Any) -> Self:  # pyright: ignore[reportIncompatibleMethodOverride]
        """Return a copy with other values of some of X, dag, environment, interventions and confounded."""
        names = ("X", "dag", "environment", "interventions", "confounded")
        return type(self)(**{name: getattr(self, name) for name in names} | changes)

    def __repr__(self) -> str:
        rows = self.environment.value_counts(sort=False)
        lines = [f"Experiment: {len(self.X)} rows, {len(self.dag)} variables, {self.dag.n_edges} edges"]
        lines += [
            f"  {name}: {count} rows{self._actions(name)}" for name, count in rows.head(SHOWN_ENVIRONMENTS).items()
        ]
        if len(rows) > SHOWN_ENVIRONMENTS:
            lines.append(f"  ... and {len(rows) - SHOWN_ENVIRONMENTS} more environments")
        return "\n".join(lines)

    def _actions(self, name: Any) -> str:
        """Return what was done in an environment, as the end of its line."""
        given = self.interventions.get(name, [])
        soft = isinstance(given, tuple) and given[0] == SOFT
        columns = given[1] if isinstance(given, tuple) else given
        return f", {listed(columns)} {'shifted' if soft else 'set'}" if columns else ""


def sorted_pairs(pairs: Iterable[Iterable[str]]) -> set[tuple[str, str]]:
    """Return unordered pairs of names as a set, each sorted.

    Examples
    --------
    >>> sorted_pairs([("b", "a"), ("a", "b")])
    {('a', 'b')}
    """
    return {(first, second) for first, second in map(sorted, pairs)}

"""The pair that every source of data in this library returns."""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

if TYPE_CHECKING:
    import pandas as pd

    from sartre.graph.dag import Dag


class Dataset(NamedTuple):
    """A table of samples and the graph behind it.

    Attributes
    ----------
    X : pandas.DataFrame of shape (n_samples, d)
        One column per variable; the columns are ``dag.names``, in that order.
    dag : Dag
        The true graph.

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

"""The structural model of what was learnt, with the directions that are not certain."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import TYPE_CHECKING

import numpy as np

from sartre.data.table import Table
from sartre.scm.alternatives import OpenDirections
from sartre.scm.model import StructuralModel
from sartre.settings import listed

if TYPE_CHECKING:
    import pandas as pd

    from sartre.graph.dag import Dag
    from sartre.knowledge.knowledge import Constraints
    from sartre.scm.checks import Pair
    from sartre.steps import Mechanism


def open_directions(graph: Dag, edges: pd.DataFrame, known: Constraints) -> OpenDirections:
    """Return which edges of a learnt graph are undecided or unchecked, by the column ``direction``.

    Examples
    --------
    >>> import pandas as pd
    >>> from sartre import Dag, Knowledge
    >>> graph = Dag.from_edges([("a", "b")])
    >>> edges = pd.DataFrame({"source": ["a"], "target": ["b"], "direction": ["undecided"]})
    >>> open_directions(graph, edges, Knowledge().resolve(["a", "b"])).undecided
    (('a', 'b'),)
    """
    loose = (edges[edges["direction"] == state] for state in ("undecided", "unchecked"))
    undecided, unchecked = (tuple(zip(found["source"], found["target"], strict=True)) for found in loose)
    return OpenDirections(graph, undecided, unchecked, known)


def learnt_model(
    table: Table, graph: Dag, mechanisms: Mapping[str, Mechanism], pairs: Iterable[Pair], directions: OpenDirections
) -> StructuralModel:
    """Return the structural model of a learnt graph; a table with categories or missing values is refused."""
    odd = sorted({*table.nominal, *np.flatnonzero(table.missing.any(axis=0)).tolist()})
    if odd:
        names = listed(table.names[j] for j in odd)
        raise ValueError(
            "A structural model needs numeric columns without missing values. Got categories or missing values in "
            f"{names}. Leave these columns out, or code and impute them before 'fit'."
        )
    numbers = Table(table.values, table.names, design=table.design)
    return StructuralModel.of_mechanisms(numbers, graph, mechanisms, pairs, directions)

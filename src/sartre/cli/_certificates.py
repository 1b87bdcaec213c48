"""``--certify``: which of the learnt edges are certified, and what is written about it."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    import pandas as pd

    from sartre import CausalDiscovery
    from sartre.cli._learning import Asked
    from sartre.data.table import Table
    from sartre.evidence.certificates import Certificates


def certificates(asked: Asked, model: CausalDiscovery, table: Table) -> Certificates:
    """Certify at the rate that was asked for."""
    from sklearn.base import clone

    from sartre import certify

    alone: Any = clone(model)
    rate: Any = asked.certify
    return certify(alone.set_params(n_jobs=None), table, rate, n_jobs=asked.jobs, random_state=asked.seed)


def with_certificates(edges: pd.DataFrame, found: Certificates) -> pd.DataFrame:
    """Return the edges with a column ``certified``; an edge that the certified order turns round is not certified."""
    kept = found.edges[found.edges["certified"]]
    certified = set(zip(kept["source"], kept["target"], strict=True))
    pairs = zip(edges["source"], edges["target"], strict=True)
    return edges.assign(certified=[pair in certified for pair in pairs])


def certified_marks(edges: pd.DataFrame, record: dict[str, Any]) -> list[str]:
    """Return "yes" for certified edges, and "turned" for those that are certified in the opposite direction."""
    certified = {(each["source"], each["target"]) for each in record["statements"] if each["certified"]}
    pairs = list(zip(edges["source"], edges["target"], strict=True))
    return ["yes" if (a, b) in certified else "turned" if (b, a) in certified else "" for a, b in pairs]


def certificates_record(found: Certificates) -> dict[str, Any]:
    """Return what graph.json keeps: the rate, the order that the statements refer to, and all that were tested."""
    return {
        "fdr": found.fdr,
        "n_splits": found.n_splits,
        "promise": found.promise,
        "order": found.order,
        "statements": found.edges.to_dict("records"),
    }

"""Which learnt edges a hidden common cause would explain as well or better.

The models that are compared are those of `rival_models`; an environment that acts elsewhere but changes the effect of
x on y speaks for a hidden cause, too.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from functools import cached_property
from types import SimpleNamespace
from typing import TYPE_CHECKING, Any

import numpy as np
import pandas as pd
from scipy.stats import norm

from sartre.compute.parallel import blas_threads
from sartre.data.checks import as_table
from sartre.data.row_sample import drawn_rows
from sartre.data.table import Table
from sartre.evidence.changed_effects import changed_effects
from sartre.evidence.directions import unweighable
from sartre.evidence.environments import environments_table
from sartre.evidence.rival_models import Comparison, Rivals
from sartre.prune.mechanisms import parent_columns
from sartre.steps import Findings, findings_of

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from sartre.graph.dag import Dag
    from sartre.knowledge.knowledge import Constraints

MARKED = 1.2  # statistic above which an edge is marked; docs/benchmarks.md has false alarms and recall around it
CLEARLY_DIRECT = 2.0  # standard errors by which an edge of confounded variables must be better than their common cause
CHANGED = 1e-6  # p-value of a change of an effect, in an environment that acts elsewhere, that marks its edge
FEWEST_ROWS_SET = 30  # in which the cause of an edge was set, for them to speak for it
FEWEST_ROWS_TESTED, MOST_ROWS_TESTED = 200, 10_000  # with fewer nothing is tested; of more a sample is used
MOST_COLUMNS_TESTED = 100  # of a table whose edges are tested
COLUMNS_OF_MARKS = ["first", "second", "statistic", "p_value", "mark"]
EXPLANATION = "a hidden common cause would explain this as well or better"


def hidden_causes(model: Any, X: Any) -> pd.DataFrame:
    """Test for every learnt edge whether a hidden common cause would explain it as well or better.

    Only an edge between numeric columns can be tested, whose cause has parents and whose effect has other parents: of
    other edges nothing tells a hidden cause from a direct one. A hidden cause that acts jointly with visible ones
    cannot be seen, and in small tables hardly any can. An edge without a mark is not safe.

    Parameters
    ----------
    model : CausalDiscovery
        A fitted model; any object with ``graph_`` will do.
    X : array of shape (n, d) or data frame
        The table it was fitted to, in the same units. Environments and groups of rows are known to
        `CausalDiscovery.hidden_causes_`, not here.

    Returns
    -------
    DataFrame
        One row per tested edge, the clearest first: ``first`` and ``second``, the cause and the effect as learnt;
        ``statistic``, by how many standard errors a hidden cause is better than the edge and than the turned edge,
        whichever is less; ``p_value``, of the hypothesis that one of these is as good; and ``mark``, whether the
        statistic is above 1.2. Where the effect clearly changes in an environment that is known to act on other
        variables (``interventions`` of `CausalDiscovery.fit`), the p-value is that of the change, times the number of
        tests, and the statistic its normal quantile, if that is larger.

    Examples
    --------
    >>> from sartre import CausalDiscovery
    >>> from sartre.order import FixedOrder
    >>> z, u, noise, w, more = np.random.default_rng(0).normal(size=(5, 500))
    >>> x, y = np.sin(2 * z) + u + noise / 2, np.sin(2 * w) + u + more / 2
    >>> table = pd.DataFrame({"z": z, "w": w, "x": x, "y": y})
    >>> model = CausalDiscovery(order=FixedOrder(["z", "w", "x", "y"]), random_state=0).fit(table)
    >>> hidden_causes(model, table)[["first", "second", "mark"]]
      first second  mark
    0     x      y  True
    """
    names, table = model.graph_.names, X if isinstance(X, Table) else as_table(X, categories=True, missing=True)
    if set(names) < set(table.names):  # others say what environment or group a row comes from
        table = table.select(np.array([table.names.index(name) for name in names], dtype=np.intp))
    table = table.reordered(names)
    found = dict(_statistics(model, table))
    for edge, statistic in _changed_elsewhere(model, table):
        found[edge] = max(found.get(edge, -np.inf), statistic)
    frame = pd.DataFrame([(names[x], names[y], value) for (x, y), value in found.items()], columns=COLUMNS_OF_MARKS[:3])
    frame = frame.astype({"statistic": float})
    frame["p_value"] = norm.sf(frame["statistic"])
    frame["mark"] = frame["statistic"] > MARKED
    return frame.sort_values("statistic", ascending=False, kind="stable", ignore_index=True)


def marked_pairs(frame: pd.DataFrame) -> list[tuple[str, str]]:
    """Return the marked edges of what `hidden_causes` returns."""
    return list(frame.loc[frame["mark"], ["first", "second"]].itertuples(index=False, name=None))


def sentences(pairs: Iterable[tuple[str, str]]) -> list[str]:
    """Say what a mark means, for each of some edges.

    Examples
    --------
    >>> sentences([("dose", "weight")])
    ['dose -> weight: a hidden common cause would explain this as well or better']
    """
    return [f"{first} -> {second}: {EXPLANATION}" for first, second in pairs]


class HiddenCauses:
    """What `hidden_causes` finds in one fitted model, when it is first asked for; later fits do not change it."""

    def __init__(self, model: Any, table: Table) -> None:
        kept = {name: getattr(model, name, None) for name in ("graph_", "prune_step_", "environment_effects_")}
        self._model, self._table = SimpleNamespace(**kept), table
        knowledge = getattr(model, "knowledge", None)
        self._known = [] if knowledge is None else list(knowledge.confounded)

    @cached_property
    def frame(self) -> pd.DataFrame:
        """One row per tested edge."""
        return hidden_causes(self._model, self._table)

    def pairs(self) -> list[tuple[str, str]]:
        """Return the marked edges, and the pairs that are known to be confounded."""
        marked = marked_pairs(self.frame)
        return [*marked, *(pair for pair in self._known if pair not in marked and pair[::-1] not in marked)]


def unsupported_edges(graph: Dag, pruner: Any, table: Table, known: Constraints) -> NDArray[np.bool_]:
    """Return which edges between variables with a known common cause rest on this cause alone, shape (d, d).

    An edge x -> y needs more: y must follow x clearly better than what the causes of x leave unexplained of it, or
    follow x in rows in which x was set. Edges that cannot be tested rest on the cause, as far as the data say.

    Parameters
    ----------
    graph : Dag
    pruner : fitted pruner
    table : Table
    known : Constraints
        Required edges are kept.
    """
    if not known.confounded.any():
        return known.confounded
    rests = np.asarray(graph.adjacency, dtype=bool) & known.confounded & ~known.required
    for (x, y), value in _comparisons(graph, findings_of(pruner), table, rests.copy(), needs_others=False):
        rests[x, y] = value.lean > -CLEARLY_DIRECT
    for x, y in _followed_where_set(graph, findings_of(pruner), table, rests):
        rests[x, y] = False
    return rests


def _followed_where_set(
    graph: Dag, findings: Findings, table: Table, asked: NDArray[np.bool_]
) -> list[tuple[int, int]]:
    """Return those of some edges x -> y whose y clearly follows x where x was set: no hidden cause does that."""
    if table.design is None:
        return []
    parents, pairs = _described(graph, findings, table)
    found = []
    for x, y in np.argwhere(asked).tolist():
        rows = table.design.acted[:, x] & table.rows_of(y) & ~table.missing[:, [x, y, *parents[y]]].any(axis=1)
        if rows.sum() >= FEWEST_ROWS_SET:
            kept = table.take(np.flatnonzero(rows))
            if kept.values[:, x].std() > 0 and Rivals(kept, parents, pairs).advantage(x, y) > CLEARLY_DIRECT:
                found.append((x, y))
    return found


def _statistics(model: Any, table: Table) -> Iterator[tuple[tuple[int, int], float]]:
    """Yield the edges that can be tested, by their columns, with the statistic of each."""
    if len(table.names) > MOST_COLUMNS_TESTED:
        return
    asked = np.asarray(model.graph_.adjacency, dtype=bool)
    findings = findings_of(getattr(model, "prune_step_", None))
    for pair, value in _comparisons(model.graph_, findings, table, asked, needs_others=True):
        yield pair, value.statistic


def _comparisons(
    graph: Dag, findings: Findings, table: Table, asked: NDArray[np.bool_], *, needs_others: bool
) -> Iterator[tuple[tuple[int, int], Comparison]]:
    """Yield the comparisons for those of some edges that can be tested."""
    names = table.names
    parents, pairs = _described(graph, findings, table)
    odd = unweighable(table) | {j for j in range(len(names)) if table.constant[j]}
    joint = {names.index(name) for name in findings.mechanisms}  # functions of one or two are no model of these
    rivals: dict[bytes, Rivals | None] = {}
    with blas_threads():
        for x, y in np.argwhere(asked).tolist():
            if {x, y} & odd or y in joint or not parents[x] or (needs_others and len(parents[y]) < 2):
                continue
            rows = table.rows_of(x) & table.rows_of(y)
            rows &= ~table.missing[:, [x, *parents[x], *parents[y]]].any(axis=1)
            key = rows.tobytes()
            if key not in rivals:
                rivals[key] = _rivals(table, rows, parents, pairs, findings.mechanisms)
            compared = rivals[key]
            if compared is not None:
                yield (x, y), compared.compare(x, y)


def _rivals(
    table: Table,
    rows: NDArray[np.bool_],
    parents: list[list[int]],
    pairs: dict[int, list[tuple[int, int]]],
    mechanisms: Any,
) -> Rivals | None:
    """Return the models of some rows, or of a sample of them; None if there are too few."""
    if rows.sum() < FEWEST_ROWS_TESTED:
        return None
    kept = table if rows.all() else table.take(np.flatnonzero(rows))
    if len(kept.values) > MOST_ROWS_TESTED:
        kept = kept.take(np.sort(drawn_rows(kept.values, 0, MOST_ROWS_TESTED)))
    residuals = {}
    for name, mechanism in mechanisms.items():
        j = table.names.index(name)
        if not np.isnan(kept.values[:, [j, *parents[j]]]).any():
            residuals[j] = mechanism.residuals(kept.values[:, parents[j]], kept.values[:, j])
    return Rivals(kept, parents, pairs, residuals)


def _changed_elsewhere(model: Any, table: Table) -> Iterator[tuple[tuple[int, int], float]]:
    """Yield edges whose effect clearly differs in an environment that is known to act on other variables."""
    acting = environments_table(table.design, table.names, getattr(model, "environment_effects_", None))
    if acting is None or len(table.names) > MOST_COLUMNS_TESTED:
        return
    rows = acting[["environment", "set", "shifted"]].itertuples(index=False, name=None)
    targets = {environment: {*held, *shifted} for environment, held, shifted in rows}
    parents, pairs = _described(model.graph_, findings_of(getattr(model, "prune_step_", None)), table)
    for edge, p_value in changed_effects(table, parents, targets, pairs):
        if p_value < CHANGED:
            yield edge, float(norm.isf(max(p_value, 1e-300)))


def _described(
    graph: Dag, findings: Findings, table: Table
) -> tuple[list[list[int]], dict[int, list[tuple[int, int]]]]:
    """Return the parents of every column and, by target, the pairs of parents that interact."""
    place = {name: j for j, name in enumerate(table.names)}
    pairs: dict[int, list[tuple[int, int]]] = {}
    for first, second, target in findings.pairs():
        pairs.setdefault(place[target], []).append((place[first], place[second]))
    return [parent_columns(graph, name) for name in table.names], pairs

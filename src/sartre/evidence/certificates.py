"""Edges with an error rate: candidates from one half of the rows are tested on the other half, many times over."""

from __future__ import annotations

import logging
import warnings
from collections import defaultdict
from contextlib import closing
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from sartre.additive.added_value import HeldRows, added_value, e_value, held_rows
from sartre.compute.parallel import spread
from sartre.data.missing import read_table
from sartre.data.read_design import with_design
from sartre.data.row_dependence import dependence_between_rows
from sartre.evidence.e_bh import e_bh
from sartre.evidence.stability import tell_once
from sartre.graph.dag import Dag
from sartre.knowledge.knowledge import constraints, warn_about_tiers
from sartre.knowledge.masks import check_order
from sartre.order import FixedOrder
from sartre.prune.mechanisms import fit_mechanisms, parent_columns
from sartre.settings import check_jobs, check_number, listed, seed_of
from sartre.steps import findings_of, fit_within, for_resamples, fresh, promised, tags_of

if TYPE_CHECKING:
    from sartre.data.table import Table
    from sartre.settings import RandomState
    from sartre.steps import Mechanism


logger = logging.getLogger(__name__)
ROWS_AT_LEAST, ROWS_PER_COLUMN = 100, 20  # half of the rows must support a regression on all columns
ORDER_SHARE = 1 / 3  # of the rows, for an order that must be learnt; no statement is tested on them
COMPARED = 4  # values of a variable over which its effect is centred
_SHOWN = 12


@dataclass(frozen=True, eq=False, repr=False)
class Certificates:
    """Which statements hold at a given error rate; what `certify` returns.

    Attributes
    ----------
    edges : DataFrame
        The statements that were tested at least once, by ``source`` and ``target``, with the ``e_value`` of each, the
        largest first, and whether it is ``certified``.
    fdr : float
        The expected share of false statements among the certified ones is at most this.
    order : list of names
        The order that the statements refer to, causes before effects.
    n_splits : int
        Number of splits of the rows into halves.
    n_statements : float
        Number of statements tested per split, on average: the k largest e-values are certified if they are at least
        ``n_statements / (fdr * k)``.
    dependence : str, optional
        How rows depend on each other. The tests need independent rows, so that nothing is then certified.
    """

    edges: pd.DataFrame
    fdr: float
    order: list[str]
    n_splits: int
    n_statements: float
    dependence: str | None = None

    @property
    def promise(self) -> str:
        """What is promised, in a few sentences, or why nothing is."""
        if self.dependence is not None:
            return f"Nothing is certified, because the tests need independent rows. {self.dependence}"
        if not self.edges["certified"].any():
            return (
                f"No statement is certified at a false discovery rate of {100 * self.fdr:.3g} %, which does not show "
                "that there is no effect. Weak effects need more rows."
            )
        return (
            "Of the certified statements 'the source predicts the target beyond everything before the target in this "
            f"order', at most {100 * self.fdr:.3g} % are false in expectation. They are about causes only as far as "
            "the order is right."
        )

    def __repr__(self) -> str:
        kept = self.edges[self.edges["certified"]]
        lines = [f"Certificates: {len(kept)} of {len(self.edges)} statements certified, {self.n_splits} splits"]
        lines += [f"  {edge['source']} -> {edge['target']}" for edge in kept.head(_SHOWN).to_dict("records")]
        if len(kept) > _SHOWN:
            lines.append(f"  ... and {len(kept) - _SHOWN} more")
        return "\n".join([*lines, f"Order: {listed(self.order, _SHOWN)}", self.promise])


def certify(
    model: Any,
    X: Any,
    fdr: float = 0.1,
    *,
    n_splits: int = 10,
    n_jobs: int | None = None,
    random_state: RandomState = None,
    environment: Any = None,
    interventions: Any = None,
    groups: Any = None,
) -> Certificates:
    """Certify edges: of those that are certified, an expected share of at most `fdr` is false.

    An edge stands for the statement "the source predicts the target beyond everything before the target in this order".
    Nothing is assumed about how candidates are chosen. The statements are about causes only as far as the order is
    right: in a wrong order, an effect predicts its cause.

    1. A given order (`sartre.order.FixedOrder`) is kept; it must not have been learnt from these rows, as the
       ``order_`` of a fitted model was, or the promise is void. Otherwise the order is learnt on a random third of the
       rows.
    2. The rows are split into halves. Half A, which includes that third, chooses candidates, in this order, and their
       effects. On half B each candidate is tested given all other predecessors of its target
       (`sartre.additive.added_value`), and its e-value is divided by the number of candidates.
    3. The results are averaged over the splits, 0 where an edge was no candidate, and e-BH (Wang and Ramdas, 2022)
       certifies the k largest if they are at least 1 / (fdr k).

    Why the promise holds: (i) the order does not depend on any row of any half B, so that all splits speak of the same
    statements. (ii) Given half A, the e-value of a false statement has mean at most one, so that the quotients of all
    false statements add up to at most one in expectation in each split, and therefore on average over the splits.
    (iii) If k statements are certified, 1 / k is at most fdr times the average of each, and the share of false ones has
    mean at most fdr, however the tests depend on each other.

    What is approximate is the e-value itself: it needs many independent rows, and a regression on the other
    predecessors that is right up to small errors (smooths of all, and of pairs of the target's candidates). Where
    neighbouring rows are correlated, nothing is certified.

    Parameters
    ----------
    model : CausalDiscovery
        It is not changed, and need not be fitted; its knowledge is obeyed. If its ``random_state`` is None, each split
        has its own seed. The search for joint effects (`SARTRE`'s ``joint``) is left out unless it is True.
    X : array of shape (n, d) or data frame
        Numbers; at least 100 rows, and 20 per column. With the model's ``missing="drop"``, rows with missing values are
        left out first; otherwise they are refused, since tests on imputed values have no error rate.
    fdr : float
        The false discovery rate, above 0 and below 1.
    n_splits : int
        Number of splits. One is enough for the promise; more make the result depend less on the seed.
    n_jobs : int, optional
        Number of processes over the splits, at most one per core; the result does not depend on it.
    environment, interventions, groups : optional
        As in `CausalDiscovery.fit`. A target is tested on rows in which it was not set, given the environments too, and
        rows of one group are in the same half.
    random_state : int, Generator, RandomState or None
        Seed of all splits.

    References
    ----------
    Shah and Peters, "The hardness of conditional independence testing and the generalised covariance measure", Annals
    of Statistics 48, 2020. Wang and Ramdas, "False discovery rate control with e-values", JRSS B 84, 2022. Ignatiadis,
    Wang and Ramdas, "Asymptotic and compound e-values", 2024 (e-values whose sum is bounded, not each).

    Examples
    --------
    >>> from sartre import CausalDiscovery
    >>> rng = np.random.default_rng(0)
    >>> rain = rng.normal(size=600)
    >>> river = np.sin(2 * rain) + rng.normal(size=600) / 2
    >>> flood = river**2 / 2 + rng.normal(size=600) / 2
    >>> table = pd.DataFrame({"flood": flood, "rain": rain, "river": river})
    >>> certify(CausalDiscovery(order=FixedOrder(["rain", "river", "flood"])), table, random_state=0)
    Certificates: 2 of 2 statements certified, 10 splits
      rain -> river
      river -> flood
    Order: rain, river, flood
    Of the certified statements 'the source predicts the target beyond everything before the target in this order', \
at most 10 % are false in expectation. They are about causes only as far as the order is right.
    """
    check_number("certify", "fdr", fdr, low=0.0, high=1.0, open_low=True, open_high=True)
    check_number("certify", "n_splits", n_splits, low=1, integer=True)
    check_jobs("certify", n_jobs)
    table = _readable(model, with_design(X, environment, interventions, groups))
    dependence = dependence_between_rows(table)
    seed = seed_of("certify", random_state)
    order, seen = _settled_order(model, table, seed)
    given = _with_order(model, [table.names[j] for j in order])
    heard: list[tuple[type[Warning], str]] = []
    splits: list[dict[tuple[int, int], float]] = [{} for _ in range(n_splits)]
    logger.info("certify: 0 of %d splits", n_splits)
    runs: Any = spread(
        _tested, (given, table, order, seen), [(seed, k) for k in range(n_splits)], n_jobs, processes=True
    )
    with warnings.catch_warnings(), closing(runs):  # an interruption ends the runs here, not at garbage collection
        warnings.filterwarnings("ignore", message=r".*tasks which (have been|were)")  # joblib says so when interrupted
        for done, (k, (e_values, warned)) in enumerate(runs, start=1):
            splits[k] = e_values
            heard += warned
            logger.info("certify: %d of %d splits", done, n_splits)
    tell_once(heard)
    found = _judged(splits, table.names, order, fdr)
    return found if dependence is None else _withdrawn(found, dependence)


def _readable(model: Any, X: Any) -> Table:
    """Check the model and the table; whatever cannot be certified is refused with its name."""
    if isinstance(model, type) or not all(hasattr(model, name) for name in ("orderer", "pruner", "get_params")):
        raise TypeError(
            f"The 'model' parameter of certify must be a CausalDiscovery. Got {model!r} instead. Combine an orderer "
            "and a pruner in one."
        )
    drops = getattr(model, "missing", "error") == "drop"
    table = read_table(X, "drop" if drops else "bin", 0, min_columns=2)
    holes = [table.names[j] for j in np.flatnonzero(table.missing.any(axis=0))]
    if holes:
        raise ValueError(
            f"certify needs rows without missing values. Got missing values in {listed(holes)}. "
            "Tests that treat imputed values as measured have no error rate: leave the rows out with missing='drop' "
            "(--missing drop), or leave these columns out."
        )
    if table.levels:
        raise ValueError(
            f"certify needs numeric columns. Got categories in {listed(table.names[j] for j in sorted(table.levels))}. "
            "Leave these columns out, or code them as numbers first."
        )
    n, d = table.shape
    least = max(ROWS_AT_LEAST, ROWS_PER_COLUMN * d)
    if n < least:
        raise ValueError(
            f"certify needs at least {least} rows for {d} columns: an order that must be learnt takes a third of the "
            f"rows, and half of all rows test the statements. Got {n}. Provide more rows or fewer columns."
        )
    return table


def _settled_order(model: Any, table: Table, seed: int) -> tuple[NDArray[np.intp], NDArray[np.intp]]:
    """Return the order of all statements, and the units from which it was learnt: none if it was given."""
    known = constraints(model, table.names)
    orderer = fresh(model.orderer(), n_jobs=getattr(model, "n_jobs", None), random_state=_own_seed(model, seed, 0))
    units = np.empty(0, dtype=np.intp)
    sample = table
    if tags_of(orderer).learns_order:
        warn_about_tiers(known, stacklevel=3)
        units = _shuffled(np.arange(table.n_units), seed, 0)[: round(ORDER_SHARE * table.n_units)]
        sample = table.take(table.rows_in(units))
    fitted = fit_within(orderer, sample, before=known.before if known.before.any() else None)
    if getattr(fitted, "interrupted_", False):
        raise KeyboardInterrupt  # the best order so far is not what was asked for
    order = check_order(promised(fitted, "order_"), table.names)
    known.check_order(order, type(orderer).__name__)
    return order, units


def _with_order(model: Any, names: list[str]) -> Any:
    return for_resamples(model).set_params(order=FixedOrder(names))


def _own_seed(model: Any, seed: int, number: int) -> Any:
    """Return the model's own source of randomness, or a seed for one of the fits."""
    own = getattr(model, "random_state", None)
    return int(np.random.SeedSequence(seed, spawn_key=(number, 1)).generate_state(1)[0]) if own is None else own


def _shuffled(rows: NDArray[np.intp], seed: int, number: int) -> NDArray[np.intp]:
    return np.random.default_rng(np.random.SeedSequence(seed, spawn_key=(number, 0))).permutation(rows)


def halves(n: int, seen: NDArray[np.intp], seed: int, number: int) -> tuple[NDArray[np.intp], NDArray[np.intp]]:
    """Return the units (rows, or groups) of half A, which includes those seen before, and of half B of a split.

    Examples
    --------
    >>> A, B = halves(6, np.array([0, 3]), seed=0, number=1)
    >>> len(A), len(B), bool({0, 3} <= set(A.tolist())), np.sort(np.append(A, B)).tolist()
    (3, 3, True, [0, 1, 2, 3, 4, 5])
    """
    unseen = _shuffled(np.setdiff1d(np.arange(n), seen), seed, 1 + number)
    return np.sort(np.append(seen, unseen[n // 2 :])), np.sort(unseen[: n // 2])


def _tested(
    shared: tuple[Any, Table, NDArray[np.intp], NDArray[np.intp]], seed: int, number: int
) -> tuple[dict[tuple[int, int], float], list[tuple[type[Warning], str]]]:
    """Choose candidates on half A and test them on half B; return their e-values and the warnings."""
    model, table, order, seen = shared
    first, second = (table.rows_in(units) for units in halves(table.n_units, seen, seed, number))
    sample = table.take(first)
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        fitted = fresh(model, random_state=_own_seed(model, seed, 1 + number)).fit(sample)
    graph = Dag(fitted.adjacency_matrix_, table.names)
    findings = findings_of(getattr(fitted, "prune_step_", None))
    mechanisms = fit_mechanisms(sample, graph, findings.pairs(), findings.mechanisms)
    tested, place = _HeldTable(table.take(second)), np.argsort(order)
    e_values = {}
    for target, name in enumerate(table.names):
        parents = parent_columns(graph, name)
        rows = tested.rows_of(target)
        if rows is None:
            continue
        for k, parent in enumerate(parents):
            effect = _effect(mechanisms[name], rows.values[:, parents], k)
            others = [int(j) for j in order[: place[target]] if j != parent]
            acting = [j for j in parents if j != parent]
            statistic = added_value(rows, target, effect, [*others, *tested.indicators], acting)
            e_values[parent, target] = e_value(statistic)
    return e_values, [(warning.category, str(warning.message)) for warning in caught]


class _HeldTable:
    """The rows of half B, for every target those that show its mechanism, with the environments' indicators."""

    def __init__(self, table: Table) -> None:
        self._table, design = table, table.design
        d = table.shape[1]
        indicators = np.empty((len(table.values), 0)) if design is None else design.indicators
        self._values = np.hstack([table.values, indicators])
        self.indicators = list(range(d, self._values.shape[1]))
        self._all = held_rows(self._values, None if design is None else design.groups)

    def rows_of(self, target: int) -> HeldRows | None:
        """Return the rows for tests of a target; None where too few show its mechanism."""
        rows, design = self._table.rows_of(target), self._table.design
        if rows.all():
            return self._all
        groups = None if design is None or design.groups is None else design.groups[rows]
        return held_rows(self._values[rows], groups) if rows.sum() >= ROWS_AT_LEAST // 2 else None


def _effect(mechanism: Mechanism, X: NDArray[np.float64], k: int) -> NDArray[np.float64]:
    """Return the effect of parent k at the rows of all parents' values, less its mean over a few values of k."""
    others = np.zeros(len(X))
    for value in np.quantile(X[:, k], (np.arange(COMPARED) + 0.5) / COMPARED):
        changed = X.copy()
        changed[:, k] = value
        others += mechanism.predict(changed) / COMPARED
    return mechanism.predict(X) - others


def _judged(
    splits: list[dict[tuple[int, int], float]], names: tuple[str, ...], order: NDArray[np.intp], fdr: float
) -> Certificates:
    """Average over the splits, each e-value divided by the number of its split's candidates, and apply e-BH."""
    mean = float(np.mean([len(split) for split in splits]))
    totals: dict[tuple[int, int], float] = defaultdict(float)
    for split in splits:
        for pair, value in split.items():
            totals[pair] += value * mean / len(split) / len(splits)
    place = np.argsort(order)
    pairs = sorted(totals, key=lambda pair: (-totals[pair], place[pair[1]], place[pair[0]]))
    values = np.array([totals[pair] for pair in pairs])
    edges = pd.DataFrame([(names[i], names[j]) for i, j in pairs], columns=["source", "target"])
    edges = edges.assign(e_value=values, certified=e_bh(values, mean, fdr))
    return Certificates(edges, fdr, [names[j] for j in order], len(splits), mean)


def _withdrawn(found: Certificates, dependence: str) -> Certificates:
    """Return the statements with their e-values, none of them certified."""
    return replace(found, edges=found.edges.assign(certified=False), dependence=dependence)

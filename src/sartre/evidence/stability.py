"""How stable each edge is: the model is learnt again on many halves of the samples."""

from __future__ import annotations

import logging
import re
import warnings
from collections import defaultdict
from contextlib import closing
from dataclasses import dataclass
from math import ceil, sqrt
from typing import TYPE_CHECKING, Any

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from sartre.compute.checkpoint import Checkpoint, describe_settings, describe_table
from sartre.compute.parallel import spread
from sartre.data.checks import MIN_ROWS, as_table
from sartre.data.html_table import html_section
from sartre.data.read_design import with_design
from sartre.graph.dag import Dag
from sartre.knowledge.knowledge import constraints
from sartre.knowledge.masks import check_order
from sartre.settings import check_jobs, check_number, seed_of
from sartre.steps import for_resamples, fresh

if TYPE_CHECKING:
    from pathlib import Path

    from sartre.data.table import Table
    from sartre.settings import RandomState


logger = logging.getLogger(__name__)
THRESHOLD = 0.6  # just above 1/2, where the bound begins; more would lose true edges, of which halves find fewer
_SHOWN = 12
_VARYING = re.compile(r"'[^']*'|[\d.,]+")  # names and numbers differ between two warnings of one kind


@dataclass(frozen=True, eq=False, repr=False)
class Stability:
    """How often each edge and each direction was found on half-samples; what `stability` returns.

    Attributes
    ----------
    names : tuple of d strings
    n_pairs : int
        Number of pairs of half-samples; the model was learnt twice as many times.
    edge_frequency : array of shape (d, d)
        Share of the half-samples whose graph has the edge, [parent, child].
    order_frequency : array of shape (d, d)
        Share of the half-samples whose order has row before column.
    open : boolean array of shape (d, d)
        Edges that the knowledge leaves to the data: all but the diagonal if nothing is known.
    """

    names: tuple[str, ...]
    n_pairs: int
    edge_frequency: NDArray[np.float64]
    order_frequency: NDArray[np.float64]
    open: NDArray[np.bool_]

    @property
    def frequencies(self) -> pd.DataFrame:
        """The edges that were found at least once, most frequent first.

        ``frequency`` is the edge's own, ``reverse`` that of the opposite edge, and ``before`` the share of the
        half-samples whose order has the source before the target, edge or not.
        """
        parent, child = np.array(self._by_frequency(), dtype=np.intp).reshape(-1, 2).T
        return pd.DataFrame(
            {
                "source": [self.names[i] for i in parent],
                "target": [self.names[j] for j in child],
                "frequency": self.edge_frequency[parent, child],
                "reverse": self.edge_frequency[child, parent],
                "before": self.order_frequency[parent, child],
            }
        )

    def consensus(self, threshold: float = THRESHOLD) -> Dag:
        """Return a graph of the edges with at least this frequency.

        The edges are added in order of decreasing frequency. An edge is left out if it would close a cycle with those
        before it, or with the part of the order on which all half-samples agree (such as prior knowledge). Above 1/2,
        an edge and its opposite cannot both be frequent, but longer cycles can be.

        Parameters
        ----------
        threshold : float
            Above 0, at most 1.
        """
        check_number("consensus", "threshold", threshold, low=0.0, high=1.0, open_low=True)
        adjacency = np.zeros(self.edge_frequency.shape, dtype=np.uint8)
        reaches = (self.order_frequency == 1) | np.eye(len(adjacency), dtype=bool)
        for parent, child in self._by_frequency():
            if self.edge_frequency[parent, child] < threshold:
                break
            if not reaches[child, parent]:
                adjacency[parent, child] = 1
                reaches |= np.outer(reaches[:, parent], reaches[child])
        return Dag(adjacency, self.names)

    def false_edges_bound(self, threshold: float = THRESHOLD, *, unimodal: bool = False) -> float:
        """Bound the expected number of false edges with at least this frequency (Shah and Samworth, 2013).

        With p open edges, of which q are found on a half-sample on average, it is q^2 / (p (2 threshold - 1)): a
        bound on the expected number of frequent edges among those that the model finds on a random half of the
        samples with probability at most q / p, that is, no more often than by random choice. It assumes independent
        rows, and nothing about the model; q is estimated.

        These are the false edges if the model finds no false edge more often than that. A false edge that it finds
        repeatedly (reversed, skipping a variable in between, or due to a hidden common cause) is not counted: no
        resampling can distinguish it from a true one.

        Parameters
        ----------
        threshold : float
            Above 1/2, at most 1.
        unimodal : bool
            Whether to assume in addition that, for each of those edges, the share of pairs with the edge in both
            halves has a unimodal distribution. The bound is then about half as large.
        """
        check_number("false_edges_bound", "threshold", threshold, low=0.5, high=1.0, open_low=True)
        p, q = int(self.open.sum()), float(self.edge_frequency[self.open].sum())
        if q == 0:
            return 0.0
        steps = 2 * self.n_pairs  # frequencies are multiples of 1 / steps
        least = max(ceil(round(steps * threshold, 9)), self.n_pairs + 1) / steps
        return q * q / p * _tail_factor(least, q / p, self.n_pairs, unimodal=unimodal)

    def _by_frequency(self) -> list[tuple[int, int]]:
        edges = [(int(i), int(j)) for i, j in np.argwhere(self.edge_frequency > 0)]
        return sorted(edges, key=lambda edge: (-self.edge_frequency[edge], -self.order_frequency[edge], edge))

    def _repr_html_(self) -> str:
        """Return the table of frequencies."""
        return html_section(self._head(), (), self.frequencies)

    def _head(self) -> str:
        mean = self.edge_frequency.sum()
        return (
            f"Stability: {self.n_pairs} pairs of half-samples, {len(self.names)} variables, {mean:.1f} edges per half"
        )

    def __repr__(self) -> str:
        edges = self._by_frequency()
        lines = [self._head()]
        lines += [f"  {self.edge_frequency[i, j]:.2f} {self.names[i]} -> {self.names[j]}" for i, j in edges[:_SHOWN]]
        if len(edges) > _SHOWN:
            lines.append(f"  ... and {len(edges) - _SHOWN} more")
        return "\n".join(lines)


def stability(
    model: Any,
    X: Any,
    n_pairs: int = 50,
    *,
    n_jobs: int | None = None,
    random_state: RandomState = None,
    checkpoint: str | Path | None = None,
    environment: Any = None,
    interventions: Any = None,
    groups: Any = None,
) -> Stability:
    """Learn a graph on many complementary halves of the samples, and count edges and directions.

    Each of `n_pairs` random permutations of the rows gives two halves without a common row (of an odd number of rows,
    one is left out), and the order and the graph are learnt again on each half. Halves are used because the rows that
    a bootstrap repeats make all p-values too small. The table is checked once and shared; nothing else depends on all
    rows, so nothing else is reused.

    Parameters
    ----------
    model : CausalDiscovery
        Or any estimator with ``fit(X)``, ``order_`` and ``adjacency_matrix_``. It is not changed; its knowledge is
        obeyed on each half. If its ``random_state`` is None, each half-sample has its own seed. The search for joint
        effects (`SARTRE`'s ``joint``) is left out unless it is True.
    X : array of shape (n, d) or data frame
        At least 20 rows. Missing values are treated on each half as the model specifies.
    n_pairs : int
        Number of pairs of half-samples.
    n_jobs : int, optional
        Number of processes over the half-samples, at most one per core, or of jobs of the active joblib backend; the
        result does not depend on it.
    random_state : int, Generator, RandomState or None
        Seed of all halves. The k-th pair depends only on the seed and k: more pairs continue where fewer stopped.
    checkpoint : path, optional
        A JSON file in which each finished half-sample is kept. If it already exists, from the same data, settings and
        version, only what is missing is computed, with the seed of the file if `random_state` is None.
    environment, interventions, groups : optional
        As in `CausalDiscovery.fit`. Rows of one group are in the same half.

    References
    ----------
    Meinshausen and Buehlmann, "Stability selection", JRSS B 72, 2010. Shah and Samworth, "Variable selection with error
    control: another look at stability selection", JRSS B 75, 2013.

    Examples
    --------
    >>> from sartre import CausalDiscovery
    >>> rng = np.random.default_rng(0)
    >>> rain = rng.normal(size=400)
    >>> river = np.sin(2 * rain) + rng.normal(size=400) / 2
    >>> table = pd.DataFrame({"river": river, "rain": rain, "dice": rng.normal(size=400)})
    >>> found = stability(CausalDiscovery(), table, n_pairs=5, random_state=0)
    >>> found.consensus()
    Dag: 3 variables, 1 edges
      rain -> river
    """
    check_number("stability", "n_pairs", n_pairs, low=1, integer=True)
    check_jobs("stability", n_jobs)
    holes = getattr(model, "missing", "error") != "error"  # missing values are treated on each half
    said = with_design(X, environment, interventions, groups)
    table = as_table(said, min_rows=2 * MIN_ROWS, min_columns=2, categories=True, missing=holes)
    known = constraints(model, table.names)
    store = _opened(checkpoint, model, table, random_state)
    numbers = range(2 * n_pairs)
    missing = [number for number in numbers if number not in store.results]
    logger.info("stability: %d of %d half-samples", len(numbers) - len(missing), len(numbers))
    jobs = [(store.identity["seed"], number) for number in missing]
    heard: list[tuple[type[Warning], str]] = []
    runs: Any = spread(_run, (model, table), jobs, n_jobs, processes=True)  # steps hold Python's lock
    with warnings.catch_warnings(), closing(runs):  # an interruption ends the runs here, not at garbage collection
        warnings.filterwarnings("ignore", message=r".*tasks which (have been|were)")  # joblib says so when interrupted
        for done, (k, (result, warned)) in enumerate(runs, start=1):
            store.add(missing[k], result)
            heard += warned
            logger.info("stability: %d of %d half-samples", len(numbers) - len(missing) + done, len(numbers))
    tell_once(heard)
    return _counted([store.results[number] for number in numbers], table.names, known.open)


def half_sample(n: int, seed: int, number: int) -> NDArray[np.intp]:
    """Return the units (rows, or groups of them) of a half-sample; numbers 2 k and 2 k + 1 are the halves of pair k.

    Examples
    --------
    >>> np.sort(np.append(half_sample(6, 0, 8), half_sample(6, 0, 9)))
    array([0, 1, 2, 3, 4, 5])
    """
    pair, second = divmod(number, 2)
    rows = np.random.default_rng(np.random.SeedSequence(seed, spawn_key=(pair,))).permutation(n)
    half = n // 2
    return np.sort(rows[second * half : (second + 1) * half])


def _opened(path: str | Path | None, model: Any, table: Table, random_state: RandomState) -> Checkpoint:
    if path is None:
        return Checkpoint.open(None, {"seed": seed_of("stability", random_state)})
    if isinstance(random_state, (np.random.Generator, np.random.RandomState)):
        raise TypeError(
            "The 'random_state' parameter of stability must be an int or None with a checkpoint. Got a generator "
            "instead. Pass an int."
        )
    from sartre import __version__  # noqa: PLC0415 - it exists once the package is imported

    identity = {"version": __version__, "data": describe_table(table), "settings": describe_settings(model)}
    seed = None if random_state is None else seed_of("stability", random_state)
    store = Checkpoint.open(path, {**identity, "seed": seed})
    if store.identity["seed"] is None:
        store.identity["seed"] = seed_of("stability", None)
    store.write()  # this fails now if the file cannot be written
    return store


def _run(shared: tuple[Any, Table], seed: int, number: int) -> tuple[dict[str, Any], list[tuple[type[Warning], str]]]:
    """Learn the graph of one half-sample; return its order, its edges as pairs of numbers, and the warnings."""
    model, table = shared
    rows = table.rows_in(half_sample(table.n_units, seed, number))
    settings = {}
    if getattr(model, "random_state", None) is None:
        own = np.random.SeedSequence(seed, spawn_key=divmod(number, 2)).generate_state(1)
        settings["random_state"] = int(own[0])
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        fitted = fresh(for_resamples(model), **settings).fit(table.take(rows))
    if getattr(getattr(fitted, "order_step_", None), "interrupted_", False):
        raise KeyboardInterrupt  # one half-sample's best order so far is not what was asked for
    order = check_order(fitted.order_, table.names)
    learnt = {"order": order.tolist(), "edges": np.argwhere(fitted.adjacency_matrix_).tolist()}
    return learnt, [(warning.category, str(warning.message)) for warning in caught]


def _counted(runs: list[dict[str, Any]], names: tuple[str, ...], open_: NDArray[np.bool_]) -> Stability:
    d = len(names)
    edges, orders = np.zeros((2, d, d))
    for run in runs:
        parent, child = np.array(run["edges"], dtype=np.intp).reshape(-1, 2).T
        edges[parent, child] += 1
        position = np.argsort(run["order"])
        orders += position[:, None] < position
    edge_frequency, order_frequency = edges / len(runs), orders / len(runs)
    for matrix in (edge_frequency, order_frequency, open_):
        matrix.setflags(write=False)
    return Stability(names, len(runs) // 2, edge_frequency, order_frequency, open_)


def _tail_factor(threshold: float, theta: float, n_pairs: int, *, unimodal: bool) -> float:
    """Return C in P(frequency >= threshold) <= C theta^2, for an edge found with probability theta on a half-sample.

    Both halves of a pair have it with probability theta^2, and a frequent edge is in both halves of at least
    2 threshold - 1 of the pairs: Markov's inequality (Theorem 1), or its form for unimodal distributions on the
    multiples of 1 / n_pairs (Theorem 2), where that applies.
    """
    markov = 1 / (2 * threshold - 1)
    step = 1 / (2 * n_pairs)
    lowest = 0.5 + min(theta**2, step + 0.75 * theta**2)
    if not unimodal or theta > 1 / sqrt(3) or threshold <= lowest:
        return markov
    if threshold <= 0.75:
        return min(markov, 1 / (2 * (2 * threshold - 1 - step)))
    return min(markov, 4 * (1 - threshold + step) / (1 + 2 * step))


def tell_once(heard: list[tuple[type[Warning], str]]) -> None:
    """Repeat a warning from many half-samples once, with its first text; names and numbers in it may differ."""
    kinds: dict[Any, list[str]] = defaultdict(list)
    for category, text in heard:
        kinds[category, _VARYING.sub("", text)].append(text)
    for (category, _), texts in kinds.items():
        warnings.warn(f"{texts[0]} (Half-samples gave {len(texts)} such warnings.)", category, stacklevel=3)

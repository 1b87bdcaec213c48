"""The methods under study, by their names in the results, each with a rough cost."""

from __future__ import annotations

from time import process_time
from typing import TYPE_CHECKING, Any

import numpy as np
import pandas as pd
from sklearn.base import BaseEstimator

from experiments import peers
from experiments.supervised import ENSEMBLES, SupervisedPruning
from sartre.additive.bases.trees import Embedding
from sartre.discovery import CausalDiscovery
from sartre.graph.dag import Dag
from sartre.order import SCORE, CaPS, FixedOrder, OrderSearch
from sartre.prune import DAS, SARTRE, CAMPruning
from sartre.simulate import Experiment

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from numpy.typing import NDArray

    from experiments.study import Cell

TRUE, SCORES, CAPS, OURS, CORL = "true", "SCORE", "CaPS", "OrderSearch", "CORL"
CAM, PYGAM, DAS_, AUTO, EMPTY = "CAM-pruning", peers.PYGAM, "DAS", "SARTRE", "no edges"
PYGAM_LOOSE, DAS_LOOSE = peers.PYGAM_LOOSE, "DAS with pyGAM at 0.05"
KNOWN, UNKNOWN, POOLED = "targets known", "targets unknown", "pooled"  # the defaults, told more or less about the rows
MARKS = "OrderSearch + SARTRE, marks"  # the defaults, without joint effects of many parents
PENALTIES = (0.1, 0.15, 0.2, 0.25, 0.3)
TIMEOUT = 1800  # seconds allowed for a peer
TREES = ((1, 8), (5, 4), (5, 8), (5, 16), (10, 8), (20, 8))

_ORDERS: dict[str, Callable[[int], Any]] = {
    SCORES: lambda _: SCORE(exact=True),
    CAPS: lambda _: CaPS(),
    OURS: lambda seed: OrderSearch(random_state=seed),
}
_PRUNERS: dict[str, Callable[[int], Any]] = {
    CAM: lambda _: CAMPruning(),
    DAS_: lambda _: DAS(),
    AUTO: lambda seed: SARTRE(random_state=seed),
}


_warm: set[tuple[str, str]] = set()


class PeerFailedError(RuntimeError):
    """A peer gave no graph, or none in time."""


def needs_peers(cell: Cell) -> bool:
    """Return whether a cell runs in the peers' environment."""
    return cell.prune in peers.SETTINGS or cell.prune == DAS_LOOSE or cell.order == CORL


def is_costly(cell: Cell) -> bool:
    """Return whether a cell takes a minute or more on ten variables."""
    return needs_peers(cell) and cell.prune not in (PYGAM, PYGAM_LOOSE, DAS_LOOSE, peers.GIES, peers.CAMUV)


def paper(penalty: float = 0.1) -> str:
    """Return the name of SARTRE as published."""
    return f"SARTRE({penalty:g})"


def intervals(kind: str = "random", trees: int = 5, leaves: int = 8) -> str:
    """Return the name of SARTRE(0.1) with other intervals."""
    return f"SARTRE(0.1) {kind} {trees}x{leaves}"


PRUNED = (CAM, PYGAM, DAS_, paper(), AUTO)  # these are compared on one order
for _penalty in PENALTIES:
    _PRUNERS[paper(_penalty)] = lambda seed, penalty=_penalty: SARTRE(penalty, random_state=seed)
for _kind in ENSEMBLES:
    _PRUNERS[intervals(_kind)] = lambda seed, kind=_kind: SupervisedPruning(kind, random_state=seed)
for _size in TREES:
    _PRUNERS[intervals("random", *_size)] = lambda seed, size=_size: SARTRE(
        0.1, embedding=Embedding(*size), random_state=seed
    )


def warm_up(cell: Cell) -> None:
    """Run a cell's steps on a small table, once per process, so that compiling and loading are not timed."""
    if needs_peers(cell) or (cell.order, cell.prune) in _warm:
        return
    _warm.add((cell.order, cell.prune))
    noise = np.random.default_rng(0).normal(size=(200, 6))
    noise[:, 3] += np.sin(2 * noise[:, 0])
    noise[:, 5] += noise[:, 1] * noise[:, 2] + noise[:, 3]
    X, dag = pd.DataFrame(noise, columns=[f"x{j}" for j in range(6)]), Dag(np.zeros((6, 6)))
    if cell.prune in (KNOWN, UNKNOWN, POOLED):
        learn_from_experiment(cell.prune, Experiment(X, dag, np.repeat(["a", "b"], 100), {"b": ["x0"]}), 0)  # pyright: ignore[reportArgumentType]
        return
    if cell.prune == MARKS:
        learn_marks(MARKS, X, 0)
        return
    order = learn_order(cell.order, X, dag, 0)[0] if cell.order else []
    learn_edges(cell.prune, X, order, 0)


def learn_order(name: str, X: pd.DataFrame, dag: Dag, seed: int) -> tuple[list[int], float]:
    """Return an order, causes first, and the CPU seconds it took; "true" is an order of the true graph."""
    if name == CORL:
        adjacency, seconds = _by_peer(peers.CORL_ORDER, X.to_numpy(), [], seed)
        return [list(X.columns).index(one) for one in Dag(adjacency, list(X.columns)).topological_order()], seconds
    orderer = FixedOrder(dag.topological_order()) if name == TRUE else _ORDERS[name](seed)
    start = process_time()
    order = orderer.fit(X).order_
    return [int(j) for j in order], process_time() - start


def learn_edges(name: str, X: pd.DataFrame, order: list[int], seed: int) -> tuple[NDArray[Any], float]:
    """Return the adjacency matrix of a pruned order, or of a method without an order, and its CPU seconds."""
    if name == EMPTY:
        return np.zeros((X.shape[1], X.shape[1]), dtype=np.uint8), 0.0
    if name == DAS_LOOSE:
        return _by_das_and_pygam(X, order, seed)
    if name in peers.SETTINGS:
        return _by_peer(name, X.to_numpy(), order, seed)
    pruner = _PRUNERS[name](seed)
    start = process_time()
    adjacency = pruner.fit(X, order).adjacency_matrix_
    return adjacency, process_time() - start


class KeepAll(BaseEstimator):
    """A pruner that keeps every candidate, so that a filter such as that of DAS can be used without its pruner."""

    def fit(self, X: pd.DataFrame, order: Sequence[int], candidates: NDArray[Any]) -> KeepAll:  # noqa: ARG002
        """Keep the candidates."""
        self.adjacency_matrix_ = np.asarray(candidates).astype(np.uint8)
        self.edges_ = pd.DataFrame()
        return self


def _by_das_and_pygam(X: pd.DataFrame, order: list[int], seed: int) -> tuple[NDArray[Any], float]:
    """Filter by our DAS, and prune what remains by pyGAM at 0.05."""
    start = process_time()
    candidates = DAS(prune=KeepAll()).fit(X, order).candidates_
    filtering = process_time() - start
    adjacency, seconds = _by_peer(PYGAM_LOOSE, X.to_numpy(), order, seed, candidates=candidates)
    return adjacency, filtering + seconds


def learn_from_experiment(name: str, experiment: Experiment, seed: int) -> tuple[NDArray[Any], float]:
    """Return the adjacency matrix of a method that may be told about environments and targets, and its CPU seconds."""
    X, dag = experiment
    if name == peers.GIES:
        adjacency, seconds = _by_peer(name, X.to_numpy(), [], seed, _rows_and_targets(experiment))
        return with_lines_directed(adjacency, dag), seconds
    if name == EMPTY:
        return learn_edges(name, X, [], seed)
    environment = {"environment": experiment.environment.to_numpy()}
    told = {KNOWN: {**environment, "interventions": experiment.interventions}, UNKNOWN: environment, POOLED: {}}[name]
    model = CausalDiscovery(directions=False, random_state=seed)
    start = process_time()
    adjacency = model.fit(X, **told).graph_.adjacency
    return adjacency, process_time() - start


def learn_marks(name: str, X: pd.DataFrame, seed: int) -> tuple[NDArray[Any], float]:
    """Return a graph in which pairs that may have a hidden common cause point both ways, and its CPU seconds."""
    if name == peers.CAMUV:
        return _by_peer(name, X.to_numpy(), [], seed)
    start = process_time()
    model = CausalDiscovery(prune=SARTRE(joint=False), random_state=seed).fit(X)
    adjacency, place = model.graph_.adjacency.copy(), {one: j for j, one in enumerate(model.graph_.names)}
    for first, second in model.pdag_.hidden:
        adjacency[place[second], place[first]] = 1
    return adjacency, process_time() - start


def with_lines_directed(adjacency: NDArray[Any], dag: Dag) -> NDArray[Any]:
    """Direct each edge that points both ways along an order of the true graph, in favour of who found it.

    Edges that may point either way join variables of one component, and the arrows between components have no cycle;
    so the result has none either.
    """
    rank = np.argsort([dag.names.index(name) for name in dag.topological_order()])
    backwards = rank[:, None] > rank[None, :]
    return np.where(adjacency.astype(bool) & adjacency.T.astype(bool) & backwards, 0, adjacency).astype(np.uint8)


def _rows_and_targets(experiment: Experiment) -> list[tuple[list[int], list[int]]]:
    """Return the rows of each environment and the columns that were set in them."""
    names = list(experiment.X.columns)
    rows = experiment.environment.reset_index(drop=True).groupby(experiment.environment.to_numpy(), sort=False).groups
    return [
        (list(places), [names.index(target) for target in experiment.interventions.get(name, [])])
        for name, places in rows.items()
    ]


def _by_peer(
    name: str,
    X: NDArray[Any],
    order: list[int],
    seed: int,
    environments: Sequence[tuple[Sequence[int], Sequence[int]]] | None = None,
    candidates: NDArray[Any] | None = None,
) -> tuple[NDArray[Any], float]:
    """Run a peer; CAM-pruning gets the columns in causal order, and GIES gets the environments."""
    places = np.array(order or range(X.shape[1]))
    allowed = None if candidates is None else candidates[np.ix_(places, places)]
    outcome = peers.run(name, X[:, places], seed, TIMEOUT, environments=environments, candidates=allowed)
    if outcome.adjacency is None:
        raise PeerFailedError(f"{name} on {X.shape[1]} variables: {outcome.reason}")
    adjacency = np.zeros_like(outcome.adjacency)
    adjacency[np.ix_(places, places)] = outcome.adjacency
    return adjacency, outcome.seconds


def expected_seconds(cells: list[Cell]) -> float:
    """Return the approximate CPU seconds of a trial on one data set, counting an order that methods share only once.

    The formulas extrapolate from measurements at n = 2000 and d = 20.
    """
    n, d = cells[0].data.samples / 2000, cells[0].data.nodes / 20
    orders = {CORL: 120.0, SCORES: 2.5 * n**2.5 * d, CAPS: 2.5 * n**2.5 * d, OURS: 0.5 * d**1.6}
    pruners = {CAM: 0.1 * n * d**1.8, DAS_: 0.85 * n**2.5 * d**1.45, AUTO: 0.2 * n * d**1.5}
    pruners |= dict.fromkeys((PYGAM, PYGAM_LOOSE), 2.0 + 1.5 * n * d**2.1) | peers.SECONDS
    pruners[DAS_LOOSE] = pruners[DAS_] + pruners[PYGAM]
    pruners |= {
        KNOWN: 15 + 25 * n * d**2,
        UNKNOWN: 40 + 75 * n * d**2,
        POOLED: 10 + 15 * n * d**2,
        peers.GIES: 15 * n * d**2,
        peers.CAMUV: 120 * n * d**2,
        MARKS: 2 + 3 * n * d**1.5,
    }
    for cell in cells:
        pruners.setdefault(cell.prune, 3.0 if "forest" in cell.prune or "boosting" in cell.prune else 0.02 * d**2)
    learnt = sum(orders.get(order, 0.0) for order in {cell.order for cell in cells})
    return learnt + sum(pruners[cell.prune] for cell in cells)

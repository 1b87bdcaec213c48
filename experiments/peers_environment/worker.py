"""Run one peer on one table, in the peers' own environment (see experiments/peers.py).

    python worker.py FOLDER

FOLDER holds `data.npy` (n x d) and `task.json`: {"method", "seed", "settings"}, and for GIES also {"environments":
[[rows, columns that were set in them], ...]} unless all rows are observational, and for pyGAM {"candidates": d lists of
d zeros and ones} if not every edge of the order may be kept. The worker writes `result.json` there:
{"adjacency": d lists of d zeros and ones, A[i][j] = 1 means i -> j; "seconds": CPU seconds of the fit alone}.
"""

from __future__ import annotations

import json
import logging
import random
import sys
import time
import warnings
from pathlib import Path
from typing import Any

import numpy as np


def main(folder: Path) -> None:
    """Read the task, fit, and write the result in one step, so that an existing result is always complete."""
    logging.disable(logging.CRITICAL)  # gCastle logs every iteration
    task = json.loads((folder / "task.json").read_text(encoding="utf-8"))
    X = np.load(folder / "data.npy")
    if task["method"] == "GIES":
        adjacency, seconds = by_gies(X, task.get("environments", [[list(range(len(X))), []]]), **task["settings"])
    elif "pyGAM" in task["method"]:
        d = X.shape[1]
        candidates = np.array(task.get("candidates", np.ones((d, d)).tolist())) != 0
        adjacency, seconds = by_pygam(X, candidates, **task["settings"])
    else:
        adjacency, seconds = fit(task["method"], X, task["seed"], task["settings"])
    unfinished = folder / "result.part"
    unfinished.write_text(json.dumps({"adjacency": adjacency.tolist(), "seconds": seconds}), encoding="utf-8")
    unfinished.replace(folder / "result.json")


def fit(method: str, X: np.ndarray, seed: int, settings: dict[str, Any]) -> tuple[np.ndarray, float]:
    """Return the adjacency matrix (d, d), row -> column, and the CPU seconds of the fit."""
    random.seed(seed)
    np.random.seed(seed)  # noqa: NPY002 - gCastle draws from the global generators
    if method == "CAMUV":
        return by_camuv(X, **settings)
    if method == "BOSS":
        return by_causal_learn(X, **settings)
    return by_gcastle(method, X, seed, settings)


def by_causal_learn(X: np.ndarray, **settings: Any) -> tuple[np.ndarray, float]:
    """Learn a graph in which an edge that may point either way points both ways."""
    from causallearn.search.PermutationBased.BOSS import boss  # noqa: PLC0415

    start = time.process_time()
    ends = boss(X, **settings).graph  # ends[i, j] is that of the edge between i and j at i: -1 for a tail, 1 for a head
    return (ends == -1).astype(int), time.process_time() - start


def by_camuv(X: np.ndarray, **settings: Any) -> tuple[np.ndarray, float]:
    """Learn a graph in which a pair with a hidden common cause, which CAMUV marks as not a number, points both ways."""
    import lingam  # noqa: PLC0415

    warnings.simplefilter("ignore")
    start = time.process_time()
    learner = lingam.CAMUV(**settings)
    learner.fit(X)
    effects = learner.adjacency_matrix_  # row <- column
    return (np.isnan(effects) | (np.nan_to_num(effects) != 0)).T.astype(int), time.process_time() - start


def by_gies(X: np.ndarray, environments: list[list[list[int]]], **settings: Any) -> tuple[np.ndarray, float]:
    """Learn a graph from environments, in which an edge that may point either way points both ways."""
    import gies  # noqa: PLC0415

    start = time.process_time()
    graph, _ = gies.fit_bic([X[rows] for rows, _ in environments], [targets for _, targets in environments], **settings)
    return (graph != 0).astype(int), time.process_time() - start


def by_pygam(X: np.ndarray, candidates: np.ndarray, alpha: float, n_splines: int) -> tuple[np.ndarray, float]:
    """Prune the order of the columns with one additive model per target and one term per candidate before it."""
    from pygam import LinearGAM, s  # noqa: PLC0415

    warnings.simplefilter("ignore")  # pyGAM warns about its own p-values
    LinearGAM(s(0)).fit(X[:50, :1], X[:50, 0])  # imports and compiles, so that this is not timed
    start = time.process_time()
    adjacency = np.zeros((X.shape[1], X.shape[1]), dtype=int)
    for target in range(1, X.shape[1]):
        parents = np.flatnonzero(candidates[:target, target])
        if not len(parents):
            continue
        terms = s(0, n_splines=n_splines)
        for j in range(1, len(parents)):
            terms += s(j, n_splines=n_splines)
        model = LinearGAM(terms).fit(X[:, parents], X[:, target])
        adjacency[parents, target] = np.asarray(model.statistics_["p_values"][: len(parents)]) < alpha
    return adjacency, time.process_time() - start


def by_gcastle(method: str, X: np.ndarray, seed: int, settings: dict[str, Any]) -> tuple[np.ndarray, float]:
    """Learn a graph without an order."""
    import torch  # noqa: PLC0415 - torch is large and optional

    torch.set_num_threads(1)
    learner = learner_of(method, X.shape[1], seed, settings)
    torch.optim.Adam([torch.zeros(1, requires_grad=True)])  # the first optimizer imports torch's compiler: not timed
    torch.manual_seed(seed)
    start = time.process_time()
    learner.learn(X)
    seconds = time.process_time() - start
    weights = np.abs(np.asarray(getattr(learner, "weight_causal_matrix", learner.causal_matrix), dtype=float))
    return without_cycles(np.asarray(learner.causal_matrix) != 0, weights).astype(int), seconds


def learner_of(method: str, d: int, seed: int, settings: dict[str, Any]) -> Any:
    """Return gCastle's object for a method."""
    from castle import algorithms  # noqa: PLC0415

    if method == "NOTEARS":
        return algorithms.Notears(**settings)
    if method == "NOTEARS-MLP":
        return algorithms.NotearsNonlinear(**settings)
    if method == "GraN-DAG":
        return algorithms.GraNDAG(input_dim=d, random_seed=seed, **settings)
    if method == "CORL order":
        return corl_order(seed, **settings)
    raise ValueError(f"The method must be one of SETTINGS in peers.py. Got {method!r} instead.")


def corl_order(seed: int, rows: int, **settings: Any) -> Any:
    """Return a CORL that scores by Gaussian processes on some rows, and whose graph has all pairs of its order."""
    from castle.algorithms.gradient.corl.torch import corl  # noqa: PLC0415

    class GaussianProcessReward(corl.Reward):
        def __init__(self, input_data: np.ndarray, **others: Any) -> None:
            super().__init__(input_data[:rows], **{**others, "regression_type": "GPR"})

    corl.Reward = GaussianProcessReward
    corl.pruning_by_coef = lambda graph, _: graph
    return corl.CORL(random_seed=seed, **settings)


def without_cycles(adjacency: np.ndarray, weights: np.ndarray) -> np.ndarray:
    """Raise the threshold until the graph has no cycle; only NOTEARS may return a graph with one."""
    kept = adjacency.copy()
    for threshold in np.unique(weights[adjacency]):
        if is_acyclic(kept):
            break
        kept = adjacency & (weights > threshold)
    return kept


def is_acyclic(adjacency: np.ndarray) -> bool:
    """Return whether removing source nodes repeatedly removes all nodes."""
    left = np.arange(len(adjacency))
    while len(left):
        has_parents = adjacency[np.ix_(left, left)].any(axis=0)
        if has_parents.all():
            return False
        left = left[has_parents]
    return True


if __name__ == "__main__":
    main(Path(sys.argv[1]))

"""Run one method of gCastle on one table, in gCastle's own environment (see experiments/_gcastle.py).

    python worker.py FOLDER

FOLDER holds `data.npy` (n x d) and `task.json`: {"method", "seed", "settings"}. The worker writes `result.json` there:
{"adjacency": d lists of d zeros and ones, A[i][j] = 1 means i -> j; "seconds": CPU seconds of the fit alone}.
"""

from __future__ import annotations

import json
import logging
import random
import sys
import time
from pathlib import Path
from typing import Any

import numpy as np
import torch
from castle.algorithms import CORL, GraNDAG, Notears, NotearsNonlinear
from castle.algorithms.gradient.corl.torch import corl


def main(folder: Path) -> None:
    """Read the task, fit, and write the result in one step, so that a result that is there is whole."""
    logging.disable(logging.CRITICAL)  # gCastle logs every iteration
    torch.set_num_threads(1)
    task = json.loads((folder / "task.json").read_text(encoding="utf-8"))
    adjacency, seconds = fit(task["method"], np.load(folder / "data.npy"), task["seed"], task["settings"])
    unfinished = folder / "result.part"
    unfinished.write_text(json.dumps({"adjacency": adjacency.tolist(), "seconds": seconds}), encoding="utf-8")
    unfinished.replace(folder / "result.json")


def fit(method: str, X: np.ndarray, seed: int, settings: dict[str, Any]) -> tuple[np.ndarray, float]:
    """Return the adjacency matrix (d, d), row -> column, and the CPU seconds of the fit."""
    torch.optim.Adam([torch.zeros(1, requires_grad=True)])  # torch imports its compiler at the first optimizer: not now
    if (
        method == "CORL"
    ):  # importing gCastle makes double precision the default, in which this network is 3 times slower
        torch.set_default_dtype(torch.float32)
        X = X.astype(np.float32)
    learner = learner_of(method, X.shape[1], seed, settings)
    random.seed(seed)
    np.random.seed(seed)  # noqa: NPY002 - gCastle draws from the global generators
    torch.manual_seed(seed)
    start = time.process_time()
    learner.learn(X)
    seconds = time.process_time() - start
    weights = np.abs(np.asarray(getattr(learner, "weight_causal_matrix", learner.causal_matrix), dtype=float))
    return without_cycles(np.asarray(learner.causal_matrix) != 0, weights).astype(int), seconds


def learner_of(method: str, d: int, seed: int, settings: dict[str, Any]) -> Any:  # noqa: ANN401 - gCastle's, untyped
    """Return gCastle's object for a method."""
    if method == "NOTEARS":
        return Notears(**settings)
    if method == "NOTEARS-MLP":
        return NotearsNonlinear(**settings)
    if method == "GraN-DAG":
        return GraNDAG(input_dim=d, random_seed=seed, **settings)
    if method == "CORL":
        return CORL(random_seed=seed, **settings)
    if method == "CORL order":
        return corl_order(seed, **settings)
    raise ValueError(f"The method must be one of SETTINGS in _gcastle.py. Got {method!r} instead.")


def corl_order(seed: int, rows: int, **settings: Any) -> CORL:  # noqa: ANN401 - gCastle's settings
    """Return a CORL whose score is by Gaussian processes on some rows, and whose graph is all pairs of its order."""

    class GaussianProcessReward(corl.Reward):
        def __init__(self, input_data: np.ndarray, **others: Any) -> None:  # noqa: ANN401
            super().__init__(input_data[:rows], **{**others, "regression_type": "GPR"})

    corl.Reward = GaussianProcessReward
    corl.pruning_by_coef = lambda graph, _: graph
    return CORL(random_seed=seed, **settings)


def without_cycles(adjacency: np.ndarray, weights: np.ndarray) -> np.ndarray:
    """Raise the threshold until the graph has no cycle; NOTEARS may stop short of one, the others do not."""
    kept = adjacency.copy()
    for threshold in np.unique(weights[adjacency]):
        if is_acyclic(kept):
            break
        kept = adjacency & (weights > threshold)
    return kept


def is_acyclic(adjacency: np.ndarray) -> bool:
    """Say whether taking away sources, as long as there are any, takes away all nodes."""
    left = np.arange(len(adjacency))
    while len(left):
        has_parents = adjacency[np.ix_(left, left)].any(axis=0)
        if has_parents.all():
            return False
        left = left[has_parents]
    return True


if __name__ == "__main__":
    main(Path(sys.argv[1]))

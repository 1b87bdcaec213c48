"""Tables with interventions, environments and groups: errors with and without what is known about the rows.

python benchmarks/experiments.py [sdcd] [small] [panels] [sachs] [--seeds 6] [--first-seed 120000] [--jobs 2]

sdcd: SDCD's simulations, d = 20, 10,000 observational rows and 500 per variable that is set to N(0, 0.1^2): 80 edges
with all or half of the variables acted on, and 40 edges with all. small: 1000 observational rows and 50 per variable,
set to N(0, 1) or shifted by two standard deviations of the noise; linear ER1 and neural ER4; targets known, unknown, and
rows pooled. panels: independent columns of 100 groups of 5 rows with an intraclass correlation of 0.5, and the share of
tables in which dependent rows are reported. sachs: the nine conditions, logarithms, against 17 and 20 edges.
"""

from __future__ import annotations

import argparse
import warnings
from collections.abc import Iterator
from time import perf_counter
from typing import Any

from _report import markdown, use_one_thread

use_one_thread()

import numpy as np

from sartre import CausalDiscovery
from sartre.data.checks import as_table
from sartre.data.read_design import with_design
from sartre.data.row_dependence import dependence_between_rows
from sartre.datasets import load_sachs
from sartre.metrics import shd, sid
from sartre.prune import SARTRE
from sartre.simulate import Experiment, random_dag, simulate

SDCD = {"80 edges, all": (80, 20), "80 edges, half": (80, 10), "40 edges, all": (40, 20)}
SMALL: dict[str, tuple[Any, int, bool]] = {
    "linear ER1, set": ("linear", 1, False),
    "neural ER4, set": ("neural", 4, False),
    "linear ER1, shifted": ("linear", 1, True),
    "neural ER4, shifted": ("neural", 4, True),
}
HALVES = 20


def learnt(table: Any, words: dict[str, Any], jobs: int) -> tuple[Any, float]:
    """Return the graph of a table, and the seconds it took."""
    start = perf_counter()
    model = CausalDiscovery(directions=False, n_jobs=jobs, random_state=0).fit(table, **words)
    return model.graph_, perf_counter() - start


def words_of(experiment: Experiment, kind: str) -> dict[str, Any]:
    """Return what is said about the rows of an experiment."""
    known = {"environment": experiment.environment.to_numpy(), "interventions": experiment.interventions}
    return {"known": known, "unknown": {"environment": known["environment"]}, "pooled": {}}[kind]


def sdcd(given: argparse.Namespace) -> Iterator[list[str]]:
    """Yield one row per setting of SDCD's simulations."""
    for name, (n_edges, n_acted) in SDCD.items():
        errors, seconds = [], []
        for seed in range(given.first_seed, given.first_seed + given.seeds):
            dag = random_dag(20, n_edges, random_state=seed)
            acted = np.random.default_rng(seed).permutation(dag.names)[:n_acted]
            interventions = {f"do {target}": [str(target)] for target in acted}
            rows: dict[str, Any] = {"interventions": interventions, "n_intervened": 500, "set_to": (0.0, 0.1)}
            experiment = simulate(dag, 10_000, "sdcd", random_state=seed, **rows)
            graph, time = learnt(experiment.X, words_of(experiment, "known"), given.jobs)
            errors.append(shd(dag, graph))
            seconds.append(time)
        yield [name, f"{np.mean(errors):.1f}", " ".join(map(str, errors)), f"{np.median(seconds):.0f}"]


def small(given: argparse.Namespace) -> Iterator[list[str]]:
    """Yield one row per mechanism and kind of intervention."""
    for name, (mechanism, density, soft) in SMALL.items():
        errors: dict[str, list[int]] = {"known": [], "unknown": [], "pooled": []}
        for seed in range(given.first_seed, given.first_seed + given.seeds):
            dag = random_dag(20, 20 * density, random_state=seed)
            targets: dict[str, Any] = {f"do {v}": ("soft", [v]) if soft else [v] for v in dag.names}
            experiment = simulate(dag, 1000, mechanism, interventions=targets, n_intervened=50, random_state=seed)
            for kind, found in errors.items():
                found.append(shd(dag, learnt(experiment.X, words_of(experiment, kind), given.jobs)[0]))
        yield [name, *(f"{np.mean(found):.1f}" for found in errors.values())]


def panels(given: argparse.Namespace) -> Iterator[list[str]]:
    """Yield false edges per table of independent columns, with groups and without, and how often rows are reported."""
    groups, false, reported = np.repeat(np.arange(100), 5), {"groups": [], "rows": []}, []
    for seed in range(given.first_seed, given.first_seed + given.tables):
        rng = np.random.default_rng(seed)
        X = (rng.normal(size=(100, 20))[groups] + rng.normal(size=(500, 20))) / np.sqrt(2)
        reported.append(dependence_between_rows(as_table(X)) is not None)
        false["groups"].append(SARTRE().fit(with_design(X, groups=groups), range(20)).adjacency_matrix_.sum())
        if len(false["rows"]) < given.tables // 10:
            false["rows"].append(SARTRE(joint=False).fit(X, range(20)).adjacency_matrix_.sum())
    spread = np.std(false["groups"]) / np.sqrt(given.tables)
    means = f"{np.mean(false['groups']):.3f} +- {spread:.3f}", f"{np.mean(false['rows']):.2f}"
    yield [str(given.tables), *means, f"{np.mean(reported):.3f}"]


def sachs(given: argparse.Namespace) -> Iterator[list[str]]:
    """Yield SHD and SID of Sachs' proteins, all rows and the mean over random halves, beside the first condition."""
    experiment, alone = load_sachs("full"), load_sachs()
    graphs = {name: load_sachs(graph=name).dag for name in ("17", "20")}
    cases = {
        "nine conditions": (np.log(experiment.X), words_of(experiment, "known")),
        "nine conditions, pooled": (np.log(experiment.X), {}),
        "the first condition": (np.log(alone.X), {}),
    }
    for name, (table, words) in cases.items():
        whole, _ = learnt(table, words, given.jobs)
        halves = []
        for k in range(HALVES):
            rows = np.random.default_rng(given.first_seed + k).permutation(len(table))[: len(table) // 2]
            some = {**words, "environment": words["environment"][rows]} if words else {}
            halves.append(learnt(table.iloc[rows], some, given.jobs)[0])
        for edges, truth in graphs.items():
            errors = [shd(truth, graph) for graph in halves]
            spread = f"{np.mean(errors):.1f} ({min(errors)} to {max(errors)})"
            yield [name, edges, str(shd(truth, whole)), str(sid(truth, whole)), spread]


HEADS = {
    "sdcd": ["SDCD's simulations", "mean SHD", "SHDs", "seconds (median)"],
    "small": ["n = 2000", "known", "unknown", "pooled"],
    "panels": ["tables", "false edges with groups", "without", "dependent rows reported"],
    "sachs": ["Sachs", "edges", "SHD", "SID", f"SHD over {HALVES} halves"],
}


def main() -> None:
    """Print one table per part."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("parts", nargs="*", default=list(HEADS), choices=[*HEADS, []])
    parser.add_argument("--seeds", type=int, default=6)
    parser.add_argument("--tables", type=int, default=400)
    parser.add_argument("--first-seed", type=int, default=120_000)
    parser.add_argument("--jobs", type=int, default=2)
    given = parser.parse_args()
    warnings.simplefilter("ignore")
    parts = {"sdcd": sdcd, "small": small, "panels": panels, "sachs": sachs}
    for part in given.parts:
        print(markdown(HEADS[part], list(parts[part](given))), flush=True)


if __name__ == "__main__":
    main()

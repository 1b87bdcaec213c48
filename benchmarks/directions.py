"""How many arrows are called decided, and how many of those are right.

python benchmarks/directions.py [--tables 2] [--first-seed 96700] [--rows 300 1000 2000] [--data FOLDER]   half an hour
python benchmarks/directions.py --time                                       what weighing adds to a fit, in CPU seconds

Of the edges that the true graph has, either way round: the share that is right, the share that is decided, the share of
those that is right, how many are decided that no method could tell if all was linear and normal (edges outside the
compelled part), edges that the evidence contradicts and how many of those are right, and by bins of the stated
confidence the share that is right. `--data` adds NetSim, SynTReN, the Gaussian networks of bnlearn and the Tuebingen
pairs from a folder of CSV files.
"""

from __future__ import annotations

import argparse
import warnings
from collections.abc import Iterator
from itertools import chain, pairwise, product
from pathlib import Path
from time import process_time
from typing import Any, NamedTuple

from _report import markdown, use_one_thread

use_one_thread()

import numpy as np
import pandas as pd

from sartre import CausalDiscovery, Dag
from sartre.data.checks import as_table
from sartre.evidence.directions import DECIDED, weigh_directions
from sartre.graph.equivalence import compelled
from sartre.prune import SARTRE
from sartre.simulate import random_dag, simulate

NOISES: tuple[Any, ...] = ("gaussian", "uniform", "laplace", "t3", "heteroscedastic")
SETTINGS: dict[str, dict[str, Any]] = {
    **{f"gp {noise}": {"noise": noise} for noise in NOISES},
    **{f"half {noise}": {"noise": noise, "linear_fraction": 0.5} for noise in NOISES},
    "sdcd": {"mechanism": "sdcd"},
    "linear": {"mechanism": "linear"},
}
FAMILIES: dict[str, tuple[Any, int]] = {"ER1": ("ER", 1), "ER4": ("ER", 4), "SF1": ("SF", 1), "SF4": ("SF", 4)}
BINS = (0.5, 0.75, 0.9, 0.99, 1.0)
NETWORKS = ("ecoli70", "magic_niab")
TIMED_SEEDS = (50, 51, 52)


class Edge(NamedTuple):
    """A learnt edge that the true graph has, either way round."""

    setting: str
    family: str
    n: int
    right: bool
    decided: bool
    compelled: bool
    evidence: float
    confidence: float


def weighed(setting: str, family: str, X: Any, dag: Dag) -> list[Edge]:
    """Return the edges that a model learns from a table and that are true either way round."""
    edges = CausalDiscovery(prune=SARTRE(joint=False), random_state=0).fit(X).edges_
    truth = np.asarray(dag.adjacency, dtype=bool)
    fixed, place = compelled(truth), {name: j for j, name in enumerate(dag.names)}
    found = []
    for edge in edges.to_dict("records"):
        i, j = place[edge["source"]], place[edge["target"]]
        if truth[i, j] or truth[j, i]:
            told = edge["direction"] == "decided", bool(fixed[i, j] or fixed[j, i])
            numbers = edge["direction_evidence"], edge["direction_confidence"]
            found.append(Edge(setting, family, len(X), bool(truth[i, j]), *told, *numbers))
    return found


def simulated(given: argparse.Namespace) -> Iterator[list[Edge]]:
    """Yield the edges of every simulated table."""
    for setting in given.only:
        for family in given.families:
            if setting == "linear" and family.endswith("4"):
                continue
            kind, density = FAMILIES[family]
            for rows, k in product(given.rows, range(given.tables)):
                seed = given.first_seed + k
                dag = random_dag(20, 20 * density, kind, random_state=seed)
                yield weighed(setting, family, simulate(dag, rows, random_state=seed, **SETTINGS[setting]).X, dag)


def semi_real(folder: Path, first_seed: int) -> Iterator[list[Edge]]:
    """Yield the edges of the tables in a folder."""
    for sim in ("sim1", "sim2"):
        table = pd.read_csv(folder / f"fmri_netsim_{sim}.csv.gz")
        dag = Dag.from_frame(pd.read_csv(folder / f"fmri_netsim_{sim}_edges.csv"), list(table.columns[1:]))
        for first in range(1, 51, 10):
            chosen = table["subject"].between(first, first + 9)
            yield weighed("netsim", sim, table.loc[chosen, dag.names], dag)
    table, edges = (
        pd.read_csv(folder / "syntren_1to4.csv.gz"),
        pd.read_csv(folder / "syntren_1to4_edges.csv", dtype=str),
    )
    for k in range(1, 5):
        dag = Dag.from_frame(edges[edges["dataset"] == str(k)], list(table.columns[1:]))
        yield weighed("syntren", "syntren", table.loc[table["dataset"] == k, dag.names], dag)
    for name, seed in product(NETWORKS, (first_seed, first_seed + 1)):
        dag = Dag.from_frame(pd.read_csv(folder / f"bn_{name}_edges.csv"))
        parameters = pd.read_csv(folder / f"bn_{name}_parameters.csv")
        yield weighed("bnlearn", name, network_rows(parameters, dag, 1000, seed), dag)


def network_rows(parameters: pd.DataFrame, dag: Dag, n: int, seed: int) -> pd.DataFrame:
    """Draw rows of a Gaussian network from its coefficients and standard deviations."""
    rng, columns = np.random.default_rng(seed), {}
    by_node = {node: group.set_index("term")["value"] for node, group in parameters.groupby("node")}
    for node in dag.topological_order():
        terms = by_node[node]
        effects = sum(terms[parent] * columns[parent] for parent in dag.parents(node))
        columns[node] = terms["intercept"] + effects + terms["sd"] * rng.normal(size=n)
    return pd.DataFrame(columns)[dag.names]


def pairs_of(folder: Path) -> tuple[float, float, float]:
    """Return the weighted shares of the Tuebingen pairs that are right, decided, and of the decided right."""
    table = pd.read_csv(folder / "tuebingen_odd_pairs.csv.gz")
    weights = pd.read_csv(folder / "tuebingen_odd_pairs_meta.csv").set_index("pair")["weight"]
    right, decided, weight = [], [], []
    for pair, rows in table.groupby("pair"):
        X = rows[["cause", "effect"]].reset_index(drop=True)
        order = list(CausalDiscovery(random_state=0, directions=False).fit(X).order_)
        (evidence,) = weigh_directions(as_table(X), order, [(order[0], order[1])], np.zeros((2, 2), bool)).evidence
        right.append(order == [0, 1])
        decided.append(evidence > DECIDED)
        weight.append(weights[pair])
    told = np.array(right), np.array(decided), np.array(weight)
    return (
        float(np.average(told[0], weights=told[2])),
        float(np.average(told[1], weights=told[2])),
        float(np.average(told[0][told[1]], weights=told[2][told[1]])),
    )


def row_of(edges: pd.DataFrame) -> list[str]:
    """Return the numbers of a row of the table."""
    decided, against = edges[edges["decided"]], edges[edges["evidence"] < -DECIDED]
    loose = edges[~edges["compelled"]]
    return [
        str(len(edges)),
        f"{edges['right'].mean():.3f}",
        f"{edges['decided'].mean():.3f}",
        f"{decided['right'].mean():.3f}",
        f"{loose['decided'].sum()} of {len(loose)}",
        f"{against['right'].sum()} of {len(against)}",
    ]


def calibration_of(edges: pd.DataFrame) -> list[str]:
    """Return the share that is right in each bin of the confidence, with the mean stated and the number of edges."""
    turned = edges["confidence"] < 0.5
    right = np.where(turned, ~edges["right"], edges["right"])
    stated = np.where(turned, 1 - edges["confidence"], edges["confidence"])
    cells = []
    for low, high in pairwise(BINS):
        inside = (stated >= low) & ((stated < high) | (high == 1.0))
        many = f"{right[inside].mean():.2f} ({stated[inside].mean():.2f}, {inside.sum()})"
        cells.append(many if inside.any() else "-")
    return cells


def time_row(family: str) -> list[str]:
    """Return the CPU seconds of fits without the weighing of directions, and the share that it adds."""
    kind, density = FAMILIES[family]
    seconds = []
    for seed in TIMED_SEEDS:
        X = simulate(random_dag(20, 20 * density, kind, random_state=seed), 2000, random_state=seed).X
        for directions in (False, True):
            start = process_time()
            CausalDiscovery(prune=SARTRE(joint=False), directions=directions, random_state=0).fit(X)
            seconds.append(process_time() - start)
    without, with_it = np.array(seconds).reshape(-1, 2).T
    added = (with_it - without) / without
    return [family, f"{without.mean():.2f}", f"{added.min():.2f} to {added.max():.2f}"]


def main() -> None:
    """Print one row per setting and family, and the calibration."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--tables", type=int, default=2)
    parser.add_argument("--first-seed", type=int, default=96700)
    parser.add_argument("--rows", type=int, nargs="*", default=[300, 1000, 2000])
    parser.add_argument("--only", nargs="*", default=list(SETTINGS), choices=list(SETTINGS))
    parser.add_argument("--families", nargs="*", default=list(FAMILIES), choices=list(FAMILIES))
    parser.add_argument("--data", type=Path)
    parser.add_argument("--time", action="store_true")
    given = parser.parse_args()
    warnings.simplefilter("ignore")
    if given.time:
        time_row("SF1")  # compiles
        print(markdown(["family", "seconds without", "added share"], [time_row("ER1"), time_row("ER4")]))
        return
    found: list[Edge] = []
    real = [] if given.data is None else semi_real(given.data, given.first_seed)
    for edges in chain(simulated(given), real):
        found += edges
    frame = pd.DataFrame(found)
    groups = {" ".join(map(str, key)): group for key, group in frame.groupby(["setting", "family"], sort=False)}
    groups |= {f"{key} (all)": group for key, group in frame.groupby("setting", sort=False)}
    curved = frame[frame["setting"].str.startswith(("gp ", "half "))]
    if len(curved):
        groups |= {"curved and half linear": curved}
        groups |= {"gp gaussian, n >= 1000": curved[(curved["setting"] == "gp gaussian") & (curved["n"] >= 1000)]}
    header = ["tables", "edges", "right", "decided", "of these right", "not compelled, decided", "contradicted, right"]
    print(markdown(header, [[key, *row_of(group)] for key, group in groups.items()]))
    is_real = frame["setting"].isin(["netsim", "syntren", "bnlearn"])
    bins = [f"{low} to {high}" for low, high in pairwise(BINS)]
    parts = {"simulated": frame[~is_real], "semi-real": frame[is_real]}
    print("\nShare right by stated confidence (its mean, the number of edges):\n")
    print(markdown(["tables", *bins], [[key, *calibration_of(part)] for key, part in parts.items() if len(part)]))
    if given.data is not None:
        print(
            "\nTuebingen pairs, weighted: right {:.2f}, decided {:.2f}, of these right {:.2f}".format(
                *pairs_of(given.data)
            )
        )


if __name__ == "__main__":
    main()

"""Compare the edges of two versions of this library on nearly two hundred data sets.

    python benchmarks/same_edges.py store edges.json         before a change
    python benchmarks/same_edges.py compare edges.json       after it

Every case is one data set and one model. The cases cover all families, mechanisms and kinds of noise of the simulator,
the paper's penalty, the automatic penalty with its settings, rows in batches, missing values, categories, knowledge,
wide and awkward tables, and the other methods. `compare` prints every case whose edges, order, pairs or robust targets
differ, then the largest relative difference of strengths and p-values among the cases that agree. It exits with 1 if
any case differs.
"""

from __future__ import annotations

import argparse
import json
import sys
import warnings
from collections.abc import Callable, Iterator
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any

from _report import use_one_thread

use_one_thread()

import numpy as np
import pandas as pd
from pruning_accuracy import FAMILIES

from sartre import CausalDiscovery, Knowledge
from sartre.datasets import load_sachs
from sartre.order import CAM, SCORE, FixedOrder
from sartre.prune import DAS, SARTRE, CAMPruning, CaPSPruning
from sartre.simulate import random_dag, simulate

if TYPE_CHECKING:
    from sartre.simulate.dataset import Dataset

Case = Callable[[], dict[str, Any]]
MECHANISMS = ("gp", "gp-additive", "neural", "linear", "sigmoid")
NOISES = ("laplace", "uniform", "t3", "heteroscedastic")
NUMBERS = ("strength", "margin", "p_value")


def drawn(family: str, seed: int, d: int = 12, n: int = 600, **settings: Any) -> Dataset:
    """Draw a data set of a family."""
    kind, density, orientation = FAMILIES[family]
    return simulate(random_dag(d, density * d, kind, orientation, random_state=seed), n, random_state=seed, **settings)


def pruned(pruner: Any, draw: Callable[[], Dataset], **constraints: Any) -> dict[str, Any]:
    """Prune the true order of a data set."""
    data = draw()
    return told(pruner.fit(data.X, data.dag.topological_order(), **constraints), data.X.columns)


def learnt(model: CausalDiscovery, table: Callable[[], Any]) -> dict[str, Any]:
    """Learn the whole graph of a table."""
    X = table()
    model.fit(X)
    return {"order": model.order_.tolist(), **told(model.prune_step_, X.columns)}


def in_batches(pruner: SARTRE, draw: Callable[[], Dataset]) -> dict[str, Any]:
    """Prune the true order of a data set whose rows come in three batches."""
    data = draw()
    cuts = [data.X[:100], data.X[100:20_000], data.X[20_000:]]
    return told(pruner.fit_batches(cuts, data.dag.topological_order()), data.X.columns)


def path(pruner: SARTRE, draw: Callable[[], Dataset]) -> dict[str, Any]:
    """Return the edges of a path."""
    data = draw()
    found = pruner.path(data.X, data.dag.topological_order())
    return {"edges": [list(row) for row in found.astype(object).itertuples(index=False)]}


def told(pruner: Any, names: Any) -> dict[str, Any]:
    """Return the results of a fitted pruner, ready for JSON."""
    pairs = getattr(pruner, "interactions_", pd.DataFrame())
    return {
        "columns": list(names),
        "edges": [list(row) for row in pruner.edges_.itertuples(index=False)],
        "pairs": [list(row) for row in pairs.itertuples(index=False)],
        "robust": list(getattr(pruner, "robust_targets_", [])),
        "bound": getattr(pruner, "false_edges_bound_", None),
        "rows": getattr(pruner, "rows_seen_", None),
    }


def awkward(seed: int) -> pd.DataFrame:
    """Return a table with few values, copies, a constant, an outlier and repeated rows."""
    X = drawn("ER1", seed, d=6, n=300).X
    X["rounded"] = X.iloc[:, 0].round()
    X["copy"] = -2 * X.iloc[:, 1] + 5
    X["near"] = X.iloc[:, 2] + 1e-4 * np.arange(300)
    X["constant"] = 3.0
    X.iloc[7, 3] = 1e4
    return pd.concat([X, X[:20]], ignore_index=True)


def with_holes(seed: int) -> pd.DataFrame:
    """Return a table with missing values in half of its columns."""
    X = drawn("ER1", seed, d=8, n=500).X
    rng = np.random.default_rng(seed)
    for name in X.columns[::2]:
        X.loc[rng.random(len(X)) < 0.1, name] = np.nan
    return X


def with_categories(seed: int, *, holes: bool = False) -> pd.DataFrame:
    """Return a table with categories of two, three and six levels."""
    X = drawn("SF1", seed, d=8, n=600).X
    for name, levels in zip(X.columns[[1, 3, 6]], (2, 3, 6), strict=True):
        X[name] = pd.qcut(X[name], levels, labels=[f"level {k}" for k in range(levels)]).astype(str)
        if holes:
            X.loc[X.index[::17], name] = None
    return X


def cases() -> Iterator[tuple[str, Case]]:
    """Yield every case with its name."""
    for k, family in enumerate(FAMILIES):
        for mechanism in MECHANISMS:
            draw = partial(drawn, family, k, mechanism=mechanism)
            yield f"auto {family} {mechanism}", partial(pruned, SARTRE(random_state=0), draw)
        yield (
            f"auto {family} half linear",
            partial(pruned, SARTRE(random_state=0), partial(drawn, family, 20 + k, linear_fraction=0.5)),
        )
        yield from settings_of(f"{family} gp", partial(drawn, family, 30 + k))
        for table in (partial(drawn, family, 40 + k, d=10), partial(drawn, family, 50 + k, d=10, mechanism="linear")):
            yield (
                f"whole {family} {table.keywords.get('mechanism', 'gp')}",
                partial(learnt, CausalDiscovery(random_state=1), lambda table=table: table().X),
            )
        many = partial(drawn, family, 60 + k, d=10, n=60_000, mechanism=MECHANISMS[1 + k % 4])
        ways = {"": SARTRE(), " no pairs": SARTRE(interactions=False), " penalty": SARTRE(penalty=0.1)}
        for name, pruner in ways.items():
            yield f"batches {family}{name}", partial(in_batches, pruner.set_params(random_state=0), many)
    for noise in NOISES:
        for family in ("ER1", "SF4"):
            draw = partial(drawn, family, 70, noise=noise)
            yield f"auto {family} {noise}", partial(pruned, SARTRE(random_state=0), draw)
            yield f"robust {family} {noise}", partial(pruned, SARTRE(random_state=0, robust=True), draw)
            yield f"paper {family} {noise}", partial(pruned, SARTRE(0.1, random_state=0), draw)
    joint = partial(drawn, "ER4", 77, d=9, n=60_000, mechanism="neural")
    yield "batches of joint effects", partial(in_batches, SARTRE(random_state=0), joint)
    tails = partial(drawn, "ER1", 78, d=6, n=60_000, mechanism="sigmoid", noise="t3")
    yield "batches of heavy tails", partial(in_batches, SARTRE(random_state=0), tails)
    yield from tables()
    yield from wide()


def settings_of(name: str, draw: Callable[[], Dataset]) -> Iterator[tuple[str, Case]]:
    """Yield a data set with every setting of the pruner, and with the other pruners."""
    models = {
        "paper": SARTRE(0.1, random_state=0),
        "no pairs": SARTRE(interactions=False, random_state=0),
        "robust": SARTRE(robust=True, random_state=0),
        "plain": SARTRE(robust=False, random_state=0),
        "level 0.1": SARTRE(level=0.1, random_state=0),
        "two threads": SARTRE(random_state=0, n_jobs=2),
        "CAM": CAMPruning(),
        "CAM Holm": CAMPruning(adjust="holm", alpha=0.05),
        "DAS": DAS(min_parents=2),
        "CaPS": CaPSPruning(),
    }
    for label, pruner in models.items():
        yield f"{label} {name}", partial(pruned, pruner, draw)
    yield f"path {name}", partial(path, SARTRE(random_state=0), draw)
    yield f"penalty path {name}", partial(path, SARTRE(0.1, random_state=0), draw)


def tables() -> Iterator[tuple[str, Case]]:
    """Yield cases with missing values, categories, knowledge, awkward columns, other orders and real data."""
    for seed in (80, 81, 82):
        for missing in ("drop", "bin", "impute"):
            model = CausalDiscovery(missing=missing, random_state=0)
            yield f"missing {missing} {seed}", partial(learnt, model, partial(with_holes, seed))
        for prune in (None, CAMPruning(), SARTRE(0.1)):
            model = CausalDiscovery(prune=prune, random_state=0)
            yield f"categories {prune} {seed}", partial(learnt, model, partial(with_categories, seed))
        model = CausalDiscovery(missing="bin", random_state=0)
        yield f"categories with holes {seed}", partial(learnt, model, partial(with_categories, seed, holes=True))
        yield f"awkward {seed}", partial(learnt, CausalDiscovery(random_state=0), partial(awkward, seed))
        names = drawn("ER1", seed, d=8, n=10).X.columns.tolist()
        known = Knowledge(
            required=[(names[0], names[5])], forbidden=[(names[1], names[2])], tiers=[names[:3], names[3:]]
        )
        for prune in (None, SARTRE(0.1), CAMPruning(), DAS(), CaPSPruning()):
            model = CausalDiscovery(prune=prune, knowledge=known, random_state=0)
            yield f"knowledge {prune} {seed}", partial(learnt, model, lambda seed=seed: drawn("ER1", seed, d=8).X)
    for order in (SCORE(), CAM(), None):
        yield f"Sachs {order}", partial(learnt, CausalDiscovery(order, random_state=0), lambda: load_sachs().X)


def wide() -> Iterator[tuple[str, Case]]:
    """Yield cases with so many columns that the pairs and the screening are limited."""
    tables = {
        (120, 400): SARTRE(),
        (130, 150): SARTRE(),
        (450, 200): SARTRE(interactions=False),
        (450, 201): SARTRE(0.3),
    }
    for (d, n), pruner in tables.items():
        draw = partial(drawn, "ER1", 90, d=d, n=n)
        yield f"wide {d} {n} {pruner}", partial(pruned, pruner.set_params(random_state=0), draw)
    names = [f"x{j}" for j in range(60)]
    few = CausalDiscovery(FixedOrder(names), CAMPruning())
    yield "wide CAM", partial(learnt, few, lambda: drawn("ER1", 91, d=60, n=80).X)


def run() -> dict[str, dict[str, Any]]:
    """Run all cases; a case that fails is stored with its error."""
    found = {}
    for name, case in cases():
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            try:
                found[name] = json.loads(json.dumps(case()))
            except Exception as error:  # noqa: BLE001 - an error is also a result
                found[name] = {"error": f"{type(error).__name__}: {error}", "edges": []}
        print(f"{len(found)} {name}: {len(found[name]['edges'])} edges {found[name].get('error', '')}", file=sys.stderr)
    return found


def plain(case: dict[str, Any]) -> dict[str, Any]:
    """Return everything that must be exactly the same: all but the numbers of edges and pairs."""
    return {
        **case,
        "edges": sorted([item for item in row if isinstance(item, str)] for row in case["edges"]),
        "pairs": sorted(row[:3] for row in case.get("pairs", [])),
    }


def numbers(case: dict[str, Any]) -> dict[tuple[str, ...], list[float]]:
    """Return the numbers of edges and pairs by their names (and, for a path, by level)."""
    rows = [*case["edges"], *case.get("pairs", [])]
    return {
        tuple(str(item) for item in row if isinstance(item, str) or item == row[0]): [
            item for item in row[-3:] if isinstance(item, float)
        ]
        for row in rows
    }


def furthest(before: dict[str, Any], after: dict[str, Any]) -> float:
    """Return the largest relative difference of two cases' numbers; numbers below 1e-12 count as equal."""
    old, new = numbers(before), numbers(after)
    largest = 0.0
    for key, values in old.items():
        for a, b in zip(values, new.get(key, values), strict=True):
            if not (np.isnan(a) and np.isnan(b)) and max(abs(a), abs(b)) > 1e-12:
                largest = max(largest, abs(a - b) / max(abs(a), abs(b)))
    return largest


def changed(old: Any, new: Any) -> str:
    """Describe how a value changed; for a list, what it lost and gained."""
    if not isinstance(old, list) or not isinstance(new, list):
        return f"{old} became {new}"
    lost, gained = [item for item in old if item not in new], [item for item in new if item not in old]
    return f"lost {lost}, gained {gained}" if lost or gained else f"{old} became {new}"


def compare(before: dict[str, Any], after: dict[str, Any]) -> int:
    """Print the differences; return the number of cases that differ."""
    differing = [name for name in before if plain(before[name]) != plain(after.get(name, {"edges": []}))]
    for name in differing:
        old, new = plain(before[name]), plain(after.get(name, {"edges": []}))
        for key in sorted({*old, *new}):
            if old.get(key) != new.get(key):
                print(f"{name}: {key}: {changed(old.get(key), new.get(key))}")
    same = [name for name in before if name not in differing]
    largest = max(same, key=lambda name: furthest(before[name], after[name]))
    print(f"{len(same)} of {len(before)} cases have the same edges, orders, pairs and robust targets.")
    print(f"Largest relative difference of a number: {furthest(before[largest], after[largest]):.1e} ({largest})")
    return len(differing)


def main() -> None:
    """Store the edges, or compare them with stored ones."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("action", choices=["store", "compare"])
    parser.add_argument("file", type=Path)
    arguments = parser.parse_args()
    if arguments.action == "store":
        arguments.file.write_text(json.dumps(run()), encoding="utf-8")
        return
    before = json.loads(arguments.file.read_text(encoding="utf-8"))
    sys.exit(1 if compare(before, run()) else 0)


if __name__ == "__main__":
    main()

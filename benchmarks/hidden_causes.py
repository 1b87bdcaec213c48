"""How often tables without hidden causes have a mark, and how many hidden causes are found where there are some.

python benchmarks/hidden_causes.py clean [--tables 96] [--first-seed 240000] [--file clean.csv]    3 s of CPU per table
python benchmarks/hidden_causes.py hidden [--tables 12] [--first-seed 241000] [--file hidden.csv]  4 s of CPU per table
python benchmarks/hidden_causes.py --time                                  CPU seconds at d = 50, n = 2000
python benchmarks/hidden_causes.py summary --files clean.csv hidden.csv    the tables for half and twice the threshold,
too

Clean tables have 20 variables: ER1 and ER2 graphs, Gaussian-process, neural, linear and half-linear mechanisms,
Gaussian, Laplace and t3 noise, n = 500 to 5000, one cell of this grid after the other, each with a graph of its own.
Hidden ones are ER2 graphs with five hidden causes of two or three variables each, Gaussian noise and Gaussian-process
mechanisms. Nothing is given to the models; --joint fits the default pruner, which takes ten times as long. With
--file, the statistic of every tested edge is added to a file as soon as its table is done, and a run that was stopped
goes on where it was.
"""

from __future__ import annotations

import argparse
import warnings
from collections.abc import Iterator
from itertools import product
from pathlib import Path
from time import process_time
from typing import Any, NamedTuple

from _report import markdown, use_one_thread

use_one_thread()

import numpy as np
import pandas as pd

from sartre import CausalDiscovery
from sartre.evidence.hidden_causes import MARKED
from sartre.prune import SARTRE
from sartre.simulate import random_dag, simulate

MECHANISMS: dict[str, dict[str, Any]] = {
    "gp": {},
    "neural": {"mechanism": "neural"},
    "all linear": {"mechanism": "linear"},
    "half-linear": {"linear_fraction": 0.5},
}
NOISES, SIZES, FAMILIES = ("gaussian", "laplace", "t3"), (500, 1000, 2000, 5000), {"ER1": 1, "ER2": 2}
EFFECTS, HIDDEN_SIZES, HIDDEN = ("additive", "linear", "joint"), (2000, 5000), 5
COLUMNS = ["what", "family", "n", "noise", "seed", "pairs", "edge", "confounded", "statistic"]


class Case(NamedTuple):
    """A table to be drawn: its mechanisms or hidden effects, kind of graph, rows, noise and seed."""

    what: str
    family: str
    n: int
    noise: str
    seed: int

    def draw(self) -> Any:
        """Return the table with its graph and its confounded pairs."""
        dag = random_dag(20, 20 * FAMILIES[self.family], random_state=self.seed)
        if self.what in EFFECTS:
            settings: dict[str, Any] = {"hidden": HIDDEN, "hidden_effect": self.what}
        else:
            settings = MECHANISMS[self.what]
        noise: Any = self.noise
        return simulate(dag, self.n, noise=noise, random_state=self.seed, **settings)


def clean_cases(tables: int, first_seed: int) -> Iterator[Case]:
    """Yield clean tables, in an order in which every part of the grid comes early."""
    grid = list(product(MECHANISMS, FAMILIES, SIZES, NOISES))
    mixed = np.random.default_rng(0).permutation(len(grid))
    for k in range(tables):
        what, family, n, noise = grid[mixed[k % len(grid)]]
        yield Case(what, family, n, noise, first_seed + k)


def hidden_cases(tables: int, first_seed: int) -> Iterator[Case]:
    """Yield tables with hidden causes."""
    for k, n, effect in product(range(tables), HIDDEN_SIZES, EFFECTS):
        yield Case(effect, "ER2", n, "gaussian", first_seed + k)


def examined(case: Case, *, joint: bool) -> pd.DataFrame:
    """Return one row per tested edge; one without an edge holds the number of pairs that are only confounded."""
    data = case.draw()
    pruner = None if joint else SARTRE(joint=False)
    found = CausalDiscovery(prune=pruner, random_state=0).fit(data.X).hidden_causes_
    true = {tuple(sorted(edge)) for edge in data.dag.edges}
    rows: list[tuple[Any, ...]] = [(*case, len(data.confounded - true), "", False, np.nan)]
    for edge in found.itertuples():
        pair = tuple(sorted((edge.first, edge.second)))
        state = "edge" if pair in true else "none"
        rows.append((*case, np.nan, state, pair in data.confounded, edge.statistic))
    return pd.DataFrame(rows, columns=COLUMNS)


def run(cases: Iterator[Case], file: Path | None, *, joint: bool) -> pd.DataFrame:
    """Examine the tables that are not in the file yet, add them to it, and return all."""
    earlier = pd.read_csv(file, keep_default_na=True) if file is not None and file.exists() else None
    done = set() if earlier is None else set(map(tuple, earlier[list(Case._fields)].drop_duplicates().to_numpy()))
    parts = [] if earlier is None else [earlier]
    for case in cases:
        if case not in done:
            rows = examined(case, joint=joint)
            parts.append(rows)
            if file is not None:
                rows.to_csv(file, mode="a", header=not file.exists(), index=False)
    return pd.concat(parts, ignore_index=True)


def print_clean(rows: pd.DataFrame, threshold: float) -> None:
    """Print the share of tables with any mark, in all and by mechanism, noise, n and family."""
    tables = rows.assign(mark=rows["statistic"] > threshold).groupby(list(Case._fields))["mark"].any().reset_index()
    cells = [["all", str(len(tables)), f"{tables['mark'].mean():.3f}"]]
    for name in ("what", "noise", "n", "family"):
        for value, part in tables.groupby(name):
            cells.append([str(value), str(len(part)), f"{part['mark'].mean():.3f}"])
    print(markdown([f"clean, above {threshold}", "tables", "with any mark"], cells))


def print_hidden(rows: pd.DataFrame, threshold: float) -> None:
    """Print precision and recall by effect and n."""
    cells = []
    for (effect, n), part in rows.groupby(["what", "n"]):
        marked = part[part["statistic"] > threshold]
        right, alone = marked["confounded"] == True, marked["edge"] == "none"  # noqa: E712 - read from a file
        n_pairs = part["pairs"].sum()
        cells.append(
            [
                str(effect),
                str(n),
                str(part["seed"].nunique()),
                f"{right.sum()} of {len(marked)}",
                f"{right.mean():.2f}" if len(marked) else "-",
                f"{(right & alone).sum()} of {n_pairs:.0f}",
                f"{(right & alone).sum() / n_pairs:.2f}",
            ]
        )
    header = [f"effect, above {threshold}", "n", "tables", "marks right", "precision", "pairs found", "recall"]
    print(markdown(header, cells))


def print_time() -> None:
    """Print the CPU seconds of the fit and of the marks."""
    for seed, hidden in product((0, 1, 2), (0, 12)):
        X = simulate(random_dag(50, 100, random_state=seed), 2000, random_state=seed, hidden=hidden).X
        model = CausalDiscovery(prune=SARTRE(joint=False), random_state=0)
        start = process_time()
        model.fit(X)
        fitted = process_time()
        n_tested = len(model.hidden_causes_)
        seconds = f"fit {fitted - start:.1f} s, marks {process_time() - fitted:.1f} s"
        print(f"seed {seed}, {hidden} hidden causes: {seconds}, {n_tested} edges tested")


def main() -> None:
    """Run what is asked for."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("what", nargs="?", choices=("clean", "hidden", "summary"))
    parser.add_argument("--tables", type=int)
    parser.add_argument("--first-seed", type=int)
    parser.add_argument("--file", type=Path)
    parser.add_argument("--files", type=Path, nargs=2)
    parser.add_argument("--joint", action="store_true")
    parser.add_argument("--time", action="store_true")
    given = parser.parse_args()
    warnings.simplefilter("ignore")
    if given.time:
        print_time()
    elif given.what == "clean":
        cases = clean_cases(given.tables or 96, given.first_seed or 240000)
        print_clean(run(cases, given.file, joint=given.joint), MARKED)
    elif given.what == "hidden":
        cases = hidden_cases(given.tables or 12, given.first_seed or 241000)
        print_hidden(run(cases, given.file, joint=given.joint), MARKED)
    elif given.what == "summary":
        clean, hidden = (pd.read_csv(file) for file in given.files)
        for threshold in (MARKED / 2, MARKED, 2 * MARKED):
            print_clean(clean, threshold)
            print_hidden(hidden, threshold)


if __name__ == "__main__":
    main()

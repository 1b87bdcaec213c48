"""Run the cells of a study that have no result yet, in parallel; each result has its own file until all are complete.

A row of results is a cell, a trial and its measures. A finished row is written at once, atomically, to a file named by
its settings. At the end, or when the study is run again after it was killed, these files are merged into the study's
CSV file. If a CSV file is deleted, the next run creates it again with the same numbers. A second run of a study waits
for the first, and then does what is left.
"""

from __future__ import annotations

import csv
import hashlib
import io
import json
import logging
import math
import sys
import warnings
from contextlib import contextmanager, suppress
from typing import TYPE_CHECKING, Any

from joblib import Parallel, delayed, parallel_config
from threadpoolctl import threadpool_limits

from experiments import peers
from experiments.hidden import EFFECTS, compare_marks
from experiments.methods import (
    PeerFailedError,
    expected_seconds,
    is_costly,
    learn_edges,
    learn_from_experiment,
    learn_marks,
    learn_order,
    needs_peers,
    warm_up,
)
from experiments.study import FIRST_SEED, SETTINGS
from sartre.compute.files import write_text_atomically
from sartre.metrics import edge_f1, edge_precision, edge_recall, order_divergence, shd, sid
from sartre.simulate import Experiment

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator
    from pathlib import Path

    import pandas as pd
    from numpy.typing import NDArray

    from experiments.study import Cell, Data, Study
    from sartre.graph.dag import Dag
    from sartre.simulate import Dataset

logger = logging.getLogger("sartre.reproduce")
TRIALS_OF_COSTLY = 3  # largest number of trials of methods that take a minute or more per data set
Row = dict[str, str]
MEASURES = (
    *("order_seconds", "prune_seconds", "order_divergence", "edges", "shd", "shd_reversed_twice"),
    *("sid", "sid_swapped", "f1", "precision", "recall"),
)
HEADER = (*SETTINGS, "trial", *MEASURES)
_RESTORE = "Restore the file, or delete what is damaged, and it is computed again."
NUMBERS = ("nodes", "samples", "linear_fraction", "hidden", "trial", *MEASURES)


class Results:
    """The rows of a study: those in its CSV file, and newer ones that still have their own files."""

    def __init__(self, folder: Path, study: str) -> None:
        self.file, self._parts = folder / f"{study}.csv", folder / f".{study}"
        self.orders = folder / ".orders"
        newer = self._newer()  # before the CSV file: a run that ends meanwhile moves rows from these files to that one
        self._rows: dict[str, Row] = {_key(row): row for row in read_rows(self.file)} if self.file.exists() else {}
        self._rows |= {_key(row): row for row in newer.values()}

    def has(self, cell: Cell, trial: int) -> bool:
        """Return whether there is a row for a cell and a trial."""
        return _key({**cell.settings(), "trial": str(trial)}) in self._rows

    def add(self, row: Row) -> None:
        """Write a row to disk at once."""
        self._parts.mkdir(parents=True, exist_ok=True)
        write_text_atomically(self._parts / f"{_key(row)}.json", json.dumps(row))

    def collect(self, cells: Iterable[Cell]) -> None:
        """Write all rows to the CSV file, in the order of the cells, and remove the files of single rows."""
        newer = self._newer()
        self._rows |= {_key(row): row for row in newer.values()}
        if not self._rows:
            return
        place = {tuple(cell.settings().values()): k for k, cell in enumerate(cells)}

        def rank(row: Row) -> tuple[int, int, str]:
            settings = tuple(row[name] for name in SETTINGS)
            return place.get(settings, len(place)), int(row["trial"]), str(settings)

        text = io.StringIO()
        writer = csv.DictWriter(text, HEADER, lineterminator="\n")
        writer.writeheader()
        writer.writerows(sorted(self._rows.values(), key=rank))
        write_text_atomically(self.file, text.getvalue())
        for part in (*newer, *self._parts.glob(".*.tmp")):  # a killed run leaves temporary files
            part.unlink(missing_ok=True)
        with suppress(OSError):  # it does not exist, or another file is in it
            self._parts.rmdir()

    def _newer(self) -> dict[Path, Row]:
        """Return the rows that have their own files."""
        rows: dict[Path, Row] = {}
        for part in sorted(self._parts.glob("*.json")):
            with suppress(FileNotFoundError, json.JSONDecodeError):  # moved to the CSV file by another run, or damaged
                row = json.loads(part.read_text(encoding="utf-8"))
                if isinstance(row, dict):
                    rows[part] = row
        return rows


def read_rows(file: Path) -> list[Row]:
    """Return the rows of a CSV file of results; a damaged one is refused, with the line and the value."""
    try:
        text = file.read_text(encoding="utf-8")
    except UnicodeDecodeError:
        raise ValueError(f"'{file}' must be a text in UTF-8. Got other bytes. {_RESTORE}") from None
    reader = csv.DictReader(io.StringIO(text))
    if tuple(reader.fieldnames or ()) != HEADER:
        names = f"the {len(HEADER)} names from {HEADER[0]} to {HEADER[-1]}"
        raise ValueError(
            f"The first line of '{file}' must hold {names}. Got '{text[:40].split(chr(10))[0]}'. {_RESTORE}"
        )
    rows = []
    for row in reader:
        _check_row(row, f"Line {reader.line_num} of '{file}'")
        rows.append(row)
    if not text.endswith("\n"):
        raise ValueError(
            f"The last line of '{file}' must be whole. Got '...{text[-20:]}' without a line end. {_RESTORE}"
        )
    return rows


def _check_row(row: dict[Any, Any], place: str) -> None:
    """Refuse a row that does not have every value, and a number where one is needed; a failed run has no measures."""
    count = sum(isinstance(value, str) for value in row.values()) + len(row.get(None, ()))  # None: beyond the header
    if count != len(HEADER):
        raise ValueError(f"{place} must have {len(HEADER)} values. Got {count}. {_RESTORE}")
    optional = MEASURES if not any(row[name] for name in MEASURES) else ("order_divergence",)
    for name in NUMBERS:
        if not (_is_number(row[name]) or (name in optional and not row[name])):
            raise ValueError(f"{place} must have a number for {name}. Got '{row[name]}'. {_RESTORE}")


@contextmanager
def alone(study: str, folder: Path) -> Iterator[None]:
    """Let one process at a time run a study in a folder: wait for the others, and make them wait.

    The lock ends with the process, however it ends. Windows has no such lock; there, runs must not overlap.
    """
    folder.mkdir(parents=True, exist_ok=True)
    with (folder / f".{study}.lock").open("w") as file:
        if sys.platform != "win32":
            import fcntl  # noqa: PLC0415 - Windows does not have it

            try:
                fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
            except BlockingIOError:
                logger.info("%s: waiting for another run of this study", study)
                fcntl.flock(file, fcntl.LOCK_EX)
        yield


def missing(study: Study, results: Results, trials: int, *, quick: bool) -> list[tuple[Data, int, list[Cell]]]:
    """Return the work to be done: cells by data set and trial, one trial after the other, costly methods last."""
    todo: list[tuple[Data, int, list[Cell]]] = []
    cells = [cell for cell in study.cells(quick) if not (quick and needs_peers(cell))]
    for costly, most in ((False, trials), (True, min(trials, TRIALS_OF_COSTLY))):
        for trial in range(most):
            by_data: dict[Data, list[Cell]] = {}
            for cell in cells:
                if is_costly(cell) == costly and not results.has(cell, trial):
                    by_data.setdefault(cell.data, []).append(cell)
            todo += [(data, trial, left) for data, left in by_data.items()]
    return todo


def expected(todo: list[tuple[Data, int, list[Cell]]], jobs: int) -> float:
    """Return the approximate number of seconds that the work takes."""
    return sum(expected_seconds(cells) for _, _, cells in todo) / jobs


def run(study: Study, folder: Path, trials: int, jobs: int, *, quick: bool) -> Path:
    """Run the cells of a study that are missing, and return its CSV file."""
    with alone(study.name, folder):
        return _run(study, Results(folder, study.name), trials, jobs, quick=quick)


def _run(study: Study, results: Results, trials: int, jobs: int, *, quick: bool) -> Path:
    todo = missing(study, results, trials, quick=quick)
    if not peers.is_ready():
        left = ((data, trial, [cell for cell in cells if not needs_peers(cell)]) for data, trial, cells in todo)
        todo = [one for one in left if one[2]]
    logger.info("%s: 0 of %d data sets", study.name, len(todo))
    work = (delayed(_run_data_set)(results, *one) for one in todo)
    with parallel_config("loky", inner_max_num_threads=1), threadpool_limits(1):  # the latter covers a single job
        done: Any = Parallel(n_jobs=jobs, return_as="generator_unordered")(work)
        try:
            for k, _ in enumerate(done, start=1):
                logger.info("%s: %d of %d data sets", study.name, k, len(todo))
        finally:  # an interrupted run also keeps its results
            results.collect(study.cells(quick))
    return results.file


def _run_data_set(results: Results, data: Data, trial: int, cells: list[Cell]) -> None:
    """Run methods on the data set of a trial, and write each result as soon as it is there."""
    warnings.simplefilter("ignore")  # the studies contain repeated rows and coarse columns on purpose
    drawn = data.draw(trial)
    for cell in cells:
        try:
            measured = _measured(results.orders, cell, trial, drawn)
        except PeerFailedError as error:
            logger.warning("%s", error)
            measured = {}
        except peers.KilledError as error:  # no row is written, so that it is run again next time
            logger.warning("%s, %s on %d variables: %s", cell.order or "no order", cell.prune, len(drawn.dag), error)
            continue
        text = {name: _text(measured.get(name, "")) for name in MEASURES}
        results.add({**cell.settings(), "trial": str(trial), **text})


def _measured(orders: Path, cell: Cell, trial: int, drawn: Dataset) -> dict[str, float]:
    """Return the measures of a cell on one table; where rows come from experiments, the method has both steps."""
    warm_up(cell)
    X, dag = drawn
    if isinstance(drawn, Experiment):
        adjacency, seconds = learn_from_experiment(cell.prune, drawn, FIRST_SEED + trial)
        return {"order_seconds": 0.0, "prune_seconds": seconds} | compare(dag, adjacency)
    if cell.data.family in EFFECTS:
        adjacency, seconds = learn_marks(cell.prune, X, FIRST_SEED + trial)
        return {"order_seconds": 0.0, "prune_seconds": seconds} | compare_marks(drawn, adjacency)
    order, order_seconds = _order(orders, cell, trial, X, dag)
    adjacency, prune_seconds = learn_edges(cell.prune, X, order, FIRST_SEED + trial)
    seconds = {"order_seconds": order_seconds, "prune_seconds": prune_seconds}
    divergence = {"order_divergence": order_divergence(dag, order)} if cell.order else {}
    return seconds | divergence | compare(dag, adjacency)


def _order(folder: Path, cell: Cell, trial: int, X: pd.DataFrame, dag: Dag) -> tuple[list[int], float]:
    """Return an order and its seconds; the order of a data set is stored for all pruners and studies."""
    if not cell.order:
        return [], 0.0
    file = folder / f"{_key({**cell._replace(prune='').settings(), 'trial': str(trial)})}.json"
    if not file.exists():
        folder.mkdir(parents=True, exist_ok=True)
        write_text_atomically(file, json.dumps(learn_order(cell.order, X, dag, FIRST_SEED + trial)))
    order, seconds = json.loads(file.read_text(encoding="utf-8"))
    return order, seconds


def compare(dag: Dag, adjacency: NDArray[Any]) -> dict[str, float]:
    """Return the measures of a graph."""
    return {
        "edges": int(adjacency.sum()),
        "f1": edge_f1(dag, adjacency),
        "precision": edge_precision(dag, adjacency),
        "recall": edge_recall(dag, adjacency),
        "shd": shd(dag, adjacency),
        "shd_reversed_twice": shd(dag, adjacency, reversal=2),
        "sid": sid(dag, adjacency),
        "sid_swapped": sid(adjacency, dag),
    }


def _key(row: Row) -> str:
    settings = [row[name] for name in (*SETTINGS, "trial")]
    return hashlib.sha256(json.dumps(settings).encode()).hexdigest()[:24]


def _is_number(text: str) -> bool:
    with suppress(ValueError):
        return math.isfinite(float(text))
    return False


def _text(value: float | str) -> str:
    return f"{value:.6g}" if isinstance(value, float) else str(value)
